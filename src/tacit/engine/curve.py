"""The curve of a run: what was earned in each window of episodes, and what was reached at its end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine import loop
from tacit.engine.checkpoint import Arrays

#: What every row of a curve begins with.
FIRST_COLUMNS = ["episode", "reward", "value", "gap"]

#: What can end a run; see `Run.ended`.
ENDS = ("episodes", "gap", "seconds", "tolerance", "still", "memory", "interrupted")

#: The column of words: "" in all rows but the last, which says what ended the run. Runs with a gap or a time at which
#: they are to stop have it.
ENDED = "ended"

#: Episodes in the first windows of a run that may stop early, where windows grow.
_FIRST_WINDOW = 10

#: Rows above which a compiled sum is quicker.
_MANY_ROWS = 1000

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
    stops : bool
        Whether the run may stop early: nobody knows when, so windows grow, and the last row says what ended it.
    """

    def __init__(self, episodes: int, points: int, agents: int, *, stops: bool = False) -> None:
        self.episodes, self.done, self.stops = episodes, 0, stops
        self.rows: list[dict[str, Any]] = []
        self._agents = agents
        rows = _growing_rows(episodes, points) if stops else min(points, episodes)
        columns = 6 + 3 * min(agents, MOST_COLUMNS)
        memory.require(rows * (_PER_ROW + _PER_COLUMN * columns), f"a curve of {rows:,} points")
        if stops:
            edges = _growing(episodes, points)
        else:
            edges = np.unique(np.linspace(0, episodes, rows + 1).round().astype(int))[1:].tolist()
        self._edges = edges[::-1]  # the next one last
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

    def next_chunk(self, most: int, until: int | None, *, row: bool = True) -> int:
        """Return how many episodes to play next: at most `most`, nor beyond episode `until`.

        Where a row is wanted at its end, nor beyond the window.
        """
        edge = self._edges[-1] if row else self.episodes
        return min(most, (edge if until is None else min(edge, until)) - self.done)

    def add(self, returns: FloatArray) -> None:
        """Take in the returns [episodes, N] of the next episodes."""
        last = returns[max(0, self._tail_from - self.done) :]
        if len(last):
            self._tail = _add_up(self._tail, last)
            self._tail_count += len(last)
        self._sum = _add_up(self._sum, returns)
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
        if self.rows:  # what was not measured this time
            row = {name: row.get(name, math.nan) for name in self.rows[0] if name != ENDED}
        self.rows.append({name: float(number) for name, number in row.items()})
        if self.stops:
            self.rows[-1][ENDED] = ""
        self.widen()
        self._sum, self._count = np.zeros(self._agents), 0
        return self.rows[-1]

    def last_row(self, ended: str) -> dict[str, Any]:
        """Return the last row, with what ended the run where the curve has a column for it."""
        if self.stops:
            self.rows[-1][ENDED] = ended
        return self.rows[-1]

    def widen(self) -> None:
        """Let the current window go on to the next end that has not been passed."""
        while self._edges and self._edges[-1] <= self.done:
            self._edges.pop()

    def last_tenth(self) -> FloatArray:
        """Return the mean returns [N] over the last tenth of the episodes.

        Of a run that ended early that is over the fewest last windows that have a tenth of its episodes; with very many
        agents, over the last window.
        """
        if self.done == self.episodes:
            return self._tail / self._tail_count
        if self._agents > MOST_COLUMNS:  # rows do not have each agent's
            return self._last
        total, begin = np.zeros(self._agents), self.done
        for k in range(len(self.rows) - 1, -1, -1):
            end, begin = begin, int(self.rows[k - 1]["episode"]) if k > 0 else 0
            total += (end - begin) * np.array([self.rows[k][f"reward_{i}"] for i in range(self._agents)])
            if 10 * (self.done - begin) >= self.done:
                break
        mean: FloatArray = total / (self.done - begin)
        return mean

    def snapshot(self) -> Arrays:
        """Return the rows and the sums of the open window."""
        return {
            "done": np.array(self.done),
            "tail": self._tail.copy(),
            "tail_count": np.array(self._tail_count),
            "sum": self._sum.copy(),
            "count": np.array(self._count),
            "last": self._last,
            "columns": np.array([name for name in self.rows[0] if name != ENDED] if self.rows else [], dtype=str),
            "rows": np.array([[x for name, x in row.items() if name != ENDED] for row in self.rows]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        self.done = int(arrays["done"])
        if self.done > self.episodes:
            raise TacitError(f"it is of {self.done} episodes, and this run has {self.episodes}")
        self.widen()
        self._tail, self._tail_count = arrays["tail"].copy(), int(arrays["tail_count"])
        self._sum, self._count = arrays["sum"].copy(), int(arrays["count"])
        self._last = arrays["last"]
        columns = arrays["columns"].tolist()
        more = {ENDED: ""} if self.stops else {}  # it had not ended
        self.rows = [{**dict(zip(columns, row, strict=True)), **more} for row in arrays["rows"].tolist()]

    def table(self) -> npt.NDArray[Any]:
        """Return the curve as a structured array."""
        return table(self.rows)


def _add_up(total: FloatArray, returns: FloatArray) -> FloatArray:
    """Add returns [episodes, N] to `total` [N] one after the other: the sum does not depend on how a run is cut."""
    if len(returns) > _MANY_ROWS:
        summed = total.copy()
        compile_loop(loop.add_rows)(summed, returns)
        return summed
    sums = np.empty((len(total), 1 + len(returns)))
    sums[:, 0], sums[:, 1:] = total, returns.T
    last: FloatArray = np.add.accumulate(sums, axis=1, out=sums)[:, -1].copy()
    return last


def _growing(episodes: int, points: int) -> list[int]:
    """Return the ends of windows that grow: each comes 10/points later than the one before.

    >>> _growing(150, 100)
    [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 121, 133, 146, 150]
    """
    ends = [min(_FIRST_WINDOW, episodes)]
    while ends[-1] < episodes:
        ends.append(min(ends[-1] + max(_FIRST_WINDOW, 10 * ends[-1] // points), episodes))
    return ends


def _growing_rows(episodes: int, points: int) -> int:
    """Return at least as many rows as `_growing` has, without making them."""
    short, factor = min(points, episodes // _FIRST_WINDOW + 1), 10 / points
    return 2 + short + int(max(0.0, math.log(max(episodes / points, 1.0))) / math.log1p(factor / 2))


def table(rows: list[dict[str, Any]]) -> npt.NDArray[Any]:
    """Return rows with the same columns as a structured array.

    >>> table([{"episode": 10.0, "reward": 0.5}])["episode"]
    array([10])
    """
    words = {"episode": "i8", ENDED: f"U{max(map(len, ENDS))}"}
    kinds = [(name, words.get(name, "f8")) for name in rows[0]]
    return np.array([tuple(row.values()) for row in rows], dtype=kinds)
