"""Where jobs run: on threads, in processes, or on any `concurrent.futures.Executor`, as those of Ray and Dask are.

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
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tacit.core import check, registry
from tacit.core.errors import TacitError, brief, one_line, sentence
from tacit.engine import Advanced, Event

#: Clusters, and how the address of one is written.
CLUSTERS = {"ray": "ray:HOST:PORT or ray:auto", "dask": "dask:tcp://HOST:PORT"}
NAMES = ("threads", "processes", *CLUSTERS)

#: A job, and how often it was started before.
Key = tuple[int, int]


@dataclass(frozen=True)
class Began:
    """A worker has imported what a job needs and begins; `where` is for people, e.g. "node7:4711"."""

    where: str


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


#: What can be said about a job; the last four are the last word on it.
Message = Began | Event | Ended | Failed | Lost | Stopped


@dataclass(frozen=True)
class Parcel:
    """A job as it travels: what prepares a process for it, then the job and its item; each pickled."""

    setup: bytes | None
    job: bytes


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
        return Parcel(self._setup, pickle.dumps((job, item)))

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
        """Ask all jobs to end early with what they have; those that have not begun never begin."""
        raise NotImplementedError

    def interrupt(self) -> bool:
        """Cut jobs short that did not end when they were asked to, and return whether that is possible."""
        return False

    def kill(self, key: Key) -> None:
        """End a job by force, or leave it alone where that is impossible; nothing that it says counts any more."""

    def close(self) -> None:
        """End the workers that are ours, and what still runs on them."""


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
                return Threads(self.workers or cores())
            case "processes":
                return Processes(self.workers or cores(), prepared)
            case "ray":
                ray = RayExecutor(self.address)
                return Foreign(ray, self.workers, prepared, close=ray.shutdown)
            case "dask":
                client = dask_client(self.address)
                executor = client.get_executor(pure=False)
                return Foreign(executor, self.workers, prepared, answer_on_dask, client.close)
            case executor:
                return Foreign(executor, self.workers, prepared)


def parse(on: str | Executor, workers: int | None) -> Where:
    """Return which backend is meant; `on` may state the number of workers, or an address.

    >>> parse("ray:10.0.0.1:6379", 8)
    Where(kind='ray', address='10.0.0.1:6379', workers=8)
    """
    if workers is not None:
        workers = check.integer("workers", workers)
    if isinstance(on, Executor):
        return Where(on, "", workers)
    if not isinstance(on, str):
        raise TacitError(f"on is {brief(on)}; it must be one of {', '.join(NAMES)}, or an Executor")
    name, colon, rest = on.partition(":")
    check.choice("executor", name, NAMES)
    if name in CLUSTERS:
        if not rest:
            raise TacitError(f"on must have the address of the cluster, {CLUSTERS[name]}; got {brief(on)}")
        return Where(name, rest, workers)
    if not colon:
        return Where(name, "", workers)
    if not rest.isdecimal():
        raise TacitError(f"on is {brief(on)}; it must be {name} or {name}:N, with N workers")
    stated = check.integer("workers", int(rest))
    if workers not in (None, stated):
        raise TacitError(f"on is {brief(on)} and workers is {workers}; give one of them")
    return Where(name, "", stated)


class Reporter:
    """The watcher of a job: sends its events, and ends the run after a chunk where it is to stop.

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


def block_interrupts() -> None:
    """Let Ctrl-C mean nothing to this thread and to all that it starts.

    A terminal sends it to every process of a command, and it is the driver's alone to heed.
    """
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # it would lift the block
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


# what a worker process does with a job, wherever it is ----------------------------------------------------------------

_prepared: set[bytes] = set()
_lock = threading.Lock()


def answer(parcel: Parcel, watch: Reporter | None = None) -> bytes:
    """Run a job, and return the last word on it, pickled; what it raised, as a sentence with its trace.

    A job is unpickled after the preparation, which may make the modules known that it refers to.
    """
    try:
        _prepare(parcel.setup)
        job, item = pickle.loads(parcel.job)
        if watch is not None:
            watch.send(Began(here()))
        ended = Ended(job(item, watch))
        try:
            return pickle.dumps(ended)
        except Exception as error:
            raise TacitError(f"what the job returned does not pickle: {one_line(error)}") from None
    except KeyboardInterrupt:
        return pickle.dumps(Stopped())
    except (Exception, SystemExit) as error:  # whatever a job raises
        raised = TacitError(sentence(error))
        raised.add_note(traceback.format_exc())
        return pickle.dumps(Failed(raised))


def read_answer(answered: bytes) -> Message:
    """Return the message in an answer."""
    try:
        message: Message = pickle.loads(answered)
    except Exception as error:  # as where a result's module is not known here
        return Failed(error)
    return message


def _prepare(setup: bytes | None) -> None:
    """Do what comes before the first job of a process; where it fails, every job does."""
    with _lock:
        if setup is not None and setup not in _prepared:
            pickle.loads(setup)()
            _prepared.add(setup)


# jobs on this machine -------------------------------------------------------------------------------------------------


class _GivenUp(BaseException):
    """Ends a job that nobody waits for any more, before it writes anything."""


