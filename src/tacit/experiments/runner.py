"""THE runner: every run of an experiment as a job, stored and resumed where there is a directory for it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from pathlib import Path

from tacit.core import archive
from tacit.core.errors import TacitError
from tacit.experiments import files, job, scripts, store
from tacit.experiments.executors import Failure, run_all
from tacit.experiments.outcome import Outcome
from tacit.experiments.plan import NO_TABLES, RunSpec, plan
from tacit.experiments.progress import Progress, ProgressWatch
from tacit.experiments.results import FailedRun, Results
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
) -> Results:
    """Run every game with every learner and every seed.

    Parameters
    ----------
    experiment : Experiment
    out : path, optional
        Where results go. Runs that are finished there are read instead of run, those that were killed or interrupted
        are resumed, and those that failed are tried again.
    on : {"threads", "processes"} or Executor, optional
        Where runs take place. By default on threads, and in processes where a game is an environment, which threads
        cannot play side by side.
    workers : int, optional
        Threads or processes; the number of cores if not given.
    every : float
        Seconds between two checkpoints of a run.
    progress : callable, optional
        Called with a `Progress` now and then.
    note : callable, optional
        Called with sentences that people should know while runs take place.

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> small = Experiment("small", 100, (GameSpec("chicken"),), (LearnerSpec("stage-v-cce"),), seeds=2)
    >>> [one.episodes for one in run_experiment(small).outcomes]
    [100, 100]
    """
    scripts.require(experiment.name, experiment.scripts)
    job.forget_games()
    runs = plan(experiment, keep=out is not None)
    root = None if out is None else archive.path(out)
    found: dict[str, Outcome | Failure] = {}
    if root is not None:
        files.directory(root)
        found |= _stored(root, runs, note)
    where = on or ("processes" if any(spec.tables.startswith(NO_TABLES) for spec in runs) else "threads")
    watch = ProgressWatch(runs, found, progress, note)
    task = partial(job.task, root, every)
    setup = partial(scripts.run, experiment.scripts)
    interrupted, todo = False, [spec for spec in runs if spec.hash not in found]
    while todo and not interrupted:
        watch.specs = todo
        batch = run_all(task, todo, on=where, workers=workers, watch=watch, setup=setup)
        ended = zip(todo, batch.results, strict=True)
        found |= {spec.hash: one for spec, one in ended if isinstance(one, Outcome | Failure)}
        todo = [spec for spec in todo if spec.hash not in found]
        interrupted = batch.interrupted or not _released(root, todo)
    return _results(runs, found, interrupted)


def _released(root: Path | None, specs: Sequence[RunSpec]) -> bool:
    """Wait until another process has finished one of these runs or let go of it; return False if Ctrl-C comes first."""
    places = [] if root is None else [root / spec.directory for spec in specs]
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
        one = job.stored(place, spec)
        if one is None:
            continue
        if one.label != spec.label:
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
    if failures and not outcomes and not interrupted:
        raise TacitError(failures[0].sentence)
    if not outcomes:
        raise KeyboardInterrupt
    return Results(outcomes, failures, interrupted)
