"""An experiment, games × learners × seeds, as a dataclass and as a TOML file.

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
import sys
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import tomli_w

from tacit import games
from tacit._version import __version__
from tacit.core import call_hook, check, files, memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.registry import Registry
from tacit.environments.adapters import environment
from tacit.environments.engine import check_spaces
from tacit.environments.pettingzoo import NO_TABLES, NamedEnvironment
from tacit.games.exact import ExactGame, check_exact
from tacit.games.protocol import is_game
from tacit.learners import DEFAULT, REGISTRY, default_for, resolve, with_preset
from tacit.learning import game_by_name
from tacit.options import FIELDS, Options

if TYPE_CHECKING:
    from tacit.experiments.results import Results


# dataclasses from TOML and JSON and back. TOML has no None: a field of None is left out, and among parameters the word
# "none" stands for it.

T = TypeVar("T")
_NONE = "none"

#: The largest file that is read, and bytes of memory that one byte of it may become.
LIMIT, _SPREAD = 1_000_000, 100

#: Parts of a key; the time and the memory to read one grow with their square.
_DOTS = 100


def read_toml(path: Path) -> dict[str, Any]:
    """Return the table in a TOML file, with None for the word "none"."""
    content = files.read(path, limit=LIMIT, spread=_SPREAD)
    try:
        text = content.decode()
        if any(piece.count(".") > _DOTS for piece in re.split(r"[,=\n{}\[\]]", text)):
            raise TacitError(f"it has a key of more than {_DOTS} parts")
        table: dict[str, Any] = _replace_none(tomllib.loads(text))
    except (ValueError, RecursionError, MemoryError) as error:  # no TOML, no UTF-8, or a number of 5000 digits
        raise TacitError(f"{path} is not a TOML file: {one_line(error, 200)}") from None
    return table


def convert(table: object, kind: type[T]) -> T:
    """Return a table as a dataclass; errors name the key."""
    try:
        return msgspec.convert(table, kind)
    except (msgspec.ValidationError, ValueError, OverflowError, RecursionError) as error:
        raise TacitError(one_line(error)) from None


def check_keys(table: object, names: Iterable[str], where: str) -> Mapping[str, Any]:
    """Return a table whose keys are all known."""
    if not isinstance(table, Mapping):
        raise TacitError(f"{where} must be a table; got {brief(table)}")
    names = list(names)
    for key in table:
        if key not in names:
            word = f"{where}.{one_line(key, 60)}".lstrip(".")
            raise TacitError(f"{word} is an unknown key{check.suggestion(key, names)} known: {', '.join(names)}")
    return table


def _replace_none(value: Any) -> Any:
    match value:
        case {**table}:
            return {key: _replace_none(part) for key, part in table.items()}
        case [*parts]:
            return [_replace_none(part) for part in parts]
    return None if value == _NONE else value


def dumps(spec: Any) -> str:
    """Write a dataclass, or a table, as TOML.

    >>> print(dumps(LearnerSpec("npg", {"eta": 0.1})), end="")
    name = "npg"
    <BLANKLINE>
    [params]
    eta = 0.1
    """
    try:
        return tomli_w.dumps(_plain(spec))
    except (TypeError, ValueError) as error:  # what TOML has no word for, or a number of thousands of digits
        raise TacitError(f"a parameter cannot be written to a TOML file: {error}") from None


def _plain(value: Any) -> Any:
    """Return a dataclass as plain tables. What is None, empty or has `metadata={"file": False}` is left out."""
    if is_dataclass(value):
        values = {one.name: getattr(value, one.name) for one in fields(value) if one.metadata.get("file", True)}
        return {name: _plain(part) for name, part in values.items() if part is not None and part not in ({}, ())}
    match value:
        case {**table}:
            return {key: _plain(part) for key, part in table.items()}
        case [*parts]:
            return [_plain(part) for part in parts]
        case None:
            return _NONE
    return value


# what is named: games, learners, experiments --------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedSpec:
    """Something of a registry: its name, its parameters, and what tables and figures call it."""

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label: str | None = None

    def __post_init__(self) -> None:
        check.text("name", self.name, empty=False)
        if not isinstance(self.params, Mapping) or not all(isinstance(key, str) for key in self.params):
            raise TacitError(f"params must be a table of parameters; got {brief(self.params)}")
        if self.label is not None:
            check.text("label", self.label, empty=False)


@dataclass(frozen=True)
class GameSpec(NamedSpec):
    """A game by its name, a file or another library's name, and its parameters.

    Parameters
    ----------
    name : str
    params : mapping
    label : str, optional
        What tables and figures call it; the name that a game file holds, if not given.
    game : game, optional
        The game itself, where its name is not registered; runs of it cannot be stored.

    Examples
    --------
    >>> import tacit
    >>> tacit.GameSpec("good-state", {"horizon": 5}).params["horizon"]
    5
    """

    game: Any = field(default=None, repr=False, compare=False, metadata={"file": False})


@dataclass(frozen=True)
class LearnerSpec(NamedSpec):
    """A learner by its name, its parameters, and what figures call it.

    Parameters
    ----------
    name : str
    params : mapping
    label : str, optional
    learner : learner or class, optional
        The learner itself, where its name is not registered; runs of it cannot be stored.

    Examples
    --------
    >>> import tacit
    >>> tacit.LearnerSpec("stage-v-cce", {"bonus": 0.1}, label="the paper's").label
    "the paper's"
    """

    learner: Any = field(default=None, repr=False, compare=False, metadata={"file": False})


@dataclass(frozen=True, init=False)
class Experiment:
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
        for them to be run: see `tacit.experiments.worker`.
    options : Options, optional
        All of the following together; those that are given beside it override it.
    points, certify, keep, gap, seconds, visits_per_stage, prefer
        As for `tacit.learn`. With `seconds` results depend on the machine.

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
    options: Options
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
        **more: Any,
    ) -> None:
        check.text("name", name, empty=False)
        seeds = check.integer("seeds", seeds)
        for script in check.list_of("scripts", scripts, "Python files"):
            check.text("scripts", script, empty=False)
        if first_seed is not None:
            more["seed"] = check.integer("first_seed", first_seed)
        if episodes is not None:
            more["episodes"] = episodes
        check_keys(more, FIELDS, "")
        if options is not None and not isinstance(options, Options):
            raise TacitError(f"options must be a tacit.options.Options; got {brief(options)}")
        options = Options(**more) if options is None else replace(options, **more)
        specs = (_specs("games", games, GameSpec), _specs("learners", learners, LearnerSpec))
        for one, value in zip(fields(self), (name, options, *specs, seeds, tuple(scripts)), strict=True):
            object.__setattr__(self, one.name, value)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read an experiment from a TOML file. Game files and scripts in it are looked for beside it."""
        file = files.path(path)
        table = read_toml(file)
        try:
            check_keys(table, ["name", *map(_file_name, FIELDS), "games", "learners", "seeds", "scripts"], "")
            for key in ("name", "games"):
                if key not in table:
                    raise TacitError(f"{key} is missing")
            table["games"] = [
                replace(one, name=str(file.parent / one.name)) if games.is_file(one.name) else one
                for one in _specs("games", table["games"], GameSpec)
            ]
            scripts = check.list_of("scripts", table.pop("scripts", []), "files")
            return cls(**table, scripts=[str(file.parent / script) for script in scripts])
        except TacitError as error:
            raise TacitError(f"{file}: {error}") from None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the experiment as a TOML file."""
        self.check_storable()
        table = _plain(self)
        options = {_file_name(name): value for name, value in table.pop("options").items()}
        files.write(files.path(path), dumps({"name": table.pop("name"), **options, **table}).encode())

    def check_storable(self) -> None:
        """Raise if a game or a learner is an object, which no file can name."""
        for game in self.games:
            if game.game is not None:
                raise TacitError(f'{game.name} is an object; save it with game.save("mine.npz") and name "mine.npz"')
        for chosen in self.learners:
            if chosen.learner is not None:
                raise TacitError(f"{chosen.name} is an object; add it to tacit.learners.REGISTRY, and name it")

    def run(self, **options: Any) -> Results:
        """Run it, with a progress bar on a terminal; `options` are those of `tacit.experiments.run_experiment`."""
        from tacit.experiments.runner import run_experiment  # it builds on this file

        if "progress" in options or not sys.stderr.isatty():
            return run_experiment(self, **options)
        with call_hook("progress_on_stderr", self.name) as progress:
            return run_experiment(self, **{"progress": progress, "note": progress.say, **options})


Spec = TypeVar("Spec", GameSpec, LearnerSpec)


def _file_name(option: str) -> str:
    """Return what an option is called in files."""
    return "first_seed" if option == "seed" else option


def _specs(what: str, entries: object, kind: type[Spec]) -> tuple[Spec, ...]:
    """Return specs from specs, tables of a file, or names alone."""
    specs: list[Spec] = []
    for k, entry in enumerate(entries if isinstance(entries, list | tuple) else [entries]):
        where = f"{what}[{k}]"
        table = {"name": entry} if isinstance(entry, str) else entry
        if isinstance(table, Mapping):
            check_keys(table, ("name", "params", "label"), where)
            if "name" not in table:
                raise TacitError(f"{where}.name is missing")
            try:
                table = kind(**table)
            except TacitError as error:
                raise TacitError(f"{where}.{error}") from None
        if not isinstance(table, kind):
            save = '; save a game with game.save("mine.npz"), and name "mine.npz"' if is_game(entry) else ""
            raise TacitError(f"{where} must be a name, or a {kind.__name__}(name, params){save}; got {brief(entry)}")
        specs.append(table)
    if not specs:
        raise TacitError(f"{what} must have at least one entry; got none")
    return tuple(specs)


#: Bytes that planning and waiting take for each run, measured; and columns of a curve, the fewest there are.
_PER_RUN, _COLUMNS = 6_000, 8


@dataclass(frozen=True)
class RunSpec:
    """One run with all its parameters. Two runs with the same hash have the same result. It pickles.

    Attributes
    ----------
    game : GameSpec
    learner : LearnerSpec
    options : Options
        As for `tacit.learn`. With `seconds` two runs of the same hash may differ: how far they come depends on the
        machine.
    tables : str
        Digest of the game's tables: a game file that was changed is another game. For an environment, "environment" and
        a digest of the file that defines it.
    scripts : str
        Digest of the scripts that were imported, "" for none.
    tacit : str
        The version.
    position : int, optional
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
    options: Options
    scripts: str = ""
    tacit: str = __version__
    position: int | None = None

    def __post_init__(self) -> None:
        for name, kind in (("game", GameSpec), ("learner", LearnerSpec), ("options", Options)):
            if not isinstance(getattr(self, name), kind):
                raise TacitError(f"{name} must be of type {kind.__name__}; got {brief(getattr(self, name))}")
        object.__setattr__(self, "options", replace(self.options, episodes=self.options.most))  # as it is hashed
        if self.position is not None:
            object.__setattr__(self, "position", check.integer("position", self.position, least=0))

    @cached_property
    def hash(self) -> str:
        """The hash of everything above but labels and the position, which are for people."""
        game, learner = replace(self.game, label=None), replace(self.learner, label=None)
        content = dumps(replace(self, game=game, learner=learner, position=None))
        return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()

    @property
    def seed(self) -> int:
        """The seed of the run."""
        return self.options.seed

    @property
    def has_tables(self) -> bool:
        """Whether the game has tables; an environment has none."""
        return not self.tables.startswith(NO_TABLES)

    @property
    def label(self) -> str:
        """What people call the learner."""
        return self.learner.label or self.learner.name

    @property
    def in_words(self) -> str:
        """The run in words, for people."""
        return f"{self.game.name} with {self.label}, seed {self.seed}"

    @property
    def directory(self) -> str:
        """Name of the run's directory: for people, then the hash."""
        game = Path(self.game.name).stem if games.is_file(self.game.name) else self.game.name
        words = (game[:100], self.learner.name[:50], f"seed{self.seed}", self.hash[:12])
        return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", word) for word in words)


