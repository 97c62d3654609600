"""The cells of agents in an environment, made as they are met: one for each step and state that an agent has been in.

A learner that remembers by step looks at `cells[h, s, i]` and `cells[h + 1, s', i]` and nowhere else. So its arrays
[steps, states, agents] can be views of arrays [rows, agents] that are the same at every step, a stride of 0, where a
state comes as the number of its row. Row 0 is what follows the last step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import generics, memory, records
from tacit.core.compilation import compile_loop
from tacit.core.types import FloatArray, IntArray
from tacit.engine.checkpoint import Arrays, pack, unpack
from tacit.engine.fused import read_distributions, to_distributions
from tacit.learners import Learner, World

#: A key is h·STEP + s.
STEP = 1 << 32

#: No row has a larger number.
_MOST = 2**31 - 1


def read_cells(learner, recent, keys, out):
    """Write each agent's distributions at the cells with these keys [N, rows], −1 for none, into `out` [N, H, S, A]."""
    for i in range(len(out)):
        for row in range(keys.shape[1]):
            h, s = keys[i, row] // STEP, keys[i, row] % STEP
            if keys[i, row] >= 0 and s < out.shape[2]:
                if recent:
                    generics.average_policy(learner, i, h, row, out[i, h, s])
                else:
                    generics.policy(learner, i, h, row, out[i, h, s])


class Pool:
    """A learner's state whose cells are made as they are met; agents that have a starting policy begin there.

    Attributes
    ----------
    state : NamedTuple
        The learner's, with views of the rows.
    rows : list of N dicts
        Each agent's rows by key.
    """

    def __init__(self, learner: Learner, world: World, *, most: int = _MOST) -> None:
        started = max((array.shape[1] for array in world.start if array is not None), default=0)
        start = tuple(None if array is None else pad(array, started + 1) for array in world.start)
        self._horizon, self._known = world.horizon, started
        self._fresh: Any = generics.seal(learner.init(world._replace(states=started + 1, start=start, places=most)))
        self._initial = {path: array for path, array in records.parts(self._fresh) if array.ndim == 3}
        self._arrays = {path: np.zeros((1, world.agents), array.dtype) for path, array in self._initial.items()}
        for path, array in self._initial.items():
            if len(array) > world.horizon:
                self._arrays[path][0] = array[-1, 0]
        self.rows: list[dict[int, int]] = [{} for _ in range(world.agents)]
        self.state: Any = self._fresh
        self.reserve(world.horizon)

    @property
    def size(self) -> int:
        """Bytes of one row of all agents, and of what finds it."""
        return sum(int(array[0].nbytes) for array in self._arrays.values()) + 100 * len(self.rows)

    @property
    def used(self) -> int:
        """Rows in use, of the agent that has the most."""
        return 1 + max(map(len, self.rows))

    def reserve(self, more: int) -> bool:
        """See that every agent can meet so many more cells; return whether arrays had to be replaced for it."""
        used, capacity = self.used, len(next(iter(self._arrays.values())))
        if used + more <= capacity:
            return False
        wider = max(used + more, 2 * capacity)
        memory.require(self.size * wider, "a larger copy of what the agents have learned")
        for path, before in self._arrays.items():
            self._arrays[path] = np.zeros((wider, *before.shape[1:]), before.dtype)
            self._arrays[path][:used] = before[:used]
        self.state = records.replace(self.state, self._view)
        return True

    def _view(self, path: str, array: Any) -> Any:
        """Return rows [steps, rows, agents], the same at every step, in place of an array of the learner's."""
        if path not in self._arrays:
            return array
        rows = self._arrays[path]
        return np.ndarray((len(array), *rows.shape), rows.dtype, rows, 0, (0, *rows.strides))

    def enter(self, i: int, h: int, s: int) -> int:
        """Return the row of agent i's cell at (h, s), which is made where there is none."""
        key = h * STEP + s
        row = self.rows[i].get(key)
        if row is None:
            row = self.rows[i][key] = len(self.rows[i]) + 1
            for path, array in self._initial.items():
                self._arrays[path][row, i] = array[h, min(s, self._known), i]
        return row

    def enter_all(self, keys: IntArray) -> None:
        """Make the cells of these keys [N, n], −1 for none, in their order."""
        self.reserve(keys.shape[1])
        for i, row in enumerate(keys.tolist()):
            for key in row:
                if key >= 0:
                    self.enter(i, key // STEP, key % STEP)

    @property
    def keys(self) -> IntArray:
        """The keys of all rows in use [N, used], −1 for none."""
        keys = np.full((len(self.rows), self.used), -1)
        for column, rows in zip(keys, self.rows, strict=True):
            column[1 : 1 + len(rows)] = list(rows)
        return keys

    @property
    def _written(self) -> Any:
        """The learner's state with the rows in use alone, once instead of at every step."""
        return records.replace(
            self.state, lambda path, array: array[:1, : self.used] if path in self._arrays else array
        )

    def snapshot(self) -> Arrays:
        """Return the keys of all rows in use, and what is remembered there."""
        return {"keys": self.keys, **pack(self._written)}

    def restore(self, arrays: Arrays) -> None:
        """Take a snapshot into a pool in which nothing is met."""
        self.enter_all(arrays["keys"])
        unpack(self._written, arrays)

    def distributions(self, world: World, states: int, *, recent: bool) -> list[FloatArray]:
        """Return each agent's policy at the first so many states, [H, states, A_i]."""
        initial = read_distributions(self._fresh, world, self._known + 1, recent=recent)
        shape = (world.agents, world.horizon, states, int(world.actions.max()))
        table = memory.zeros(shape, "the last iterate")
        for policy, before in zip(table, initial, strict=True):  # as it was where nothing is met
            policy[:, :, : before.shape[2]] = before[:, -1:]
            policy[:, : before.shape[1], : before.shape[2]] = before[:, :states]
        compile_loop(read_cells, self.state)(self.state, recent, self.keys, table)
        return to_distributions(table, world)


def pad(start: FloatArray, states: int) -> FloatArray:
    """Return a starting policy [H or 1, S, A] of more states, uniform in the new ones."""
    steps, before, actions = start.shape
    if before >= states:
        return start
    return np.concatenate([start, np.full((steps, states - before, actions), 1.0 / actions)], axis=1)
