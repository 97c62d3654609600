"""Where jobs run: threads, processes, or any `concurrent.futures.Executor`, as for Ray and Dask.

Backends differ only in how a job gets to a worker and its messages back; `runner.Dispatcher` decides what
runs when, tries again what a dead worker had, and ends what takes too long.

On threads kernels release the interpreter's lock. Processes are started anew (not forked), so that nothing is shared by
accident; each runs one job after the other and has a pipe of its own. One that dies takes nothing with it but its own
job. An executor has no way back for events: a job says nothing until it is done, and cannot be ended.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import queue
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

from tacit.core import check, registry
from tacit.core.errors import TacitError, brief, one_line, sentence
from tacit.engine import Advanced, Event

#: Clusters, and how the address of one is written.
CLUSTERS = {"ray": "ray:HOST:PORT or ray:auto", "dask": "dask:tcp://HOST:PORT"}

#: A job, and how often it was started before.
Key = tuple[int, int]

#: What prepares a worker process, pickled, where anything does; then the job and its item, pickled.
Parcel = tuple[bytes | None, bytes]


@dataclass(frozen=True)
class Began:
    """A worker has imported what a job needs and begins; `where` is for people, e.g. "node7:4711"."""

    where: str


@dataclass(frozen=True)
class Ended:
    """The last word on a job: its result, or what it raised."""

    result: Any = None
    error: Any = None


class Lost(Exception):
    """The worker died, or the job was given up with it."""


class Stopped(BaseException):
    """The job was ended early, or never began, because it was asked to stop."""


Message = Began | Event | Ended


class Backend:
    """Somewhere that jobs run. All methods are called from one thread.

    Parameters
    ----------
    capacity : int
        How many jobs may be here at once.
    setup : bytes, optional
        What prepares a worker process, a function of nothing, pickled.
    """

    def __init__(self, capacity: int, setup: bytes | None = None) -> None:
        self._inbox: queue.SimpleQueue[tuple[Key, Message]] = queue.SimpleQueue()
        self.capacity, self._setup = capacity, setup

    def pack(self, job: Any, item: Any) -> Any:
        """Return a job as it travels; what does not pickle raises."""
        return self._setup, pickle.dumps((job, item))

    def start(self, key: Key, parcel: Any) -> None:
        """Hand a job over, packed."""
        raise NotImplementedError

    def receive(self, timeout: float) -> list[tuple[Key, Message]]:
        """Return the messages that have come, after at most so many seconds."""
        messages: list[tuple[Key, Message]] = []
        with contextlib.suppress(queue.Empty):
            messages.append(self._inbox.get(timeout=timeout))
            while True:
                messages.append(self._inbox.get_nowait())
        return messages

    def stop(self) -> None:
        """Ask all jobs to end early with what they have. Those that have not begun never begin."""
        raise NotImplementedError

    def interrupt(self) -> bool:
        """Cut jobs short that did not end when asked; return whether that is possible."""
        return False

    def kill(self, key: Key) -> None:
        """End a job by force, or leave it alone where that is impossible. Nothing that it says counts any more."""

    def close(self) -> None:
        """End the workers that are ours, and what still runs on them."""

    def _report(self, key: Key, call: Callable[[], Any]) -> None:
        """Call a function, and put what becomes of it into the inbox."""
        try:
            last = Ended(call())
        except (KeyboardInterrupt, CancelledError):
            last = Ended(error=Stopped())
        except BaseException as error:  # whatever a job raises
            last = Ended(error=error)
        self._inbox.put((key, last))


def choose_backend(on: str | Executor, workers: int | None) -> Callable[[Callable[[], None] | None], Backend]:
    """Return a function that opens a backend, given what each worker process calls first.

    >>> choose_backend("threads", 2)(None).capacity
    2
    """
    if workers is not None:
        workers = check.integer("workers", workers)
    if isinstance(on, Executor):
        return lambda setup: Foreign(on, workers, _pack_setup(setup))
    if not isinstance(on, str):
        raise TacitError(f"on must be threads, processes, {' or '.join(CLUSTERS)} or an Executor; got {brief(on)}")
    name, colon, rest = on.partition(":")
    check.choice("executor", name, ("threads", "processes", *CLUSTERS))
    if name in CLUSTERS:
        if not rest:
            raise TacitError(f"on must have the address of the cluster, {CLUSTERS[name]}; got {brief(on)}")
        join = join_ray if name == "ray" else join_dask
        return lambda setup: join(rest, workers, _pack_setup(setup))
    if colon:
        raise TacitError(f"on must be {name}, with workers=N for N at once; got {brief(on)}")
    local = Threads if name == "threads" else Processes
    return lambda setup: local(workers or cores(), _pack_setup(setup))


def _pack_setup(setup: Callable[[], None] | None) -> bytes | None:
    return None if setup is None else pickle.dumps(setup)


class Reporter:
    """The watcher of a job: it sends events, and ends a run if asked to.

    Events that only count episodes are sent once in a tenth of a second at most.
    """

    def __init__(self, send: Callable[[Any], None], asked_to_stop: Callable[[], bool]) -> None:
        self.send, self._asked, self._last = send, asked_to_stop, 0.0

    def __call__(self, event: Event) -> None:
        """Send an event."""
        advanced, now = isinstance(event, Advanced), time.monotonic()
        if not advanced or now - self._last >= 0.1:
            self._last = now
            self.send(event)
        if advanced and self._asked():
            raise KeyboardInterrupt


def here() -> str:
    """Say where this process is: a machine, a colon, and the number of the process."""
    return f"{socket.gethostname()}:{os.getpid()}"


def cores() -> int:
    """Return how many cores this process may use. A job of Slurm has fewer than the machine."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# what a worker process does with a job, wherever it is ----------------------------------------------------------------

