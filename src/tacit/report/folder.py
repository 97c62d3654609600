"""The runs in a directory, finished or going on; read-only, and nothing outside of it is read.

Directories of runs are looked for in the directory itself and one below, so that `results/` may hold several
experiments. Symbolic links are not followed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from tacit.core import files
from tacit.core.errors import TacitError, sentence
from tacit.experiments import Outcome, RunSpec, store

#: The most runs that are shown, and entries of a directory that are looked at.
MOST_RUNS, MOST_ENTRIES = 2000, 100_000

#: Bytes of a curve that are looked at: of a longer one, evenly spaced rows; of one that still grows, the first.
MOST_CURVE = 16_000_000

#: Seconds since the last row within which a run without a summary counts as going on.
FRESH = 60.0


@dataclass
class StoredRun:
    """A run's directory as it was read.

    Attributes
    ----------
    name : str
        Its path within the directory that is shown.
    curve : structured array or None
        The rows so far.
    updated : float
        When its files changed last, in seconds since the epoch.
    outcome : Outcome or None
        Of a finished run.
    """

    name: str
    place: Path
    spec: RunSpec
    versions: store.Versions
    curve: npt.NDArray[Any] | None
    updated: float
    outcome: Outcome | None = None

    @property
    def status(self) -> str:
        """One of finished, running and unfinished."""
        if self.outcome is not None:
            return "finished"
        return "running" if time.time() - self.updated < FRESH else "unfinished"


#: When the files of a run changed last, and their sizes.
Stamps = tuple[tuple[int, int], ...]


class Folder:
    """Looks at a directory, as often as wanted.

    Parameters
    ----------
    place : Path
        A directory of runs, of directories of runs, or a run.

    Attributes
    ----------
    runs : dict of StoredRun, by name
    problems : dict of str, by name
        What could not be read, in a sentence each.
    """

    def __init__(self, place: Path) -> None:
        store.check_directory(place)
        self.place = place
        self.runs: dict[str, StoredRun] = {}
        self.problems: dict[str, str] = {}
        self._state: dict[str, tuple[Stamps | None, str]] = {}

    def look(self) -> bool:
        """Read the runs that have changed; return whether any has."""
        places = dict(self._directories())
        stamps = {name: _stamps(place) for name, place in places.items()}
        for name, place in places.items():
            if stamps[name] == self._state.get(name, (None, ""))[0]:
                continue
            self.runs.pop(name, None)
            self.problems.pop(name, None)
            try:
                self.runs[name] = _read(name, place)
            except (TacitError, OSError, RecursionError, MemoryError) as error:
                self.problems[name] = sentence(error)
        self.runs = {name: self.runs[name] for name in places if name in self.runs}
        self.problems = {name: self.problems[name] for name in places if name in self.problems}
        before = self._state
        self._state = {name: (stamps[name], self.runs[name].status if name in self.runs else "") for name in places}
        return self._state != before

    def _directories(self) -> Iterator[tuple[str, Path]]:
        """Yield the names and places of runs, in the order of their names."""
        if _is_run(self.place):
            yield ".", self.place
            return
        count = 0
        for name, place in _below(self.place):
            inside = [(name, place)] if _is_run(place) else [(f"{name}/{run}", path) for run, path in _below(place)]
            for full, path in inside:
                if _is_run(path) and count < MOST_RUNS:
                    count += 1
                    yield full, path


def _read(name: str, place: Path) -> StoredRun:
    stored = store.load_spec(place)
    updated = max(stamp for stamp, _ in _stamps(place)) / 1e9
    outcome = store.load(place, most=MOST_CURVE) if store.is_finished(place) else None
    curve = _growing_curve(place / store.CURVE) if outcome is None else outcome.curve
    return StoredRun(name, place, stored.run, stored.versions, curve, updated, outcome)


def _growing_curve(path: Path) -> npt.NDArray[Any] | None:
    """Return the whole lines of a curve; None where there is none yet."""
    if not path.exists():
        return None
    with files.open_regular(path) as (stream, size):
        content = stream.read(min(size, MOST_CURVE))
    content = content[: content.rfind(b"\n") + 1]
    return store.read_curve(content) if content else None


def _below(place: Path) -> list[tuple[str, Path]]:
    """Return the directories in a directory, in the order of their names; no links, none that is hidden."""
    names = []
    try:
        with os.scandir(place) as entries:
            for entry, _ in zip(entries, range(MOST_ENTRIES), strict=False):
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
    except OSError:
        return []
    return [(name, place / name) for name in sorted(names)]


_FILES = (store.SPEC, store.SUMMARY, store.CURVE, store.POLICY, store.STATES, store.MACHINE, store.RECORD, store.MARKOV)


def _is_run(place: Path) -> bool:
    """Return whether a directory is that of a run, and none of its files a link."""
    return os.path.isfile(place / store.SPEC) and not any(os.path.islink(place / name) for name in _FILES)


def _stamps(place: Path) -> Stamps:
    """Return when the files of a run changed last, and their sizes."""
    stamps = []
    for name in (store.SPEC, store.CURVE, store.SUMMARY):
        try:
            status = os.lstat(place / name)
            stamps.append((status.st_mtime_ns, status.st_size))
        except OSError:
            stamps.append((0, 0))
    return tuple(stamps)
