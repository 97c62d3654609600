"""All agents of an environment: one compiled call for all to act, one for all to learn.

The kernels, the random streams and the numbers are those of agents on their own (`engine/agents.py`); agent i touches
row i of the state and nothing else. What each sees comes in as a number of its own: agents need not see the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.core import axes, generics, memory, streams
from tacit.core.compilation import compiled
from tacit.core.errors import TacitError
from tacit.core.packing import packed
from tacit.core.types import FloatArray, IntArray
from tacit.engine import loop
from tacit.engine.agents import Agent, make_agent
from tacit.engine.checkpoint import pack, unpack
from tacit.engine.record import write_down
from tacit.engine.validation import Arrays, check_alike, check_names
from tacit.learners import Learner, World
from tacit.learners.plain import PlainAgent
from tacit.learners.spec import starting_policy

#: Uniform numbers that are drawn ahead: half a megabyte.
_DRAWS = 65_536

Stored = npt.NDArray[np.float32]


def act_all(learner, h, states, u, b, chosen):
    """Let all agents act at step h: agent i in its own state, with the number u[b, h, i]."""
    for i in range(len(chosen)):
        chosen[i] = generics.act(learner, i, h, states[i], u[b, h, i])


def act_on_record(learner, actions, h, states, u, b, chosen, room, stored, k):
    """Write the record, then act: one call for both."""
    column = 0
    for i in range(len(states)):
        column = write_down(learner, i, h, states[i], actions[i], room, stored[k, h], column)
        chosen[i] = generics.act(learner, i, h, states[i], u[b, h, i])


def learn_all(learner, h, states, chosen, rewards, nexts, returns):
    """Let all agents learn from their own step, and add up their rewards."""
    for i in range(len(chosen)):
        generics.learn(learner, i, h, states[i], chosen[i], rewards[i], nexts[i])
        returns[i] += rewards[i]


def step_all(learner, h, states, chosen, rewards, nexts, returns, u, b):
    """Let all agents learn from step h and act at the next: one call for both, since calls cost more than kernels."""
    for i in range(len(chosen)):
        generics.learn(learner, i, h, states[i], chosen[i], rewards[i], nexts[i])
        returns[i] += rewards[i]
        chosen[i] = generics.act(learner, i, h + 1, nexts[i], u[b, h + 1, i])


def step_on_record(learner, h, states, chosen, rewards, nexts, returns, u, b, actions, room, stored, k):
    """Do as `step_all`, and write the record of the next step before acting."""
    column = 0
    for i in range(len(chosen)):
        generics.learn(learner, i, h, states[i], chosen[i], rewards[i], nexts[i])
        returns[i] += rewards[i]
        column = write_down(learner, i, h + 1, nexts[i], actions[i], room, stored[k, h + 1], column)
        chosen[i] = generics.act(learner, i, h + 1, nexts[i], u[b, h + 1, i])


class Fixed(TacitError):
    """The agents have a starting policy for the states they know, and cannot take in new ones."""


class Team(Protocol):
    """The agents as the environment engine plays them.

    Attributes
    ----------
    chosen : int array [N]
        The actions of the last `act`.
    room : int
        States that the agents have room for.
    structs : tuple
        The states that kernels work on.
    """

    chosen: IntArray
    room: int
    structs: tuple[object, ...]

    def begin(self, episode: int) -> None:
        """Begin an episode, by its number from 0."""

    def act(self, h: int, states: IntArray, stored: Stored | None, k: int) -> IntArray:
        """Return the agents' actions [N]; with `stored`, write their distributions into row k of the record."""

    def learn(self, h: int, states: IntArray, rewards: FloatArray, returns: FloatArray) -> None:
        """Learn from the last actions, at the last step of an episode, and add the rewards to `returns`."""

    def step(
        self,
        h: int,
        states: IntArray,
        rewards: FloatArray,
        nexts: IntArray,
        returns: FloatArray,
        stored: Stored | None,
        k: int,
    ) -> IntArray:
        """Learn from the last actions, add the rewards to `returns`, and act at step h + 1 in the next states."""

    def grow(self, states: int) -> None:
        """Make room for more states, between two episodes."""

    def distributions(self, met: Sequence[int]) -> list[FloatArray]:
        """Return each agent's current distributions at the first `met[i]` states, [H, met[i], A_i]."""

    def bound_sum(self) -> FloatArray | None:
        """Return Σ_k (V̄_1 − V̲_1) of the agents, where they keep bounds."""

    def snapshot(self) -> Arrays:
        """Return everything that has changed since the team was made; the streams follow from the episode."""

    def check(self, arrays: Arrays, room: int, done: int) -> None:
        """Raise unless a snapshot can be of this team with so much room, after that many episodes."""

    def restore(self, arrays: Arrays, room: int) -> None:
        """Resume from a snapshot that was checked."""