_prepared: set[bytes] = set()
_lock = threading.Lock()


def answer(parcel: Parcel, watch: Reporter | None = None) -> bytes:
    """Run a job, and return its result, pickled, or what it raised as a sentence.

    A job is unpickled after the preparation, which may make the modules known that it refers to.
    """
    setup, packed = parcel
    try:
        with _lock:
            if setup is not None and setup not in _prepared:
                pickle.loads(setup)()
                _prepared.add(setup)
        job, item = pickle.loads(packed)
        if watch is not None:
            watch.send(Began(here()))
        return pickle.dumps((job(item, watch), None))
    except KeyboardInterrupt:
        return pickle.dumps((None, Stopped()))
    except (Exception, SystemExit) as error:  # whatever a job raises; or its result does not pickle
        raised = TacitError(sentence(error))
        raised.add_note(traceback.format_exc())
        return pickle.dumps((None, raised))


def read_answer(answered: bytes) -> Any:
    """Return the result in an answer, or raise what the job raised."""
    result, error = pickle.loads(answered)
    if error is not None:
        raise error
    return result


# jobs on this machine -------------------------------------------------------------------------------------------------


class Threads(Backend):
    """A thread for each job. They are daemons: one that hangs and was given up does not keep the process alive."""

    def __init__(self, capacity: int, setup: bytes | None = None) -> None:
        super().__init__(capacity, setup)
        self._stop = threading.Event()
        self._killed: set[Key] = set()

    def pack(self, job: Any, item: Any) -> Any:
        """Return a job as it is: it stays in this process."""
        return job, item

    def start(self, key: Key, parcel: Any) -> None:
        """Hand a job over."""
        call = partial(self._report, key, partial(self._run, key, parcel))
        threading.Thread(target=call, name="tacit-job", daemon=True).start()

    def stop(self) -> None:
        """Ask all jobs to end early."""
        self._stop.set()

    def kill(self, key: Key) -> None:
        """Give a job up: no thread can be ended by force. It ends with its next event, if there is one."""
        self._killed.add(key)

    def close(self) -> None:
        """Ask all jobs to end early."""
        self._stop.set()

    def _run(self, key: Key, parcel: Any) -> Any:
        job, item = parcel
        self._send(key, Began(here()))
        return job(item, Reporter(partial(self._send, key), self._stop.is_set))

    def _send(self, key: Key, message: Message) -> None:
        if key in self._killed:  # before it writes anything
            raise Stopped
        self._inbox.put((key, message))


