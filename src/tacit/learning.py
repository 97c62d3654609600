"""`tacit.learn`: game or environment, learner, engine, output, and the run that they make."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.core.compilation import announce_to
from tacit.core.errors import TacitError, brief
from tacit.engine import outputs
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.drive import Engine, Output, conduct
from tacit.engine.events import Noted, ProgressLine, Watcher, log_event, show_progress, show_urgent, to_all
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs import BestOutput, Member, TurnEngine, share
from tacit.engine.run import Run
from tacit.environments.adapters import GameAdapter, WrappedEnv, environment, is_environment, missing, name_of, wrap
from tacit.environments.engine import EnvironmentEngine, learn_in_environment
from tacit.environments.episodes import Bounds
from tacit.environments.pettingzoo import GYMNASIUM, PREFIX, NamedEnvironment, is_played, name_environment
from tacit.games import from_name_or_file
from tacit.games.exact import ExactGame, check_exact, check_playable
from tacit.games.gymnasium import read_table
from tacit.games.protocol import Game, is_game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner, Portfolio, check_suits, default_for, team
from tacit.learners.several import is_interpreted, is_resumable, to_random_horizon
from tacit.learners.spec import is_exact
from tacit.options import Options

#: What is given with an environment, not to `learn`.
ENVIRONMENT_OPTIONS = frozenset({"horizon", "reward_range", "encode"})


def learn(
    game: TabularGame | Any,
    learner: str | Learner | Sequence[Any] | Callable[..., Any] | None = None,
    *,
    episodes: int | None = None,
    seed: int = 0,
    certify: bool | None = None,
    keep: bool = True,
    visits_per_stage: int | None = None,
    points: int = 100,
    gap: float | None = None,
    seconds: float | None = None,
    prefer: str | int | None = None,
    periods: int | None = None,
    still: int | None = None,
    progress: Watcher | bool | None = None,
    checkpoint: Checkpoint | None = None,
    **params: Any,
) -> Run:
    """Let all agents of a game learn, and certify the result.

    Parameters
    ----------
    game : TabularGame, CountGame, FunctionGame, a game with kernels, a `ParallelEnv`, a Gymnasium environment, or str
        Agents of a game learn in the compiled loop, and with tables the result is certified. A game without
        tables is an object as `tacit.kernels.Game` describes it. In an environment each agent learns from its own
        observations and rewards. Without tables only the algorithm's own confidence bounds are available. Gymnasium
        environments that carry their transition table (FrozenLake, Taxi, CliffWalking) are games with tables. Options
        come with the environment: `tacit.from_pettingzoo(env, encode=…, horizon=…, reward_range=…)`. A name is as on
        the command line: "good-state", "gymnasium:FrozenLake-v1", "pettingzoo:module.path", "game.npz".
    learner : str, learner object, Python class, or a list of those, one for each agent
        A name from `tacit learners`, or an object such as `tacit.learners.StageV(bandit="tsallis-inf")`. If not given:
        `model-central` for a single agent, `portfolio` in games with tables of at most 1024 joint actions,
        `q-backward` in environments, and otherwise `adaptive-v-cce`, as where its parameters are given.
        A class of your own is called with `states`, `actions`,
        `horizon`, `reward_range`, `seed` and `index`, and has `act(h, s)` and `learn(h, s, a, reward, next_state)`; it
        is played by agents on their own instead of in the compiled loop, some hundred times slower.
    episodes : int, optional
        Episodes to play (10,000); for learners with exact gradients, iterations. Where it is left out and `gap` or
        `seconds` ends the run, constants of the theory count on 10¹⁵.
    seed : int
        Everything random comes from it.
    certify : bool, optional
        Keep the certificate, or measure exact gaps while learning. If not given, that is done for games of at
        most 1024 joint actions. It never changes a draw. Policies of a discounted game are tables, whose gaps are
        exact in any case. In environments, False: do not compare candidates by play.
    keep : bool
        Keep the record that the certified policy is made of.
    visits_per_stage : int, optional
        Keep and certify this many visits of each stage instead of all; what is certified is the policy made of those,
        exactly. If not given, counting games keep as many as a minute's count of operations can certify.
    points : int
        Rows of the curve. With `gap` or `seconds` each row comes 10/points later than the one before, a tenth by
        default, however long the run is.
    gap : float, optional
        Stop when the gap of the policy, the largest of all agents, is at most this. It is looked at in every row of the
        curve, and only a certificate or an exact gap counts: a run without one says so, and is not stopped by it.
    seconds : float, optional
        Stop after so much time, compilation left out. How far a run comes in it depends on the machine: the same seed
        may end elsewhere. Rows of the curve are left out where measuring them would take more than half of the time.
    prefer : {"welfare", "egalitarian"} or int, optional
        Which candidate to return among those whose gaps are close to the smallest: the one with the largest sum of all
        agents' values, with the largest least value, or the best for an agent, by its number.
    periods : int, optional
        Of a discounted game, instead of episodes: play that never resets, one long sequence of periods. The run counts
        periods where it otherwise counts episodes; `run.place` and `run.visits` say where it was.
    still : int, optional
        Stop when no agent's greedy policy has changed for so many periods.
    progress : callable or bool, optional
        Called with every event of the run: `Started`, `Advanced(done, total)`, `Measured(row)` with the reward and
        the gap, `Noted(text)` and `Finished`, all of `tacit.engine`. If not given, a line on stderr
        shows how far the run is, in terminals and notebooks; True shows it anywhere, False nowhere.
    checkpoint : Checkpoint, optional
        Where to keep the state of the run, and to resume from if it is there. It never changes a result.
    preset : {"paper", "theory"}, optional
        With the name of a learner: the settings that the paper used on this game, or that the learner's source prints.
        Parameters given beside it override them.
    start : MarkovPolicy or Run, optional
        Where learners that have this parameter begin: a product policy, or the last iterate of a run. In an environment
        states have the numbers that they had in that run.
    **params
        Parameters of a learner that is given by its name: `tacit.learn(game, "stage-v-cce", bonus=0.1, …)`.

    Returns
    -------
    Run
        Interrupted by Ctrl-C or by an environment that fails, the run holds what was done until then, and says so;
        `run.raise_error()` raises what the environment failed with.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("chicken"), "adaptive-v-cce", episodes=5000)
    >>> run.gaps.kind, bool(run.gap < 0.1)
    ('cce', True)
    """
    options = Options(episodes, seed, points, keep, certify, gap, seconds, visits_per_stage, prefer, periods, still)
    if isinstance(params.get("start"), Run):
        params["start"] = params["start"].last
    shown = show_progress() if progress is None else progress is True
    with ProgressLine() if shown else contextlib.nullcontext() as line:
        watchers = (line, show_urgent, None if isinstance(progress, bool) else progress)
        run = run_learner(game, learner, params, options, *watchers, checkpoint=checkpoint)
    for note in run.warnings:
        warnings.warn(note, stacklevel=2)
    return run


def run_learner(
    game: TabularGame | Any,
    learner: str | Learner | Sequence[Any] | Callable[..., Any] | None,
    params: Mapping[str, Any],
    options: Options,
    *watchers: Watcher | None,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Do what `learn` does, without warnings: they are in `run.warnings`."""
    watch = to_all(log_event, *watchers)
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise TacitError(f"checkpoint must be a tacit.engine.Checkpoint; got {brief(checkpoint)}")
    for option in ENVIRONMENT_OPTIONS & params.keys():
        raise TacitError(f"{option} is an option of environments; give tacit.from_pettingzoo(env, {option}=…)")
    game = _take_game(game)
    if isinstance(game, WrappedEnv):
        if options.periods is not None:
            raise TacitError("periods is for discounted games with tables; an environment has episodes")
        name, spec = _take_learner(None, name_of(game.env), len(environment(game.env).names), learner, params, options)
        return learn_in_environment(game, name, spec, options, watch=watch, checkpoint=checkpoint)
    if options.certify:
        check_exact(game, "the certificate needs tables")
    name, spec = _take_learner(game, game.name, game.agents, learner, params, options)
    if options.periods is not None:
        game = _check_endless(game, name, spec)
    elif getattr(game, "discount", None) is not None and not is_exact(spec):
        game, spec = check_exact(game, "a discount needs tables").tabular().to_random_horizon(), to_random_horizon(spec)
    engine, output = _make(game, name, spec, options, watch)
    return conduct(engine, output, name, options, watch, checkpoint if is_resumable(spec) else None)


