"""THE runner: every run of an experiment as a job, stored and resumed where there is a directory for it."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.engine import Event, Noted
from tacit.experiments import backends, job, scripts, store
from tacit.experiments.dispatch import Failure, Fault, Have, JobHandler, Start, dispatch
from tacit.experiments.job import Delivery, Order, Wanted
from tacit.experiments.progress import Progress, ProgressWatch, kind
from tacit.experiments.results import FailedRun, Outcome, Results
from tacit.experiments.spec import Experiment, RunSpec, plan

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
    job.forget_games()
    if timeout is not None:
        check.positive("timeout", timeout)
    runs = plan(experiment, keep=out is not None)
    if shard is not None:
        runs = take_shard(shard, runs)
    where = on or ("processes" if any(not spec.has_tables for spec in runs) else "threads")
    backend = backends.parse(where, workers)
    job.refuse_unavailable(runs, backend)
    root = None if out is None else files.path(out).absolute()
    found: dict[str, Outcome] = {}
    failed: dict[str, Failure] = {}
    if root is not None:
        store.make_directory(root)
        found |= _read_finished(root, runs, note)
    watch = ProgressWatch(runs, found, progress, note)
    opened = partial(backend.open, scripts.WorkerSetup.pack(experiment.scripts))
    interrupted, todo = False, _probes_first([spec for spec in runs if spec.hash not in found])
    while todo and not interrupted:
        watch.specs = todo
        handler = ExperimentHandler(todo, root, watch, every=every)
        batch = dispatch(opened, job.work, len(todo), handler, timeout=timeout)
        found |= {todo[k].hash: one for k, one in batch.done.items()}
        failed |= {todo[k].hash: one for k, one in batch.failures.items()}
        todo = [spec for spec in todo if spec.hash not in found | failed]
        interrupted = batch.interrupted or not _wait_for_release(root, todo, note)
    return _results(runs, found, failed, interrupted)


def _probes_first(runs: Sequence[RunSpec]) -> list[RunSpec]:
    """Put the first run of each game with each learner before all others, so that the time left is soon known."""
    first = {kind(spec): spec for spec in reversed(runs)}
    probes = {spec.hash for spec in first.values()}
    return [spec for spec in runs if spec.hash in probes] + [spec for spec in runs if spec.hash not in probes]


def _wait_for_release(root: Path | None, specs: Sequence[RunSpec], note: Callable[[str], None] | None) -> bool:
    """Wait until another process has finished one of these runs or let go of it; return False if Ctrl-C comes first."""
    places = [] if root is None else [root / spec.directory for spec in specs]
    if places and note is not None:
        what = "a run" if len(places) == 1 else f"{len(places)} runs"
        note(f"another process computes {what} of these, and is waited for: {places[0]}")
    try:
        while places and all(not store.is_finished(place) and store.is_held(place) for place in places):
            time.sleep(_PATIENCE)
    except KeyboardInterrupt:
        return False
    return True


def _read_finished(root: Path, runs: Sequence[RunSpec], note: Callable[[str], None] | None) -> dict[str, Outcome]:
    """Return the runs that are finished already, under the names they have now, and tell what they noted."""
    found: dict[str, Outcome] = {}
    for spec in runs:
        place = root / spec.directory
        one = store.read_stored(place, spec)
        if one is None:
            continue
        if spec.place is None:  # run again on its own, it keeps its place among others
            spec = replace(spec, place=one.spec.place)
        if one.spec != spec:  # only labels and the place can differ
            store.begin(place, spec)
        found[spec.hash] = replace(one, spec=spec)
        if note is not None:
            for text in one.notes:
                note(text)
    return found


def _results(
    runs: Sequence[RunSpec], found: dict[str, Outcome], failed: dict[str, Failure], interrupted: bool
) -> Results:
    outcomes = [found[spec.hash] for spec in runs if spec.hash in found]
    failures = [FailedRun(spec, failed[spec.hash].sentence) for spec in runs if spec.hash in failed]
    faults = any(isinstance(one.error, Fault) for one in failed.values())
    sentences = {one.sentence for one in failures}
    if len(sentences) == 1 and not outcomes and not interrupted and not faults:
        which = f"all {len(failures)} runs failed: " if len(failures) > 1 else ""
        raise TacitError(f"{which}{sentences.pop()}")  # whatever is wrong is wrong with the input
    if interrupted and not outcomes:
        raise KeyboardInterrupt
    return Results(outcomes, failures, interrupted)


class ExperimentHandler(JobHandler):
    """Runs of an experiment, and where they are kept if anywhere."""

    def __init__(self, specs: Sequence[RunSpec], root: Path | None, watch: ProgressWatch, *, every: float) -> None:
        self._orders = [Order(spec, None if root is None else root / spec.directory, every) for spec in specs]
        self._watch = watch
        self._kept: dict[int, store.RunDirectory] = {}
        self._noted: set[int] = set()
        self._games: dict[str, bytes] = {}

    def begin(self, k: int) -> Start | Have | None:
        """Hold the run's directory, unless another process does; a run that is finished is read."""
        order = self._orders[k]
        if order.directory is not None:
            with contextlib.ExitStack() as stack:  # lets go of it, unless the run is to begin
                kept = stack.enter_context(store.RunDirectory(order.directory, order.spec))
                if not kept.hold():
                    return None  # another process has it
                found = kept.begin()
                if found is not None:
                    return Have(replace(found, spec=order.spec))
                stack.pop_all()
            self._kept[k] = kept
        return Start(order)

    def began(self, k: int, where: str) -> None:
        """Tell where it runs."""
        self._watch.began(k, where)

    def event(self, k: int, event: Event) -> None:
        """Write it and pass it on."""
        if k in self._kept:
            self._kept[k].event(event)
        if isinstance(event, Noted):
            self._noted.add(k)
        self._watch(k, event)

    def lost(self, k: int, where: str) -> None:
        """Tell that it is tried again."""
        spec = self._orders[k].spec
        which = f"{spec.game.name} with {spec.label}, seed {spec.seed}"
        self._watch.note(f"the worker {where} died; another takes over its run ({which})")

    def more(self, k: int, result: Any) -> Order | None:
        """Send the tables of the game where they are wanted."""
        if not isinstance(result, Wanted):
            return None
        spec = self._orders[k].spec
        if spec.tables not in self._games:
            self._games = {spec.tables: job.pack_game(spec)}  # one at a time: they may be large
        return replace(self._orders[k], tables=self._games[spec.tables])

    def settle(self, k: int, result: Delivery) -> Outcome:
        """Store the run."""
        kept = self._kept.get(k)
        return result.outcome if kept is None else kept.store(result.outcome, result.others)

    def end(self, k: int, result: Any) -> None:
        """Let go of the directory, and tell how it ended."""
        kept = self._kept.pop(k, None)
        if kept is not None:
            kept.release()
        match result:
            case Failure():
                self._watch.end(k, False)
            case Outcome():
                for text in () if k in self._noted else result.notes:  # nothing came on the way
                    self._watch.note(text)
                if not result.interrupted:
                    self._watch.end(k, True)


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
