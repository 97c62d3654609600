"""The transition function as lists of successors: only next states with positive probability are kept."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core.types import FloatArray, IntArray


class Successors(NamedTuple):
    """Compressed sparse rows; row (h·S + s)·J + joint, with joint row-major, last agent fastest.

    Attributes
    ----------
    first : int array [rows + 1]
        Where each row begins in the other two arrays.
    state : int array
        The next states of all rows, row after row.
    prob : float array
        Their probabilities.

    Examples
    --------
    >>> import tacit
    >>> found = tacit.make("good-state", horizon=1).successors
    >>> found.state[found.first[0] : found.first[1]].tolist()
    [0, 1]
    """

    first: IntArray  # [rows + 1]  where each row begins
    state: npt.NDArray[np.int32]  # [entries]  next state
    prob: FloatArray  # [entries]  its probability, > 0

    @property
    def rows(self) -> int:
        """Number of (h, s, joint action) triples."""
        return len(self.first) - 1


def from_dense(transitions: FloatArray) -> Successors:
    """Keep the positive entries of an array [..., S].

    >>> from_dense(np.array([[0.0, 1.0], [0.25, 0.75]])).state
    array([1, 0, 1], dtype=int32)
    """
    rows = transitions.reshape(-1, transitions.shape[-1])
    positive = rows > 0
    first = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum(positive.sum(axis=1), out=first[1:])
    return Successors(first, np.nonzero(positive)[1].astype(np.int32), rows[positive])


def from_entries(row: npt.ArrayLike, state: npt.ArrayLike, prob: npt.ArrayLike, rows: int) -> Successors:
    """Gather (row, next state, probability) triples in any order; repeated pairs add up, zeros are dropped."""
    row, state, prob = np.asarray(row, np.int64), np.asarray(state, np.int32), np.asarray(prob, np.float64)
    order = np.lexsort((state, row))
    row, state, prob = row[order], state[order], prob[order]
    fresh = np.ones(len(row), dtype=bool)
    fresh[1:] = (row[1:] != row[:-1]) | (state[1:] != state[:-1])
    starts = np.flatnonzero(fresh)
    summed = np.add.reduceat(prob, starts) if len(prob) else prob
    row, state = row[starts], state[starts]
    keep = summed != 0
    first = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(row[keep], minlength=rows), out=first[1:])
    return Successors(first, state[keep], summed[keep])


def to_dense(successors: Successors, shape: tuple[int, ...]) -> FloatArray:
    """Write the lists into an array of zeros of this shape."""
    dense = np.zeros((successors.rows, shape[-1]))
    row = np.repeat(np.arange(successors.rows), np.diff(successors.first))
    dense[row, successors.state] = successors.prob
    return dense.reshape(shape)
