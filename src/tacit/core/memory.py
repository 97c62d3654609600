"""Refuse what does not fit into memory before it is allocated, and say how large it would have been."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

import numpy as np

from tacit.core.errors import TacitError
from tacit.core.types import FloatArray


class Full(TacitError):
    """There is no memory for something."""


def available() -> int:
    """Return the bytes that can be allocated now without swapping."""
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
