"""Structs that stay unpacked: compiled code reads and writes the very arrays, and another struct can take the place."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import pytest

from tacit.core.pinned import Pinned, entry, unpin


class Inner(NamedTuple):
    table: np.ndarray
    factor: float


class Outer(NamedTuple):
    inner: Inner
    count: np.ndarray


def add(pinned, i, by):
    """Add to a row; return how often that was done."""
    found = unpin(pinned)
    found.inner.table[i, 0] += found.inner.factor * by
    found.count[0] += 1
    return found.count[0]


def outer(factor: float = 2.0, kind: type = np.float64) -> Outer:
    return Outer(Inner(np.zeros((3, 2), dtype=kind), factor), np.zeros(1, dtype=np.int64))


def test_compiled_code_finds_the_arrays_themselves():
    struct = outer()
    pinned = Pinned(struct)
    call = entry(add, pinned, 0, 1.0)
    assert [call(1, 0.5), call(2, 1.5)] == [1, 2]
    assert struct.inner.table[:, 0].tolist() == [0.0, 1.0, 3.0]
    other = outer(factor=10.0)
    pinned.replace(other)
    assert call(0, 1.0) == 1
    assert (other.inner.table[0, 0], struct.inner.table[0, 0]) == (10.0, 0.0)


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="types are the compiler's")
def test_a_struct_of_another_type_cannot_take_the_place():
    pinned = Pinned(outer())
    with pytest.raises(TypeError, match="another type"):
        pinned.replace(outer(kind=np.float32))
