"""exp, log and pow with the same bits everywhere, and the simplex.

Kernels must not call the C library's or NumPy's: their last digit differs from library to library, and NumPy's from
processor to processor (AVX-512 has its own). Additions, multiplications, divisions and square roots are rounded alike
everywhere, so all is made of those; compiled code never joins a product and a sum, since nobody allows it to. `exp` is
called once a step and agent, and is inlined: a call to the C library took a third of the loop.

    x = k·(ln 2)/64 + r,  |r| ≤ (ln 2)/128:   exp(x) = 2^⌊k/64⌋ · 2^{(k mod 64)/64} · exp(r),  exp(r) by its series.
    x = 2^k·m,  F = ⌊128·m + 1/2⌋/128,  u = 2·(m − F)/(m + F):   log(x) = k·ln 2 + log F + u + u³/12 + u⁵/80 + u⁷/448.

[Tang 1989, 1990] pow(x, y) is exp(y·log x), with the logarithm and the product in two parts. Errors are below 1.25
units in the last place for exp, 0.51 for log and 1.5 for pow. Below e^−708, where results would lose digits, they are
0, and above e^708 infinite.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal
from typing import Any

import numpy as np

from tacit.core.types import FloatArray

_DIGITS = Context(prec=40)

#: 2^{j/64}, as the bits of floats. Rounded from forty digits, since a library's exp2 may differ in the last one.
_POWERS = np.array([float(_DIGITS.power(2, Decimal(j) / 64)) for j in range(64)]).view(np.int64)

#: 64/ln 2
_INVERSE = float.fromhex("0x1.71547652b82fep+6")

#: (ln 2)/64 in two parts, of which the first has so few digits that k times it is exact.
_HIGH, _LOW = float.fromhex("0x1.62e42feep-7"), float.fromhex("0x1.a39ef35793c76p-39")

_MOST = 708.0


def _in_two(x: Decimal) -> tuple[float, float]:
    """Return x as a multiple of 2⁻⁴², which adds exactly, and the rest."""
    high = round(_DIGITS.multiply(x, 2**42)) / 2**42
    return high, float(_DIGITS.subtract(x, Decimal(high)))


_LN2_HIGH, _LN2_LOW = _in_two(_DIGITS.ln(2))

#: log F for F = j/128, in two parts; F is between √½ and √2.
_FIRST = 90
_LOGS = np.array([_in_two(_DIGITS.ln(Decimal(j) / 128)) for j in range(_FIRST, 182)])

#: The bits of √½, where m begins.
_ROOT = int(np.float64(math.sqrt(0.5)).view(np.int64))

#: All but the last 32 bits of a float, and the factor that parts one in the middle.
_UPPER, _MIDDLE = -(1 << 32), 134217729.0

_NORMAL, _TWO_54 = 2.0**-1022, 2.0**54


def exp(x: float) -> float:
    """Return e to the power of x.

    Parameters
    ----------
    x : float

    Returns
    -------
    float

    Examples
    --------
    >>> from tacit.kernels import exp
    >>> float(exp(1.0)), exp(-1000.0)
    (2.718281828459045, 0.0)
    """
    if not abs(x) < _MOST:
        return 0.0 if x < 0.0 else x * math.inf  # nan for nan
    power: float = exp_less(x, 0.0)
    return power


def log(x: float) -> float:
    """Return the natural logarithm of x: −∞ of 0, and nan below.

    Parameters
    ----------
    x : float

    Returns
    -------
    float

    Examples
    --------
    >>> from tacit.kernels import log
    >>> float(log(10.0)), float(log(0.0))
    (2.302585092994046, -inf)
    """
    if not 0.0 < x < math.inf:
        return -math.inf if x == 0.0 else x if x > 0.0 else math.nan
    high, low = log_in_two(x * _TWO_54, 54.0) if x < _NORMAL else log_in_two(x, 0.0)
    logarithm: float = high + low
    return logarithm


def pow(x: float, y: float) -> float:
    """Return x to the power of y, for x ≥ 0; nan below.

    Parameters
    ----------
    x, y : float

    Returns
    -------
    float

    Examples
    --------
    >>> from tacit.kernels import pow
    >>> float(pow(2.0, 0.5)), float(pow(10.0, -3.0)), float(pow(0.0, 2.0))
    (1.4142135623730951, 0.001, 0.0)
    """
    if y == 0.0 or x == 1.0:
        return 1.0
    if not 0.0 < x < math.inf:
        if not x >= 0.0 or y != y:
            return math.nan
        return 0.0 if (x == 0.0) == (y > 0.0) else math.inf
    high, low = log_in_two(x * _TWO_54, 54.0) if x < _NORMAL else log_in_two(x, 0.0)
    product = y * high
    if not abs(product) < _MOST:
        return 0.0 if product < 0.0 else product * math.inf
    upper, part = y * _MIDDLE, high * _MIDDLE  # [Dekker 1971]: what rounding took from the product
    upper, part = upper - (upper - y), part - (part - high)
    lower, rest = y - upper, high - part
    taken = ((product - upper * part) - upper * rest - lower * part) - lower * rest
    power: float = exp_less(product, taken - y * low)
    return power


def exp_less(x, less):
    """Return exp(x − less) of |x| < 708 and a tiny `less`; of arrays too."""
    whole = np.floor(x * _INVERSE + 0.5)
    r = (x - whole * _HIGH) - whole * _LOW - less
    square = r * r
    series = (r + square * (1 / 2 + r * (1 / 6))) + square * square * (1 / 24 + r * (1 / 120))
    k = np.int64(whole)
    power = np.int64(_POWERS[k & 63] + ((k >> 6) << 52)).view(np.float64)
    return power + power * series


def log_in_two(x, doublings):
    """Return log(x) − doublings·ln 2 as a sum of two, for normal x > 0. Of arrays too."""
    bits = np.float64(x).view(np.int64)
    k = (bits - _ROOT) >> 52
    m = np.int64(bits - (k << 52)).view(np.float64)
    j = np.floor(m * 128.0 + 0.5)
    F = j / 128.0
    f = m - F
    row = np.int64(j) - _FIRST
    times = k - doublings
    u = (f + f) / (m + F)
    upper = np.int64(np.float64(u).view(np.int64) & _UPPER).view(np.float64)
    lower = (2.0 * (f - F * upper) - f * upper) / (m + F)
    square = u * u
    series = u * square * (1 / 12 + square * (1 / 80 + square * (1 / 448)))
    exact = times * _LN2_HIGH + _LOGS[row, 0]
    high = exact + upper
    return high, ((exact - high) + upper) + (lower + (series + (times * _LN2_LOW + _LOGS[row, 1])))


def dot(a: FloatArray, b: FloatArray) -> Any:
    """Return a·b over a's last axis and b's first, in a fixed order.

    The order in which BLAS (`a @ b`) adds depends on its threads and on the processor, and with it the last digit.

    >>> dot(np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([0.25, 0.75])).tolist()
    [0.75, 2.75]
    """
    last = a.ndim - 1
    subscripts: Any = (a, list(range(a.ndim)), b, list(range(last, last + b.ndim)))
    return np.einsum(*subscripts)


def exp_each(x: FloatArray) -> FloatArray:
    """Return `exp` of each entry of an array.

    >>> exp_each(np.array([0.0, -1000.0, 1.0]))
    array([1.        , 0.        , 2.71828183])
    """
    inside = np.abs(x) < _MOST
    powers: FloatArray = np.where(inside, exp_less(np.where(inside, x, 0.0), 0.0), 0.0)
    powers[~inside & ~(x < 0)] = np.inf
    powers[np.isnan(x)] = np.nan
    return powers


def log_each(x: Any) -> FloatArray:
    """Return `log` of each entry of an array of numbers ≥ 0.

    >>> log_each(np.array([0.0, 1.0, 10.0]))
    array([      -inf, 0.        , 2.30258509])
    """
    x = np.asarray(x, dtype=np.float64)
    tiny = x < _NORMAL
    high, low = log_in_two(np.where(x > 0, x * np.where(tiny, _TWO_54, 1.0), 1.0), np.where(tiny, 54.0, 0.0))
    return np.where(x > 0, high + low, -np.inf)


# the projection onto the probability simplex --------------------------------------------------------------------------


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
