"""The results of an experiment: outcomes by game and learner, with names that distinguish them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tacit.experiments.outcome import Outcome
from tacit.experiments.plan import RunSpec
from tacit.experiments.statistics import summarize


@dataclass(frozen=True)
class FailedRun:
    """A run that raised, and its sentence."""

    spec: RunSpec
    sentence: str


@dataclass(frozen=True)
class Group:
    """Runs of one game with one learner over seeds, and what people call them."""

    game: str
    learner: str
    outcomes: list[Outcome]

    def summary(self, *, interrupted: bool = False) -> dict[str, Any]:
        """Return what `tacit run --json` prints of it."""
        runs, first = self.outcomes, self.outcomes[0]
        reward = summarize([one.reward[0] for one in runs])
        fresh = [one for one in runs if one.learned]
        wall = max(one.span[1] for one in fresh) - min(one.span[0] for one in fresh) if fresh else 0.0
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
            "steps_per_second": episodes * first.horizon / max(seconds, 1e-9),
            "wall_seconds": wall,
            "params": first.params,
            "interrupted": interrupted,
            "episodes_done": [one.episodes for one in runs],
            "ended": [one.ended for one in runs],
            "limits": {"gap": first.spec.gap, "seconds": first.spec.seconds},
        }

    def _gap(self) -> dict[str, Any] | None:
        gaps = [one.gap for one in self.outcomes if one.gap is not None]
        if not gaps:
            return None
        upper = np.array([gap.upper for gap in gaps])
        return {
            "kind": gaps[0].kind,
            "source": gaps[0].source,
            "mean": float(upper.max(axis=1).mean()),
            "max": float(upper.max()),
            "per_agent": upper.mean(axis=0).tolist(),
            "informative": all(gap.informative for gap in gaps),
        }


@dataclass(frozen=True)
class Results:
    """All runs of an experiment that ended, in the order of its games, learners and seeds, and those that failed."""

    outcomes: list[Outcome]
    failures: list[FailedRun]
    interrupted: bool

    @cached_property
    def groups(self) -> list[Group]:
        """The outcomes by game and learner."""
        return grouped(self.outcomes)


def grouped(outcomes: Sequence[Outcome]) -> list[Group]:
    """Sort outcomes by game and learner; those that differ in a parameter are named by it."""
    games: dict[str, tuple[str, Mapping[str, Any]]] = {}
    learners: dict[str, tuple[str, Mapping[str, Any]]] = {}
    runs: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        spec = one.spec
        game = (spec.game.name, spec.game.params)
        limits = {key: getattr(spec, key) for key in ("episodes", "points", "gap", "seconds")}
        learner = (one.label, {**spec.learner.params, **limits})
        key = (f"{game} {spec.tables}", f"{learner} {spec.learner.name} {spec.certify}")
        games[key[0]], learners[key[1]] = game, learner
        runs.setdefault(key, []).append(one)
    game_names = dict(zip(games, distinguished(list(games.values())), strict=True))
    names = dict(zip(learners, distinguished(list(learners.values())), strict=True))
    return [Group(game_names[game], names[learner], held) for (game, learner), held in runs.items()]


def distinguished(named: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return names; those that are the same, with the parameters in which they differ.

    >>> distinguished([("npg", {"eta": 0.1}), ("npg", {"eta": 0.2}), ("pg-storm", {"eta": 0.1})])
    ['npg (eta=0.1)', 'npg (eta=0.2)', 'pg-storm']
    """
    found = []
    for name, params in named:
        others = [more for other, more in named if other == name]
        differ = [key for key in params if any(more.get(key) != params[key] for more in others)]
        found.append(f"{name} ({', '.join(f'{key}={params[key]}' for key in differ)})" if differ else name)
    return found
