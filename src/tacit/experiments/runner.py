"""THE runner: every run of an experiment on threads, stored and resumed where there is a directory for it."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit.core import archive
from tacit.core.errors import TacitError
from tacit.experiments import files, store
from tacit.experiments.outcome import Outcome, outcome
from tacit.experiments.plan import Cell, RunSpec, plan
from tacit.experiments.pool import Note, together
from tacit.experiments.spec import Experiment
from tacit.play import Run, learn
from tacit.play.checkpoint import Checkpoint
from tacit.play.pettingzoo import NamedEnvironment

#: Called with (runs done, episodes done in all, episodes in all).
Progress = Callable[[int, int, int], None]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class CellResult:
    """The outcomes of one game with one learner, in the order of the seeds; interrupted, those that had begun."""

    cell: Cell
    outcomes: list[Outcome]


@dataclass(frozen=True)
class Results:
    """All cells of an experiment."""

    cells: list[CellResult]
    interrupted: bool


def run_experiment(
    experiment: Experiment,
    *,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    every: float = 30.0,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Results:
    """Run every game with every learner and every seed.

    Parameters
    ----------
    experiment : Experiment
    out : path, optional
        Where results go. Runs that are finished there are read instead of run, those that were killed or interrupted
        go on from where they were.
    workers : int, optional
        Threads; the number of cores if not given.
    every : float
        Seconds between two checkpoints of a run.
    progress : callable, optional
        Called with (runs done, episodes done in all, episodes in all).
    tell : callable, optional
        Told in one sentence about a checkpoint that could not be used.

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> small = Experiment("small", 100, (GameSpec("chicken"),), (LearnerSpec("stage-v-cce"),), seeds=2)
    >>> [one.episodes for one in run_experiment(small).cells[0].outcomes]
    [100, 100]
    """
    cells = plan(experiment, keep=out is not None)
    root = None if out is None else archive.path(out)
    if root is not None:
        files.directory(root)
    stored = {spec.hash: found for cell in cells for spec in cell.runs if (found := _stored(root, cell, spec))}
    todo = [(cell, spec) for cell in cells for spec in cell.runs if spec.hash not in stored]
    for cell in cells:
        first = next((spec for spec in cell.runs if spec.hash not in stored), None)
        if first is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                _learn(cell, replace(first, episodes=1))  # compile before any thread
    total = sum(spec.episodes for cell in cells for spec in cell.runs)
    ready = sum(one.spec.episodes for one in stored.values())

    def watch(done: int, episodes: int) -> None:
        if progress is not None:
            progress(len(stored) + done, ready + episodes, total)

    def task(cell: Cell, spec: RunSpec) -> Callable[[Note], Outcome]:
        return lambda note: _run(cell, spec, root, every, note, tell)

    fresh, interrupted = together([task(*one) for one in todo], workers=workers, watch=watch)
    known = stored | {one.spec.hash: one for one in fresh}
    done = [CellResult(cell, [known[spec.hash] for spec in cell.runs if spec.hash in known]) for cell in cells]
    return Results([one for one in done if one.outcomes], interrupted)


def _stored(root: Path | None, cell: Cell, spec: RunSpec) -> Outcome | None:
    """Return a run that is finished already, under the name it has now; what is damaged raises."""
    if root is None or (found := _found(root / spec.directory, spec)) is None:
        return None
    _tidy(root / spec.directory)  # what a kill right after the end has left behind
    if found.label != cell.label:
        store.begin(root / spec.directory, spec, cell.label)
    return replace(found, label=cell.label)


def _found(place: Path, spec: RunSpec) -> Outcome | None:
    if not store.finished(place):
        return None
    found = store.load(place)
    if found.spec.hash != spec.hash:
        raise TacitError(f"{place} holds another run than its name says; remove the directory to have it run again")
    return found


def _run(cell: Cell, spec: RunSpec, root: Path | None, every: float, note: Note, tell: Tell | None) -> Outcome:
    """Run one seed; with a directory, go on from its checkpoint and store the result."""
    if root is None:
        return _timed(cell, spec, note, None)[1]
    place = root / spec.directory
    files.directory(place)
    with files.locked(place):
        one = _found(place, spec)  # by another process, in the meantime
        if one is None:
            store.begin(place, spec, cell.label)
            options: dict[str, Any] = {} if tell is None else {"tell": tell}
            checkpoint = Checkpoint(place / store.CHECKPOINT, key=spec.hash, every=every, **options)
            run, one = _timed(cell, spec, note, checkpoint)
            if run.interrupted:
                return one
            store.finish(place, one, run)
        _tidy(place)
        return one


def _tidy(place: Path) -> None:
    """Remove what a finished run no longer needs."""
    for left in (store.CHECKPOINT, files.LOCK):
        with contextlib.suppress(OSError):  # some systems do not remove a file that is open
            (place / left).unlink(missing_ok=True)


def _timed(cell: Cell, spec: RunSpec, note: Note, checkpoint: Checkpoint | None) -> tuple[Run, Outcome]:
    began = time.perf_counter()
    run = _learn(cell, spec, progress=lambda done, _: note(done), checkpoint=checkpoint)
    span = (began, time.perf_counter())
    before = 0 if checkpoint is None else checkpoint.resumed
    return run, outcome(spec, cell.label, run, learned=run.episodes - before, span=span)


def _learn(cell: Cell, spec: RunSpec, **options: Any) -> Run:
    if isinstance(cell.game, NamedEnvironment):  # each run has its own; it cannot be stored on the way
        with cell.game.made() as env:
            return _learned(env, spec, **{**options, **cell.game.frame, "checkpoint": None})
    return _learned(cell.game, spec, **options)


def _learned(game: Any, spec: RunSpec, **options: Any) -> Run:
    return learn(
        game,
        spec.learner.name,
        episodes=spec.episodes,
        seed=spec.seed,
        points=spec.points,
        certify=spec.certify,
        keep=spec.keep,
        **options,
        **spec.learner.params,
    )
