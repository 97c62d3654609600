"""All agents of an environment: one compiled call in which all learn from a step and act in the next.

The kernels, the random streams and the numbers are those of agents on their own (`engine/agents.py`); agent i touches
row i of the state and nothing else. What each sees comes in as a number of its own: agents need not see the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.core import generics, records, streams
from tacit.core.errors import TacitError
from tacit.core.pinned import Pinned, entry, unpin
from tacit.core.types import FloatArray, IntArray
from tacit.engine.agents import make_agent
from tacit.engine.cells import STEP, Pool, pad
from tacit.engine.checkpoint import Arrays, pack, unpack
from tacit.engine.fused import read_distributions
from tacit.engine.outputs.recorded import write_down
from tacit.learners import Learner, World, v_base
from tacit.learners.several import is_interpreted
from tacit.learners.spec import remembers_by_step, with_start

#: Uniform numbers that are drawn ahead: half a megabyte.
_DRAWS = 65_536

#: What a turn returns: that all agents see the same or not, or that nothing was done since something is out of bounds.
SAME, APART, BAD_REWARD, BAD_STATE = 0, 1, -1, -2


class TurnBuffer(NamedTuple):
    """What a turn reads and writes: the environment's side of it, and the agents' own states."""

    learner: Any
    rows: IntArray  # [N]  the row of its next cell; none where there are no cells
    places: IntArray  # [N]  where each agent is: the row of its cell, or its state where there are no cells
    chosen: IntArray  # [N]  what it does there
    rewards: FloatArray  # [N]  what that brought
    nexts: IntArray  # [N]  where it is then, in memory right after the rewards: one call writes both
    returns: FloatArray  # [N]  the rewards of this episode
    span: FloatArray  # [2]  where rewards lie
    known: IntArray  # [N]  states that each can be in
    u: FloatArray  # [episodes, H, N]  uniform numbers drawn ahead
    actions: IntArray  # [N]  how many each agent has
    room: FloatArray  # [A]
    visited: npt.NDArray[np.uint32]  # [K, H, N]  the record; K is 0 where it is not kept
    stored: npt.NDArray[np.float32]  # [K, H, Σ(A_i − 1)]


def turn(pinned, k, b, h):
    """Let all agents learn from step h of episode k, unless it is −1, and act at the next, unless h was the last.

    Agent i acts with the number u[b, h + 1, i]. Rewards and states are looked at before anything is changed.
    """
    buffer = unpin(pinned)
    N, horizon = len(buffer.chosen), buffer.u.shape[1]
    learns, acts, keeps = h >= 0, h + 1 < horizon, len(buffer.stored) > 0
    if learns:
        for i in range(N):
            if not buffer.span[0] <= buffer.rewards[i] <= buffer.span[1]:
                return BAD_REWARD
    outcome = SAME
    if acts:
        for i in range(N):
            if not 0 <= buffer.nexts[i] < buffer.known[i]:
                return BAD_STATE
            if buffer.nexts[i] != buffer.nexts[0]:
                outcome = APART
    for i in range(N):
        here = buffer.places[i]
        if len(buffer.rows) > 0:
            buffer.places[i] = buffer.rows[i]
        elif acts:
            buffer.places[i] = buffer.nexts[i]
        if learns:
            generics.learn(buffer.learner, i, h, here, buffer.chosen[i], buffer.rewards[i], buffer.places[i])
            buffer.returns[i] += buffer.rewards[i]
    if acts:
        column = 0
        for i in range(N):
            here = buffer.places[i]
            if keeps:
                buffer.visited[k, h + 1, i] = buffer.nexts[i]
                row = buffer.stored[k, h + 1]
                column = write_down(buffer.learner, i, h + 1, here, buffer.actions[i], buffer.room, row, column)
            buffer.chosen[i] = generics.act(buffer.learner, i, h + 1, here, buffer.u[b, h + 1, i])
    return outcome


class Fixed(TacitError):
    """The agents have a random start for the states they know, and cannot take in new ones."""


class Team(Protocol):
    """The agents as the environment engine plays them.

    Attributes
    ----------
    buffer : TurnBuffer
        What the engine writes (rewards, nexts, span, known) and reads (chosen, returns).
    room : int
        States that the agents have room for; 0 where memory is made for what is met.
    agents : sequence
        Those that are objects on their own.
    shown : sequence
        What each agent observes, None for one that is out; told to those that learn from observations.
    """

    buffer: TurnBuffer
    room: int
    agents: Sequence[Any] = ()
    shown: Sequence[Any] = ()

    def keep(self, visited: npt.NDArray[np.uint32], stored: npt.NDArray[np.float32]) -> None:
        """Write the record into these arrays from now on."""
        self.buffer = self.buffer._replace(visited=visited, stored=stored)

    def begin(self, episode: int) -> Callable[[int], int]:
        """Begin an episode, by its number from 0: returns are 0. Return its turns, a function of the step.

        They learn from step h, −1 for none, and act at the next, if there is one; see the function `turn`.
        """

    def grow(self, states: int) -> None:
        """Make room for more states."""

    def distributions(self, met: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with at the first `met[i]` states, [H, met[i], A_i]."""

    def bound_sum(self) -> FloatArray | None:
        """Return Σ_k (V̄_1 − V̲_1) of the agents, where they keep bounds."""

    @property
    def bytes(self) -> int:
        """What the agents remember, where that grows with what they meet."""
        return 0

    @property
    def cells(self) -> int:
        """Steps and states that the agent with the most of them has met; 0 where nobody counts them."""
        return 0

    def snapshot(self) -> Arrays:
        """Return everything that has changed since the team was made; the streams follow from the episode."""
        raise TacitError("learners that are Python classes are not checkpointed")

    def restore(self, arrays: Arrays, room: int) -> None:
        """Resume from a snapshot."""
        return


