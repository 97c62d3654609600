"""Which axis of a state's array is what, as the state declares it.

    class MyState(NamedTuple):
        theta: Annotated[FloatArray, "N C A"]
        upper: Annotated[FloatArray, "N H+1 S"]
        room: Annotated[FloatArray, "N A"]

N are the agents, H the steps, S the states, A the actions and C the cells: pairs (h, s), flat as h·S + s, or several
copies of each, one after the other. Any other word is a size of one's own. So an agent that meets new states knows
where to make room.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from tacit.core.errors import TacitError, one_line

Array = npt.NDArray[Any]
Axes = tuple[str, ...]


#: Declarations that have been read.
_READ: dict[type, dict[str, list[str]]] = {}


class Part(NamedTuple):
    """One array of a state."""

    struct: str  # path of the struct that holds it, e.g. "bandit.base"; "" for the state itself
    name: str
    axes: Axes | None  # None where they are not declared
    array: Array

    @property
    def path(self) -> str:
        """Where the array is, e.g. "bandit.weight"."""
        return f"{self.struct}.{self.name}" if self.struct else self.name


def declared(kind: type) -> dict[str, Axes]:
    """Return the axes that a NamedTuple declares, by field.

    >>> from typing import Annotated, NamedTuple
    >>> declared(NamedTuple("State", [("theta", Annotated[np.ndarray, "N C A"]), ("eta", float)]))
    {'theta': ('N', 'C', 'A')}
    """
    return {field: tuple(words[0].split()) for field, words in _words(kind).items()}


def never_negative(kind: type) -> list[str]:
    """Return the fields of a NamedTuple whose numbers are never below zero: their annotation says so after the axes.

    >>> from typing import Annotated, NamedTuple
    >>> never_negative(NamedTuple("State", [("prob", Annotated[np.ndarray, "N C A", ">= 0"]), ("eta", float)]))
    ['prob']
    """
    return [field for field, words in _words(kind).items() if ">= 0" in words]


def _words(kind: type) -> dict[str, list[str]]:
    if kind not in _READ:
        _READ[kind] = _read(kind)
    return _READ[kind]


def _read(kind: type) -> dict[str, list[str]]:
    try:
        hints = get_type_hints(kind, include_extras=True)
    except (NameError, TypeError, AttributeError) as error:
        raise TacitError(
            f"the annotations of {kind.__name__} cannot be read ({one_line(error, 100)}); define it, and what they "
            f"name, at the top of a module"
        ) from None
    found = {}
    for field, hint in hints.items():
        words = [word for word in getattr(hint, "__metadata__", ()) if isinstance(word, str)]
        if words:
            found[field] = words
    return found


def parts(state: Any, struct: str = "") -> Iterator[Part]:
    """Yield the arrays of a state, those of the structs within it included."""
    named = hasattr(state, "_fields")
    known = declared(type(state)) if named else {}
    for field, value in zip(state._fields if named else map(str, range(len(state))), state, strict=True):
        if isinstance(value, np.ndarray):
            yield Part(struct, field, known.get(field), value)
        elif isinstance(value, tuple):
            yield from parts(value, f"{struct}.{field}" if struct else field)


def axes_of(part: Part) -> Axes:
    """Return the axes of an array; raise where they are not declared, or not as many as it has."""
    if part.axes is None:
        raise TacitError(
            f"{part.path} does not say which of its axes is the state; declare them all where its state is defined, "
            f'e.g. {part.name}: Annotated[np.ndarray, "N C A"]'
        )
    if len(part.axes) != part.array.ndim:
        raise TacitError(f"{part.path} has shape {part.array.shape} and is declared [{', '.join(part.axes)}]")
    return part.axes


def transfer(learned: Any, room: Any, *, horizon: int, before: int, after: int) -> None:
    """Copy what a state for `before` states holds into a fresh one that has room for `after`."""
    for old, new in zip(parts(learned), parts(room), strict=True):
        source, target = by_state(old, horizon, before), by_state(new, horizon, after)
        axes_left = [k for k, axis in enumerate(axes_of(old)) if axis in ("C", "S")]
        if axes_left:
            target = target[(slice(None),) * (axes_left[0] + 1) + (slice(before),)]
        if source.shape != target.shape:
            raise TacitError(
                f"{old.path} has shape {old.array.shape} for {before} states and {new.array.shape} for {after}, which "
                f"does not fit its declaration [{', '.join(axes_of(old))}]"
            )
        if target.flags.writeable:
            target[...] = source


def by_state(part: Part, horizon: int, states: int) -> Array:
    """Return an array with its axis C or S, where it has one, as three: steps, states, copies."""
    for k, axis in enumerate(axes_of(part)):
        if axis in ("C", "S"):
            steps = horizon if axis == "C" else 1
            size = part.array.shape[k]
            if size == 0 or size % (steps * states):
                raise TacitError(
                    f"axis {k} of {part.path} is declared {axis}, for {steps * states} of them, and has {size} entries"
                )
            copies = size // (steps * states)
            return part.array.reshape(*part.array.shape[:k], steps, states, copies, *part.array.shape[k + 1 :])
    return part.array
