"""The cells of agents in an environment, made as they are met: one for each step and state that an agent has been in.

A learner that remembers by step (`Learner.by_step`) looks at `cells[h, s, i]` and `cells[h + 1, s', i]` and nowhere
else. So its arrays [steps, states, agents] can be views of one pool [cells, agents] that is the same at every step, a
stride of 0, where a state comes as the number of its cell. Cell 0 is what follows the last step.

Memory that was never written to takes none, so the pool is reserved generously and grows with what is met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory, records
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine.checkpoint import Arrays, check_alike, check_names, pack, unpack
from tacit.engine.fused import read_distributions, to_distributions
from tacit.learners import Learner, World

#: A key is h·STEP + s.
STEP = 1 << 32

#: The part of the free memory that is reserved at first.
_RESERVED = 8
#: No cell has a larger number.
_MOST = 2**31 - 1


class Cells(NamedTuple):
    """Which cell an agent has at a step and state; without slots, states are their own numbers."""

    slots: npt.NDArray[np.int32]  # [N, M]  a hash table of cells, 0 for none; M is a power of two
    keys: IntArray  # [C, N]  step and state of each cell
    filled: IntArray  # [N]  cells in use, cell 0 included
    fresh: IntArray  # [H+1, T, N, W]  the words of cells that were never visited; states from T on are like the last
    pool: IntArray  # [C, N, W]


def no_cells(agents: int) -> Cells:
    """Return what goes with a learner that remembers more than cells."""
    return Cells(
        np.zeros((agents, 0), dtype=np.int32), *(np.zeros((0,) * axes, dtype=np.int64) for axes in (2, 1, 4, 3))
    )


@generics.jitable
def look_up(cells, i, h, s):
    """Return the place in the hash table of agent i's cell at (h, s), or where it would be."""
    key, mask = h * STEP + s, cells.slots.shape[1] - 1
    j = (s * 2654435769 + h * 2246822519) & mask
    c = int(cells.slots[i, j])
    while c != 0 and cells.keys[c, i] != key:
        j = (j + 1) & mask
        c = int(cells.slots[i, j])
    return j


@generics.jitable
def enter(cells, i, h, s):
    """Return the number of agent i's cell at (h, s), which is made where there is none."""
    if cells.slots.shape[1] == 0:
        return s
    j = look_up(cells, i, h, s)
    c = int(cells.slots[i, j])
    if c == 0:
        c = int(cells.filled[i])
        cells.filled[i] = c + 1
        cells.slots[i, j] = c
        cells.keys[c, i] = h * STEP + s
        known = min(s, cells.fresh.shape[1] - 1)
        for w in range(cells.pool.shape[2]):
            cells.pool[c, i, w] = cells.fresh[h, known, i, w]
    return c


