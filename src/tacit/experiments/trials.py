"""Runs on a game in hand: the same learner over many seeds, and trials, whose only purpose is to be compared.

A trial is a learner and a seed for a budget, judged by its policy. The judge is a proof: the exact gap of a Markov
policy, or the certificate of a recorded one. So a game that is too large to certify is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.engine import Advanced, Event, Finished, Run, Watcher
from tacit.engine.curve import table
from tacit.engine.outputs.recorded import CERTIFY_JOINT_ACTIONS
from tacit.environments.adapters import is_environment
from tacit.evaluation import uniform_gap
from tacit.experiments.dispatch import Batch, run_all
from tacit.experiments.progress import Progress
from tacit.games.gymnasium import read_table
from tacit.games.protocol import is_game
from tacit.games.tabular import TabularGame, as_tables
from tacit.learners import resolve
from tacit.learning import run_learner
from tacit.options import FIELDS, Options

#: A run has arrived when its gap is at most this share of the gap of uniform play.
SHARE = 0.1


@dataclass(frozen=True)
class Budget:
    """How long each run may take: so many episodes, or so many seconds."""

    episodes: int | None
    seconds: float | None

    def part(self, share: float) -> Budget:
        """Return a share of it."""
        if self.episodes is not None:
            return Budget(max(1, round(self.episodes * share)), None)
        assert self.seconds is not None
        return Budget(None, self.seconds * share)

    def __str__(self) -> str:
        return f"{self.seconds:.3g} s" if self.episodes is None else f"{self.episodes:,} episodes"


@dataclass(frozen=True)
class Trial:
    """A learner with its parameters, what it is called, and a seed."""

    label: str
    learner: Any
    params: Mapping[str, Any]
    seed: int


@dataclass(frozen=True, eq=False)
class Entry:
    """What became of a trial.

    Attributes
    ----------
    candidate : str
        Which of the run's candidates is its policy; the gap is of that one.
    gap : float
        Its exact gap or certificate, the largest of all agents.
    kind, source : str
        As `tacit.engine.Gaps` has them.
    values : list [N]
        Its exact values.
    seconds : float
        Learning time.
    arrival : int or None
        Episodes from which on the gap was at most a tenth of that of uniform play; measured at the rows of the curve.
    learns_from : str
        "own play", "joint play" (one learner for all agents) or "tables" (exact gradients: episodes are iterations).
    curve : structured array
        `episode` and `gap`, of what would have been the policy then.
    """

    trial: Trial
    candidate: str
    gap: float
    kind: str
    source: str
    values: list[float]
    episodes: int
    seconds: float
    ended: str
    arrival: int | None
    params: Mapping[str, Any]
    learns_from: str
    curve: npt.NDArray[Any] = field(repr=False)


def seed_list(seeds: int, seed: int) -> list[int]:
    """Return seeds s, s+1, …"""
    count = check.integer("seeds", seeds)
    first = check.integer("seed", seed, of="first_seed")
    return list(range(first, first + count))


@dataclass(frozen=True, eq=False)
class Bench:
    """A game on which learners are tried, with the gap of uniform play, the budget, and how many run at once.

    Where time is the budget one runs at a time, so that none slows another; otherwise as many as there are cores.
    """

    game: TabularGame
    uniform_gap: float
    budget: Budget
    workers: int | None
    progress: Callable[[Progress], None] | None

    @classmethod
    def of(
        cls,
        game: Any,
        episodes: int | None,
        seconds: float | None,
        *,
        default: float,
        certify: bool | None,
        workers: int | None,
        progress: Callable[[Progress], None] | None,
    ) -> Bench:
        """Check what was asked for; without episodes and seconds, `default` seconds are the budget."""
        if episodes is not None and seconds is not None:
            raise TacitError("episodes and seconds are both given; give one of them")
        if episodes is None and seconds is None:
            seconds = default
        Options(episodes, seconds=seconds)  # checks them
        if workers is not None:
            check.integer("workers", workers)
        tables = certifiable(game, certify)
        at_once = 1 if workers is None and episodes is None else workers
        return cls(tables, uniform_gap(tables), Budget(episodes, seconds), at_once, progress)

    def share(self, runs: int) -> Budget:
        """Return the budget of each of so many runs: episodes are for each of them, seconds for all together."""
        at_once = self.workers or 1
        return self.budget if self.budget.seconds is None else self.budget.part(at_once / max(runs, at_once))

    def run(
        self, trials: Sequence[Trial], each: Budget, done: Callable[[int, Any], None] | None = None
    ) -> Batch[Entry]:
        """Run trials; `done` is called with a trial's number and its entry or failure as they come."""
        watch = TrialWatch(len(trials), each, self.progress)
        return run_all(partial(_judge, self, each), trials, workers=self.workers, watch=watch, done=done)


