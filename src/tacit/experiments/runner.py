"""THE runner: every run of an experiment as a job, stored and resumed where there is a directory for it.

A job is one run as a pure function of its specification, on whatever machine it happens to be. Learners and bandits
that the started script itself defines do not travel to Ray, or to a Dask cluster that runs already: worker processes of
this machine import that script again, as Python's own pools do, those do not. A game that it registers is sent as
tables.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tacit import bandits, games, learners
from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.core.registry import Registry
from tacit.engine import Event, Noted, Run, Started, Watcher
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.events import Advanced, to_all
from tacit.environments.engine import CutShort
from tacit.environments.pettingzoo import NamedEnvironment
from tacit.experiments import backends, scripts, store
from tacit.experiments.backends import Where
from tacit.experiments.dispatch import Failure, JobHandler, dispatch, run_all
from tacit.experiments.progress import Progress, ProgressWatch
from tacit.experiments.results import FailedRun, Outcome, Results, outcome
from tacit.experiments.spec import Experiment, RunSpec, plan, same_game
from tacit.games.exact import ExactGame
from tacit.learning import run_learner
from tacit.options import FIELDS, Options

#: Seconds before a run that another process holds is looked at again.
_PATIENCE = 0.5


def run_experiment(
    experiment: Experiment,
    *,
    out: str | os.PathLike[str] | None = None,
    on: str | Executor | None = None,
    workers: int | None = None,
    every: float = 30.0,
    progress: Callable[[Progress], None] | None = None,
    note: Callable[[str], None] | None = None,
    timeout: float | None = None,
    shard: str | None = None,
) -> Results:
    """Run every game with every learner and every seed.

    Parameters
    ----------
    experiment : Experiment
    out : path, optional
        Where results go. Runs that are finished there are read instead of run, those that were killed or interrupted
        are resumed, and those that failed are tried again.
    on : str or Executor, optional
        Where runs take place: "threads", "processes", "ray" or "dask", each with a number of workers or an address
        after a colon (see `run_all`), or any `concurrent.futures.Executor`. By default on threads, and in processes
        where a game is an environment, which threads cannot play side by side. Results are the same everywhere.
    workers : int, optional
        Runs at once; the number of cores, or what the cluster has, if not given.
    every : float
        Seconds between two checkpoints of a run.
    progress : callable, optional
        Called with a `Progress` now and then.
    note : callable, optional
        Called with sentences that people should know while runs take place.
    timeout : float, optional
        Seconds that a run may take; one that takes longer is ended and counts as failed. A thread cannot be ended, and
        is left alone.
    shard : str, optional
        "i/n" runs the i-th of n shares, for job arrays without an engine: each share in a process of its own, all with
        the same `out`, or each with its own to be copied together.

    Returns
    -------
    Results

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment
    >>> small = Experiment("small", 100, (GameSpec("chicken"),), (LearnerSpec("stage-v-cce"),), seeds=2)
    >>> [one.episodes for one in run_experiment(small).outcomes]
    [100, 100]
    """
    scripts.require(experiment.name, experiment.scripts)
    forget_games()
    if timeout is not None:
        check.positive("timeout", timeout)
    runs = plan(experiment, keep=out is not None)
    if shard is not None:
        runs = take_shard(shard, runs)
    where = on or ("processes" if any(not spec.has_tables for spec in runs) else "threads")
    backend = backends.parse(where, workers)
    refuse_unavailable(runs, backend)
    root = None if out is None else files.path(out).absolute()
    if root is not None:
        store.make_directory(root)
    handler = ExperimentHandler(_probes_first(runs), root, progress, note, every=every)
    opened = partial(backend.open, scripts.WorkerSetup.pack(experiment.scripts))
    interrupted = False
    while not interrupted and handler.find_work():
        interrupted = dispatch(opened, work, handler, timeout=timeout).interrupted or not handler.wait_for_others()
    return handler.results(runs, interrupted)


def _probes_first(runs: Sequence[RunSpec]) -> list[RunSpec]:
    """Put the first run of each game with each learner before all others, so that the time left is soon known."""
    first = {_kind(spec): spec for spec in reversed(runs)}
    probes = {spec.hash for spec in first.values()}
    return [spec for spec in runs if spec.hash in probes] + [spec for spec in runs if spec.hash not in probes]


def _kind(spec: RunSpec) -> str:
    """Name a game with a learner: what runs that differ in their seeds have in common."""
    return f"{spec.tables} {spec.game} {spec.learner} {spec.episodes}"


class AllFailed(TacitError):
    """All runs raised the same, so whatever is wrong is wrong with the input."""

    def __init__(self, failures: Sequence[FailedRun]) -> None:
        which = f"all {len(failures)} runs failed: " if len(failures) > 1 else ""
        super().__init__(f"{which}{failures[0].sentence}")
        self.failures = failures


class ExperimentHandler(JobHandler):
    """Runs of an experiment, what has become of each, and where they are kept if anywhere."""

    def __init__(
        self,
        specs: Sequence[RunSpec],
        root: Path | None,
        progress: Callable[[Progress], None] | None,
        note: Callable[[str], None] | None,
        *,
        every: float,
    ) -> None:
        super().__init__([Order(spec, None if root is None else root / spec.directory, every) for spec in specs])
        self._progress = ProgressWatch([(_kind(spec), spec.options) for spec in specs], progress, note)
        self._kept: dict[int, store.RunDirectory] = {}
        self._noted: set[int] = set()
        self._tables: dict[str, bytes] = {}
        self._found: dict[int, Outcome] = {}
        self._failed: dict[int, Failure] = {}

    def _todo(self) -> list[int]:
        """Return the runs that have neither ended nor failed."""
        return [k for k in range(len(self.items)) if k not in self._found and k not in self._failed]

    def find_work(self) -> bool:
        """Take what is stored already, under the names that runs have now, and return whether anything is left."""
        for k in self._todo():
            spec, place = self.items[k].spec, self.items[k].directory
            one = None if place is None else store.read_stored(place, spec)
            if one is None:
                continue
            if spec.place is None:  # run again on its own, it keeps its place among others
                spec = replace(spec, place=one.spec.place)
            if one.spec != spec:  # only labels and the place can differ
                store.begin(place, spec)
            self._found[k] = replace(one, spec=spec)
            self._progress.end(k, True)
            for text in one.notes:
                self._progress.note(text)
        return bool(self._todo())

    def wait_for_others(self) -> bool:
        """Wait until another process has finished a run or let go of it; return False if Ctrl-C comes first."""
        places = [place for k in self._todo() if (place := self.items[k].directory) is not None]
        if places:
            what = "a run" if len(places) == 1 else f"{len(places)} runs"
            self._progress.note(f"another process computes {what} of these, and is waited for: {places[0]}")
        try:
            while places and all(not store.is_finished(place) and store.is_held(place) for place in places):
                time.sleep(_PATIENCE)
        except KeyboardInterrupt:
            return False
        return True

    def results(self, runs: Sequence[RunSpec], interrupted: bool) -> Results:
        """Return what has become of all runs, in the order of `runs`."""
        numbers = {order.spec.hash: k for k, order in enumerate(self.items)}
        order = [numbers[spec.hash] for spec in runs]
        outcomes = [self._found[k] for k in order if k in self._found]
        failures = [FailedRun(self.items[k].spec, self._failed[k].sentence) for k in order if k in self._failed]
        faults = [one for one in self._failed.values() if one.happened]
        if not outcomes and not interrupted and not faults and len({one.sentence for one in failures}) == 1:
            raise AllFailed(failures)
        if interrupted and not outcomes:
            raise KeyboardInterrupt
        return Results(outcomes, failures, interrupted)

    def begin(self, k: int) -> bool:
        """Hold the run's directory, unless another process does or has finished it."""
        order = self.items[k]
        if k in self._found or k in self._failed:
            return False
        if order.directory is not None:
            with contextlib.ExitStack() as stack:  # lets go of it, unless the run is to begin
                kept = stack.enter_context(store.RunDirectory(order.directory, order.spec))
                if not kept.hold() or kept.begin() is not None:
                    return False
                stack.pop_all()
            self._kept[k] = kept
        return True

    def began(self, k: int, where: str) -> None:
        """Tell where it runs."""
        self._progress.began(k, where)

    def event(self, k: int, event: Event) -> None:
        """Write it and pass it on."""
        if k in self._kept:
            self._kept[k].event(event)
        if type(event) is Noted:
            self._noted.add(k)
        self._progress(k, event)

    def lost(self, k: int, where: str) -> None:
        """Tell that it is tried again."""
        self._progress.note(f"the worker {where} died; another takes over its run ({self.items[k].spec.told})")

    def more(self, k: int, result: store.Delivery | None) -> Order | None:
        """Send the tables of the game where they are wanted."""
        if result is not None:
            return None
        spec = self.items[k].spec
        if spec.tables not in self._tables:
            self._tables = {spec.tables: pack_game(spec)}  # one at a time: they may be large
        order: Order = replace(self.items[k], tables=self._tables[spec.tables])
        return order

    def settle(self, k: int, result: store.Delivery) -> Outcome:
        """Store the run."""
        kept = self._kept.get(k)
        return result.outcome if kept is None else kept.store(result)

    def end(self, k: int, result: Outcome | Failure | None) -> None:
        """Let go of the directory, and tell how it ended."""
        with self._kept.pop(k, contextlib.nullcontext()):
            pass
        match result:
            case Failure():
                self._failed[k] = result
                self._progress.end(k, False)
            case Outcome():
                self._found[k] = result
                for text in () if k in self._noted else result.notes:  # nothing came on the way
                    self._progress.note(text)
                if not result.interrupted:
                    self._progress.end(k, True)


