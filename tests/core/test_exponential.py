"""The exponential function: as exact as it says, the same bits compiled and interpreted, and defined everywhere."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numba
import numpy as np
import pytest

from tacit.core.exponential import exp

compiled = numba.njit(lambda x: exp(x))


@pytest.mark.parametrize("span", [1e-9, 1e-2, 1.0, 30.0, 707.9])
def test_against_forty_digits(span):
    rng = np.random.default_rng(0)
    with localcontext() as context:
        context.prec = 40
        for x in map(float, rng.uniform(-span, span, 400)):
            truth = Decimal(x).exp()
            assert abs(Decimal(float(exp(x))) - truth) < Decimal("1.25") * Decimal(math.ulp(float(truth)))


def test_the_same_bits_compiled():
    for x in map(float, np.random.default_rng(1).uniform(-720, 720, 2000)):
        assert compiled(x) == exp(x)


def test_the_ends():
    for function in (exp, compiled):
        assert [function(x) for x in (0.0, -0.0, -math.inf, -708.0, -1e300, math.inf)] == [1, 1, 0, 0, 0, math.inf]
        assert math.isnan(function(math.nan))
        assert function(-707.999) == pytest.approx(math.exp(-707.999), rel=1e-15)