#: Seconds that an idle worker has to end by itself.
_PATIENCE = 5.0


class Processes(Threads):
    """A thread for each job, which talks to the worker process that runs it."""

    def __init__(self, capacity: int, setup: bytes | None) -> None:
        super().__init__(capacity, setup)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: dict[Key, _Worker] = {}

    pack = Backend.pack

    def stop(self) -> None:
        """Ask all jobs to end early."""
        with self._lock:
            self._stop.set()
            for worker in self._busy.values():
                worker.ask_to_end()

    def interrupt(self) -> bool:
        """Cut jobs short, and return whether that is possible."""
        with self._lock:
            for worker in self._busy.values():
                worker.interrupt()
        return _CUT is not None

    def kill(self, key: Key) -> None:
        """End a job by force."""
        with self._lock:
            self._killed.add(key)
            if key in self._busy:
                self._busy[key].process.kill()

    def close(self) -> None:
        """End all workers, those that have nothing to do with patience."""
        with self._lock:
            self._stop.set()
            for worker in self._busy.values():
                worker.process.kill()
            for worker in self._idle:
                worker.ask_to_end()
            for worker in self._idle:
                worker.end(_PATIENCE)
            self._idle.clear()

    def _run(self, key: Key, parcel: Parcel) -> Any:
        """Run a job in a worker of its own, which the next job gets."""
        worker, alive = self._take(key), False
        try:
            answered = worker.run(parcel, partial(self._send, key))
            alive = True
        except (EOFError, OSError):
            raise Lost from None
        finally:
            with self._lock:
                del self._busy[key]
                again = alive and not self._stop.is_set()
                self._idle += [worker] * again
            if not again:
                worker.end(_PATIENCE if alive else 0.0)
        return read_answer(answered)

    def _take(self, key: Key) -> _Worker:
        """Return a worker that has nothing to do, started if there is none."""
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or _Worker()
        with self._lock:
            self._busy[key] = worker
            if self._stop.is_set():
                worker.ask_to_end()
            if key in self._killed:
                worker.process.kill()
        return worker


class _Worker:
    """One process, seen from here."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        if hasattr(signal, "pthread_sigmask"):  # a terminal sends Ctrl-C to every process; it is the driver's alone
            resource_tracker.ensure_running()  # it would lift the block
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._sending = threading.Lock()
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,))
        self.process.start()
        theirs.close()

    def run(self, parcel: Parcel, watch: Callable[[Message], None]) -> bytes:
        """Send a job, pass on its events, and return its answer."""
        self._send(parcel)
        while not isinstance(message := self._pipe.recv(), bytes):
            watch(message)
        return message

    def ask_to_end(self) -> None:
        """Let it end when its job has ended, and its job end early."""
        with contextlib.suppress(OSError):  # it has ended already
            self._send(None)

    def _send(self, content: Parcel | None) -> None:
        with self._sending:  # a job and the wish to end come from different threads
            self._pipe.send(content)

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the job that runs, if one does."""
        if _CUT is not None and self.process.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended already
                os.kill(self.process.pid, _CUT)

    def end(self, patience: float) -> None:
        """End the process, after so many seconds by force."""
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        self._pipe.close()


#: What stands for Ctrl-C in a worker, to which a terminal sends it as it does to the driver; None where there is none.
_CUT: Any = getattr(signal, "SIGUSR1", None)


def _serve(pipe: Connection) -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _heed_cut(signal.SIG_IGN)
    os.dup2(2, 1)  # a job may print; stdout is the parent's
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while (parcel := pipe.recv()) is not None:
            _heed_cut(signal.default_int_handler)
            answered = answer(parcel, Reporter(pipe.send, pipe.poll))  # all that comes is the wish to end
            _heed_cut(signal.SIG_IGN)
            pipe.send(answered)


