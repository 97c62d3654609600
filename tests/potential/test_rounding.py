"""Whether a game has a potential is not a matter of rounding, nor of how rarely a part of it is visited."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from cycles import constant, cycle_sums

import tacit
from tacit.evaluation.potential import rounding
from tacit.games.matrix import matrix_game


def own_action_game(rng: np.random.Generator, *, team: float = 0.0, noise: float = 0.0) -> tacit.TabularGame:
    """Rewards of one's own action alone, of sizes 1e-3 to 1e3, plus shared and private terms relative to the largest.

    Two or three agents, up to three states and steps; transitions that no action changes.
    """
    N, S, H = (int(rng.integers(low, 4)) for low in (2, 1, 1))
    actions = tuple(int(a) for a in rng.integers(2, 4, N))
    rewards = np.zeros((N, H, S, *actions))
    for i in range(N):
        own = [H, S, *[1] * N]
        own[2 + i] = actions[i]
        rewards[i] = rng.normal(size=own) * 10 ** rng.uniform(-3, 3)
    size = np.abs(rewards).max()
    rewards += team * size * rng.normal(size=(1, H, S, *actions)) + noise * size * rng.normal(size=rewards.shape)
    free = np.broadcast_to(rng.dirichlet(np.ones(S), (H, S, *[1] * N)), (H, S, *actions, S))
    return tacit.TabularGame(free, rewards, rng.dirichlet(np.ones(S)), H)


def relative_cycle(game: tacit.TabularGame) -> float:
    """The largest of 20 random 4-cycle sums of each pair, over the largest return."""
    sums = [abs(x) for i, j in combinations(range(game.agents), 2) for x in cycle_sums(game, i, j, constant(game), 20)]
    return max(sums) / (game.horizon * float(np.abs(game.rewards).max()))


def test_the_smallest_separable_game():
    game = matrix_game([[[0, 0], [1, 1]], [[0, 1], [0, 1]]])
    found = tacit.potential(game)
    assert found.holds
    assert found.value(tacit.MarkovPolicy.deterministic([[[1]], [[1]]], (2, 2))) == pytest.approx(1)  # from uniform
    assert tacit.smoothness(game).lam == pytest.approx(1)
    assert "up to 1.1e-13 of the returns" in repr(found)


def test_rewards_of_ones_own_action():
    rng = np.random.default_rng(0)
    for k in range(200):
        game = own_action_game(rng)
        found = tacit.potential(game)
        assert found.holds
        assert found.asymmetry < 0.1 * found.tolerance  # the bound on rounding is no close call
        assert k >= 20 or relative_cycle(game) < 1e-13


def test_own_terms_and_a_small_team():
    rng = np.random.default_rng(1)
    for k in range(50):
        game = own_action_game(rng, team=1e-7)
        assert tacit.potential(game).holds
        assert k >= 10 or relative_cycle(game) < 1e-13


@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-9, 1e-11])
def test_own_terms_and_what_has_no_potential(noise: float):
    """Private terms of all actions are seen down to 1e-11 of the rewards; the cycles see them as well."""
    rng = np.random.default_rng(2)
    for k in range(20):
        game = own_action_game(rng, team=1e-7, noise=noise)
        found = tacit.potential(game)
        assert not found.holds
        assert found.failures
        assert k >= 5 or relative_cycle(game) > 0.01 * noise


def test_a_tolerance_of_ones_own():
    rng = np.random.default_rng(3)
    game = own_action_game(rng, noise=1e-9)
    assert not tacit.potential(game).holds
    found = tacit.potential(game, tolerance=1e-6)
    assert found.holds
    assert found.tolerance == 1e-6
    assert rounding(game) < found.asymmetry < 1e-6
    with pytest.raises(tacit.TacitError, match="tolerance must be"):
        tacit.potential(game, tolerance=-1)


def test_general_sum_games_are_refused():
    for horizon in (1, 2, 3):
        for seed in range(20):
            game = tacit.make("random-general-sum", horizon=horizon, states=1 + seed % 3, seed=seed)
            assert not tacit.potential(game).holds
            assert seed >= 3 or relative_cycle(game) > 1e-6


PENNIES = np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])


def rare(chance: float | np.ndarray, last: np.ndarray, *, everyday: float) -> tacit.TabularGame:
    """Two steps: from the common state one gets to a rare one with `chance` [A, A], where `last` [N, A, A] is played.

    In the common state all agents get the same, of size `everyday`. Rewards of the rare state count at the last step
    only, so that no first state makes it common.
    """
    rng = np.random.default_rng(0)
    transitions = np.zeros((2, 2, 2, 2, 2))
    transitions[..., 0] = 1.0
    transitions[0, :, :, :, 1] = chance
    transitions[0, :, :, :, 0] = 1.0 - transitions[0, :, :, :, 1]
    rewards = np.zeros((2, 2, 2, 2, 2))
    rewards[:, :, 0] = everyday * rng.normal(size=(1, 2, 2, 2))
    rewards[:, 1, 1] = last
    return tacit.TabularGame(transitions, rewards, [1.0, 0.0], 2)


@pytest.mark.parametrize("chance", [1e-3, 1e-10, 1e-16, 1e-100])
@pytest.mark.parametrize("everyday", [0.0, 1.0, 1e6])
def test_a_game_that_is_hardly_ever_reached(chance: float, everyday: float):
    """Matching pennies behind a door that hardly ever opens; a team game there is none the worse for it."""
    found = tacit.potential(rare(chance, PENNIES, everyday=everyday))
    assert not found.holds
    assert {(f.agents, f.steps, f.states) for f in found.failures} == {((0, 1), (1, 1), (1, 1))}
    assert tacit.potential(rare(chance, PENNIES[[0, 0]], everyday=everyday)).holds


@pytest.mark.parametrize("chance", [1e-3, 1e-10, 1e-16, 1e-100])
@pytest.mark.parametrize("everyday", [0.0, 1.0, 1e6])
def test_an_influence_on_what_is_hardly_ever_reached(chance: float, everyday: float):
    """Agent 0 opens the door twice as often with action 1; behind it agent 1 alone decides what agent 0 gets."""
    opens = chance * np.array([[1.0, 1.0], [2.0, 2.0]])
    given = np.stack([[[0.0, 1.0], [0.0, 1.0]], np.zeros((2, 2))])
    found = tacit.potential(rare(opens, given, everyday=everyday))
    assert not found.holds
    assert {(f.agents, f.steps, f.states) for f in found.failures} == {((0, 1), (0, 1), (s, 1)) for s in (0, 1)}
    for failure in found.failures:
        assert failure.amount == pytest.approx(chance)  # (2 − 1)·chance, times a reward of 1
    assert tacit.potential(rare(chance, given, everyday=everyday)).holds  # who cannot open it has no influence


@pytest.mark.parametrize("chance", [1e-3, 1e-10, 1e-16, 1e-100])
def test_doors_that_open_to_two(chance: float):
    """Both open the door together, and behind it one is paid whatever they do: both moves act at the first step."""
    together = chance * np.eye(2)
    paid = np.stack([np.ones((2, 2)), np.zeros((2, 2))])
    found = tacit.potential(rare(together, paid, everyday=1.0))
    assert {(f.agents, f.steps, f.states) for f in found.failures} == {((0, 1), (0, 0), (s, s)) for s in (0, 1)}


def test_cycles_see_the_rare_part_too():
    """The instrument agrees, where nothing else is there to hide it."""
    for chance in (1e-3, 1e-16):
        game = rare(chance, PENNIES, everyday=0.0)
        assert max(map(abs, cycle_sums(game, 0, 1, constant(game), 40))) > 0.1 * chance


@pytest.mark.parametrize("seed", range(30))
def test_what_cycles_say_of_random_games(seed: int):
    """Games of small whole numbers, some with a potential: both say the same.

    Agents 0 and 1 share a table but for dummy terms in two thirds of the games; transitions depend on nobody, on agent
    0 or on both.
    """
    rng = np.random.default_rng(seed)
    shared = rng.integers(-2, 3, (2, 2, 2, 2)).astype(float)
    rewards = np.stack([shared, shared])
    kind = seed % 3
    if kind != 1:
        rewards[0] += rng.integers(-1, 2, (2, 2, 1, 2))
        rewards[1] += rng.integers(-1, 2, (2, 2, 2, 1))
    shape = [(1, 1), (2, 1), (2, 2)][int(rng.integers(3))]
    rows = np.broadcast_to(rng.integers(1, 4, (2, 2, *shape))[..., None] / 4, (2, 2, 2, 2, 1))
    game = tacit.TabularGame(np.concatenate([rows, 1 - rows], axis=-1), rewards, [0.5, 0.5], 2)
    sums = [abs(x) for x in cycle_sums(game, 0, 1, constant(game), 150)]
    assert tacit.potential(game).holds == (max(sums) < 1e-12)


def test_many_failures_are_a_thousand():
    game = tacit.make("random-general-sum", states=12, horizon=5, seed=0)
    assert len(tacit.potential(game).failures) == 1000
