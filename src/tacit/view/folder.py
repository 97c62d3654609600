"""The runs in a directory, finished or going on; read-only, and nothing outside of it is read.

Directories of runs are looked for in the directory itself and one below, so that `results/` may hold several
experiments. Symbolic links are not followed.
"""

from __future__ import annotations

import math
import os
import stat
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import files
from tacit.core.errors import TacitError, sentence
from tacit.engine.curve import ENDED
from tacit.experiments import Outcome, RunSpec, store

#: The most runs that are shown, and entries of a directory that are looked at.
MOST_RUNS, MOST_ENTRIES = 2000, 100_000

#: Bytes of a finished run's curve that are looked at; of a longer one, evenly spaced rows.
MOST_CURVE = 16_000_000

#: Seconds since the last row within which a run without a summary counts as going on.
FRESH = 60.0


@dataclass
class StoredRun:
    """A run's directory and what has been read of it.

    Attributes
    ----------
    name : str
        Its path within the directory that is shown.
    outcome : Outcome or None
        What is stored of a finished run.
    seen : float
        When its curve grew last.
    """

    name: str
    place: Path
    spec: RunSpec
    versions: store.Versions
    outcome: Outcome | None = None
    growing: GrowingCurve | None = None
    seen: float = field(default_factory=time.time)

    @property
    def curve(self) -> npt.NDArray[Any] | None:
        """The rows so far."""
        if self.outcome is not None:
            return self.outcome.curve
        return None if self.growing is None else self.growing.curve

    @property
    def status(self) -> str:
        """One of finished, running and unfinished."""
        if self.outcome is not None:
            return "finished"
        return "running" if time.time() - self.seen < FRESH else "unfinished"


class Folder:
    """Looks at a directory again and again.

    Parameters
    ----------
    place : Path
        A directory of runs, of directories of runs, or a run.

    Attributes
    ----------
    runs : dict of StoredRun, by name
    problems : dict of str, by name
        What could not be read, in a sentence each.
    unread : int
        Runs that the last look has left for the next.
    version : int
        Grows by one whenever something has changed.
    """

    def __init__(self, place: Path) -> None:
        store.check_directory(place)
        self.place = place
        self.runs: dict[str, StoredRun] = {}
        self.problems: dict[str, str] = {}
        self.version = 0
        self.unread = 0
        self._statuses: dict[str, str] = {}
        self._stamps: dict[str, tuple[int, int]] = {}

    def look(self, *, seconds: float = math.inf) -> bool:
        """Read what is new; return whether anything was.

        After `seconds` of reading, or as many as listing the directory took, runs not yet read are left for next time.
        """
        changed, began = False, time.perf_counter()
        self.unread = 0
        found = dict(self._directories())
        listed = time.perf_counter()
        until = listed + max(seconds, listed - began)
        for name in set(self._stamps) - set(found):
            self.runs.pop(name, None)
            self.problems.pop(name, None)
            del self._stamps[name]
            changed = True
        for name, place in found.items():
            if name not in self._stamps and time.perf_counter() > until:
                self.unread += 1
            else:
                changed |= self._read(name, place)
        statuses = {name: run.status for name, run in self.runs.items()}
        if changed or statuses != self._statuses:
            self._statuses = statuses
            self.version += 1
            return True
        return False

    def _read(self, name: str, place: Path) -> bool:
        """Read one run as far as it is; return whether anything was new."""
        run = self.runs.get(name)
        stamps = (_stamp(place / store.SPEC), _stamp(place / store.SUMMARY))
        if self._stamps.get(name) == stamps and (run is None or run.outcome is not None):
            return False
        try:
            if run is None or self._stamps.get(name, stamps)[0] != stamps[0]:
                stored = store.load_spec(place)
                run = StoredRun(name, place, stored.run, stored.versions)
            finished = store.is_finished(place)
            run.outcome = store.load(place, most=MOST_CURVE) if finished else None
        except (TacitError, OSError, RecursionError, MemoryError) as error:
            self._stamps[name], self.problems[name] = stamps, sentence(error)
            self.runs.pop(name, None)
            return True
        new = self.runs.get(name) is not run or finished
        self._stamps[name], self.runs[name] = stamps, run
        self.problems.pop(name, None)
        curve = place / store.CURVE
        if finished or not _own_file(curve):
            run.growing = None
            return new
        if run.growing is None:
            run.growing, run.seen = GrowingCurve(curve), _modification_time(curve)
        if run.growing.look():
            run.seen = _modification_time(curve)
            return True
        return new

    def _directories(self) -> Iterator[tuple[str, Path]]:
        """Give the names and places of runs, those of this directory first."""
        if _is_run(self.place):
            yield ".", self.place
            return
        count = 0
        for name, place in _below(self.place):
            inside = [(name, place)] if _is_run(place) else [(f"{name}/{own}", part) for own, part in _below(place)]
            for full, part in inside:
                if _is_run(part):
                    count += 1
                    if count > MOST_RUNS:
                        return
                    yield full, part


