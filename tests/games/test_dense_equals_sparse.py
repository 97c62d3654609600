"""The same game given as an array and as lists of successors is the same in everything it does."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.games import Successors


def sparse_array(steps: int, seed: int) -> np.ndarray:
    """Transitions [steps, 5, 2, 3, 5] with about half of their entries zero."""
    rng = np.random.default_rng(seed)
    dense = rng.random((steps, 5, 2, 3, 5)) * (rng.random((steps, 5, 2, 3, 5)) < 0.5)
    dense[..., 2] += 0.1
    return dense / dense.sum(axis=-1, keepdims=True)


def both(steps: int = 4, seed: int = 0) -> tuple[tacit.TabularGame, tacit.TabularGame]:
    dense = sparse_array(steps, seed)
    first, state, prob = [0], [], []
    for row in dense.reshape(-1, 5):
        for s, p in enumerate(row):
            if p > 0:
                state.append(s)
                prob.append(p)
        first.append(len(state))
    lists = Successors(np.array(first), np.array(state, np.int32), np.array(prob))
    rewards = np.random.default_rng(seed + 1).normal(size=(2, steps, 5, 2, 3))
    rest = (rewards, [0, 0.5, 0.25, 0.25, 0], 4)
    return tacit.TabularGame(dense, *rest), tacit.TabularGame(lists, *rest)


@pytest.mark.parametrize("steps", [1, 4])
def test_each_form_is_made_from_the_other(steps: int):
    dense, lists = both(steps)
    assert (dense.transitions == lists.transitions).all()
    assert all((a == b).all() for a, b in zip(dense.successors, lists.successors, strict=True))
    assert dense.transition_steps == lists.transition_steps == steps


@pytest.mark.parametrize("steps", [1, 4])
def test_draws_are_identical(steps: int):
    dense, lists = both(steps)
    for u in np.linspace(0, 0.999, 40):
        assert dense.start(u) == lists.start(u)
        for place in [(0, 1, (0, 2)), (3, 4, (1, 1))]:
            one, other = dense.step(*place, u), lists.step(*place, u)
            assert one[0] == other[0]
            assert (one[1] == other[1]).all()


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("correlated", [False, True])
def test_evaluation_agrees(steps: int, correlated: bool):
    dense, lists = both(steps)
    policy = tacit.MarkovPolicy.random(dense, seed=9, correlated=correlated)
    for kind in ("cce", "ce"):
        one, other = (tacit.evaluate(game, policy, gap=kind) for game in (dense, lists))
        assert np.allclose(one.values, other.values, atol=1e-13)
        assert np.allclose(one.gaps, other.gaps, atol=1e-13)
    one, other = (tacit.evaluation.occupancy(game, policy) for game in (dense, lists))
    assert np.allclose(one, other, atol=1e-15)


@pytest.mark.parametrize("concept", ["optimum", "cce", "ce"])
def test_solutions_agree(concept: str):
    dense, lists = both()
    assert np.allclose(tacit.solve(dense, concept).V, tacit.solve(lists, concept).V, atol=1e-9)


def test_the_forced_sparse_product_equals_the_dense_one():
    """BoxPushing is evaluated through its lists; through its dense array it must come out the same."""
    lists = tacit.make("box-pushing", horizon=5)
    dense = tacit.TabularGame(lists.transitions, lists.rewards, lists.initial, 5)
    dense.__dict__["_step_matrices"] = list(dense.transitions.reshape(1, -1, 100))
    policy = tacit.MarkovPolicy.random(lists, seed=1)
    one, other = tacit.evaluate(lists, policy), tacit.evaluate(dense, policy)
    assert np.allclose(one.values, other.values, atol=1e-12)
    assert np.allclose(one.gaps, other.gaps, atol=1e-12)
