"""The same learning over many seeds, on threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.core.errors import TacitError
from tacit.experiments.pool import Note, together
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
    learn(game, learner, episodes=1, seed=seeds[0], **options)  # compile; also checks the options before any thread

    def task(seed: int) -> Callable[[Note], Run]:
        def one(note: Note) -> Run:
            return learn(game, learner, episodes=episodes, seed=seed, progress=lambda done, _: note(done), **options)

        return one

    def watch(done: int, told: int) -> None:
        if progress is not None:
            progress(done, told, episodes * len(seeds))

    began = time.perf_counter()
    runs, interrupted = together([task(seed) for seed in seeds], workers=workers, watch=watch)
    return Batch(runs, time.perf_counter() - began, interrupted)
