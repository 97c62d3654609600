"""Jobs on threads of this process: kernels release the interpreter's lock."""

from __future__ import annotations

import threading
from typing import Any

from tacit.engine import Advanced, Event
from tacit.experiments.places import worker
from tacit.experiments.places.base import Began, Ended, Failed, Key, Place, Prepared, Stopped


class _GivenUp(BaseException):
    """Ends a job that nobody waits for any more, before it writes anything."""


class Threads(Place):
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
