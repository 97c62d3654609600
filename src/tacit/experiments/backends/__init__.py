"""Where jobs run: on threads, in processes, on Ray, on Dask, or on any `concurrent.futures.Executor`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import Executor

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.experiments.backends.base import Backend, Began, Ended, Failed, Key, Lost, Message, Prepared, Stopped, cores

__all__ = [
    "NAMES",
    "Backend",
    "Began",
    "Ended",
    "Failed",
    "Key",
    "Lost",
    "Message",
    "Prepared",
    "Stopped",
    "open_backend",
    "parse",
]

NAMES = ("threads", "processes", "ray", "dask")


def parse(on: str | Executor, workers: int | None) -> tuple[str | Executor, str, int | None]:
    """Return the kind of backend, its address and the number of workers, of which `on` may state one.

    >>> parse("processes:4", None), parse("ray:10.0.0.1:6379", 8)
    (('processes', '', 4), ('ray', '10.0.0.1:6379', 8))
    """
    if workers is not None:
        check.integer("workers", workers)
    if isinstance(on, Executor):
        return on, "", workers
    if not isinstance(on, str):
        raise TacitError(f"on is {brief(on)}; it must be one of {', '.join(NAMES)}, or an Executor")
    name, colon, rest = on.partition(":")
    check.choice("executor", name, NAMES)
    if colon and not rest:
        raise TacitError(f"on is {brief(on)}; after the colon comes a number of workers or an address")
    if not rest or name in ("ray", "dask"):
        return name, rest, workers
    if not rest.isdecimal():
        raise TacitError(f"on is {brief(on)}; it must be {name} or {name}:N, with N workers")
    stated = check.integer("workers", int(rest))
    if workers not in (None, stated):
        raise TacitError(f"on is {brief(on)} and workers is {workers}; give one of them")
    return name, "", stated


def open_backend(on: str | Executor, *, workers: int | None, setup: Callable[[], None] | None) -> Backend:
    """Open a backend; `setup` is called in each worker process before its first job."""
    kind, address, size = parse(on, workers)
    prepared = None if setup is None else pickle.dumps(setup)
    if isinstance(kind, Executor):
        from tacit.experiments.backends.local import Foreign

        return Foreign(kind, size, prepared)
    if kind == "threads":
        from tacit.experiments.backends.local import Threads

        return Threads(size or cores())
    if kind == "processes":
        from tacit.experiments.backends.processes import Processes

        return Processes(size or cores(), prepared)
    if kind == "ray":
        from tacit.experiments.backends.ray_cluster import Ray

        return Ray(address, size, prepared)
    from tacit.experiments.backends.dask_cluster import Dask

    return Dask(address, size, prepared)
