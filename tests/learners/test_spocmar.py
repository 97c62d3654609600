"""Stages with a policy cover against a transcription, step by step, and what they return."""

from __future__ import annotations

import cover_stages as oracle
import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.learners import REGISTRY, World
from tacit.learners.spec import Scale

ACTIONS, STATES, HORIZON = (3, 2), 3, 3
WORLD = World(STATES, np.array(ACTIONS), HORIZON, (0.0, 1.0), Scale(2, STATES, 3, HORIZON, 100))
PARAMS = {"rounds": 9, "visits": 5, "frequency": 0.5, "memory": 12, "stages": 5, "step": 2.0, "common": 3}


def test_every_step_is_the_transcription_s():
    """The third state is rare, and comes later into the cover."""
    state, rng = REGISTRY.make("spocmar", **PARAMS).init(WORLD), np.random.default_rng(7)
    names = {"K": 9, "N": 5, "p": 0.5, "memory": 12, "stages": 5, "c": 2.0, "seed": 3}
    agents = [oracle.Cover(A, STATES, HORIZON, **names) for A in ACTIONS]
    out = np.zeros(4)
    for episode in range(700):
        s = int(rng.choice(STATES, p=[0.6, 0.3, 0.1]))
        for h in range(HORIZON):
            s_next = int(rng.choice(STATES, p=[0.6, 0.3, 0.1]))
            for i, agent in enumerate(agents):
                u, r = rng.random(), rng.random()
                a = int(generics.act(state, i, h, s, u))
                assert a == agent.act(h, s, u), (episode, h)
                generics.learn(state, i, h, s, a, r, s_next)
                agent.learn(h, s, a, r, s_next)
            s = s_next
        for i, agent in enumerate(agents):
            for h, there in np.ndindex(HORIZON, STATES):
                generics.policy(state, i, h, there, out)
                np.testing.assert_allclose(out[: ACTIONS[i]], agent.policy(h, there), atol=1e-12)
    assert state.agents["stage"][0] >= 2
    assert len(agents[0].covered) > 4


def test_a_correlated_policy_is_returned_whose_gap_falls():
    """Seeds are fixed; the uniform policy's gap is 0.25 a step."""
    game = tacit.make("chicken")
    run = tacit.learn(game, "spocmar", episodes=100_000, rounds=20_000, memory=20_000, points=2)
    assert not run.candidates["planned"].policy.product
    assert run.candidates["planned"].gap < 0.1


@pytest.mark.parametrize(("name", "value"), [("rounds", 0), ("memory", 0), ("frequency", 2.0), ("step", "fast")])
def test_what_is_refused(name: str, value: object):
    with pytest.raises(tacit.TacitError, match=name):
        tacit.learn(tacit.make("chicken"), "spocmar", episodes=10, **{name: value})
