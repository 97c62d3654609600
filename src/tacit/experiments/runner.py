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
    runs = plan(experiment, keep=out is not None)
    root = None if out is None else archive.path(out)
    found: dict[str, Outcome | Failure] = {}
    if root is not None:
        files.directory(root)
        found = {spec.hash: one for spec in runs if (one := _stored(root, spec)) is not None}
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
        interrupted, todo = batch.interrupted, [spec for spec in todo if spec.hash not in found]
        if todo and not interrupted:  # another process holds these
            time.sleep(_PATIENCE)
    return _results(runs, found, interrupted)


def _stored(root: Path, spec: RunSpec) -> Outcome | None:
    """Return a run that is finished already, under the name it has now."""
    place = root / spec.directory
    found = job.stored(place, spec)
    if found is not None and found.label != spec.label:
        store.begin(place, spec)
    return None if found is None else replace(found, spec=spec)


def _results(runs: Sequence[RunSpec], found: dict[str, Outcome | Failure], interrupted: bool) -> Results:
    ended = [(spec, found[spec.hash]) for spec in runs if spec.hash in found]
    outcomes = [one for _, one in ended if isinstance(one, Outcome)]
    failures = [FailedRun(spec, one.sentence) for spec, one in ended if isinstance(one, Failure)]
    if failures and not outcomes and not interrupted:
        raise TacitError(failures[0].sentence)
    if not outcomes:
        raise KeyboardInterrupt
    return Results(outcomes, failures, interrupted)
