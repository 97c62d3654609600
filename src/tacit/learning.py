"""`tacit.learn`: game or environment, learner, engine, output, and the run that they make; and the portfolio."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacit.core.compilation import announce_to
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.engine import outputs
from tacit.engine.checkpoint import Arrays, Checkpoint
from tacit.engine.drive import Engine, Measures, Output, Result, conduct
from tacit.engine.events import Noted, ProgressLine, Watcher, log_event, show_progress, show_urgent, to_all
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.engine.run import Candidate, Gaps, Run, choose
from tacit.environments.adapters import GameAdapter, WrappedEnv, environment, is_environment, missing, name_of, wrap
from tacit.environments.engine import EnvironmentEngine, learn_in_environment
from tacit.environments.episodes import Bounds
from tacit.environments.pettingzoo import NamedEnvironment, game_by_name
from tacit.evaluation.gaps import uniform_gap
from tacit.games.exact import ExactGame, check_exact, check_playable
from tacit.games.gymnasium import read_table
from tacit.games.protocol import Game, is_game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner, Portfolio, check_suits, default_for, team
from tacit.learners.several import is_interpreted, is_resumable, to_random_horizon
from tacit.learners.spec import is_exact
from tacit.options import Options
from tacit.policies import MarkovPolicy

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
        `q-backward` in environments, and otherwise `adaptive-v-cce`, as where parameters are given without a name.
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
    start_visits : float, optional
        Of adaptive-v and v-learning: their bandits begin at (n·μ + 1)/(n + A) in their n-th round, with μ the policy of
        `start` and n this number.
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
        watch = to_all(line, show_urgent, None if isinstance(progress, bool) else progress)
        run = run_learner(game, learner, params, options, watch=watch, checkpoint=checkpoint)
    for note in run.warnings:
        warnings.warn(note, stacklevel=2)
    return run


def run_learner(
    game: TabularGame | Any,
    learner: str | Learner | Sequence[Any] | Callable[..., Any] | None,
    params: Mapping[str, Any],
    options: Options,
    *,
    watch: Watcher | None = None,
    checkpoint: Checkpoint | None = None,
) -> Run:
    """Do what `learn` does, without warnings: they are in `run.warnings`."""
    watch = to_all(log_event, watch)
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
    """Return a learner's name and the learner of all agents; the default where none is named."""
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


# the portfolio: several learners by turns of 100 episodes, and the best candidate of all by its exact gap. Each member
# has an engine and an output of its own, with the same seed: it is, bit for bit, what it is alone after as many
# episodes. The last member plays first, so that `model-independent` does by default.

#: Episodes in a turn.
TURN = 100


class Member(NamedTuple):
    """One learner of a portfolio."""

    name: str
    engine: Engine
    output: Output


def share(m: int, members: int, done: int) -> int:
    """Return how many of the first `done` episodes are member m's.

    >>> [share(m, 2, 250) for m in (0, 1)]
    [100, 150]
    """
    rounds, rest = divmod(done, members * TURN)
    return rounds * TURN + min(max(rest - (members - 1 - m) * TURN, 0), TURN)


def find(m: int, members: int, number: int) -> int:
    """Return the episode that is member m's number `number`, both from 0.

    >>> find(0, 2, 100), find(1, 2, 100)
    (300, 200)
    """
    rounds, rest = divmod(number, TURN)
    return (rounds * members + members - 1 - m) * TURN + rest


class Joined:
    """Parts of a run, one for each member, that a checkpoint stores as one."""

    parts: Sequence[Engine | Output]

    def snapshot(self) -> Arrays:
        """Return the snapshots of all parts, numbered."""
        return {f"{m}.{key}": array for m, part in enumerate(self.parts) for key, array in part.snapshot().items()}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        for m, part in enumerate(self.parts):
            mine = {key: array for key, array in arrays.items() if key.startswith(f"{m}.")}
            part.restore({key.removeprefix(f"{m}."): array for key, array in mine.items()})