def enter_all(cells, keys):
    """Make the cells of these keys [N, n], −1 for none, in their order."""
    for i in range(len(keys)):
        for k in range(keys.shape[1]):
            if keys[i, k] >= 0:
                enter(cells, i, keys[i, k] // STEP, keys[i, k] % STEP)


def list_again(cells):
    """Fill an empty hash table with all cells in use."""
    for i in range(len(cells.filled)):
        for c in range(1, cells.filled[i]):
            cells.slots[i, look_up(cells, i, cells.keys[c, i] // STEP, cells.keys[c, i] % STEP)] = c


def weigh_all(learner, recent, cells, out):
    """Write each agent's distributions at the cells that it has met into `out` [N, H, S, A]."""
    for i in range(len(out)):
        for c in range(1, cells.filled[i]):
            h, s = cells.keys[c, i] // STEP, cells.keys[c, i] % STEP
            if s < out.shape[2]:
                if recent:
                    generics.average(learner, i, h, c, out[i, h, s])
                else:
                    generics.weigh(learner, i, h, c, out[i, h, s])


class Pool:
    """A learner's state whose cells are made as they are met; agents that were told of a start begin there.

    Attributes
    ----------
    state : NamedTuple
        The learner's, with views of the pool.
    fresh : NamedTuple
        The learner's before anything is met, of the states that have a starting policy and of one more.
    cells : Cells
    """

    def __init__(self, learner: Learner, world: World, *, most: int = _MOST) -> None:
        known = max((own.shape[1] for own in world.start if own is not None), default=0)
        start = tuple(None if own is None else pad(own, known + 1) for own in world.start)
        self._horizon = H = world.horizon
        self.state: Any = learner.init(world._replace(states=known + 1, start=start, places=most))
        parts = [(path, own) for path, own in records.parts(self.state) if own.ndim == 3]
        ends = np.cumsum([-(-own.dtype.itemsize // 8) for _, own in parts]).tolist()
        self._first = dict(zip([path for path, _ in parts], [0, *ends], strict=False))  # word of each array in a cell
        fresh = np.zeros((H + 1, known + 1, world.agents, ends[-1]), dtype=np.int64)
        for path, own in parts:
            begin, size = 8 * self._first[path], own.dtype.itemsize
            fresh.view("u1")[: len(own), :, :, begin : begin + size] = own.view("u1").reshape(*own.shape, size)
        self.fresh: Any = records.replace(self.state, lambda path, own: self._view(path, own, fresh, fresh.strides[:3]))
        self.cells = no_cells(world.agents)._replace(filled=np.ones(world.agents, dtype=np.int64), fresh=fresh)
        cells = min(world.scale.episodes, world.scale.states, most) * H  # whatever is met
        self._widen(max(H, min(cells, memory.available() // _RESERVED // self.size)) + 1)
        self.cells.pool[0] = fresh[-1, 0]
        self.reserve(H)

    @property
    def size(self) -> int:
        """Bytes of one cell of all agents."""
        _, _, agents, words = self.cells.fresh.shape
        return 8 * int(agents * (words + 1))

    @property
    def used(self) -> int:
        """Cells in use, of the agent that has the most."""
        return int(self.cells.filled.max())

    def reserve(self, more: int) -> bool:
        """See that every agent can meet so many more cells; return whether arrays had to be replaced for it."""
        needed, capacity, slots = self.used + more, len(self.cells.keys), self.cells.slots.shape[1]
        if needed > capacity:
            memory.require(self.size * needed, "a larger copy of what the agents have learned")
            self._widen(max(needed, min(2 * capacity, memory.available() // self.size)))
        if 2 * needed > slots:
            wider = np.zeros((len(self.cells.filled), 1 << (2 * needed - 1).bit_length()), dtype=np.int32)
            self.cells = self.cells._replace(slots=wider)
            compile_loop(list_again, self.cells)(self.cells)
        return needed > capacity or 2 * needed > slots

    def _widen(self, capacity: int) -> None:
        before, (_, _, N, words) = self.cells, self.cells.fresh.shape
        keys, pool = np.zeros((capacity, N), dtype=np.int64), np.zeros((capacity, N, words), dtype=np.int64)
        if len(before.keys):
            keys[: self.used], pool[: self.used] = before.keys[: self.used], before.pool[: self.used]
        self.cells = before._replace(keys=keys, pool=pool)
        self.state = records.replace(self.state, lambda path, own: self._view(path, own, pool, (0, *pool.strides[:2])))

    def _view(self, path: str, own: Any, words: IntArray, strides: tuple[int, ...]) -> Any:
        """Return an array [steps, cells, agents] of words [..., cells, agents, W] in place of one of the learner's."""
        if path not in self._first:
            return own
        shape = (len(own), *words.shape[-3:-1])
        return np.ndarray(shape, own.dtype, words, 8 * self._first[path], strides)

    @property
    def written(self) -> Any:
        """The learner's state with the cells in use alone, once instead of at every step."""
        return records.replace(self.state, lambda path, own: own[:1, : self.used] if path in self._first else own)

    def snapshot(self) -> Arrays:
        """Return the keys of all cells in use [N, used], −1 for none, and what is remembered there."""
        used = self.used
        inside = np.arange(used) < self.cells.filled[:, None]
        inside[:, 0] = False
        return {"keys": np.where(inside, self.cells.keys[:used].T, -1), **pack(self.written)}

    def restore(self, arrays: Arrays) -> None:
        """Take a snapshot that was checked into a pool in which nothing is met."""
        self.enter_all(arrays["keys"])
        unpack(self.written, arrays)

    def enter_all(self, keys: IntArray) -> None:
        """Make the cells of these keys [N, n], −1 for none."""
        self.reserve(keys.shape[1])
        compile_loop(enter_all, self.cells)(self.cells, np.ascontiguousarray(keys))

    def distributions(self, world: World, states: int, *, recent: bool, pick: Any = None) -> list[FloatArray]:
        """Return what each agent answers with at the first so many states, [H, states, A_i].

        `pick` takes a part of the learner's state.
        """
        state, fresh = (self.state, self.fresh) if pick is None else (pick(self.state), pick(self.fresh))
        even = read_distributions(fresh, world, self.cells.fresh.shape[1], recent=recent)
        shape = (world.agents, world.horizon, states, int(world.actions.max()))
        table = memory.zeros(shape, "the last iterate")
        for own, before in zip(table, even, strict=True):  # as it was where nothing is met
            own[:, :, : before.shape[2]] = before[:, -1:]
            own[:, : before.shape[1], : before.shape[2]] = before[:, :states]
        compile_loop(weigh_all, state)(state, recent, self.cells, table)
        return to_distributions(table, world)

    def check(self, arrays: Arrays, *, states: Sequence[int], most: int) -> None:
        """Raise unless a snapshot can be of a pool like this one, in which nothing is met, with so many states each."""
        keys = arrays.get("keys")
        if keys is None or keys.dtype != np.int64 or keys.ndim != 2 or len(keys) != len(states) or not keys.size:
            raise TacitError("it does not say which cells the agents have met")
        listed = keys >= 0
        if listed[:, 0].any() or (np.diff(listed[:, 1:].astype(int)) > 0).any():
            raise TacitError("its cells have gaps")
        for own, there, known in zip(keys, listed, states, strict=True):
            h, s = np.divmod(own[there], STEP)
            if (h >= self._horizon).any() or (s >= known).any() or len(np.unique(own[there])) != there.sum():
                raise TacitError("it has a cell that no agent can have met")
        self.enter_all(keys)
        fresh = {"keys": keys, **pack(self.written)}
        check_names(arrays, set(fresh))
        check_alike(arrays, fresh, most=max(most, keys.shape[1]))


def pad(start: FloatArray, states: int) -> FloatArray:
    """Return a starting policy [H or 1, S, A] of more states, even in the new ones."""
    steps, before, actions = start.shape
    if before >= states:
        return start
    return np.concatenate([start, np.full((steps, states - before, actions), 1.0 / actions)], axis=1)
