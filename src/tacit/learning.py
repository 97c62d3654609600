"""`tacit.learn`: agents that learn together, each alone."""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from tacit.core import check, streams
from tacit.core.compilation import announce_to
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.engine import outputs
from tacit.engine.agents import check_alone
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.curve import Curve
from tacit.engine.drive import Engine, Output, drive
from tacit.engine.events import Compiling, Finished, Noted, Scouted, Started, Watcher, log_event, show, to_all
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.engine.outputs.recorded import tables_to_measure
from tacit.engine.run import Candidate, Gaps, Run, choose
from tacit.engine.starts import STARTS, StartsEngine, StartsOutput, longest, most_starts
from tacit.environments.adapters import GameAdapter, environment, is_environment, missing, name_of
from tacit.environments.bounds import Bounds, Exceeded, describe_scouting, episode_bounds
from tacit.environments.encoding import SCOUTED, Bins, fit, scouts, see_nothing
from tacit.environments.engine import EnvironmentEngine
from tacit.environments.external import policy_of
from tacit.environments.measuring import choose_by_play
from tacit.environments.observations import Encode
from tacit.environments.resume import Seeding
from tacit.evaluation.gaps import Evaluation, evaluate, uniform_gap
from tacit.evaluation.values import occupancy
from tacit.games.exact import as_exact, check_exact, check_playable
from tacit.games.gymnasium import read_table
from tacit.games.protocol import Game, is_game
from tacit.games.tabular import TabularGame
from tacit.learners import DEFAULT, REGISTRY, Learner, team
from tacit.learners.model_central import JOINT
from tacit.options import Options
from tacit.policies.markov import MarkovPolicy

#: Who learns where there is one agent only.
ALONE = "model-central"

#: Said of a discounted game.
NOTHING_TO_CERTIFY = "certify=True changes no answer here: in a discounted game they are tables, whose gaps are exact"

