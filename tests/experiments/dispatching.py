"""Jobs that are not runs, on any backend."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from tacit.engine import Event
from tacit.experiments.backends import choose_backend
from tacit.experiments.runner import Dispatcher


class Watched(Dispatcher):
    """Passes events on."""

    watch: Callable[[int, Event], None] | None = None

    def event(self, k: int, event: Event) -> None:
        if self.watch is not None:
            self.watch(k, event)


def run_all(
    job: Any,
    items: Sequence[Any],
    *,
    on: str | Executor = "threads",
    workers: int | None = None,
    watch: Callable[[int, Event], None] | None = None,
    setup: Callable[[], None] | None = None,
    timeout: float | None = None,
) -> Dispatcher:
    """Run a job for every item."""
    jobs = Watched(job, items, timeout)
    jobs.watch = watch
    jobs.dispatch(partial(choose_backend(on, workers), setup))
    return jobs
