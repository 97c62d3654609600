"""One agent of a learner: on its own, with noise in the others' records, and with room for more states."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import generics, streams
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.agents import Agent, make_agent
from tacit.engine.fused import FusedEngine
from tacit.games.protocol import Game
from tacit.learners.mixed import Mixed
from tacit.learners.spec import Learner, World
from tacit.testing.loops import SEED
from tacit.testing.states import copy, own_records, require_same_states, scramble
from tacit.testing.violation import Violation, require, require_same


def check_alone(name: str, spec: Learner, game: Game, engine: FusedEngine, returns: FloatArray) -> None:
    """See that agents who know nothing of each other do what they do in the loop."""
    scale, low_high = engine.world.scale, game.reward_range
    sizes = [(game.horizon, game.states, actions) for actions in game.actions]
    agents: list[Any] = [
        make_agent(spec.seat(i), size, low_high, scale, seed=SEED, index=i, team=engine.world.team)
        for i, size in enumerate(sizes)
    ]
    kernels, world = game.kernels(), streams.stream(SEED, streams.ENVIRONMENT)
    alone = np.zeros_like(returns)
    for k in range(len(returns)):
        s, draws = 0, world.random(game.horizon)
        for h in range(game.horizon):
            s = int(generics.start(kernels, draws[0])) if h == 0 else s
            actions = [agent.act(h, s) for agent in agents]
            token = generics.place(kernels, h, s, np.array(actions))
            s_next = s if h + 1 == game.horizon else int(generics.advance(kernels, token, draws[h + 1]))
            for i, agent in enumerate(agents):
                r = float(generics.reward(kernels, i, token))
                agent.learn(h, s, actions[i], r, s_next)
                alone[k, i] += r
            s = s_next
    sentence = f"agents of {name} on their own do not do what they do in the loop"
    require_same(returns, alone, sentence)
    state = engine.state
    for i, (agent, size) in enumerate(zip(agents, sizes, strict=True)):
        if isinstance(spec, Mixed):
            require_same_states(state.own, agent.state, sentence)
            state = state.others
            continue
        together, single = own_records(state, i, size[2]), own_records(agent.state, 0, size[2])
        for path, array in together.items():
            require_same(array, single[path], f"{sentence}; {path} of agent {i} differs")


def _steps(engine: FusedEngine, rng: np.random.Generator, count: int) -> list[tuple[int, int, float, float, int]]:
    """Return random steps (h, s, u, r, s_next) of whole episodes."""
    game, found = engine.game, []
    low, high = game.reward_range
    for k in range(count):
        s, s_next = (int(x) for x in rng.integers(game.states, size=2))
        found.append((k % game.horizon, s, rng.random(), float(rng.uniform(low, high)), s_next))
    return found


def check_own_records(name: str, engine: FusedEngine, i: int) -> None:
    """See that agent i neither reads nor writes what belongs to others, and remembers nothing outside its records."""
    game, rng = engine.game, np.random.default_rng(SEED + i)
    calm, noisy = copy(engine.state), copy(engine.state)
    scramble(noisy, i, rng)
    others = copy(noisy)
    for h, s, u, r, s_next in _steps(engine, rng, 10 * game.horizon):
        actions = [int(generics.act(state, i, h, s, u)) for state in (calm, noisy)]
        require(actions[0] == actions[1], f"agent {i} of {name} acts by what is not in its records")
        for state in (calm, noisy):
            generics.learn(state, i, h, s, actions[0], r, s_next)
    before, after = own_records(calm, i, game.actions[i]), own_records(noisy, i, game.actions[i])
    for path, array in before.items():
        require_same(array, after[path], f"agent {i} of {name} learns from what is not in its records; {path} differs")
    for j in range(game.agents):
        if j != i:
            left, right = (own_records(state, j, max(game.actions)) for state in (others, noisy))
            for path, array in left.items():
                require_same(
                    array, right[path], f"agent {i} of {name} writes into the records of agent {j}; {path} differs"
                )


def check_growth(name: str, spec: Learner, game: Game, world: World, i: int) -> None:
    """See that an agent that grows behaves as before at the states it knew, and starts fresh elsewhere."""
    rng, S, more = np.random.default_rng(SEED), game.states, 2 * game.states + 1
    size = (game.horizon, S, game.actions[i])
    wider = (game.horizon, more, game.actions[i])
    still, grown, new = (
        make_agent(spec, room, game.reward_range, world.scale, seed=SEED, index=i, team=world.team)
        for room in (size, size, wider)
    )
    if not isinstance(still, Agent) or not isinstance(grown, Agent):
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
    """Let agents meet the same random states and rewards; they draw the same actions, or not."""
    low, high = agents[0].world.reward_range
    for _ in range(40):
        s, s_next = (int(x) for x in rng.integers(states, size=2))
        for h in range(agents[0].horizon):
            reward = float(rng.uniform(low, high))
            for agent in agents:
                agent.learn(h, s, agent.act(h, s), reward, s_next)
            s, s_next = s_next, int(rng.integers(states))
