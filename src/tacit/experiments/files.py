"""The files of a run, and locks that end with a process."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit.core import reading
from tacit.core.errors import TacitError
from tacit.core.whole import PART, written

LOCK = ".lock"

#: A link in place of the lock is not followed, a pipe not waited for, and nothing is cut short.
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_LOCK_FLAGS |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def write(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with written(path) as stream:
        stream.write(content)


def read(path: Path, *, limit: int | None = None, spread: int = 1) -> bytes:
    """Read a file whole, within bounds; see `reading.content`."""
    return reading.content(path, limit=limit, spread=spread)


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def directory(path: Path) -> None:
    """Make a directory, and those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a directory for this process alone; what a killed process left unfinished in it is swept away.

    The system ends the lock with the process, however it dies.
    """
    try:
        stream = os.fdopen(os.open(path / LOCK, _LOCK_FLAGS, 0o666), "r+b")
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    with stream:
        try:
            _lock(stream)
        except OSError:
            raise TacitError(
                f"another process is at work in {path}; wait until it has ended, or choose another --out"
            ) from None
        for left in path.glob(f".*{PART}"):
            with contextlib.suppress(OSError):  # a directory of that name is not ours
                left.unlink(missing_ok=True)
        yield


def _lock(stream: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
