"""With the theory's bonus the learners' own bounds hold the exact ones: V̲ ≤ V ≤ V̄ and V† ≤ V̄, at every cell.

For ce also V ≤ V†: who is told an action may stay with it. For cce a correlated policy can be worth more than any plan
that ignores it.

All in units of the reward span, shifted by the lowest reward. The theory allows a failure with probability p = 0.01 for
each game; over the 20 games here a fresh seed would give a false alarm with probability at most 0.2, and in truth far
less, the bonus being generous.
"""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine.fused import FusedEngine
from tacit.engine.recorded import record
from tacit.evaluation.certificate import certificate
from tacit.learners import REGISTRY


@pytest.mark.parametrize("learner", ["stage-v-cce", pytest.param("stage-v-ce", marks=pytest.mark.slow)])
def test_order_of_the_four_values(learner: str):
    coarse, left_the_cap = learner == "stage-v-cce", 0
    K = 60_000 if coarse else 400_000
    for seed in range(14 if coarse else 6):
        game = tacit.make("random-general-sum", states=2, actions=[2, 2], horizon=2, seed=seed)
        spec = REGISTRY.make(learner)
        cert = certificate(game, spec.info.learns)
        session = FusedEngine(game, spec, episodes=K, seed=seed, certificate=cert, record=record(game, K))
        low, high = game.reward_range
        steps_left = np.arange(game.horizon, -1, -1.0)[:, None, None]
        for part in (100, 900, 9000, K - 10_000):
            session.advance(part)
            V, best = ((x - low * steps_left) / (high - low) for x in (cert.V, cert.best))
            upper, lower = (session.state.cells[field] for field in ("upper", "lower"))
            assert (lower <= V + 1e-12).all()
            assert (upper + 1e-12 >= V).all()
            assert coarse or (best + 1e-12 >= V).all()
            assert (best <= upper + 1e-12).all()
        left_the_cap += int((upper < steps_left).sum() + (lower > 0).sum())
    assert left_the_cap > 10