#: Said of an environment.
NOTHING_TO_PREFER = "prefer changes nothing here: without tables nobody knows the values that it compares"


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
    starts: int | None = None,
    progress: Watcher | None = None,
    checkpoint: Checkpoint | None = None,
    horizon: int | None = None,
    reward_range: tuple[float, float] | None = None,
    encode: Encode | Bins | None = None,
    pickle_env: bool = False,
    **params: Any,
) -> Run:
    """Let all agents of a game learn, and certify the result.

    Parameters
    ----------
    game : TabularGame, CountGame, FunctionGame, another game with kernels, a `ParallelEnv`, or a Gymnasium environment
        Agents of a game learn in the compiled loop, and with tables the result is certified. A game without
        tables is an object as `tacit.kernels.Game` describes it. In an environment each agent learns on its own from
        its own observations and rewards. Without tables each agent's own bound stands in for the certificate. Gymnasium
        environments that carry their transition table (FrozenLake, Taxi, CliffWalking) are games with tables.
    learner : str, learner object, Python class, or a list of those, one for each agent
        If not given, `portfolio` in games with joint tables of at most 1024 joint actions, `model-central` where there
        is one agent only, elsewhere and where parameters are given `adaptive-v-cce`; they have nothing to set. A name
        from `tacit learners`, or e.g. `tacit.StageV(bandit="tsallis-inf")`. A class of your own is called with
        `states`, `actions`, `horizon`, `reward_range`, `seed` and `index`, and has `act(h, s)` and `learn(h, s, a,
        reward, next_state)`; it is played by agents on their own instead of in the compiled loop, some hundred times
        slower.
    episodes : int, optional
        Episodes to play; for learners with exact gradients, iterations. It may be left out where `gap` or `seconds`
        ends the run; constants of the theory then count on 10¹⁵.
    seed : int
        Everything random comes from it.
    certify : bool, optional
        Keep the certificate, or measure exact gaps while learning. If not given, that is done for games of at
        most 1024 joint actions. It never changes a draw. Answers in a discounted game are tables, whose gaps are exact
        in any case. In environments, False: do not compare candidates by play.
    keep : bool
        Keep the record that the certified policy is made of.
    visits_per_stage : int, optional
        Keep and certify this many visits of each stage instead of all; what is certified is the policy made of those,
        exactly. If not given, counting games do so where certifying every visit would take long: 8 visits.
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
        Which equilibrium to look for, among answers whose gaps are close to the smallest: the one with the largest sum
        of all agents' values, with the largest least value, or the best for an agent, by its number. Where the episodes
        are given, several starts are tried.
    starts : int, optional
        Of games: begin so many times, from seeds of their own, and take turns within the same episodes; the half that
        is worth less is left behind after each round, and the last one has half of the episodes or more. Who runs the
        experiment decides that, with the values and gaps of all agents, or without tables with their returns; learning
        stays decentralized. If not given, 4 with `prefer`, otherwise 1.
    progress : callable, optional
        Called with every event of the run: `Started`, `Advanced(done, total)`, `Measured(row)` with the reward and
        the gap, `Noted(text)`, `Compiling(text)` and `Finished`, all of `tacit.engine.events`.
    checkpoint : Checkpoint, optional
        Where to keep the state of the run, and to resume from if it is there. It never changes a result.
    horizon : int, optional
        For environments: steps in an episode. If not given, what the environment states or what a few episodes show.
    reward_range : (low, high), optional
        For environments: where rewards lie. If not given, likewise; the bounds are then estimates.
    encode : callable or tacit.Bins, optional
        For environments: from an observation to something hashable, which is then the state that the agent sees; or
        bins for its numbers.
    pickle_env : bool
        For environments with a checkpoint: keep the environment in it as a pickle, and unpickle it to resume. Whoever
        can write that file can then run code as you; without it nothing is unpickled.
    preset : {"paper"}, optional
        With the name of a learner: the settings that the paper used on this game. Parameters given beside it override
        them.
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
    visits_per_stage = params.pop("thin", visits_per_stage)  # its old name
    options = Options(episodes, seed, points, keep, certify, gap, seconds, visits_per_stage, prefer, starts)
    if isinstance(params.get("start"), Run):
        params["start"] = params["start"].last
    given = {
        "horizon": horizon,
        "reward_range": reward_range,
        "encode": encode,
        "pickle_env": check.flag("pickle_env", pickle_env) or None,
    }
    watch = to_all(show, progress)
    run = run_learner(game, learner, params, options, watch=watch, checkpoint=checkpoint, **given)
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
    **bounds: Any,
) -> Run:
    """Do what `learn` does, without warnings: they are in `run.warnings`."""
    watch = to_all(log_event, watch)
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise TacitError(f"checkpoint is {brief(checkpoint)}; it must be a tacit.engine.checkpoint.Checkpoint")
    if not is_game(game) and is_environment(game):
        table = None if bounds.get("encode") is not None else read_table(game, bounds.get("horizon"))
        if table is None:
            return _in_environment(game, learner, params, options, watch, checkpoint, **bounds)
        game, bounds = table, {**bounds, "horizon": None}
    if not is_game(game):
        raise TacitError(
            f"game is {brief(game)}{missing(game)}; it must be a TabularGame, as from tacit.make or tacit.load, a game "
            f"with kernels of its own (see tacit.kernels) or an environment"
        )
    check_playable(game)
    if options.certify:
        check_exact(game, "the certificate needs tables")
    for option in (key for key, value in bounds.items() if value is not None):
        raise TacitError(f"{option} is for environments without tables; {game!r} has its own")
    learner = default_for(game, params) if learner is None else learner
    name, chosen = team(learner, params, game.name, game.agents)
    if getattr(game, "discount", None) is not None and not chosen.exact:
        tables = check_exact(game, "a discount needs tables").tabular()
        return _learn_stretches(tables, learner, chosen, params, options, watch=watch, checkpoint=checkpoint)
    _check_preferred(options, game.agents)
    engine, output = _make_starts(game, name, chosen, options, watch)
    return _conduct(engine, output, name, options, watch, None if chosen.interpreted else checkpoint)


def default_for(game: Any, params: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return who learns a game or in an environment where nobody is named; parameters alone are adaptive V-learning's.

    One agent alone has nobody to share its model with, and nothing to lose by planning on it.

    >>> import tacit
    >>> default_for(tacit.make("chicken")), default_for(tacit.make("minority", agents=5))
    ('portfolio', 'adaptive-v-cce')
    """
    if params:
        return DEFAULT
    if not is_game(game):
        return ALONE if len(environment(game).names) == 1 else DEFAULT
    if game.agents == 1 and max(game.actions) <= JOINT:
        return ALONE
    tables = tables_to_measure(as_exact(game), None)
    return DEFAULT if tables is None or not tables.joint_rows else "portfolio"


