"""The curve of a run: what happened in each window of episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.types import FloatArray
from tacit.play.checkpoint import Arrays

#: Named measures; those with one number for each agent become a column for each.
Measures = Mapping[str, FloatArray | float]


#: Bytes that a row of the curve takes while the run goes on, and each of its columns.
_PER_ROW, _PER_COLUMN = 300, 100


class Windows:
    """Collects returns, and closes a row of the curve at the end of each window."""

    def __init__(self, episodes: int, points: int, agents: int) -> None:
        self.done = 0
        self.agents = agents
        rows = min(points, episodes)
        memory.require(rows * (_PER_ROW + _PER_COLUMN * (6 + 3 * agents)), f"a curve of {rows:,} points")
        edges = np.linspace(0, episodes, rows + 1).round().astype(int)
        self._edges: list[int] = np.unique(edges)[:0:-1].tolist()  # the next one last
        self.last_edge = episodes
        self._tail_from = episodes - max(1, episodes // 10)
        self._tail, self._tail_count = np.zeros(agents), 0
        self._sum, self._count = np.zeros(agents), 0
        self._rows: list[dict[str, float]] = []

    @property
    def open(self) -> bool:
        """Whether the current window has any episodes."""
        return self._count > 0

    @property
    def full(self) -> bool:
        """Whether the current window has all its episodes."""
        return self.done == self._edges[-1]

    def next_chunk(self, most: int) -> int:
        """Return how many episodes to play next: at most `most`, and not beyond the window."""
        return min(most, self._edges[-1] - self.done)

    def add(self, returns: FloatArray) -> None:
        """Take in the returns [episodes, N] of the next episodes."""
        last = returns[max(0, self._tail_from - self.done) :]
        self._tail += last.sum(axis=0)
        self._tail_count += len(last)
        self._sum += returns.sum(axis=0)
        self._count += len(returns)
        self.done += len(returns)

    def close(self, measures: Measures) -> None:
        """End the window with what was reached: `value` [N], `gap` [N], and more."""
        reward = self._sum / self._count
        value, gap = np.asarray(measures["value"]), np.asarray(measures["gap"])
        row = {"episode": float(self.done), "reward": reward[0], "value": value[0], "gap": gap.max()}
        for name, measure in {"reward": reward, **measures}.items():
            if isinstance(measure, np.ndarray):
                row |= {f"{name}_{i}": measure[i] for i in range(self.agents)}
            else:
                row[name] = measure
        self._rows.append(row)
        self._drop_passed()
        self._sum, self._count = np.zeros(self.agents), 0

    def _drop_passed(self) -> None:
        while self._edges and self._edges[-1] <= self.done:
            self._edges.pop()

    def last_tenth(self) -> FloatArray:
        """Return the mean returns [N] over the last tenth of the episodes; of the last window if it was not reached."""
        if self._tail_count:
            return self._tail / self._tail_count
        return np.array([self._rows[-1][f"reward_{i}"] for i in range(self.agents)])

    def snapshot(self) -> Arrays:
        """Return the rows and the sums of the open window."""
        return {
            "done": np.array(self.done),
            "tail": self._tail,
            "tail_count": np.array(self._tail_count),
            "sum": self._sum,
            "count": np.array(self._count),
            "columns": np.array(list(self._rows[0]) if self._rows else [], dtype=str),
            "rows": np.array([list(row.values()) for row in self._rows]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        self.done = int(arrays["done"])
        self._drop_passed()
        self._tail, self._tail_count = arrays["tail"], int(arrays["tail_count"])
        self._sum, self._count = arrays["sum"], int(arrays["count"])
        columns = arrays["columns"].tolist()
        self._rows = [dict(zip(columns, row, strict=True)) for row in arrays["rows"].tolist()]

    def table(self) -> npt.NDArray[Any]:
        """Return the curve as a structured array."""
        kinds = [(name, "i8" if name == "episode" else "f8") for name in self._rows[0]]
        return np.array([tuple(row.values()) for row in self._rows], dtype=kinds)
