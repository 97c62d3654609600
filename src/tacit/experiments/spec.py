"""What an experiment is: games × learners × seeds, as a frozen dataclass and as a TOML file; and its runs.

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

A parameter that takes one value and is given a list stands for one learner or game for each: four learners are
`params = {bonus = [0, 0.1], eta = [0.1, 0.2]}`. A parameter that takes lists itself, as `actions = [2, 3]` of random
games, is not swept; a list of lists is.

`plan` makes of it a list of runs: every default filled in, every run named by a hash of its content.
"""

from __future__ import annotations

import hashlib
import inspect
import itertools
import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tacit import games
from tacit._version import __version__
from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.registry import Registry
from tacit.environments.adapters import is_environment
from tacit.environments.pettingzoo import NO_TABLES, PREFIX, NamedEnvironment, is_played, name_environment
from tacit.experiments import scripts, toml
from tacit.games.exact import ExactGame, check_exact
from tacit.games.protocol import is_game
from tacit.learners import DEFAULT, REGISTRY, with_preset
from tacit.learning import default_for
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
        If not given, `adaptive-v-cce`, whatever the games.
    seeds, first_seed : int
        The seeds are first_seed, first_seed + 1, …
    scripts : tuple of str
        Python files that make games, learners or bandits of the user's own known. A file that lists them is not enough
        for them to be run: see `tacit.experiments.scripts`.
    options : Options, optional
        All of the following together; those that are given beside it override it.
    points, certify, keep, gap, seconds, visits_per_stage, prefer, starts
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
        own = [
            replace(one, name=str(place.parent / one.name)) if games.is_file(one.name) else one for one in found.games
        ]
        return replace(found, games=tuple(own), scripts=tuple(str(place.parent / script) for script in found.scripts))

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
    for k, given_one in enumerate(entries):
        one = kind(given_one) if type(given_one) is str else given_one
        if not isinstance(one, kind):
            raise TacitError(f"{what}[{k}] is {brief(one)}; it must be {_what_fits(one, kind)}")
        found.append(one)
    return tuple(found)


def _what_fits(one: object, kind: type[Any]) -> str:
    if kind is LearnerSpec:
        return 'a learner\'s name, or LearnerSpec(name, params), e.g. LearnerSpec("npg", {"eta": 0.1})'
    told = 'a game\'s name, or GameSpec(name, params), e.g. GameSpec("good-state", {"horizon": 5})'
    if hasattr(one, "digest"):  # a game, which a run that is stored or runs elsewhere has to find again
        told += '; save a game of your own with game.save("mine.npz") and give "mine.npz"'
    return told


#: The first keys of a run, in the order in which they are hashed.
_FIRST = ("episodes", "seed", "points", "keep", "tables")

#: Bytes that planning and waiting take for each run, measured; and columns of a curve, the fewest there are.
_PER_RUN, _COLUMNS = 6_000, 8


