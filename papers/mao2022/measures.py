"""What is measured of each setting before claims are judged: one row of numbers for the runs of one setting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tacit.core.types import FloatArray
from tacit.evaluation import evaluate, l2_gap, solve, uniform_gap
from tacit.experiments import Outcome
from tacit.experiments.results import GapOutcome, Summary, summarize
from tacit.games.tabular import TabularGame
from tacit.policies import MarkovPolicy

#: In an equilibrium the nash gap is at most this share of the optimum.
AT_EQUILIBRIUM = 0.05
#: An optimal equilibrium is reached at this share of its value.
OPTIMAL = 0.9
#: An algorithm has converged in time when it first has this share of its own final gain.
OWN_GAIN = 0.95
#: The mean reward is steady if it moves by less than this share of what there is to gain over random play.
STEADY = 0.02
#: Where a gap must come from to count; an agent's own bound is an estimate.
SURE = ("exact", "certificate")


@dataclass(frozen=True)
class Task:
    """A game by the name that people know it by, with exact references."""

    name: str
    game: TabularGame

    @cached_property
    def optimum(self) -> float:
        """The best value that all agents together can have."""
        return float(solve(self.game).values[0])

    @cached_property
    def random(self) -> float:
        """The value of uniform play."""
        return float(evaluate(self.game, MarkovPolicy.uniform(self.game)).values[0])

    @cached_property
    def random_gap(self) -> float:
        """The nash gap of uniform play."""
        return uniform_gap(self.game)

    @cached_property
    def random_l2_gap(self) -> float:
        """The L² gap of uniform play."""
        return l2_gap(self.game, MarkovPolicy.uniform(self.game))

    def share(self, reward: float) -> float:
        """Return which share of what there is to gain over random play a reward has."""
        return (reward - self.random) / (self.optimum - self.random)


@dataclass(frozen=True)
class Measured:
    """One setting of an algorithm on a Markov game.

    Attributes
    ----------
    setting : str
    episodes : int
    reward : Summary
        Of the last tenth of the episodes, over seeds.
    share, high : float
        The share of what there is to gain that the mean and the upper end of its interval have.
    moves : float
        How far the mean reward moves from the last fifth of the run but one to the last, likewise as a share.
    when : int
        Episode at which the mean reward first has 95 % of its final gain.
    gap : Summary or None
        The largest gap of an agent, over seeds, where it was measured exactly or certified.
    kind : str
        Of the gap.
    """

    setting: str
    episodes: int
    reward: Summary
    share: float
    high: float
    moves: float
    when: int
    gap: Summary | None
    kind: str

    @property
    def steady(self) -> bool:
        """Whether the reward no longer moves."""
        return abs(self.moves) < STEADY


def measure(setting: str, runs: Sequence[Outcome], task: Task) -> Measured:
    """Measure the runs of one setting."""
    reward = summarize([run.reward[0] for run in runs])
    mean = np.mean([run.curve["reward"] for run in runs], axis=0)
    fifth = max(1, len(mean) // 5)
    moved = float(mean[-fifth:].mean() - mean[-2 * fifth : -fifth].mean())
    sure = [gap for run in runs if (gap := papers_gap(run)) is not None and gap.source in SURE]
    return Measured(
        setting=setting,
        episodes=runs[0].episodes,
        reward=reward,
        share=task.share(reward.mean),
        high=task.share(reward.ci95[1]),
        moves=moved / (task.optimum - task.random),
        when=_when(runs[0].curve["episode"], mean),
        gap=summarize([max(gap.upper) for gap in sure]) if sure else None,
        kind=sure[0].kind if sure else "",
    )


def papers_gap(run: Outcome) -> GapOutcome | None:
    """Return the gap of the answer that the paper gives: the average over all episodes, for V-learning."""
    return run.candidates.get("average", run.gap)


def papers_column(run: Outcome) -> str:
    """Return the column of the curve that has it."""
    return "gap_average" if "gap_average" in (run.curve.dtype.names or ()) else "gap"


def _when(episode: FloatArray, mean: FloatArray) -> int:
    """Return the episode at which the mean reward first has 95 % of its final gain."""
    final = mean[-max(1, len(mean) // 10) :].mean()
    goal = mean[0] + OWN_GAIN * (final - mean[0])
    reached = mean >= goal if final >= mean[0] else mean <= goal
    return int(episode[int(np.argmax(reached))])


@dataclass(frozen=True)
class TeamMeasured:
    """One setting of PG on the matrix team.

    Attributes
    ----------
    setting : str
    episodes : int
    runs : int
    l2_gap, value, average_l2_gap, average_value : Summary
        Of the last iterate and of "Average", in the end, over seeds.
    lag : Summary
        How much larger the average's L² gap is in the middle of the run.
    optimal : float
        Share of the runs that end near an optimal equilibrium's value, played with the exploration.
    elsewhere : float
        Share of the runs that end in a non-optimal equilibrium.
    others : float
        Mean value of the runs that do not.
    averaged : str
        Of which iterates the average is.
    """

    setting: str
    episodes: int
    runs: int
    l2_gap: Summary
    value: Summary
    average_l2_gap: Summary
    average_value: Summary
    lag: Summary
    optimal: float
    elsewhere: float
    others: float
    averaged: str


def measure_team(setting: str, runs: Sequence[Outcome], task: Task) -> TeamMeasured:
    """Measure the runs of one setting on the matrix team."""
    ends = {name: np.array([run.curve[name][-1] for run in runs]) for name in ("value", "gap")}
    middle = len(runs[0].curve) // 2
    lag = [run.curve["average_l2_gap"][middle] - run.curve["l2_gap"][middle] for run in runs]
    best = _played_optimum(task.game, float(runs[0].params["exploration"]))
    optimal = ends["value"] >= OPTIMAL * best
    at_rest = ends["gap"] <= AT_EQUILIBRIUM * task.optimum
    elsewhere = at_rest & (ends["value"] < OPTIMAL * task.optimum) & ~optimal
    return TeamMeasured(
        setting=setting,
        episodes=runs[0].episodes,
        runs=len(runs),
        l2_gap=_end(runs, "l2_gap"),
        value=_end(runs, "value"),
        average_l2_gap=_end(runs, "average_l2_gap"),
        average_value=_end(runs, "average_value"),
        lag=summarize(lag),
        optimal=float(optimal.mean()),
        elsewhere=float(elsewhere.mean()),
        others=float(ends["value"][~elsewhere].mean()) if not elsewhere.all() else float("nan"),
        averaged=name_averaged(runs),
    )


def name_averaged(runs: Sequence[Outcome]) -> str:
    """Say of which iterates the averages of some runs are."""
    whole = all((run.curve["averaged"] == run.curve["episode"]).all() for run in runs)
    return "all iterates" if whole else "the points of the curve"


def _end(runs: Sequence[Outcome], column: str) -> Summary:
    return summarize([run.curve[column][-1] for run in runs])


def _played_optimum(game: TabularGame, exploration: float) -> float:
    """Return what an optimal equilibrium is worth when every agent explores."""
    best = solve(game).policy
    probs = [(1 - exploration) * own + exploration / own.shape[2] for own in best.probs]
    return float(evaluate(game, MarkovPolicy(probs)).values[0])
