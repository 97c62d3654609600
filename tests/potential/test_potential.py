"""Which games have a potential: checked by hand, by construction and by cycles."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from cycles import constant, cycle_sums

import tacit
from tacit.games.matrix import matrix_game


def table_cycles(game: tacit.TabularGame) -> list[float]:
    """The 4-cycle sums of a one-state two-agent game, from its table alone."""
    a, b = game.rewards[:, 0, 0]
    sums = []
    for (x, x2), (y, y2) in itertools.product(
        itertools.combinations(range(game.actions[0]), 2), itertools.combinations(range(game.actions[1]), 2)
    ):
        sums.append(a[x2, y] - a[x, y] + b[x2, y2] - b[x2, y] + a[x, y2] - a[x2, y2] + b[x, y] - b[x, y2])
    return sums


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("chicken", True),
        ("prisoners-dilemma", True),
        ("stag-hunt", True),
        ("battle-of-the-sexes", True),
        ("matrix-team", True),
        ("climbing", True),
        ("penalty", True),
        ("matching-pennies", False),
        ("rock-paper-scissors", False),
        ("shapley", False),
    ],
)
@pytest.mark.parametrize("horizon", [1, 3])
def test_classics(name: str, holds: bool, horizon: int):
    """By hand: in one state the 4-cycle sums decide, and repeating a game changes nothing of that."""
    game = tacit.make(name, horizon=horizon)
    assert (max(map(abs, table_cycles(game))) < 1e-12) == holds
    found = tacit.potential(game)
    assert found.holds == holds
    assert bool(found.failures) != holds
    for failure in found.failures:
        assert failure.agents == (0, 1)
        assert failure.steps[0] == failure.steps[1]  # rounds do not touch each other
        assert failure.amount > 0


@pytest.mark.parametrize(("place", "holds"), [((0, 0, 0), False), ((1, 1, 0), False)])
def test_one_payoff_changed(place: tuple[int, int, int], holds: bool):
    """The prisoner's dilemma loses its potential when one entry of one table changes."""
    payoffs = tacit.make("prisoners-dilemma").rewards[:, 0, 0].copy()
    payoffs[place] += 1e-3
    assert tacit.potential(matrix_game(payoffs)).holds == holds


def test_what_does_not_depend_on_oneself_may_be_added():
    """A dummy term u_i(a_-i) keeps the potential; one that depends on one's own action as well does not."""
    payoffs = tacit.make("chicken").rewards[:, 0, 0].copy()
    payoffs[0] += np.array([[5.0, -3.0]])
    payoffs[1] += np.array([[1.0], [8.0]])
    assert tacit.potential(matrix_game(payoffs)).holds


@pytest.mark.parametrize("kind", ["random-team", "random-potential"])
@pytest.mark.parametrize(
    "sizes", [{"agents": 2, "actions": [3, 2], "horizon": 4}, {"agents": 3, "states": 3, "horizon": 3}]
)
def test_by_construction(kind: str, sizes: dict):
    for seed in range(3):
        found = tacit.potential(tacit.make(kind, seed=seed, **sizes))
        assert found.holds
        assert found.failures == ()
        assert found.asymmetry < 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_random_general_sum_games_have_none(seed: int):
    assert not tacit.potential(tacit.make("random-general-sum", horizon=2, seed=seed)).holds


def test_potential_in_every_state_and_transitions_without_actions():
    """A potential game in each state, different for the agents, and transitions that no action changes: yes."""
    rng = np.random.default_rng(0)
    payoffs = np.stack([tacit.make(name).rewards[:, 0, 0] for name in ("chicken", "stag-hunt")], axis=1)  # [N, S, A, A]
    free = np.broadcast_to(rng.dirichlet(np.ones(2), (1, 2, 1, 1)), (1, 2, 2, 2, 2))
    assert tacit.potential(tacit.TabularGame(free, payoffs[:, None], [0.5, 0.5], 4)).holds
    ruled = rng.dirichlet(np.ones(2), (1, 2, 2, 2))
    found = tacit.potential(tacit.TabularGame(ruled, payoffs[:, None], [0.5, 0.5], 4))
    assert not found.holds
    assert max(max(f.steps) for f in found.failures) <= 3
    last = [f for f in found.failures if f.steps == (3, 3)]
    assert last == []  # at the last step nothing is left but the potential game of the state


