"""Jobs on somebody else's executor: mpi4py's, one for Slurm, a pool of your own.

It has no way back for events: a job says nothing until it is done. It is not ours to shut down, and a job that runs
there cannot be ended.
"""

from __future__ import annotations

from concurrent.futures import Executor, Future
from typing import Any

from tacit.experiments.places import worker
from tacit.experiments.places.base import Began, Failed, Key, Message, Place, Prepared, Stopped
from tacit.experiments.places.worker import Parcel

#: Jobs handed over at once where nobody says how many workers there are.
_WINDOW = 256


class Others(Place):
    """An executor as a place."""

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
            future = self._executor.submit(worker.answer, Parcel.packed(self._setup, job, item), None)
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

    def _opened(self, sent: Any) -> list[tuple[Key, Message]]:
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
        return [(key, worker.opened(content.result()))]
