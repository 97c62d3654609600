"""Atomic writes: a file is written to a temporary name beside its place, synced, then renamed."""

from __future__ import annotations

import os
import secrets
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from tacit.core.errors import TacitError

#: How temporary names end; what a killed process has left can be told by it.
PART = ".part"

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

#: Seconds between attempts to replace a file: Windows refuses while a reader has the old one open.
_WAITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if os.name == "nt" else ()

_local = threading.local()


@contextmanager
def passing() -> Iterator[None]:
    """Within the block, what this thread writes is not synced: files that are read once and removed."""
    _local.passing = True
    try:
        yield
    finally:
        _local.passing = False


@contextmanager
def written(place: Path, *, mode: int = 0o666, sync: bool = True) -> Iterator[BinaryIO]:
    """Open a file to write to; it takes its place when the block ends without an error.

    Without `sync` a failure of power may leave it empty, which a process that is killed never does.

    The system takes the umask off `mode`, as it does for every new file; nothing here reads or sets the umask, which
    all threads share.
    """
    try:
        _check_replaceable(place)
        temporary = place.with_name(f".{place.name[:40]}.{secrets.token_hex(8)}{PART}")
        handle = os.open(temporary, _FLAGS, mode)
    except (OSError, ValueError) as error:
        raise _cannot(place, error) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            if sync and not getattr(_local, "passing", False):
                os.fsync(stream.fileno())
        _replace(temporary, place)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _cannot(place, error) from None
        raise


@contextmanager
def naming(place: Path) -> Iterator[None]:
    """Within the block, an error of the disk names the file that is written."""
    try:
        yield
    except OSError as error:
        raise _cannot(place, error) from None


def _replace(temporary: Path, place: Path) -> None:
    """Put a file in its place."""
    for wait in _WAITS:
        try:
            os.replace(temporary, place)
            return
        except PermissionError:
            time.sleep(wait)
    os.replace(temporary, place)


def write(place: Path, content: bytes, *, mode: int = 0o666, sync: bool = True) -> None:
    """Write a file atomically."""
    with written(place, mode=mode, sync=sync) as stream:
        stream.write(content)


def _check_replaceable(place: Path) -> None:
    """Refuse to put a file where a device, a pipe or a directory is."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(place.stat().st_mode):
            raise TacitError("it is there, and no regular file")


def _cannot(place: Path, error: Exception) -> TacitError:
    return TacitError(f"cannot write {place}: {getattr(error, 'strerror', None) or error}")
