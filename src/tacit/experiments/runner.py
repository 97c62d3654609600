"""The runner: each run of an experiment is a job, stored and resumed.

As many jobs run at once as a backend has capacity for. A job that raises does not end the others, nor does a worker
that dies: what it had is tried again. What takes longer than the timeout is ended. Ctrl-C lets jobs that run end early,
with what they have, and the rest never begin; on somebody else's executor, jobs that run are left alone. Results are
stored by threads beside, because a disk may take longer to write a result than a worker to compute it.

Games, learners and bandits that the started script itself defines are known to worker processes of this machine, which
import that script again, as Python's own pools do. Workers of a cluster do not: there the tables of such a game are
sent, and a learner has to be in a script that `--import` names.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tacit.core import check, files
from tacit.core.errors import TacitError, brief, sentence
from tacit.engine import Advanced, Event, Measured, Noted, Started
from tacit.engine.drive import Interrupts
from tacit.experiments import store
from tacit.experiments.backends import Backend, Began, Ended, Key, Lost, Message, Stopped, choose_backend
from tacit.experiments.results import FailedRun, Outcome, Results
from tacit.experiments.spec import Experiment, RunSpec, plan
from tacit.experiments.worker import Order, WorkerSetup, forget_games, require_imported, work

#: Workers may die this often while they run a job before the job counts as failed.
DEATHS = 2
#: Seconds between two looks at the clock.
_TICK = 0.1
#: Seconds after Ctrl-C in which a job that is still compiling may come to its first chunk: it has nothing to lose.
_GRACE = 0.5
#: Seconds that jobs have after a second Ctrl-C to come back with what they have.
_LAST_GRACE = 2.0
#: Threads that store results, and results that may wait for them before no more jobs begin.
_WRITERS, _BACKLOG = 8, 64
_DIED = (
    f"its worker process died {DEATHS + 1} times; it may have run out of memory, or a script that starts processes "
    'lacks `if __name__ == "__main__":`'
)

_log = logging.getLogger("tacit")


@dataclass(frozen=True)
class Failure:
    """A job that raised, in one sentence; or to which something `happened`, whatever its input."""

    sentence: str
    happened: bool = False


@dataclass
class _Job:
    k: int
    tries: int = 0
    deaths: int = 0  # of workers that had it
    where: str = ""  # the worker that has begun, in this try
    deadline: float = math.inf  # of the timeout; a job that no worker has begun has none
    playing: bool = False


class Dispatcher:
    """Runs a job, a function of an item and a watcher, for every item.

    Subclasses store results and show progress by the methods below `dispatch`, which do nothing here.

    Parameters
    ----------
    job : callable
        A function of (item, watcher); anywhere but on threads it must pickle.
    items : sequence
    timeout : float, optional
        Seconds that a job may run; then it is ended by force, where that is possible, and counts as failed.

    Attributes
    ----------
    results : list
        Of each job: its result, a Failure, or None where Ctrl-C came before it began.
    interrupted : bool

    Examples
    --------
    >>> jobs = Dispatcher(lambda n, watch: 2 * n, [1, 2, 3])
    >>> jobs.dispatch(lambda: choose_backend("threads", None)(None))
    >>> jobs.results
    [2, 4, 6]
    """

    def __init__(self, job: Any, items: Sequence[Any], timeout: float | None = None) -> None:
        self.items, self.interrupted = items, False
        self.results: list[Any] = [None] * len(items)
        self._job, self._timeout = job, math.inf if timeout is None else timeout
        self._waiting: deque[_Job] = deque()
        self._running: dict[int, _Job] = {}
        self._storing: dict[Future[Any], int] = {}
        self._messages: deque[tuple[Key, Message]] = deque()  # a watcher that raises leaves the rest of them here
        self._grace = self._leaving = math.inf

    def dispatch(self, open_backend: Callable[[], Backend]) -> None:
        """Run all jobs. The first Ctrl-C stops them, a second one soon leaves them."""
        self._waiting.extend(_Job(k) for k, result in enumerate(self.results) if result is None)
        if not self._waiting:
            return
        self._backend = open_backend()
        with ThreadPoolExecutor(_WRITERS) as self._writers, Interrupts() as interrupts:
            try:
                while self._has_work() or self._storing:
                    if interrupts.pending and not self.interrupted:
                        self.interrupted, self._grace = True, time.monotonic() + _GRACE
                        while self._waiting:
                            self._end(self._waiting.pop().k, None)
                        self._backend.stop()
                    if time.monotonic() > self._leaving:
                        raise KeyboardInterrupt
                    try:
                        self._fill()
                        self._messages.extend(self._backend.receive(_TICK if self._has_work() else 0.0))
                        while self._messages:
                            self._take(*self._messages.popleft())
                        self._expire()
                        self._collect()
                    except KeyboardInterrupt:  # a watcher's, or a second Ctrl-C
                        if self.interrupted:
                            if self._leaving < math.inf or not self._backend.interrupt():
                                raise
                            self._leaving = time.monotonic() + _LAST_GRACE
                        interrupts.pending = True
            finally:
                for one in [*self._running.values(), *self._waiting]:  # the backend is lost, or a second Ctrl-C
                    self._end(one.k, None)
                self._backend.close()

    def begin(self, k: int) -> bool:
        """Return whether a job is to run."""
        return True

    def began(self, k: int) -> None:
        """Take note that a worker has begun."""

    def event(self, k: int, event: Event) -> None:
        """Take note of an event; executors of others have no way for them."""

    def lost(self, k: int, where: str) -> None:
        """Take note that the worker has died, and that another will begin."""

    def settle(self, k: int, result: Any) -> Any:
        """Store a result, in a thread of its own, and return what remains."""
        return result

    def end(self, k: int, result: Any) -> None:
        """Take note of a result, a Failure, or None for a job that was stopped."""

    def _fill(self) -> None:
        """Start as many jobs as there is room for."""
        while self._waiting and len(self._running) < self._backend.capacity and len(self._storing) < _BACKLOG:
            one = self._waiting.popleft()
            try:
                if one.tries == 0 and not self.begin(one.k):
                    continue
                parcel = self._backend.pack(self._job, self.items[one.k])
            except Exception as error:  # as where a directory cannot be written, or an item does not pickle
                self._end(one.k, _failure(error))
                continue
            one.tries += 1
            one.where, one.deadline, one.playing = "that was starting", math.inf, False
            self._running[one.k] = one
            self._backend.start((one.k, one.tries), parcel)

    def _take(self, key: Key, message: Message) -> None:
        """Act on a message."""
        k = key[0]
        one = self._running.get(k)
        if one is None or one.tries != key[1]:  # of a try that was given up
            return
        match message:
            case Began(where):
                one.where, one.deadline = where, time.monotonic() + self._timeout
                self.began(k)
            case Ended(result, None):
                del self._running[k]
                self._storing[self._writers.submit(self.settle, k, result)] = k
            case Ended(error=Stopped()):
                self._end(k, None)
            case Ended(error=Lost()) if one.deaths < DEATHS:
                one.deaths += 1
                self._try_again(one)
                self.lost(k, one.where)
            case Ended(error=Lost()):
                self._end(k, Failure(_DIED, happened=True))
            case Ended(error=error):
                self._end(k, _failure(error))
            case event:
                one.playing |= isinstance(event, Advanced | Measured)
                self.event(k, event)

    def _try_again(self, one: _Job) -> None:
        """Put a job back in front; after Ctrl-C, give it up."""
        if self.interrupted:
            self._end(one.k, None)
        else:
            del self._running[one.k]
            self._waiting.appendleft(one)

    def _expire(self) -> None:
        """End jobs that ran for too long; after Ctrl-C, those not yet playing."""
        now = time.monotonic()
        for k, one in list(self._running.items()):
            late = now > one.deadline
            if late or (now > self._grace and not one.playing):
                self._backend.kill((one.k, one.tries))
                expired = Failure(f"it ran for more than {self._timeout:g} s, the timeout", happened=True)
                self._end(k, expired if late and not self.interrupted else None)

    def _has_work(self) -> bool:
        return bool(self._running or self._waiting)

    def _collect(self) -> None:
        """Take note of results that were stored."""
        block = not self._has_work()
        for future in [future for future in self._storing if block or future.done()]:
            k = self._storing.pop(future)
            error = future.exception()
            self._end(k, future.result() if error is None else _failure(error))

    def _end(self, k: int, result: Any) -> None:
        self._running.pop(k, None)
        self.results[k] = result
        self.end(k, result)


def _failure(error: BaseException) -> Failure:
    _log.debug("a job failed", exc_info=error)
    return Failure(sentence(error))


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


#: Seconds before a run that another process holds is looked at again.
_PATIENCE = 0.5


class AllFailed(TacitError):
    """All runs raised the same, so whatever is wrong is wrong with the input."""

    def __init__(self, failures: Sequence[FailedRun]) -> None:
        which = f"all {len(failures)} runs failed: " if len(failures) > 1 else ""
        super().__init__(f"{which}{failures[0].sentence}")
        self.failures = failures


class ExperimentRunner(Dispatcher):
    """The runs of an experiment, and what has become of each."""

    def __init__(
        self,
        specs: Sequence[RunSpec],
        root: Path | None,
        progress: Callable[[Progress], None] | None,
        note: Callable[[str], None] | None,
        *,
        every: float,
        timeout: float | None,
    ) -> None:
        orders = [Order(spec, None if root is None else root / spec.directory, every) for spec in specs]
        super().__init__(work, orders, timeout)
        self._progress, self._note = check.function("progress", progress), check.function("note", note)
        self._options = [spec.options for spec in specs]
        self._total = None if any(one.open for one in self._options) else sum(one.most for one in self._options)
        self._episodes, self._noted = [0] * len(specs), set[str]()
        self._playing, self._done, self._failed = set[int](), set[int](), set[int]()
        self._directories: dict[int, store.RunDirectory] = {}

    def run(self, open_backend: Callable[[], Backend]) -> Results:
        """Run all that is not stored, and wait for what other processes run."""
        while not self.interrupted and self._find_work():
            self.dispatch(open_backend)
            self.interrupted = self.interrupted or not self._wait_for_others()
        return self._collect_results()

    def _todo(self) -> list[int]:
        """Return the runs that have neither ended nor failed."""
        return [k for k, result in enumerate(self.results) if result is None]

    def _find_work(self) -> bool:
        """Take what is stored already; return whether anything is left."""
        for k in self._todo():
            spec, directory = self.items[k].spec, self.items[k].directory
            one = None if directory is None else store.read_stored(directory, spec)
            if one is None:
                continue
            if spec.position is None:  # run again on its own, it keeps its position among others
                spec = replace(spec, position=one.spec.position)
            if one.spec != spec:  # only labels and the position can differ
                store.begin(directory, spec)
            self.results[k] = replace(one, spec=spec)
            self._count(k, self._done)
            self._tell(*one.notes)
        return bool(self._todo())

    def _wait_for_others(self) -> bool:
        """Wait until another process has finished a run or let go of it. Return False if Ctrl-C comes first."""
        directories = [path for k in self._todo() if (path := self.items[k].directory) is not None]
        if directories:
            what = "a run" if len(directories) == 1 else f"{len(directories)} runs"
            self._tell(f"another process computes {what} of these, and is waited for: {directories[0]}")
        try:
            while directories and all(not store.is_finished(path) and store.is_held(path) for path in directories):
                time.sleep(_PATIENCE)
        except KeyboardInterrupt:
            return False
        return True

    def _collect_results(self) -> Results:
        """Return what has become of all runs, in their order."""
        outcomes = [one for one in self.results if isinstance(one, Outcome)]
        failed = [(order, one) for order, one in zip(self.items, self.results, strict=True) if isinstance(one, Failure)]
        failures = [FailedRun(order.spec, one.sentence) for order, one in failed]
        failures += [FailedRun(one.spec, one.error) for one in outcomes if one.error]  # with what was done before
        if self.interrupted and not outcomes:
            raise KeyboardInterrupt
        happened = any(one.happened for _, one in failed)
        if not outcomes and not happened and len({one.sentence for one in failures}) == 1:
            raise AllFailed(failures)
        return Results(outcomes, failures, self.interrupted)

    def begin(self, k: int) -> bool:
        """Hold the run's directory, unless another process does or has finished it."""
        order = self.items[k]
        if order.directory is not None:
            with contextlib.ExitStack() as stack:  # lets go of it, unless the run is to begin
                directory = stack.enter_context(store.RunDirectory(order.directory, order.spec))
                if not directory.hold() or directory.begin() is not None:
                    return False
                stack.pop_all()
            self._directories[k] = directory
        return True

    def began(self, k: int) -> None:
        """Count it among those that run; where a dead worker had it, anew."""
        self._playing.add(k)
        self._episodes[k] = 0
        self._show()

    def event(self, k: int, event: Event) -> None:
        """Write it and pass it on."""
        if k in self._directories:
            self._directories[k].event(event)
        match event:
            case Started(done=done) | Advanced(done):
                self._episodes[k] = done
            case Noted(text):
                self._tell(text)
        self._show()

    def lost(self, k: int, where: str) -> None:
        """Tell that it is tried again."""
        self._tell(f"the worker {where} died; another takes over its run ({self.items[k].spec.in_words})")

    def _tell(self, *texts: str) -> None:
        """Pass on what people should know, each text once."""
        for text in texts:
            if self._note is not None and text not in self._noted:
                self._noted |= {text, text.partition(": ")[2]}  # with an environment's name, and without
                self._note(text)

    def _count(self, k: int, those: set[int]) -> None:
        """Count a run among those that are done, or that failed."""
        self._playing.discard(k)
        those.add(k)
        if not self._options[k].open:  # the episodes of an open run are those that were played
            self._episodes[k] = self._options[k].most
        self._show()

    def _show(self) -> None:
        if self._progress is not None:
            done, failed, playing = len(self._done), len(self._failed), len(self._playing)
            self._progress(Progress(done, len(self.items), sum(self._episodes), self._total, failed, playing))

    def settle(self, k: int, result: store.Delivery) -> Outcome:
        """Store the run."""
        directory = self._directories.get(k)
        return result.outcome if directory is None else directory.store(result)

    def end(self, k: int, result: Outcome | Failure | None) -> None:
        """Let go of the directory, and tell how it ended."""
        with self._directories.pop(k, contextlib.nullcontext()):
            pass
        match result:
            case Failure():
                self._count(k, self._failed)
            case Outcome():
                self._tell(*(note for note in result.notes if note not in result.error))  # of executors of others
                if result.error:
                    self._count(k, self._failed)
                elif not result.interrupted:
                    self._count(k, self._done)


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
        Where runs take place: "threads", "processes", "ray:ADDRESS", "dask:ADDRESS" (a cluster that is there;
        "ray:auto" for the one that Ray finds), or any `concurrent.futures.Executor`. By default on threads, and in
        processes where a game is an environment, which threads cannot play side by side. Results are the same
        everywhere.
    workers : int, optional
        Runs at once; the number of cores, or what the cluster has, if not given.
    every : float
        Seconds between two checkpoints of a run.
    progress : callable, optional
        Called with a `Progress` now and then.
    note : callable, optional
        Called with sentences that people should know while runs take place, with each once.
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
    require_imported(experiment.name, experiment.scripts)
    forget_games()
    if timeout is not None:
        timeout = check.positive("timeout", timeout)
    runs = plan(experiment, keep=out is not None)
    if on is None:
        on = "processes" if any(not spec.has_tables for spec in runs) else "threads"
    open_backend = choose_backend(on, workers)
    if timeout is not None and not (isinstance(on, str) and on.startswith(("threads", "processes"))):
        raise TacitError(f"timeout must be left out where on is not threads or processes; got {brief(on)}")
    root = None if out is None else files.path(out).absolute()
    if root is not None:
        store.make_directory(root)
    runner = ExperimentRunner(runs, root, progress, note, every=every, timeout=timeout)
    return runner.run(partial(open_backend, WorkerSetup.pack(experiment.scripts)))
