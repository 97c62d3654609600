"""What an experiment is: games × learners × seeds, as a frozen dataclass and as a TOML file.

name = "good-state"
episodes = 50_000
gap = 0.1
seeds = 20

[[games]]
name = "good-state"
params = {horizon = 10}

[[learners]]
name = "stage-v-cce"
label = "V-learning"
params = {bonus = 0.1}

A list where a parameter takes one value is a sweep: `params = {bonus = [0, 0.1]}` is two learners.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.core import check, limits
from tacit.core.errors import TacitError, brief
from tacit.learners import DEFAULT
from tacit.learning import check_limits, check_thin

if TYPE_CHECKING:
    from tacit.experiments.results import Results


@dataclass(frozen=True)
class GameSpec:
    """A game by its name, a game file, or a game of another library (`openspiel:…`), and its parameters.

    Parameters
    ----------
    name : str
    params : mapping
    label : str, optional
        What tables and figures call it; the name that a game file holds, if not given.

    Examples
    --------
    >>> import tacit
    >>> tacit.GameSpec("good-state", {"horizon": 5}).params["horizon"]
    5
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None

    def __post_init__(self) -> None:
        _text("name", self.name)
        _params(self.params)
        if self.label is not None:
            _text("label", self.label)


@dataclass(frozen=True)
class LearnerSpec:
    """A learner by its name, its parameters, and what figures call it.

    Parameters
    ----------
    name : str
    params : mapping
    label : str, optional

    Examples
    --------
    >>> import tacit
    >>> tacit.LearnerSpec("stage-v-cce", {"bonus": 0.1}, label="the paper's").label
    "the paper's"
    """

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
    episodes : int, optional
        Episodes of each run; it may be left out where `gap` or `seconds` ends runs.
    games : tuple of GameSpec, or of their names
    learners : tuple of LearnerSpec, or of their names
    seeds, first_seed : int
        The seeds are first_seed, first_seed + 1, …
    points : int
        Rows of each curve.
    certify : bool, optional
        As for `tacit.learn`.
    keep : bool
        Store the policies, where results are stored.
    gap, seconds : float, optional
        When each run stops, as for `tacit.learn`. With `seconds` results depend on the machine.
    thin : int, optional
        Visits of each stage that are kept and certified, as for `tacit.learn`.
    scripts : tuple of str
        Python files that make games, learners or bandits of the user's own known. A file that lists them is not enough
        for them to be run: see `tacit.experiments.scripts`.

    Examples
    --------
    >>> import tacit
    >>> learner = tacit.LearnerSpec("npg", {"eta": 0.1})
    >>> small = tacit.Experiment("small", 100, [tacit.GameSpec("chicken")], [learner], seeds=3)
    >>> small.seeds
    3
    >>> tacit.Experiment("smaller", 10, ("chicken",), ("npg",)).games
    (GameSpec(name='chicken', params={}, label=None),)
    """

    name: str
    episodes: int | None = None
    games: tuple[GameSpec, ...] = ()
    learners: tuple[LearnerSpec, ...] = field(default_factory=lambda: (LearnerSpec(DEFAULT),))
    seeds: int = 1
    first_seed: int = 0
    points: int = 100
    certify: bool | None = None
    keep: bool = True
    gap: float | None = None
    seconds: float | None = None
    thin: int | None = None
    scripts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _text("name", self.name)
        check_limits(self.episodes, self.gap, self.seconds)
        limits.integer("seeds", self.seeds)
        limits.integer("first_seed", self.first_seed)
        limits.integer("points", self.points)
        if self.certify is not None:
            check.flag("certify", self.certify)
        check.flag("keep", self.keep)
        check_thin(self.thin)
        for script in check.listed("scripts", self.scripts, "Python files"):
            _text("scripts", script)
        object.__setattr__(self, "games", _specs("games", self.games, GameSpec))
        object.__setattr__(self, "learners", _specs("learners", self.learners, LearnerSpec))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read an experiment from a TOML file; game files and scripts in it are looked for beside it."""
        from tacit.experiments.loading import load  # it builds on this file

        return load(path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment as a TOML file."""
        from tacit.experiments.loading import save

        save(self, path)

    def run(self, **options: Any) -> Results:
        """Run it; `options` are those of `tacit.experiments.run_experiment`."""
        from tacit.experiments.runner import run_experiment  # it builds on this file

        return run_experiment(self, **options)


Spec = TypeVar("Spec", GameSpec, LearnerSpec)


def _specs(what: str, given: object, kind: type[Spec]) -> tuple[Spec, ...]:
    """Return specs, of which a name alone stands for one without parameters."""
    entries = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not entries:
        raise TacitError(f"{what} is empty; there must be at least one")
    found: list[Spec] = []
    for k, one in enumerate(entries):
        if not isinstance(one, kind | str):
            raise TacitError(f"{what}[{k}] is {brief(one)}; it must be {_wanted(one, kind)}")
        found.append(kind(one) if isinstance(one, str) else one)
    return tuple(found)


def _wanted(one: object, kind: type[Any]) -> str:
    if kind is LearnerSpec:
        return 'a learner\'s name, or LearnerSpec(name, params), e.g. LearnerSpec("npg", {"eta": 0.1})'
    told = 'a game\'s name, or GameSpec(name, params), e.g. GameSpec("good-state", {"horizon": 5})'
    if hasattr(one, "digest"):  # a game, which a run that is stored or runs elsewhere has to find again
        told += '; save a game of your own with game.save("mine.npz") and give "mine.npz"'
    return told


def _text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise TacitError(f"{name} is {brief(value)}; it must be a word")


def _params(value: object) -> None:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise TacitError(f"params is {brief(value)}; it must be a table of parameters")
