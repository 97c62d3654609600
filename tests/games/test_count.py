"""Counting games: tables, and the oracle against joint actions, rationals and play."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_counts import FORMS, Tables, exact_seat

import tacit
from tacit.evaluation import occupancy, policy_gradient, policy_values
from tacit.games.kernels import induced_payoffs, next_state_probs

# Counting games as users write them: arrays and functions, wrong ones, copies, and the games of the registry.


@pytest.mark.parametrize("form", list(FORMS))
def test_functions_and_arrays_are_the_same_game(form: str):
    tables = Tables(form, horizon=2)
    number = {counts: k for k, counts in enumerate(tables.counts)}

    def place(counts: Any) -> Any:
        return number[tuple(int(c) for c in counts)]

    def reward(h: int, s: int, a: int, n: Any) -> Any:
        return tables.R[h, s, a, n if tables.load else place(n)]

    def move(h: int, s: int, x: Any) -> Any:
        return tables.P[0, s, x if tables.scores is not None else place(x)]

    sizes: dict[str, Any] = {"agents": tables.N, "actions": tables.A, "load": tables.load, "scores": tables.scores}
    made = tacit.CountGame(reward, move, tables.rho, tables.H, weights=tables.w, **sizes)
    assert made.digest == tables.game().digest or made.scores is not None
    policy = tacit.MarkovPolicy.random(made, seed=1)
    np.testing.assert_array_equal(tacit.evaluate(made, policy).gaps, tacit.evaluate(tables.game(), policy).gaps)


def test_copies_and_digests():
    game = tacit.make("congestion", agents=5)
    same = pickle.loads(pickle.dumps(game))
    assert same.digest == game.digest != tacit.make("congestion", agents=5, damage=0.4).digest
    policy = tacit.MarkovPolicy.random(game, seed=0)
    assert (tacit.evaluate(same, policy).gaps == tacit.evaluate(game, policy).gaps).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"rewards": np.zeros((1, 1, 2, 3))}, r"rewards must have shape \[1 or 2, 1, 2, 4\].*got \(1, 1, 2, 3\)"),
        ({"transitions": np.ones((1, 1, 3, 1))}, r"transitions must have shape .*N·max\(scores\)"),
        ({"transitions": lambda h, s, x: [0.5]}, r"transitions\[h=0, s=0, total=0\] must sum to 1"),
        ({"transitions": lambda h, s, x: 1}, r"transitions\(0, 0, 0\) must return .*got 1"),
        ({"rewards": lambda h, s, a, n: "x"}, r"rewards\(0, 0, 0, 1\) must return a number"),
        ({"rewards": lambda h, s, a, n: {}[int(n)]}, r"rewards\(0, 0, 0, 1\) raised KeyError"),
        ({"rewards": lambda h, s, a, n: np.nan * n}, "rewards.* must be"),
        ({"scores": (0,)}, "scores must be"),
        ({"scores": (0, -1)}, r"scores\[1\] must be"),
        ({"weights": [1.0]}, "weights must"),
        ({"agents": 0}, "agents must be"),
        ({"actions": 1.5}, "actions must be"),
        ({"initial": [0.5]}, "initial must sum to 1"),
        ({"load": 1}, "load must be"),
    ],
)
def test_wrong_games_are_told(wrong: dict[str, Any], message: str):
    right: dict[str, Any] = {
        "rewards": np.zeros((1, 1, 2, 4)),
        "transitions": np.ones((1, 1, 4, 1)),
        "initial": [1.0],
        "horizon": 2,
        "agents": 3,
        "actions": 2,
        "load": True,
        "scores": (0, 1),
    }
    tacit.CountGame(**right)
    with pytest.raises(tacit.TacitError, match=message):
        tacit.CountGame(**{**right, **wrong})


def test_too_many_counts_are_refused_by_size():
    with pytest.raises(tacit.TacitError, match="counts of 1000 agents and 5 actions would take"):
        tacit.CountGame(lambda h, s, a, c: 0.0, lambda h, s, c: 0, [1.0], 1, agents=1000, actions=5)


def test_distancing_is_the_same_bit_for_bit():
    tables, counts = tacit.make("distancing"), tacit.make("distancing", form="counts")
    written = counts.tabular()
    assert (written.rewards == tables.rewards).all()
    assert (written.transitions == tables.transitions).all()
    assert isinstance(tacit.make("distancing", agents=16), tacit.CountGame)
    policy = tacit.MarkovPolicy.random(tables, seed=0)
    one, other = tacit.evaluate(counts, policy), tacit.evaluate(tables, policy)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-13)
    np.testing.assert_allclose(one.gaps, other.gaps, rtol=1e-12)


def test_congestion_by_its_rules():
    game = tacit.make("congestion", agents=4, links=3, damage=0.5, wear=0.8, repair=0.6)
    joint, x = (0, 0, 1, 2), 0.5
    for s in range(3):
        s_next, rewards = game.step(0, s, joint, 0.0)
        assert rewards.tolist() == pytest.approx([-(1 + 0.5 * s) * x] * 2 + [-(0.25 + 0.25), -(0.5 + 0.25)])
    better = 0.6 * 0.5 * (1 - 0.8 * x)
    assert game.next_state(0, 1, [2, 1, 1]).tolist() == pytest.approx([better, 1 - better - 0.4, 0.4])
    assert game.next_state(0, 0, [4, 0, 0]).tolist() == pytest.approx([0.2, 0.8, 0])
    assert game.initial.tolist() == [1, 0, 0]
    assert s_next in (0, 1, 2)


def test_spectrum_by_its_rules():
    game = tacit.make("spectrum", agents=8, channels=4, occupied=0.2, move=0.3)
    _, rewards = game.step(0, 1, (0, 0, 0, 1, 1, 2, 3, 3), 0.5)
    assert rewards.tolist() == pytest.approx([0.25] * 3 + [0.2 * 0.5] * 2 + [1.0] + [0.5] * 2)
    assert game.next_state(0, 1, [3, 2, 1, 2]).tolist() == pytest.approx([0.1, 0.7, 0.1, 0.1])


def test_minority_by_its_rules():
    game = tacit.make("minority", agents=5, room=[0.6, 0.4], change=0.8)
    assert game.step(0, 0, (1, 1, 1, 0, 0), 0.5)[1].tolist() == [1, 1, 1, 0, 0]
    assert game.step(0, 1, (1, 1, 1, 0, 0), 0.5)[1].tolist() == [-1, -1, -1, 0, 0]
    assert game.next_state(0, 0, [1, 4]).tolist() == pytest.approx([0.2, 0.8])
    assert game.next_state(0, 1, [3, 2]).tolist() == pytest.approx([0.8, 0.2])
    assert game.next_state(0, 1, [2, 3]).tolist() == pytest.approx([0, 1])


# The oracle of counting games: against sums over joint actions, rational arithmetic, and play at N = 1000.


BRUTE = [form for form, (N, A, *_) in FORMS.items() if A**N <= 4096]


def policies(game: tacit.CountGame) -> list[tacit.MarkovPolicy]:
    rng = np.random.default_rng(3)
    shared = rng.dirichlet(np.ones(game.actions[0]), (1, game.states))
    pure = [rng.integers(game.actions[0], size=(game.horizon, game.states)) for _ in game.actions]
    half = tacit.MarkovPolicy.random(game, seed=5).probs
    return [
        tacit.MarkovPolicy.random(game, seed=1),
        tacit.MarkovPolicy.uniform(game),
        tacit.MarkovPolicy.shared(shared, agents=game.agents),
        tacit.MarkovPolicy.deterministic(pure, game.actions),
        tacit.MarkovPolicy([half[i // 2] for i in range(game.agents)]),  # pairs that play the same
    ]


@pytest.mark.parametrize("form", [form for form in BRUTE if FORMS[form][1] ** FORMS[form][0] <= 100])
def test_every_joint_action_is_that_of_the_arrays(form: str):
    tables = Tables(form, horizon=2)
    game, written = tables.game(), tables.game().tabular()
    for h in range(2):
        for s in range(2):
            for joint in tables.joints():
                expected = [tables.reward(i, h, s, joint) for i in range(tables.N)]
                for u in (0.1, 0.5, 0.999):
                    found, same = game.step(h, s, joint, u), written.step(h, s, joint, u)
                    assert found[0] == same[0]
                    assert found[1].tolist() == same[1].tolist() == expected
                assert (written.transitions[(0, s, *joint)] == tables.row(s, joint)).all()
    assert game.reward_range == pytest.approx(written.reward_range)


@pytest.mark.parametrize("form", [*BRUTE, "eight agents, four actions"])
def test_values_and_gaps_are_those_of_the_joint_tables(form: str):
    game = Tables(form).game()
    written = game.tabular()
    for policy in policies(game):
        one, other = tacit.evaluate(game, policy), tacit.evaluate(written, policy)
        np.testing.assert_allclose(one.values, other.values, atol=1e-12)
        np.testing.assert_allclose(one.gaps, other.gaps, atol=1e-12)
        assert tacit.evaluate(game, policy, gap="ce").gap == pytest.approx(one.gap)
        assert tacit.evaluation.l2_gap(game, policy) == pytest.approx(
            tacit.evaluation.l2_gap(written, policy), abs=1e-10
        )
        last = game.agents - 1
        found, same = (
            tacit.evaluation.best_response(game, policy, last),
            tacit.evaluation.best_response(written, policy, last),
        )
        assert found.value == pytest.approx(same.value, abs=1e-12)
        np.testing.assert_allclose(occupancy(game, policy), occupancy(written, policy), atol=1e-12)
        np.testing.assert_allclose(policy_values(game, policy).V, policy_values(written, policy).V, atol=1e-12)
        for mine, theirs in zip(policy_gradient(game, policy).q, policy_gradient(written, policy).q, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-12)


def test_a_correlated_policy_is_evaluated_where_its_table_fits():
    game = Tables("loads and counts").game()
    policy = tacit.MarkovPolicy.random(game, seed=2, correlated=True)
    for kind in ("cce", "ce"):
        one, other = tacit.evaluate(game, policy, gap=kind), tacit.evaluate(game.tabular(), policy, gap=kind)
        np.testing.assert_allclose(one.gaps, other.gaps, atol=1e-12)


@pytest.mark.parametrize("form", ["loads and counts", "two actions", "counts and scores"])
def test_against_rational_arithmetic(form: str):
    tables = Tables(form)
    game = tables.game()
    rng = np.random.default_rng(0)
    whole = rng.integers(1, 50, size=(tables.N, tables.A))
    exact = [[Fraction(int(x), int(row.sum())) for x in row] for row in whole]
    rows = np.array([[float(p) for p in row] for row in exact])
    found, following = induced_payoffs(game, 1, rows, 1), next_state_probs(game, 1, rows, 1)
    for i in range(tables.N):
        reward, after = exact_seat(tables, exact, i, 1, 1)
        np.testing.assert_allclose(found.rewards[i], [float(r) for r in reward], rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.transitions[i], [[float(p) for p in row] for row in after], rtol=0, atol=1e-14)
        together = [
            sum((p * q for p, q in zip(exact[i], column, strict=True)), Fraction(0)) for column in np.array(after).T
        ]
        np.testing.assert_allclose(following, [float(p) for p in together], rtol=0, atol=1e-14)


def test_the_sum_of_a_thousand_is_the_binomial():
    """Equal agents: the others' load is binomial, whose chances SciPy knows."""
    from scipy.stats import binom

    N, p = 1000, 0.3
    table = np.random.default_rng(1).normal(size=(1, 1, 2, N + 1))
    game = tacit.CountGame(table, np.ones((1, 1, N + 1, 1)), [1.0], 1, agents=N, actions=2, load=True, scores=(0, 1))
    found = tacit.evaluate(game, tacit.MarkovPolicy.shared([[[1 - p, p]]], agents=N))
    go, stay = (binom.pmf(np.arange(N), N - 1, q) @ table[0, 0, a, 1:] for a, q in ((1, p), (0, 1 - p)))
    np.testing.assert_allclose(found.values, p * go + (1 - p) * stay, atol=1e-12)
    np.testing.assert_allclose(found.gaps, max(go, stay) - (p * go + (1 - p) * stay), atol=1e-12)


