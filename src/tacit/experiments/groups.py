"""Stored runs sorted for people: by game, then by learner, with names that tell them apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.experiments.outcome import Outcome


@dataclass(frozen=True)
class Group:
    """Runs of one game with one learner."""

    game: str
    learner: str
    runs: list[Outcome]


def grouped(outcomes: Sequence[Outcome]) -> list[Group]:
    """Sort runs by game and learner; those that differ in a parameter are called by it."""
    games: dict[str, tuple[str, dict[str, Any]]] = {}
    learners: dict[str, tuple[str, dict[str, Any]]] = {}
    runs: dict[tuple[str, str], list[Outcome]] = {}
    for one in outcomes:
        spec = one.spec
        game = (spec.game.name, dict(spec.game.params))
        learner = (one.label, {**spec.learner.params, "episodes": spec.episodes, "points": spec.points})
        key = (f"{game} {spec.tables}", f"{learner} {spec.learner.name} {spec.certify}")
        games[key[0]], learners[key[1]] = game, learner
        runs.setdefault(key, []).append(one)
    game_names = dict(zip(games, told_apart(list(games.values())), strict=True))
    names = dict(zip(learners, told_apart(list(learners.values())), strict=True))
    return [Group(game_names[game], names[learner], held) for (game, learner), held in sorted(runs.items())]


def told_apart(named: Sequence[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Return names; those that are the same, with the parameters in which they differ.

    >>> told_apart([("npg", {"eta": 0.1}), ("npg", {"eta": 0.2}), ("pg-storm", {"eta": 0.1})])
    ['npg (eta=0.1)', 'npg (eta=0.2)', 'pg-storm']
    """
    found = []
    for name, params in named:
        others = [more for other, more in named if other == name]
        differ = [key for key in params if any(more.get(key) != params[key] for more in others)]
        found.append(f"{name} ({', '.join(f'{key}={params[key]}' for key in differ)})" if differ else name)
    return found
