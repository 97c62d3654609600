"""Jobs in this process, on threads: kernels release the interpreter's lock; and on somebody else's executor.

An executor is mpi4py's, one for Slurm, a pool of your own. It has no way back for events: a job says nothing until it
is done. It is not ours to shut down, and a job that runs there cannot be ended.
"""

from __future__ import annotations

import threading
from concurrent.futures import Executor, Future
from typing import Any

from tacit.engine import Advanced, Event
from tacit.experiments.backends import worker
from tacit.experiments.backends.base import Backend, Began, Ended, Failed, Key, Message, Prepared, Stopped
from tacit.experiments.backends.worker import Parcel


class _GivenUp(BaseException):
    """Ends a job that nobody waits for any more, before it writes anything."""


class Threads(Backend):
    """A thread for each job. They are daemons: one that hangs and was given up does not keep the process alive."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self._size, self._stop = size, threading.Event()
        self._given_up: set[Key] = set()

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        return self._size

    def start(self, key: Key, job: Any, item: Any) -> None:
        """Hand a job over."""
        threading.Thread(target=self._run, args=(key, job, item), name="tacit-job", daemon=True).start()

    def stop(self) -> None:
        """Ask all jobs to end early."""
        self._stop.set()

    def kill(self, key: Key) -> None:
        """End a job by force, where that is possible."""
        self._given_up.add(key)  # no thread can be ended by force; it ends with its next event, if there is one

    def close(self) -> None:
        """End what is ours."""
        self._stop.set()

    def _run(self, key: Key, job: Any, item: Any) -> None:
        def watch(event: Event) -> None:
            """Pass on an event; end the run after a chunk where it is to stop."""
            if key in self._given_up:
                raise _GivenUp
            self._inbox.put((key, event))
            if isinstance(event, Advanced) and self._stop.is_set():
                raise KeyboardInterrupt

        self._inbox.put((key, Began(worker.here())))
        self._inbox.put((key, Prepared()))
        try:
            self._inbox.put((key, Ended(job(item, watch))))
        except KeyboardInterrupt:
            self._inbox.put((key, Stopped()))
        except BaseException as error:  # whatever a job raises
            self._inbox.put((key, Failed(error)))


#: Jobs handed over at once where nobody says how many workers there are.
_WINDOW = 256


class Foreign(Backend):
    """An executor as a backend."""

    def __init__(self, executor: Executor, size: int | None, setup: bytes | None) -> None:
        super().__init__()
        self._executor, self._setup = executor, setup
        self._window = _WINDOW if size is None else size
        self._waiting: dict[Key, Future[bytes]] = {}
        self._running: dict[Key, Future[bytes]] = {}

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        return self._window

    def start(self, key: Key, job: Any, item: Any) -> None:
        """Hand a job over."""
        try:
            future = self._executor.submit(worker.answer, Parcel.pack(self._setup, job, item), None)
        except Exception as error:  # e.g. it is broken or was shut down
            self._inbox.put((key, Failed(error)))
            return
        self._waiting[key] = future
        future.add_done_callback(lambda done: self._inbox.put((key, done)))

    def receive(self, timeout: float) -> list[tuple[Key, Message]]:
        """Return the messages that have come."""
        found: list[tuple[Key, Message]] = []
        for key in [key for key, future in self._waiting.items() if future.running()]:
            self._running[key] = self._waiting.pop(key)
            found += [(key, Began("the executor")), (key, Prepared())]
        return found + super().receive(0.0 if found else timeout)

    def stop(self) -> None:
        """Ask all jobs to end early."""
        for key, future in self._waiting.items():
            if not future.cancel():  # one that has begun is left alone
                self._inbox.put((key, Stopped()))
        for key in self._running:
            self._inbox.put((key, Stopped()))

    def _unpack(self, sent: Any) -> list[tuple[Key, Message]]:
        key, content = sent
        self._waiting.pop(key, None)
        self._running.pop(key, None)
        if not isinstance(content, Future):
            return [sent]
        if content.cancelled():
            return [(key, Stopped())]
        error = content.exception()
        if error is not None:
            return [(key, Stopped() if isinstance(error, KeyboardInterrupt) else Failed(error))]
        return [(key, worker.read_answer(content.result()))]
