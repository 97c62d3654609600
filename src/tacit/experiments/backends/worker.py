"""What a worker process does with a job, wherever it is: prepare itself once, run the job, answer in bytes.

Jobs come pickled and are unpickled after the preparation, which may make the modules known that they refer to.
"""

from __future__ import annotations

import os
import pickle
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from tacit.core.errors import TacitError, sentence
from tacit.engine import Advanced, Event
from tacit.experiments.backends.base import Ended, Failed, Message, Prepared, Stopped

#: Seconds at least between two `Advanced` of a job.
TICK = 0.1

_prepared: set[bytes] = set()
_lock = threading.Lock()


@dataclass(frozen=True)
class Parcel:
    """A job as it travels: what prepares a process for it, then the job and its item; each pickled."""

    setup: bytes | None
    job: bytes

    @classmethod
    def pack(cls, setup: bytes | None, job: Any, item: Any, dumps: Callable[[Any], bytes] = pickle.dumps) -> Parcel:
        """Pack a job; `dumps` may be a function that packs what `__main__` defines by value, for workers elsewhere."""
        return cls(setup, dumps((job, item)))


@cache
def host() -> str:
    """Name this machine."""
    return socket.gethostname().replace(":", "-") or "localhost"


def here() -> str:
    """Say where this process is: a machine, a colon, and the number of the process."""
    return f"{host()}:{os.getpid()}"


def answer(parcel: Parcel, watch: Rarely | None) -> bytes:
    """Run a job, and return its last message, pickled."""
    try:
        _prepare(parcel.setup)
        job, item = pickle.loads(parcel.job)
        if watch is not None:
            watch.tell_prepared()
        return _pickle(("result", job(item, watch)))
    except KeyboardInterrupt:
        return pickle.dumps(("stopped", None))
    except (Exception, SystemExit) as error:  # whatever a job raises
        return pickle.dumps(("failed", (sentence(error), traceback.format_exc())))


def _pickle(answered: Any) -> bytes:
    """Pickle an answer; by value what only the started script knows, where the job came by value too."""
    try:
        return pickle.dumps(answered)
    except Exception:
        by_value = sys.modules.get("ray.cloudpickle") or sys.modules.get("cloudpickle")
        if by_value is None:
            raise
        return bytes(by_value.dumps(answered))


def read_answer(answered: bytes) -> Message:
    """Return the message in an answer; what was raised over there is raised here as a sentence, with its trace."""
    try:
        kind, content = pickle.loads(answered)
    except Exception as error:  # as where a result's module is not known here
        return Failed(error)
    if kind == "result":
        return Ended(content)
    if kind == "stopped":
        return Stopped()
    told, trace = content
    raised = TacitError(told)
    raised.add_note(trace)
    return Failed(raised)


def _prepare(setup: bytes | None) -> None:
    """Do what comes before the first job of a process; where it fails, every job does."""
    with _lock:
        if setup is not None and setup not in _prepared:
            pickle.loads(setup)()
            _prepared.add(setup)


class Rarely:
    """Passes on events, those that only count episodes at most ten times a second, and ends the run when asked."""

    def __init__(self, send: Callable[[Event | Prepared], None], asked_to_stop: Callable[[], bool]) -> None:
        self._send, self._asked, self._last = send, asked_to_stop, 0.0

    def tell_prepared(self) -> None:
        """Tell that the job is about to begin."""
        self._send(Prepared())

    def __call__(self, event: Event) -> None:
        """Send an event; end the run after a chunk where it is to stop."""
        advanced, now = isinstance(event, Advanced), time.monotonic()
        if not advanced or now - self._last >= TICK:
            self._last = now
            self._send(event)
        if advanced and self._asked():
            raise KeyboardInterrupt
