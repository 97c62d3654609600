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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.experiments import toml
from tacit.games import is_file
from tacit.learners import DEFAULT
from tacit.options import OLD_NAMES, HasOptions, Options

if TYPE_CHECKING:
    from tacit.experiments.results import Results


@dataclass(frozen=True)
class NamedSpec:
    """Something of a registry: its name, its parameters, and what tables and figures call it."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None

    def __post_init__(self) -> None:
        check.text("name", self.name, empty=False)
        if not isinstance(self.params, Mapping) or not all(isinstance(key, str) for key in self.params):
            raise TacitError(f"params is {brief(self.params)}; it must be a table of parameters")
        if self.label is not None:
            check.text("label", self.label, empty=False)


@dataclass(frozen=True)
class GameSpec(NamedSpec):
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


@dataclass(frozen=True)
class LearnerSpec(NamedSpec):
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


@dataclass(frozen=True, init=False)
class Experiment(HasOptions):
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
    scripts : tuple of str
        Python files that make games, learners or bandits of the user's own known. A file that lists them is not enough
        for them to be run: see `tacit.experiments.scripts`.
    options : Options, optional
        All of the following together; those that are given beside it override it.
    points, certify, keep, gap, seconds, visits_per_stage
        As for `tacit.learn`. With `seconds` results depend on the machine. Each is an attribute too.

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
    options: Options = field(metadata={"keys": {"seed": "first_seed"}})
    games: tuple[GameSpec, ...] = ()
    learners: tuple[LearnerSpec, ...] = ()
    seeds: int = 1
    scripts: tuple[str, ...] = ()

    def __init__(
        self,
        name: str,
        episodes: int | None = None,
        games: Any = (),
        learners: Any = (DEFAULT,),
        seeds: int = 1,
        first_seed: int | None = None,
        *,
        scripts: Sequence[str] = (),
        options: Options | None = None,
        **given: Any,
    ) -> None:
        check.text("name", name, empty=False)
        check.integer("seeds", seeds)
        for script in check.list_of("scripts", scripts, "Python files"):
            check.text("scripts", script, empty=False)
        if first_seed is not None:
            given["seed"] = check.integer("first_seed", first_seed)
        if episodes is not None:
            given["episodes"] = episodes
        given = {OLD_NAMES.get(key, key): value for key, value in given.items()}
        held = Options(**given) if options is None else replace(options, **given)
        check.integer("first_seed", held.seed)
        specs = (_specs("games", games, GameSpec), _specs("learners", learners, LearnerSpec))
        for one, value in zip(fields(self), (name, held, *specs, seeds, tuple(scripts)), strict=True):
            object.__setattr__(self, one.name, value)

    @property
    def first_seed(self) -> int:
        """The first seed."""
        return self.options.seed

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read an experiment from a TOML file; game files and scripts in it are looked for beside it."""
        place = files.path(path)
        found = toml.load(place, cls)
        games = tuple(
            replace(one, name=str(place.parent / one.name)) if is_file(one.name) else one for one in found.games
        )
        return replace(found, games=games, scripts=tuple(str(place.parent / script) for script in found.scripts))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment as a TOML file."""
        files.write(files.path(path), toml.dumps(self).encode())

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
            raise TacitError(f"{what}[{k}] is {brief(one)}; it must be {_what_fits(one, kind)}")
        found.append(kind(one) if isinstance(one, str) else one)
    return tuple(found)


def _what_fits(one: object, kind: type[Any]) -> str:
    if kind is LearnerSpec:
        return 'a learner\'s name, or LearnerSpec(name, params), e.g. LearnerSpec("npg", {"eta": 0.1})'
    told = 'a game\'s name, or GameSpec(name, params), e.g. GameSpec("good-state", {"horizon": 5})'
    if hasattr(one, "digest"):  # a game, which a run that is stored or runs elsewhere has to find again
        told += '; save a game of your own with game.save("mine.npz") and give "mine.npz"'
    return told
