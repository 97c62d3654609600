"""`tacit.learn`: agents that learn together, each alone."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tacit.core import check, limits
from tacit.core.errors import TacitError, brief
from tacit.engine import outputs
from tacit.engine.agents import check_alone
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.curve import Curve
from tacit.engine.drive import drive
from tacit.engine.events import Finished, Noted, Started, Watcher, to_all
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.thinned import ThinnedOutput
from tacit.engine.protocols import Engine, Output
from tacit.engine.run import Run
from tacit.environments.adapters import GameAdapter, environment, is_environment, name_of
from tacit.environments.bounds import Bounds, Exceeded, episode_bounds
from tacit.environments.engine import EnvironmentEngine
from tacit.environments.observations import Encode
from tacit.evaluation.seats import seconds_to_certify
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame, is_exact
from tacit.games.gymnasium import from_gymnasium, has_table
from tacit.games.protocol import Game, check_play, check_sizes, is_game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner
from tacit.learners.teams import team

#: Visits of each stage that are certified in a counting game of which all would take longer than so many seconds.
THIN, CERTIFY_SECONDS = 8, 60.0


def learn(
    game: TabularGame | Any,
    learner: str | Learner | Sequence[Any] | Callable[..., Any],
    *,
    episodes: int,
    seed: int = 0,
    certify: bool | None = None,
    keep: bool = True,
    thin: int | None = None,
    points: int = 100,
    gap: float | None = None,
    seconds: float | None = None,
    progress: Watcher | None = None,
    checkpoint: Checkpoint | None = None,
    horizon: int | None = None,
    reward_range: tuple[float, float] | None = None,
    encode: Encode | None = None,
    **params: Any,
) -> Run:
    """Let all agents of a game learn, and certify the result.

    Parameters
    ----------
    game : TabularGame, CountGame, FunctionGame, another game with kernels, a `ParallelEnv`, or a Gymnasium environment
        Agents of a game learn in the compiled loop, and with tables the result is certified exactly. A game without
        tables is an object as `tacit.kernels.Game` describes it. In an environment each agent learns on its own from
        its own observations and rewards. Without tables each agent's own bound stands in for the certificate. Gymnasium
        environments that carry their transition table (FrozenLake, Taxi, CliffWalking) are games with tables.
    learner : str, learner object, Python class, or a list of those, one for each agent
        A name from `tacit learners` with its keyword parameters in `params`, or e.g.
        `tacit.StageV(bandit="tsallis-inf")`. A class of your own is called with `states`, `actions`, `horizon`,
        `reward_range`, `seed` and `index`, and has `act(h, s)` and `learn(h, s, a, reward, next_state)`; it is played
        by agents on their own instead of in the compiled loop, some hundred times slower.
        `preset="paper"` takes the settings that the paper used on this game; others given beside it override them.
    episodes : int
        Episodes to play; for learners with exact gradients, iterations.
    seed : int
        Everything random comes from it.
    certify : bool, optional
        Keep the exact certificate, or measure exact gaps while learning. If not given, that is done for games of at
        most 1024 joint actions. It never changes a draw.
    keep : bool
        Keep the record that the certified policy is made of.
    thin : int, optional
        Keep and certify this many visits of each stage instead of all; what is certified is the policy made of those,
        exactly. If not given, counting games do so where certifying every visit would take long: 8 visits.
    points : int
        Rows of the curve.
    gap : float, optional
        Stop when the measured gap of the best policy, the largest of all agents, is at most this. It is measured at
        every row of the curve.
    seconds : float, optional
        Stop after so much time of learning; where that is depends on the machine.
    progress : callable, optional
        Called with every event of the run: `Started`, `Advanced(done, total)`, `Measured(row)` with the reward and
        the gap, `Noted(text)` and `Finished`, all of `tacit.engine.events`.
    checkpoint : Checkpoint, optional
        Where to keep the state of the run, and to resume from if it is there. It never changes a result.
    horizon : int, optional
        For environments: steps in an episode. If not given, what the environment states or what a few episodes show.
    reward_range : (low, high), optional
        For environments: where rewards lie. If not given, likewise; the bounds are then estimates.
    encode : callable, optional
        For environments: from an observation to something hashable, which is then the state that the agent sees.

    Returns
    -------
    Run
        Interrupted by Ctrl-C, the run holds what was done until then, and says so.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("matching-pennies"), "stage-v-cce", episodes=2000, bonus=0.1)
    >>> run.gaps.kind, bool(run.gap < 0.2)
    ('cce', True)
    """
    options = Options(episodes, seed, certify, keep, points, gap, seconds, thin)
    given = {"horizon": horizon, "reward_range": reward_range, "encode": encode}
    run = run_learner(game, learner, params, options, watch=progress, checkpoint=checkpoint, **given)
    for note in run.warnings:
        warnings.warn(note, stacklevel=2)
    return run


@dataclass(frozen=True)
class Options:
    """How long to learn, from which seed, and what to keep; see `learn`."""

    episodes: int
    seed: int = 0
    certify: bool | None = None
    keep: bool = True
    points: int = 100
    gap: float | None = None
    seconds: float | None = None
    thin: int | None = None

    def __post_init__(self) -> None:
        limits.integer("episodes", self.episodes, least=1, most=limits.EPISODES)
        limits.integer("seed", self.seed, least=0, most=limits.SEED + limits.SEEDS)
        limits.integer("points", self.points, least=1, most=limits.POINTS)
        if self.certify is not None:
            check.flag("certify", self.certify)
        check.flag("keep", self.keep)
        if self.thin is not None:
            check.integer("thin", self.thin, least=1, most=10**6)
        for name in ("gap", "seconds"):
            if getattr(self, name) is not None:
                check.real(name, getattr(self, name), least=0)


def run_learner(
    game: TabularGame | Any,
    learner: str | Learner | Sequence[Any] | Callable[..., Any],
    params: Mapping[str, Any],
    options: Options,
    *,
    watch: Watcher | None = None,
    checkpoint: Checkpoint | None = None,
    **bounds: Any,
) -> Run:
    """Do what `learn` does, without warnings: they are in `run.warnings`."""
    watch = to_all([] if watch is None else [watch])
    if not is_game(game) and is_environment(game):
        if bounds.get("encode") is not None or not has_table(game):
            return _in_environment(game, learner, params, options, watch, checkpoint, **bounds)
        game, bounds = from_gymnasium(game, horizon=bounds.get("horizon")), {**bounds, "horizon": None}
    if not is_game(game):
        raise TacitError(
            f"game is {brief(game)}; it must be a TabularGame, as from tacit.make or tacit.load, a game with kernels "
            f"of its own (see tacit.kernels) or an environment"
        )
    check_sizes(game)
    if not is_exact(game):
        check_play(game)
    if options.certify:
        _require_tables(game, "the certificate needs tables")
    for option in (key for key, value in bounds.items() if value is not None):
        raise TacitError(f"{option} is for environments without tables; {game!r} has its own")
    name, chosen = team(learner, params, game.name, game.agents)
    output = _output(game, chosen, options)
    for note in getattr(output, "beforehand", ()):
        watch(Noted(note))
    K, seed = options.episodes, options.seed
    engine: Engine
    if chosen.exact:
        engine = ExactEngine(
            _require_tables(game, f"{name} follows exact gradients, which need tables"), chosen, episodes=K, seed=seed
        )
    elif chosen.interpreted:
        inside = Bounds(game.horizon, game.reward_range)
        engine = EnvironmentEngine(GameAdapter(game), chosen, inside, episodes=K, seed=seed, game=game)
        checkpoint = None
    else:
        watched = {"certificate": output.certificate, "record": output.record}
        engine = FusedEngine(game, chosen, episodes=K, seed=seed, **watched, tell=lambda text: watch(Noted(text)))
    return _conduct(engine, output, name, options, watch, checkpoint)


def _in_environment(
    env: Any,
    learner: Any,
    params: Mapping[str, Any],
    options: Options,
    watch: Watcher,
    checkpoint: Checkpoint | None,
    *,
    horizon: int | None = None,
    reward_range: tuple[float, float] | None = None,
    encode: Encode | None = None,
) -> Run:
    """Let agents on their own learn; start over with wider bounds where an environment exceeds those it was given."""
    if options.certify:
        raise TacitError(f"{name_of(env)} has no tables, which the certificate needs; leave the certificate out")
    if options.thin is not None:
        raise TacitError(f"thin is for games; leave it out for the environment {name_of(env)}")
    if checkpoint is not None:
        raise TacitError(f"runs in an environment are not checkpointed; leave the checkpoint of {name_of(env)} out")
    if encode is not None and not callable(encode):
        raise TacitError(f"encode is {brief(encode)}; it must be a function from an observation to something hashable")
    adapter = environment(env)
    name, chosen = team(learner, params, name_of(env), len(adapter.names))
    check_alone(chosen, name)
    bounds = episode_bounds(adapter, horizon=horizon, reward_range=reward_range, seed=options.seed)
    while True:
        engine = EnvironmentEngine(adapter, chosen, bounds, episodes=options.episodes, seed=options.seed, encode=encode)
        output = _output(engine.game, chosen, options)
        engine.record = output.record
        try:
            return _conduct(engine, output, name, options, watch, None)
        except Exceeded as exceeded:
            bounds = exceeded.wider


def _require_tables(game: Game, needed: str) -> ExactGame:
    """Return a game that has tables, or say what needs them."""
    if not is_exact(game):
        raise TacitError(f"{needed}, and the game {game.name or brief(game)} has none")
    return game


def _output(game: Game, learner: Learner, options: Options) -> Output:
    made: dict[str, Any] = {
        "episodes": options.episodes,
        "seed": options.seed,
        "certify": options.certify,
        "keep": options.keep,
    }
    thin = thinning(game, learner, options)
    if thin is not None:
        return ThinnedOutput(game=game, learner=learner, **made, thin=thin)
    return outputs.REGISTRY.make(learner.output, game=game, learner=learner, **made)


def thinning(game: Game, learner: Learner, options: Options) -> int | None:
    """Return how many visits of each stage are kept and certified, or None for all."""
    if options.thin is not None or learner.output != "certified" or not isinstance(game, CountGame):
        return options.thin
    if options.certify is False or learner.interpreted:
        return None
    return THIN if seconds_to_certify(game, options.episodes * game.horizon) > CERTIFY_SECONDS else None


def _conduct(
    engine: Engine, output: Output, name: str, options: Options, watch: Watcher, checkpoint: Checkpoint | None
) -> Run:
    """Drive a run from its start, or from where its checkpoint left it, to its end."""
    curve = Curve(options.episodes, options.points, engine.game.agents)
    if checkpoint is not None:
        checkpoint.resume({"engine": engine, "curve": curve, "output": output}, *engine.structs)
    game = engine.game.name or type(engine.game).__name__
    watch(Started(game, name, options.seed, options.episodes, curve.done, tuple(curve.rows)))
    limits = {"gap": options.gap, "seconds": options.seconds}
    ended = drive(engine, output, curve, watch=watch, checkpoint=checkpoint, **limits)
    result = output.result(engine, curve.done)
    found = list(engine.warnings)
    if ended == "interrupted":
        found.append(f"interrupted: the run holds {curve.done} of {options.episodes} episodes")
    run = Run(
        game=engine.game,
        learner=name,
        episodes=curve.done,
        seed=options.seed,
        last=result.last,
        candidates=result.candidates,
        chosen=result.chosen,
        reward=curve.last_tenth(),
        curve=curve.table(),
        params=dict(engine.learner.params(engine.world)),
        seconds=engine.seconds,
        ended=ended,
        sampled=result.sampled,
        notes=(*engine.game.notes, *engine.notes),
        warnings=tuple(found),
    )
    with contextlib.suppress(KeyboardInterrupt):  # there is nothing left to interrupt
        for note in dict.fromkeys((*run.notes, *engine.warnings)):
            watch(Noted(note))
        watch(Finished(curve.done, ended))
    return run
