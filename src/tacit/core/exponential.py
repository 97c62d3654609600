"""The exponential function, written out.

Kernels of bandits call it once a step and agent. The C library's is a call that the compiler cannot look into (a third
of the loop's time), and its last digit differs from library to library. This one is inlined, and gives the same bits on
every machine, compiled or interpreted.

    x = k·(ln 2)/64 + r,  |r| ≤ (ln 2)/128:   exp(x) = 2^⌊k/64⌋ · 2^{(k mod 64)/64} · exp(r),  exp(r) by its series.

[Tang 1989] The error is below 1.25 units in the last place. Below −708, where results would lose digits, it is 0, and
above 708 infinite.
"""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np

from tacit.core import generics

#: 2^{j/64}, as the bits of floats. Rounded from 28 digits, since a library's exp2 may differ in the last one.
_POWERS = np.array([float(Decimal(2) ** (Decimal(j) / 64)) for j in range(64)]).view(np.int64)

#: 64/ln 2
_INVERSE = float.fromhex("0x1.71547652b82fep+6")

#: (ln 2)/64 in two parts, of which the first has so few digits that k times it is exact.
_HIGH, _LOW = float.fromhex("0x1.62e42feep-7"), float.fromhex("0x1.a39ef35793c76p-39")

_MOST = 708.0


@generics.jitable
def exp(x):
    """Return e to the power of x.

    >>> float(exp(1.0)), exp(-1000.0)
    (2.718281828459045, 0.0)
    """
    if not abs(x) < _MOST:
        return 0.0 if x < 0.0 else x * math.inf  # nan for nan
    whole = np.floor(x * _INVERSE + 0.5)
    r = (x - whole * _HIGH) - whole * _LOW
    square = r * r
    series = (r + square * (1 / 2 + r * (1 / 6))) + square * square * (1 / 24 + r * (1 / 120))
    k = int(whole)
    power = np.int64(_POWERS[k & 63] + ((k >> 6) << 52)).view(np.float64)
    return power + power * series
