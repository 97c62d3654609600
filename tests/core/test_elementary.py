"""exp, log and pow: as exact as they say, the same bits compiled, interpreted and of arrays, and defined everywhere."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext

import numba
import numpy as np
import pytest

from tacit.core.elementary import exp_each, log_each
from tacit.kernels import exp, log  # which compiled code may call
from tacit.kernels import pow as power

compiled_exp = numba.njit(lambda x: exp(x))
compiled_log = numba.njit(lambda x: log(x))
compiled_pow = numba.njit(lambda x, y: power(x, y))


@pytest.fixture(autouse=True)
def forty_digits() -> Iterator[None]:
    with localcontext() as context:
        context.prec = 40
        yield


def error(found: float, truth: Decimal) -> Decimal:
    """Return the error in units in the last place."""
    return abs(Decimal(float(found)) - truth) / Decimal(math.ulp(float(truth)))


@pytest.mark.parametrize("span", [1e-9, 1e-2, 1.0, 30.0, 707.9])
def test_exp_against_forty_digits(span: float):
    for x in map(float, np.random.default_rng(0).uniform(-span, span, 400)):
        assert error(exp(x), Decimal(x).exp()) < Decimal("1.25")


#: Where logarithms are tiny, where m changes from below √2 to above √½, and everywhere.
BASES = {
    "near one": lambda rng: 1 + rng.normal(size=400) * 10 ** rng.uniform(-15, -1, 400),
    "between": lambda rng: rng.uniform(0.6, 1.6, 400),
    "wide": lambda rng: 10 ** rng.uniform(-307, 307, 400),
    "subnormal": lambda rng: 10 ** rng.uniform(-322, -308, 200),
}


@pytest.mark.parametrize("bases", BASES.values(), ids=BASES)
def test_log_and_pow_against_forty_digits(bases: Callable[[np.random.Generator], np.ndarray]):
    rng = np.random.default_rng(0)
    for x in map(float, bases(rng)):
        truth = Decimal(x).ln()
        assert error(log(x), truth) < Decimal("0.51")
        y = float(rng.uniform(-1, 1)) * min(700 / max(abs(float(truth)), 1e-300), 10 ** rng.uniform(-3, 18))
        assert error(power(x, y), (truth * Decimal(y)).exp()) < Decimal("1.5")


def test_the_same_bits_compiled_and_of_arrays():
    rng = np.random.default_rng(1)
    xs, bases = rng.uniform(-720, 720, 2000), 10 ** rng.uniform(-322, 300, 2000)
    assert [compiled_exp(x) for x in xs] == [exp(float(x)) for x in xs] == exp_each(xs).tolist()
    assert [compiled_log(x) for x in bases] == [log(float(x)) for x in bases] == log_each(bases).tolist()
    for x, y in zip(bases, rng.uniform(-2, 2, 2000), strict=True):
        assert compiled_pow(x, y) == power(float(x), float(y))


def test_nothing_is_joined_by_the_compiler():
    """A product and a sum in one instruction would round once: compiled for this processor, no code has it."""
    code = "".join(compiled_pow.inspect_asm().values())
    assert not re.search("fn?m(add|sub)", code)


def test_the_ends_of_exp():
    for function in (exp, compiled_exp, lambda x: exp_each(np.array([x]))[0]):
        assert [function(x) for x in (0.0, -0.0, -math.inf, -708.0, -1e300, math.inf)] == [1, 1, 0, 0, 0, math.inf]
        assert math.isnan(function(math.nan))
        assert function(-707.999) == pytest.approx(math.exp(-707.999), rel=1e-15)


def test_the_ends_of_log_and_pow():
    inf, nan = math.inf, math.nan
    for function in (log, compiled_log):
        assert [function(x) for x in (0.0, 1.0, inf)] == [-inf, 0.0, inf]
        assert all(math.isnan(function(x)) for x in (-1.0, nan))
    assert log_each([0, 1]).tolist() == [-inf, 0.0]
    ends = {
        (0.0, 0.0): 1,
        (0.0, 2.0): 0,
        (0.0, -2.0): inf,
        (inf, 2.0): inf,
        (inf, -2.0): 0,
        (1.0, inf): 1,
        (nan, 0.0): 1,
    }
    far = {(2.0, 5000.0): inf, (2.0, -5000.0): 0, (0.5, inf): 0, (2.0, inf): inf, (1.0, 1e300): 1}
    for function in (power, compiled_pow):
        assert {at: function(*at) for at in ends | far} == ends | far
        assert all(math.isnan(function(*at)) for at in ((-1.0, 2.0), (nan, 1.0), (2.0, nan), (0.0, nan)))