class TurnEngine(Joined, Engine):
    """Advances the engines of all members by turns."""

    def __init__(self, learner: Portfolio, members: Sequence[Member]) -> None:
        first = members[0].engine
        self.learner, self.members, self.parts = learner, members, [member.engine for member in members]
        self.game, self.world = first.game, first.world
        self.chunk = min(member.engine.chunk for member in members)
        self.state = tuple(member.engine.state for member in members)
        self._done = 0

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """Time spent learning."""
        return sum(member.engine.seconds for member in self.members)

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes by turns; return the agents' returns [episodes, N]."""
        returns, end = [], self._done + episodes
        while self._done < end:
            turn, begun = divmod(self._done, TURN)
            member = self.members[-1 - turn % len(self.members)]
            returns.append(member.engine.advance(min(end - self._done, TURN - begun)))
            self._done += len(returns[-1])
        return np.concatenate(returns)

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent of the last member plays."""
        return self.members[-1].engine.distributions(recent=recent)

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy of the game."""
        return self.members[-1].engine.policy(distributions)

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        super().restore(arrays)
        self._done = sum(int(arrays[f"{m}.episodes"]) for m in range(len(self.members)))


class BestOutput(Joined, Output):
    """The candidates of all members, named after both; the one to return is selected with the exact gap."""

    def __init__(self, game: ExactGame, learner: Portfolio, members: Sequence[Member], options: Options) -> None:
        self.game, self.members, self.options, self._kind = game, members, options, learner.info.learns
        self.parts = [member.output for member in members]
        self.notes = tuple(dict.fromkeys(note for member in members for note in member.output.notes))
        self.certifies = any(member.output.certifies for member in members)
        self._measured = np.zeros(len(members), dtype=np.int64)  # [M]  a member's episodes when it was measured
        self._values, self._gaps = (np.full((len(members), game.agents), np.nan) for _ in range(2))  # [M, N]

    def look(self, engine: Engine, done: int) -> int | None:
        """Let every member's output see its engine; return the first episode before which one must see it again."""
        until = []
        for m, member in enumerate(self.members):
            episode = member.output.look(member.engine, self._share(m, done))
            if episode is not None:
                until.append(find(m, len(self.members), episode))
        return min(until, default=None)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the values and gaps of the best member, and each member's largest gap."""
        for m, member in enumerate(self.members):
            episodes = self._share(m, done)
            if episodes > self._measured[m]:
                member.output.interrupted = self.interrupted
                row = member.output.measure(member.engine, episodes)
                self._measured[m], self._values[m], self._gaps[m] = episodes, row["value"], row["gap"]
        candidates = {
            member.name: Candidate.with_gaps(Gaps(self._kind, gaps, "exact"), values)
            for member, values, gaps in zip(self.members, self._values, self._gaps, strict=True)
        }
        best = self._select(candidates) or self.members[-1].name
        columns = {f"gap_{name}": float(gaps.max()) for name, gaps in zip(candidates, self._gaps, strict=True)}
        return {"value": np.asarray(candidates[best].values), "gap": candidates[best].gaps.upper, **columns}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates of all members that have played, and which is the best."""
        candidates: dict[str, Candidate] = {}
        results: dict[str, Result] = {}
        for m, member in enumerate(self.members):
            if self._share(m, done) == 0:
                continue
            member.output.interrupted = self.interrupted
            result = member.output.result(member.engine, self._share(m, done))
            for name, candidate in result.candidates.items():
                if candidate._policy is not None or _is_known(candidate):
                    gaps = replace(candidate.gaps, kind=self._kind)  # a product's nash gaps are its gaps of every kind
                    full_name = f"{member.name} {name}"
                    candidates[full_name] = Candidate.with_gaps(gaps, candidate.values, candidate._policy)
                    results[full_name] = result
        chosen = self._select(candidates) or f"{self.members[-1].name} last"
        return Result(results[chosen].last, candidates, chosen, results[chosen].sampled)

    def _share(self, m: int, done: int) -> int:
        return share(m, len(self.members), done)

    def _select(self, candidates: dict[str, Candidate]) -> str:
        """Return the name of the best of those whose gaps are known; "" where none is."""
        judged = {name: candidate for name, candidate in candidates.items() if _is_known(candidate)}
        return choose(judged, functools.partial(uniform_gap, self.game), **self.options.choice) if judged else ""

    def snapshot(self) -> Arrays:
        """Return the snapshots of all members' outputs, and what was measured last."""
        measured = {"measured": self._measured, "values": self._values, "gaps": self._gaps}
        return {**super().snapshot(), **{f"last.{name}": array for name, array in measured.items()}}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        super().restore(arrays)
        self._measured, self._values, self._gaps = (arrays[f"last.{name}"] for name in ("measured", "values", "gaps"))


def _is_known(candidate: Candidate) -> bool:
    return candidate.gaps.source in ("exact", "certificate") and bool(np.isfinite(candidate.gap))