class Threads(Backend):
    """A thread for each job. They are daemons: one that hangs and was given up does not keep the process alive."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self._stop = threading.Event()
        self._given_up: set[Key] = set()

    def pack(self, job: Any, item: Any) -> Any:
        """Return a job as it is: it stays in this process."""
        return job, item

    def start(self, key: Key, parcel: Any) -> None:
        """Hand a job over."""
        threading.Thread(target=self._run, args=(key, *parcel), name="tacit-job", daemon=True).start()

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
        try:
            self._inbox.put((key, Ended(job(item, Reporter(send, self._stop.is_set)))))
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

    def __init__(self, capacity: int, setup: bytes | None) -> None:
        super().__init__(capacity, setup)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: dict[Key, _Worker] = {}
        self._killed: set[Key] = set()
        self._stopping = False

    def start(self, key: Key, parcel: Parcel) -> None:
        """Hand a job over."""
        threading.Thread(target=self._run, args=(key, parcel), daemon=True).start()

    def stop(self) -> None:
        """Ask all jobs to end early."""
        with self._lock:
            self._stopping = True
            for one in self._busy.values():
                one.ask_to_end()

    def interrupt(self) -> bool:
        """Cut jobs short, and return whether that is possible."""
        with self._lock:
            for one in self._busy.values():
                one.interrupt()
        return _CUT is not None

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

    def _run(self, key: Key, parcel: Parcel) -> None:
        """Run a job in a worker of its own, and say what becomes of it."""
        chosen: _Worker | None = None
        last: Message
        died = False
        try:
            chosen = self._take(key)
            last = read_answer(chosen.run(parcel, lambda event: self._inbox.put((key, event))))
        except (EOFError, OSError):
            last, died = Lost(), True
        except BaseException as error:
            last = Failed(error)
        with self._lock:
            self._busy.pop(key, None)
            again = not died and not self._stopping
            if again and chosen is not None:
                self._idle.append(chosen)
        if chosen is not None and not again:
            chosen.end(0.0 if died else _PATIENCE)
        self._inbox.put((key, last))

    def _take(self, key: Key) -> _Worker:
        """Return a worker that has nothing to do, started if there is none."""
        with self._lock:
            worker = self._idle.pop() if self._idle else None
        worker = worker or _Worker()
        with self._lock:
            self._busy[key] = worker
            if self._stopping:
                worker.ask_to_end()
            if key in self._killed:
                worker.kill()
        return worker


class _Worker:
    """One process, seen from here."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        block_interrupts()  # not even while they start
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

    def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the job that runs, if one does."""
        if _CUT is not None and self.pid is not None:
            with contextlib.suppress(ProcessLookupError):  # it has ended already
                os.kill(self.pid, _CUT)

    def kill(self) -> None:
        """End it at once; whoever waits for its answer is told that it has died."""
        self._process.kill()

    def end(self, patience: float) -> None:
        """End the process, after so many seconds by force."""
        self._process.join(patience)
        self._process.kill()
        self._process.join()
        self._pipe.close()


#: What stands for Ctrl-C in a worker, to which a terminal sends it as it does to the driver; None where there is none.
_CUT: Any = getattr(signal, "SIGUSR1", None)


def _serve(pipe: Connection) -> None:
    """Be a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _heed_cut(signal.SIG_IGN)
    os.dup2(2, 1)  # a job may print; stdout is the parent's
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        while (sent := pipe.recv_bytes()) != _END:
            watch = Reporter(lambda event: pipe.send((event, None)), pipe.poll)  # all that comes is to end
            _heed_cut(signal.default_int_handler)
            answered = answer(pickle.loads(sent), watch)
            _heed_cut(signal.SIG_IGN)
            pipe.send((None, answered))


def _heed_cut(handler: Any) -> None:
    if _CUT is not None:
        signal.signal(_CUT, handler)


#: Jobs handed over at once where nobody says how many workers there are.
_WINDOW = 256


class Foreign(Backend):
    """An executor as a backend: a job says nothing until it is done; `close` is called in the end."""

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
            self._inbox.put((key, Failed(error)))
            return
        self._futures[key] = future
        future.add_done_callback(partial(self._done, key))

    def _done(self, key: Key, future: Future[bytes]) -> None:
        self._inbox.put((key, _read_future(future)))
        self._futures.pop(key, None)

    def stop(self) -> None:
        """Cancel all jobs; those that have begun are left alone."""
        for key, future in list(self._futures.items()):
            if not future.cancel():
                self._inbox.put((key, Stopped()))

    def close(self) -> None:
        """Shut down what is ours."""
        self._close()


def _read_future(future: Future[bytes]) -> Message:
    if future.cancelled():
        return Stopped()
    error = future.exception()
    if error is not None:
        return Stopped() if type(error) is KeyboardInterrupt else Failed(error)
    return read_answer(future.result())


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
                check_listens(address)
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


def check_listens(address: str) -> None:
    """Raise OSError where nothing listens at host:port or ray://host:port: Ray itself would try for minutes."""
    parts = urlsplit(address if "://" in address else f"//{address}")
    if parts.hostname and parts.port:
        socket.create_connection((parts.hostname, parts.port), _REPLY).close()


def dask_client(address: str) -> Any:
    """Return a client of the Dask scheduler at an address."""
    distributed = registry.require("distributed", "dask")
    try:
        return distributed.Client(address, set_as_default=False, timeout=10)
    except (OSError, ValueError) as error:
        raise TacitError(f"no Dask scheduler answers at {address!r}: {one_line(error, 200)}") from None


def answer_on_dask(parcel: Parcel) -> bytes:
    """Run a job in a worker of Dask, and end it early when its task is cancelled or the client is gone."""
    from distributed import get_worker
    from distributed.worker import thread_state

    worker, key = get_worker(), thread_state.key

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return answer(parcel, Reporter(lambda event: None, is_cancelled))
