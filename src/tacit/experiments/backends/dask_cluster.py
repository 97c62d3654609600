"""Jobs on Dask: tasks of its scheduler, twice as many at hand as there are threads, so that no worker waits.

Events come back through the scheduler, as events of a topic. The scheduler itself gives a dead worker's tasks to
another; every beginning is reported with a token, and what an earlier one still says is left out.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import secrets
import signal
import threading
import time
from dataclasses import dataclass
from typing import Any

from tacit.core import registry
from tacit.core.errors import TacitError, one_line
from tacit.experiments.backends import (
    LAST,
    Backend,
    Began,
    Failed,
    Key,
    Lost,
    Message,
    Parcel,
    Prepared,
    Reporter,
    Stopped,
    answer,
    cores,
    here,
    hold_interrupts_back,
    read_answer,
)

#: Seconds between two looks at the size of the cluster.
_LOOK = 2.0
#: Results up to so many bytes come back as events; the scheduler keeps the last thousand events.
_SMALL = 64_000
#: Seconds that fetching a larger one may take.
_FETCH = 600.0
#: A task whose worker died so often is given up by a scheduler of our own.
_FAILURES = 2
#: How a cluster of our own is started: reached by this machine alone, without a page or anything else over HTTP.
_LOCAL = {
    "threads_per_worker": 1,
    "host": "127.0.0.1",
    "scheduler_kwargs": {"dashboard": False, "dashboard_address": "127.0.0.1:0"},
    "silence_logs": logging.CRITICAL,
}
_SETTINGS = {
    "distributed.scheduler.allowed-failures": _FAILURES,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
#: Topics whose jobs are to end early, in a worker.
_stopped: set[str] = set()


def _task(parcel: Parcel, topic: str, key: Key, quiet: bool) -> bytes:
    """Run a job in a worker of Dask."""
    from distributed import get_worker
    from distributed.worker import thread_state

    own, name, token = get_worker(), thread_state.key, secrets.token_hex(8)
    if quiet:
        os.dup2(2, 1)  # a job may print; stdout is the parent's

    def send(event: Any) -> None:
        own.log_event(topic, pickle.dumps((key, token, event)))

    def asked_to_stop() -> bool:
        task = own.state.tasks.get(name)  # nobody waits for it: it was cancelled, or the client is gone
        return topic in _stopped or task is None or task.state == "cancelled"

    send(_Begun(own.address, here()))
    answered = answer(parcel, Reporter(send, asked_to_stop))
    if len(answered) > _SMALL:
        return answered
    send(answered)  # rather than kept here until it is fetched: this worker may die with its next job
    return b""


def _stop(topic: str) -> None:
    _stopped.add(topic)


@dataclass(frozen=True)
class _Begun:
    address: str
    where: str


@dataclass
class _Task:
    """A task, seen from here."""

    future: Any
    token: str = ""
    address: str = ""  # of the worker that has begun it


class Dask(Backend):
    """A Dask cluster as a backend.

    Parameters
    ----------
    address : str
        Of the scheduler. If empty, the one that Dask's configuration names (DASK_SCHEDULER_ADDRESS); where there is
        none, a cluster of this machine alone is started, and stopped in the end.
    size : int, optional
        Jobs at once; as many as the cluster has threads if not given.
    """

    def __init__(self, address: str, size: int | None, setup: bytes | None) -> None:
        self._distributed: Any = registry.require("distributed", "dask")
        super().__init__(setup, registry.require("cloudpickle", "dask").dumps)  # Dask needs it itself
        self._size = size
        self._client, self._cluster = _connect(self._distributed, address, size)
        self._topic = f"tacit-{secrets.token_hex(8)}"
        self._tasks: dict[Key, _Task] = {}
        self._capacity, self._next = 0, 0.0
        self._client.subscribe_topic(self._topic, lambda sent: self._inbox.put(sent[1]))

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LOOK
            threads = sum(self._client.nthreads().values())
            limit = self._size if self._cluster is None else None
            self._capacity = limit or max(2, 2 * threads)
        return self._capacity

    def start(self, key: Key, parcel: Parcel) -> None:
        """Hand a job over."""
        name = f"{self._topic}-{key[0]}-{key[1]}"
        arguments = (parcel, self._topic, key, self._cluster is not None)
        future = self._client.submit(_task, *arguments, key=name, pure=False)
        self._tasks[key] = _Task(future)
        future.add_done_callback(lambda done: self._inbox.put((key, done)))

    def stop(self) -> None:
        """Ask all jobs to end early."""
        with contextlib.suppress(Exception):  # there may be no worker at all
            self._client.run(_stop, self._topic, wait=True)
        for key, task in self._tasks.items():
            if not task.token:
                task.future.cancel()
                self._inbox.put((key, Stopped()))

    def has(self, key: Key) -> bool:
        """Say whether the worker that has begun a job is still there: if not, the scheduler looks for another."""
        task = self._tasks.get(key)
        return task is None or not task.address or task.address in self._client.nthreads()

    def kill(self, key: Key) -> None:
        """End a job by force, where that is possible."""
        task = self._tasks.pop(key)
        task.future.cancel()
        if task.address:  # in a thread: it takes seconds
            threading.Thread(target=self._restart, args=(task.address,), daemon=True).start()

    def close(self) -> None:
        """End what is ours."""
        for task in self._tasks.values():
            with contextlib.suppress(Exception):  # the scheduler may be gone
                task.future.cancel()
        self._tasks.clear()
        with contextlib.suppress(Exception):
            self._client.close()
            if self._cluster is not None:
                self._cluster.close()

    def _restart(self, address: str) -> None:
        with contextlib.suppress(Exception):  # it may be gone, or have nobody to restart it
            self._client.restart_workers([address], timeout=30, raise_for_error=False)

    def _fetch(self, key: Key, future: Any) -> None:
        """Fetch a large result, in a thread of its own: where its worker has died, it is waited for."""
        answered: Any = b""
        with contextlib.suppress(Exception):
            answered = future.result(timeout=_FETCH)
        self._inbox.put((key, read_answer(answered) if answered else Lost()))

    def _unpack(self, sent: Any) -> list[tuple[Key, Message]]:
        if type(sent) is bytes:
            return self._read(*pickle.loads(sent))
        key, content = sent
        if key not in self._tasks:  # it has answered, or was given up
            return []
        if getattr(content, "status", "") == "finished":
            threading.Thread(target=self._fetch, args=(key, content), daemon=True).start()
            return [(key, Prepared())]  # the time that it takes is not the job's
        self._tasks.pop(key)
        return [(key, content if type(content) in LAST else self._as_failure(content))]

    def _read(self, key: Key, token: str, sent: Any) -> list[tuple[Key, Message]]:
        """Return what a task says; bytes are its answer."""
        task = self._tasks.get(key)
        match sent:
            case _ if task is None:
                return []
            case _Begun(address, where):
                task.token, task.address = token, address
                return [(key, Began(where))]
            case bytes():
                del self._tasks[key]
                return [(key, read_answer(sent))]
        return [(key, sent)] if token == task.token else []

    def _as_failure(self, future: Any) -> Message:
        """Say why a task has no result."""
        if future.status == "error":
            error = future.exception()
            return Lost() if isinstance(error, self._distributed.KilledWorker) else Failed(error)
        return Lost()


def _connect(distributed: Any, address: str, size: int | None) -> tuple[Any, Any]:
    """Return a client, and the cluster if it is one of our own."""
    import dask

    address = address or dask.config.get("scheduler-address", None) or ""
    if address:
        try:
            return distributed.Client(address, set_as_default=False, timeout=10), None
        except (OSError, ValueError) as error:
            raise TacitError(f"no Dask scheduler answers at {address!r}: {one_line(error, 200)}") from None
    before = hold_interrupts_back()
    try:
        with dask.config.set(_SETTINGS):
            cluster = distributed.LocalCluster(n_workers=size or cores(), **_LOCAL)
    except Exception as error:  # as where a worker dies before it is ready
        raise TacitError(f"a Dask cluster cannot be started: {_reason(error)}; run the same command again") from None
    finally:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return distributed.Client(cluster, set_as_default=False), cluster


def _reason(error: BaseException) -> str:
    """Return what was raised first, which says more than what followed from it."""
    while error.__cause__ is not None:
        error = error.__cause__
    return one_line(error, 200)