def plan(experiment: Experiment, *, keep: bool) -> list[RunSpec]:
    """Return the checked runs of an experiment by game, learner and seed, with all defaults."""
    runs: list[RunSpec] = []
    options = experiment.options
    chosen_games = sweep(experiment.games, games.REGISTRY)
    chosen_learners = sweep(experiment.learners, REGISTRY)
    total = experiment.seeds * len(chosen_games) * len(chosen_learners)
    curve = memory.floats(min(options.points, options.most), _COLUMNS)
    memory.require(total * (_PER_RUN + curve), f"an experiment of {total:,} runs")
    for game_spec in chosen_games:
        game = make_game(game_spec)
        name = getattr(game, "name", None) or None
        label = game_spec.label or (name if games.is_file(game_spec.name) else None)
        played = game.digest.startswith(NO_TABLES)  # at the end, by its record
        options = replace(experiment.options, keep=experiment.options.keep and (keep or played))
        for chosen in chosen_learners:
            first = RunSpec(
                options=options,
                tables=game.digest,
                game=replace(game_spec, params=_game_params(game_spec), label=label),
                learner=_with_defaults(chosen, name),
                scripts=_digest_files(experiment.scripts),
            )
            same = next((run.label for run in runs if run.hash == first.hash), None)
            if same is not None:
                raise TacitError(f"{game_spec.name} with {first.label} is the same as with {same}; leave one out")
            alone = len(chosen_games) == len(chosen_learners) == 1
            position = None if alone else len(runs) // experiment.seeds
            each = [replace(options, seed=options.seed + k) for k in range(experiment.seeds)]
            runs += [replace(first, options=one, position=position) for one in each]
    return runs