def _check_endless(game: Game, name: str, learner: Learner) -> TabularGame:
    """Return the tables of a discounted game that is played without resets."""
    if getattr(game, "discount", None) is None:
        raise TacitError(f"periods is for discounted games, whose play has no end; got {game!r}; give episodes")
    if is_exact(learner):
        sampled = ", or gradient='sampled'" if hasattr(learner, "gradient") else ""
        raise TacitError(f"{name} follows exact gradients and plays no periods; give episodes{sampled}")
    if not learner.endless:
        why = "learns from how episodes end, and play that never resets has no end"
        raise TacitError(f"{name} {why}; give episodes, or e.g. q-independent")
    return check_exact(game, "a discount needs tables").tabular()


def game_by_name(name: str, params: Mapping[str, Any]) -> Any:
    """Make the game that a GAME of the command line means, or name an environment."""
    if name.startswith(PREFIX) or (name.startswith(GYMNASIUM) and is_played(name, params)):
        return name_environment(name, **params)
    game = from_name_or_file(name, **params)
    by_script = not is_game(game) and is_environment(game)
    return name_environment(name, **params) if by_script else game


def _take_game(game: Any) -> Game | WrappedEnv:
    """Return a game, or an environment with its options where it has no transition table."""
    if isinstance(game, str):
        game = game_by_name(game, {})
    if isinstance(game, NamedEnvironment):
        game = game.make(game.params)
    if not is_game(game) and is_environment(game):
        table = None if isinstance(game, WrappedEnv) else read_table(game)
        return wrap(game) if table is None else table
    if not is_game(game):
        raise TacitError(
            "game must be a TabularGame, as from tacit.make or tacit.load, a game with kernels of its own (see "
            f"tacit.kernels) or an environment; got {brief(game)}{missing(game)}"
        )
    check_playable(game)
    return game


