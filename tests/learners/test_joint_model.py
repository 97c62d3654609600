"""The joint model: what it counts and plans, against NumPy, and where next states run out."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tacit.core.records import records
from tacit.learners import joint_model as model


def state(rows: int, successors: int, rewards: int = 1) -> Any:
    return records((1,), model.fields(rows, successors, rewards))[0]


def test_means_and_worths_are_those_of_what_was_counted():
    """Two agents' rewards, and values that follow; what was never tried is worth what optimism says."""
    here, rng, met = state(16, 4, 2), np.random.default_rng(1), defaultdict(list)
    scratch = model.make_scratch(5, 2, 12, 2, 4)
    scratch.values[0] = rng.random((5, 2))
    for _ in range(300):
        joint, s_next, rewards = int(rng.integers(11)), int(rng.integers(4)), rng.random(2)
        here["seen"][joint] += 1
        here["reward"][joint] += rewards
        model.count_move(here, joint, s_next, 1.0)
        met[joint].append((*rewards, s_next))
    learner = SimpleNamespace(scratch=scratch, rows=12, actions=(3, 4))
    model.value_joint_actions(learner, here, 1, 0, 0, 2, 1)
    for k in range(2):
        model.hope(learner, k, 9.0, 0.1)
    for joint, found in met.items():
        nexts, n = [int(one[2]) for one in found], len(found)
        foreseen = model.foresee(here, here["count"], joint, joint + 1, 3, 0.2)
        assert foreseen == pytest.approx((nexts.count(3) + 1) / (n + 5))
        for k in range(2):
            worth = np.mean([one[k] for one in found]) + scratch.values[0, nexts, k].mean()
            expected = worth if n >= 30 else (n * worth + 0.9) / (n + 0.1)
            np.testing.assert_allclose(scratch.worth[k, joint], expected)
            np.testing.assert_allclose(model.mean_reward(here, joint, k), np.mean([one[k] for one in found]))
    assert scratch.worth[:, 11].tolist() == [9, 9]
    every = [int(one[2]) for found in met.values() for one in found]
    links = sum(len({one[2] for one in found}) for found in met.values())
    foreseen = model.foresee(here, here["count"], 0, 12, 3, 0.2)
    assert foreseen == pytest.approx((every.count(3) + 0.2 * (1 + links)) / (300 + 1 + links))


@pytest.mark.parametrize("everything", [True, False])
def test_responses_against_all_others_by_enumeration(everything: bool):
    """Three players of 2, 3 and 2 actions; without everything, a joint action that was not tried is left out."""
    rng, sizes = np.random.default_rng(2), (2, 3, 2)
    scratch = model.make_scratch(1, 3, 12, 3, 4)
    scratch.worth[:] = rng.random((3, 12))
    scratch.tried[:] = rng.random(12) < 0.7
    for i, size in enumerate(sizes):
        scratch.play[i, :size] = rng.dirichlet(np.ones(size))
    model.respond(SimpleNamespace(scratch=scratch, rows=12, actions=sizes), 3, 0, 1, everything)
    known = np.ones(sizes) if everything else scratch.tried.reshape(sizes)
    for i in range(3):
        others = [scratch.play[k, : sizes[k]] if k != i else np.ones(sizes[k]) for k in range(3)]
        weight = known * np.einsum("a,b,c->abc", *others)
        axes = tuple(k for k in range(3) if k != i)
        expected = (weight * scratch.worth[i].reshape(sizes)).sum(axis=axes) / weight.sum(axis=axes)
        np.testing.assert_allclose(scratch.q[i, : sizes[i]], expected)


def test_rewards_of_steps_that_differ_are_told_from_noise():
    """The same mean at both steps, or means that are half a standard deviation apart."""
    for apart, differ in ((0.0, False), (0.5, True)):
        me, rng, steps = records((1,), model.ERRORS)[0], np.random.default_rng(4), [state(16, 2) for _ in range(3)]
        me["low"], me["high"] = -3, 3
        for k in range(1000):
            r, own, every = rng.standard_normal() + apart * (k % 2), steps[k % 2], steps[2]
            model.compare_reward(me, own, every, 0, 0, r)
            for here in (own, every):
                here["seen"][0] += 1
                here["reward"][0] += r
        assert model.reward_variance(me, 0) == pytest.approx(1, rel=0.1)
        assert model.rewards_differ(me) == differ


def test_of_too_many_next_states_the_lightest_is_forgotten():
    here = state(4, 2)
    for s_next in (1, 1, 2, 3, 3, 3, 4):
        model.count_move(here, 0, s_next, 1.0)
    assert dict(zip(here["next"][0].tolist(), here["count"][0].tolist(), strict=True)) == {4: 1, 3: 3}
    assert here["moved"][0] == 4


def test_predictive_regret_matching_solves_a_zero_sum_game():
    game, plays, regrets = np.array([[0.0, -1, 4], [1, 0, -2], [-4, 2, 0]]), np.full((2, 3), 1 / 3), np.zeros((2, 3))
    average = plays.copy()
    for t in range(1, 400):
        q = [game @ plays[1], -game.T @ plays[0]]
        for i in range(2):
            model.match_ahead(regrets[i], plays[i], q[i], 3, 1e-12)
            average[i] += 3 / (t + 2) * (plays[i] - average[i])
    np.testing.assert_allclose(average, np.tile([2 / 7, 4 / 7, 1 / 7], (2, 1)), atol=2e-3)