def _make(game: Game, name: str, learner: Learner, options: Options, watch: Watcher) -> tuple[Engine, Output]:
    """Return the engine and the output of one start in a game."""
    output = outputs.REGISTRY.make(learner.output, game=game, learner=learner, options=options)
    K, seed = options.most, options.seed
    if learner.exact:
        tables = check_exact(game, f"{name} follows exact gradients, which need tables")
        return ExactEngine(tables, learner, episodes=K, seed=seed), output
    if learner.interpreted:
        inside = Bounds(game.horizon, game.reward_range)
        return EnvironmentEngine(GameAdapter(game), learner, inside, episodes=K, seed=seed, game=game), output
    watched = {"certificate": output.certificate, "record": output.record}
    with announce_to(lambda text: watch(Compiling(text))):
        return FusedEngine(game, learner, episodes=K, seed=seed, **watched), output


def _make_starts(game: Game, name: str, learner: Learner, options: Options, watch: Watcher) -> tuple[Engine, Output]:
    """Return the engine and the output of as many starts as are asked for."""
    starts = options.starts or (1 if options.prefer is None or options.open else most_starts(options.most, STARTS))
    if starts > 1 and (learner.exact or learner.interpreted):
        if options.starts is not None:
            raise TacitError(f"{name} does not play in the compiled loop, which several starts do; leave starts out")
        starts = 1
    if starts == 1:
        return _make(game, name, learner, options, watch)
    if options.open:
        raise TacitError("starts share the episodes; say how many there are")
    if starts > most_starts(options.most, starts):
        raise TacitError(f"starts is {starts} with {options.most} episodes; each needs 4 of them at least")
    seeds = [options.seed, *streams.seeds(options.seed, streams.STARTS, range(starts - 1)).tolist()]
    own = [replace(options, seed=seed, episodes=longest(options.most, starts)) for seed in seeds]
    engines, members = zip(*(_make(game, name, learner, one, watch) for one in own), strict=True)
    several = StartsEngine(engines)
    return several, StartsOutput(several, members, options)


def _learn_stretches(
    game: TabularGame, learner: Any, chosen: Learner, params: Mapping[str, Any], options: Options, **given: Any
) -> Run:
    """Learn a discounted game in stretches of it; return stationary policies with their exact gaps in the game."""
    if isinstance(params.get("start"), MarkovPolicy):
        params = {**params, "start": params["start"].stretch()}
    fixed = getattr(chosen, "restarts", False)
    if isinstance(learner, str) and "steps" in REGISTRY.parameters(learner) and not fixed:
        params = {"steps": "shared", **params}  # what is answered is the same at all steps
    stretch, notes = game.stretch(), (NOTHING_TO_CERTIFY,) if options.certify else ()
    for note in notes:
        given["watch"](Noted(note))
    run = run_learner(stretch, learner, params, options, **given)
    low, high = game.reward_range
    candidates: dict[str, Candidate] = {}
    for name, one in run.candidates.items():
        if not one.table:
            continue  # a mixture over stretches is no stationary policy
        if name == "product":  # of the merged table, as in finite games
            policy = cast(MarkovPolicy, candidates["markov"].policy).as_product()
            found = evaluate(game, policy)
        else:
            policy, found = merge_steps(game, stretch, cast(MarkovPolicy, one.policy), gap=one.gaps.kind)
        gaps = Gaps(one.gaps.kind, found.gaps, "exact", most=game.effective_horizon * (high - low))
        candidates[name] = Candidate.with_gaps(gaps, found.values, policy)
    answer = choose(candidates, partial(uniform_gap, game), **options.choice)
    sampled = None if run.sampled is None else merge_steps(game, stretch, run.sampled)[0]
    last = merge_steps(game, stretch, run.last)[0]
    told = (*run.notes, *notes)
    return replace(run, game=game, last=last, sampled=sampled, candidates=candidates, chosen=answer, notes=told)


