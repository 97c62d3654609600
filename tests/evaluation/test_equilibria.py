"""All equilibria of bimatrix games, equilibria stage by stage, objectives, and learning with full information."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from scipy.optimize import minimize
from supports import supports_with_equilibria

import tacit
from tacit.cli.main import main
from tacit.evaluation.bimatrix import extreme_equilibria, pure_equilibria
from tacit.evaluation.optimistic import learned


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("chicken", 3), ("battle-of-the-sexes", 3), ("prisoners-dilemma", 1), ("stag-hunt", 3),
        ("matching-pennies", 1), ("rock-paper-scissors", 1), ("shapley", 1), ("climbing", 3),
    ],
)  # fmt: skip
def test_classics(name: str, count: int):
    found = tacit.equilibria(tacit.make(name))
    assert len(found) == count
    assert found.gap < 1e-9
    assert not found.infinite


@pytest.mark.parametrize("seed", range(6))
def test_against_supports(seed: int):
    """In random games every equilibrium has its own pair of supports: both ways find the same pairs."""
    payoffs = np.random.default_rng(seed).random((2, 3, 3))
    found = extreme_equilibria(payoffs)
    pairs = {
        (tuple(np.flatnonzero(x > 1e-9).tolist()), tuple(np.flatnonzero(y > 1e-9).tolist()))
        for x, y in zip(found.rows, found.columns, strict=True)
    }
    assert pairs == supports_with_equilibria(*payoffs)
    assert len(found.rows) % 2 == 1


def test_a_degenerate_game_has_a_set_of_equilibria():
    """Row 0 is indifferent for the column player, who may mix as long as row 0 stays best: y_0 from 1/2 to 1."""
    game = tacit.matrix_game([[[1, 1], [0, 2]], [[1, 1], [0, 2]]])
    found = tacit.equilibria(game)
    assert found.infinite
    sets = {tuple(p.probs[1][0, 0].round(9)) for p, c in zip(found.policies, found.component, strict=True) if c == 0}
    assert sets == {(1.0, 0.0), (0.5, 0.5)}
    assert "infinitely many" in str(found.show())


def test_constant_payoffs():
    found = extreme_equilibria(np.zeros((2, 2, 3)))
    assert len(found.rows) == 6  # every pair of pure actions is extreme
    assert found.infinite


def test_pure_equilibria_of_three_players():
    payoffs = np.random.default_rng(0).random((3, 2, 3, 2))
    for joint in np.ndindex(2, 3, 2):
        stays = all(
            payoffs[(i, *joint)]
            >= max(payoffs[(i, *joint[:i], a, *joint[i + 1 :])] for a in range(payoffs.shape[1 + i]))
            for i in range(3)
        )
        assert stays == (joint in pure_equilibria(payoffs))


def test_markov_games_backwards():
    game = tacit.make("random-general-sum", seed=4, horizon=3, states=3)
    worth = {}
    for rule in ("welfare", "first", "agent:0"):
        found = tacit.solve(game, "nash", select=rule)
        assert tacit.evaluate(game, found.policy).gap < 1e-9
        assert rule in found.method
        worth[rule] = found.values
    last = tacit.solve(tacit.make("chicken"), "nash", select="agent:1")
    np.testing.assert_allclose(last.values, [2, 7], atol=1e-9)


def test_more_agents_are_learned_and_judged():
    game = tacit.make("random-general-sum", seed=3, agents=3, horizon=2, states=2)
    found = tacit.solve(game, "nash", rounds=100)
    gap = tacit.evaluate(game, found.policy).gap
    if found.gap is not None:  # some stage has no pure equilibrium
        assert found.gap.gap == gap
    assert gap < 0.05 * tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap


@pytest.mark.parametrize("concept", ["cce", "ce"])
def test_learning_with_full_information(concept: str):
    """Its values are those of the policy it returns, and its gap a small part of uniform play's."""
    game = tacit.make("random-general-sum", seed=3, horizon=3, states=2)
    found = learned(game, concept, rounds=100)
    checked = tacit.evaluate(game, found.policy, gap=concept)
    np.testing.assert_allclose(checked.values, found.V[:, 0] @ game.initial, atol=1e-6)
    assert checked.gap < 0.1 * tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap


def test_large_games_are_learned():
    game = tacit.make("congestion", agents=30, horizon=2)
    found = tacit.solve(game, "cce", rounds=60)
    assert found.gap is not None
    assert found.gap.gap < 0.2 * tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    with pytest.raises(tacit.TacitError, match="objective"):
        tacit.solve(game, "cce", objective="entropy")


@pytest.mark.parametrize("concept", ["cce", "ce"])
@pytest.mark.parametrize("seed", range(3))
def test_objectives(seed: int, concept: str):
    """Each objective's solution is an equilibrium, and none of the others is better by it."""
    game = tacit.make("random-general-sum", seed=seed, horizon=1, states=1, actions=[2, 3])
    solved = {o: tacit.solve(game, concept, objective=o) for o in ("welfare", "egalitarian", "entropy", "agent:1")}
    for found in solved.values():
        assert tacit.evaluate(game, found.policy, gap=concept).gap < 1e-7
    values = {o: found.values for o, found in solved.items()}
    assert max(v.sum() for v in values.values()) == pytest.approx(values["welfare"].sum(), abs=1e-7)
    assert max(v.min() for v in values.values()) == pytest.approx(values["egalitarian"].min(), abs=1e-7)
    assert max(v[1] for v in values.values()) == pytest.approx(values["agent:1"][1], abs=1e-7)


