"""Expected rewards of entries that name a next state or an observation: P(s' | s, a) O(o | a, s') r."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp.labels import Selection
from tacit.games.dpomdp.table import Distributions

#: In the place of an observation: whichever is made.
ANY = -1

#: Expectations that are computed at once, and bytes for each.
_BATCH = 65_536
_PER_TERM = 96


class Expectations:
    """The expectation of a reward, once T and O are known."""

    def __init__(self, transitions: Distributions, observations: Distributions | None, joints: int) -> None:
        self._row = transitions.row
        self._moves = transitions
        self._move = _Lookup(transitions)
        self._made = None if observations is None else _Lookup(observations)
        self._joints = joints
        self._into = np.argsort(transitions.column, kind="stable")  # transitions in the order of where they lead
        self._into_first = np.searchsorted(transitions.column[self._into], np.arange(len(transitions.first)))

    def single(self, row: IntArray, s_next: IntArray, observation: IntArray, reward: FloatArray) -> FloatArray:
        """Return the expectation of each of many rewards [m]."""
        named = observation != ANY
        expected: FloatArray = reward * self._move.find(row, s_next)
        if named.any():
            expected[named] *= self._observed(row[named], s_next[named], observation[named])
        return expected

    def several(
        self, state: Selection, joint: Selection, s_next: Selection, observation: Selection, reward: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Give rows and their expectations, of one reward for many rows, next states or observations.

        `reward` is one number, or [observations], or [S, observations]. A row may come several times: add up.
        """
        found = self._leading_to(s_next, state, joint) if isinstance(s_next, int) else self._leaving(state, joint)
        observations = np.atleast_1d(observation)
        if len(observations) > _BATCH:
            memory.require(_PER_TERM * len(observations), f"expectations over {len(observations)} joint observations")
        step = max(1, _BATCH // len(observations))
        for begin in range(0, len(found), step):
            some = found[begin : begin + step]
            row, to = self._row[some], self._moves.column[some]
            given = reward[to] if reward.ndim == 2 else reward
            if isinstance(observation, np.ndarray) or observation != ANY:
                given = (given * self._observed(row[:, None], to[:, None], observations)).sum(axis=1)
            yield row, self._moves.value[some] * given

    def _observed(self, row: IntArray, s_next: IntArray, observation: IntArray) -> FloatArray:
        """Return the probability of each observation on reaching each next state."""
        assert self._made is not None, "rewards that depend on observations are refused where there is no O"
        return self._made.find(s_next * self._joints + row % self._joints, observation)

    def _leading_to(self, s_next: int, state: Selection, joint: Selection) -> IntArray:
        """Return which transitions lead there by one of these joint actions, from this state or from any."""
        found = self._into[self._into_first[s_next] : self._into_first[s_next + 1]]
        taken = np.zeros(self._joints, dtype=bool)
        taken[joint] = True
        keep = taken[self._row[found] % self._joints]
        if isinstance(state, int):
            keep &= self._row[found] // self._joints == state
        return found[keep]

    def _leaving(self, state: Selection, joint: Selection) -> IntArray:
        """Return which transitions leave these states by these joint actions."""
        rows = np.add.outer(np.multiply(state, self._joints), joint).ravel()
        begin = self._moves.first[rows]
        count = self._moves.first[rows + 1] - begin
        before = np.cumsum(count) - count
        return np.repeat(begin - before, count) + np.arange(count.sum())


class _Lookup:
    """The probabilities of distributions by row and column."""

    def __init__(self, given: Distributions) -> None:
        self._columns, rank = np.unique(given.column, return_inverse=True)
        self._keys = given.row * len(self._columns) + rank  # ascending
        self._value = given.value

    def find(self, row: IntArray, column: IntArray) -> FloatArray:
        """Return the probability at each row and column; the two are broadcast."""
        rank = np.minimum(np.searchsorted(self._columns, column), len(self._columns) - 1)
        key = row * len(self._columns) + rank
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where((self._columns[rank] == column) & (self._keys[at] == key), self._value[at], 0.0)