def _below(place: Path) -> list[tuple[str, Path]]:
    """Return the directories in a directory, in the order of their names; no links, none that is hidden."""
    found = []
    try:
        with os.scandir(place) as entries:
            for count, entry in enumerate(entries):
                if count >= MOST_ENTRIES:
                    break
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    found.append((entry.name, place / entry.name))
    except OSError:
        return []
    return sorted(found)


_FILES = (store.SPEC, store.SUMMARY, store.CURVE, store.POLICY, store.STATES, store.MACHINE, store.RECORD, store.MARKOV)


def _is_run(place: Path) -> bool:
    """Return whether a directory is of a run whose files are its own."""
    links = any(stat.S_ISLNK(found.st_mode) for name in _FILES if (found := _stat(place / name)) is not None)
    return _own_file(place / store.SPEC) and not links


def _stat(path: Path) -> os.stat_result | None:
    """Return what the system says of a file, or of a link itself; None where there is none."""
    try:
        return os.lstat(path)
    except (OSError, ValueError):
        return None


def _own_file(path: Path) -> bool:
    found = _stat(path)
    return found is not None and stat.S_ISREG(found.st_mode)


def _modification_time(path: Path) -> float:
    found = _stat(path)
    return time.time() if found is None else found.st_mtime


def _stamp(path: Path) -> int:
    found = _stat(path)
    return 0 if found is None else found.st_mtime_ns


#: The most that is read of a curve, and at once; lines longer than a piece are no rows.
MOST_BYTES, PIECE = 256_000_000, 8_000_000
MOST_COLUMNS = 1000


class GrowingCurve:
    """Reads whole lines as they come; a file that was written anew is read anew.

    Parameters
    ----------
    path : Path
        The file, which need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: dict[str, array[float]] = {}
        self._offset, self._inode = 0, -1
        self._table: npt.NDArray[Any] | None = None

    def look(self) -> bool:
        """Read what is new; return whether anything was."""
        try:
            return self._look()
        except TacitError:
            return False  # not there yet, or just being replaced

    def _look(self) -> bool:
        with files.open_regular(self._path) as (stream, size):
            inode = os.fstat(stream.fileno()).st_ino
            if inode != self._inode or size < self._offset:  # it was replaced: a run that resumes does so
                self._inode, self._offset, self._columns, self._table = inode, 0, {}, None
            before = self._offset
            while self._offset < min(size, MOST_BYTES):
                stream.seek(self._offset)
                piece = stream.read(min(PIECE, size - self._offset))
                whole = piece.rfind(b"\n") + 1
                if not whole:
                    break
                self._take(piece[:whole])
                self._offset += whole
        return self._offset > before

    def _take(self, lines: bytes) -> None:
        for line in lines.splitlines():
            row = _row(line)
            if row is None:
                continue
            if not self._columns:
                self._columns = {name: array("d") for name in row}
            elif list(row) != list(self._columns) or row["episode"] <= self._columns["episode"][-1]:
                continue
            for name, value in row.items():
                self._columns[name].append(value)
            self._table = None

    @property
    def curve(self) -> npt.NDArray[Any] | None:
        """The rows so far as a structured array; None where there is none."""
        if self._table is None and self._columns:
            kinds = [(name, "i8" if name == "episode" else "f8") for name in self._columns]
            self._table = np.empty(len(self._columns["episode"]), dtype=kinds)
            for name, column in self._columns.items():
                self._table[name] = np.array(column)
        return self._table


def _row(line: bytes) -> dict[str, float] | None:
    """Return a line as a row of numbers, or nothing where it is none."""
    try:
        row = store.read_row(line)
    except TacitError:
        return None
    row.pop(ENDED, None)
    named = len(row) <= MOST_COLUMNS and all(row)  # NumPy would give another name to one without
    whole = 1 <= row["episode"] <= 2**53 and math.isfinite(row["reward"])  # false for what is not a number
    return row if named and whole else None
