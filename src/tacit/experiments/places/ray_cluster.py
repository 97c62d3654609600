"""Jobs on Ray: an actor for each CPU of the cluster, which runs one job after the other.

An actor gets a job and answers with what has happened since, again and again, until the job is done: so events come
back through Ray itself, and an actor or node that is lost shows at once as an answer that fails. Actors are replaced as
long as there are CPUs for them, and more are made when nodes join.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from dataclasses import dataclass
from typing import Any

from tacit.core import extras
from tacit.core.errors import TacitError, one_line
from tacit.engine import Event
from tacit.experiments.places import ray_address, worker
from tacit.experiments.places.base import LAST, Began, Failed, Key, Lost, Message, Place, Prepared, cores
from tacit.experiments.places.worker import Parcel

#: Seconds between two looks at the size of the cluster.
_LOOK = 2.0
#: An actor answers after at most so many seconds, and waits so long for more once there is something to tell.
_AT_MOST, _LINGER = 10.0, 0.05
#: How a cluster of this machine alone is started: reached by this machine alone (Ray turns 127.0.0.1 itself into an
#: address of the network), with workers of the usual priority, which Ray would lower.
LOCAL = {
    "include_dashboard": False,
    "_node_ip_address": "127.0.0.2" if sys.platform == "linux" else "127.0.0.1",
    "_system_config": {"worker_niceness": 0},
}
#: Actors that may fail to start before it is told.
_ATTEMPTS = 4


class Actor:
    """What runs on the cluster."""

    def __init__(self) -> None:
        os.dup2(2, 1)  # a job may print
        self._told: queue.SimpleQueue[Event | Prepared | bytes] = queue.SimpleQueue()
        self._stop = False

    def hello(self) -> str:
        """Say where this is: the actor is ready."""
        return worker.here()

    def exchange(self, parcel: Parcel | None) -> list[Event | Prepared | bytes]:
        """Begin with a job if there is one, and return what has happened since; bytes are the last of it."""
        if parcel is not None:
            threading.Thread(target=self._run, args=(parcel,), daemon=True).start()
        found: list[Event | Prepared | bytes] = []
        wait = _AT_MOST
        with contextlib.suppress(queue.Empty):
            while not found or not isinstance(found[-1], bytes):
                found.append(self._told.get(timeout=wait))
                wait = _LINGER if len(found) == 1 else 0.0
        return found

    def stop(self) -> None:
        """Have the job end early."""
        self._stop = True

    def _run(self, parcel: Parcel) -> None:
        self._told.put(worker.answer(parcel, worker.Rarely(self._told.put, lambda: self._stop)))


@dataclass
class _Seat:
    """An actor, seen from here."""

    actor: Any
    where: str = ""  # empty until it is ready
    key: Key | None = None  # of the job that it has


class Ray(Place):
    """A Ray cluster as a place.

    Parameters
    ----------
    address : str
        Of the cluster, as `ray.init` takes it. If empty, the one that runs on this machine or that RAY_ADDRESS names;
        where there is none, a cluster of this machine alone is started, and stopped in the end.
    size : int, optional
        Actors; as many as the cluster has CPUs if not given.
    """

    def __init__(self, address: str, size: int | None, setup: bytes | None) -> None:
        super().__init__()
        self._ray: Any = extras.require("ray", "ray")
        self._setup, self._size = setup, size
        self._close = _connected(self._ray, address, size)
        self._remote = self._ray.remote(num_cpus=1, max_concurrency=2, max_restarts=0)(Actor)
        self._seats: list[_Seat] = []
        self._next = 0.0
        self._failures = 0  # of actors to start, one after the other
        self._stopping = False

    def capacity(self) -> int:
        """Return how many jobs may be here at once just now."""
        if time.monotonic() >= self._next and not self._stopping:
            self._next = time.monotonic() + _LOOK
            wanted = self._size or int(self._ray.cluster_resources().get("CPU", 0))
            while len(self._seats) < wanted:
                self._sit()
        return sum(bool(seat.where) for seat in self._seats)

    def start(self, key: Key, job: Any, item: Any) -> None:
        """Hand a job over."""
        seat = next(seat for seat in self._seats if seat.where and seat.key is None)
        try:
            parcel = Parcel.packed(self._setup, job, item, self._ray.cloudpickle.dumps)
        except Exception as error:  # it does not pickle
            self._inbox.put((None, [(key, Failed(error))]))
            return
        seat.key = key
        self._inbox.put((None, [(key, Began(seat.where))]))
        self._ask(seat, seat.actor.exchange.remote(parcel))

    def stop(self) -> None:
        """Ask all jobs to end early."""
        self._stopping = True
        for seat in self._seats:
            if seat.key is not None:
                seat.actor.stop.remote()

    def kill(self, key: Key) -> None:
        """End a job by force, where that is possible."""
        for seat in [seat for seat in self._seats if seat.key == key]:
            self._leave(seat)

    def close(self) -> None:
        """End what is ours."""
        self._stopping = True
        for seat in list(self._seats):
            self._leave(seat)
        self._close()

    def _sit(self) -> None:
        seat = _Seat(self._remote.remote())
        self._seats.append(seat)
        self._ask(seat, seat.actor.hello.remote())

    def _leave(self, seat: _Seat) -> None:
        self._seats.remove(seat)
        self._next = 0.0  # look for a replacement at once
        with contextlib.suppress(Exception):  # it may be gone
            self._ray.kill(seat.actor, no_restart=True)

    def _ask(self, seat: _Seat, ref: Any) -> None:
        ref.future().add_done_callback(lambda done: self._inbox.put((seat, done)))

    def _opened(self, sent: Any) -> list[tuple[Key, Message]]:
        seat, done = sent
        if seat is None:
            return list(done)
        if seat not in self._seats:  # it was ended by force
            return []
        key = seat.key
        error = done.exception()
        if error is not None:
            self._leave(seat)
            self._failures += not seat.where
            if self._failures > _ATTEMPTS:
                raise TacitError(f"Ray's workers cannot be started: {one_line(error, 300)}")
            return [] if key is None else [(key, Lost())]
        if key is None:
            seat.where, self._failures = done.result(), 0
            return []
        messages: list[tuple[Key, Message]] = [
            (key, worker.opened(told) if isinstance(told, bytes) else told) for told in done.result()
        ]
        if messages and isinstance(messages[-1][1], LAST):
            seat.key = None
        else:
            self._ask(seat, seat.actor.exchange.remote(None))
        return messages


def _connected(ray: Any, address: str, size: int | None) -> Any:
    """Connect to a cluster, or start one; return what undoes it."""
    if ray.is_initialized():
        if address:
            raise TacitError(f"this process is connected to a Ray cluster already; leave {address!r} out")
        return lambda: None
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    chosen, named = ray_address.found(address)
    try:
        if not ray_address.answers(chosen):
            raise TacitError("nothing listens there")
        if chosen != "local":
            ray.init(address=chosen, **quiet)
            return ray.shutdown
    except Exception as error:  # of many kinds
        if named:
            raise TacitError(f"no Ray cluster answers at {chosen!r}: {one_line(error, 200)}") from None
    ray.init(address="local", num_cpus=size or cores(), **LOCAL, **quiet)
    return ray.shutdown