T = TypeVar("T")


def take_shard(shard: object, runs: Sequence[T]) -> list[T]:
    """Return the i-th of n shares of some runs, of which `shard` is "i/n", counted from 1.

    Seeds come one after the other, so shares have some of every game.

    >>> take_shard("2/3", ["a", "b", "c", "d", "e"])
    ['b', 'e']
    """
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", shard) if isinstance(shard, str) else None
    if found is None:
        raise TacitError(f"shard is {brief(shard)}; it must be i/n, e.g. 1/8 for the first of eight")
    index, count = int(found[1]), int(found[2])
    if not count:
        raise TacitError(f"shard is {brief(shard)}; there must be at least one share, as in 1/1")
    if not 1 <= index <= count:
        raise TacitError(f"shard is {index}/{count}; it must be from 1/{count} to {count}/{count}")
    return list(runs[index - 1 :: count])


def learn_seeds(
    game: Any, learner: Any, *, seeds: Sequence[int], workers: int | None = None, **given: Any
) -> list[Run]:
    """Learn with each seed, as `tacit.learn` does; Ctrl-C keeps what was done of the runs that had begun.

    Parameters
    ----------
    game, learner
        As for `tacit.learn`.
    seeds : sequence of int
    workers : int, optional
        Runs at once; the number of cores if not given.
    **given
        Options as for `tacit.learn` (episodes, gap, …), and parameters of the learner.

    Returns
    -------
    list of Run

    Examples
    --------
    >>> import tacit
    >>> from tacit.experiments import learn_seeds
    >>> [run.seed for run in learn_seeds(tacit.make("chicken"), "npg", episodes=10, seeds=[3, 5])]
    [3, 5]
    """
    if not len(seeds):
        raise TacitError("seeds is empty; there must be at least one")
    options = {key: given.pop(key) for key in FIELDS if key in given}
    items = [Options(**options, seed=seed) for seed in seeds]
    batch = run_all(partial(_learn, game, learner, given), items, workers=workers)
    for failure in batch.failures.values():
        raise failure.error
    if not batch.done:
        raise KeyboardInterrupt
    return list(batch.done.values())


