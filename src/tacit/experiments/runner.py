"""THE runner: every run of an experiment as a job, stored and resumed where there is a directory for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path

from tacit.core import archive, check
from tacit.core.errors import TacitError
from tacit.experiments import files, job, places, scripts, store, unseen
from tacit.experiments.carried import Carried
from tacit.experiments.dispatch import Failure, Fault, dispatch
from tacit.experiments.keeping import stored
from tacit.experiments.ledger import Ledger
from tacit.experiments.outcome import Outcome
from tacit.experiments.plan import NO_TABLES, RunSpec, plan
from tacit.experiments.progress import Progress, ProgressWatch, kind
from tacit.experiments.results import FailedRun, Results
from tacit.experiments.shards import Shard
from tacit.experiments.spec import Experiment

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
    share = None if shard is None else Shard.parse(shard)
    runs = plan(experiment, keep=out is not None)
    runs = runs if share is None else share.of(runs)
    where = on or ("processes" if any(spec.tables.startswith(NO_TABLES) for spec in runs) else "threads")
    unseen.refuse(runs, places.checked(where, workers))
    root = None if out is None else archive.path(out).absolute()
    found: dict[str, Outcome | Failure] = {}
    if root is not None:
        files.directory(root)
        found |= _stored(root, runs, note)
    watch = ProgressWatch(runs, found, progress, note)
    opened = partial(places.place, where, workers=workers, setup=Carried.packed(experiment.scripts))
    interrupted, todo = False, _probes_first([spec for spec in runs if spec.hash not in found])
    while todo and not interrupted:
        watch.specs = todo
        batch = dispatch(opened, job.work, len(todo), Ledger(todo, root, watch, every=every), timeout=timeout)
        ended = zip(todo, batch.results, strict=True)
        found |= {spec.hash: one for spec, one in ended if isinstance(one, Outcome | Failure)}
        todo = [spec for spec in todo if spec.hash not in found]
        interrupted = batch.interrupted or not _released(root, todo, note)
    return _results(runs, found, interrupted)


def _probes_first(runs: Sequence[RunSpec]) -> list[RunSpec]:
    """Put the first run of each game with each learner before all others, so that the time left is soon known."""
    first = {kind(spec): spec for spec in reversed(runs)}
    probes = {spec.hash for spec in first.values()}
    return [spec for spec in runs if spec.hash in probes] + [spec for spec in runs if spec.hash not in probes]


def _released(root: Path | None, specs: Sequence[RunSpec], note: Callable[[str], None] | None) -> bool:
    """Wait until another process has finished one of these runs or let go of it; return False if Ctrl-C comes first."""
    places = [] if root is None else [root / spec.directory for spec in specs]
    if places and note is not None:
        what = "a run" if len(places) == 1 else f"{len(places)} runs"
        note(f"another process computes {what} of these, and is waited for: {places[0]}")
    try:
        while places and all(not store.finished(place) and files.held(place) for place in places):
            time.sleep(_PATIENCE)
    except KeyboardInterrupt:
        return False
    return True


def _stored(root: Path, runs: Sequence[RunSpec], note: Callable[[str], None] | None) -> dict[str, Outcome]:
    """Return the runs that are finished already, under the names they have now, and tell what they noted."""
    found: dict[str, Outcome] = {}
    for spec in runs:
        place = root / spec.directory
        one = stored(place, spec)
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


def _results(runs: Sequence[RunSpec], found: dict[str, Outcome | Failure], interrupted: bool) -> Results:
    ended = [(spec, found[spec.hash]) for spec in runs if spec.hash in found]
    outcomes = [one for _, one in ended if isinstance(one, Outcome)]
    failures = [FailedRun(spec, one.sentence) for spec, one in ended if isinstance(one, Failure)]
    faults = [one for _, one in ended if isinstance(one, Failure) and isinstance(one.error, Fault)]
    if failures and not outcomes and not interrupted and not faults:
        raise TacitError(failures[0].sentence)  # whatever is wrong is wrong with the input
    if interrupted and not outcomes:
        raise KeyboardInterrupt
    return Results(outcomes, failures, interrupted)