def _heed_cut(handler: Any) -> None:
    if _CUT is not None:
        signal.signal(_CUT, handler)


#: Jobs handed over at once where nobody says how many workers there are.
_WINDOW = 256


class Foreign(Backend):
    """An executor as a backend: a job says nothing until it is done. `close` is called in the end."""

    def __init__(
        self,
        executor: Executor,
        workers: int | None,
        setup: bytes | None,
        run: Callable[[Parcel], bytes] = answer,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(_WINDOW if workers is None else workers, setup)
        self._executor, self._run, self._close = executor, run, close
        self._futures: dict[Key, Future[bytes]] = {}

    def start(self, key: Key, parcel: Parcel) -> None:
        """Hand a job over."""
        try:
            future = self._executor.submit(self._run, parcel)
        except Exception as error:  # e.g. it is broken or was shut down
            future = Future()
            future.set_exception(error)
        self._futures[key] = future
        future.add_done_callback(partial(self._done, key))

    def _done(self, key: Key, future: Future[bytes]) -> None:
        self._report(key, lambda: read_answer(future.result()))
        self._futures.pop(key, None)

    def stop(self) -> None:
        """Cancel all jobs; those that have begun are left alone."""
        for key, future in list(self._futures.items()):
            if not future.cancel():
                self._inbox.put((key, Ended(error=Stopped())))

    def close(self) -> None:
        """Shut down what is ours."""
        self._close()


# Ray and Dask as executors, on a cluster that is there: each runs a task again whose worker died --------------------

#: How often a task is run again whose worker died.
_RETRIES = 2
#: Seconds that a cluster has to answer.
_REPLY = 5.0


class RayExecutor(Executor):
    """Tasks on a Ray cluster; `address` is as `ray.init` takes it."""

    def __init__(self, address: str) -> None:
        self._ray: Any = registry.require("ray", "ray")
        self._refs: set[Any] = set()
        self._connected = not self._ray.is_initialized()  # otherwise the user has, and disconnects
        if self._connected:
            try:
                parts = urlsplit(address if "://" in address else f"//{address}")
                if parts.hostname and parts.port:  # where nothing listens, Ray itself would try for minutes
                    socket.create_connection((parts.hostname, parts.port), _REPLY).close()
                self._ray.init(address=address, log_to_driver=False, logging_level="ERROR")
            except Exception as error:  # of many kinds
                raise TacitError(f"no Ray cluster answers at {address!r}: {one_line(error, 200)}") from None

    def submit(self, function: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a task."""
        ref = self._ray.remote(function).options(num_cpus=1, max_retries=_RETRIES).remote(*args, **kwargs)
        self._refs.add(ref)
        future: Future[Any] = ref.future()
        future.add_done_callback(lambda _: self._refs.discard(ref))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the tasks, and disconnect."""
        for ref in list(self._refs):
            with contextlib.suppress(Exception):  # it has ended
                self._ray.cancel(ref, force=True)
        if self._connected:
            self._ray.shutdown()


def join_ray(address: str, workers: int | None, setup: bytes | None) -> Backend:
    """Return the Ray cluster at an address as a backend."""
    ray = RayExecutor(address)
    return Foreign(ray, workers, setup, close=ray.shutdown)


def join_dask(address: str, workers: int | None, setup: bytes | None) -> Backend:
    """Return the workers of the Dask scheduler at an address as a backend."""
    distributed = registry.require("distributed", "dask")
    try:
        client = distributed.Client(address, set_as_default=False, timeout=10)
    except (OSError, ValueError) as error:
        raise TacitError(f"no Dask scheduler answers at {address!r}: {one_line(error, 200)}") from None
    return Foreign(client.get_executor(pure=False), workers, setup, answer_on_dask, client.close)


def answer_on_dask(parcel: Parcel) -> bytes:
    """Run a job in a worker of Dask. It ends early when its task is cancelled."""
    from distributed import get_worker
    from distributed.worker import thread_state

    worker, key = get_worker(), thread_state.key

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return answer(parcel, Reporter(lambda event: None, is_cancelled))
