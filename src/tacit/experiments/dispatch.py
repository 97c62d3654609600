"""Which job runs when: as many at once as a backend has capacity for, until every job is done, failed or was stopped.

A job is a function of an item and a watcher. Its events come back while it runs, except from somebody else's executor,
which has no way for them. A job that raises does not end the others, nor does a worker that dies: what it had is tried
again. What takes longer than the timeout is ended. Ctrl-C lets jobs that run end early, with what they have, and the
rest never begin; on somebody else's executor, jobs that run are left alone. Results are stored by threads beside,
because a disk may take longer to write a result than a worker to compute it.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from tacit.core import check
from tacit.core.errors import TacitError, sentence
from tacit.engine import Advanced, Event, Measured, Watcher
from tacit.engine.drive import Interrupts
from tacit.experiments import backends
from tacit.experiments.backends import Backend, Began, Ended, Failed, Key, Lost, Message, Prepared, Stopped

T = TypeVar("T")

#: Workers may die this often while they run a job before the job counts as failed.
DEATHS = 2
#: Seconds between two looks at the clock.
_TICK = 0.1
#: Seconds that a worker may take to import what a job needs, beyond the timeout.
_GETTING_READY = 120.0
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
    """A job that raised, in one sentence, and what it raised; or to which something `happened`, whatever its input."""

    sentence: str
    error: BaseException
    happened: bool = False


@dataclass(frozen=True)
class Batch(Generic[T]):
    """What became of each job: its result, a Failure, or None where Ctrl-C came before it began."""

    results: list[T | Failure | None]
    interrupted: bool


class JobHandler:
    """What happens in this process before, during and after jobs; `items` are what they are given.

    Parameters
    ----------
    items : sequence
    watch, done : callable, optional
        As for `run_all`.
    """

    def __init__(self, items: Sequence[Any], watch: Any = None, done: Any = None) -> None:
        self.items, self._watch, self._done = items, watch, done

    def begin(self, k: int) -> bool:
        """Return whether a job is to run."""
        return True

    def began(self, k: int) -> None:
        """Take note that a worker has begun."""

    def event(self, k: int, event: Event) -> None:
        """Take note of an event."""
        if self._watch is not None:
            self._watch(k, event)

    def lost(self, k: int, where: str) -> None:
        """Take note that the worker has died, and that another will begin."""

    def more(self, k: int, result: Any) -> Any | None:
        """Return what a job lacked, as the item of another try; None takes the result as it is."""
        return None

    def settle(self, k: int, result: Any) -> Any:
        """Store a result, and return what is left to know of it; called in a thread of its own."""
        return result

    def end(self, k: int, result: Any) -> None:
        """Take note of a result, a Failure, or None for a job that was stopped."""
        if self._done is not None and result is not None:
            self._done(k, result)


@dataclass
class _Running:
    key: Key
    item: Any
    begun: int = 0  # how often a worker began with it, in all tries
    where: str = ""  # the worker that has begun, in this try
    deadline: float = math.inf  # of the timeout; a job that no worker has begun has none
    playing: bool = False


class Dispatcher:
    """See `dispatch`."""

    def __init__(self, backend: Backend, job: Any, handler: JobHandler, timeout: float | None) -> None:
        self._backend, self._job, self._handler, self._timeout = backend, job, handler, timeout
        count = len(handler.items)
        self._waiting = deque(range(count))
        self._again: deque[_Running] = deque()  # what goes before all that waits
        self._running: dict[int, _Running] = {}
        self._storing: dict[Future[Any], int] = {}
        self._heard: deque[tuple[Key, Message]] = deque()  # a watcher that raises leaves the rest of them here
        self._results: list[Any] = [None] * count
        self._tries = [0] * count
        self._stopping, self._grace, self._leaving = False, math.inf, math.inf

    def run(self) -> Batch[Any]:
        """Run all jobs; the first Ctrl-C stops those that run, a second one cuts them short and soon leaves them."""
        with ThreadPoolExecutor(_WRITERS) as self._writers, Interrupts() as interrupts:
            try:
                while self._waiting or self._again or self._running or self._storing:
                    if interrupts.pending and not self._stopping:
                        self._stopping, self._grace = True, time.monotonic() + _GRACE
                        self._waiting.clear()
                        while self._again:
                            self._end(self._again.pop().key[0], None)
                        self._backend.stop()
                    if time.monotonic() > self._leaving:
                        raise KeyboardInterrupt
                    try:
                        self._fill()
                        self._heard.extend(self._backend.receive(_TICK if self._has_work() else 0.0))
                        while self._heard:
                            self._take(*self._heard.popleft())
                        self._expire()
                        self._collect()
                    except KeyboardInterrupt:  # a watcher's, or a second Ctrl-C
                        if self._stopping:
                            if self._leaving < math.inf or not self._backend.interrupt():
                                raise
                            self._leaving = time.monotonic() + _LAST_GRACE
                        interrupts.pending = True
            finally:
                for k in [*self._running, *(one.key[0] for one in self._again)]:  # the backend is lost, or a 2nd Ctrl-C
                    self._end(k, None)
                self._backend.close()
        return Batch(self._results, self._stopping)

    def _fill(self) -> None:
        """Start as many jobs as there is room for."""
        room = self._backend.capacity - len(self._running) if self._waiting or self._again else 0
        while self._again and room > 0:
            one = self._again.popleft()
            self._start(one.key[0], one.item, one.begun)
            room -= 1
        while self._waiting and room > 0 and len(self._storing) < _BACKLOG:
            k = self._waiting.popleft()
            try:
                starts = self._handler.begin(k)
            except Exception as error:  # as where a directory cannot be written
                self._end(k, _failure(error))
                continue
            if starts:
                self._start(k, self._handler.items[k])
                room -= 1

    def _start(self, k: int, item: Any, begun: int = 0) -> None:
        self._running[k] = _Running((k, self._tries[k]), item, begun)
        self._tries[k] += 1
        try:
            parcel = self._backend.pack(self._job, item)
        except Exception as error:  # it does not pickle
            self._end(k, _failure(error))
            return
        self._backend.start(self._running[k].key, parcel)

    def _take(self, key: Key, message: Message) -> None:
        """Act on a message."""
        k = key[0]
        one = self._running.get(k)
        if one is None or one.key != key:  # of a try that was given up
            return
        match message:
            case Began(where):
                one.begun, one.where = one.begun + 1, where
                one.deadline = self._deadline(_GETTING_READY)
                self._handler.began(k)
            case Prepared():
                one.deadline = self._deadline()
            case Ended(result):
                self._store(k, one, result)
            case Failed(error):
                self._end(k, _failure(error))
            case Stopped():
                self._end(k, None)
            case Lost():
                self._lost(k, one)
            case event:
                one.playing |= isinstance(event, Advanced | Measured)
                self._handler.event(k, event)

    def _store(self, k: int, one: _Running, result: Any) -> None:
        """Have a result stored, unless the job lacked something."""
        try:
            more = self._handler.more(k, result)
        except Exception as error:  # as where a file is gone
            self._end(k, _failure(error))
            return
        if more is None:
            del self._running[k]
            self._storing[self._writers.submit(self._handler.settle, k, result)] = k
        elif self._stopping:
            self._end(k, None)
        else:
            del self._running[k]
            self._again.append(_Running(one.key, more, one.begun - 1))

    def _lost(self, k: int, one: _Running) -> None:
        """Try again what a dead worker had, unless too many have died of it."""
        if self._stopping:
            self._end(k, None)
        elif one.begun > DEATHS:
            self._end(k, _failure(TacitError(_DIED), happened=True))
        else:
            del self._running[k]
            self._again.append(one)
            self._handler.lost(k, one.where)

    def _expire(self) -> None:
        """End jobs that have run for too long, and after Ctrl-C those that have not begun to play."""
        now = time.monotonic()
        for k, one in [(k, one) for k, one in self._running.items() if now > self._grace and not one.playing]:
            self._backend.kill(one.key)
            self._end(k, None)
        for k, one in [(k, one) for k, one in self._running.items() if now > one.deadline]:
            self._backend.kill(one.key)
            sentence = f"it ran for more than {self._timeout:g} s, the timeout"
            self._end(k, None if self._stopping else _failure(TacitError(sentence), happened=True))

    def _deadline(self, more: float = 0.0) -> float:
        """Return when a job that begins now has to be done."""
        return math.inf if self._timeout is None else time.monotonic() + self._timeout + more

    def _has_work(self) -> bool:
        return bool(self._running or self._waiting or self._again)

    def _collect(self) -> None:
        """Take note of results that were stored."""
        block = not self._has_work()
        for future in [future for future in self._storing if block or future.done()]:
            k = self._storing.pop(future)
            error = future.exception()
            self._end(k, future.result() if error is None else _failure(error))

    def _end(self, k: int, result: Any) -> None:
        self._running.pop(k, None)
        self._results[k] = result
        self._handler.end(k, result)


def dispatch(
    backend: Callable[[], Backend], job: Any, handler: JobHandler, *, timeout: float | None = None
) -> Batch[Any]:
    """Run the jobs of a handler on a backend, which is opened if there are any.

    Parameters
    ----------
    backend : callable
        Opens the backend.
    job : callable
        A function of (item, watcher).
    handler : JobHandler
        Says what each job is, and is told what becomes of it.
    timeout : float, optional
        Seconds that a job may run.
    """
    return Dispatcher(backend(), job, handler, timeout).run() if len(handler.items) else Batch([], False)


def _failure(error: BaseException, *, happened: bool = False) -> Failure:
    _log.debug("a job failed", exc_info=error)
    return Failure(sentence(error), error, happened)


Item = TypeVar("Item")


def run_all(
    job: Callable[[Item, Watcher | None], T],
    items: Sequence[Item],
    *,
    on: str | Executor = "threads",
    workers: int | None = None,
    watch: Callable[[int, Event], None] | None = None,
    done: Callable[[int, T | Failure], None] | None = None,
    setup: Callable[[], None] | None = None,
    timeout: float | None = None,
) -> Batch[T]:
    """Run a job for every item.

    Parameters
    ----------
    job : callable
        A function of (item, watcher); anywhere but on threads it must pickle.
    items : sequence
    on : str or Executor
        "threads", "threads:4", "processes", "processes:4", "ray:ADDRESS", "dask:ADDRESS".
    workers : int, optional
        How many at once; the number of cores, or what the cluster has, if not given.
    watch : callable, optional
        Called with (index of the item, event) while jobs run.
    done : callable, optional
        Called with (index of the item, its result or failure) as they come.
    setup : callable, optional
        Called in each worker process before its first job; it must pickle.
    timeout : float, optional
        Seconds that a job may run; then it is ended by force, where that is possible, and counts as failed.

    Returns
    -------
    Batch

    Examples
    --------
    >>> from tacit.experiments.dispatch import run_all
    >>> run_all(lambda n, watch: 2 * n, [1, 2, 3]).results
    [2, 4, 6]
    """
    where = backends.parse(on, workers)
    if timeout is not None:
        timeout = check.positive("timeout", timeout)
    return dispatch(partial(where.open, setup), job, JobHandler(items, watch, done), timeout=timeout)