def _digest_files(paths: Sequence[str]) -> str:
    """Return a digest of files, "" for none: a changed script makes other runs."""
    each = (hashlib.sha256(files.read(Path(path))).digest() for path in paths)
    return hashlib.sha256(b"\0".join(each)).hexdigest() if paths else ""


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


def _with_defaults(chosen: LearnerSpec, game: str | None) -> LearnerSpec:
    """Return a learner, checked, with the defaults of its parameters filled in."""
    if chosen.learner is not None:
        resolve(chosen.learner, chosen.params, game)
        return chosen
    params = with_preset(game, chosen.name, chosen.params)
    REGISTRY.make(chosen.name, **params)
    return replace(chosen, params=_fill_in(REGISTRY, chosen.name, params))


def make_game(spec: GameSpec) -> ExactGame | NamedEnvironment:
    """Make the game that a name means, or name an environment."""
    if spec.game is not None:
        return spec.game  # type: ignore[no-any-return]
    return game_by_name(spec.name, spec.params)  # type: ignore[no-any-return]


def default_learner(spec: GameSpec, params: Mapping[str, Any]) -> str:
    """Return who learns where nobody is named, by the rule of `tacit.learn`."""
    game = make_game(spec)
    if not hasattr(game, "enter"):
        return default_for(game, game.agents, params)
    with game.enter() as env:
        adapter = environment(env)
        if env.encode is None:  # refused before any worker starts
            check_spaces(adapter, [False] * len(adapter.names), 0)
        return default_for(None, len(adapter.names), params)


