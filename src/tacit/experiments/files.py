"""The files of a run, and locks that end with a process."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit.core.errors import TacitError
from tacit.core.whole import PART, written

LOCK = ".lock"


def write(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with written(path) as stream:
        stream.write(content)


def read(path: Path) -> bytes:
    """Read a file whole."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise TacitError(f"no file {path}") from None
    except OSError as error:
        raise TacitError(f"cannot read {path}: {error.strerror or error}") from None


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
        stream = open(path / LOCK, "wb")  # noqa: SIM115
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
            left.unlink(missing_ok=True)
        yield


def _lock(stream: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
