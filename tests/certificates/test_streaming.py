"""The certificate computed while learning is the one computed afterwards from the record alone."""

from __future__ import annotations

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit.evaluation.gaps import lower_bounds

GAMES = {
    "good-state": ("good-state", {"horizon": 5}),
    "box-pushing": ("box-pushing", {"horizon": 3}),
    "two agents": ("random-general-sum", {"actions": [2, 3], "states": 3, "horizon": 4, "seed": 1}),
    "stationary": ("random-general-sum", {"states": 3, "horizon": 4, "seed": 1, "stationary": True}),
    "three agents": ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 2, "horizon": 3, "seed": 2}),
}
LEARNERS = {
    "stage cce": ("stage-v-cce", {}),
    "stage ce": ("stage-v-ce", {}),
    "rate cce": ("v-learning", {}),
    "rate ce": ("v-learning", {"equilibrium": "ce"}),
    "adaptive cce": ("adaptive-v-cce", {}),
    "adaptive ce": ("adaptive-v-ce", {}),
}


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", GAMES)
def test_streaming_equals_stored(learner: str, name: str):
    kind, params = GAMES[name]
    game = tacit.make(kind, **params)
    which, settings = LEARNERS[learner]
    small = {} if which.startswith("adaptive") else {"bonus": 0.05}
    run = learn_average(game, which, episodes=150, seed=4, points=5, **small, **settings)
    found = tacit.evaluate(game, run.policy, gap=run.gaps.kind)
    scale = game.horizon * (game.reward_range[1] - game.reward_range[0])
    np.testing.assert_allclose(found.gaps, run.gaps.upper, atol=1e-9 * scale)
    np.testing.assert_allclose(found.values, run.values, atol=1e-9 * scale)
    assert not found.exact
    assert run.curve["gap_average"][-1] == pytest.approx(run.gap)


def test_an_early_point_of_the_curve_is_the_certificate_of_the_first_episodes():
    game = tacit.make("good-state", horizon=4)
    run = learn_average(game, "stage-v-cce", episodes=400, seed=4, bonus=0.05, points=4)
    policy = run.policy
    first = tacit.policies.RecordedPolicy(
        policy.visited[:200], policy.stored[:200], actions=policy.actions, states=policy.states
    )
    found = tacit.evaluate(game, first, gap="cce")
    assert run.curve["gap_average"][1] == pytest.approx(found.gap, abs=1e-9)


@pytest.mark.parametrize("kind", ["cce", "ce"])
def test_the_lower_bound_is_below_the_upper_one_and_they_close_in(kind: str):
    game = tacit.make("random-general-sum", states=2, actions=2, horizon=2, seed=3)
    run = learn_average(game, f"stage-v-{kind}", episodes=20_000, seed=1, bonus=0.05)
    assert (lower_bounds(game, run.policy) <= run.gaps.upper + 1e-12).all()
    assert run.gap < 0.3
    assert run.gap < 0.7 * run.curve["gap_average"][0]
