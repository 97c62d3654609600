"""What a backend is: somewhere that jobs run, and from where messages about them come back.

Backends differ only in how a job gets to a worker and its messages back; `dispatch` decides what runs when, tries again
what a dead worker had, and ends what takes too long.
"""

from __future__ import annotations

import os
import queue
import signal
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

from tacit.engine import Event

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


#: What can be said about a job. `Ended`, `Failed`, `Lost` and `Stopped` are the last word on it.
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