def merge_steps(
    game: TabularGame, stretch: TabularGame, policy: MarkovPolicy, *, gap: str | None = None
) -> tuple[MarkovPolicy, Evaluation]:
    """Return the stationary policy of a discounted game that comes of one for each step of a stretch, and its gap.

    The tables are averaged by how often they are used, or the first one is taken, which looks furthest ahead: whichever
    has the smaller exact gap in the discounted game.
    """
    used = occupancy(stretch, policy)[:, : game.states]
    averaged = [_average_steps(own[:, : game.states], used) for own in policy.probs]
    found = []
    for tables in (averaged, [own[:1, : game.states] for own in policy.probs]):
        one = MarkovPolicy([Owned(own) for own in tables] if policy.product else Owned(tables[0]))
        found.append((one, evaluate(game, one, gap=None if policy.product else gap)))
    return min(found, key=lambda pair: pair[1].gap)


def _average_steps(table: FloatArray, used: FloatArray) -> FloatArray:
    """Return the mean [1, S, …] of tables [T or 1, S, …] by how often each is used, [T, S]; the first if none is."""
    if len(table) == 1:
        return np.array(table)
    total = used.sum(axis=0)
    flat = table.reshape(*used.shape, -1)
    mean: FloatArray = np.einsum("hs,hsa->sa", used, flat) / np.where(total > 0, total, 1.0)[:, None]
    mean = np.where(total[:, None] > 0, mean, flat[0])
    mean /= mean.sum(axis=1, keepdims=True)
    return mean.reshape(1, *table.shape[1:])


def _check_preferred(options: Options, agents: int) -> None:
    """Raise unless an agent that is preferred is there."""
    if isinstance(options.prefer, int) and options.prefer >= agents:
        raise TacitError(f"prefer is {options.prefer}; there are {agents} agents, the first of which is 0")


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
    encode: Encode | Bins | None = None,
    pickle_env: bool | None = None,
) -> Run:
    """Let agents on their own learn; start over with wider bounds where an environment exceeds those it was given."""
    if options.certify:
        raise TacitError(f"{name_of(env)} has no tables, which the certificate needs; leave the certificate out")
    if options.visits_per_stage is not None:
        raise TacitError(f"visits_per_stage is for games; leave it out for the environment {name_of(env)}")
    if options.starts is not None:
        raise TacitError(f"starts is for games; leave it out for the environment {name_of(env)}")
    adapter = environment(env)
    learner = default_for(env, params) if learner is None else learner
    name, chosen = team(learner, params, name_of(env), len(adapter.names))
    if not chosen.central:
        check_alone(chosen, name)
    _check_preferred(options, len(adapter.names))
    encodes = fit(encode, adapter, horizon=horizon, seed=options.seed)
    for i in range(len(encodes)):
        if chosen.seat(i).observes:
            encodes[i] = see_nothing
    bounds = episode_bounds(adapter, horizon=horizon, reward_range=reward_range, seed=options.seed)
    if scouts(encode, adapter):
        bounds = replace(bounds, notes=(*bounds.notes, SCOUTED))
    told = bounds.notes
    if bounds.uncertain:
        watch(Scouted(describe_scouting(name_of(env), bounds, rangeless=chosen.rangeless)))
    seeding = Seeding(adapter, options.seed, pickled=check.flag("pickle_env", pickle_env or False))
    while True:
        with announce_to(lambda text: watch(Compiling(text))):
            engine = EnvironmentEngine(
                adapter, chosen, bounds, episodes=options.most, seed=options.seed, encode=encodes, seeding=seeding
            )
        engine.tells_seeding, engine.told = checkpoint is not None, told
        output = outputs.REGISTRY.make(chosen.output, game=engine.game, learner=chosen, options=options)
        if options.prefer is not None and chosen.output != "portfolio":
            output.notes = (*output.notes, NOTHING_TO_PREFER)
        if not engine.observing:
            engine.record = output.record
        try:
            run = _conduct(engine, output, name, options, watch, None if chosen.interpreted else checkpoint)
            if engine.observing:
                return _answer_with_objects(run, engine)
            if options.certify is False or run.ended == "memory":
                return run
            del engine, output  # what was learned takes more memory than the answer
            answered = choose_by_play(run)
            for note in answered.notes[len(run.notes) :]:
                watch(Noted(note))
            return answered
        except Exceeded as exceeded:
            bounds = exceeded.wider
            if checkpoint is not None and not exceeded.stored:
                checkpoint.discard()


