"""All agents of an environment, which learn and act in one compiled call.

The kernels, the random streams and the numbers are those of agents on their own (`engine/agents.py`); agent i touches
row i of the state and nothing else. What each sees comes in as a number of its own: agents need not see the same.

A learner that remembers by step looks at `cells[h, s, i]` and `cells[h + 1, s', i]` and nowhere else. Its arrays
[steps, states, agents] are then views of arrays [rows, agents], the same at every step (a stride of 0), and a state
comes as the number of its row: memory is taken for the steps and states that an agent visits, in arrays that double.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory, records, streams
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.pinned import Pinned, entry, unpin
from tacit.core.types import FloatArray, IntArray
from tacit.engine.agents import make_agent
from tacit.engine.checkpoint import Arrays, check_alike, check_names, pack, unpack
from tacit.engine.fused import read_distributions, to_distributions
from tacit.engine.recorded import write_down
from tacit.learners import Learner, World, v_base
from tacit.learners.several import is_interpreted
from tacit.learners.spec import remembers_by_step, with_start

#: Uniform numbers that are drawn ahead: half a megabyte.
_DRAWS = 65_536

#: The key of a cell is h·STEP + s.
STEP = 1 << 32

#: No row of a cell has a larger number.
_MOST_ROWS = 2**31 - 1

#: What a turn returns: that all agents see the same or not, or that nothing was done since something is out of bounds.
SAME, APART, BAD_REWARD, BAD_STATE = 0, 1, -1, -2


class TurnBuffer(NamedTuple):
    """What a turn reads and writes, with the agents' own states."""

    learner: Any
    rows: IntArray  # [N]  the row of its next cell; none where there are no cells
    here: IntArray  # [N]  where each agent is: the row of its cell, or its state where there are no cells
    chosen: IntArray  # [N]  what it does there
    rewards: FloatArray  # [N]
    next_states: IntArray  # [N]
    returns: FloatArray  # [N]  the rewards of this episode
    reward_range: FloatArray  # [2]
    states: IntArray  # [N]  how many states each agent can be in
    u: FloatArray  # [episodes, H, N]  uniform numbers drawn ahead
    actions: IntArray  # [N]  how many each agent has
    scratch: FloatArray  # [A]
    visited: npt.NDArray[np.uint32]  # [K, H, N]  the record; K is 0 where it is not kept
    stored: npt.NDArray[np.float32]  # [K, H, Σ(A_i − 1)]


def turn(pinned, k, b, h):
    """Let all agents learn from step h, and act at the next one.

    With h = −1 they only act, and after the last step they only learn. Agent i acts with the number u[b, h + 1, i].
    Rewards and states are checked before anything is changed.
    """
    buffer = unpin(pinned)
    N, horizon = len(buffer.chosen), buffer.u.shape[1]
    learns, acts, keeps = h >= 0, h + 1 < horizon, len(buffer.stored) > 0
    if learns:
        for i in range(N):
            if not buffer.reward_range[0] <= buffer.rewards[i] <= buffer.reward_range[1]:
                return BAD_REWARD
    outcome = SAME
    if acts:
        for i in range(N):
            if not 0 <= buffer.next_states[i] < buffer.states[i]:
                return BAD_STATE
            if buffer.next_states[i] != buffer.next_states[0]:
                outcome = APART
    for i in range(N):
        before = buffer.here[i]
        if len(buffer.rows) > 0:
            buffer.here[i] = buffer.rows[i]
        elif acts:
            buffer.here[i] = buffer.next_states[i]
        if learns:
            generics.learn(buffer.learner, i, h, before, buffer.chosen[i], buffer.rewards[i], buffer.here[i])
            buffer.returns[i] += buffer.rewards[i]
    if acts:
        column = 0
        for i in range(N):
            here = buffer.here[i]
            if keeps:
                buffer.visited[k, h + 1, i] = buffer.next_states[i]
                row = buffer.stored[k, h + 1]
                size, mu = buffer.actions[i], buffer.scratch
                column = write_down(buffer.learner, i, h + 1, here, size, mu, row, column, False)
            buffer.chosen[i] = generics.act(buffer.learner, i, h + 1, here, buffer.u[b, h + 1, i])
    return outcome


