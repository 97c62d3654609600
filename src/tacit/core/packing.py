"""What one visit touches, side by side in memory.

A state is a NamedTuple of arrays over agents and cells, and a kernel that visits a cell reads a number or two of each:
as many cache lines as there are arrays. `packed` gives the arrays new memory, one record for each cell and agent, in
which they are views:

    cell 0: agent 0 | agent 1 | …  cell 1: agent 0 | agent 1 | …      and within a record  upper lower … weight total …

Which arrays are over cells is read from their declared axes (`core/axes.py`). Shapes, types and values stay, so kernels
do not know. But views may lie anywhere and have any strides, and the compiler would compute the place of each anew,
which takes longer than the arithmetic. `at(state, i, c)` shows it what it cannot know: where the record of agent i and
cell c is, and that all arrays of the struct have their numbers there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from tacit.core import axes
from tacit.core.generics import OPTIONS

Array = npt.NDArray[Any]

#: Bytes of a number, and of a cache line.
_WORD, _LINE = 8, 64

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
        elif _cell_axes(part.axes) and not part.array.flags.c_contiguous:
            views[id(part.array)] = _contiguous(part.array)
    groups: dict[tuple[int, int], list[axes.Part]] = {}
    for parts in structs.values():
        keys = {(len(part.array), _cells(part)) for part in parts}
        if len(keys) == 1:
            groups.setdefault(keys.pop(), []).extend(sorted(parts, key=_order))
        else:
            views |= {id(part.array): _contiguous(part.array) for part in parts}
    for parts in groups.values():
        views |= _records(parts)
    return _with(state, views)


def _fits(part: axes.Part) -> bool:
    """Return whether an array can be a part of records."""
    array = part.array
    return bool(_cell_axes(part.axes) and array.dtype.itemsize == _WORD and array.flags.writeable and array.size)


def _order(part: axes.Part) -> int:
    """Return where an array stands in the record: one number for each cell, one for each step and state, several."""
    leading = _cell_axes(part.axes)
    return 2 if part.array.ndim > leading else leading - 2


def _cell_axes(named: axes.Axes | None) -> int:
    """Return how many of the axes say whose cell an entry belongs to: 0 for an array that is not over cells."""
    return next((len(first) for first in _CELL_AXES if named is not None and named[: len(first)] == first), 0)


def _cells(part: axes.Part) -> int:
    """Return the number of cells, without those after the last step."""
    shape = part.array.shape
    return int(shape[1] if _cell_axes(part.axes) == 2 else (shape[1] - 1) * shape[2])


def _records(parts: list[axes.Part]) -> dict[int, Array]:
    """Return views of the same memory for arrays over the same cells, by the arrays' ids."""
    widths = [_WORD * math.prod(part.array.shape[_cell_axes(part.axes) :]) for part in parts]
    agents, width = len(parts[0].array), sum(widths)
    records = max(math.prod(part.array.shape[1 : _cell_axes(part.axes)]) for part in parts)
    room = np.zeros(records * agents * width + _LINE, dtype=np.uint8)
    place = -room.ctypes.data % _LINE
    views = {}
    for part, own in zip(parts, widths, strict=True):
        shape, leading = part.array.shape, _cell_axes(part.axes)
        strides = [width, agents * width] if leading == 2 else [width, shape[2] * agents * width, agents * width]
        strides += [_WORD * math.prod(shape[k + 1 :]) for k in range(leading, len(shape))]
        view: Array = np.ndarray(shape, part.array.dtype, room, place, strides)
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


def at(state: Any, i: int, c: int) -> Any:
    """Return a struct as kernels see it that touch no other cell than c of agent i; interpreted, the struct itself.

    Its arrays over cells are indexed as before. Compiled, they all begin at the record, and i and c count for nothing.
    Arrays over H + 1 steps, of which kernels read the next step too, and structs within this one stay as they are.
    """
    return state


def _typed(context: Any, state: Any, i: Any, c: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _rewritten(context, builder, signature.args[0], *args)

    return state(state, types.intp, types.intp), write


_seen = intrinsic(_typed)
overload(at, strict=False, jit_options=OPTIONS)(lambda state, i, c: lambda state, i, c: _seen(state, i, c))


def _rewritten(context: Any, builder: Any, kind: Any, value: Any, i: Any, c: Any) -> Any:
    """Return a struct whose views over cells begin at the record of agent i and cell c, with strides of 0."""
    record: Any = None
    views = list(_views(kind))
    for place, (k, several) in enumerate(views):
        part = kind[k]
        array = context.make_array(part)(context, builder, builder.extract_value(value, k))
        strides = cgutils.unpack_tuple(builder, array.strides, part.ndim)
        if record is None:
            offset = builder.add(builder.mul(i, strides[0]), builder.mul(c, strides[1]))
            record = cgutils.pointer_add(builder, array.data, offset)
        zero = ir.Constant(i.type, 0)
        if several:  # how far it is from the first depends on the number of actions
            data = cgutils.pointer_add(builder, array.data, offset)
            strides = [zero, zero, *strides[2:-1], ir.Constant(i.type, _WORD)]
        else:
            data = cgutils.pointer_add(builder, record, ir.Constant(i.type, _WORD * place))
            strides = [zero, zero]
        array.data = builder.bitcast(data, array.data.type)
        array.strides = cgutils.pack_array(builder, strides)
        value = builder.insert_value(value, array._getvalue(), k)
    return value


def _views(kind: Any) -> Iterator[tuple[int, bool]]:
    """Yield the fields over cells that are parts of records, in their order, and whether they have several numbers."""
    named = axes.declared(kind.instance_class) if isinstance(kind, types.BaseNamedTuple) else {}  # type: ignore[attr-defined]  # numba is partly typed
    found = [
        (part.ndim > 2, k)
        for k, part in enumerate(kind)
        if isinstance(part, types.Array) and part.layout == "A" and _cell_axes(named.get(kind.fields[k])) == 2
    ]
    yield from ((k, several) for several, k in sorted(found))
