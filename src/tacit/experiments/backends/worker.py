"""What a worker process does with a job, wherever it is: prepare itself once, run the job, answer in bytes.

Jobs come pickled and are unpickled after the preparation, which may make the modules known that they refer to.
"""

from __future__ import annotations

import pickle
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tacit.core.errors import TacitError, sentence
from tacit.experiments.backends import Ended, Failed, Message, Prepared, Reporter, Stopped

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


def answer(parcel: Parcel, watch: Reporter | None) -> bytes:
    """Run a job, and return the last word on it, pickled; what it raised, as a sentence with its trace."""
    try:
        _prepare(parcel.setup)
        job, item = pickle.loads(parcel.job)
        if watch is not None:
            watch.send(Prepared())
        return _pickle(Ended(job(item, watch)))
    except KeyboardInterrupt:
        return pickle.dumps(Stopped())
    except (Exception, SystemExit) as error:  # whatever a job raises
        raised = TacitError(sentence(error))
        raised.add_note(traceback.format_exc())
        return pickle.dumps(Failed(raised))


def _pickle(answered: Message) -> bytes:
    """Pickle an answer; by value what only the started script knows, where the job came by value too."""
    try:
        return pickle.dumps(answered)
    except Exception:
        by_value = sys.modules.get("ray.cloudpickle") or sys.modules.get("cloudpickle")
        if by_value is None:
            raise
        return bytes(by_value.dumps(answered))


def read_answer(answered: bytes) -> Message:
    """Return the message in an answer."""
    try:
        found: Message = pickle.loads(answered)
    except Exception as error:  # as where a result's module is not known here
        return Failed(error)
    return found


def _prepare(setup: bytes | None) -> None:
    """Do what comes before the first job of a process; where it fails, every job does."""
    with _lock:
        if setup is not None and setup not in _prepared:
            pickle.loads(setup)()
            _prepared.add(setup)
