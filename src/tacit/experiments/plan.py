"""From an experiment to its runs: every default filled in, every run named by a hash of its content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tacit import games
from tacit._version import __version__
from tacit.core import check, limits, memory
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.environments.pettingzoo import PREFIX, NamedEnvironment, game_named
from tacit.experiments import scripts, toml
from tacit.experiments.spec import Experiment, GameSpec, LearnerSpec
from tacit.experiments.sweep import swept
from tacit.games.exact import ExactGame, is_exact
from tacit.learners import REGISTRY
from tacit.learners.presets import with_preset
from tacit.learning import check_limits, check_thin

#: Stands before the digest of an environment's code, which takes the place of the tables it does not have.
NO_TABLES = "environment"


#: Bytes that planning and waiting take for each run, measured; and columns of a curve, the fewest there are.
_PER_RUN, _COLUMNS = 6_000, 8


@dataclass(frozen=True)
class RunSpec:
    """One run with all its parameters; two runs with the same hash have the same result. It pickles.

    Attributes
    ----------
    game : GameSpec
    learner : LearnerSpec
    episodes, seed, points : int
    keep, certify : bool
        As for `tacit.learn`.
    gap, seconds : float, optional
        When it stops. With `seconds` two runs of the same hash may differ: how far they come depends on the machine.
    thin : int, optional
        Visits of each stage that are kept and certified.
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

    episodes: int
    seed: int
    points: int
    keep: bool
    tables: str
    game: GameSpec
    learner: LearnerSpec
    certify: bool | None = None
    gap: float | None = None
    seconds: float | None = None
    thin: int | None = None
    scripts: str = ""
    tacit: str = __version__
    place: int | None = None

    def __post_init__(self) -> None:
        limits.integer("points", self.points)
        check.flag("keep", self.keep)
        if self.certify is not None:
            check.flag("certify", self.certify)
        check_limits(self.episodes, self.gap, self.seconds)
        check_thin(self.thin)
        limits.integer("seed", self.seed)
        if self.place is not None:
            check.integer("place", self.place, least=0)

    @cached_property
    def hash(self) -> str:
        """The hash of everything above but labels and the place, which are for people."""
        game, learner = replace(self.game, label=None), replace(self.learner, label=None)
        content = toml.dumps(replace(self, game=game, learner=learner, place=None))
        return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()

    @property
    def open(self) -> bool:
        """Whether only a gap or the clock ends it."""
        return self.episodes == limits.EPISODES and not (self.gap is None and self.seconds is None)

    @property
    def label(self) -> str:
        """What people call the learner."""
        return self.learner.label or self.learner.name

    @property
    def directory(self) -> str:
        """Name of the run's directory: for people, then the hash."""
        game = Path(self.game.name).stem if games.is_file(self.game.name) else self.game.name
        words = (game[:100], self.learner.name[:50], f"seed{self.seed}", self.hash[:12])
        return "_".join(re.sub(r"[^A-Za-z0-9.-]+", "-", word) for word in words)


def plan(experiment: Experiment, *, keep: bool) -> list[RunSpec]:
    """Return the runs of an experiment, checked and with their defaults filled in: by game, learner and seed."""
    runs: list[RunSpec] = []
    episodes = limits.EPISODES if experiment.episodes is None else experiment.episodes
    chosen_games = swept(experiment.games, games.REGISTRY)
    chosen_learners = swept(experiment.learners, REGISTRY)
    total = experiment.seeds * len(chosen_games) * len(chosen_learners)
    curve = memory.floats(min(experiment.points, episodes), _COLUMNS)
    memory.require(total * (_PER_RUN + curve), f"an experiment of {total:,} runs")
    for given in chosen_games:
        game = game_named(given.name, **given.params)
        for chosen in chosen_learners:
            settings = with_preset(getattr(game, "name", None), chosen.name, chosen.params)
            REGISTRY.make(chosen.name, **settings)
            first = RunSpec(
                episodes=episodes,
                seed=experiment.first_seed,
                points=experiment.points,
                keep=experiment.keep and keep,
                tables=_content(game),
                game=GameSpec(given.name, _game_params(given), given.label or _own_name(given, game)),
                learner=LearnerSpec(chosen.name, _filled(REGISTRY, chosen.name, settings), chosen.label),
                certify=experiment.certify,
                gap=None if experiment.gap is None else float(experiment.gap),
                seconds=None if experiment.seconds is None else float(experiment.seconds),
                thin=experiment.thin,
                scripts=scripts.digest(experiment.scripts),
            )
            same = next((run.label for run in runs if run.hash == first.hash), None)
            if same is not None:
                raise TacitError(f"{given.name} with {first.label} is the same as with {same}; leave one out")
            alone = len(chosen_games) == len(chosen_learners) == 1
            place = None if alone else len(runs) // experiment.seeds
            runs += [replace(first, seed=experiment.first_seed + k, place=place) for k in range(experiment.seeds)]
    return runs


def game_of(spec: RunSpec, *, named: Collection[str] = ()) -> ExactGame:
    """Make the game of a stored run again, and see that it is the same.

    No code that the run names is imported or called, unless the user has named the game as well.
    """
    name = spec.game.name
    if name.startswith(PREFIX):
        raise TacitError(f"{name} has no tables, so the policy cannot be evaluated exactly")
    if games.is_code(name) and name not in named:
        raise TacitError(f"the results name Python code, {name}, which is run only if you name it too: --game {name}")
    game = same_game(spec)
    assert is_exact(game)  # by its name
    return game


def same_game(spec: RunSpec) -> ExactGame | NamedEnvironment:
    """Make the game of a run again, and see that it is the same."""
    game = game_named(spec.game.name, **spec.game.params)
    if _content(game) != spec.tables:
        raise TacitError(f"the game {spec.game.name} is not what it was when the run was made")
    return game


def _content(game: ExactGame | NamedEnvironment) -> str:
    return f"{NO_TABLES} {game.code}" if isinstance(game, NamedEnvironment) else game.digest


def _own_name(given: GameSpec, game: object) -> str | None:
    """Return what a game file calls its game."""
    return getattr(game, "name", None) or None if games.is_file(given.name) else None


def _game_params(given: GameSpec) -> dict[str, Any]:
    registered = games.is_registered(given.name)
    return _filled(games.REGISTRY, given.name, given.params) if registered else dict(given.params)


def _filled(registry: Registry[Any], name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the defaults that are plain values, in the order of the declaration."""
    found = {}
    for key, default in registry.parameters(name).items():
        value = params.get(key, default)
        if key in params or isinstance(value, bool | int | float | str):
            found[key] = float(value) if isinstance(default, float) and type(value) is int else value
    return found
