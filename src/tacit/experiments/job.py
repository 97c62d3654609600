"""A job: one run as a pure function of its specification, on whatever machine it happens to be."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Any

from tacit.core.errors import TacitError
from tacit.engine import Event, Finished, Noted, Run, Started, Watcher
from tacit.engine.checkpoint import Checkpoint
from tacit.environments.pettingzoo import NamedEnvironment
from tacit.experiments import files, store
from tacit.experiments.curve_file import CurveFile
from tacit.experiments.outcome import Outcome, outcome
from tacit.experiments.plan import RunSpec, same_game
from tacit.games.exact import ExactGame
from tacit.learning import Options, run_learner


def task(root: Path | None, every: float, spec: RunSpec, watch: Watcher | None) -> Outcome | None:
    """Run a specification in its own directory below `root`, as `run_job` does."""
    return run_job(spec, None if root is None else root / spec.directory, watch, every=every)


def run_job(
    spec: RunSpec, directory: Path | None = None, watch: Watcher | None = None, *, every: float = 30.0
) -> Outcome | None:
    """Run a specification; with a directory, resume from its checkpoint and store the result.

    Returns None where another process holds the directory, and the outcome of before where the run is finished.
    """
    if directory is None:
        return _learned(spec, watch)[1]
    files.directory(directory)
    with files.locked(directory) as held:
        if not held:
            return None
        found = stored(directory, spec)
        if found is None:
            found = _kept(spec, directory, watch, every)
    return found


def stored(directory: Path, spec: RunSpec) -> Outcome | None:
    """Return the outcome of a run that is finished already; what is damaged raises."""
    if not store.finished(directory):
        return None
    found = store.load(directory)
    if found.spec.hash != spec.hash:
        raise TacitError(f"{directory} holds another run than its name says; remove it to have it run again")
    tidy(directory)  # what a kill right after the end has left behind
    return found


def tidy(directory: Path) -> None:
    """Remove what a finished run no longer needs."""
    for left in (store.CHECKPOINT, files.LOCK):
        with contextlib.suppress(OSError):  # some systems do not remove a file that is open
            (directory / left).unlink(missing_ok=True)


def _kept(spec: RunSpec, directory: Path, watch: Watcher | None, every: float) -> Outcome:
    """Run in a directory that is held, and store the result unless it was interrupted."""
    store.begin(directory, spec)
    curve = CurveFile(directory / store.CURVE)

    def both(event: Event) -> None:
        curve(event)
        if watch is not None:
            watch(event)

    def note(text: str) -> None:
        both(Noted(text))

    try:
        checkpoint = Checkpoint(directory / store.CHECKPOINT, key=spec.hash, every=every, note=note)
        run, found = _learned(spec, both, checkpoint)
    finally:
        curve.close()
    if not run.interrupted:
        store.finish(directory, found, run)
        tidy(directory)
    return found


def _learned(spec: RunSpec, watch: Watcher | None, checkpoint: Checkpoint | None = None) -> tuple[Run, Outcome]:
    """Run, and time it from after compilation to its end."""
    times = {"began": 0.0, "ended": 0.0, "before": 0.0}

    def timed(event: Event) -> None:
        if isinstance(event, Started):
            times.update(began=time.perf_counter(), before=event.done)
        elif isinstance(event, Finished):
            times.update(ended=time.perf_counter())
        if watch is not None:
            watch(event)

    options = Options(spec.episodes, spec.seed, spec.certify, spec.keep, spec.points)
    given: dict[str, Any] = {"watch": timed, "checkpoint": checkpoint}
    with contextlib.ExitStack() as stack:
        game: Any = _game(spec)
        if isinstance(game, NamedEnvironment):  # each run has its own
            given |= {**game.bounds, "checkpoint": None}
            game = stack.enter_context(game.made())
        run = run_learner(game, spec.learner.name, spec.learner.params, options, **given)
    learned = run.episodes - int(times["before"])
    return run, outcome(spec, run, learned=learned, span=(times["began"], times["ended"]))


#: Games of the runs of this process, by what they are: runs of the same game share it.
_GAMES: dict[str, ExactGame | NamedEnvironment] = {}


def forget_games() -> None:
    """Make games anew from here on: a file of the same tables may have other names and notes by now."""
    _GAMES.clear()


def _game(spec: RunSpec) -> ExactGame | NamedEnvironment:
    key = f"{spec.tables} {spec.game}"
    if key not in _GAMES:
        if len(_GAMES) >= 8:
            _GAMES.clear()
        _GAMES[key] = same_game(spec)
    return _GAMES[key]
