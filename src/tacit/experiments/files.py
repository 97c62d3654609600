"""The files of a run, and locks that end with a process."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from tacit.core import reading
from tacit.core.atomic import PART, naming, write
from tacit.core.errors import TacitError

LOCK = ".lock"

__all__ = ["LOCK", "digest", "directory", "locked", "naming", "parts", "read", "remove_parts", "write"]


def read(path: Path, *, limit: int | None = None, spread: int = 1) -> bytes:
    """Read a whole file, within bounds; see `reading.content`."""
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
def locked(path: Path) -> Iterator[bool]:
    """Hold a directory for this process alone, if no other holds it: whether it is held is what the block is given.

    The system ends the lock with the process, however it dies. What a killed process left unfinished is removed.
    """
    lock = filelock.FileLock(path / LOCK, thread_local=False)
    try:
        if (path / LOCK).is_symlink() or ((path / LOCK).exists() and not (path / LOCK).is_file()):
            raise OSError("its lock is not a file")
        lock.acquire(blocking=False)
    except filelock.Timeout:
        yield False
        return
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        remove_parts(path)
        yield True
    finally:
        lock.release()


def parts(path: Path) -> list[Path]:
    """Return the files that were not written to their end, or are being written."""
    return list(path.glob(f".*{PART}"))


def remove_parts(path: Path) -> None:
    """Remove what killed processes left unfinished, from a directory that this process holds."""
    for left in parts(path):
        with contextlib.suppress(OSError):  # a directory of that name is not ours
            left.unlink(missing_ok=True)


def held(path: Path) -> bool:
    """Return whether another process holds a directory right now."""
    with locked(path) as ours:
        return not ours
