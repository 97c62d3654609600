"""Games: the tabular game, the games of the paper and of its field, and their files.

A new game is one file here and one line in the table below, or an entry point of the group `tacit.games`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tacit.core import archive
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.games import npz
from tacit.games.box_pushing import BoxPushing
from tacit.games.classics import (
    BattleOfTheSexes,
    Chicken,
    Climbing,
    MatchingPennies,
    Penalty,
    PrisonersDilemma,
    RockPaperScissors,
    Shapley,
    StagHunt,
)
from tacit.games.distancing import Distancing
from tacit.games.good_state import GoodState
from tacit.games.matrix import matrix_game
from tacit.games.matrix_team import MatrixTeam
from tacit.games.random import RandomGeneralSum, RandomPotential, RandomTeam
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame

REGISTRY: Registry[TabularGame] = Registry("game")
REGISTRY.add("matrix-team", MatrixTeam)
REGISTRY.add("good-state", GoodState)
REGISTRY.add("box-pushing", BoxPushing)
REGISTRY.add("distancing", Distancing)
REGISTRY.add("random-general-sum", RandomGeneralSum)
REGISTRY.add("random-team", RandomTeam)
REGISTRY.add("random-potential", RandomPotential)
REGISTRY.add("matching-pennies", MatchingPennies)
REGISTRY.add("rock-paper-scissors", RockPaperScissors)
REGISTRY.add("shapley", Shapley)
REGISTRY.add("chicken", Chicken)
REGISTRY.add("battle-of-the-sexes", BattleOfTheSexes)
REGISTRY.add("prisoners-dilemma", PrisonersDilemma)
REGISTRY.add("stag-hunt", StagHunt)
REGISTRY.add("climbing", Climbing)
REGISTRY.add("penalty", Penalty)


def make(name: str, /, **params: Any) -> TabularGame:
    """Make a registered game by name.

    >>> make("good-state", horizon=3, slip=0.2)
    TabularGame('good-state': 2 agents, 2 states, 2×2 actions, horizon 3, rewards in [-2, 5])
    """
    return REGISTRY.make(name, **params)


def load(path: str | os.PathLike[str], *, horizon: int | None = None) -> TabularGame:
    """Read a game from a file; the ending says the format (`.npz`)."""
    place = archive.path(path)
    if place.suffix != ".npz":
        ending = f"the ending {place.suffix!r}" if place.suffix else "no ending"
        raise TacitError(f"{place} has {ending}; a game file ends in .npz")
    return npz.load(place, horizon=horizon)


def from_name_or_file(name: str, /, **params: Any) -> TabularGame:
    """Make a registered game, or read a file when `name` looks like one."""
    if isinstance(name, str | os.PathLike) and Path(name).suffix:
        unknown = [key for key in params if key != "horizon"]
        if unknown:
            raise TacitError(f"a game from a file has no parameter {unknown[0]!r}; its parameters: horizon")
        return load(name, **params)
    return make(name, **params)


__all__ = [
    "REGISTRY",
    "BattleOfTheSexes",
    "BoxPushing",
    "Chicken",
    "Climbing",
    "Distancing",
    "GoodState",
    "MatchingPennies",
    "MatrixTeam",
    "Penalty",
    "PrisonersDilemma",
    "RandomGeneralSum",
    "RandomPotential",
    "RandomTeam",
    "RockPaperScissors",
    "Shapley",
    "StagHunt",
    "Successors",
    "TabularGame",
    "from_name_or_file",
    "load",
    "make",
    "matrix_game",
]
