"""Lower bound ≤ true gap ≤ upper bound, the true gap by brute force over deviators who remember everything."""

from __future__ import annotations

import numpy as np
import pytest
from answers import learn_average
from exhaustive import Exhaustive

import tacit
from tacit.evaluation.gaps import lower_bounds

LEARNERS = {
    "stage cce": ("stage-v-cce", {}),
    "stage ce": ("stage-v-ce", {}),
    "rate cce": ("v-learning", {}),
    "rate ce": ("v-learning", {"equilibrium": "ce"}),
}


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("actions", [[2, 2], [3, 2]], ids=["2×2", "3×2"])
def test_bounds_hold_the_true_gap_between_them(learner: str, actions: list[int]):
    name, params = LEARNERS[learner]
    tight = 0
    for seed in range(3):
        game = tacit.make("random-general-sum", states=2, actions=actions, horizon=2, seed=seed)
        for episodes in (5, 24 + 12 * seed):
            run = learn_average(game, name, episodes=episodes, seed=seed, bonus=0.05, iota=2.0, **params)
            truth, lower = Exhaustive(game, run.policy), lower_bounds(game, run.policy)
            for i in range(2):
                assert run.values[i] == pytest.approx(truth.value("stay", i), abs=1e-9)
                gap = max(truth.gap(run.gaps.kind, i), 0.0)  # staying is always possible
                assert lower[i] <= gap + 1e-9
                assert gap <= run.gaps.upper[i] + 1e-9
                tight += lower[i] > 1e-3 and run.gaps.upper[i] < 1.0
    assert tight >= 4  # neither bound is idle: they are not 0 and not the largest gap there could be


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", ["stage cce", "stage ce"])
def test_three_steps(learner: str):
    name, params = LEARNERS[learner]
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=3, seed=8)
    run = learn_average(game, name, episodes=30, seed=8, bonus=0.05, iota=2.0, **params)
    truth, lower = Exhaustive(game, run.policy), lower_bounds(game, run.policy)
    for i in range(2):
        assert run.values[i] == pytest.approx(truth.value("stay", i), abs=1e-9)
        assert lower[i] - 1e-9 <= max(truth.gap(run.gaps.kind, i), 0.0) <= run.gaps.upper[i] + 1e-9


@pytest.mark.usefixtures("interpreted")
def test_a_deviator_that_is_told_more_gains_more():
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=2, seed=1)
    run = learn_average(game, "stage-v-cce", episodes=40, seed=1, bonus=0.05, iota=2.0)
    truth = Exhaustive(game, run.policy)
    for i in range(2):
        assert truth.gap("cce", i) <= truth.gap("ce", i) + 1e-12
        assert truth.gap("ce", i) <= tacit.evaluate(game, run.policy, gap="ce").gaps[i] + 1e-9
    assert np.isfinite(run.gap)
