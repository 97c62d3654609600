"""What an experiment is: games × learners × seeds, as a frozen dataclass and as a TOML file.

name = "good-state"
episodes = 50_000
seeds = 20

[[games]]
name = "good-state"
params = {horizon = 10}

[[learners]]
name = "stage-v-cce"
label = "V-learning"
params = {bonus = 0.1}
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tacit.core import archive, check, limits
from tacit.core.errors import TacitError, brief
from tacit.experiments import toml
from tacit.games import is_file


@dataclass(frozen=True)
class GameSpec:
    """A game by its name, a game file, or a game of another library (`openspiel:…`), and its parameters."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _text("name", self.name)
        _params(self.params)


@dataclass(frozen=True)
class LearnerSpec:
    """A learner by its name, its parameters, and what figures call it."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None

    def __post_init__(self) -> None:
        _text("name", self.name)
        _params(self.params)
        if self.label is not None:
            _text("label", self.label)


@dataclass(frozen=True)
class Experiment:
    """An experiment: every game with every learner and every seed.

    Parameters
    ----------
    name : str
    episodes : int
        Episodes of each run.
    games : tuple of GameSpec
    learners : tuple of LearnerSpec
    seeds, first_seed : int
        The seeds are first_seed, first_seed + 1, …
    points : int
        Rows of each curve.
    certify : bool, optional
        As for `tacit.learn`.
    keep : bool
        Store the policies, where results are stored.

    Examples
    --------
    >>> small = Experiment("small", 100, (GameSpec("chicken"),), (LearnerSpec("npg", {"eta": 0.1}),), seeds=3)
    >>> toml.build(Experiment, toml.tomllib.loads(toml.dumps(small))) == small
    True
    """

    name: str
    episodes: int
    games: tuple[GameSpec, ...]
    learners: tuple[LearnerSpec, ...]
    seeds: int = 1
    first_seed: int = 0
    points: int = 100
    certify: bool | None = None
    keep: bool = True

    def __post_init__(self) -> None:
        _text("name", self.name)
        limits.integer("episodes", self.episodes, least=1, most=limits.EPISODES)
        limits.integer("seeds", self.seeds, least=1, most=limits.SEEDS)
        limits.integer("first_seed", self.first_seed, least=0, most=limits.SEED)
        limits.integer("points", self.points, least=1, most=limits.POINTS)
        if self.certify is not None:
            check.flag("certify", self.certify)
        check.flag("keep", self.keep)
        for what, given in (("games", self.games), ("learners", self.learners)):
            if not given:
                raise TacitError(f"{what} is empty; there must be at least one")


def load(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment from a TOML file; a game file in it is looked for beside it."""
    place = archive.path(path)
    experiment = toml.load(place, Experiment)
    games = tuple(replace(game, name=_beside(place, game.name)) for game in experiment.games)
    return replace(experiment, games=games)


def save(experiment: Experiment, path: str | os.PathLike[str]) -> None:
    """Write an experiment as a TOML file."""
    place = archive.path(path)
    try:
        place.write_text(toml.dumps(experiment), encoding="utf-8")
    except OSError as error:
        raise TacitError(f"cannot write {place}: {error.strerror or error}") from None


def _beside(place: Path, game: str) -> str:
    return str(place.parent / game) if is_file(game) else game


def _text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise TacitError(f"{name} is {brief(value)}; it must be a word")


def _params(value: object) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise TacitError(f"params is {brief(value)}; it must be a table of parameters")
