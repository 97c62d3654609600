"""Euclidean projection onto the probability simplex."""

from __future__ import annotations

import numpy as np

from tacit.core.types import FloatArray


def project(x: FloatArray, n: int) -> None:
    """Project the first n entries of x onto the simplex, in place.

    The projection is max(x − τ, 0) for the τ that makes it sum to 1. τ is found by Michelot's method: the mean excess
    of the entries above τ, until their number no longer changes; at most n passes, and no sorting. The largest entry
    is taken off first, which changes nothing but keeps the digits of large entries.
    """
    top = x[0]
    for a in range(1, n):
        top = max(top, x[a])
    total = 0.0
    for a in range(n):
        x[a] -= top
        total += x[a]
    tau = (total - 1.0) / n
    above = n
    while True:
        total = 0.0
        count = 0
        for a in range(n):
            if x[a] > tau:
                total += x[a]
                count += 1
        if count == 0 or count >= above:  # "more than before" is rounding, at a tie with τ
            break
        above = count
        tau = (total - 1.0) / count
    for a in range(n):
        x[a] = max(x[a] - tau, 0.0)


def project_each(x: FloatArray) -> FloatArray:
    """Project along the last axis, for arrays of any shape.

    >>> project_each(np.array([0.5, 0.9, -1.0]))
    array([0.3, 0.7, 0. ])
    """
    x = x - x.max(axis=-1, keepdims=True)
    ordered = -np.sort(-x, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1.0) / np.arange(1, x.shape[-1] + 1)
    last = (ordered > excess).sum(axis=-1, keepdims=True) - 1
    tau = np.take_along_axis(excess, last, axis=-1)
    result: FloatArray = np.maximum(x - tau, 0.0)
    return result
