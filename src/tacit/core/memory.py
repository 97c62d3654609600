"""Memory: whether there is enough of it, and whose an array is.

What does not fit is refused before it is allocated, with the size that it would have had.

Arrays belong to one game or policy: nobody else can change them, and nobody can write to them. Whatever a caller gives
is copied: a read-only array may have a writable view elsewhere, or be made writable again. Only arrays that tacit has
just made itself, and holds nowhere else, are kept as they are; those come as `Owned`.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tacit.core.errors import TacitError
from tacit.core.types import FloatArray


class Full(TacitError):
    """There is no memory for something."""


#: Seconds for which an answer of the operating system holds: it takes 50 µs, and is asked at every step.
_HOLDS = 0.05
_asked: tuple[float, int] = (-math.inf, 0)  # when, and the answer


def available() -> int:
    """Return the bytes that can be allocated now without swapping."""
    global _asked
    if (now := time.monotonic()) - _asked[0] > _HOLDS:
        _asked = (now, _ask_system())
    return _asked[1]


def _ask_system() -> int:
    try:
        import psutil
    except ImportError:  # a device that only plays a part
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 1 << 30
    return int(psutil.virtual_memory().available)


def human(size: int) -> str:
    """Write a number of bytes for people.

    >>> human(3_200_000_000)
    '3.2 GB'
    """
    for unit in ["B", "kB", "MB", "GB", "TB", "PB", "EB"]:
        if size < 1000:
            return f"{size:.3g} {unit}"
        size = size // 1000 if size >= 1_000_000 else size / 1000  # type: ignore[assignment]
    return f"{size:.3g} ZB" if size < 1000 else "more than 1000 ZB"


def floats(*shape: int) -> int:
    """Return the bytes of a float array of this shape, without numpy's overflow."""
    return 8 * math.prod(shape)


def require(size: int, what: str) -> None:
    """Raise if `size` bytes are not to be had."""
    free = available()
    if size > free:
        raise Full(f"{what} would take {human(size)} of memory, and {human(free)} are free; make it smaller")


def zeros(shape: Sequence[int], what: str) -> FloatArray:
    """Allocate a float array of zeros, or refuse it by name."""
    require(floats(*shape), what)
    return np.zeros(tuple(shape))


# whose an array is ---------------------------------------------------------------------------------------------------

T = TypeVar("T")

#: NumPy's limit on axes: deeper lists are no arrays.
_DEPTH = 64

#: Entries from which it is asked whether memory holds a copy.
_LARGE = 1_000_000


@dataclass(frozen=True, eq=False)
class Owned(Generic[T]):
    """An array, or a tuple of arrays, that its maker gives away. It may be kept without a copy."""

    value: T


def unwrap(value: T | Owned[T]) -> tuple[T, bool]:
    """Return what was given, and whether it was given away."""
    return (value.value, True) if isinstance(value, Owned) else (value, False)


def freeze(name: str, value: Any, kind: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """Return a C-contiguous array of this type that nobody can write to. A copy, unless it was `Owned`."""
    inner, owned = unwrap(value)
    refuse_masked(name, inner)
    array = np.asarray(inner)
    wanted = np.dtype(kind) if kind is not None else array.dtype.newbyteorder("=")
    if not (owned and array.dtype == wanted and array.flags.c_contiguous and array.flags.aligned):
        if array.size >= _LARGE:  # a broadcast array may be larger than all memory
            require(array.size * wanted.itemsize, f"a copy of {name}, of shape {array.shape},")
        array = np.array(array, dtype=wanted, order="C", subok=False)
    return lock(array)


def lock(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only for good. What is returned is a view, which cannot be made writable again."""
    part: Any = array
    while isinstance(part, np.ndarray):
        part.flags.writeable = False
        part = part.base
    return array.view()


def refuse_masked(name: str, value: object, depth: int = _DEPTH) -> None:
    """Raise for a masked array, on its own or within lists. NumPy would drop its mask without a word."""
    if isinstance(value, np.ma.MaskedArray):
        raise TacitError(f"{name} is a masked array; fill in the masked entries first, e.g. with {name}.filled(0)")
    if isinstance(value, list | tuple) and depth:
        for part in value:
            if isinstance(part, list | tuple | np.ma.MaskedArray):
                refuse_masked(name, part, depth - 1)


class Sealed:
    """An object whose arrays are read-only, when it was unpickled or copied too.

    pickle and copy make arrays that can be written to, for which kernels would be compiled anew.
    """

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({key: _seal(value) for key, value in state.items()})


def _seal(value: Any) -> Any:
    match value:
        case np.ndarray():
            return lock(value)
        case list() | tuple():
            parts = [_seal(part) for part in value]
            return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
        case _:
            return value
