"""The curve of a run: what happened in each window of episodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.types import FloatArray


class Windows:
    """Collects returns, and closes a row of the curve at the end of each window."""

    def __init__(self, episodes: int, points: int, agents: int) -> None:
        self.done = 0
        self.agents = agents
        edges = np.linspace(0, episodes, min(points, episodes) + 1).round().astype(int)
        self._edges = np.unique(edges)[1:].tolist()
        self._tail_from = episodes - max(1, episodes // 10)
        self._tail, self._tail_count = np.zeros(agents), 0
        self._sum, self._count = np.zeros(agents), 0
        self._rows: list[tuple[float, ...]] = []

    @property
    def open(self) -> bool:
        """Whether the current window has any episodes."""
        return self._count > 0

    @property
    def full(self) -> bool:
        """Whether the current window has all its episodes."""
        return bool(self.done == self._edges[0])

    def next_chunk(self, most: int) -> int:
        """Return how many episodes to play next: at most `most`, and not beyond the window."""
        return int(min(most, self._edges[0] - self.done))

    def add(self, returns: FloatArray) -> None:
        """Take in the returns [episodes, N] of the next episodes."""
        last = returns[max(0, self._tail_from - self.done) :]
        self._tail += last.sum(axis=0)
        self._tail_count += len(last)
        self._sum += returns.sum(axis=0)
        self._count += len(returns)
        self.done += len(returns)

    def close(self, measures: tuple[FloatArray, FloatArray]) -> None:
        """End the window with the values [N] and gaps [N] that were reached."""
        values, gaps = measures
        reward = self._sum / self._count
        self._rows.append((self.done, reward[0], values[0], gaps.max(), *reward, *values, *gaps))
        self._edges = [edge for edge in self._edges if edge > self.done]
        self._sum, self._count = np.zeros(self.agents), 0

    def last_tenth(self) -> FloatArray:
        """Return the mean returns [N] over the last tenth of the episodes; of the last window if it was not reached."""
        if self._tail_count:
            return self._tail / self._tail_count
        return np.array([self._rows[-1][4 + i] for i in range(self.agents)])

    def table(self) -> npt.NDArray[Any]:
        """Return the curve as a structured array."""
        names = ["episode", "reward", "value", "gap"]
        names += [f"{what}_{i}" for what in ("reward", "value", "gap") for i in range(self.agents)]
        return np.array(self._rows, dtype=[(name, "i8" if name == "episode" else "f8") for name in names])
