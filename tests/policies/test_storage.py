"""What is certified is what is restored: 32 bits for all but the last probability, in the kernel and from a file."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.evaluation.certificate import round_to_stored
from tacit.policies.recorded import restore


@given(st.lists(st.floats(0, 1, width=64), min_size=1, max_size=12).filter(lambda x: sum(x) > 0))
def test_rounding_is_storing_and_restoring(weights: list[float]):
    probs = np.array(weights) / sum(weights)
    kernel = probs.copy()
    round_to_stored(kernel, len(kernel))
    stored = probs[:-1].astype(np.float32)
    assert kernel.tobytes() == restore(stored[None])[0].tobytes()
    assert abs(kernel.sum() - 1) < 1e-15 * len(kernel) + 1e-15
    assert (kernel >= 0).all()
    assert np.abs(kernel - probs).max() < 1e-6


def test_rounding_again_changes_nothing_that_matters():
    rng = np.random.default_rng(0)
    for _ in range(200):
        probs = rng.dirichlet(np.ones(5))
        round_to_stored(probs, 5)
        again = probs.copy()
        round_to_stored(again, 5)
        assert np.abs(again - probs).max() < 1e-7


def test_only_the_agents_own_actions_are_touched():
    probs = np.array([0.25, 0.75, 9.0])
    round_to_stored(probs, 2)
    assert probs.tolist() == [0.25, 0.75, 9.0]
