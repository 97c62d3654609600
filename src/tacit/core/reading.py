"""Files are read within bounds: regular files only, never more than their stated size, never more than there is room.

A pipe or a device with the name of a file would block or never end. It is opened without waiting and refused.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit.core import memory
from tacit.core.errors import TacitError

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@contextmanager
def opened(place: Path) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file; give the stream and its size in bytes."""
    with _told(place):
        _check_regular(place, os.stat(place))  # opening a device may already do something
        stream = os.fdopen(os.open(place, _FLAGS), "rb")
    with stream:
        status = os.fstat(stream.fileno())
        _check_regular(place, status)
        yield stream, status.st_size


def content(place: Path, *, limit: int | None = None, spread: int = 1) -> bytes:
    """Read a file whole.

    Parameters
    ----------
    place : Path
    limit : int, optional
        The largest number of bytes that is read at all.
    spread : int
        Bytes of memory that each byte of the file may become.
    """
    with opened(place) as (stream, size), _told(place):
        if limit is not None and size > limit:
            raise TacitError(f"{place} has {memory.human(size)}; such a file has at most {memory.human(limit)}")
        memory.require(spread * size, f"{place}")
        found = stream.read(size + 1)
    if len(found) > size:
        raise TacitError(f"{place} grows while it is read; wait until it is written")
    return found


@contextmanager
def _told(place: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise TacitError(f"no file {place}") from None
    except ValueError as error:  # a null character, or no text of this system
        if isinstance(error, TacitError):
            raise
        raise TacitError(f"cannot read {place}: it is not a path") from None
    except OSError as error:
        raise TacitError(f"cannot read {place}: {error.strerror or error}") from None


def _check_regular(place: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"
        raise TacitError(f"{place} is {kind}, not a file")
