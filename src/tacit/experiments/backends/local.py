"""Jobs on this machine: on threads, in processes; and on somebody else's executor.

On threads kernels release the interpreter's lock. Processes are started anew (not forked), so that nothing is shared by
accident; each runs one job after the other and has a pipe of its own. One that dies, by a fault of its own or for want
of memory, takes nothing with it but its own job. An executor is mpi4py's, one for Slurm, a pool of your own. It has no
way back for events: a job says nothing until it is done. It is not ours to shut down, and a job that runs there cannot
be ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from concurrent.futures import Executor, Future
from multiprocessing.connection import Connection
from typing import Any

from tacit.engine import Event
from tacit.experiments.backends import (
    Backend,
    Began,
    Ended,
    Failed,
    Key,
    Lost,
    Message,
    Prepared,
    Reporter,
    Stopped,
    here,
    hold_interrupts_back,
    host,
)
from tacit.experiments.backends.worker import Parcel, answer, read_answer


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
        def send(event: Event) -> None:
            if key in self._given_up:
                raise _GivenUp
            self._inbox.put((key, event))

        self._inbox.put((key, Began(here())))
        self._inbox.put((key, Prepared()))
        try:
            self._inbox.put((key, Ended(job(item, Reporter(send, self._stop.is_set, every=0.0)))))
        except KeyboardInterrupt:
            self._inbox.put((key, Stopped()))
        except BaseException as error:  # whatever a job raises
            self._inbox.put((key, Failed(error)))


#: Seconds that an idle worker has to end by itself.
_PATIENCE = 5.0
#: Sent to a worker: end, when the job that runs has ended, and let it end early.
_END = b"end"


class Processes(Backend):
    """A thread for each job, which talks to the worker process that runs it."""

    def __init__(self, size: int, setup: bytes | None) -> None:
        super().__init__()
        self._size, self._setup = size, setup
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: dict[Key, _Worker] = {}
        self._killed: set[Key] = set()
        self._stopping = False

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        return self._size

    def start(self, key: Key, job: Any, item: Any) -> None:
        """Hand a job over."""
        threading.Thread(target=self._run, args=(key, job, item), daemon=True).start()

    def stop(self) -> None:
        """Ask all jobs to end early."""
        with self._lock:
            self._stopping = True
            for one in self._busy.values():
                one.ask_to_end()

    def kill(self, key: Key) -> None:
        """End a job by force, where that is possible."""
        with self._lock:
            self._killed.add(key)
            if key in self._busy:
                self._busy[key].kill()

    def close(self) -> None:
        """End what is ours."""
        with self._lock:
            self._stopping = True
            for one in self._idle:
                one.ask_to_end()
            for one in self._busy.values():
                one.kill()
            for one in self._idle:
                one.end(_PATIENCE)
            self._idle.clear()

    def _run(self, key: Key, job: Any, item: Any) -> None:
        """Run a job in a worker of its own, and say what becomes of it."""
        chosen: _Worker | None = None
        last: Message
        try:
            parcel = Parcel.pack(self._setup, job, item)
            chosen = self._take(key)
            self._inbox.put((key, Began(f"{host()}:{chosen.pid}")))
            last = read_answer(chosen.run(parcel, lambda event: self._inbox.put((key, event))))
        except (EOFError, OSError):  # it has died
            last = Lost()
        except BaseException as error:  # as where the job does not pickle
            last = Failed(error)
        with self._lock:
            self._busy.pop(key, None)
            again = chosen is not None and not isinstance(last, Lost) and not self._stopping
            if again and chosen is not None:
                self._idle.append(chosen)
        if chosen is not None and not again:
            chosen.end(0.0 if isinstance(last, Lost) else _PATIENCE)
        self._inbox.put((key, last))

    def _take(self, key: Key) -> _Worker:
        """Return a worker that has nothing to do, started if there is none."""
        with self._lock:
            found = self._idle.pop() if self._idle else None
        found = found or _Worker()
        with self._lock:
            self._busy[key] = found
            if self._stopping:
                found.ask_to_end()
            if key in self._killed:
                found.kill()
        return found


class _Worker:
    """One process, seen from here."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        hold_interrupts_back()  # not even while they start
        self._sending = threading.Lock()
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,))
        self._process.start()
        self.pid = self._process.pid
        theirs.close()

    def run(self, parcel: Parcel, watch: Any) -> bytes:
        """Send a job, pass on its events, and return its answer."""
        self._send(pickle.dumps(parcel))
        while True:
            event, answered = self._pipe.recv()
            if answered is not None:
                return bytes(answered)
            watch(event)

    def ask_to_end(self) -> None:
        """Let it end when its job has ended, and its job end early."""
        with contextlib.suppress(OSError):  # it has ended already
            self._send(_END)

    def _send(self, content: bytes) -> None:
        with self._sending:  # a job and the wish to end come from different threads
            self._pipe.send_bytes(content)

    def kill(self) -> None:
        """End it at once; whoever waits for its answer is told that it has died."""
        self._process.kill()

    def end(self, patience: float) -> None:
        """End the process, after so many seconds by force."""
        self._process.join(patience)
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection) -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # a job may print; stdout is the parent's
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while (sent := pipe.recv_bytes()) != _END:
            watch = Reporter(lambda event: pipe.send((event, None)), pipe.poll)  # all that comes is to end
            pipe.send((None, answer(pickle.loads(sent), watch)))


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
            future = self._executor.submit(answer, Parcel.pack(self._setup, job, item), None)
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
        return [(key, read_answer(content.result()))]