class CompiledTeam(Team):
    """Agents whose learner has kernels: one state for all of them."""

    def __init__(self, learner: Learner, world: World, *, seed: int) -> None:
        sizes = [(world.horizon, world.states, int(actions)) for actions in world.actions]
        start = tuple(starting_policy(learner.seat(i), size, seed, i) for i, size in enumerate(sizes))
        self.learner, self._seed = learner, seed
        self.world = world._replace(start=() if all(own is None for own in start) else start)
        self.room = world.states
        self.state: Any = self._made(self.world)
        self.structs = (self.state,)
        N, H = world.agents, world.horizon
        self.chosen = np.zeros(N, dtype=np.int64)
        self._probs = np.zeros(int(world.actions.max()))
        self._act = compiled(act_all, self.state)
        self._act_on_record = compiled(act_on_record, self.state)
        self._learn = compiled(learn_all, self.state)
        self._step = compiled(step_all, self.state)
        self._step_on_record = compiled(step_on_record, self.state)
        self._ahead = max(1, _DRAWS // (N * H))  # episodes
        self._u = np.empty((self._ahead, H, N))
        self._streams: list[np.random.Generator] = []
        self._block, self._b = -1, 0

    def _made(self, world: World) -> Any:
        size = memory.floats(12, world.agents, world.cells, int(world.actions.max()))
        memory.require(size, "the state of the learners")
        return packed(self.learner.init(world))

    def begin(self, episode: int) -> None:
        """Draw ahead; the numbers of an episode depend on nothing but the seed, the agent and the episode."""
        block, self._b = divmod(episode, self._ahead)
        if block == self._block:
            return
        if block != self._block + 1 or not self._streams:
            self._streams = [streams.stream(self._seed, streams.agent_role(i)) for i in range(self.world.agents)]
            for stream in self._streams:
                stream.bit_generator.advance(block * self._ahead * self.world.horizon)  # type: ignore[attr-defined]
        for i, stream in enumerate(self._streams):
            self._u[:, :, i] = stream.random((self._ahead, self.world.horizon))
        self._block = block

    def act(self, h: int, states: IntArray, stored: Stored | None, k: int) -> IntArray:
        """Return the agents' actions [N]."""
        if stored is None:
            self._act(self.state, h, states, self._u, self._b, self.chosen)
        else:
            self._act_on_record(
                self.state, self.world.actions, h, states, self._u, self._b, self.chosen, self._probs, stored, k
            )
        return self.chosen

    def learn(self, h: int, states: IntArray, rewards: FloatArray, returns: FloatArray) -> None:
        """Learn from the last actions; what comes after the end does not matter."""
        self._learn(self.state, h, states, self.chosen, rewards, states, returns)

    def step(
        self,
        h: int,
        states: IntArray,
        rewards: FloatArray,
        nexts: IntArray,
        returns: FloatArray,
        stored: Stored | None,
        k: int,
    ) -> IntArray:
        """Learn from the last actions, and act."""
        place = (self.state, h, states, self.chosen, rewards, nexts, returns, self._u, self._b)
        if stored is None:
            self._step(*place)
        else:
            self._step_on_record(*place, self.world.actions, self._probs, stored, k)
        return self.chosen

    def grow(self, states: int) -> None:
        """Make room for more states; what was learned stays."""
        if self.world.start:
            raise Fixed("an agent with a starting policy cannot meet new states; start from 'uniform'")
        wider = self.world._replace(states=states)
        room = self._made(wider)
        axes.transfer(self.state, room, horizon=self.world.horizon, before=self.room, after=states)
        self.world, self.state, self.room = wider, room, states
        self.structs = (self.state,)

    def distributions(self, met: Sequence[int]) -> list[FloatArray]:
        """Return each agent's current distributions, [H, met[i], A_i]."""
        world, most = self.world, max(met)
        table = memory.zeros((world.agents, world.horizon, most, int(world.actions.max())), "the last iterate")
        compiled(loop.distributions, self.state)(self.state, world.horizon, most, table)
        if not np.isfinite(table).all():
            raise TacitError("the policies are no longer numbers; learn with a smaller step (eta)")
        return [own[:, :n, : int(size)] for own, n, size in zip(table, met, world.actions, strict=True)]

    def bound_sum(self) -> FloatArray | None:
        """Return the sums of the learner's own bounds."""
        return self.learner.bound_sum(self.state)

    def snapshot(self) -> Arrays:
        """Return the learner's state."""
        return pack(self.state)

    def check(self, arrays: Arrays, room: int, done: int) -> None:
        """Raise unless a snapshot can be of this learner."""
        world = self.world._replace(states=room)
        fresh = pack(self._made(world))
        check_names(arrays, set(fresh))
        most = max(2 * (done + 1) * world.horizon + 2, world.cells * int(world.actions.max()))
        check_alike(arrays, fresh, most=most)

    def restore(self, arrays: Arrays, room: int) -> None:
        """Resume from a snapshot that was checked."""
        self.world = self.world._replace(states=room)
        self.state, self.room = self._made(self.world), room
        self.structs = (self.state,)
        unpack(self.state, arrays)


class PlainTeam(Team):
    """Agents of which some have no kernels: objects on their own, one call for each."""

    structs = ()

    def __init__(self, learner: Learner, world: World, *, seed: int) -> None:
        sizes = [(world.horizon, world.states, int(actions)) for actions in world.actions]
        span, scale = world.reward_range, world.scale
        self.agents: list[Agent | PlainAgent] = [
            make_agent(learner.seat(i), size, span, scale, seed=seed, index=i) for i, size in enumerate(sizes)
        ]
        self.room = world.states
        self.chosen = np.zeros(world.agents, dtype=np.int64)

    def begin(self, episode: int) -> None:
        """Nothing: each draws when it acts."""

    def act(self, h: int, states: IntArray, stored: Stored | None, k: int) -> IntArray:
        """Return the agents' actions [N]."""
        if stored is not None:
            rows = [agent.probabilities(h, s)[:-1] for agent, s in zip(self.agents, states.tolist(), strict=True)]
            stored[k, h] = np.concatenate(rows)
        self.chosen[:] = [agent.act(h, s) for agent, s in zip(self.agents, states.tolist(), strict=True)]
        return self.chosen

    def learn(self, h: int, states: IntArray, rewards: FloatArray, returns: FloatArray) -> None:
        """Learn from the last actions; after the last step the next state is −1."""
        self._learn(h, states, rewards, [-1] * len(self.agents), returns)

    def step(
        self,
        h: int,
        states: IntArray,
        rewards: FloatArray,
        nexts: IntArray,
        returns: FloatArray,
        stored: Stored | None,
        k: int,
    ) -> IntArray:
        """Learn from the last actions, and act."""
        self._learn(h, states, rewards, nexts.tolist(), returns)
        return self.act(h + 1, nexts, stored, k)

    def _learn(self, h: int, states: IntArray, rewards: FloatArray, nexts: list[int], returns: FloatArray) -> None:
        seats = zip(self.agents, states.tolist(), self.chosen.tolist(), rewards.tolist(), nexts, strict=True)
        for agent, s, a, r, s_next in seats:
            agent.learn(h, s, a, r, s_next)
        returns += rewards

    def grow(self, states: int) -> None:
        """Make room for more states."""
        for agent in self.agents:
            agent.grow(states)
        self.room = states

    def distributions(self, met: Sequence[int]) -> list[FloatArray]:
        """Return each agent's current distributions, [H, met[i], A_i]."""
        return [agent.policy[:, :n] for agent, n in zip(self.agents, met, strict=True)]

    def bound_sum(self) -> FloatArray | None:
        """Return the sums of the agents' own bounds, if all keep them."""
        sums = [agent.bound_sum for agent in self.agents]
        return None if any(own is None for own in sums) else np.array(sums, dtype=float)

    def snapshot(self) -> Arrays:
        """Raise: nobody knows what an object holds."""
        raise TacitError("learners that are Python classes are not checkpointed")

    def check(self, arrays: Arrays, room: int, done: int) -> None:
        """Raise: nobody knows what an object holds."""
        raise TacitError("learners that are Python classes are not checkpointed")

    def restore(self, arrays: Arrays, room: int) -> None:
        """Raise: nobody knows what an object holds."""
        raise TacitError("learners that are Python classes are not checkpointed")


def team_of(learner: Learner, world: World, *, seed: int) -> Team:
    """Return the agents of a learner, in compiled calls where it has kernels."""
    return (PlainTeam if learner.interpreted else CompiledTeam)(learner, world, seed=seed)
