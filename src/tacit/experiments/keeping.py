"""The directory of a run while it runs somewhere: held by this process, which alone writes to it.

A worker that shares the disk keeps its checkpoint there too, and nothing else.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from tacit.core.errors import TacitError
from tacit.engine import Event
from tacit.experiments import files, store
from tacit.experiments.curve_file import CurveFile
from tacit.experiments.outcome import Outcome
from tacit.experiments.plan import RunSpec


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
        files.directory(self.path)
        return self._lock.enter_context(files.locked(self.path))

    def begin(self) -> Outcome | None:
        """Return the outcome of a run that is finished; otherwise write what is going to be run."""
        found = stored(self.path, self._spec)
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
                files.remove_parts(self.path)  # of workers that were killed
                tidy(self.path)
        return found

    def release(self) -> None:
        """Let go of the directory."""
        self._curve.close()
        self._lock.close()


def stored(directory: Path, spec: RunSpec) -> Outcome | None:
    """Return the outcome of a run that is finished already; what is damaged raises."""
    if not store.finished(directory):
        return None
    found = store.load(directory)
    if found.spec.hash != spec.hash:
        raise TacitError(f"{directory} holds another run than its name says; remove it to have it run again")
    if files.parts(directory):  # left by a kill right after the end, or being written by another process
        with files.locked(directory):  # which removes the former
            pass
    tidy(directory)
    return found


def tidy(directory: Path) -> None:
    """Remove what a finished run no longer needs."""
    for left in (store.CHECKPOINT, files.LOCK):
        with contextlib.suppress(OSError):  # some systems do not remove a file that is open
            (directory / left).unlink(missing_ok=True)
