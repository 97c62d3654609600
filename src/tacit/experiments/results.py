"""The results of an experiment: outcomes by game and learner, with names that distinguish them."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.core import files
from tacit.core.display import Document
from tacit.experiments.outcome import GapOutcome, Outcome
from tacit.experiments.plan import RunSpec
from tacit.experiments.spec import GameSpec
from tacit.experiments.statistics import summarize
from tacit.games.tabular import count

#: Where gaps come from, the surest first.
SOURCES = ("exact", "certificate", "model-free", "estimate")


@dataclass(frozen=True)
class FailedRun:
    """A run that raised, and its sentence."""

    spec: RunSpec
    sentence: str


@dataclass(frozen=True, repr=False)
class Group:
    """Runs of one game with one learner over seeds, and what people call them.

    Attributes
    ----------
    game, learner : str
    outcomes : list of Outcome

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> small = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),), seeds=2)
    >>> [group.learner for group in small.run().groups]
    ['npg']
    """

    game: str
    learner: str
    outcomes: list[Outcome]

    def __repr__(self) -> str:
        return f"Group({self.learner!r} on {self.game!r}, {count(len(self.outcomes), 'seed')})"

    def summary(self, *, interrupted: bool = False) -> dict[str, Any]:
        """Return what `tacit run --json` prints of it."""
        runs, first = self.outcomes, self.outcomes[0]
        reward = summarize([one.reward[0] for one in runs])
        fresh = [one for one in runs if one.learned]
        wall = _duration([one.span for one in fresh])
        episodes, seconds = sum(one.learned for one in runs), wall
        if not episodes:  # all was read from disk: report the speed of then
            episodes, seconds = sum(one.episodes for one in runs), sum(one.seconds for one in runs)
        values = [one.value for one in runs if one.value is not None]
        return {
            "game": first.spec.game.name,
            "learner": first.spec.learner.name,
            "episodes": max(one.episodes for one in runs) if first.spec.open else first.spec.episodes,
            "horizon": first.horizon,
            "agents": first.agents,
            "seeds": len(runs),
            "seed_list": [one.spec.seed for one in runs],
            "reward": {"mean": reward.mean, "std": reward.std, "ci95": list(reward.ci95)},
            "value": np.mean(values, axis=0).tolist() if values else None,
            "gap": self._gap(),
            "candidates": self._candidates(),
            "chosen": [one.chosen for one in runs],
            "steps_per_second": episodes * first.horizon / max(seconds, 1e-9),
            "wall_seconds": wall,
            "params": first.params,
            "interrupted": interrupted,
            "episodes_done": [one.episodes for one in runs],
            "ended": [one.ended for one in runs],
            "limits": {"gap": first.spec.gap, "seconds": first.spec.seconds},
        }

    def advice(self) -> list[str]:
        """Return what is wrong, each kind once, with the words of the first seed and how many others it is true of."""
        found: dict[str, list[str]] = {}
        for one in self.outcomes:
            for kind, text in one.advice:
                found.setdefault(kind, []).append(text)
        return [f"{texts[0]}{_others(len(texts), len(self.outcomes))}" for texts in found.values()]

    def _gap(self) -> dict[str, Any] | None:
        gaps = [one.gap for one in self.outcomes if one.gap is not None]
        if not gaps:
            return None
        shares = [
            max(one.gap.upper) / one.uniform_gap for one in self.outcomes if one.gap is not None and one.uniform_gap
        ]
        ranges = [max(gap.upper) / gap.most for gap in gaps if gap.most]
        return {
            **_told(gaps),
            "per_agent": np.array([gap.upper for gap in gaps]).mean(axis=0).tolist(),
            "informative": all(gap.informative for gap in gaps),
            "of_uniform": float(np.mean(shares)) if shares else None,
            "of_range": float(np.mean(ranges)) if ranges else None,
        }

    def _candidates(self) -> dict[str, Any]:
        names = dict.fromkeys(name for one in self.outcomes for name in one.candidates)
        found = {}
        for name in names:
            gaps = [one.candidates[name] for one in self.outcomes if name in one.candidates]
            values = [gap.value for gap in gaps if gap.value is not None]
            found[name] = {**_told(gaps), "value": np.mean(values, axis=0).tolist() if values else None}
        return found


def _told(gaps: Sequence[GapOutcome]) -> dict[str, Any]:
    """Return kind, source and size of gaps over seeds; where sources differ, the weakest."""
    largest = [max(gap.upper) for gap in gaps]
    weakest = max((gap.source for gap in gaps), key=SOURCES.index)
    return {
        "kind": gaps[0].kind,
        "source": weakest,
        "mean": float(np.mean(largest)),
        "max": float(max(largest)),
    }


def _duration(spans: Sequence[tuple[float, float]]) -> float:
    """Return for how long at least one of some runs went on: in between, runs of other groups may have taken place.

    >>> _duration([(0, 2), (1, 3), (7, 8)])
    4.0
    """
    total, until = 0.0, -math.inf
    for began, ended in sorted(spans):
        total += max(0.0, ended - max(began, until))
        until = max(until, ended)
    return total


def _others(with_it: int, seeds: int) -> str:
    if seeds == 1:
        return ""
    return f" (this or the like in {'every seed' if with_it == seeds else f'{with_it} of {seeds} seeds'})"


@dataclass(frozen=True, repr=False)
class Results:
    """All runs of an experiment that ended, in the order of its games, learners and seeds, and those that failed.

    Attributes
    ----------
    outcomes : list of Outcome
    failures : list of FailedRun
    interrupted : bool

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> small = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),), seeds=2)
    >>> results = small.run()
    >>> len(results.outcomes), results.failures
    (2, [])
    """

    outcomes: list[Outcome]
    failures: list[FailedRun]
    interrupted: bool

    @cached_property
    def groups(self) -> list[Group]:
        """The outcomes by game and learner."""
        return group_outcomes(self.outcomes)

    @classmethod
    def load(cls, *places: str | os.PathLike[str]) -> Results:
        """Read stored runs from directories: a run's own, or those of many (the `out` of an experiment).

        They come in the order of the experiment that made them.
        """
        from tacit.experiments import store  # it builds on this file

        outcomes: list[Outcome] = []
        known: set[Any] = set()
        for given in places:
            runs = {run.resolve(): run for run in store.directories(files.path(given))}
            outcomes += sorted((store.load(run) for key, run in runs.items() if key not in known), key=_place)
            known |= set(runs)
        return cls(outcomes, [], False)

    def frame(self) -> Any:
        """Return all curves as one tidy pandas DataFrame: a row for each run, measurement and agent.

        Columns are game, learner, label, parameters and game_parameters (JSON), seed, episode, agent, reward, value,
        gap, kind and source. pandas is not installed with tacit: pip install 'tacit-marl[pandas]'.
        """
        from tacit.experiments.tables import frame

        return frame(self.outcomes)

    def table(self, *, by: str | None = None) -> Document:
        """Rank learners on each game, with intervals over seeds and tests of each pair.

        Parameters
        ----------
        by : {"gap", "reward", "value"}, optional
            What is ranked: the smallest largest gap of all agents, or agent 0's largest reward at the end or value. The
            gap, where all learners have one, else the reward.

        Returns
        -------
        Document
            Means with 95 % bootstrap intervals; p-values are of Mann–Whitney tests, corrected by Holm for the number of
            pairs of a game.
        """
        from tacit.experiments.tables import ranking

        return ranking(self.groups, by=by)

    def __repr__(self) -> str:
        games = len({group.game for group in self.groups})
        learners = len({group.learner for group in self.groups})
        told = f"{count(len(self.outcomes), 'run')}: {count(games, 'game')} × {count(learners, 'learner')}"
        told += f", {len(self.failures)} failed" if self.failures else ""
        return f"Results({told}{', interrupted' if self.interrupted else ''})"

    def _repr_html_(self) -> str:
        return self.table()._repr_html_() if self.outcomes else f"<pre>{self!r}</pre>"

    def plot(self, *, ax: Any = None, size: tuple[float, float] | None = None, **options: Any) -> Any:
        """Draw reward and gap over episodes: a row for each game, a line for each learner, a band over its seeds.

        Parameters
        ----------
        ax : array of matplotlib axes, optional
            A row for each game, in it one for rewards and one for each kind of gap (nash, cce, ce), in the order in
            which the learners have them; new ones of pyplot if not given. Exact gaps and bounds of one kind share an
            axis; bounds are dashed, estimates dotted.
        size : (float, float), optional
            Width and height in inches.
        columns : sequence of {"reward", "value", "gap", "l2_gap"}
        agents : sequence of int
            A line for each of these agents instead of agent 0, or the largest gap.
        scale : {"log", "linear"}
            Of gaps; a logarithmic axis is linear just above zero, so that a gap of zero is on it.
        band : {"sd", "ci95", "quartiles", "none"}
        candidate : {"best", "average", "latest", "last"}
            Whose gap.
        title : str

        Returns
        -------
        array of axes [games, panels]
        """
        figures = importlib.import_module("tacit.figures.results")  # of a layer above
        return figures.plot_groups(self.groups, ax=ax, size=size, **options)


def _place(one: Outcome) -> tuple[float, int]:
    """Return where a run stands in its experiment."""
    return (math.inf if one.spec.place is None else one.spec.place, one.spec.seed)


def group_outcomes(outcomes: Sequence[Outcome]) -> list[Group]:
    """Sort outcomes by game and learner; those that differ in a parameter are named by it."""
    games: dict[str, tuple[GameSpec, Mapping[str, Any]]] = {}
    learners: dict[str, tuple[str, Mapping[str, Any]]] = {}
    runs: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        spec = one.spec
        game = (spec.game, spec.game.params)
        limits = {key: getattr(spec, key) for key in ("episodes", "points", "gap", "seconds")}
        learner = (one.label, {**spec.learner.params, **limits})
        key = (f"{spec.game.name} {spec.game.params} {spec.tables}", f"{learner} {spec.learner.name} {spec.certify}")
        games[key[0]], learners[key[1]] = game, learner
        runs.setdefault(key, []).append(one)
    called = game_names([game for game, _ in games.values()])
    told = [(name, params) for name, (_, params) in zip(called, games.values(), strict=True)]
    shown = dict(zip(games, distinguish(told), strict=True))
    names = dict(zip(learners, distinguish(list(learners.values())), strict=True))
    return [Group(shown[game], names[learner], held) for (game, learner), held in runs.items()]


def game_names(games: Sequence[GameSpec]) -> list[str]:
    """Return what people call games: the labels of games, and the name or file of one whose label another has too."""
    held: dict[str, set[str]] = {}
    for game in games:
        held.setdefault(game.label or game.name, set()).add(game.name)
    return [game.label if game.label and len(held[game.label]) == 1 else game.name for game in games]


def distinguish(named: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return names; those that are the same, with the parameters in which they differ.

    >>> distinguish([("npg", {"eta": 0.1}), ("npg", {"eta": 0.2}), ("pg-storm", {"eta": 0.1})])
    ['npg (eta=0.1)', 'npg (eta=0.2)', 'pg-storm']
    """
    found = []
    for name, params in named:
        others = [more for other, more in named if other == name]
        differ = [key for key in params if any(more.get(key) != params[key] for more in others)]
        found.append(f"{name} ({', '.join(f'{key}={params[key]}' for key in differ)})" if differ else name)
    return found