def same_game(spec: RunSpec, game: Any = None) -> ExactGame | NamedEnvironment:
    """Make the game of a run again, unless given, and check its digest."""
    game = make_game(spec.game) if game is None else game
    if getattr(game, "digest", None) != spec.tables:
        raise TacitError(f"the game {spec.game.name} is not what it was when the run was made")
    return game  # type: ignore[no-any-return]


def _game_params(spec: GameSpec) -> dict[str, Any]:
    if spec.game is not None or not games.is_registered(spec.name):
        return dict(spec.params)
    filled = _fill_in(games.REGISTRY, spec.name, spec.params)
    if "discount" in spec.params:  # it replaces a horizon
        filled.pop("horizon", None)
        filled["discount"] = spec.params["discount"]
    return filled


def _fill_in(registry: Registry[Any], name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the defaults that are plain values, in the order of the declaration."""
    filled = {}
    for key, default in registry.parameters(name).items():
        value = params.get(key, default)
        if key in params or isinstance(value, bool | int | float | str):
            filled[key] = float(value) if isinstance(default, float) and type(value) is int else value
    return filled


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
    combinations: list[Spec] = []
    for spec in specs:
        lists = {key: value for key, value in spec.params.items() if _is_swept(registry, spec.name, key, value)}
        total = 1
        for key, values in lists.items():
            if not values:
                raise TacitError(f"{key} of {spec.name} must have at least one value; got an empty list")
            total *= len(values)
        if total > _MOST:
            raise TacitError(f"the lists of {spec.name} must make at most {_MOST:,} combinations; got {total:,}")
        for values in itertools.product(*lists.values()):
            chosen = dict(zip(lists, values, strict=True))
            combinations.append(replace(spec, params={**spec.params, **chosen}))
    return combinations


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
