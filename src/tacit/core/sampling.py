"""Inverse-transform sampling from rows of cumulative probabilities."""

from __future__ import annotations

import numpy as np

from tacit.core.types import FloatArray, IntArray


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
