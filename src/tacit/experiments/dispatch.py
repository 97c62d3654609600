"""Which job runs when: as many at once as a place has room for, until every job is done, failed or was stopped.

What a dead worker had is tried again, what takes longer than the timeout is ended, and results are stored by threads
beside, because a disk may take longer to write a result than a worker to compute it.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tacit.core.errors import TacitError, sentence
from tacit.engine import Advanced, Event, Measured
from tacit.engine.drive import Interrupts
from tacit.experiments.places import Began, Ended, Failed, Key, Lost, Message, Place, Prepared, Stopped

T = TypeVar("T")

#: Workers may die this often while they run a job before the job counts as failed.
DEATHS = 2
#: Seconds between two looks at the clock.
_TICK = 0.1
#: Seconds that a worker may take to import what a job needs, beyond the timeout.
_GETTING_READY = 120.0
#: Seconds after Ctrl-C in which a job that is still compiling may come to its first chunk: it has nothing to lose.
_GRACE = 0.5
#: Threads that store results, and results that may wait for them before no more jobs begin.
_WRITERS, _BACKLOG = 8, 64
_DIED = (
    f"its worker process died {DEATHS + 1} times; it may have run out of memory, or a script that starts processes "
    'lacks `if __name__ == "__main__":`'
)

_log = logging.getLogger("tacit")


class Fault(TacitError):
    """Something that happened to a job, rather than an input that was wrong."""


@dataclass(frozen=True)
class Failure:
    """A job that raised, in one sentence, and what it raised."""

    sentence: str
    error: BaseException


@dataclass(frozen=True)
class Batch(Generic[T]):
    """What became of each job: its result, a Failure, or None where Ctrl-C came before it began."""

    results: list[T | Failure | None]
    interrupted: bool


@dataclass(frozen=True)
class Start:
    """A job is to run with this item."""

    item: Any


@dataclass(frozen=True)
class Have:
    """A job need not run: this is its result."""

    result: Any


class Desk:
    """What happens in this process before, during and after a job."""

    def begin(self, k: int) -> Start | Have | None:
        """Return what to do with a job; None leaves it out."""
        raise NotImplementedError

    def began(self, k: int, where: str) -> None:
        """Take note that a worker has begun."""

    def event(self, k: int, event: Event) -> None:
        """Take note of an event."""

    def lost(self, k: int, where: str) -> None:
        """Take note that the worker has died, and that another will begin."""

    def more(self, k: int, result: Any) -> Any | None:
        """Return what a job lacked, as the item of another try; None takes the result as it is."""
        return None

    def settle(self, k: int, result: Any) -> Any:
        """Store a result, and return what is left to know of it; called in a thread of its own."""
        return result

    def ended(self, k: int, result: Any) -> None:
        """Take note of a result, a Failure, or None for a job that was stopped."""


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

    def __init__(self, place: Place, job: Any, count: int, desk: Desk, timeout: float | None) -> None:
        self._place, self._job, self._desk, self._timeout = place, job, desk, timeout
        self._waiting = deque(range(count))
        self._again: deque[_Running] = deque()  # what goes before all that waits
        self._running: dict[int, _Running] = {}
        self._storing: dict[Future[Any], int] = {}
        self._heard: deque[tuple[Key, Message]] = deque()  # a watcher that raises leaves the rest of them here
        self._results: list[Any] = [None] * count
        self._tries = [0] * count
        self._stopping, self._grace = False, math.inf

    def run(self) -> Batch[Any]:
        """Run all jobs; the first Ctrl-C stops those that run, a second one leaves them."""
        with ThreadPoolExecutor(_WRITERS) as self._writers, Interrupts() as interrupts:
            try:
                while self._waiting or self._again or self._running or self._storing:
                    if interrupts.pending and not self._stopping:
                        self._stopping, self._grace = True, time.monotonic() + _GRACE
                        self._waiting.clear()
                        while self._again:
                            self._end(self._again.pop().key[0], None)
                        self._place.stop()
                    try:
                        self._fill()
                        self._heard.extend(self._place.receive(_TICK if self._unfinished() else 0.0))
                        while self._heard:
                            self._take(*self._heard.popleft())
                        self._expire()
                        self._collect()
                    except KeyboardInterrupt:  # a watcher's, or a second Ctrl-C
                        if self._stopping:
                            raise
                        interrupts.pending = True
            finally:
                for k in [*self._running, *(one.key[0] for one in self._again)]:  # the place is lost, or a 2nd Ctrl-C
                    self._end(k, None)
                self._place.close()
        return Batch(self._results, self._stopping)

    def _fill(self) -> None:
        """Start as many jobs as there is room for."""
        room = self._place.capacity() - len(self._running) if self._waiting or self._again else 0
        while self._again and room > 0:
            one = self._again.popleft()
            self._start(one.key[0], one.item, one.begun)
            room -= 1
        while self._waiting and room > 0 and len(self._storing) < _BACKLOG:
            k = self._waiting.popleft()
            try:
                found = self._desk.begin(k)
            except Exception as error:  # as where a directory cannot be written
                self._end(k, _failure(error))
                continue
            if isinstance(found, Start):
                self._start(k, found.item)
                room -= 1
            elif isinstance(found, Have):
                self._end(k, found.result)

    def _start(self, k: int, item: Any, begun: int = 0) -> None:
        self._running[k] = _Running((k, self._tries[k]), item, begun)
        self._tries[k] += 1
        self._place.start(self._running[k].key, self._job, item)

    def _take(self, key: Key, message: Message) -> None:
        """Act on a message."""
        k = key[0]
        one = self._running.get(k)
        if one is None or one.key != key:  # of a try that was given up
            return
        if isinstance(message, Began):
            if one.where:  # the place itself has given it to another
                self._desk.lost(k, one.where)
            one.begun, one.where = one.begun + 1, message.where
            one.deadline = self._deadline(_GETTING_READY)
            self._desk.began(k, message.where)
        elif isinstance(message, Prepared):
            one.deadline = self._deadline()
        elif isinstance(message, Ended):
            self._ended(k, one, message.result)
        elif isinstance(message, Failed):
            self._end(k, _failure(message.error))
        elif isinstance(message, Stopped):
            self._end(k, None)
        elif isinstance(message, Lost):
            self._lost(k, one)
        else:
            one.playing |= isinstance(message, Advanced | Measured)
            self._desk.event(k, message)

    def _ended(self, k: int, one: _Running, result: Any) -> None:
        """Have a result stored, unless the job lacked something."""
        try:
            more = self._desk.more(k, result)
        except Exception as error:  # as where a file is gone
            self._end(k, _failure(error))
            return
        if more is None:
            del self._running[k]
            self._storing[self._writers.submit(self._desk.settle, k, result)] = k
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
            self._end(k, _failure(Fault(_DIED)))
        else:
            del self._running[k]
            self._again.append(one)
            self._desk.lost(k, one.where)

    def _expire(self) -> None:
        """End jobs that have run for too long, and after Ctrl-C those that have not begun to play."""
        now = time.monotonic()
        for k, one in [(k, one) for k, one in self._running.items() if now > self._grace and not one.playing]:
            self._place.kill(one.key)
            self._end(k, None)
        for k, one in [(k, one) for k, one in self._running.items() if now > one.deadline]:
            if not self._place.has(one.key):  # its worker died: what counts is when the next one begins
                one.deadline = math.inf
                continue
            self._place.kill(one.key)
            told = f"it ran for more than {self._timeout:g} s, the timeout"
            self._end(k, None if self._stopping else _failure(Fault(told)))

    def _deadline(self, more: float = 0.0) -> float:
        """Return when a job that begins now has to be done."""
        return math.inf if self._timeout is None else time.monotonic() + self._timeout + more

    def _unfinished(self) -> bool:
        return bool(self._running or self._waiting or self._again)

    def _collect(self) -> None:
        """Take note of results that were stored."""
        block = not self._unfinished()
        for future in [future for future in self._storing if block or future.done()]:
            k = self._storing.pop(future)
            error = future.exception()
            self._end(k, future.result() if error is None else _failure(error))

    def _end(self, k: int, result: Any) -> None:
        self._running.pop(k, None)
        self._results[k] = result
        self._desk.ended(k, result)


def dispatch(
    place: Callable[[], Place], job: Any, count: int, desk: Desk, *, timeout: float | None = None
) -> Batch[Any]:
    """Run `count` jobs at a place, which is opened if there are any.

    Parameters
    ----------
    place : callable
        Opens the place.
    job : callable
        A function of (item, watcher).
    count : int
    desk : Desk
        Says what each job is, and is told what becomes of it.
    timeout : float, optional
        Seconds that a job may run.
    """
    return Dispatcher(place(), job, count, desk, timeout).run() if count else Batch([], False)


def _failure(error: BaseException) -> Failure:
    _log.debug("a job failed", exc_info=error)
    return Failure(sentence(error), error)
