"""Where jobs run: on threads, in processes, or on any `concurrent.futures.Executor`.

A job is a function of an item and a watcher. Its events come back while it runs, from threads directly and from
processes through a queue; somebody else's executor has no such way, and tells only what is done. A job that raises does
not end the others. Ctrl-C lets those that run end early, with what they have, and the rest never begin.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from tacit.core import check, limits
from tacit.core.errors import TacitError, brief, one_line
from tacit.engine import Advanced, Event, Watcher

Item = TypeVar("Item")
T = TypeVar("T")

#: A worker process may die this often while a job runs before the job counts as failed.
DEATHS = 2
#: Seconds between two looks at the jobs.
_TICK = 0.1


@dataclass(frozen=True)
class Failure:
    """A job that raised, in one sentence."""

    sentence: str


@dataclass(frozen=True)
class Batch(Generic[T]):
    """What became of each item: its result, a Failure, or None where Ctrl-C came before it began."""

    results: list[T | Failure | None]
    interrupted: bool


def run_all(
    job: Callable[[Item, Watcher | None], T],
    items: Sequence[Item],
    *,
    on: str | Executor = "threads",
    workers: int | None = None,
    watch: Callable[[int, Event], None] | None = None,
    setup: Callable[[], None] | None = None,
) -> Batch[T]:
    """Run a job for every item.

    Parameters
    ----------
    job : callable
        A function of (item, watcher); for processes and other executors it must pickle.
    items : sequence
    on : {"threads", "processes"} or Executor
    workers : int, optional
        How many at once, for threads and processes; the number of cores if not given.
    watch : callable, optional
        Called with (index of the item, event) while jobs run.
    setup : callable, optional
        Called once in each worker process before its first job.
    """
    size = limits.integer("workers", os.cpu_count() or 1 if workers is None else workers, least=1, most=limits.WORKERS)
    if isinstance(on, str):
        check.choice("on", on, ["threads", "processes"])
    elif not isinstance(on, Executor):
        raise TacitError(f"on is {brief(on)}; it must be 'threads', 'processes' or an Executor")
    results: list[T | Failure | None] = [None] * len(items)
    deaths = [0] * len(items)
    left = list(range(len(items)))
    while left:
        interrupted = _round(_pool(on, size, setup), job, items, left, results, watch or _ignore)
        if interrupted:
            return Batch(results, True)
        left = [k for k in left if results[k] is None]
        for k in left:  # their worker process has died
            deaths[k] += 1
            if deaths[k] > DEATHS:
                results[k] = Failure("its worker process died, again and again; it may have run out of memory")
        left = [k for k in left if results[k] is None]
    return Batch(results, False)


def _pool(on: str | Executor, size: int, setup: Callable[[], None] | None) -> _Pool:
    if not isinstance(on, str):
        return _Others(on)
    return _Threads(size) if on == "threads" else _Processes(size, setup)


def _round(pool: _Pool, job: Any, items: Sequence[Any], which: Iterable[int], results: list[Any], watch: Any) -> bool:
    """Run jobs until all are done, Ctrl-C comes or a worker dies; return whether it was Ctrl-C."""
    futures: dict[Future[Any], int] = {}
    interrupted = False
    try:
        for k in which:
            futures[pool.submit(k, job, items[k])] = k
        waiting = set(futures)
        while waiting:
            _, waiting = wait(waiting, timeout=_TICK)
            for k, event in pool.events():
                watch(k, event)
    except KeyboardInterrupt:
        interrupted = True
        pool.stop()
    except BrokenExecutor:
        pass
    pool.shutdown()
    for k, event in pool.events():
        watch(k, event)
    for future, k in futures.items():
        if future.done() and not future.cancelled():
            results[k] = _settled(future)
    return interrupted


def _settled(future: Future[Any]) -> Any:
    """Return a job's result, a Failure, or None where it is to be tried again."""
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, KeyboardInterrupt | BrokenExecutor):
        return None
    logging.getLogger("tacit").debug("a job failed", exc_info=error)
    return Failure(one_line(error if isinstance(error, TacitError) else f"{type(error).__name__}: {error}"))


def _ignore(index: int, event: Event) -> None:
    """Watch nothing."""


class _Pool:
    """An executor with a way back for events, and a way to stop."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        return self.executor.submit(job, item, None)

    def events(self) -> list[tuple[int, Event]]:
        return []

    def stop(self) -> None:
        """Ask running jobs to end early."""

    def shutdown(self) -> None:
        """Wait for the running jobs; those that have not begun never do."""
        self.executor.shutdown(wait=True, cancel_futures=True)


class _Others(_Pool):
    """Somebody else's executor, which is not ours to shut down."""

    def shutdown(self) -> None:
        """Leave it."""


class _Threads(_Pool):
    """Threads of this process: kernels release the interpreter's lock."""

    def __init__(self, size: int) -> None:
        super().__init__(ThreadPoolExecutor(size))
        self._stop, self._events = threading.Event(), queue.SimpleQueue[tuple[int, Event]]()

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        return self.executor.submit(job, item, partial(_send, self._events, self._stop, k))

    def events(self) -> list[tuple[int, Event]]:
        return _drained(self._events)

    def stop(self) -> None:
        self._stop.set()


class _Processes(_Pool):
    """Processes that are started anew, so that nothing of this one is shared by accident."""

    def __init__(self, size: int, setup: Callable[[], None] | None) -> None:
        context = multiprocessing.get_context("spawn")
        self._stop, self._events = context.Event(), context.Queue()
        given = (self._events, self._stop, setup)
        super().__init__(ProcessPoolExecutor(size, mp_context=context, initializer=_join, initargs=given))

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        return self.executor.submit(_in_process, k, job, item)

    def events(self) -> list[tuple[int, Event]]:
        return _drained(self._events)

    def stop(self) -> None:
        self._stop.set()


def _drained(source: Any) -> list[tuple[int, Event]]:
    found = []
    try:
        while True:
            found.append(source.get_nowait())
    except queue.Empty:
        return found


def _send(events: Any, stop: Any, k: int, event: Event) -> None:
    """Pass on an event, and end the run where it is to stop."""
    events.put((k, event))
    if stop.is_set():
        raise KeyboardInterrupt


#: In a worker process: the queue of events and the signal to stop.
_way_back: list[Any] = []


def _join(events: Any, stop: Any, setup: Callable[[], None] | None) -> None:
    """Begin a worker process; Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _way_back[:] = [events, stop]
    if setup is not None:
        setup()


def _in_process(k: int, job: Any, item: Any) -> Any:
    """Run a job in a worker process; progress is passed on at most ten times a second."""
    events, stop = _way_back
    return job(item, _Rarely(partial(_send, events, stop, k)))


class _Rarely:
    """Passes on events, those that only count episodes at most ten times a second."""

    def __init__(self, watch: Watcher) -> None:
        self._watch, self._last = watch, 0.0

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if not isinstance(event, Advanced) or now - self._last >= _TICK:
            self._watch(event)
            self._last = now