def _answer_with_objects(run: Run, engine: EnvironmentEngine) -> Run:
    """Return a run whose answer is what the agents' objects play on what they observe; the others' are tables."""
    parts = [run.last if answer is None else answer for answer in engine.answers()]
    played = policy_of(engine.environment.source, parts)
    known = Candidate.with_gaps(Gaps.unknown("nash", run.game.agents), policy=played)
    return replace(run, last=played, candidates={"last": known}, chosen="last", sampled=None)


def _without_certificate(game: Game, output: Output, options: Options) -> list[str]:
    """Return why the gap that was asked for cannot stop a run, if so; raise if nothing else would."""
    if options.gap is None or output.certifies:
        return []
    if as_exact(game) is None:
        why = "the game has no tables"
    elif options.certify is False:
        why = "certify is False"
    else:
        why = f"the game has {math.prod(game.actions):,} joint actions, and certify=True was not asked for"
    told = f"gap={options.gap:g} stops a run on a certificate or an exact gap, and this run has neither: {why}"
    if options.open and options.seconds is None:
        raise TacitError(f"{told}; give episodes or seconds too")
    return [f"{told}; it goes on to its other limits"]


def _clock_notes(ended: str, options: Options, full: str) -> list[str]:
    """Return what to say of a run that ended where this machine had come to."""
    if ended == "seconds":
        return [f"stopped by the clock after {options.seconds:g} s: how far a run comes in it depends on the machine"]
    if ended == "gap" and options.seconds is not None:
        return ["with a limit on seconds, where a run is measured and so where it stops may depend on the machine"]
    if ended == "memory":
        return [full or "stopped when memory had no room for more of the record; keep=False leaves it out"]
    return []


def _conduct(
    engine: Engine, output: Output, name: str, options: Options, watch: Watcher, checkpoint: Checkpoint | None
) -> Run:
    """Drive a run from its start, or from where its checkpoint left it, to its end."""
    early = _without_certificate(engine.game, output, options)
    curve = Curve(options.most, options.points, engine.game.agents, stops=options.stops, rota=engine.learner.rota)
    if checkpoint is not None:
        checkpoint.resume({"engine": engine, "curve": curve, "output": output}, engine.state)
    game = engine.game.name or type(engine.game).__name__
    watch(Started(game, name, options.seed, options.most, curve.done, tuple(curve.rows), engine.game.horizon))
    before = (*output.notes, *early)
    for note in before:
        watch(Noted(note))
    stop = {"gap": options.gap, "seconds": options.seconds}
    ended = drive(engine, output, curve, watch=watch, checkpoint=checkpoint, **stop)
    result = output.result(engine, curve.done)
    found = [*engine.warnings, *early]
    failed = "" if engine.failure is None else str(engine.failure)
    if ended == "interrupted":
        of = "" if options.open else f" of {options.episodes}"
        told = f"interrupted: the run holds {curve.done}{of} episodes"
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
        notes=(
            *engine.game.notes,
            *engine.notes,
            *before,
            *_clock_notes(ended, options, engine.full),
            *([failed] if failed else []),
        ),
        warnings=tuple(found),
        instead=engine.learner.instead,
        error=engine.failure,
        planned=None if options.open else options.episodes,
    )
    with contextlib.suppress(KeyboardInterrupt):  # there is nothing left to interrupt
        for note in dict.fromkeys((*run.notes, *engine.warnings)):
            if note not in (*before, *engine.told):
                watch(Noted(note))
        watch(Finished(curve.done, ended))
    return run