@dataclass(frozen=True)
class RunSpec(HasOptions):
    """One run with all its parameters; two runs with the same hash have the same result. It pickles.

    Attributes
    ----------
    game : GameSpec
    learner : LearnerSpec
    options : Options
        As for `tacit.learn`; each of them is an attribute too. With `seconds` two runs of the same hash may differ: how
        far they come depends on the machine.
    tables : str
        Digest of the game's tables: a game file that was changed is another game. For an environment, "environment" and
        a digest of the file that defines it.
    scripts : str
        Digest of the scripts that were imported, "" for none.
    tacit : str
        The version.
    place : int, optional
        Where this game with this learner stands among those of the experiment, for the order of results.

    Examples
    --------
    >>> from tacit.experiments import Experiment, GameSpec, LearnerSpec
    >>> [one] = Experiment("small", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),)).run().outcomes
    >>> one.spec.seed, len(one.spec.hash) > 12
    (0, True)
    """

    game: GameSpec
    learner: LearnerSpec
    tables: str
    options: Options = field(metadata={"keys": {"visits_per_stage": "thin"}})
    scripts: str = ""
    tacit: str = __version__
    place: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", replace(self.options, episodes=self.options.most))  # as it is hashed
        if self.place is not None:
            check.integer("place", self.place, least=0)

    @cached_property
    def hash(self) -> str:
        """The hash of everything above but labels and the place, which are for people."""
        game, learner = replace(self.game, label=None), replace(self.learner, label=None)
        content = toml.dumps(replace(self, game=game, learner=learner, place=None), first=_FIRST)
        return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()

    @property
    def open(self) -> bool:
        """Whether only a gap or the clock ends it."""
        return self.options.open

    @property
    def has_tables(self) -> bool:
        """Whether the game has tables; an environment has none."""
        return not self.tables.startswith(NO_TABLES)

    @property
    def label(self) -> str:
        """What people call the learner."""
        return self.learner.label or self.learner.name

    @property
    def told(self) -> str:
        """The run as people are told of it."""
        return f"{self.game.name} with {self.label}, seed {self.seed}"

    @property
    def directory(self) -> str:
        """Name of the run's directory: for people, then the hash."""
        game = Path(self.game.name).stem if games.is_file(self.game.name) else self.game.name
        words = (game[:100], self.learner.name[:50], f"seed{self.seed}", self.hash[:12])
        return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", word) for word in words)


def plan(experiment: Experiment, *, keep: bool) -> list[RunSpec]:
    """Return the runs of an experiment, checked and with their defaults filled in: by game, learner and seed."""
    runs: list[RunSpec] = []
    options = replace(experiment.options, keep=experiment.options.keep and keep)
    chosen_games = sweep(experiment.games, games.REGISTRY)
    chosen_learners = sweep(experiment.learners, REGISTRY)
    total = experiment.seeds * len(chosen_games) * len(chosen_learners)
    curve = memory.floats(min(options.points, options.most), _COLUMNS)
    memory.require(total * (_PER_RUN + curve), f"an experiment of {total:,} runs")
    for given in chosen_games:
        game = make_game(given)
        for chosen in chosen_learners:
            settings = with_preset(getattr(game, "name", None), chosen.name, chosen.params)
            REGISTRY.make(chosen.name, **settings)
            first = RunSpec(
                options=options,
                tables=game.digest,
                game=GameSpec(given.name, _game_params(given), given.label or _own_name(given, game)),
                learner=LearnerSpec(chosen.name, _fill_in(REGISTRY, chosen.name, settings), chosen.label),
                scripts=scripts.digest(experiment.scripts),
            )
            same = next((run.label for run in runs if run.hash == first.hash), None)
            if same is not None:
                raise TacitError(f"{given.name} with {first.label} is the same as with {same}; leave one out")
            alone = len(chosen_games) == len(chosen_learners) == 1
            place = None if alone else len(runs) // experiment.seeds
            each = [replace(options, seed=options.seed + k) for k in range(experiment.seeds)]
            runs += [replace(first, options=one, place=place) for one in each]
    return runs


def game_of(spec: RunSpec, *, named: Collection[str] = ()) -> ExactGame:
    """Make the game of a stored run again, and see that it is the same.

    No code that the run names is imported or called, unless the user has named the game as well.
    """
    name = spec.game.name
    if spec.tables.startswith(NO_TABLES):
        raise TacitError(f"{name} has no tables, so the policy cannot be evaluated exactly")
    if games.is_code(name) and name not in named:
        raise TacitError(f"the results name Python code, {name}, which is run only if you name it too: --game {name}")
    return check_exact(same_game(spec))


def make_game(given: GameSpec) -> ExactGame | NamedEnvironment:
    """Make the game that a name means, or name an environment."""
    if given.name.startswith(PREFIX) or is_played(given.name, given.params):
        return name_environment(given.name, **given.params)
    found: Any = games.from_name_or_file(given.name, **given.params)
    if not is_game(found) and is_environment(found):  # that a script registers
        return name_environment(given.name, **given.params)
    return found  # type: ignore[no-any-return]


