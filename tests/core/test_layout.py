"""What compiled code is told of records is true: it reads and writes what interpreted code does."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import pytest

import tacit
from tacit.core import axes
from tacit.core.compilation import dispatcher
from tacit.core.layout import Layout, at, placed
from tacit.core.packing import packed
from tacit.learners import REGISTRY
from tacit.learners.spec import world_of


class Inner(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]
    total: Annotated[np.ndarray, "N C"]


class Copies(NamedTuple):
    prob: Annotated[np.ndarray, "N C A"]  # several of each cell
    count: Annotated[np.ndarray, "N C"]


class Outer(NamedTuple):
    inner: Inner
    copies: Copies
    value: Annotated[np.ndarray, "N H+1 S"]
    loss: Annotated[np.ndarray, "N C A"]
    visits: Annotated[np.ndarray, "N C"]
    alone: Annotated[np.ndarray, "N"]


def made(N: int, H: int, S: int, A: int) -> Outer:
    rng = np.random.default_rng(0)
    inner = Inner(rng.random((N, H * S, A)), rng.random((N, H * S)))
    copies = Copies(rng.random((N, A * H * S, A)), rng.random((N, A * H * S)))
    visits = rng.integers(9, size=(N, H * S))
    return Outer(inner, copies, rng.random((N, H + 1, S)), rng.random((N, H * S, A)), visits, rng.random(N))


def touch(state, layout, H, S, A, seen):
    """Read every number into `seen`, and change each by what it is."""
    state = placed(state, layout)
    k = 0
    for i in range(len(state.alone)):
        for h in range(H):
            for s in range(S):
                c = max(h * S + s, 0)
                here, inner = at(state, i, c), at(state.inner, i, c)
                seen[k] = state.value[i, h, s]
                seen[k + 1] = state.value[i, h + 1, s]
                seen[k + 2] = here.visits[i, c]
                seen[k + 3] = inner.total[i, c]
                inner.total[i, c] += 1000 * i + c
                here.visits[i, c] += 1
                state.value[i, h, s] -= c
                k += 4
                for a in range(A):
                    seen[k] = inner.weight[i, c, a]
                    seen[k + 1] = here.loss[i, c, a]
                    seen[k + 2] = state.copies.prob[i, c * A + a, A - 1]
                    seen[k + 3] = at(state.copies, i, c * A + a).count[i, c * A + a]
                    inner.weight[i, c, a] += 10 * c + a
                    here.loss[i, c, a] -= 1
                    state.copies.count[i, c * A + a] = a
                    k += 4


SIZES = [(2, 3, 4, 2), (2, 2, 3, 4), (2, 2, 3, 5), (1, 1, 1, 1), (1, 2, 1, 3), (5, 2, 2, 3), (6, 1, 2, 7)]


@pytest.fixture(scope="module")
def compiled():
    return dispatcher(touch, None)


@pytest.mark.parametrize("sizes", SIZES)
def test_compiled_code_finds_everything(compiled, sizes):
    N, H, S, A = sizes
    found = []
    for function in (touch, compiled):
        state, seen = packed(made(*sizes)), np.zeros(4 * N * H * S * (1 + A))
        function(state, Layout(state), H, S, A, seen)
        found.append([seen, *(part.array for part in axes.parts(state))])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("learner", ["stage-v-cce", "adaptive-v-ce", "pg-storm"])
def test_one_type_for_all_small_numbers_of_actions(learner):
    def kind(actions: int, states: int = 3, agents: int = 2) -> object:
        game = tacit.make("random-general-sum", agents=agents, states=states, actions=actions, horizon=2, seed=0)
        spec = REGISTRY.make(learner)
        return Layout(packed(spec.init(world_of(spec, game, episodes=1, seed=0))))._numba_type_

    assert kind(2) == kind(3) == kind(4, states=5) != kind(5)
    assert kind(5) == kind(6, states=2)
    assert kind(2, agents=5) == kind(3, agents=6) != kind(2, agents=3)