def certifiable(game: Any, certify: bool | None) -> TabularGame:
    """Return the game if gaps in it can be certified, and say why not otherwise."""
    if certify is not None and not check.flag("certify", certify):
        raise TacitError("certify is False; learners are ranked by certified gaps, so leave it out")
    game = read_table(game) or game
    if not is_game(game) and not is_environment(game):
        raise TacitError(f"game is {brief(game)}; it must be a TabularGame, as from tacit.make or tacit.load")
    tables = as_tables(game)
    if tables is None:
        raise TacitError(f"{brief(game)} has no tables, so there is no certified gap by which learners can be ranked")
    if tables.joint_actions > CERTIFY_JOINT_ACTIONS and not certify:
        raise TacitError(
            f"{game!r} has {tables.joint_actions:,} joint actions; above {CERTIFY_JOINT_ACTIONS:,} gaps are certified "
            f"only on request, since that is slow: certify=True, or --certify yes"
        )
    return tables


class TrialWatch:
    """Sums up how far trials are."""

    def __init__(self, runs: int, each: Budget, progress: Callable[[Progress], None] | None) -> None:
        self._runs, self._progress = runs, check.function("progress", progress)
        self._total = None if each.episodes is None else runs * each.episodes
        self._done: dict[int, int] = {}
        self._over: set[int] = set()

    def __call__(self, index: int, event: Event) -> None:
        """Take in an event of a trial."""
        match event:
            case Advanced(done):
                self._done[index] = done
            case Finished():
                self._over.add(index)
        if self._progress is not None:
            self._progress(Progress(len(self._over), self._runs, sum(self._done.values()), self._total))


def _judge(bench: Bench, each: Budget, trial: Trial, watch: Watcher | None) -> Entry:
    """Run a trial, keep what it is judged by, and let go of the rest."""
    # With gap=0 the rows of the curve are a tenth apart, and a run that is perfect is over.
    options = Options(each.episodes, trial.seed, certify=True, gap=0.0, seconds=each.seconds)
    made = resolve(trial.learner, trial.params, bench.game.name)[1]
    learns_from = "tables" if made.exact else "joint play" if made.central else "own play"
    run = run_learner(bench.game, trial.learner, trial.params, options, watch=watch)
    return judge(run, trial, bench.uniform_gap, learns_from)


def judge(run: Run, trial: Trial, even: float, learns_from: str) -> Entry:
    """Judge a run by its policy."""
    best = run.candidates[run.chosen]
    if best.gaps.source not in ("exact", "certificate"):
        raise TacitError(f"{trial.label} has no certified gap")
    gaps = np.fmin.accumulate(run.curve["gap"]) if "best" in run.candidates else run.curve["gap"].copy()
    gaps[-1] = best.gap
    curve = table([{"episode": k, "gap": gap} for k, gap in zip(run.curve["episode"].tolist(), gaps, strict=True)])
    values = best.values if best.values is not None else np.full(run.game.agents, np.nan)
    return Entry(
        trial=trial,
        candidate=run.chosen,
        gap=best.gap,
        kind=best.gaps.kind,
        source=best.gaps.source,
        values=np.asarray(values).tolist(),
        episodes=run.episodes,
        seconds=run.seconds,
        ended=run.ended,
        arrival=arrival(curve["episode"], gaps, SHARE * even),
        params=run.params,
        learns_from=learns_from,
        curve=curve,
    )


def arrival(episodes: npt.NDArray[Any], gaps: npt.NDArray[Any], small: float) -> int | None:
    """Return the episode from which on all gaps are small, None if the last is not: an iterate may come and go.

    >>> arrival(np.array([10, 20, 30, 40]), np.array([0.05, 0.3, 0.1, 0.02]), 0.1)
    30
    """
    above = np.flatnonzero(~(gaps <= small))
    there = int(above[-1]) + 1 if len(above) else 0
    return int(episodes[there]) if there < len(episodes) else None


def learn_seeds(
    game: Any, learner: Any, *, seeds: Sequence[int], workers: int | None = None, **given: Any
) -> list[Run]:
    """Learn with each seed, as `tacit.learn` does; Ctrl-C keeps what was done of the runs that had begun.

    Parameters
    ----------
    game, learner
        As for `tacit.learn`.
    seeds : sequence of int
    workers : int, optional
        Runs at once; the number of cores if not given.
    **given
        Options as for `tacit.learn` (episodes, gap, …), and parameters of the learner.

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
    options = {key: given.pop(key) for key in FIELDS if key in given}
    items = [Options(**options, seed=seed) for seed in seeds]
    batch = run_all(partial(_learn, game, learner, given), items, workers=workers)
    for failure in batch.failures.values():
        raise failure.error
    if not batch.done:
        raise KeyboardInterrupt
    return list(batch.done.values())


def _learn(game: Any, learner: Any, params: dict[str, Any], options: Options, watch: Watcher | None) -> Run:
    return run_learner(game, learner, params, options, watch=watch)