def default_learner(given: GameSpec, params: Mapping[str, Any]) -> str:
    """Return who learns where nobody is named, by the rule of `tacit.learn`."""
    game = make_game(given)
    if not hasattr(game, "enter"):
        return default_for(game, params)
    with game.enter() as env:
        return default_for(env, params)


def same_game(spec: RunSpec) -> ExactGame | NamedEnvironment:
    """Make the game of a run again, and see that it is the same."""
    game = make_game(spec.game)
    if game.digest != spec.tables:
        raise TacitError(f"the game {spec.game.name} is not what it was when the run was made")
    return game


def _own_name(given: GameSpec, game: object) -> str | None:
    """Return what a game file calls its game."""
    return getattr(game, "name", None) or None if games.is_file(given.name) else None


def _game_params(given: GameSpec) -> dict[str, Any]:
    if not games.is_registered(given.name):
        return dict(given.params)
    filled = _fill_in(games.REGISTRY, given.name, given.params)
    if "discount" in given.params:  # it takes the place of a horizon
        return {
            **{key: value for key, value in filled.items() if key != "horizon"},
            "discount": given.params["discount"],
        }
    return filled


def _fill_in(registry: Registry[Any], name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the defaults that are plain values, in the order of the declaration."""
    found = {}
    for key, default in registry.parameters(name).items():
        value = params.get(key, default)
        if key in params or isinstance(value, bool | int | float | str):
            found[key] = float(value) if isinstance(default, float) and type(value) is int else value
    return found


#: What the annotation of a parameter that takes lists has in it.
_LISTS = ("Sequence", "list", "List", "tuple", "Tuple", "Array", "Iterable", "Any")

#: Learners or games that one entry may stand for.
_MOST = 10_000


def sweep(specs: Sequence[Spec], registry: Registry[Any]) -> list[Spec]:
    """Return each spec, or one for each combination of the values that its lists give.

    >>> from tacit.learners import DEFAULT, REGISTRY
    >>> [one.params for one in sweep([LearnerSpec("npg", {"eta": [0.1, 0.2]})], REGISTRY)]
    [{'eta': 0.1}, {'eta': 0.2}]
    """
    found: list[Spec] = []
    for spec in specs:
        lists = {key: value for key, value in spec.params.items() if _is_swept(registry, spec.name, key, value)}
        total = 1
        for key, values in lists.items():
            if not values:
                raise TacitError(f"{spec.name} has no value for {key}: its list is empty")
            total *= len(values)
        if total > _MOST:
            raise TacitError(f"the lists of {spec.name} make {total:,} combinations; at most {_MOST:,} are run")
        for values in itertools.product(*map(_distinct, lists.values())):
            chosen = dict(zip(lists, values, strict=True))
            found.append(replace(spec, params={**spec.params, **chosen}))
    return found


def _distinct(values: list[Any]) -> list[Any]:
    """Return values without those that are there before: 1 and 1.0 are one run, 1 and true are not.

    >>> _distinct([1, 1.0, True, "a", "a", 0.5])
    [1, True, 'a', 0.5]
    """
    found: list[Any] = []
    for value in values:
        if not any(value == one and (type(value) is bool) == (type(one) is bool) for one in found):
            found.append(value)
    return found


def _is_swept(registry: Registry[Any], name: str, key: str, value: object) -> bool:
    if not isinstance(value, list) or name not in registry:
        return False
    parameters = inspect.signature(registry.factory(name)).parameters
    if key not in parameters:
        return False  # an error, which is told where the learner or game is made
    hint = parameters[key].annotation
    takes_lists = isinstance(parameters[key].default, list | tuple) or (
        hint is not inspect.Parameter.empty and any(word in str(hint) for word in _LISTS)
    )
    return not takes_lists or all(isinstance(part, list) for part in value)
