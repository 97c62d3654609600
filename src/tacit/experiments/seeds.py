"""The same learning over many seeds, on threads, for those who have a game in hand rather than an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tacit.core.errors import TacitError
from tacit.engine import Run, Watcher
from tacit.experiments.executors import Failure, run_all
from tacit.learning import run_learner
from tacit.options import Options


def learn_seeds(
    game: Any,
    learner: Any,
    *,
    episodes: int,
    seeds: Sequence[int],
    workers: int | None = None,
    certify: bool | None = None,
    keep: bool = True,
    points: int = 100,
    **params: Any,
) -> list[Run]:
    """Learn with each seed, as `tacit.learn` does; Ctrl-C keeps what was done of the runs that had begun.

    Parameters
    ----------
    game, learner
        As for `tacit.learn`.
    episodes : int
    seeds : sequence of int
    workers : int, optional
        Runs at once; the number of cores if not given.
    certify, keep, points
        As for `tacit.learn`.
    **params
        Parameters of the learner.

    Returns
    -------
    list of Run

    Examples
    --------
    >>> import tacit
    >>> from tacit.experiments import learn_seeds
    >>> [run.seed for run in learn_seeds(tacit.make("chicken"), "npg", episodes=10, seeds=[3, 5])]
    [3, 5]
    """
    if not len(seeds):
        raise TacitError("seeds is empty; there must be at least one")
    items = [Options(episodes, seed, points, keep, certify) for seed in seeds]
    found = run_all(partial(_learn, game, learner, params), items, workers=workers).results
    for one in found:
        if isinstance(one, Failure):
            raise one.error
    runs = [one for one in found if isinstance(one, Run)]
    if not runs:
        raise KeyboardInterrupt
    return runs


def _learn(game: Any, learner: Any, params: dict[str, Any], options: Options, watch: Watcher | None) -> Run:
    return run_learner(game, learner, params, options, watch=watch)
