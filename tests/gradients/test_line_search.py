"""eta="auto": steps that raise the potential, end where there is none, and resume bit for bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.evaluation import policy_gradient, policy_values
from tacit.learners import NPG, Learner, pg_exact
from tacit.learners.spec import world_of

LEARNERS: list[Learner] = [tacit.learners.PGExact(), NPG()]
SHAPE: dict[str, Any] = {"agents": 3, "states": 2, "actions": [2, 3, 2], "horizon": 3}


def steps(game: tacit.TabularGame, learner: Learner, policy: tacit.MarkovPolicy, number: int) -> list[Any]:
    """Return (policy, what the step from there was)."""
    world = world_of(learner, game, episodes=1, seed=0)
    search, found = pg_exact.begin_search(world), []
    for _ in range(number):
        step = pg_exact.take_step(game, learner, world, policy, policy_gradient(game, policy), search)
        found.append((policy, step))
        policy, search = step.policy, step.search
    return found


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_potential_rises_by_half_of_what_the_gradients_promise(learner: Learner, seed: int):
    """Φ from `tacit.potential`, which shares no code with the sums of gains."""
    game = tacit.make("random-potential", **SHAPE, seed=seed)
    phi = tacit.potential(game)
    longer = 0
    for before, step in steps(game, learner, tacit.MarkovPolicy.random(game, seed=seed), 12):
        slopes = policy_gradient(game, before).gradients
        pairs = zip(slopes, step.policy.probs, before.probs, strict=True)
        promised = sum(float((slope * (new - old)).sum()) for slope, new, old in pairs)
        assert phi.value(step.policy) - phi.value(before) >= 0.5 * promised - 1e-12
        longer += step.search.eta > 10 * pg_exact.theory_step(world_of(learner, game, episodes=1, seed=0))
    assert longer == 12


def test_gains_of_one_after_another_are_the_rise_of_the_potential_in_any_order():
    game = tacit.make("random-potential", **SHAPE, seed=3)
    phi = tacit.potential(game)
    old, new = (tacit.MarkovPolicy.random(game, seed=seed) for seed in (0, 1))
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        gain = pg_exact.sum_gains(game, old.probs, new.probs, order)
        assert gain == pytest.approx(phi.value(new) - phi.value(old), abs=1e-12)


def test_value_of_an_agent_is_the_value():
    game = tacit.make("random-general-sum", **SHAPE, seed=4)
    policy = tacit.MarkovPolicy.random(game, seed=0)
    own = [pg_exact.value_of(game, policy.probs, i) for i in range(3)]
    np.testing.assert_allclose(own, policy_values(game, policy).initial, atol=1e-12)


@pytest.mark.parametrize("learner", ["pg-exact", "npg"])
@pytest.mark.parametrize("name", ["random-potential", "random-team"])
def test_it_gets_there_where_the_theorems_step_does_not(learner: str, name: str):
    game = tacit.make(name, states=3, actions=3, horizon=4, seed=12)
    assert tacit.learn(game, learner, episodes=60, points=1, eta="theory").candidates["last"].gap > 0.3
    assert tacit.learn(game, learner, episodes=60, points=1).candidates["last"].gap < 1e-8


@pytest.mark.parametrize("learner", ["pg-exact", "npg"])
def test_without_a_potential_steps_get_shorter_and_the_best_iterate_is_kept(learner: str):
    game = tacit.make("matching-pennies")
    start = tacit.MarkovPolicy([[[[0.6, 0.4]]], [[[0.55, 0.45]]]])
    run = tacit.learn(game, learner, episodes=80, start=start, points=3)
    assert run.episodes == 80
    assert run.gap <= tacit.evaluate(game, start).gap + 1e-12
    spec = tacit.learners.PGExact() if learner == "pg-exact" else NPG()
    world = world_of(spec, game, episodes=1, seed=0)
    longest = [step.search.longest for _, step in steps(game, spec, start, 80)]
    assert longest[-1] < 0.1 * pg_exact.begin_search(world).longest
    assert all(later <= sooner for sooner, later in pairwise(longest))


@pytest.mark.parametrize("learner", ["pg-exact", "npg"])
def test_rewards_that_are_all_alike_are_no_trouble(learner: str):
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 1)), np.ones((2, 1, 1, 2, 2)), [1.0], 2)
    assert tacit.learn(game, learner, episodes=3).gap == 0


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_of_reward_do_not_matter(scale: float):
    game = tacit.make("random-team", states=3, actions=3, horizon=4, seed=2)
    other = tacit.TabularGame(game.transitions, scale * game.rewards, game.initial, game.horizon)
    one, two = (tacit.learn(g, "pg-exact", episodes=4).last for g in (game, other))
    np.testing.assert_allclose(one.probs[0], two.probs[0], atol=1e-6)


def test_natural_gradients_come_back_from_a_long_step():
    """The first step all but rules out what is best in the end: agent 1 changes its mind, and agent 0 follows."""
    game = tacit.games.matrix.matrix_game([[[-1, 0.14], [0.16, 0.15], [0.2, -1]]] * 2)
    start = tacit.MarkovPolicy([[[[0.8, 0.1, 0.1]]], [[[0.5, 0.5]]]])
    run = tacit.learn(game, "npg", episodes=60, start=start)
    assert run.gap < 1e-9
