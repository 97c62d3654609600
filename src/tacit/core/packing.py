"""What one visit touches, side by side in memory.

A state is a NamedTuple of arrays over agents and cells, and a kernel that visits a cell reads a number or two of each:
as many cache lines as there are arrays. `packed` gives the arrays new memory, one record for each cell and agent, in
which they are views:

    cell 0: agent 0 | agent 1 | …  cell 1: agent 0 | agent 1 | …      and within a record  total eta … upper … weight …

Which arrays are over cells is read from their declared axes (`core/axes.py`). Shapes, types and values stay, so kernels
do not know. What the compiler has to know, `core/layout.py` tells it.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import axes

Array = npt.NDArray[Any]

#: Bytes of a number, and of a cache line.
WORD, _LINE = 8, 64

#: Rows of up to so many actions get room for so many: records of all of them have one width, which compiled code knows.
FEW_ACTIONS = 4

#: How the axes of an array over cells begin.
_CELL_AXES = (("N", "C"), ("N", "H+1", "S"))


def packed(state: Any) -> Any:
    """Return a state whose arrays over cells are views of one record for each cell and agent.

    A struct that has arrays over different cells is left as it is. So are read-only arrays, those of numbers of other
    sizes than 8 bytes, and those that a state has twice. What is left is contiguous.
    """
    structs: dict[str, list[axes.Part]] = {}
    views: dict[int, Array] = {}
    times = Counter(id(part.array) for part in axes.parts(state))
    for part in axes.parts(state):
        if _fits(part) and times[id(part.array)] == 1:
            structs.setdefault(part.struct, []).append(part)
        elif cell_axes(part.axes) and not part.array.flags.c_contiguous:
            views[id(part.array)] = _contiguous(part.array)
    groups: dict[tuple[int, int], list[axes.Part]] = {}
    for parts in structs.values():
        keys = {(len(part.array), _cells(part)) for part in parts}
        if len(keys) == 1:
            groups.setdefault(keys.pop(), []).extend(parts)
        else:
            views |= {id(part.array): _contiguous(part.array) for part in parts}
    for parts in groups.values():
        views |= _records(sorted(parts, key=_order))
    return _with(state, views)


def _fits(part: axes.Part) -> bool:
    """Return whether an array can be a part of records."""
    array = part.array
    return bool(cell_axes(part.axes) and array.dtype.itemsize == WORD and array.flags.writeable and array.size)


def _order(part: axes.Part) -> int:
    """Return where an array stands in the record: one number for each cell, one for each step and state, several."""
    leading = cell_axes(part.axes)
    return 2 if part.array.ndim > leading else leading - 2


def cell_axes(named: axes.Axes | None) -> int:
    """Return how many of the axes say whose cell an entry belongs to: 0 for an array that is not over cells."""
    return next((len(first) for first in _CELL_AXES if named is not None and named[: len(first)] == first), 0)


def _cells(part: axes.Part) -> int:
    """Return the number of cells, without those after the last step."""
    shape = part.array.shape
    return int(shape[1] if cell_axes(part.axes) == 2 else (shape[1] - 1) * shape[2])


def room(shape: tuple[int, ...]) -> int:
    """Return the bytes that an array has in a record, given the shape of what it holds for one cell."""
    numbers = math.prod(shape)
    return WORD * (max(numbers, FEW_ACTIONS) if len(shape) == 1 else numbers)


def _records(parts: list[axes.Part]) -> dict[int, Array]:
    """Return views of the same memory for arrays over the same cells, by the arrays' ids."""
    widths = [room(part.array.shape[cell_axes(part.axes) :]) for part in parts]
    agents, width = len(parts[0].array), sum(widths)
    records = max(math.prod(part.array.shape[1 : cell_axes(part.axes)]) for part in parts)
    memory = np.zeros(records * agents * width + _LINE, dtype=np.uint8)
    place = -memory.ctypes.data % _LINE
    views = {}
    for part, own in zip(parts, widths, strict=True):
        shape, leading = part.array.shape, cell_axes(part.axes)
        strides = [width, agents * width] if leading == 2 else [width, shape[2] * agents * width, agents * width]
        strides += [WORD * math.prod(shape[k + 1 :]) for k in range(leading, len(shape))]
        view: Array = np.ndarray(shape, part.array.dtype, memory, place, strides)
        view[...] = part.array
        views[id(part.array)] = view
        place += own
    return views


def _contiguous(array: Array) -> Array:
    copy = np.ascontiguousarray(array)
    copy.flags.writeable = array.flags.writeable
    return copy


def _with(state: Any, views: dict[int, Array]) -> Any:
    """Return a struct with some of its arrays exchanged, nested ones included."""
    if isinstance(state, np.ndarray):
        return views.get(id(state), state)
    if not isinstance(state, tuple):
        return state
    fields = [_with(part, views) for part in state]
    return type(state)(*fields) if hasattr(state, "_fields") else tuple(fields)
