"""Run a job for every item of a list, wherever that may be.

A job is a function of an item and a watcher. Its events come back while it runs, except from somebody else's executor,
which has no way for them. A job that raises does not end the others, nor does a worker that dies. Ctrl-C lets jobs that
run end early, with what they have, and the rest never begin; on somebody else's executor, jobs that run are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar

from tacit.core import check
from tacit.engine import Event, Watcher
from tacit.experiments import places
from tacit.experiments.dispatch import Batch, Desk, Failure, Start, dispatch

__all__ = ["Batch", "Failure", "run_all"]

Item = TypeVar("Item")
T = TypeVar("T")


def run_all(
    job: Callable[[Item, Watcher | None], T],
    items: Sequence[Item],
    *,
    on: str | Executor = "threads",
    workers: int | None = None,
    watch: Callable[[int, Event], None] | None = None,
    setup: Callable[[], None] | None = None,
    timeout: float | None = None,
) -> Batch[T]:
    """Run a job for every item.

    Parameters
    ----------
    job : callable
        A function of (item, watcher); anywhere but on threads it must pickle.
    items : sequence
    on : str or Executor
        "threads", "threads:4", "processes", "processes:4", "ray", "ray:ADDRESS", "dask", "dask:ADDRESS".
    workers : int, optional
        How many at once; the number of cores, or what the cluster has, if not given.
    watch : callable, optional
        Called with (index of the item, event) while jobs run.
    setup : callable, optional
        Called in each worker process before its first job; it must pickle.
    timeout : float, optional
        Seconds that a job may run; then it is ended by force, where that is possible, and counts as failed.

    Returns
    -------
    Answers

    Examples
    --------
    >>> from tacit.experiments import run_all
    >>> run_all(lambda n, watch: 2 * n, [1, 2, 3]).results
    [2, 4, 6]
    """
    places.checked(on, workers)
    if timeout is not None:
        check.positive("timeout", timeout)
    opened = partial(places.place, on, workers=workers, setup=setup)
    return dispatch(opened, job, len(items), _Plain(items, watch), timeout=timeout)


class _Plain(Desk):
    """Hands over items, and passes on events."""

    def __init__(self, items: Sequence[Any], watch: Callable[[int, Event], None] | None) -> None:
        self._items, self._watch = items, watch

    def begin(self, k: int) -> Start:
        """Hand over an item."""
        return Start(self._items[k])

    def event(self, k: int, event: Event) -> None:
        """Pass on an event."""
        if self._watch is not None:
            self._watch(k, event)
