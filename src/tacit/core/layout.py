"""What compiled code is told of the records of a packed state (`core/packing.py`).

Views may lie anywhere and have any strides, and the compiler would compute the place of each anew, which takes longer
than the arithmetic. A `Layout` is a value without content whose type says what the compiler cannot know: which views
are of the same records, how far each is from the beginning of its record, and how wide records are. Loops begin with

    learner = placed(learner, layout)

Widths are part of the type only where actions are few, and the distance of cells only where agents are few: there all
games of so many agents have the same. So nothing is compiled anew for another number of actions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import NativeValue, intrinsic, models, overload, register_model, unbox

from tacit.core import axes
from tacit.core.generics import OPTIONS
from tacit.core.packing import FEW_ACTIONS, WORD, cell_axes

#: Up to this many agents the compiler knows their number.
KNOWN_AGENTS = 4


class View(NamedTuple):
    """One array of the state that is a view of records."""

    path: tuple[int, ...]  # the numbers of its field, from the outermost struct in
    record: int  # which records
    place: int | None  # bytes from the beginning of a record; None where that depends on the numbers of actions
    leading: int  # how many axes say whose cell it is


class Widths(NamedTuple):
    """How far agents and cells are from each other in bytes; None where that is for the run to find out."""

    agent: int | None
    cell: int | None


class LayoutType(types.Type):
    """The compiler's type of a layout: all that it says."""

    def __init__(self, views: tuple[View, ...], widths: tuple[Widths, ...]) -> None:
        self.views, self.widths = views, widths
        said = [(*view.path, view.record, view.place, view.leading) for view in views]
        super().__init__(name=f"Layout({said}, {[tuple(width) for width in widths]})")


register_model(LayoutType)(models.OpaqueModel)


class Layout:
    """The layout of a packed state."""

    def __init__(self, state: Any) -> None:
        if not numba.config.DISABLE_JIT:
            self._numba_type_ = LayoutType(*_described(state))


@unbox(LayoutType)
def _nothing(kind, value, c):
    return NativeValue(c.context.get_dummy_value())


def _described(state: Any) -> tuple[tuple[View, ...], tuple[Widths, ...]]:
    """Return the views of a state, those of a record together and in their order, and the widths of the records."""
    groups: dict[int, list[tuple[tuple[int, ...], axes.Part]]] = {}
    for path, part in _numbered(state):
        memory = part.array.base
        if cell_axes(part.axes) and memory is not None and not part.array.flags.c_contiguous:
            groups.setdefault(id(memory), []).append((path, part))
    views, widths = [], []
    for record, group in enumerate(groups.values()):
        group.sort(key=lambda one: one[1].array.ctypes.data)
        begin = group[0][1].array.ctypes.data
        few = all(_few(part) for _, part in group)
        for path, part in group:
            leading = cell_axes(part.axes)
            place = part.array.ctypes.data - begin if few or part.array.ndim == leading else None
            views.append(View(path, record, place, leading))
        part = group[0][1]
        agent, cell = part.array.strides[0], part.array.strides[cell_axes(part.axes) - 1]
        known = few and len(part.array) <= KNOWN_AGENTS
        widths.append(Widths(agent if few else None, cell if known else None))
    return tuple(views), tuple(widths)


def _few(part: axes.Part) -> bool:
    """Return whether an array has as much room in a record as those of other games."""
    own = part.array.shape[cell_axes(part.axes) :]
    return not own or (len(own) == 1 and own[0] <= FEW_ACTIONS)


def _numbered(state: Any) -> list[tuple[tuple[int, ...], axes.Part]]:
    """Return the arrays of a state with the numbers of their fields."""
    return list(zip(_paths(state, ()), axes.parts(state), strict=True))


def _paths(state: Any, before: tuple[int, ...]) -> list[tuple[int, ...]]:
    found = []
    for k, value in enumerate(state):
        if isinstance(value, np.ndarray):
            found.append((*before, k))
        elif isinstance(value, tuple):
            found += _paths(value, (*before, k))
    return found


