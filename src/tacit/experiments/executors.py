"""Where jobs run: on threads, in processes, or on any `concurrent.futures.Executor`.

A job is a function of an item and a watcher. Its events come back while it runs, from threads directly and from
processes through a pipe; somebody else's executor has no such way, and tells only what is done. A job that raises does
not end the others, nor does a worker process that dies. Ctrl-C lets jobs that run end early, with what they have, and
the rest never begin; on somebody else's executor, jobs that run are left alone.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from tacit.core import check, limits
from tacit.core.errors import TacitError, brief, sentence
from tacit.engine import Advanced, Event, Watcher
from tacit.experiments.workers import Workers

Item = TypeVar("Item")
T = TypeVar("T")

#: Seconds between two looks at the jobs.
_TICK = 0.1


@dataclass(frozen=True)
class Failure:
    """A job that raised, in one sentence, and what it raised."""

    sentence: str
    error: BaseException


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
        Called in each worker process before its first job, and on other executors before every job; it must pickle.
    """
    size = limits.integer("workers", os.cpu_count() or 1 if workers is None else workers, least=1, most=limits.WORKERS)
    if isinstance(on, str):
        check.choice("executor", on, ["threads", "processes"])
    elif not isinstance(on, Executor):
        raise TacitError(f"on is {brief(on)}; it must be 'threads', 'processes' or an Executor")
    pool = _pool(on, size, setup)
    futures: list[Future[T]] = []
    interrupted = False
    try:
        for k, item in enumerate(items):
            futures.append(pool.submit(k, job, item))
        waiting = set(futures)
        while waiting:
            _, waiting = wait(waiting, timeout=_TICK)
            _pass_on(pool, watch)
    except KeyboardInterrupt:
        interrupted = True
        for future in futures:
            future.cancel()  # those that have not begun
    pool.shutdown(early=interrupted)
    _pass_on(pool, watch)
    results = [_settled(future) for future in futures]
    return Batch(results + [None] * (len(items) - len(results)), interrupted)


def _pass_on(pool: _Pool, watch: Callable[[int, Event], None] | None) -> None:
    for k, event in pool.events():
        if watch is not None:
            watch(k, event)


def _settled(future: Future[Any]) -> Any:
    """Return a job's result, a Failure, or None where it has none."""
    if not future.done() or future.cancelled():
        return None
    error = future.exception()
    if error is None:
        return future.result()
    if isinstance(error, KeyboardInterrupt):
        return None
    logging.getLogger("tacit").debug("a job failed", exc_info=error)
    return Failure(sentence(error), error)


def _pool(on: str | Executor, size: int, setup: Callable[[], None] | None) -> _Pool:
    if not isinstance(on, str):
        return _Others(on, setup)
    return _Threads(size) if on == "threads" else _Processes(size, setup)


class _Pool:
    """An executor with a way back for events, and a way to end early."""

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        """Hand a job over."""
        raise NotImplementedError

    def events(self) -> list[tuple[int, Event]]:
        """Return the events that have come back since."""
        return []

    def shutdown(self, *, early: bool) -> None:
        """Wait for the jobs that run; `early` asks them to end with what they have."""


class _Others(_Pool):
    """Somebody else's executor, which is not ours to shut down."""

    def __init__(self, executor: Executor, setup: Callable[[], None] | None) -> None:
        self._executor, self._setup = executor, setup

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        try:
            return self._executor.submit(_prepared, self._setup, job, item)
        except Exception as error:  # e.g. it is broken or was shut down
            failed: Future[Any] = Future()
            failed.set_exception(error)
            return failed


def _prepared(setup: Callable[[], None] | None, job: Any, item: Any) -> Any:
    if setup is not None:
        setup()
    return job(item, None)


class _Threads(_Pool):
    """Threads of this process: kernels release the interpreter's lock."""

    def __init__(self, size: int) -> None:
        self._executor = ThreadPoolExecutor(size)
        self._stop, self._events = threading.Event(), queue.SimpleQueue[tuple[int, Event]]()

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        return self._executor.submit(job, item, partial(self._send, k))

    def events(self) -> list[tuple[int, Event]]:
        found = []
        try:
            while True:
                found.append(self._events.get_nowait())
        except queue.Empty:
            return found

    def shutdown(self, *, early: bool) -> None:
        if early:
            self._stop.set()
        self._executor.shutdown(wait=True, cancel_futures=early)

    def _send(self, k: int, event: Event) -> None:
        """Pass on an event; end the run after a chunk where it is to stop."""
        self._events.put((k, event))
        if isinstance(event, Advanced) and self._stop.is_set():
            raise KeyboardInterrupt


class _Processes(_Threads):
    """Threads that each have a worker process, so that one that dies takes nothing with it but its own job."""

    def __init__(self, size: int, setup: Callable[[], None] | None) -> None:
        super().__init__(size)
        self._workers = Workers(setup, self._stop)

    def submit(self, k: int, job: Any, item: Any) -> Future[Any]:
        return self._executor.submit(self._workers.run, job, item, partial(self._send, k))

    def shutdown(self, *, early: bool) -> None:
        try:
            super().shutdown(early=early)
        finally:  # Ctrl-C once more, too
            self._workers.end()

    def _send(self, k: int, event: Event) -> None:
        self._events.put((k, event))
