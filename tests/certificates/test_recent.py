"""The policy that begins with what is in force now: its certificate against the record and against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from exhaustive import Exhaustive

import tacit
from tacit.engine.fused import FusedEngine
from tacit.engine.recorded import record
from tacit.evaluation.certificate import Certificate, bound, certificate, recent
from tacit.evaluation.certified import certified_bound
from tacit.evaluation.gaps import lower_bounds
from tacit.learners import REGISTRY

LEARNERS = {
    "stage cce": ("stage-v-cce", {"bonus": 0.05}),
    "stage ce": ("stage-v-ce", {"bonus": 0.05}),
    "rate cce": ("v-learning", {"bonus": 0.05}),
    "rate ce": ("v-learning", {"equilibrium": "ce", "bonus": 0.05}),
    "adaptive cce": ("adaptive-v-cce", {}),
    "adaptive ce": ("adaptive-v-ce", {}),
}


def learned(
    game: tacit.TabularGame, learner: str, episodes: int, *, seed: int = 3
) -> tuple[str, Certificate, tacit.policies.RecordedPolicy]:
    name, params = LEARNERS[learner]
    spec = REGISTRY.make(name, **params)
    cert, kept = certificate(game, spec.info.learns), record(game, episodes)
    FusedEngine(game, spec, episodes=episodes, seed=seed, certificate=cert, record=kept).advance(episodes)
    return spec.info.learns, cert, kept.policies(game, spec.info.averaging)["recent"]


#: Compiled for three agents; the others are compiled for two, below, and compared with brute force there.
SHORT = ("stage ce", "adaptive cce")


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    "learner", [pytest.param(name, marks=[] if name in SHORT else pytest.mark.slow) for name in LEARNERS]
)
def test_streaming_equals_stored(learner: str):
    game = tacit.make("random-general-sum", agents=3, actions=[2, 3, 2], states=2, horizon=3, seed=2)
    kind, cert, policy = learned(game, learner, 400)
    values, gaps = certified_bound(game, policy, kind)
    np.testing.assert_allclose(recent(game, cert).values, values, atol=1e-9)
    np.testing.assert_allclose(recent(game, cert).gaps, gaps, atol=1e-9)
    assert np.abs(recent(game, cert).values - bound(game, cert).values).max() > 1e-3  # it is another policy


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", LEARNERS)
def test_bounds_hold_the_true_gap_between_them(learner: str):
    tight = 0
    for seed in range(3):
        game = tacit.make("random-general-sum", states=2, actions=[3, 2], horizon=2, seed=seed)
        for episodes in (5, 24 + 12 * seed):
            kind, cert, policy = learned(game, learner, episodes, seed=seed)
            truth, upper, lower = Exhaustive(game, policy), recent(game, cert), lower_bounds(game, policy)
            for i in range(2):
                assert upper.values[i] == pytest.approx(truth.value("stay", i), abs=1e-9)
                gap = max(truth.gap(kind, i), 0.0)
                assert lower[i] <= gap + 1e-9
                assert gap <= max(upper.gaps[i], 0.0) + 1e-9
                tight += lower[i] > 1e-3 and upper.gaps[i] < 1.0
    assert tight >= 3


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", LEARNERS)
def test_for_one_step_it_is_exact(learner: str):
    game = tacit.make("random-general-sum", agents=2, actions=[2, 3], states=2, horizon=1, seed=3)
    kind, cert, policy = learned(game, learner, 60)
    truth = Exhaustive(game, policy)
    for i in range(2):
        assert recent(game, cert).gaps[i] == pytest.approx(truth.gap(kind, i), abs=1e-9)
