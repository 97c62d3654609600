"""The same learning over many seeds, on threads: the kernels release the interpreter's lock."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.games.tabular import TabularGame
from tacit.learners import Learner
from tacit.play import Run, learn

#: Called with (runs done, episodes done in all, episodes in all).
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Batch:
    """Runs over seeds.

    Attributes
    ----------
    runs : list of Run, in the order of the seeds; interrupted, those that had begun
    seconds : float
        Wall time of learning, compilation left out.
    interrupted : bool
    """

    runs: list[Run]
    seconds: float
    interrupted: bool


def learn_seeds(
    game: TabularGame,
    learner: str | Learner,
    *,
    episodes: int,
    seeds: Sequence[int],
    workers: int | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Batch:
    """Learn with each seed; `options` go to `tacit.learn`. Ctrl-C keeps what was done."""
    if not len(seeds):
        raise TacitError("seeds is empty; there must be at least one")
    workers = check.integer("workers", os.cpu_count() or 1 if workers is None else workers, least=1)
    learn(game, learner, episodes=1, seed=seeds[0], **options)  # compile; also checks the options before any thread
    done: dict[int, int] = dict.fromkeys(seeds, 0)
    stop = threading.Event()

    def one(seed: int) -> Run:
        def note(count: int, _: int) -> None:
            done[seed] = count
            if stop.is_set():
                raise KeyboardInterrupt

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return learn(game, learner, episodes=episodes, seed=seed, progress=note, **options)

    began = time.perf_counter()
    pool = ThreadPoolExecutor(workers)
    futures: list[Future[Run]] = [pool.submit(one, seed) for seed in seeds]
    try:
        while not all(future.done() for future in futures):
            wait(futures, timeout=0.1)
            if any(future.done() and future.exception() for future in futures):
                break
            if progress is not None:
                progress(sum(future.done() for future in futures), sum(done.values()), episodes * len(seeds))
    except KeyboardInterrupt:
        stop.set()
    stop_now = stop.is_set() or any(future.done() and future.exception() for future in futures)
    pool.shutdown(wait=True, cancel_futures=stop_now)
    finished = [future for future in futures if not future.cancelled()]
    return Batch([future.result() for future in finished], time.perf_counter() - began, stop.is_set())