def read_cells(learner, recent, keys, out):
    """Write the distributions of cells, by their keys, into `out` [N, H, S, A]."""
    for i in range(len(out)):
        for row in range(keys.shape[1]):
            h, s = keys[i, row] // STEP, keys[i, row] % STEP
            if keys[i, row] >= 0 and s < out.shape[2]:
                if recent:
                    generics.average_policy(learner, i, h, row, out[i, h, s])
                else:
                    generics.policy(learner, i, h, row, out[i, h, s])


class Fixed(TacitError):
    """The agents have a random start, and cannot take in new states."""


class Team(Protocol):
    """The agents as the environment engine plays them.

    Attributes
    ----------
    buffer : TurnBuffer
        What the engine writes (rewards, next_states, reward_range, states) and reads (chosen, returns).
    capacity : int
        States that the agents have memory for; 0 where memory is taken for the cells they visit.
    agents : sequence
        Those that are objects on their own.
    observations : sequence
        What each agent observes, None for one that is out; passed to those that learn from observations.
    networks : sequence of tacit.learners.ppo.Networks
        Those that agents of a kind learn in one call.
    """

    buffer: TurnBuffer
    capacity: int
    agents: Sequence[Any] = ()
    observations: Sequence[Any] = ()
    networks: Sequence[Any] = ()

    def keep(self, visited: npt.NDArray[np.uint32], stored: npt.NDArray[np.float32]) -> None:
        """Write the record into these arrays from now on."""
        self.buffer = self.buffer._replace(visited=visited, stored=stored)

    def begin(self, episode: int) -> Callable[[int], int]:
        """Begin an episode. Return its turns, a function of the step, as `turn` has it."""

    def grow(self, states: int) -> None:
        """Take memory for more states."""

    def distributions(self, states: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's policy at its first `states[i]` states, [H, states[i], A_i]."""

    def bound_sum(self) -> FloatArray | None:
        """Return Σ_k (V̄_1 − V̲_1) of the agents, where all keep bounds."""
        return None

    @property
    def bytes(self) -> int:
        """Memory of the agents, where that grows with the cells they visit."""
        return 0

    @property
    def cells(self) -> int:
        """Most cells (h, s) that an agent has visited; 0 where nobody counts."""
        return 0

    def snapshot(self) -> Arrays:
        """Return all that has changed since the team was made. The streams follow from the episode."""
        raise TacitError("learners that are Python classes are not checkpointed")

    def restore(self, arrays: Arrays, capacity: int) -> None:
        """Resume from a snapshot."""
        return


class CompiledTeam(Team):
    """Agents whose learner has kernels: one state for all of them."""

    def __init__(self, learner: Learner, world: World, *, seed: int) -> None:
        self.learner, self._seed = learner, seed
        self.world = with_start(learner, world, seed)
        self.capacity = world.states
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
        """Draw ahead: numbers depend on seed, agent and episode alone."""
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
        """Take memory for more states; what was learned stays."""
        before = self.state
        self._reset(states)
        records.transfer(before, self.state)

    def _reset(self, states: int) -> None:
        """Begin with a fresh state for so many states."""
        if states != self.capacity:
            self.world, self.capacity = self._wider(states), states
        self.buffer.states[:] = states
        self._put(learner=generics.seal(self.learner.init(self.world), like=self.state))

    def _wider(self, states: int) -> World:
        """Return a world of so many states; starting policies are uniform in the new ones."""
        if any(self.learner.seat(i).start == "random" for i in range(self.world.agents)):
            raise Fixed("an agent with a random start cannot meet new states; start from 'uniform'")
        start = tuple(None if policy is None else pad(policy, states) for policy in self.world.start)
        return self.world._replace(states=states, start=start)

    def distributions(self, states: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's policy, [H, states[i], A_i]."""
        tables = self._tables(max(states), recent=recent)
        return [table[:, :n] for table, n in zip(tables, states, strict=True)]

    def _tables(self, states: int, *, recent: bool) -> list[FloatArray]:
        return read_distributions(self.state, self.world, states, recent=recent)

    def bound_sum(self) -> FloatArray | None:
        """Return the sums of the learner's own bounds."""
        return v_base.bound_sum(self.state)

    def snapshot(self) -> Arrays:
        """Return the learner's state."""
        return pack(self.state)

    def restore(self, arrays: Arrays, capacity: int) -> None:
        """Resume from a snapshot."""
        self._reset(capacity)
        unpack(self.state, arrays)


class PooledTeam(CompiledTeam):
    """Agents that remember by step: their cells get a row when they are first visited.

    Attributes
    ----------
    rows : list of N dicts
        Each agent's rows by key; row 0 is what follows the last step.
    """

    def _remember(self) -> dict[str, Any]:
        world, N = self.world, self.world.agents
        started = max((policy.shape[1] for policy in world.start if policy is not None), default=0)
        start = tuple(None if policy is None else pad(policy, started + 1) for policy in world.start)
        world = world._replace(states=started + 1, start=start, places=_MOST_ROWS)
        self.capacity, self._started = 0, started
        self._fresh: Any = generics.seal(self.learner.init(world))
        self._initial = {path: array for path, array in records.parts(self._fresh) if array.ndim == 3}
        self._arrays = {path: np.zeros((1, N), array.dtype) for path, array in self._initial.items()}
        for path, array in self._initial.items():
            if len(array) > world.horizon:
                self._arrays[path][0] = array[-1, 0]
        self.rows: list[dict[int, int]] = [{} for _ in range(N)]
        self._pack_rows: Any = struct.Struct(f"{N}q").pack_into
        return {"learner": self._reserve(world.horizon, self._fresh), "rows": np.zeros(N, dtype=np.int64)}

    @property
    def cells(self) -> int:
        """Cells (h, s) of the agent that has visited the most."""
        return max(map(len, self.rows))

    @property
    def _row_bytes(self) -> int:
        """Bytes of one row of all agents, and of the entries that find it."""
        return sum(int(array[0].nbytes) for array in self._arrays.values()) + 100 * len(self.rows)

    @property
    def bytes(self) -> int:
        """Memory of the cells that the agents have visited."""
        return (1 + self.cells) * self._row_bytes

    def _reserve(self, more: int, state: Any) -> Any:
        """Return a state with so many free rows: the same where there are enough."""
        used, capacity = 1 + self.cells, len(next(iter(self._arrays.values())))
        if used + more <= capacity:
            return state
        wider = max(used + more, 2 * capacity)
        memory.require(self._row_bytes * wider, "a larger copy of what the agents have learned")
        for path, before in self._arrays.items():
            self._arrays[path] = np.zeros((wider, *before.shape[1:]), before.dtype)
            self._arrays[path][:used] = before[:used]
        return records.replace(state, self._view)

    def _view(self, path: str, array: Any) -> Any:
        """Return rows [steps, rows, agents], the same at every step, for a learner's array."""
        if path not in self._arrays:
            return array
        rows = self._arrays[path]
        return np.ndarray((len(array), *rows.shape), rows.dtype, rows, 0, (0, *rows.strides))

    def _enter(self, i: int, key: int) -> int:
        """Return the row of agent i's cell, a new one at its first visit."""
        row = self.rows[i].get(key)
        if row is None:
            row = self.rows[i][key] = len(self.rows[i]) + 1
            h, s = divmod(key, STEP)
            for path, array in self._initial.items():
                self._arrays[path][row, i] = array[h, min(s, self._started), i]
        return row

    def begin(self, episode: int) -> Callable[[int], int]:
        """See that there are rows for all cells that an episode may visit."""
        learner = self._reserve(self.world.horizon, self.state)
        if learner is not self.state:
            self._put(learner=learner)
        return partial(self._enter_and_turn, super().begin(episode))

    def _enter_and_turn(self, take_turn: Callable[[int], int], h: int) -> int:
        """Write the rows of the next cells, and take the turn."""
        buffer, key = self.buffer, (h + 1) * STEP
        if h + 1 == self.world.horizon:
            buffer.rows[:] = 0
            return take_turn(h)
        states = buffer.next_states.tolist()
        try:
            self._pack_rows(buffer.rows, 0, *[rows[key + s] for rows, s in zip(self.rows, states, strict=True)])
        except KeyError:  # a first visit, or a state out of bounds, which the turn refuses
            if all(0 <= s < limit for s, limit in zip(states, buffer.states.tolist(), strict=True)):
                buffer.rows[:] = [self._enter(i, key + s) for i, s in enumerate(states)]
        return take_turn(h)

    def _keys(self) -> IntArray:
        """Return the keys of all rows in use [N, rows], −1 for none."""
        keys = np.full((len(self.rows), 1 + self.cells), -1)
        for column, rows in zip(keys, self.rows, strict=True):
            column[1 : 1 + len(rows)] = list(rows)
        return keys

    def _tables(self, states: int, *, recent: bool) -> list[FloatArray]:
        world = self.world
        initial = read_distributions(self._fresh, world, self._started + 1, recent=recent)
        shape = (world.agents, world.horizon, states, int(world.actions.max()))
        table = memory.zeros(shape, "the last iterate")
        for policy, before in zip(table, initial, strict=True):  # as it was where nothing was visited
            policy[:, :, : before.shape[2]] = before[:, -1:]
            policy[:, : before.shape[1], : before.shape[2]] = before[:, :states]
        compile_loop(read_cells, self.state)(self.state, recent, self._keys(), table)
        return to_distributions(table, world)

    def _rows_in_use(self) -> Any:
        """Return the learner's state with the rows in use alone, once."""
        used = 1 + self.cells
        return records.replace(self.state, lambda path, array: array[:1, :used] if path in self._arrays else array)

    def snapshot(self) -> Arrays:
        """Return the keys of all rows in use, and what is remembered there."""
        return {"keys": self._keys(), **pack(self._rows_in_use())}

    def restore(self, arrays: Arrays, capacity: int) -> None:
        """Resume from a snapshot, before any cell is visited."""
        self._put(learner=self._reserve(arrays["keys"].shape[1], self.state))
        for i, keys in enumerate(arrays["keys"].tolist()):
            for key in keys[1:]:
                if key >= 0:
                    self._enter(i, key)
        unpack(self._rows_in_use(), arrays)


def pad(start: FloatArray, states: int) -> FloatArray:
    """Return a starting policy of more states, uniform in the new ones."""
    steps, before, actions = start.shape
    if before >= states:
        return start
    return np.concatenate([start, np.full((steps, states - before, actions), 1.0 / actions)], axis=1)


def _make_buffer(world: World, u: FloatArray) -> TurnBuffer:
    """Return a buffer without what the agents remember, and without a record."""
    N, width = world.agents, int(world.actions.sum()) - world.agents
    here, chosen, next_states = np.zeros((3, N), dtype=np.int64)
    return TurnBuffer(
        learner=None,
        rows=np.zeros(0, dtype=np.int64),
        here=here,
        chosen=chosen,
        rewards=np.zeros(N),
        next_states=next_states,
        returns=np.zeros(N),
        reward_range=np.array(world.reward_range, dtype=np.float64),
        states=np.full(N, world.states),
        u=u,
        actions=world.actions,
        scratch=np.zeros(int(world.actions.max())),
        visited=np.zeros((0, world.horizon, N), dtype=np.uint32),
        stored=np.zeros((0, world.horizon, width), dtype=np.float32),
    )


class PlainTeam(Team):
    """Agents of which some have no kernels: objects on their own, one call for each."""

    def __init__(self, learner: Learner, world: World, *, seed: int) -> None:
        sizes = [(world.horizon, world.states, int(actions)) for actions in world.actions]
        span, scale = world.reward_range, world.scale
        self.agents = [make_agent(learner, size, span, scale, seed=seed, index=i) for i, size in enumerate(sizes)]
        self.capacity, self._horizon = world.states, world.horizon
        self._observing = [i for i in range(world.agents) if getattr(learner.seat(i), "observes", False)]
        self._before: list[Any] = []  # where each agent was, by number or observation
        self.buffer = _make_buffer(world, np.empty((0, world.horizon, world.agents)))

    def begin(self, episode: int) -> Callable[[int], int]:
        """Begin an episode; each agent draws when it acts."""
        self.buffer.returns[:] = 0.0
        seated = {i for networks in self.networks for i in networks.agents}
        self._alone = [i for i in range(len(self.agents)) if i not in seated]
        for networks in self.networks:
            networks.episode = episode
        return self._turn

    def _turn(self, h: int) -> int:
        """Learn and act, one agent after the other. After the last step the next state is −1."""
        buffer, acts = self.buffer, h + 1 < self._horizon
        low, high = buffer.reward_range
        if h >= 0 and not ((low <= buffer.rewards) & (buffer.rewards <= high)).all():
            return BAD_REWARD
        if acts and not ((buffer.next_states >= 0) & (buffer.next_states < buffer.states)).all():
            return BAD_STATE
        states = buffer.next_states.tolist()
        after: list[Any] = states.copy() if acts else [-1] * len(self.agents)
        for i in self._observing:
            after[i] = self.observations[i] if acts else None
        if h >= 0:
            for i in self._alone:
                if self._before[i] is not None:
                    own = int(buffer.chosen[i]), float(buffer.rewards[i]), after[i]
                    self.agents[i].learn(h, self._before[i], *own)
            for networks in self.networks:
                networks.learn(buffer.rewards, after)
            buffer.returns[:] += buffer.rewards
        if acts:
            for i in self._alone:
                buffer.chosen[i] = 0 if after[i] is None else self.agents[i].act(h + 1, after[i])
            for networks in self.networks:
                networks.act(after, buffer.chosen)
            self._before = after
        return SAME if not acts or states.count(states[0]) == len(states) else APART

    def grow(self, states: int) -> None:
        """Take memory for more states."""
        for agent in self.agents:
            agent.grow(states)
        self.capacity = states
        self.buffer.states[:] = states

    def distributions(self, states: Sequence[int], *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's policy, [H, states[i], A_i]."""
        return [agent.policy[:, :n] for agent, n in zip(self.agents, states, strict=True)]

    def snapshot(self) -> Arrays:
        """Return what the networks have learned, where all agents have one."""
        if not self.networks:
            return super().snapshot()
        snapshots = [networks.snapshot() for networks in self.networks]
        return {f"{k}.{key}": array for k, arrays in enumerate(snapshots) for key, array in arrays.items()}

    def restore(self, arrays: Arrays, capacity: int) -> None:
        """Resume from a snapshot."""
        fresh = self.snapshot()
        check_names(arrays, set(fresh))
        check_alike(arrays, fresh, most=2**62)
        if capacity > self.capacity:
            self.grow(capacity)
        for k, networks in enumerate(self.networks):
            mine = {key: array for key, array in arrays.items() if key.startswith(f"{k}.")}
            networks.restore({key.removeprefix(f"{k}."): array for key, array in mine.items()})


def team_of(learner: Learner, world: World, *, seed: int) -> Team:
    """Return the agents of a learner, in compiled calls where it has kernels."""
    if is_interpreted(learner):
        return PlainTeam(learner, world, seed=seed)
    # a random start is drawn once, for all states
    pooled = remembers_by_step(learner) and learner.start != "random"
    return (PooledTeam if pooled else CompiledTeam)(learner, world, seed=seed)
