"""The directory of a run while it runs somewhere: held by this process, which alone writes to it.

A lock ends with the process that holds it, and the curve grows line by line. A process that is killed leaves whole
lines, and perhaps the beginning of one more. A worker that shares the disk keeps its checkpoint here too, and nothing
else.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import filelock
import numpy.typing as npt

from tacit.core.errors import TacitError
from tacit.core.files import PART, name_errors, write
from tacit.engine import Event, Measured, Started
from tacit.experiments import store
from tacit.experiments.outcome import Outcome
from tacit.experiments.plan import RunSpec

LOCK = ".lock"


class RunDirectory:
    """Holds a run's directory, writes its curve as it comes, and stores what the run ends with."""

    def __init__(self, directory: Path, spec: RunSpec) -> None:
        self.path, self._spec = directory, spec
        self._curve = CurveFile(directory / store.CURVE)
        self._lock = contextlib.ExitStack()

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def hold(self) -> bool:
        """Hold the directory, unless another process does."""
        make_directory(self.path)
        return self._lock.enter_context(lock_directory(self.path))

    def begin(self) -> Outcome | None:
        """Return the outcome of a run that is finished; otherwise write what is going to be run."""
        found = read_stored(self.path, self._spec)
        if found is None:
            store.begin(self.path, self._spec, sync=False)
        return found

    def event(self, event: Event) -> None:
        """Take note of an event."""
        self._curve(event)

    def store(self, found: Outcome, others: dict[str, bytes]) -> Outcome:
        """Store a run that is over, unless it was interrupted, and let go of the directory."""
        with self:
            self._curve.close()
            if not found.interrupted:
                store.begin(self.path, self._spec)  # synced
                if self._curve.rows != len(found.curve):  # events can be lost on their way, results cannot
                    self._curve.rewrite(found.curve)
                store.finish(self.path, found, others)
                remove_parts(self.path)  # of workers that were killed
                tidy(self.path)
        return found

    def release(self) -> None:
        """Let go of the directory."""
        self._curve.close()
        self._lock.close()


def read_stored(directory: Path, spec: RunSpec) -> Outcome | None:
    """Return the outcome of a run that is finished already; what is damaged raises."""
    if not store.finished(directory):
        return None
    found = store.load(directory)
    if found.spec.hash != spec.hash:
        raise TacitError(f"{directory} holds another run than its name says; remove it to have it run again")
    if parts(directory):  # left by a kill right after the end, or being written by another process
        with lock_directory(directory):  # which removes the former
            pass
    tidy(directory)
    return found


def tidy(directory: Path) -> None:
    """Remove what a finished run no longer needs."""
    for left in (store.CHECKPOINT, LOCK):
        with contextlib.suppress(OSError):  # some systems do not remove a file that is open
            (directory / left).unlink(missing_ok=True)


class CurveFile:
    """Writes the curve as it grows: a watcher of the run's events."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows = 0
        self._stream: TextIO | None = None

    def __call__(self, event: Event) -> None:
        """Begin with the rows that a checkpoint had, then add a line for each measurement."""
        match event:
            case Started(rows=rows):
                self.close()
                write(self._path, "".join(_line(row) for row in rows).encode(), sync=False)
                self.rows = len(rows)
                self._stream = open(self._path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115
            case Measured(row) if self._stream is not None:
                with name_errors(self._path):
                    self._stream.write(_line(row))
                    self._stream.flush()
                self.rows += 1

    def rewrite(self, curve: npt.NDArray[Any]) -> None:
        """Write a whole curve, as `table` makes it, in the place of what is there."""
        names = curve.dtype.names or ()
        rows = [dict(zip(names, row, strict=True)) for row in curve.tolist()]
        write(self._path, "".join(_line(row) for row in rows).encode())
        self.rows = len(rows)

    def close(self) -> None:
        """End writing."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            with name_errors(self._path), stream:
                stream.flush()
                os.fsync(stream.fileno())  # before a summary says that it is whole


def _line(row: Any) -> str:
    """Write a row as JSON; what was not measured is null."""
    plain = {name: x if isinstance(x, str) or math.isfinite(x) else None for name, x in row.items()}
    return json.dumps({**plain, "episode": int(row["episode"])}) + "\n"


def make_directory(path: Path) -> None:
    """Make a directory, and those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def lock_directory(path: Path) -> Iterator[bool]:
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
    with lock_directory(path) as ours:
        return not ours
