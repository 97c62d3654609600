"""Whether the arrays of a checkpoint can be those of this run: asked before compiled code works on them.

A digest says that a file is as it was written, not what was written. Compiled code trusts its state: an index out of
range reads or writes anywhere, and a clock far ahead never ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.errors import TacitError

Arrays = dict[str, npt.NDArray[Any]]


def check_names(found: Arrays, names: set[str]) -> None:
    """Raise unless the arrays have these names."""
    for name in sorted(names ^ set(found)):
        raise TacitError(f"it has {'an' if name in found else 'no'} array {name!r}")


def check_alike(found: Arrays, fresh: Arrays, *, most: int) -> None:
    """Raise unless arrays are of the types and shapes of those of a fresh state, with numbers that it could come to.

    That is: finite ones, none below zero where that never happens, and whole ones from 0 (or what the fresh state has
    below) to `most` more than it begins with.
    """
    for name, like in fresh.items():
        array = checked(found, name, like.dtype, like.shape)
        if not array.size:
            continue
        if array.dtype.kind in "fc" and np.isfinite(like).all() and not np.isfinite(array).all():
            raise TacitError(f"its array {name!r} has entries that are no finite numbers")
        said: dict[Any, Any] = dict(like.dtype.metadata or {})  # as records.NONNEGATIVE has it
        if array.min() < said.get("least", array.min()):
            raise TacitError(f"its array {name!r} has entries below {said['least']}")
        if array.max() > said.get("most", array.max()):
            raise TacitError(f"its array {name!r} has entries above {said['most']}")
        if said.get("fixed") and not np.array_equal(array, like):
            raise TacitError(f"its array {name!r} is not what it is in every state of this learner")
        if array.dtype.kind in "iu":
            least, largest = min(0, int(like.min())), most + 2 * max(0, int(like.max()))
            if int(array.min()) < least or int(array.max()) > largest:
                raise TacitError(f"its array {name!r} has entries outside {least} to {largest}")


def checked(found: Arrays, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return an array of this type and shape."""
    array = found.get(name)
    if array is None:
        raise TacitError(f"it has no array {name!r}")
    if array.dtype != dtype or array.shape != shape:
        raise TacitError(
            f"its array {name!r} is {array.dtype} of shape {array.shape}; it must be {np.dtype(dtype)} of {shape}"
        )
    return array


def check_equal(found: Arrays, name: str, value: int, shape: tuple[int, ...] = ()) -> None:
    """Raise unless a whole number, or all those of an array, are what they must be."""
    array = found.get(name)
    if array is None or array.dtype.kind not in "iu" or array.shape != shape or (array != value).any():
        raise TacitError(f"its array {name!r} does not say {value}")


def whole_number(found: Arrays, name: str, *, most: int) -> int:
    """Return a whole number from 0 to `most`."""
    array = found.get(name)
    if array is None or array.dtype.kind not in "iu" or array.shape != () or not 0 <= int(array) <= most:
        raise TacitError(f"its array {name!r} must be a whole number from 0 to {most}")
    return int(array)


def check_seconds(found: Arrays, name: str) -> None:
    """Raise unless an array is a time that was taken."""
    seconds = float(checked(found, name, np.float64, ()))
    if not 0 <= seconds < np.inf:
        raise TacitError(f"its {name!r} is {seconds}; it must be a time")
