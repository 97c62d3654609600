"""The runner: every run of an experiment as a job, stored and resumed where there is a directory for it.

Learners and bandits that the started script itself defines do not travel to a cluster: worker processes of this machine
import that script again, as Python's own pools do, those do not. A game that it registers is sent as tables.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tacit import bandits, games, learners
from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.core.registry import Registry
from tacit.engine import Advanced, Event, Noted, Started
from tacit.engine.events import Compiling, Scouted
from tacit.experiments import backends, scripts, store
from tacit.experiments.backends import Where
from tacit.experiments.dispatch import Failure, JobHandler, dispatch
from tacit.experiments.job import Order, forget_games, pack_game, work
from tacit.experiments.results import FailedRun, Outcome, Results
from tacit.experiments.spec import Experiment, RunSpec, plan
from tacit.options import Options


@dataclass(frozen=True)
class Progress:
    """Runs and episodes, done and in all.

    Attributes
    ----------
    done, runs : int
        Runs that are over, and all.
    episodes : int
        Episodes played in all runs.
    total : int or None
        Episodes of all runs; none where a gap or the clock ends some of them.
    failed, running : int
        Runs that failed, and runs that take place.

    Examples
    --------
    >>> from tacit.experiments import Progress
    >>> Progress(done=1, runs=4, episodes=100, total=400).failed
    0
    """

    done: int
    runs: int
    episodes: int
    total: int | None
    failed: int = 0
    running: int = 0


class ProgressWatch:
    """Sums up the events of runs, each by its number.

    A run that a checkpoint or a dead worker interrupted begins again; one that was read from disk just ends.
    """

    def __init__(
        self,
        runs: Sequence[Options],
        progress: Callable[[Progress], None] | None,
        note: Callable[[str], None] | None = None,
    ) -> None:
        self._progress, self._note, self._options = check.function("progress", progress), note, runs
        self._total = None if any(one.open for one in runs) else sum(one.most for one in runs)
        self._episodes = [0] * len(runs)
        self._running, self._done, self._failed = set[int](), set[int](), set[int]()

    def began(self, k: int) -> None:
        """Take note that a run has begun, or begun again."""
        self._running.add(k)
        self._episodes[k] = 0
        self._show()

    def __call__(self, k: int, event: Event) -> None:
        """Take in an event of a run."""
        match event:
            case Started(done=done) | Advanced(done):
                self._episodes[k] = done
            case Noted(text) | Scouted(text) | Compiling(text):
                self.note(text)
        self._show()

    def end(self, k: int, *, good: bool) -> None:
        """Take note that a run is done or has failed."""
        self._running.discard(k)
        (self._done if good else self._failed).add(k)
        if not self._options[k].open:  # the episodes of an open run are those that were played
            self._episodes[k] = self._options[k].most
        self._show()

    def note(self, text: str) -> None:
        """Pass on what people should know."""
        if self._note is not None:
            self._note(text)

    def _show(self) -> None:
        if self._progress is not None:
            done, failed, running = len(self._done), len(self._failed), len(self._running)
            episodes = sum(self._episodes)
            self._progress(Progress(done, len(self._options), episodes, self._total, failed, running))


#: Seconds before a run that another process holds is looked at again.
_PATIENCE = 0.5


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
        self.items = [Order(spec, None if root is None else root / spec.directory, every) for spec in specs]
        self._progress = ProgressWatch([spec.options for spec in specs], progress, note)
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
            self._progress.end(k, good=True)
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

    def results(self, interrupted: bool) -> Results:
        """Return what has become of all runs, in their order."""
        outcomes = [self._found[k] for k in sorted(self._found)]
        failures = [FailedRun(self.items[k].spec, self._failed[k].sentence) for k in sorted(self._failed)]
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
                directory = stack.enter_context(store.RunDirectory(order.directory, order.spec))
                if not directory.hold() or directory.begin() is not None:
                    return False
                stack.pop_all()
            self._kept[k] = directory
        return True

    def began(self, k: int) -> None:
        """Count it among those that run."""
        self._progress.began(k)

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
        directory = self._kept.get(k)
        return result.outcome if directory is None else directory.store(result)

    def end(self, k: int, result: Outcome | Failure | None) -> None:
        """Let go of the directory, and tell how it ended."""
        with self._kept.pop(k, contextlib.nullcontext()):
            pass
        match result:
            case Failure():
                self._failed[k] = result
                self._progress.end(k, good=False)
            case Outcome():
                self._found[k] = result
                for text in () if k in self._noted else result.notes:  # nothing came on the way
                    self._progress.note(text)
                if not result.interrupted:
                    self._progress.end(k, good=True)


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
) -> Results:
    """Run every game with every learner and every seed.

    Parameters
    ----------
    experiment : Experiment
    out : path, optional
        Where results go. Runs that are finished there are read instead of run, those that were killed or interrupted
        are resumed, and those that failed are tried again. Several processes with the same `out` share the runs.
    on : str or Executor, optional
        Where runs take place: "threads" or "processes", with a number of workers after a colon or without;
        "ray:ADDRESS" or "dask:ADDRESS", a cluster that is there ("ray:auto" for the one that Ray finds); or any
        `concurrent.futures.Executor`. By default on threads, and in processes where a game is an environment, which
        threads cannot play side by side. Results are the same everywhere.
    workers : int, optional
        Runs at once; the number of cores, or what the cluster has, if not given.
    every : float
        Seconds between two checkpoints of a run.
    progress : callable, optional
        Called with a `Progress` now and then.
    note : callable, optional
        Called with sentences that people should know while runs take place.
    timeout : float, optional
        Seconds that a run may take on threads or in processes; one that takes longer is ended and counts as failed. A
        thread cannot be ended, and is left alone.

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
    if not isinstance(experiment, Experiment):
        raise TacitError(f"experiment must be a tacit.Experiment; got {brief(experiment)}")
    if out is not None:
        experiment.check_storable()
    scripts.require(experiment.name, experiment.scripts)
    forget_games()
    if timeout is not None:
        timeout = check.positive("timeout", timeout)
    runs = plan(experiment, keep=out is not None)
    if on is None:
        on = "processes" if any(not spec.has_tables for spec in runs) else "threads"
    backend = backends.parse(on, workers)
    refuse_unavailable(runs, backend)
    if timeout is not None and backend.kind in backends.CLUSTERS:
        raise TacitError(f"timeout is for threads and processes; leave it out on {backend.kind}")
    root = None if out is None else files.path(out).absolute()
    if root is not None:
        store.make_directory(root)
    handler = ExperimentHandler(runs, root, progress, note, every=every)
    opened = partial(backend.open, scripts.WorkerSetup.pack(experiment.scripts))
    interrupted = False
    while not interrupted and handler.find_work():
        interrupted = dispatch(opened, work, handler, timeout=timeout).interrupted or not handler.wait_for_others()
    return handler.results(interrupted)


_MAIN = "__main__"


def refuse_unavailable(runs: Sequence[RunSpec], where: Where) -> None:
    """Raise if a run needs something that workers of a backend cannot have."""
    if where.kind not in backends.CLUSTERS:
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
    registered = isinstance(name, str) and name in list(registry)
    return registered and getattr(registry.factory(str(name)), "__module__", "") == _MAIN


def _travels(spec: RunSpec) -> bool:
    """Say whether a game can be sent: tables can, functions of the script cannot."""
    if not spec.has_tables:
        return False
    try:
        return _MAIN.encode() not in pack_game(spec)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