def test_failures_name_agents_steps_and_states():
    """Three agents; only 0 and 2 disagree, only at step 1 in state 1: that is all that is named."""
    rng = np.random.default_rng(1)
    shared = np.repeat(rng.random((1, 3, 2, 2, 2, 2)), 3, axis=0)
    shared[2, 1, 1] += np.array([[[0, 0.5]], [[0.5, 0]]])  # depends on the actions of agents 0 and 2
    free = np.broadcast_to(rng.dirichlet(np.ones(2), (3, 2, 1, 1, 1)), (3, 2, 2, 2, 2, 2))
    found = tacit.potential(tacit.TabularGame(free, shared, [0.5, 0.5], 3))
    assert not found.holds
    assert {(f.agents, f.steps, f.states) for f in found.failures} == {((0, 2), (1, 1), (1, 1))}
    assert "agents (0, 2) at steps (1, 1), states (1, 1)" in repr(found)


def test_a_potential_is_asked_for_every_first_state():
    """Two states that stay: a team in the first, matching pennies in the second, where no run ever begins."""
    payoffs = np.stack([tacit.make(name).rewards[:, 0, 0] for name in ("stag-hunt", "matching-pennies")], axis=1)
    stay = np.broadcast_to(np.eye(2)[None, :, None, None], (1, 2, 2, 2, 2))
    found = tacit.potential(tacit.TabularGame(stay, payoffs[:, None], [1.0, 0.0], 2))
    assert not found.holds
    assert {f.states for f in found.failures} == {(1, 1)}


def test_good_state_with_two_reward_tables():
    game = tacit.make("good-state", horizon=3)
    rewards = game.rewards.copy()
    rewards[1, 0, 0, 0, 0] += 1.0  # agent 1 minds the state s0 less
    changed = tacit.TabularGame(game.transitions, rewards, game.initial, 3)
    found = tacit.potential(changed)
    assert not found.holds
    assert all(f.agents == (0, 1) for f in found.failures)
    amounts = [f.amount for f in found.failures]
    assert amounts == sorted(amounts, reverse=True)
    assert ((2, 2), (0, 0)) in {(f.steps, f.states) for f in found.failures}  # in s0 at the last step
    assert ((2, 2), (1, 1)) not in {(f.steps, f.states) for f in found.failures}  # in s1 all get 0 there
    sums = cycle_sums(changed, 0, 1, constant(changed), 30)
    assert max(map(abs, sums)) > 1e-6


SMALL = {"agents": 2, "weights": [1, 2], "penalty": 10}


def test_distancing_in_one_step():
    """In one round it is a congestion game, which has a potential; so do its cycles say."""
    game = tacit.make("distancing", horizon=1, **SMALL)
    assert tacit.potential(game).holds
    sums = cycle_sums(game, 0, 1, constant(game), 60)
    assert max(map(abs, sums)) < 1e-9


@pytest.mark.parametrize(("agents", "weights"), [(2, [1, 2]), (3, [1, 2, 4]), (4, [1, 2, 4, 6])])
@pytest.mark.parametrize("horizon", [2, 3])
def test_distancing_over_several_steps_has_no_potential(agents: int, weights: list[float], horizon: int):
    """Our test says no; a cycle of deterministic Markov policies with a non-zero sum proves it independently."""
    game = tacit.make("distancing", horizon=horizon, agents=agents, weights=weights)
    assert not tacit.potential(game).holds
    sums = cycle_sums(game, 0, 1, constant(game), 60)
    assert max(map(abs, sums)) > 0.1


def test_distancing_where_crowding_cannot_be_avoided():
    """Three agents at two facilities are always a crowd: no action changes the state, and there is a potential."""
    game = tacit.make("distancing", horizon=3, agents=3, weights=[1, 2])
    assert tacit.potential(game).holds
    assert max(map(abs, cycle_sums(game, 0, 1, constant(game), 60))) < 1e-9


def test_cycles_of_a_team_are_zero():
    """The instrument itself: where a potential is known, no cycle has a sum."""
    game = tacit.make("good-state", horizon=2)
    assert max(map(abs, cycle_sums(game, 0, 1, constant(game), 60))) < 1e-9


def test_no_value_without_a_potential():
    found = tacit.potential(tacit.make("matching-pennies"))
    with pytest.raises(tacit.TacitError, match="must be a potential game"):
        found.value(tacit.MarkovPolicy.uniform(found.game))


def test_no_value_of_a_correlated_policy():
    game = tacit.make("stag-hunt")
    with pytest.raises(tacit.TacitError, match="product"):
        tacit.potential(game).value(tacit.MarkovPolicy(np.full((1, 1, 2, 2), 0.25)))
