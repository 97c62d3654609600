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
from tacit.engine.events import Finished, Noted, Scouted, Started, Watcher, and_shown, shown, to_all
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.engine.protocols import Engine, Output
from tacit.engine.run import Run
from tacit.environments.adapters import GameAdapter, environment, is_environment, name_of
from tacit.environments.bounds import Bounds, Exceeded, episode_bounds, told_scouting
from tacit.environments.engine import EnvironmentEngine
from tacit.environments.observations import Encode
from tacit.environments.seeding import Seeding
from tacit.games.gymnasium import from_gymnasium, has_table
from tacit.games.protocol import Game, check_play, check_sizes, is_game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner
from tacit.learners.teams import team


def learn(
    game: TabularGame | Any,
    learner: str | Learner | Sequence[Any] | Callable[..., Any],
    *,
    episodes: int,
    seed: int = 0,
    certify: bool | None = None,
    keep: bool = True,
    points: int = 100,
    gap: float | None = None,
    seconds: float | None = None,
    progress: Watcher | None = None,
    checkpoint: Checkpoint | None = None,
    horizon: int | None = None,
    reward_range: tuple[float, float] | None = None,
    encode: Encode | None = None,
    pickle_env: bool = False,
    **params: Any,
) -> Run:
    """Let all agents of a game learn, and certify the result.

    Parameters
    ----------
    game : TabularGame, another game with kernels, a PettingZoo `ParallelEnv`, or a Gymnasium environment
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
    pickle_env : bool
        For environments with a checkpoint: keep the environment in it as a pickle, and unpickle it to resume. Whoever
        can write that file can then run code as you; without it nothing is unpickled.

    Returns
    -------
    Run
        Interrupted by Ctrl-C or by an environment that fails, the run holds what was done until then, and says so;
        `run.raise_error()` raises what the environment failed with.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("matching-pennies"), "stage-v-cce", episodes=2000, bonus=0.1)
    >>> run.gaps.kind, bool(run.gap < 0.2)
    ('cce', True)
    """
    options = Options(episodes, seed, certify, keep, points, gap, seconds)
    given = {"horizon": horizon, "reward_range": reward_range, "encode": encode, "pickle_env": pickle_env or None}
    watch = shown if progress is None else and_shown(progress)
    run = run_learner(game, learner, params, options, watch=watch, checkpoint=checkpoint, **given)
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

    def __post_init__(self) -> None:
        limits.integer("episodes", self.episodes, least=1, most=limits.EPISODES)
        limits.integer("seed", self.seed, least=0, most=limits.SEED + limits.SEEDS)
        limits.integer("points", self.points, least=1, most=limits.POINTS)
        if self.certify is not None:
            check.flag("certify", self.certify)
        check.flag("keep", self.keep)
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
    if not isinstance(game, TabularGame):
        check_play(game)
    if options.certify:
        _require_tables(game, "the certificate needs tables")
    for option in (key for key, value in bounds.items() if value is not None):
        raise TacitError(f"{option} is for environments without tables; {game!r} has its own")
    name, chosen = team(learner, params, game.name, game.agents)
    output = _output(game, chosen, options)
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
        engine = FusedEngine(game, chosen, episodes=K, seed=seed, **watched)
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
    pickle_env: bool | None = None,
) -> Run:
    """Let agents on their own learn; start over with wider bounds where an environment exceeds those it was given."""
    if options.certify:
        raise TacitError(f"{name_of(env)} has no tables, which the certificate needs; leave the certificate out")
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise TacitError(f"checkpoint is {brief(checkpoint)}; it must be a tacit.engine.checkpoint.Checkpoint")
    if encode is not None and not callable(encode):
        raise TacitError(f"encode is {brief(encode)}; it must be a function from an observation to something hashable")
    adapter = environment(env)
    name, chosen = team(learner, params, name_of(env), len(adapter.names))
    check_alone(chosen, name)
    bounds = episode_bounds(adapter, horizon=horizon, reward_range=reward_range, seed=options.seed)
    if bounds.guessed:
        watch(Scouted(told_scouting(name_of(env), bounds, rangeless=chosen.rangeless)))
    seeding = Seeding(adapter, options.seed, pickled=check.flag("pickle_env", pickle_env or False))
    while True:
        engine = EnvironmentEngine(
            adapter, chosen, bounds, episodes=options.episodes, seed=options.seed, encode=encode, seeding=seeding
        )
        engine.tells_seeding = checkpoint is not None
        output = _output(engine.game, chosen, options)
        engine.record = output.record
        try:
            return _conduct(engine, output, name, options, watch, checkpoint)
        except Exceeded as exceeded:
            bounds = exceeded.wider
            if checkpoint is not None and not exceeded.stored:
                checkpoint.discard()


def _require_tables(game: Game, needed: str) -> TabularGame:
    """Return a game that has tables, or say what needs them."""
    if not isinstance(game, TabularGame):
        raise TacitError(f"{needed}, and the game {game.name or brief(game)} has none")
    return game


def _output(game: Game, learner: Learner, options: Options) -> Output:
    made = {"episodes": options.episodes, "seed": options.seed, "certify": options.certify, "keep": options.keep}
    return outputs.REGISTRY.make(learner.output, game=game, learner=learner, **made)


def _conduct(
    engine: Engine, output: Output, name: str, options: Options, watch: Watcher, checkpoint: Checkpoint | None
) -> Run:
    """Drive a run from its start, or from where its checkpoint left it, to its end."""
    curve = Curve(options.episodes, options.points, engine.game.agents)
    if checkpoint is not None:
        checkpoint.resume({"engine": engine, "curve": curve, "output": output}, *engine.structs)
    game = engine.game.name or type(engine.game).__name__
    watch(Started(game, name, options.seed, options.episodes, curve.done, tuple(curve.rows), engine.game.horizon))
    limits = {"gap": options.gap, "seconds": options.seconds}
    ended = drive(engine, output, curve, watch=watch, checkpoint=checkpoint, **limits)
    result = output.result(engine, curve.done)
    found = list(engine.warnings)
    failed = "" if engine.failure is None else str(engine.failure)
    if ended == "interrupted":
        told = f"interrupted: the run holds {curve.done} of {options.episodes} episodes"
        found.append(f"{told}; {failed}" if failed else told)
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
        notes=(*engine.game.notes, *engine.notes, *([failed] if failed else [])),
        warnings=tuple(found),
        error=engine.failure,
    )
    with contextlib.suppress(KeyboardInterrupt):  # there is nothing left to interrupt
        for note in dict.fromkeys((*run.notes, *engine.warnings)):
            watch(Noted(note))
        watch(Finished(curve.done, ended))
    return run
