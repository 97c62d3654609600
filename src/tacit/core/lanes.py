"""Numbers that compiled code keeps in registers: tuples whose length the compiler knows, and indices it need not check.

Compiled code must assume that a number written to one array may change any other, so sums over short rows are kept in
tuples instead (measured: a third of the time). And it takes a negative index from the end, as Python does, unless it
knows better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from tacit.core.generics import OPTIONS


def pairs(seats: tuple[int, ...]) -> tuple[float, ...]:
    """Return two zeros for each seat."""
    return (0.0,) * (2 * len(seats))


def put(lanes: tuple[float, ...], i: int, x: float) -> tuple[float, ...]:
    """Return the tuple with x in place i."""
    return (*lanes[:i], x, *lanes[i + 1 :])


def plain(i: int) -> int:
    """Return an index that is known not to be negative."""
    return i


def _pairs(seats: Any) -> Any:
    zeros = (0.0,) * (2 * len(seats))
    return lambda seats: zeros


overload(pairs, strict=False, jit_options=OPTIONS)(_pairs)


@intrinsic
def _set(context, lanes, i, x):
    def write(context, builder, signature, args):
        value, index, number = args
        with builder.goto_entry_block():  # of memory that the optimiser takes away again
            place = builder.alloca(value.type)
        builder.store(value, place)
        builder.store(number, builder.gep(place, [index.type(0), index], inbounds=True))
        return builder.load(place)

    return lanes(lanes, types.intp, types.float64), write


def _put(lanes: Any, i: Any, x: Any) -> Any:
    return lambda lanes, i, x: _set(lanes, i, x)


overload(put, strict=False, jit_options=OPTIONS)(_put)


def _plain(i: Any) -> Any:
    return (lambda i: np.uint64(i)) if isinstance(i, types.Integer) else None


overload(plain, strict=False, jit_options=OPTIONS)(_plain)
