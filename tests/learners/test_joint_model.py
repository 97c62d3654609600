"""The joint model: what it counts, against dictionaries, and where rows and next states run out."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tacit.core.records import records
from tacit.learners import joint_model as model


def state(rows: int, successors: int, rewards: int = 1) -> Any:
    return records((1,), model.fields(rows, successors, rewards))[0]


@pytest.mark.parametrize(("rows", "joint_actions"), [(16, 12), (16, 1000)])
def test_means_and_shares_are_those_of_what_was_counted(rows: int, joint_actions: int):
    here, rng = state(rows, 4, 2), np.random.default_rng(1)
    codes, values = rng.choice(joint_actions, 12, replace=False), rng.random(5)
    met = defaultdict(list)
    for _ in range(300):
        joint, s_next, rewards = int(rng.choice(codes)), int(rng.integers(4)), rng.random(2)
        row = model.find(here, joint, joint_actions)
        for k in range(2):
            model.count_reward(here, row, k, rewards[k], 1.0)
        model.count_visit(here, row, 1.0)
        model.count_move(here, row, s_next, 1.0)
        met[joint].append((*rewards, s_next))
    for joint, found in met.items():
        row, nexts = model.look_up(here, joint, joint_actions), [int(one[2]) for one in found]
        np.testing.assert_allclose(model.expect(here, row, values), values[nexts].mean())
        assert model.chance(here, row, 3) == pytest.approx(nexts.count(3) / len(nexts))
        for k in range(2):
            rewards = np.array([one[k] for one in found])
            np.testing.assert_allclose(model.mean_reward(here, row, k), rewards.mean())
            np.testing.assert_allclose(here["square"][row, k], ((rewards - rewards.mean()) ** 2).sum())


def test_joint_actions_beyond_the_rows_are_not_remembered():
    here = state(4, 2)
    assert sorted(model.find(here, joint, 1000) for joint in (7, 70, 700, 999)) == [0, 1, 2, 3]
    assert model.find(here, 70, 1000) == model.look_up(here, 70, 1000) >= 0
    assert model.find(here, 71, 1000) == model.look_up(here, 71, 1000) == -1


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
