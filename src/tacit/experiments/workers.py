"""Worker processes: each runs one job after the other, and tells what happens through a pipe of its own.

They are started anew (not forked), so that nothing is shared by accident. One that dies, by a fault of its own or for
want of memory, is replaced, and its job is tried again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any

from tacit.core.errors import TacitError, sentence
from tacit.engine import Advanced, Event, Watcher

#: A worker process may die this often while a job runs before the job counts as failed.
DEATHS = 2
#: Seconds between two looks at a worker, and at least between two `Advanced` of a job.
_TICK = 0.1
#: Seconds that an idle worker has to end by itself.
_PATIENCE = 5.0
#: Sent to a worker: end, when the job that runs has ended, and let it end early.
_END = b"end"
_DIED = (
    f"its worker process died {DEATHS + 1} times; it may have run out of memory, or a script that starts processes "
    'lacks `if __name__ == "__main__":`'
)


class Workers:
    """Worker processes, as many as there are threads that call `run` at once.

    Parameters
    ----------
    setup : callable, optional
        Called in each process before its first job.
    stop : Event
        Set it to have all jobs end early.
    """

    def __init__(self, setup: Callable[[], None] | None, stop: threading.Event) -> None:
        self._setup, self._stop = setup, stop
        self._all: list[_Worker] = []
        self._idle: list[_Worker] = []

    def run(self, job: Any, item: Any, watch: Watcher) -> Any:
        """Run a job in a worker of its own; what it raises is raised here, as a sentence."""
        for _ in range(DEATHS + 1):
            worker = self._idle.pop() if self._idle else self._started()
            try:
                result = worker.run(job, item, watch, self._stop)
            except (EOFError, OSError):  # it has died
                self._lose(worker)
                if self._stop.is_set():
                    raise KeyboardInterrupt from None
            except (TacitError, KeyboardInterrupt):  # its job has ended, but it goes on
                self._idle.append(worker)
                raise
            except BaseException:
                self._lose(worker)
                raise
            else:
                self._idle.append(worker)
                return result
        raise TacitError(_DIED)

    def end(self) -> None:
        """End all workers; those that have nothing left to do may end by themselves."""
        for worker in self._idle:
            worker.ask_to_end()
        for worker in list(self._all):
            worker.end(_PATIENCE if worker in self._idle else 0.0)

    def _started(self) -> _Worker:
        worker = _Worker(self._setup)
        self._all.append(worker)
        return worker

    def _lose(self, worker: _Worker) -> None:
        self._all.remove(worker)
        worker.end(0.0)


class _Worker:
    """One process, seen from here."""

    def __init__(self, setup: Callable[[], None] | None) -> None:
        context = multiprocessing.get_context("spawn")
        if hasattr(signal, "pthread_sigmask"):  # Ctrl-C is not theirs to handle, not even while they start
            resource_tracker.ensure_running()  # it would lift the block
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, setup))
        self._process.start()
        theirs.close()

    def run(self, job: Any, item: Any, watch: Watcher, stop: threading.Event) -> Any:
        """Send a job, pass on its events, and return its result."""
        self._pipe.send_bytes(pickle.dumps((job, item)))
        asked = False
        while True:
            if stop.is_set() and not asked:
                self.ask_to_end()
                asked = True
            if not self._pipe.poll(_TICK):
                continue
            kind, content = self._pipe.recv()
            if kind == "event":
                watch(content)
            elif kind == "result":
                return content
            elif kind == "stopped":
                raise KeyboardInterrupt
            else:
                told, trace = content
                error = TacitError(told)
                error.add_note(trace)
                raise error

    def ask_to_end(self) -> None:
        """Let it end when its job has ended, and its job end early."""
        with contextlib.suppress(OSError):  # it has ended already
            self._pipe.send_bytes(_END)

    def end(self, patience: float) -> None:
        """End the process, after so many seconds by force."""
        self._process.join(patience)
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, setup: Callable[[], None] | None) -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # a job may print; stdout is the parent's
    first = [] if setup is None else [setup]
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while (sent := pipe.recv_bytes()) != _END:
            pipe.send_bytes(_answer(sent, first, _Rarely(pipe)))


def _answer(sent: bytes, first: list[Callable[[], None]], watch: Watcher) -> bytes:
    """Run a job, after what has to come first, and return what to send back."""
    try:
        while first:
            first[0]()
            del first[0]
        job, item = pickle.loads(sent)
        return pickle.dumps(("result", job(item, watch)))
    except KeyboardInterrupt:
        return pickle.dumps(("stopped", None))
    except (Exception, SystemExit) as error:  # whatever a job raises
        return pickle.dumps(("failed", (sentence(error), traceback.format_exc())))


class _Rarely:
    """Passes on events through a pipe, those that only count episodes at most ten times a second."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._last = pipe, 0.0

    def __call__(self, event: Event) -> None:
        """Send an event; end the run after a chunk where it is to stop."""
        advanced, now = isinstance(event, Advanced), time.monotonic()
        if not advanced or now - self._last >= _TICK:
            self._last = now
            self._pipe.send(("event", event))
        if advanced and self._pipe.poll():  # only ever to end
            raise KeyboardInterrupt
