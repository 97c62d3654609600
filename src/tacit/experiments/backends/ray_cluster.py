"""Jobs on Ray: an actor for each CPU of the cluster, which runs one job after the other.

An actor gets a job and answers with what has happened since, again and again, until the job is done: so events come
back through Ray itself, and an actor or node that is lost shows at once as an answer that fails. Actors are replaced as
long as there are CPUs for them, and more are made when nodes join.

A cluster is joined only where its address is given. Otherwise one is started that is private: it listens on the
loopback interface alone, keeps its files in a directory of its own, and ends with the run.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from tempfile import TemporaryDirectory, gettempdir
from typing import Any
from urllib.parse import urlsplit

from tacit.core import registry
from tacit.core.errors import TacitError, one_line
from tacit.engine import Event
from tacit.experiments.backends import (
    LAST,
    Backend,
    Began,
    Key,
    Lost,
    Message,
    Parcel,
    Prepared,
    Reporter,
    answer,
    cores,
    here,
    read_answer,
)

#: Seconds between two looks at the cluster, seconds that it has to answer, and looks in a row without an answer after
#: which it is lost.
_LOOK, _PATIENCE, _SILENT = 2.0, 5.0, 2
#: An actor answers after at most so many seconds, and waits so long for more once there is something to tell.
_AT_MOST, _LINGER = 10.0, 0.05
_LOOPBACK = "127.0.0.1"
#: How a private cluster is started; Ray would give its workers a low priority.
LOCAL = {"include_dashboard": False, "_node_ip_address": _LOOPBACK, "_system_config": {"worker_niceness": 0}}
_QUIET = {"log_to_driver": False, "logging_level": "ERROR"}
#: Where Ray's sockets have room: their paths are limited to some hundred characters, of which Ray needs about 70.
_SHORT = 30
#: Actors that may fail to start before it is told.
_ATTEMPTS = 4

_log = logging.getLogger("tacit")


class Actor:
    """What runs on the cluster."""

    def __init__(self) -> None:
        os.dup2(2, 1)  # a job may print
        self._news: queue.SimpleQueue[Event | Prepared | bytes] = queue.SimpleQueue()
        self._stop = False

    def hello(self) -> str:
        """Say where this is: the actor is ready."""
        return here()

    def exchange(self, parcel: Parcel | None) -> list[Event | Prepared | bytes]:
        """Begin with a job if there is one, and return what has happened since; bytes are the last of it."""
        if parcel is not None:
            threading.Thread(target=self._run, args=(parcel,), daemon=True).start()
        found: list[Event | Prepared | bytes] = []
        wait = _AT_MOST
        with contextlib.suppress(queue.Empty):
            while not found or type(found[-1]) is not bytes:
                found.append(self._news.get(timeout=wait))
                wait = _LINGER if len(found) == 1 else 0.0
        return found

    def stop(self) -> None:
        """Have the job end early."""
        self._stop = True

    def _run(self, parcel: Parcel) -> None:
        self._news.put(answer(parcel, Reporter(self._news.put, lambda: self._stop)))


@dataclass
class _Slot:
    """An actor, seen from here."""

    actor: Any
    where: str = ""  # empty until it is ready
    key: Key | None = None  # of the job that it has


class Ray(Backend):
    """A Ray cluster as a backend.

    Parameters
    ----------
    address : str
        Of the cluster, as `ray.init` takes it. If empty, a private cluster is started, and stopped in the end.
    size : int, optional
        Actors; as many as the cluster has CPUs if not given.
    """

    def __init__(self, address: str, size: int | None, setup: bytes | None) -> None:
        self._ray: Any = registry.require("ray", "ray")
        super().__init__(setup, self._ray.cloudpickle.dumps)
        self._size = size
        self._disconnect = _connect(self._ray, address, size)
        self._remote = self._ray.remote(num_cpus=1, max_concurrency=2, max_restarts=0)(Actor)
        self._slots: list[_Slot] = []
        self._failures = 0  # of actors to start, one after the other
        self._stopping = False
        self._cpus, self._lost, self._closed = 0, "", threading.Event()
        self._parts = _parts(self._ray, address)
        threading.Thread(target=self._look, daemon=True).start()

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        while not self._stopping and len(self._slots) < (self._size or self._cpus):
            self._add_slot()
        return sum(bool(slot.where) for slot in self._slots)

    def receive(self, timeout: float) -> list[tuple[Key, Message]]:
        """Return the messages that have come, unless the cluster is lost."""
        if self._lost:
            again = "run the same command again to resume"
            raise TacitError(f"the Ray cluster is lost: nothing answers at {self._lost} any more; {again}")
        return super().receive(timeout)

    def start(self, key: Key, parcel: Parcel) -> None:
        """Hand a job over."""
        slot = next(slot for slot in self._slots if slot.where and slot.key is None)
        slot.key = key
        self._inbox.put((None, [(key, Began(slot.where))]))
        self._ask(slot, slot.actor.exchange.remote(parcel))

    def stop(self) -> None:
        """Ask all jobs to end early."""
        self._stopping = True
        for slot in self._slots:
            if slot.key is not None:
                slot.actor.stop.remote()

    def kill(self, key: Key) -> None:
        """End a job by force, where that is possible."""
        for slot in [slot for slot in self._slots if slot.key == key]:
            self._drop(slot)

    def close(self) -> None:
        """End what is ours."""
        self._stopping = True
        self._closed.set()
        headless = bool(self._lost) and not answers(self._parts[0])
        if not headless:
            for slot in self._slots:
                self._kill(slot)
        self._slots.clear()
        self._disconnect(headless)

    def _look(self) -> None:
        """Follow the cluster's size, and whether it is there: a call to one that is not would hang, then end us."""
        silent = 0
        while not self._closed.is_set():
            gone = next((part for part in self._parts if not answers(part)), "")
            silent = silent + 1 if gone else 0
            if silent >= _SILENT:
                self._lost = gone
                return
            if not gone:
                with contextlib.suppress(Exception):  # it is gone just now, or was closed
                    self._cpus = int(self._ray.cluster_resources().get("CPU", 0))
            self._closed.wait(_LOOK)

    def _add_slot(self) -> None:
        slot = _Slot(self._remote.remote())
        self._slots.append(slot)
        self._ask(slot, slot.actor.hello.remote())

    def _drop(self, slot: _Slot) -> None:
        self._slots.remove(slot)
        threading.Thread(target=self._kill, args=(slot,), daemon=True).start()  # it waits for the cluster's answer

    def _kill(self, slot: _Slot) -> None:
        with contextlib.suppress(Exception):  # it may be gone
            self._ray.kill(slot.actor, no_restart=True)

    def _ask(self, slot: _Slot, ref: Any) -> None:
        ref.future().add_done_callback(lambda done: self._inbox.put((slot, done)))

    def _unpack(self, sent: Any) -> list[tuple[Key, Message]]:
        slot, done = sent
        if slot is None:
            return list(done)
        if slot not in self._slots:  # it was ended by force
            return []
        key = slot.key
        error = done.exception()
        if error is not None:
            self._drop(slot)
            self._failures += not slot.where
            if self._failures > _ATTEMPTS:
                raise TacitError(f"Ray's workers cannot be started: {one_line(error, 300)}")
            return [] if key is None else [(key, Lost())]
        if key is None:
            slot.where, self._failures = done.result(), 0
            return []
        messages: list[tuple[Key, Message]] = [
            (key, read_answer(told) if type(told) is bytes else told) for told in done.result()
        ]
        if messages and type(messages[-1][1]) in LAST:
            slot.key = None
        else:
            self._ask(slot, slot.actor.exchange.remote(None))
        return messages


