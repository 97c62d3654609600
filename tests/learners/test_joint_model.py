"""The joint model: what it counts and plans, against NumPy, and where next states run out."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.core.records import records
from tacit.learners import joint_model as model
from tacit.learners import model_central


def state(joint: int, successors: int, agents: int = 1) -> Any:
    return records((1,), model.fields(joint, successors, agents))[0]


def learner(joint: int, actions: tuple[int, ...], *, horizon: int = 2, states: int = 5, **more: Any) -> Any:
    """Return what planning reads of a learner: cells with random policies and values, and the best returns."""
    rng, N = np.random.default_rng(7), len(actions)
    cells = records((horizon + 1, states, N), model_central.cell_fields(4))
    cells["value"][:horizon] = rng.random((horizon, states, N))
    for i, size in enumerate(actions):
        cells["prob"][:, :, i, :size] = rng.dirichlet(np.ones(size), (horizon + 1, states))
    agents = records((N,), model_central.agent_fields(4))
    agents["best"] = 9.0
    scratch = model.make_scratch(N, joint, 4)
    facts = {"cells": cells, "agents": agents, "scratch": scratch, "joint": joint, "actions": actions}
    return SimpleNamespace(**facts, horizon=horizon, discount=1.0, over=-1, **more)


def test_means_and_values_are_those_of_what_was_counted():
    """Two agents' rewards, and values that follow; what was never tried has the value of the best return."""
    here, rng, met = state(12, 4, 2), np.random.default_rng(1), defaultdict(list)
    one = learner(12, (3, 4))
    for _ in range(300):
        joint, s_next, rewards = int(rng.integers(11)), int(rng.integers(4)), rng.random(2)
        here["seen"][joint] += 1
        here["reward"][joint] += rewards
        model.count_move(here, joint, s_next)
        met[joint].append((*rewards, s_next))
    for h in range(2):  # nothing follows the last step
        model.value_joint_actions(one, here, h)
        for joint, visits in met.items():
            nexts = [int(visit[2]) for visit in visits]
            ahead = one.cells["value"][h + 1, nexts].mean(axis=0)
            for i in range(2):
                mean = np.mean([visit[i] for visit in visits])
                np.testing.assert_allclose(one.scratch.values[i, joint], mean + ahead[i])
                np.testing.assert_allclose(model.mean_reward(here, joint, i), mean)
        assert one.scratch.values[:, 11].tolist() == [9, 9]
    for joint, visits in met.items():
        nexts, n = [int(visit[2]) for visit in visits], len(visits)
        assert model.predict(here, joint, 3, 0.2) == pytest.approx((nexts.count(3) + 1) / (n + 5))


def test_responses_against_all_others_by_enumeration():
    """Three agents of 2, 3 and 2 actions."""
    sizes = (2, 3, 2)
    one = learner(12, sizes)
    one.scratch.values[:] = np.random.default_rng(2).random((3, 12))
    model.respond(one, 1, 3)
    probs = [one.cells["prob"][1, 3, i, :size] for i, size in enumerate(sizes)]
    for i in range(3):
        others = [np.ones(sizes[k]) if k == i else probs[k] for k in range(3)]
        expected = np.einsum("abc,a,b,c->" + "abc"[i], one.scratch.values[i].reshape(sizes), *others)
        np.testing.assert_allclose(one.scratch.q[i, : sizes[i]], expected)


def test_rewards_of_steps_that_differ_are_told_from_noise():
    """The same mean at both steps, or means that are half a standard deviation apart."""
    for apart, differ in ((0.0, False), (0.5, True)):
        me, rng, steps = records((1,), model.ERRORS)[0], np.random.default_rng(4), [state(16, 2) for _ in range(3)]
        me["low"], me["high"] = -3, 3
        for k in range(1000):
            r, step, every = rng.standard_normal() + apart * (k % 2), steps[k % 2], steps[2]
            model.compare_reward(me, step, every, 0, 0, r)
            for here in (step, every):
                here["seen"][0] += 1
                here["reward"][0] += r
        assert model.rewards_differ(me) == differ


def test_of_too_many_next_states_the_least_visited_is_forgotten():
    here = state(4, 2)
    for s_next in (1, 1, 2, 3, 3, 3, 4):
        model.count_move(here, 0, s_next)
    assert dict(zip(here["next"][0].tolist(), here["count"][0].tolist(), strict=True)) == {4: 1, 3: 3}
    assert here["moved"][0] == 4


def test_predictive_regret_matching_solves_a_zero_sum_game():
    game, plays, regrets = np.array([[0.0, -1, 4], [1, 0, -2], [-4, 2, 0]]), np.full((2, 3), 1 / 3), np.zeros((2, 3))
    average = plays.copy()
    for t in range(1, 400):
        q = [game @ plays[1], -game.T @ plays[0]]
        for i in range(2):
            model.match_ahead(regrets[i], plays[i], q[i], 3)
            average[i] += 3 / (t + 2) * (plays[i] - average[i])
    np.testing.assert_allclose(average, np.tile([2 / 7, 4 / 7, 1 / 7], (2, 1)), atol=2e-3)