def _take_learner(
    game: Game | None, title: str | None, agents: int, learner: Any, params: Mapping[str, Any], options: Options
) -> tuple[str, Learner]:
    """Return a learner's name and the learner of all agents. The default where none is named."""
    if isinstance(options.prefer, int) and options.prefer >= agents:
        raise TacitError(f"prefer must be the number of an agent, 0 to {agents - 1}; got {options.prefer}")
    name, spec = team(default_for(game, agents, params) if learner is None else learner, params, title, agents)
    if game is not None:
        check_suits(name, spec, game)
    return name, spec


def _make(game: Game, name: str, learner: Learner, options: Options, watch: Watcher) -> tuple[Engine, Output]:
    """Return the engine and the output of a learner in a game."""
    if isinstance(learner, Portfolio):
        return _make_portfolio(check_exact(game, f"{name} selects with the exact gap"), learner, options, watch)
    output = outputs.REGISTRY.make(learner.info.returns, game=game, learner=learner, options=options)
    K, seed = options.most, options.seed
    if is_exact(learner):
        tables = check_exact(game, f"{name} follows exact gradients, which need tables")
        return ExactEngine(tables, learner, episodes=K, seed=seed), output
    if is_interpreted(learner):
        bounds = Bounds(game.horizon, game.reward_range)
        return EnvironmentEngine(GameAdapter(game), learner, bounds, episodes=K, seed=seed, game=game), output
    observers = {"certificate": output.certificate, "record": output.record}
    with announce_to(lambda text: watch(Noted(text))):
        endless = options.periods is not None
        return FusedEngine(game, learner, episodes=K, seed=seed, endless=endless, **observers), output


def _make_portfolio(game: ExactGame, learner: Portfolio, options: Options, watch: Watcher) -> tuple[Engine, Output]:
    """Return the engine and the output of a portfolio, made of those of its members."""
    members = []
    for m, (name, member) in enumerate(learner.members):
        episodes = None if options.episodes is None else max(1, share(m, len(learner.members), options.episodes))
        visits = options.visits_per_stage if member.info.returns == "certified" else None
        member_options = replace(options, episodes=episodes, visits_per_stage=visits)
        members.append(Member(name, *_make(game, name, member, member_options, watch)))
    return TurnEngine(learner, members), BestOutput(game, learner, members, options)
