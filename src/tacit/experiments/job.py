"""A job: one run as a pure function of its specification, on whatever machine it happens to be.

Learners and bandits that the started script itself defines do not travel to Ray, or to a Dask cluster that runs
already: worker processes of this machine import that script again, as Python's own pools do, those do not. A game that
it registers is sent as tables.
"""

from __future__ import annotations

import contextlib
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit import bandits, games, learners
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.engine import Event, Noted, Started, Watcher
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.events import Advanced, to_all
from tacit.environments.pettingzoo import NO_TABLES, NamedEnvironment
from tacit.experiments import store
from tacit.experiments.backends import Where
from tacit.experiments.results import Outcome, outcome
from tacit.experiments.spec import RunSpec, same_game
from tacit.games.exact import ExactGame
from tacit.learning import run_learner


@dataclass(frozen=True)
class Order:
    """A run as it is sent to a worker.

    Attributes
    ----------
    spec : RunSpec
    directory : path, optional
        Where the run is kept; a worker that sees it, because the disk is shared, keeps the checkpoint there.
    every : float
        Seconds between two checkpoints.
    tables : bytes, optional
        The game, where the worker has said that it needs it.
    """

    spec: RunSpec
    directory: Path | None = None
    every: float = 30.0
    tables: bytes | None = None


@dataclass(frozen=True)
class Delivery:
    """What a worker sends back: the numbers, and other files of the run."""

    outcome: Outcome
    others: dict[str, bytes]


@dataclass(frozen=True)
class Wanted:
    """The worker does not have the game's file, or does not know its name: send its tables."""


def run_job(
    spec: RunSpec, directory: Path | None = None, watch: Watcher | None = None, *, every: float = 30.0
) -> Outcome | None:
    """Run a specification; with a directory, resume from its checkpoint and store the result.

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
        return learn_order(Order(spec), watch).outcome
    with store.RunDirectory(directory, spec) as kept:
        if not kept.hold():
            return None
        found = kept.begin()
        if found is None:
            both = to_all(kept.event, watch)
            delivery = learn_order(Order(spec, directory, every), both)
            found = kept.store(delivery.outcome, delivery.others)
        return found


def work(order: Order, watch: Watcher | None) -> Delivery | Wanted:
    """Run an order wherever this is; say so where its game is not known here."""
    try:
        _have(order.spec, order.tables)
    except TacitError:
        name = order.spec.game.name
        if order.tables is not None or not (games.is_file(name) or _unknown(name)):
            raise
        return Wanted()
    return learn_order(order, watch)


#: Seconds between two checkpoints of an environment, which may hang: whoever then gives up loses no more than these.
HANGS = 3.0


def learn_order(order: Order, watch: Watcher | None) -> Delivery:
    """Let the agents of an order learn, timed from its first to its last episode; return all that is stored."""
    spec = order.spec
    times = {"began": 0.0, "ended": 0.0, "before": 0.0}

    def report(event: Event) -> None:
        match event:
            case Started(done=done):
                times.update(began=time.time(), before=done)
            case Advanced():  # what follows the last is evaluation, and may be compiled first
                times.update(ended=time.time())
        if watch is not None:
            watch(event)

    given: dict[str, Any] = {"watch": report}
    if order.directory is not None and order.directory.is_dir():
        place = order.directory / store.CHECKPOINT
        every = min(order.every, HANGS) if spec.tables.startswith(NO_TABLES) else order.every
        given["checkpoint"] = Checkpoint(place, key=spec.hash, every=every, note=lambda text: report(Noted(text)))
    with contextlib.ExitStack() as stack:
        game: Any = _game(spec)
        if isinstance(game, NamedEnvironment):  # each run has its own
            given |= game.bounds
            game = stack.enter_context(game.enter())
        run = run_learner(game, spec.learner.name, spec.learner.params, spec.options, **given)
    run.raise_error()  # what was done up to the last checkpoint is kept
    learned = run.episodes - int(times["before"])
    found = outcome(spec, run, learned=learned, span=(times["began"], times["ended"]))
    return Delivery(found, {} if run.interrupted else store.others(run, spec))


def pack_game(spec: RunSpec) -> bytes:
    """Return the game of a run for a worker that does not have its file."""
    return pickle.dumps(_game(spec))


#: Games of the runs of this process, by what they are: runs of the same game share it.
_GAMES: dict[str, ExactGame | NamedEnvironment] = {}
_HELD = 16


def forget_games() -> None:
    """Make games anew from here on: a file of the same tables may have other names and notes by now."""
    _GAMES.clear()


def _game(spec: RunSpec) -> ExactGame | NamedEnvironment:
    key = f"{spec.tables} {spec.game}"
    return _GAMES.get(key) or _remember(key, same_game(spec))


def _have(spec: RunSpec, tables: bytes | None) -> None:
    """Make the game of a run, or take the one that was sent along."""
    key = f"{spec.tables} {spec.game}"
    if tables is None or key in _GAMES:
        _game(spec)
        return
    sent = pickle.loads(tables)
    if getattr(sent, "digest", None) != spec.tables:
        raise TacitError(f"the game {spec.game.name} is not what it was when the run was made")
    _remember(key, sent)


def _unknown(name: str) -> bool:
    """Say whether a game was registered by the script that was started, which workers elsewhere do not import."""
    return games.is_registered(name) and name not in games.REGISTRY


def _remember(key: str, game: ExactGame | NamedEnvironment) -> ExactGame | NamedEnvironment:
    while len(_GAMES) >= _HELD:
        with contextlib.suppress(KeyError, RuntimeError):  # of another thread
            del _GAMES[next(iter(_GAMES))]
    _GAMES[key] = game
    return game


_MAIN = "__main__"


def refuse_unavailable(runs: Sequence[RunSpec], where: Where) -> None:
    """Raise if a run needs something that workers of a backend cannot have."""
    if where.kind != "ray" and not (where.kind == "dask" and where.address):
        return
    needed = {(spec.game.name, spec.learner.name, spec.learner.params.get("bandit")): spec for spec in runs}
    for (game, learner, bandit), spec in needed.items():
        for registry, name in ((learners.REGISTRY, learner), (bandits.REGISTRY, bandit), (games.REGISTRY, game)):
            if _of_main(registry, name) and not (registry is games.REGISTRY and _travels(spec)):
                raise TacitError(
                    f"the {registry.kind} {name!r} is defined in the script that was started, which workers of a "
                    f"cluster do not import; put it in a file of its own and name that file: --import FILE, or "
                    f"scripts= of the Experiment"
                )


def _of_main(registry: Registry[Any], name: object) -> bool:
    known = isinstance(name, str) and name in list(registry)
    return known and getattr(registry.factory(str(name)), "__module__", "") == _MAIN


def _travels(spec: RunSpec) -> bool:
    """Say whether a game can be sent: tables can, functions of the script cannot."""
    if not spec.has_tables:
        return False
    try:
        return _MAIN.encode() not in pack_game(spec)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
