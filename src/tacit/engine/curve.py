"""The curve of a run: what was earned in each window of episodes, and what was reached at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.validation import Arrays, check_equal, check_names, checked, whole_number

#: What every row of a curve begins with.
FIRST_COLUMNS = ["episode", "reward", "value", "gap"]

#: Named measures; those with one number for each agent become a column for each.
Measures = Mapping[str, FloatArray | float]


#: Up to this many agents every one has columns of its own.
MOST_COLUMNS = 64

#: Bytes that a row of the curve takes while the run goes on, and each of its columns.
_PER_ROW, _PER_COLUMN = 300, 100


class Curve:
    """Collects returns, and closes a row at the end of each window.

    Attributes
    ----------
    episodes : int
        How many there are to be.
    done : int
        How many there were.
    rows : list of dict
        The rows so far.
    """

    def __init__(self, episodes: int, points: int, agents: int) -> None:
        self.episodes, self.done = episodes, 0
        self.rows: list[dict[str, float]] = []
        self._agents = agents
        rows = min(points, episodes)
        memory.require(
            rows * (_PER_ROW + _PER_COLUMN * (6 + 3 * min(agents, MOST_COLUMNS))), f"a curve of {rows:,} points"
        )
        edges = np.linspace(0, episodes, rows + 1).round().astype(int)
        self._edges: list[int] = np.unique(edges)[:0:-1].tolist()  # the next one last
        self._tail_from = episodes - max(1, episodes // 10)
        self._tail, self._tail_count = np.zeros(agents), 0
        self._sum, self._count = np.zeros(agents), 0
        self._last = np.zeros(agents)  # mean returns of the window that was closed last

    @property
    def open(self) -> bool:
        """Whether the current window has any episodes."""
        return self._count > 0

    @property
    def full(self) -> bool:
        """Whether the current window has all its episodes."""
        return self.done == self._edges[-1]

    def next_chunk(self, most: int, until: int | None) -> int:
        """Return how many episodes to play next: at most `most`, not beyond the window, nor beyond episode `until`."""
        edge = self._edges[-1] if until is None else min(self._edges[-1], until)
        return min(most, edge - self.done)

    def add(self, returns: FloatArray) -> None:
        """Take in the returns [episodes, N] of the next episodes."""
        last = returns[max(0, self._tail_from - self.done) :]
        self._tail = _added(self._tail, last)
        self._tail_count += len(last)
        self._sum = _added(self._sum, returns)
        self._count += len(returns)
        self.done += len(returns)

    def close(self, measures: Measures) -> dict[str, float]:
        """End the window with what was reached: `value` [N], `gap` [N], and more. Return the new row."""
        reward = self._last = self._sum / self._count
        value, gap = np.asarray(measures["value"]), np.asarray(measures["gap"])
        row = {"episode": self.done, "reward": reward[0], "value": value[0], "gap": gap.max()}
        for name, measure in {"reward": reward, **measures}.items():
            if isinstance(measure, np.ndarray):
                if self._agents > MOST_COLUMNS:
                    continue
                row |= {f"{name}_{i}": measure[i] for i in range(self._agents)}
            else:
                row[name] = measure
        self.rows.append({name: float(number) for name, number in row.items()})
        self._drop_passed()
        self._sum, self._count = np.zeros(self._agents), 0
        return self.rows[-1]

    def _drop_passed(self) -> None:
        while self._edges and self._edges[-1] <= self.done:
            self._edges.pop()

    def last_tenth(self) -> FloatArray:
        """Return the mean returns [N] over the last tenth of the episodes; of the last window if it was not reached."""
        if self._tail_count:
            return self._tail / self._tail_count
        return self._last

    def snapshot(self) -> Arrays:
        """Return the rows and the sums of the open window."""
        return {
            "done": np.array(self.done),
            "tail": self._tail,
            "tail_count": np.array(self._tail_count),
            "sum": self._sum,
            "count": np.array(self._count),
            "last": self._last,
            "columns": np.array(list(self.rows[0]) if self.rows else [], dtype=str),
            "rows": np.array([list(row.values()) for row in self.rows]),
        }

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this curve after that many episodes."""
        check_names(arrays, set(self.snapshot()))
        whole_number(arrays, "done", most=self.episodes)
        closed = [edge for edge in reversed(self._edges) if edge <= done]
        check_equal(arrays, "tail_count", max(0, done - self._tail_from))
        check_equal(arrays, "count", done - (closed[-1] if closed else 0))
        for name in ("tail", "sum", "last"):
            if not np.isfinite(checked(arrays, name, np.float64, (self._agents,))).all():
                raise TacitError(f"its array {name!r} has entries that are no finite numbers")
        columns = arrays["columns"].tolist()
        shape = (len(closed), len(columns)) if closed else (0,)
        rows = checked(arrays, "rows", np.float64, shape)
        named = arrays["columns"].dtype.kind == "U" and len(set(columns)) == len(columns)
        if closed and (not named or columns[:4] != FIRST_COLUMNS or rows[:, 0].tolist() != closed):
            raise TacitError("its curve is not of these episodes")

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        self.done = int(arrays["done"])
        self._drop_passed()
        self._tail, self._tail_count = arrays["tail"], int(arrays["tail_count"])
        self._sum, self._count = arrays["sum"], int(arrays["count"])
        self._last = arrays["last"]
        columns = arrays["columns"].tolist()
        self.rows = [dict(zip(columns, row, strict=True)) for row in arrays["rows"].tolist()]

    def table(self) -> npt.NDArray[Any]:
        """Return the curve as a structured array."""
        return table(self.rows)


def _added(total: FloatArray, returns: FloatArray) -> FloatArray:
    """Add returns one after the other, so that the sum does not depend on how episodes are cut into chunks."""
    last: FloatArray = np.cumsum(np.concatenate([total[None], returns]), axis=0)[-1]
    return last


def table(rows: list[dict[str, float]]) -> npt.NDArray[Any]:
    """Return rows with the same columns as a structured array.

    >>> table([{"episode": 10.0, "reward": 0.5}])["episode"]
    array([10])
    """
    kinds = [(name, "i8" if name == "episode" else "f8") for name in rows[0]]
    return np.array([tuple(row.values()) for row in rows], dtype=kinds)
