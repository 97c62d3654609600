"""What agents remember: arrays of records, one record for each cell and agent.

    cells = records((H + 1, S, N), [("value", "f8"), ("visits", "i8"), ("weight", "f8", capacity(A))])

    cell = cells[h, s, i]     # in a kernel, compiled or not: the record itself, not a copy
    cell.visits += 1
    cell.weight[a] = 0.5

What one visit touches lies side by side in memory, and a kernel that is given a record can touch no other. Records may
hold records: a learner's cell holds its bandit's.

In a state the agents are the last axis: its arrays of records are [agents], [steps, agents] or [steps, states, agents].
So checkpoints, growth and the checks of `tacit.testing` need no declaration. Plain arrays in a state are constants, or
scratch in which nothing is remembered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief

Array = npt.NDArray[Any]

#: The fields of a record: names, types, and shapes where there is more than one number.
Fields = Sequence[tuple[Any, ...]]

#: Types of numbers with a word about them, for which files are checked before compiled code trusts them: never below
#: zero, such as a probability; and never changed, such as a number of actions.
NONNEGATIVE = np.dtype("f8", metadata={"least": 0})
FIXED = np.dtype("i8", metadata={"fixed": True})

#: The smallest number of actions that a record has room for.
_FEWEST = 4


def capacity(actions: SupportsInt) -> int:
    """Return the capacity of a record for so many actions. A power of two, so that few loops are compiled.

    Parameters
    ----------
    actions : int
        The most that any agent has.

    Returns
    -------
    int

    Examples
    --------
    >>> from tacit.kernels import capacity
    >>> [capacity(actions) for actions in (1, 4, 5, 100)]
    [4, 4, 8, 128]
    """
    return max(_FEWEST, 1 << (check.integer("actions", actions) - 1).bit_length())


def index(size: SupportsInt) -> np.dtype[Any]:
    """Return the type of a whole number from 0 to size − 1. Files are checked for it."""
    return np.dtype("i8", metadata={"least": 0, "most": int(size) - 1})


class AttributeRecord(np.void):  # type: ignore[misc]  # np.record does the same
    """A record as interpreted kernels see it. Fields are attributes, as they are in compiled code."""

    def __getattribute__(self, name: str) -> Any:
        try:
            return _field(self, name)
        except ValueError:  # no field of that name
            return _attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


_field, _attribute = np.void.__getitem__, np.void.__getattribute__


def record(fields: Fields) -> np.dtype[Any]:
    """Return the type of a record, for records within a record.

    Parameters
    ----------
    fields : list of (name, type) or (name, type, shape)

    Returns
    -------
    numpy.dtype

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import record, records
    >>> cells = records((3, 2, 1), [("bandit", record(tacit.bandits.Exp3IX().fields(4))), ("visits", "i8")])
    >>> cells[0, 0, 0].bandit.weight
    array([0., 0., 0., 0.])
    """
    try:
        return np.dtype((AttributeRecord, np.dtype(list(fields), align=True)))
    except (TypeError, ValueError) as error:
        raise TacitError(f"fields must be a list of (name, type, shape); got {brief(fields)}: {error}") from None


def records(shape: tuple[int, ...], fields: Fields, what: str = "the state of the learners") -> Array:
    """Return an array of records, all zero; raise where there is no memory for it.

    Parameters
    ----------
    shape : tuple of int
        [agents], [steps, agents] or [steps, states, agents].
    fields : list of (name, type) or (name, type, shape)
        Types are NumPy's, e.g. "f8" and "i8".
    what : str
        What it is, for the message.

    Returns
    -------
    array of records

    Examples
    --------
    >>> from tacit.kernels import capacity, records
    >>> cells = records((5, 2, 3), [("weight", "f8", capacity(3)), ("visits", "i8")])
    >>> cell = cells[4, 1, 0]
    >>> cell.visits += 2
    >>> cells["visits"].sum()
    np.int64(2)
    """
    kind = record(fields)
    sizes = check.list_of("shape", shape, "sizes")
    shape = tuple(check.integer(f"shape[{k}]", size, least=0) for k, size in enumerate(sizes))
    memory.require(kind.itemsize * math.prod(shape), what)
    return np.zeros(shape, kind)


def arrays(state: Any, path: str = "") -> Iterator[tuple[str, Array]]:
    """Yield all arrays of a state, nested ones too, with their paths."""
    if isinstance(state, np.ndarray):
        yield path, state
    elif isinstance(state, tuple):
        for inner, value in _name(state, path):
            yield from arrays(value, inner)


def replace(state: Any, change: Callable[[str, Array], Array], path: str = "") -> Any:
    """Return a state with other arrays, by their paths. Those of the structs within it included."""
    if isinstance(state, np.ndarray):
        return change(path, state)
    if not isinstance(state, tuple):
        return state
    changed = [replace(part, change, inner) for inner, part in _name(state, path)]
    return type(state)(*changed) if hasattr(state, "_fields") else tuple(changed)


def _name(struct: tuple[Any, ...], path: str) -> Iterator[tuple[str, Any]]:
    """Yield what a struct or a tuple holds, each with its path."""
    fields: Sequence[str] = getattr(struct, "_fields", None) or [str(k) for k in range(len(struct))]
    return ((f"{path}.{field}" if path else field, part) for field, part in zip(fields, struct, strict=True))


def parts(state: Any) -> Iterator[tuple[str, Array]]:
    """Yield the arrays of records of a state with their paths."""
    return ((path, array) for path, array in arrays(state) if array.dtype.names is not None)


def columns(array: Array, path: str = "") -> Iterator[tuple[str, Array]]:
    """Yield the fields of an array of records as views, with their paths."""
    if array.dtype.names is None:
        yield path, array
        return
    for name in array.dtype.names:
        yield from columns(array[name], f"{path}.{name}" if path else name)


def transfer(learned: Any, wider: Any) -> None:
    """Copy what a state remembers into a fresh one for more states."""
    for (path, old), (_, new) in zip(arrays(learned), arrays(wider), strict=True):
        if "scratch" in path.split("."):
            continue
        if old.dtype.names is not None and old.ndim == 3 and len(new) == 1:
            old = old[-1:]  # where there is no room for each step any more: what holds at all steps is the last
        target = new[:, : old.shape[1]] if old.dtype.names is not None and old.ndim == 3 else new
        if old.dtype != new.dtype or target.shape != old.shape:
            raise TacitError(
                f"{path} has the shape {old.shape}, and {new.shape} with more states; what a state remembers is an "
                f"array of records [steps, states, agents], [steps, agents] or [agents]"
            )
        if target.flags.writeable:
            target[...] = old
