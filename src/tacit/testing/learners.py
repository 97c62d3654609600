"""The check of a learner: compiled, interpreted, agent by agent, and decentralized."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import check, generics, streams
from tacit.core.errors import TacitError, brief
from tacit.core.records import arrays
from tacit.core.types import FloatArray
from tacit.engine import loop, outputs
from tacit.engine.agents import Agent, make_agent
from tacit.engine.drive import Nothing
from tacit.engine.fused import FusedEngine, seats
from tacit.engine.recorded import record
from tacit.evaluation.certificate import certificate
from tacit.evaluation.gradient import policy_gradient
from tacit.games import make
from tacit.games.exact import as_exact
from tacit.games.protocol import Game, check_sizes
from tacit.learners import Info, resolve, v_base
from tacit.learners.pg_exact import theory_step
from tacit.learners.several import Mixed, is_interpreted
from tacit.learners.spec import Learner, World, is_exact, world_of
from tacit.policies import MarkovPolicy
from tacit.testing.checks import (
    Violation,
    both_ways,
    check_shapes,
    copy,
    numbers,
    require,
    require_distribution,
    require_frequencies,
    require_kernels,
    require_same,
    require_same_records,
    require_same_states,
    scramble,
)

SEED, DRAWS = 11, 4000


def check_learner(
    learner: Learner | str, game: Game | None = None, *, episodes: int = 60, tolerance: float = 0.0
) -> None:
    """Check a learner by playing a game, of three agents unless given.

    Its words and parameters are what the engine and files can take. The compiled loop, the interpreted loop and agents
    on their own give the same bits, or the first two what differs by a stated tolerance at most. `policy` writes
    distributions, and `act` draws from them, or evenly with the probability `explores` (the check raises with a
    probability of 1e-9 though nothing is wrong; the seed is fixed). An agent does the same whatever is in the others'
    records and whatever they are paid, and its kernels touch its own only. Kernels allocate nothing. An agent that
    grows to more states behaves as before, and so does a run resumed from a checkpoint.

    Learners that follow exact gradients are checked for that instead; central ones have no agents on their own; of
    those without kernels, words and parameters are all there is to check.

    Parameters
    ----------
    learner : learner object or name
    game : a game, optional
    episodes : int
    tolerance : float
        How much compiled and interpreted kernels may differ, absolutely and relatively. 0 asks for the same bits, which
        +, −, ·, /, square roots and `exp`, `log` and `pow` of `tacit.kernels` give on every machine. State 1e-9 for
        kernels that call other functions, such as np.tanh: their last digits differ from processor to processor.

    Raises
    ------
    Violation
        With a sentence that says what is wrong.

    Examples
    --------
    >>> from tacit.testing import check_learner
    >>> check_learner("pg-exact")
    """
    episodes = check.integer("episodes", episodes)
    _, spec = resolve(learner, {})
    name = learner if isinstance(learner, str) else type(spec).__name__
    if game is None:
        game = make("random-general-sum", agents=3, actions=[2, 3, 2], states=3, horizon=3, seed=4)
    try:
        check_sizes(game)
    except TacitError as error:
        raise Violation(str(error)) from error
    world = world_of(spec, game, episodes=episodes, seed=SEED)
    _check_words(name, spec, world)
    if is_exact(spec):
        require(as_exact(game) is not None, f"{name} follows exact gradients; check it on a game with tables")
        _check_exact(name, spec, world, as_exact(game))
        return
    if is_interpreted(spec):
        return
    _check_state(name, spec, world)
    engine, returns = play_both_ways(name, spec, game, episodes, tolerance)
    check_weights(name, engine)
    if "all agents" not in spec.info.needs:
        check_alone(name, spec, game, engine, returns)
        for i in range(game.agents):
            if not isinstance(spec, Mixed):  # whose agents share no array
                check_own_records(name, engine, i)
            if not world.start:
                check_growth(name, spec, game, world, i)
    check_checkpoint(name, spec, game, engine, returns)


def _check_words(name: str, spec: Learner, world: World) -> None:
    info = spec.info
    require(isinstance(info, Info), f"info of {name} must be an Info; got {brief(info)}")
    for fact, choices in (
        ("learns", ("nash", "cce", "ce")),
        ("returns", tuple(outputs.REGISTRY)),
        ("averaging", ("stage", "rate")),
        ("reward_scale_free", (True, False)),
    ):
        value = getattr(info, fact)
        said = f"info.{fact} of {name} must be one of {', '.join(map(str, choices))}"
        require(value in choices, f"{said}; got {brief(value)}")
    needs = {"tables", "all agents", "clock", "seed", "zero-sum", "common rewards"}
    require(set(info.needs) <= needs, f"info.needs of {name} must be of {sorted(needs)}; got {brief(info.needs)}")
    for key, value in spec.params(world).items():
        plain = isinstance(value, bool | int | float | str | None) or isinstance(spec, Mixed)
        said = f"params of {name} has {key!r}: {brief(value)}; files take plain values only"
        require(isinstance(key, str) and plain, said)


def _check_exact(name: str, spec: Any, world: World, game: Any) -> None:
    policy, eta = MarkovPolicy.uniform(game), spec.params(world)["eta"]
    eta = theory_step(world) if eta == "auto" else check.real(f"eta of {name}", eta)
    memory = spec.recall(game, policy)
    for _ in range(5):
        policy, memory, moved = spec.follow(game, policy, policy_gradient(game, policy), memory, eta)
        said = f"ascend of {name} returned {brief(policy)}; it must be a MarkovPolicy"
        require(isinstance(policy, MarkovPolicy), said)
        require(moved >= 0, f"ascend of {name} says that it moved by {moved}")
    policy.check_fits(game)


def _check_state(name: str, spec: Learner, world: World) -> None:
    state = generics.seal(spec.init(world))
    certified = [generics.averaging] if spec.info.returns == "certified" else []
    require_kernels(state, [generics.act, generics.learn, generics.policy, *certified], f"what init of {name} returns")
    if "all agents" not in spec.info.needs and not isinstance(spec, Mixed):
        check_shapes(name, state, world.agents, world.horizon, world.states)
    sums = v_base.bound_sum(state)
    require(sums is None or sums.shape == (world.agents,), f"bound_sum of {name} must be one number for each agent")
    require_same_states(state, spec.init(world), f"init of {name} does not make the same state twice")


def watching(spec: Learner, game: Game, episodes: int) -> tuple[Any, Any]:
    """Return what watches the loop: record and, where there are tables, certificate. Nothing for other outputs."""
    if spec.info.returns != "certified":
        return Nothing(), Nothing()
    exact = as_exact(game)
    visits = record(game, episodes, certified=exact is not None)
    if exact is None:
        return Nothing(), visits
    return certificate(exact, spec.info.learns, averaging=spec.info.averaging, mu=visits.mu), visits


def make_engine(spec: Learner, game: Game, episodes: int) -> FusedEngine:
    """Return the compiled loop with what watches it."""
    tables, visits = watching(spec, game, episodes)
    return FusedEngine(game, spec, episodes=episodes, seed=SEED, certificate=tables, record=visits)


def make_alone(spec: Learner, game: Game, world: World, i: int, states: int) -> Any:
    """Return agent i on its own, who knows so many states."""
    size = (game.horizon, states, game.actions[i])
    return make_agent(spec, size, game.reward_range, world.scale, seed=SEED, index=i)


def play_both_ways(
    name: str, spec: Learner, game: Game, episodes: int, tolerance: float
) -> tuple[FusedEngine, FloatArray]:
    """Check that the compiled and the interpreted loop agree, to a tolerance."""
    world = world_of(spec, game, episodes=episodes, seed=SEED)
    kernels, state = generics.seal(game.kernels()), generics.seal(spec.init(world))
    observers = watching(spec, game, episodes)
    draws = np.empty((1 + game.agents, episodes, game.horizon))
    for role, numbers_of_role in enumerate(draws):
        streams.stream(SEED, role).random(out=numbers_of_role)
    returns = np.zeros((episodes, game.agents))
    chosen, places = np.zeros(game.agents, dtype=np.int64), seats(game.agents)
    compiled, plain = both_ways(loop.episodes, name, kernels, state, *observers)
    nobody = np.zeros((game.agents, 0, game.horizon))
    compiled(kernels, state, *observers, places, draws[0, :0], nobody, chosen, returns[:0])
    plain(kernels, state, *observers, places, draws[0], draws[1:], chosen, returns)
    engine = make_engine(spec, game, episodes)
    fused = engine.advance(episodes)
    sentence = f"{name} does not do the same compiled and interpreted"
    require_same_states(state, engine.state, sentence, tolerance)
    for (path, left), (_, right) in zip(arrays(observers), arrays((engine.certificate, engine.record)), strict=True):
        require_same(left, right, f"{sentence}; {path} of what watches differs", tolerance)
    require_same(returns, fused, sentence, tolerance)
    fresh = spec.init(engine.world)
    moved = [a.tobytes() != b.tobytes() for (_, a), (_, b) in zip(numbers(fresh), numbers(state), strict=True)]
    require(any(moved), f"{name} learned nothing in {episodes} episodes: its records are as they were")
    return engine, fused


def check_weights(name: str, engine: FusedEngine) -> None:
    """Check that `policy` writes distributions, and that `act` draws from them."""
    game, rng = engine.game, np.random.default_rng(SEED)
    for i, probs in enumerate(engine.distributions()):
        for h in range(game.horizon):
            for s in range(min(game.states, 20)):
                require_distribution(probs[h, s], f"what policy of {name} writes for agent {i} at h={h}, s={s}")
    if engine.learner.info.needs & {"all agents", "seed"}:  # its agents' actions hang together
        return
    for i, size in enumerate(game.actions):
        h, s = int(rng.integers(game.horizon)), int(rng.integers(game.states))
        state, out = copy(engine.state), np.full(size + 1, np.nan)
        generics.policy(state, i, h, s, out)
        require(bool(np.isnan(out[size])), f"policy of {name} writes more than the actions of agent {i}")
        acts = [int(generics.act(state, i, h, s, u)) for u in rng.random(DRAWS)]
        inside = min(acts) >= 0 and max(acts) < size
        require(inside, f"act of {name} returned {max(acts)}; agent {i} has {size} actions")
        counts = np.bincount(acts, minlength=size)
        explores = engine.learner.explores(state, i)
        beside = f", or evenly with the probability {explores:g} that it explores with" if explores else ""
        sentence = f"act of {name} does not draw from policy{beside}, for agent {i} at h={h}, s={s}"
        expected = (1 - explores) * np.maximum(out[:size], 0) + explores / size
        require_frequencies(counts, expected, sentence, comparisons=game.agents)


def check_checkpoint(name: str, spec: Learner, game: Game, uninterrupted: FusedEngine, returns: FloatArray) -> None:
    """Check that a run resumed in a new engine ends with the same bits."""
    episodes, half = len(returns), len(returns) // 2
    engines = [make_engine(spec, game, episodes) for _ in range(2)]
    engines[0].advance(half)
    engines[1].restore({key: array.copy() for key, array in engines[0].snapshot().items()})
    rest = engines[1].advance(episodes - half)
    sentence = f"{name} does not end the same when it resumes from a checkpoint"
    require_same(rest, returns[half:], sentence)
    require_same_states(uninterrupted.state, engines[1].state, sentence)


def check_alone(name: str, spec: Learner, game: Game, engine: FusedEngine, returns: FloatArray) -> None:
    """Check that agents on their own do what they do in the loop."""
    agents = [make_alone(spec, game, engine.world, i, game.states) for i in range(game.agents)]
    kernels, world = generics.seal(game.kernels()), np.empty((len(returns), game.horizon))
    streams.stream(SEED, streams.ENVIRONMENT).random(out=world)
    alone = np.zeros_like(returns)
    for k, draws in enumerate(world):
        s = 0
        for h in range(game.horizon):
            s = int(generics.initial_state(kernels, draws[0])) if h == 0 else s
            actions = [agent.act(h, s) for agent in agents]
            token = generics.joint_action(kernels, h, s, np.array(actions))
            s_next = s if h + 1 == game.horizon else int(generics.next_state(kernels, token, draws[h + 1]))
            for i, agent in enumerate(agents):
                r = float(generics.reward(kernels, i, token))
                agent.learn(h, s, actions[i], r, s_next)
                alone[k, i] += r
            s = s_next
    sentence = f"agents of {name} on their own do not do what they do in the loop"
    require_same(returns, alone, sentence)
    state = engine.state
    for i, agent in enumerate(agents):
        if isinstance(spec, Mixed):
            require_same_states(spec.part(state, i), agent.state, sentence)
            continue
        require_same_records((state, i), (agent.state, 0), game.actions[i], sentence, f" of agent {i}")


def check_own_records(name: str, engine: FusedEngine, i: int) -> None:
    """Check that agent i reads and writes its own records, and nothing else."""
    game, rng = engine.game, np.random.default_rng(SEED + i)
    calm, noisy = copy(engine.state), copy(engine.state)
    scramble(noisy, i, rng)
    others = copy(noisy)
    for k in range(10 * game.horizon):
        h, (s, s_next) = k % game.horizon, (int(x) for x in rng.integers(game.states, size=2))
        u, r = rng.random(), float(rng.uniform(*game.reward_range))
        actions = [int(generics.act(state, i, h, s, u)) for state in (calm, noisy)]
        require(actions[0] == actions[1], f"agent {i} of {name} acts by what is not in its records")
        for state in (calm, noisy):
            generics.learn(state, i, h, s, actions[0], r, s_next)
    learns = f"agent {i} of {name} learns from what is not in its records"
    require_same_records((calm, i), (noisy, i), game.actions[i], learns)
    for j in range(game.agents):
        if j != i:
            writes = f"agent {i} of {name} writes into the records of agent {j}"
            require_same_records((others, j), (noisy, j), max(game.actions), writes)


def check_growth(name: str, spec: Learner, game: Game, world: World, i: int) -> None:
    """Check that an agent that grows behaves as before in states it knew."""
    rng, S, more = np.random.default_rng(SEED), game.states, 2 * game.states + 1
    still, grown, new = (make_alone(spec, game, world, i, states) for states in (S, S, more))
    if not isinstance(still, Agent):
        return
    _practise([still, grown], rng, S)
    try:
        grown.grow(more)
    except TacitError as error:
        raise Violation(f"{name} cannot grow: {error}") from error
    sentence = f"an agent of {name} that grows does not behave as before"
    require_same(still.policy, grown.policy[:, :S], sentence)
    require_same(new.policy[:, S:], grown.policy[:, S:], f"{name} does not begin anew in states that it has just met")
    _practise([still, grown], rng, S)
    require_same(still.policy, grown.policy[:, :S], sentence)


def _practise(agents: list[Agent], rng: np.random.Generator, states: int) -> None:
    """Let agents meet the same random states and rewards. They draw the same actions, or not."""
    low, high = agents[0].world.reward_range
    for _ in range(40):
        s, s_next = (int(x) for x in rng.integers(states, size=2))
        for h in range(agents[0].horizon):
            reward = float(rng.uniform(low, high))
            for agent in agents:
                agent.learn(h, s, agent.act(h, s), reward, s_next)
            s, s_next = s_next, int(rng.integers(states))