@pytest.mark.parametrize("name", ["congestion", "minority"])
def test_play_of_a_thousand_agrees(name: str):
    """Monte Carlo within 4 standard errors: false alarms about once in 4,000 for the three agents looked at."""
    game = tacit.make(name, agents=1000, horizon=3)
    rng = np.random.default_rng(7)
    probs = rng.dirichlet([5, 6], (1000, 3, game.states))
    values = tacit.evaluate(game, tacit.MarkovPolicy(list(probs))).values
    plays, returns = 1500, np.zeros((1500, 1000))
    for total in returns:
        s = game.start(rng.random())
        for h in range(3):
            actions = (rng.random(1000) >= probs[:, h, s, 0]).astype(int).tolist()
            s, rewards = game.step(h, s, actions, rng.random())
            total += rewards
    for i in (0, 500, 999):
        error = returns[:, i].std() / np.sqrt(plays)
        assert abs(returns[:, i].mean() - values[i]) < 4 * error


@pytest.mark.parametrize(
    ("game", "holds"),
    [
        (lambda: tacit.make("congestion", agents=4, horizon=1), True),  # Rosenthal
        (lambda: tacit.make("congestion", agents=4, horizon=2), None),
        (lambda: tacit.make("distancing", agents=4, horizon=1, form="counts"), True),
        (lambda: Tables("counts and counts", horizon=1).game(), False),
        (lambda: Tables("two actions", horizon=2).game(), False),
    ],
)
def test_the_potential_test_says_what_that_of_the_tables_says(game, holds: bool | None):
    one = game()
    found, same = tacit.potential(one), tacit.potential(one.tabular())
    assert found.holds == same.holds
    assert holds is None or found.holds == holds
    if found.holds:
        policy = tacit.MarkovPolicy.random(one, seed=4)
        assert found.value(policy) == pytest.approx(same.value(policy), abs=1e-10)


def test_a_hundred_drivers_have_a_potential():
    assert tacit.potential(tacit.make("congestion", agents=100, horizon=1)).holds


def test_what_needs_joint_tables_is_done_where_they_fit():
    small = tacit.make("congestion", agents=3, horizon=2)
    assert tacit.solve(small, "cce").values == pytest.approx(tacit.solve(small.tabular(), "cce").values)