#: Disconnects this process from a cluster, which ends a private one; it is told whether the cluster has lost its head.
_Disconnect = Callable[[bool], None]


def _prepare(ray: Any, home: TemporaryDirectory[str] | None = None) -> _Disconnect:
    """Keep Ray quiet, and return what disconnects; `home` holds the files of a private cluster."""
    printing = ray._private.worker.print_to_stdstream
    ray._private.worker.print_to_stdstream = lambda *_, **__: None  # pages of logs where a part of the cluster dies

    def disconnect(headless: bool) -> None:
        if headless:
            atexit.unregister(ray.shutdown)  # it would wait for a minute, and then end the process
        else:
            ray.shutdown()
        ray._private.worker.print_to_stdstream = printing
        if home is not None:
            home.cleanup()

    return disconnect


def _connect(ray: Any, address: str, size: int | None) -> _Disconnect:
    """Connect to a cluster, or start one."""
    if ray.is_initialized():
        if address:
            raise TacitError(f"this process is connected to a Ray cluster already; leave {address!r} out")
        return lambda headless: None  # who has connected disconnects
    if not address:
        return _start_cluster(ray, size or cores())
    try:
        if not answers(address):
            raise TacitError("nothing listens there")
        ray.init(address=address, **_QUIET)
    except Exception as error:  # of many kinds
        raise TacitError(f"no Ray cluster answers at {address!r}: {one_line(error, 200)}") from None
    return _prepare(ray)


def _start_cluster(ray: Any, size: int) -> _Disconnect:
    """Start a private cluster."""
    if os.environ.get("RAY_ADDRESS"):
        _log.warning("tacit: a private Ray cluster is started; --on ray:auto joins the one that RAY_ADDRESS names")
    usual = gettempdir()
    home = TemporaryDirectory(
        prefix="tacit-ray-", dir=usual if len(usual) <= _SHORT else "/tmp", ignore_cleanup_errors=True
    )
    try:
        with _staying_local(ray):
            ray.init(address="local", num_cpus=size, _temp_dir=f"{home.name}/ray", **LOCAL, **_QUIET)
        addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
        if addresses != {_LOOPBACK}:
            raise TacitError(f"this version of Ray listens at {', '.join(addresses)}, not at {_LOOPBACK} alone")
    except Exception as error:  # of many kinds
        ray.shutdown()
        home.cleanup()
        raise TacitError(f"a Ray cluster cannot be started: {one_line(error, 300)}") from None
    return _prepare(ray, home)


@contextlib.contextmanager
def _staying_local(ray: Any) -> Iterator[None]:
    """Within the block, Ray takes this machine's address to be that of the loopback interface, as it does on macOS.

    It would replace 127.0.0.1 by an address of the network, and listen on all of them.
    """
    constants = ray._private.ray_constants
    before = constants.ENABLE_RAY_CLUSTER
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _parts(ray: Any, address: str) -> list[str]:
    """Return the addresses without which nothing works: the cluster's head, and the node of this process."""
    if "://" in address:  # through Ray's client
        return [address]
    context = ray.get_runtime_context()
    own = [node for node in ray.nodes() if node["NodeID"] == context.get_node_id()]
    return [context.gcs_address] + [f"{node['NodeManagerAddress']}:{node['NodeManagerPort']}" for node in own]


def answers(address: str) -> bool:
    """Say whether something listens at an address like host:port or ray://host:port; others are left to Ray.

    >>> answers("127.0.0.1:1"), answers("auto")
    (False, True)
    """
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
    except ValueError:
        return True
    if not host or not port:
        return True
    try:
        socket.create_connection((host, port), _PATIENCE).close()
    except OSError:
        return False
    return True