def _learn(game: Any, learner: Any, params: dict[str, Any], options: Options, watch: Watcher | None) -> Run:
    return run_learner(game, learner, params, options, watch=watch)


# one run --------------------------------------------------------------------------------------------------------------


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
            found = kept.store(learn_order(Order(spec, directory, every), to_all(kept.event, watch)))
        return found


def work(order: Order, watch: Watcher | None) -> store.Delivery | None:
    """Run an order wherever this is; None where its game's file is not here, or its name not known: send the tables."""
    try:
        _have(order.spec, order.tables)
    except TacitError:
        name = order.spec.game.name
        if order.tables is not None or not (games.is_file(name) or _unknown(name)):
            raise
        return None
    return learn_order(order, watch)


#: Seconds between two checkpoints of an environment, which may hang: whoever then gives up loses no more than these.
HANGS = 3.0


def learn_order(order: Order, watch: Watcher | None) -> store.Delivery:
    """Let the agents of an order learn, timed from its first to its last episode; return all that is stored."""
    spec = order.spec
    before, began, ended = 0, 0.0, 0.0

    def report(event: Event) -> None:
        nonlocal before, began, ended
        match event:
            case Started(done=done):
                before, began = done, time.time()
            case Advanced():  # what follows the last is evaluation, and may be compiled first
                ended = time.time()
        if watch is not None:
            watch(event)

    given: dict[str, Any] = {"watch": report}
    if order.directory is not None and order.directory.is_dir():
        place = order.directory / store.CHECKPOINT
        every = order.every if spec.has_tables else min(order.every, HANGS)
        given["checkpoint"] = Checkpoint(place, key=spec.hash, every=every, note=lambda text: report(Noted(text)))
    with contextlib.ExitStack() as stack:
        game: Any = _game(spec)
        if not spec.has_tables:  # each run has its own environment
            given |= game.bounds
            game = stack.enter_context(game.enter())
        run = run_learner(game, spec.learner.name, spec.learner.params, spec.options, **given)
    if not isinstance(run.error, CutShort):
        run.raise_error()  # what was done up to the last checkpoint is kept
    found = outcome(spec, run, learned=run.episodes - before, span=(began, ended))
    return store.Delivery(found, {} if run.interrupted else store.others(run, spec))


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