class CompiledTeam(Team):
    """Agents whose learner has kernels: one state for all of them."""

    def __init__(self, learner: Learner, world: World, *, seed: int) -> None:
        self.learner, self._seed = learner, seed
        self.world = with_start(learner, world, seed)
        self.room = world.states
        N, H = world.agents, world.horizon
        self._ahead = max(1, _DRAWS // (N * H))  # episodes
        self.buffer = _make_buffer(self.world, np.empty((self._ahead, H, N)))._replace(**self._remember())
        self._pinned = Pinned(self.buffer)
        self._turn = entry(turn, self._pinned, 0, 0, 0)
        self._streams: list[np.random.Generator] = []
        self._block = -1

    def _remember(self) -> dict[str, Any]:
        """Return the parts of the buffer in which the agents remember."""
        return {"learner": generics.seal(self.learner.init(self.world))}

    @property
    def state(self) -> Any:
        """The state of all agents."""
        return self.buffer.learner

    def _put(self, **parts: Any) -> None:
        self.buffer = self.buffer._replace(**parts)
        self._pinned.replace(self.buffer)

    def keep(self, visited: npt.NDArray[np.uint32], stored: npt.NDArray[np.float32]) -> None:
        """Write the record into these arrays from now on."""
        self._put(visited=visited, stored=stored)

    def begin(self, episode: int) -> Callable[[int], int]:
        """Draw ahead; the numbers of an episode depend on nothing but the seed, the agent and the episode."""
        self.buffer.returns[:] = 0.0
        block, b = divmod(episode, self._ahead)
        if block != self._block:
            self._draw(block)
        return partial(self._turn, episode, b)

    def _draw(self, block: int) -> None:
        N, H, first = self.world.agents, self.world.horizon, block * self._ahead
        if block != self._block + 1 or not self._streams:
            self._streams = [streams.stream(self._seed, streams.agent_role(i)) for i in range(N)]
            for stream in self._streams:
                streams.move(stream, first * H)
        drawn = np.empty((self._ahead, H))
        for i, stream in enumerate(self._streams):
            stream.random(out=drawn)
            self.buffer.u[:, :, i] = drawn
        self._block = block

    def grow(self, states: int) -> None:
        """Make room for more states; what was learned stays."""
        wider = self._wider(states)
        room = generics.seal(self.learner.init(wider), like=self.state)
        records.transfer(self.state, room)
        self.world, self.room = wider, states
        self.buffer.known[:] = states
        self._put(learner=room)

    def _wider(self, states: int) -> World:
        """Return a world of so many states; where agents have a starting policy, it is even in the new ones."""
        if any(self.learner.seat(i).start == "random" for i in range(self.world.agents)):
            raise Fixed("an agent with a random start cannot meet new states; start from 'uniform'")
        start = tuple(None if policy is None else pad(policy, states) for policy in self.world.start)
        return self.world._replace(states=states, start=start)

    def distributions(self, met: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with, [H, met[i], A_i]."""
        tables = read_distributions(self.state, self.world, max(met), recent=recent)
        return [table[:, :n] for table, n in zip(tables, met, strict=True)]

    def bound_sum(self) -> FloatArray | None:
        """Return the sums of the learner's own bounds."""
        return v_base.bound_sum(self.state)

    def snapshot(self) -> Arrays:
        """Return the learner's state."""
        return pack(self.state)

    def restore(self, arrays: Arrays, room: int) -> None:
        """Resume from a snapshot."""
        self.world = self._wider(room) if room != self.room else self.world
        self.room = room
        self.buffer.known[:] = room
        self._put(learner=generics.seal(self.learner.init(self.world), like=self.state))
        unpack(self.state, arrays)


class PooledTeam(CompiledTeam):
    """Agents that remember by step: one state for all of them, whose cells are made as they are met."""

    def _remember(self) -> dict[str, Any]:
        self.room, self._pool = 0, Pool(self.learner, self.world)
        self._write: Any = struct.Struct(f"{self.world.agents}q").pack_into
        return {"learner": self._pool.state, "rows": np.zeros(self.world.agents, dtype=np.int64)}

    @property
    def cells(self) -> int:
        """Steps and states that the agent with the most of them has met."""
        return self._pool.used - 1

    @property
    def bytes(self) -> int:
        """What the agents remember of the cells that they have met."""
        return self._pool.used * self._pool.size

    def begin(self, episode: int) -> Callable[[int], int]:
        """See that there is room for all that an episode may show."""
        if self._pool.reserve(self.world.horizon):
            self._put(learner=self._pool.state)
        return partial(self._enter_and_turn, super().begin(episode))

    def _enter_and_turn(self, take_turn: Callable[[int], int], h: int) -> int:
        """Find the rows of the next cells, or make them, and take the turn."""
        buffer, key, tables = self.buffer, (h + 1) * STEP, self._pool.rows
        if h + 1 == self.world.horizon:
            buffer.rows[:] = 0
            return take_turn(h)
        nexts = buffer.nexts.tolist()
        try:
            self._write(buffer.rows, 0, *[rows[key + s] for rows, s in zip(tables, nexts, strict=True)])
        except KeyError:
            if all(0 <= s < limit for s, limit in zip(nexts, buffer.known.tolist(), strict=True)):  # or it is told
                buffer.rows[:] = [self._pool.enter(i, h + 1, s) for i, s in enumerate(nexts)]
        return take_turn(h)

    def distributions(self, met: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with, [H, met[i], A_i]."""
        tables = self._pool.distributions(self.world, max(met), recent=recent)
        return [table[:, :n] for table, n in zip(tables, met, strict=True)]

    def snapshot(self) -> Arrays:
        """Return the cells that were met, and what is remembered there."""
        return self._pool.snapshot()

    def restore(self, arrays: Arrays, room: int) -> None:
        """Resume from a snapshot."""
        self._pool = Pool(self.learner, self.world)
        self._pool.restore(arrays)
        self._put(learner=self._pool.state)


def _make_buffer(world: World, u: FloatArray) -> TurnBuffer:
    """Make room for all that a turn reads and writes but what the agents remember; no record is kept."""
    N, width = world.agents, int(world.actions.sum()) - world.agents
    places, chosen = np.zeros((2, N), dtype=np.int64)
    heard, returns = np.zeros(2 * N), np.zeros(N)
    return TurnBuffer(
        learner=None,
        rows=np.zeros(0, dtype=np.int64),
        places=places,
        chosen=chosen,
        rewards=heard[:N],
        nexts=heard[N:].view(np.int64),
        returns=returns,
        span=np.array(world.reward_range, dtype=np.float64),
        known=np.full(N, world.states),
        u=u,
        actions=world.actions,
        room=np.zeros(int(world.actions.max())),
        visited=np.zeros((0, world.horizon, N), dtype=np.uint32),
        stored=np.zeros((0, world.horizon, width), dtype=np.float32),
    )


class PlainTeam(Team):
    """Agents of which some have no kernels: objects on their own, one call for each."""

    def __init__(self, learner: Learner, world: World, *, seed: int) -> None:
        sizes = [(world.horizon, world.states, int(actions)) for actions in world.actions]
        span, scale = world.reward_range, world.scale
        self.agents = [
            make_agent(learner.seat(i), size, span, scale, seed=seed, index=i) for i, size in enumerate(sizes)
        ]
        self.room, self._horizon = world.states, world.horizon
        self._observing = [i for i in range(world.agents) if getattr(learner.seat(i), "observes", False)]
        self._before: list[Any] = []  # where each agent was, by number or observation
        self.buffer = _make_buffer(world, np.empty((0, world.horizon, world.agents)))

    def begin(self, episode: int) -> Callable[[int], int]:
        """Begin an episode; each agent draws when it acts."""
        self.buffer.returns[:] = 0.0
        return partial(self._turn, episode)

    def _turn(self, k: int, h: int) -> int:
        """Learn and act, one agent after the other; after the last step the next state is −1."""
        buffer, acts = self.buffer, h + 1 < self._horizon
        low, high = buffer.span
        if h >= 0 and not ((low <= buffer.rewards) & (buffer.rewards <= high)).all():
            return BAD_REWARD
        if acts and not ((buffer.nexts >= 0) & (buffer.nexts < buffer.known)).all():
            return BAD_STATE
        nexts = buffer.nexts.tolist()
        after: list[Any] = nexts.copy() if acts else [-1] * len(self.agents)
        for i in self._observing:
            after[i] = self.shown[i] if acts else None
        if h >= 0:
            seats = zip(self.agents, self._before, buffer.chosen.tolist(), buffer.rewards.tolist(), after, strict=True)
            for agent, s, a, r, s_next in seats:
                if s is not None:
                    agent.learn(h, s, a, r, s_next)
            buffer.returns[:] += buffer.rewards
        if acts:
            self._record(k, h + 1, nexts)
            pairs = zip(self.agents, after, strict=True)
            buffer.chosen[:] = [0 if s is None else agent.act(h + 1, s) for agent, s in pairs]
            buffer.places[:], self._before = nexts, after
        return SAME if not acts or nexts.count(nexts[0]) == len(nexts) else APART

    def _record(self, k: int, h: int, states: list[int]) -> None:
        if len(self.buffer.stored):
            rows = [agent.probabilities(h, s)[:-1] for agent, s in zip(self.agents, states, strict=True)]
            self.buffer.visited[k, h] = states
            self.buffer.stored[k, h] = np.concatenate(rows)

    def grow(self, states: int) -> None:
        """Make room for more states."""
        for agent in self.agents:
            agent.grow(states)
        self.room = states
        self.buffer.known[:] = states

    def distributions(self, met: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with, [H, met[i], A_i]."""
        return [agent.policy[:, :n] for agent, n in zip(self.agents, met, strict=True)]

    def bound_sum(self) -> FloatArray | None:
        """Return the sums of the agents' own bounds, if all keep them."""
        sums = [agent.bound_sum for agent in self.agents]
        return None if any(total is None for total in sums) else np.array(sums, dtype=float)


def team_of(learner: Learner, world: World, *, seed: int) -> Team:
    """Return the agents of a learner, in compiled calls where it has kernels."""
    if is_interpreted(learner):
        return PlainTeam(learner, world, seed=seed)
    # a random start is drawn for states that are known beforehand
    pooled = remembers_by_step(learner) and learner.start != "random"
    return (PooledTeam if pooled else CompiledTeam)(learner, world, seed=seed)