def placed(state: Any, layout: Layout) -> Any:
    """Return a packed state; compiled code is told its layout by this."""
    return state


@intrinsic
def _placed(context, state, layout):
    def write(context, builder, signature, args):
        return _rewritten(context, builder, signature.args[0], signature.args[1], args[0])

    return state(state, layout), write


overload(placed, strict=False, jit_options=OPTIONS)(lambda state, layout: lambda state, layout: _placed(state, layout))


def _rewritten(context: Any, builder: Any, kind: Any, layout: LayoutType, value: Any) -> Any:
    """Return a struct whose views of a record have one beginning and the same strides."""
    beginnings: dict[int, tuple[Any, Any, Any]] = {}
    for path, record, place, leading in layout.views:
        part = kind
        for k in path:
            part = part[k]
        array = context.make_array(part)(context, builder, builder.extract_value(value, path))
        strides = cgutils.unpack_tuple(builder, array.strides, part.ndim)
        number = strides[0].type
        if record not in beginnings:
            known = layout.widths[record]
            agent = strides[0] if known.agent is None else ir.Constant(number, known.agent)
            cell = strides[leading - 1] if known.cell is None else ir.Constant(number, known.cell)
            beginnings[record] = array.data, agent, cell
        begin, agent, cell = beginnings[record]
        if place is not None:
            data = cgutils.pointer_add(builder, begin, ir.Constant(number, place))
            array.data = builder.bitcast(data, array.data.type)
        if leading == 3:
            states = cgutils.unpack_tuple(builder, array.shape, part.ndim)[2]
            first = [agent, builder.mul(states, cell), cell]
        else:
            first = [agent, cell]
        last = [*strides[leading:-1], ir.Constant(number, WORD)] if part.ndim > leading else []
        array.strides = cgutils.pack_array(builder, [*first, *last])
        value = builder.insert_value(value, array._getvalue(), path)
    return value


def at(state: Any, i: int, c: int) -> Any:
    """Return a struct as kernels see it that touch no other cell than c of agent i; interpreted, the struct itself.

    Its arrays over cells are indexed as before. Compiled, they all begin at the record, and i and c count for nothing.
    Arrays over H + 1 steps, of which kernels read the next step too, and structs within this one stay as they are.
    """
    return state


@intrinsic
def _at(context, state, i, c):
    def write(context, builder, signature, args):
        return _narrowed(context, builder, signature.args[0], *args)

    return state(state, types.intp, types.intp), write


overload(at, strict=False, jit_options=OPTIONS)(lambda state, i, c: lambda state, i, c: _at(state, i, c))


def _narrowed(context: Any, builder: Any, kind: Any, value: Any, i: Any, c: Any) -> Any:
    """Return a struct whose views of a record begin at that of agent i and cell c, with strides of 0."""
    zero, record, first = ir.Constant(i.type, 0), None, None
    for k in _cell_views(kind):
        part = kind[k]
        array = context.make_array(part)(context, builder, builder.extract_value(value, k))
        strides = cgutils.unpack_tuple(builder, array.strides, part.ndim)
        place = builder.ptrtoint(array.data, i.type)
        if record is None:
            first, record = place, builder.add(builder.mul(i, strides[0]), builder.mul(c, strides[1]))
            record = builder.inttoptr(builder.add(place, record), cgutils.voidptr_t)
        data = builder.gep(record, [builder.sub(place, first)])  # a number that the compiler knows, once placed
        array.data = builder.bitcast(data, array.data.type)
        array.strides = cgutils.pack_array(builder, [zero, zero, *strides[2:]])
        value = builder.insert_value(value, array._getvalue(), k)
    return value


def _cell_views(kind: Any) -> list[int]:
    """Return the fields of a struct that are views of its records, by cell."""
    named = axes.declared(kind.instance_class) if isinstance(kind, types.BaseNamedTuple) else {}  # type: ignore[attr-defined]  # numba is partly typed
    return [
        k
        for k, part in enumerate(kind)
        if isinstance(part, types.Array) and part.layout == "A" and cell_axes(named.get(kind.fields[k])) == 2
    ]
