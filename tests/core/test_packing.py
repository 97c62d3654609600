"""States in records: the same arrays in other memory, whatever their axes, and the promise to the compiler holds."""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
import pytest

import tacit
from tacit.core import axes
from tacit.core.packing import FEW_ACTIONS, packed
from tacit.engine import loop
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY
from tacit.learners.spec import world_of


class Inner(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]
    total: Annotated[np.ndarray, "N C"]
    sizes: Annotated[np.ndarray, "N"]


class Odd(NamedTuple):
    one: Annotated[np.ndarray, "N C"]
    copies: Annotated[np.ndarray, "N C A"]  # two of each cell


class Outer(NamedTuple):
    inner: Inner
    odd: Odd
    value: Annotated[np.ndarray, "N H+1 S"]
    visits: Annotated[np.ndarray, "N C"]
    small: Annotated[np.ndarray, "N C"]  # 4 bytes
    fixed: Annotated[np.ndarray, "N C"]  # read-only
    other: np.ndarray  # not declared
    eta: float


def made(N: int, H: int, S: int, A: int) -> Outer:
    rng = np.random.default_rng(0)
    inner = Inner(rng.random((N, H * S, A)), rng.random((N, H * S)), np.full(N, A))
    odd = Odd(rng.random((H * S, N)).T, rng.random((N, 2 * H * S, A)))
    fixed = rng.random((H * S, N)).T
    fixed.flags.writeable = False
    visits, small = rng.integers(9, size=(N, H * S)), rng.random((N, H * S)).astype(np.float32)
    return Outer(inner, odd, rng.random((N, H + 1, S)), visits, small, fixed, rng.random((N, H * S)), 0.5)


@pytest.mark.parametrize("sizes", [(2, 3, 4, 5), (1, 1, 1, 1), (3, 1, 2, 2), (2, 4, 1, 3), (1, 2, 3, 1)])
def test_same_numbers_side_by_side(sizes):
    N, _, S, A = sizes
    state = made(*sizes)
    found = packed(state)
    assert (type(found), type(found.inner), found.eta) == (Outer, Inner, 0.5)
    for old, new in zip(axes.parts(state), axes.parts(found), strict=True):
        np.testing.assert_array_equal(new.array, old.array, err_msg=new.path)
        assert (new.array.dtype, new.array.flags.writeable) == (old.array.dtype, old.array.flags.writeable)
    width = 8 * (max(A, FEW_ACTIONS) + 1 + 1 + 1)
    cells = [found.inner.weight, found.inner.total, found.visits]
    assert {array.strides[:2] for array in cells} == {(width, N * width)}
    assert found.value.strides == (width, S * N * width, N * width)
    assert (found.inner.weight.strides[2], found.inner.total.ctypes.data % 64) == (8, 0)
    assert found.value.ctypes.data - found.visits.ctypes.data == 8
    for alone in (*found.odd, found.small, found.fixed):  # what is left is contiguous
        assert alone.flags.c_contiguous
    found.inner.total[...] = -1.0
    np.testing.assert_array_equal(found.inner.weight, state.inner.weight)
    assert found.other is state.other


def test_an_array_that_a_state_has_twice():
    state = made(2, 2, 2, 2)
    found = packed(state._replace(visits=state.inner.total))
    assert found.visits is found.inner.total
    np.testing.assert_array_equal(found.inner.weight, state.inner.weight)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_learner_lies_as_compiled_code_assumes(name):
    game = tacit.make("random-general-sum", agents=2, states=3, actions=3, horizon=2, seed=0)
    spec = REGISTRY.make(name)
    if spec.exact:
        return
    structs: dict[str, list[np.ndarray]] = {}
    for part in axes.parts(packed(spec.init(world_of(spec, game, episodes=1, seed=0)))):
        if part.axes == ("N", "C") and part.array.flags.writeable:
            structs.setdefault(part.struct, []).append(part.array)
    for arrays in structs.values():
        if len(arrays) > 1:
            assert {array.strides for array in arrays} == {arrays[0].strides}
            assert set(np.diff([array.ctypes.data for array in arrays])) == {8}


@pytest.mark.parametrize("sizes", [(3, 4), (1, 2)])
def test_records_give_the_bits_of_plain_arrays(sizes):
    game = tacit.make("random-general-sum", agents=2, states=sizes[0], actions=2, horizon=sizes[1], seed=1)
    spec = REGISTRY.make("stage-v-cce", bonus=0.1, iota=1.0)
    ours, plain = (FusedEngine(game, spec, episodes=100, seed=3) for _ in range(2))
    plain.state, plain._loop = spec.init(plain.world), loop.episodes  # interpreted
    np.testing.assert_array_equal(ours.advance(100), plain.advance(100))
    for one, other in zip(axes.parts(ours.state), axes.parts(plain.state), strict=True):
        np.testing.assert_array_equal(one.array, other.array, err_msg=one.path)
