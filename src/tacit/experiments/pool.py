"""Tasks on threads: the kernels release the interpreter's lock. Ctrl-C and a failure stop all of them, gently."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from tacit.core import limits

T = TypeVar("T")

#: A task is given this to tell how far it is; it raises KeyboardInterrupt when the task is to end.
Note = Callable[[int], None]
#: Called with (tasks done, sum of what the tasks have told).
Watch = Callable[[int, int], None]


def together(tasks: Sequence[Callable[[Note], T]], *, workers: int | None, watch: Watch) -> tuple[list[T], bool]:
    """Run tasks; return the results, in order, of those that have one, and whether Ctrl-C ended it early."""
    size = limits.integer("workers", os.cpu_count() or 1 if workers is None else workers, least=1, most=limits.WORKERS)
    stop = threading.Event()
    told = [0] * len(tasks)

    def start(k: int) -> T:
        def note(done: int) -> None:
            told[k] = done
            if stop.is_set():
                raise KeyboardInterrupt

        return tasks[k](note)

    interrupted = False
    pool = ThreadPoolExecutor(size)
    futures: list[Future[T]] = []
    with warnings.catch_warnings():  # once, here: it is not made for threads
        warnings.filterwarnings("ignore", message="interrupted: the run holds|the agents saw different")
        try:
            futures += [pool.submit(start, k) for k in range(len(tasks))]
            while not all(future.done() for future in futures):
                wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION)
                if any(future.done() and future.exception() for future in futures):
                    break
                watch(sum(future.done() for future in futures), sum(told))
        except KeyboardInterrupt:
            interrupted = True
        if interrupted or not all(future.done() for future in futures):
            stop.set()
        pool.shutdown(wait=True, cancel_futures=stop.is_set())
    ended = [future for future in futures if not future.cancelled()]
    for future in ended:
        error = future.exception()
        if error is not None and not isinstance(error, KeyboardInterrupt):
            raise error
    results = [future.result() for future in ended if future.exception() is None]
    if not results and tasks:
        raise KeyboardInterrupt
    return results, interrupted