def test_entropy_against_a_general_solver():
    game = tacit.make("chicken")
    payoffs = game.rewards[:, 0, 0]
    rows = []
    for i in range(2):
        for told, played in ((0, 1), (1, 0)):
            gain = np.zeros((2, 2))
            for joint in np.ndindex(2, 2):
                if joint[i] == told:
                    swapped = (played, joint[1]) if i == 0 else (joint[0], played)
                    gain[joint] = payoffs[(i, *swapped)] - payoffs[(i, *joint)]
            rows.append(gain.ravel())
    limits = [{"type": "ineq", "fun": lambda x, row=row: -row @ x} for row in rows]
    limits.append({"type": "eq", "fun": lambda x: x.sum() - 1})
    best = minimize(lambda x: float((x * np.log(np.maximum(x, 1e-12))).sum()), np.full(4, 0.25), method="SLSQP",
                    bounds=[(0, 1)] * 4, constraints=limits, options={"ftol": 1e-12})  # fmt: skip
    ours = tacit.solve(game, "ce", objective="entropy").policy.probs[0].ravel()
    np.testing.assert_allclose(ours, best.x, atol=1e-4)
    alone = tacit.solve(tacit.make("prisoners-dilemma"), "ce", objective="entropy").policy.probs[0].ravel()
    np.testing.assert_allclose(alone, [0, 0, 0, 1], atol=1e-9)  # the only correlated equilibrium


def test_commands(capsys: pytest.CaptureFixture[str]):
    assert main(["solve", "chicken", "nash"]) == 0
    assert "3 equilibria, and no other" in capsys.readouterr().out
    assert main(["solve", "prisoners-dilemma", "nash", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["equilibria"][0]["agents"] == [{"cooperate": 0, "defect": 1}] * 2
    assert main(["solve", "chicken", "ce", "--objective", "agent:9"]) == 2
    assert "agents are numbered from 0 to 1" in capsys.readouterr().err
    assert main(["solve", "chicken", "nash", "--objective", "welfare"]) == 2


def _rps(k: int, beside: float, corner: float | None = None) -> np.ndarray:
    """Rock, paper, scissors of k actions, and one more that costs much; with a corner, a strict equilibrium there."""
    A = np.zeros((k + 1, k + 1))
    for i, j in itertools.product(range(k), range(k)):
        A[i, j] = 0 if i == j else 1 if (i - j) % k in range(1, k, 2) else -1
    A[k, :], A[:k, k] = -beside, 5
    B = -A
    B[:, k], B[k, :] = -beside, 0
    if corner is not None:
        A[k, k] = B[k, k] = corner
    return np.stack([A, B])


@pytest.mark.parametrize(
    ("k", "beside"), [(5, 10.0), (5, 3000.0), (5, 1e6), (7, 500.0), pytest.param(7, 1e5, marks=pytest.mark.slow)]
)
def test_large_penalties_hide_no_equilibrium(k: int, beside: float):
    even = np.append(np.full(k, 1 / k), 0)
    found = extreme_equilibria(_rps(k, beside))
    assert len(found.rows) == 1
    np.testing.assert_allclose([found.rows[0], found.columns[0]], [even, even], atol=1e-9)
    assert found.sure
    found = extreme_equilibria(_rps(k, beside, corner=6.0))
    assert any(np.allclose(row, even) and np.allclose(col, even) for row, col in zip(*found[:2], strict=True))
    assert found.rows[:, k].max() == 1


@pytest.mark.parametrize("sucker", [-3.0, -1e3, -1e6, -1e8, -1e9, -1e12])
def test_a_dilemma_has_one_equilibrium_however_bad_the_worst_is(sucker: float):
    game = tacit.matrix_game([[[-1, sucker], [0, -2]], [[-1, 0], [sucker, -2]]])
    found = tacit.equilibria(game)
    assert (len(found), found.gap, found.sure) == (1, 0.0, True)
    assert tacit.solve(game, "nash").values.tolist() == [-2, -2]


@pytest.mark.parametrize("outlier", [-1e4, -1e6, -1e8, -1e10])
def test_what_is_listed_is_an_equilibrium_by_its_own_payoffs(outlier: float):
    """Nobody gains, measured by the payoffs that are met, not by the outlier; else the list says that it is unsure."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        payoffs = rng.integers(0, 9, (2, 3, 3)).astype(float)
        payoffs[0][tuple(rng.integers(3, size=2))] = payoffs[1][tuple(rng.integers(3, size=2))] = outlier
        found = extreme_equilibria(payoffs)
        for x, y in zip(found.rows, found.columns, strict=True):
            mine, theirs = payoffs[0] @ y, x @ payoffs[1]
            assert mine.max() - x @ mine <= 1e-6
            assert theirs.max() - theirs @ y <= 1e-6
        pure = {
            tuple(map(int, np.argwhere(own == 1).ravel())) for own in np.concatenate([found.rows, found.columns], 1)
        }
        for i, j in itertools.product(range(3), range(3)):
            stays = payoffs[0][i, j] == payoffs[0][:, j].max() and payoffs[1][i, j] == payoffs[1][i].max()
            assert not stays or (i, 3 + j) in pure
