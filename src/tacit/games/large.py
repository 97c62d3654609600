"""Large dense tables times vectors, compiled: as fast as BLAS on one thread, and the same bits on every machine."""

from __future__ import annotations

import numba
import numpy as np

from tacit.core.compilation import compiled
from tacit.core.types import FloatArray

#: Vectors that go through the table together: their sums stay in registers.
LANES = 8


def product(values: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return values [m, S] times matrix [rows, S] transposed, each sum in the order of the states."""
    ahead = np.zeros((len(values), len(matrix)))
    if numba.config.DISABLE_JIT:  # the same sums, state by state
        for s in range(matrix.shape[1]):
            ahead += values[:, s, None] * matrix[:, s]
        return ahead
    for begin in range(0, len(values), LANES):
        some = values[begin : begin + LANES]
        lanes = np.zeros((matrix.shape[1], LANES))
        lanes[:, : len(some)] = some.T
        compiled(multiply)(lanes, matrix, np.empty(LANES), ahead[begin : begin + LANES])
    return ahead


def multiply(lanes, matrix, sums, out):
    """Write matrix [rows, S] times lanes [S, 8] into out [m, rows], m ≤ 8."""
    for r in range(len(matrix)):
        row = matrix[r]
        a = b = c = d = e = f = g = h = 0.0
        for s in range(len(lanes)):
            p, v = row[s], lanes[s]
            a += p * v[0]
            b += p * v[1]
            c += p * v[2]
            d += p * v[3]
            e += p * v[4]
            f += p * v[5]
            g += p * v[6]
            h += p * v[7]
        sums[0], sums[1], sums[2], sums[3], sums[4], sums[5], sums[6], sums[7] = a, b, c, d, e, f, g, h
        for k in range(len(out)):
            out[k, r] = sums[k]
