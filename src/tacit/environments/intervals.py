"""Confidence intervals of means of returns."""

from __future__ import annotations

import math

import numpy as np

from tacit.core.types import FloatArray


def half_widths(samples: FloatArray, confidence: float, spread: float) -> FloatArray:
    """Return the half widths of t-intervals of the means of `samples` [n, N].

    Where all samples are the same, something else may still happen with probability log(1/p)/n; `spread` is the most
    by which two samples can differ, and spread·log(1/p)/n then stands in.
    """
    from scipy.stats import t

    n = len(samples)
    if n < 2:
        return np.full(samples.shape[1], math.inf)
    deviation = samples.std(axis=0, ddof=1)
    width: FloatArray = float(t.ppf(0.5 + confidence / 2, n - 1)) * deviation / math.sqrt(n)
    rare = spread * math.log(1 / (1 - confidence)) / n
    return np.where(deviation > 0, width, min(rare, spread))


def bernstein(samples: FloatArray, chance: float, spread: float) -> float:
    """Return by how much the mean of `samples` [n] may fall short of the true one, but for this chance.

    [Maurer, Pontil 2009, Thm. 4]; it holds for every n, for samples that differ by at most `spread`.
    """
    n = len(samples)
    if n < 2:
        return math.inf
    log = math.log(2 / chance)
    return math.sqrt(2 * float(samples.var(ddof=1)) * log / n) + 7 * spread * log / (3 * (n - 1))
