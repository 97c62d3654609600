"""Where jobs run: on threads, in processes, on Ray, on Dask, or on any `concurrent.futures.Executor`.

Backends differ only in how a job gets to a worker and its messages back; `dispatch` decides what runs when, tries again
what a dead worker had, and ends what takes too long.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from typing import Any, NamedTuple

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.engine import Advanced, Event

NAMES = ("threads", "processes", "ray", "dask")

#: A job, and how often it was started before.
Key = tuple[int, int]


@dataclass(frozen=True)
class Began:
    """A worker has begun with a job; `where` is for people, e.g. "node7:4711"."""

    where: str


@dataclass(frozen=True)
class Prepared:
    """The worker has imported what a job needs: from here on its time counts."""


@dataclass(frozen=True)
class Ended:
    """A job returned its result."""

    result: Any


@dataclass(frozen=True)
class Failed:
    """A job raised."""

    error: BaseException


@dataclass(frozen=True)
class Lost:
    """The worker died, or the job was given up with it."""


@dataclass(frozen=True)
class Stopped:
    """The job was ended early, or never began, because it was asked to stop."""


#: What can be said about a job, and what is the last word on it.
Message = Began | Prepared | Event | Ended | Failed | Lost | Stopped
LAST = (Ended, Failed, Lost, Stopped)


class Backend:
    """Somewhere that jobs run. All methods are called from one thread."""

    def __init__(self) -> None:
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        raise NotImplementedError

    def start(self, key: Key, job: Any, item: Any) -> None:
        """Hand a job over."""
        raise NotImplementedError

    def receive(self, timeout: float) -> list[tuple[Key, Message]]:
        """Return the messages that have come, after at most so many seconds."""
        found: list[tuple[Key, Message]] = []
        try:
            found += self._unpack(self._inbox.get(timeout=timeout))
            while True:
                found += self._unpack(self._inbox.get_nowait())
        except queue.Empty:
            return found

    def stop(self) -> None:
        """Ask all jobs to end early with what they have; those that have not begun never begin."""
        raise NotImplementedError

    def has(self, key: Key) -> bool:
        """Say whether a worker that has begun a job is still there; a backend that loses one says so itself."""
        return True

    def kill(self, key: Key) -> None:
        """End a job by force, or leave it alone where that is impossible; nothing that it says counts any more."""

    def close(self) -> None:
        """End the workers that are ours, and what still runs on them."""

    def _unpack(self, sent: Any) -> list[tuple[Key, Message]]:
        """Return the messages in what has arrived."""
        return [sent]


class Where(NamedTuple):
    """The name of a kind of backend, or somebody's executor; its address; and how many workers it may have."""

    kind: Any
    address: str
    workers: int | None

    def open(self, setup: Callable[[], None] | None = None) -> Backend:
        """Open the backend; `setup` is called in each worker process before its first job."""
        prepared = None if setup is None else pickle.dumps(setup)
        match self.kind:
            case "threads":
                from tacit.experiments.backends.local import Threads

                return Threads(self.workers or cores())
            case "processes":
                from tacit.experiments.backends.local import Processes

                return Processes(self.workers or cores(), prepared)
            case "ray":
                from tacit.experiments.backends.ray_cluster import Ray

                return Ray(self.address, self.workers, prepared)
            case "dask":
                from tacit.experiments.backends.dask_cluster import Dask

                return Dask(self.address, self.workers, prepared)
            case executor:
                from tacit.experiments.backends.local import Foreign

                return Foreign(executor, self.workers, prepared)


def parse(on: str | Executor, workers: int | None) -> Where:
    """Return which backend is meant; `on` may state the number of workers, or an address.

    >>> parse("ray:10.0.0.1:6379", 8)
    Where(kind='ray', address='10.0.0.1:6379', workers=8)
    """
    if workers is not None:
        check.integer("workers", workers)
    if isinstance(on, Executor):
        return Where(on, "", workers)
    if not isinstance(on, str):
        raise TacitError(f"on is {brief(on)}; it must be one of {', '.join(NAMES)}, or an Executor")
    name, colon, rest = on.partition(":")
    check.choice("executor", name, NAMES)
    if colon and not rest:
        raise TacitError(f"on is {brief(on)}; after the colon comes a number of workers or an address")
    if not rest or name in ("ray", "dask"):
        return Where(name, rest, workers)
    if not rest.isdecimal():
        raise TacitError(f"on is {brief(on)}; it must be {name} or {name}:N, with N workers")
    stated = check.integer("workers", int(rest))
    if workers not in (None, stated):
        raise TacitError(f"on is {brief(on)} and workers is {workers}; give one of them")
    return Where(name, "", stated)


class Reporter:
    """The watcher of a job: sends its events, and ends the run after a chunk where it is to stop.

    Events that only count episodes are sent once in `every` seconds at most.
    """

    def __init__(self, send: Callable[[Any], None], asked_to_stop: Callable[[], bool], every: float = 0.1) -> None:
        self.send, self._asked, self._every, self._last = send, asked_to_stop, every, 0.0

    def __call__(self, event: Event) -> None:
        """Send an event."""
        advanced, now = isinstance(event, Advanced), time.monotonic()
        if not advanced or now - self._last >= self._every:
            self._last = now
            self.send(event)
        if advanced and self._asked():
            raise KeyboardInterrupt


@cache
def host() -> str:
    """Name this machine."""
    return socket.gethostname().replace(":", "-") or "localhost"


def here() -> str:
    """Say where this process is: a machine, a colon, and the number of the process."""
    return f"{host()}:{os.getpid()}"


def cores() -> int:
    """Return how many cores this process may use: in a job of Slurm, fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def hold_interrupts_back() -> set[signal.Signals]:
    """Let Ctrl-C mean nothing to this thread and to all that it starts; return the signals that were blocked before.

    A terminal sends it to every process of a command, and it is the driver's alone to heed.
    """
    if not hasattr(signal, "pthread_sigmask"):
        return set()
    resource_tracker.ensure_running()  # it would lift the block
    return {signal.Signals(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})}
