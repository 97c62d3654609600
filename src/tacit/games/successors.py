"""The transition function as lists of successors, and drawing from them by inverse-transform sampling.

Only next states with positive probability are kept.
"""

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


def cumulate_rows(prob: FloatArray, first: IntArray) -> FloatArray:
    """Return the running sums of `prob` within each row [first[k], first[k+1]).

    The last entry of a row is exactly 1, so that rounding never draws past its end. Sums run within the row alone,
    one vectorised pass for each place in a row, since a sum over the whole array would lose digits.
    """
    cumulative = prob.copy()
    begin, length = first[:-1], np.diff(first)
    for place in range(1, int(length.max(initial=0))):
        begin, length = begin[length > place], length[length > place]
        cumulative[begin + place] += cumulative[begin + place - 1]
    cumulative[first[1:] - 1] = 1.0
    return cumulative


def pick(cumulative: FloatArray, first: int, end: int, u: float) -> int:
    """Return the smallest k in [first, end) with u < cumulative[k], for u in [0, 1).

    A binary search: a draw costs the logarithm of the number of successors, never the number of states. Its last step
    is no branch, since where a draw ends cannot be predicted.
    """
    last = end - 1
    while first + 1 < last:
        middle = (first + last) // 2
        if u < cumulative[middle]:
            last = middle
        else:
            first = middle + 1
    if first < last:
        first += 0 if u < cumulative[first] else 1
    return first
