"""A job: one run as a pure function of its specification, on whatever machine it happens to be."""

from __future__ import annotations

import contextlib
import pickle
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit import games
from tacit.core.errors import TacitError
from tacit.engine import Event, Finished, Noted, Run, Started, Watcher
from tacit.engine.checkpoint import Checkpoint
from tacit.environments.pettingzoo import NamedEnvironment
from tacit.experiments import store
from tacit.experiments.keeping import Keeping, stored
from tacit.experiments.outcome import Outcome, outcome
from tacit.experiments.plan import RunSpec, same_game
from tacit.games.exact import ExactGame, is_exact
from tacit.learning import run_learner


@dataclass(frozen=True)
class Order:
    """A run as it is sent to a worker; with the tables of its game where the worker has said that it needs them."""

    spec: RunSpec
    tables: bytes | None = None


@dataclass(frozen=True)
class Delivery:
    """What a worker sends back: the numbers, and other files of the run."""

    outcome: Outcome
    others: dict[str, bytes]


@dataclass(frozen=True)
class Wanted:
    """The worker does not have the game's file, or does not know its name: send its tables."""


def work(root: Path | None, every: float, order: Order, watch: Watcher | None) -> Delivery | Wanted:
    """Run a specification, and return all that is to be stored of it.

    `root` is where results go; where its directory of this run is seen, because the disk is shared, the run keeps its
    checkpoint there.
    """
    spec = order.spec
    try:
        _have(spec, order.tables)
    except TacitError:
        if order.tables is not None or not (games.is_file(spec.game.name) or _unknown(spec.game.name)):
            raise
        return Wanted()
    checkpoint = None
    if root is not None and (root / spec.directory).is_dir():
        place = root / spec.directory / store.CHECKPOINT
        checkpoint = Checkpoint(place, key=spec.hash, every=every, note=_noting(watch))
    run, found = _learned(spec, watch, checkpoint)
    return Delivery(found, {} if run.interrupted else store.others(run, spec))


def packed_game(spec: RunSpec) -> bytes:
    """Return the game of a run for a worker that does not have its file."""
    return pickle.dumps(_game(spec))


def task(root: Path | None, every: float, spec: RunSpec, watch: Watcher | None) -> Outcome | None:
    """Run a specification in its own directory below `root`, as `run_job` does."""
    return run_job(spec, None if root is None else root / spec.directory, watch, every=every)


def run_job(
    spec: RunSpec, directory: Path | None = None, watch: Watcher | None = None, *, every: float = 30.0
) -> Outcome | None:
    """Run a specification; with a directory, resume from its checkpoint and store the result.

    Returns None where another process holds the directory, and the outcome of before where the run is finished.

    Parameters
    ----------
    spec : RunSpec
    directory : path, optional
    watch : callable, optional
        Called with every event of the run.
    every : float
        Seconds between two checkpoints.

    Returns
    -------
    Outcome or None
        None where another process holds the directory; the outcome of before where the run is finished.

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_job
    >>> [one] = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run().outcomes
    >>> run_job(one.spec).value == one.value
    True
    """
    if directory is None:
        return _learned(spec, watch)[1]
    keeping = Keeping(directory, spec)
    try:
        if not keeping.hold():
            return None
        found = stored(directory, spec)
        if found is None:
            found = _kept(spec, directory, keeping, watch, every)
        return found
    finally:
        keeping.release()


def _kept(spec: RunSpec, directory: Path, keeping: Keeping, watch: Watcher | None, every: float) -> Outcome:
    """Run in a directory that is held, and store the result unless it was interrupted."""
    keeping.begin()

    def both(event: Event) -> None:
        keeping.event(event)
        if watch is not None:
            watch(event)

    checkpoint = Checkpoint(directory / store.CHECKPOINT, key=spec.hash, every=every, note=_noting(both))
    run, found = _learned(spec, both, checkpoint)
    keeping.store(found, {} if run.interrupted else store.others(run, spec))
    return found


def _noting(watch: Watcher | None) -> Any:
    def note(text: str) -> None:
        if watch is not None:
            watch(Noted(text))

    return note


def _learned(spec: RunSpec, watch: Watcher | None, checkpoint: Checkpoint | None = None) -> tuple[Run, Outcome]:
    """Run, and time it from after compilation to its end."""
    times = {"began": 0.0, "ended": 0.0, "before": 0.0}

    def timed(event: Event) -> None:
        if isinstance(event, Started):
            times.update(began=time.time(), before=event.done)
        elif isinstance(event, Finished):
            times.update(ended=time.time())
        if watch is not None:
            watch(event)

    given: dict[str, Any] = {"watch": timed, "checkpoint": checkpoint}
    with contextlib.ExitStack() as stack:
        game: Any = _game(spec)
        if isinstance(game, NamedEnvironment):  # each run has its own
            given |= game.bounds
            game = stack.enter_context(game.made())
        run = run_learner(game, spec.learner.name, spec.learner.params, spec.options, **given)
    run.raise_error()  # what was done up to the last checkpoint is kept
    learned = run.episodes - int(times["before"])
    return run, outcome(spec, run, learned=learned, span=(times["began"], times["ended"]))


#: Games of the runs of this process, by what they are: runs of the same game share it.
_GAMES: dict[str, ExactGame | NamedEnvironment] = {}
_HELD = 16


def forget_games() -> None:
    """Make games anew from here on: a file of the same tables may have other names and notes by now."""
    _GAMES.clear()


def _game(spec: RunSpec) -> ExactGame | NamedEnvironment:
    key = f"{spec.tables} {spec.game}"
    return _GAMES.get(key) or _remembered(key, same_game(spec))


def _have(spec: RunSpec, tables: bytes | None) -> None:
    """Make the game of a run, or take the one that was sent along."""
    key = f"{spec.tables} {spec.game}"
    if tables is None or key in _GAMES:
        _game(spec)
        return
    sent = pickle.loads(tables)
    if not is_exact(sent) or sent.digest != spec.tables:
        raise TacitError(f"the game {spec.game.name} is not what it was when the run was made")
    _remembered(key, sent)


def _unknown(name: str) -> bool:
    """Say whether a game was registered by the script that was started, which workers elsewhere do not import."""
    return games.is_registered(name) and name not in games.REGISTRY


def _remembered(key: str, game: ExactGame | NamedEnvironment) -> ExactGame | NamedEnvironment:
    while len(_GAMES) >= _HELD:
        with contextlib.suppress(KeyError, RuntimeError):  # of another thread
            del _GAMES[next(iter(_GAMES))]
    _GAMES[key] = game
    return game
