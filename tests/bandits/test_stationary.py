"""The stationary distribution, entry by entry to twelve digits, however badly the chain is conditioned.

The oracle solves π·(Q − I) = 0 by Gaussian elimination with pivoting in 120 decimal digits, with the diagonal taken as
one minus the rest of its row, so that the question has one exact answer.
"""

from __future__ import annotations

from decimal import Decimal, getcontext, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.bandits.swap import stationary
from tacit.core.compilation import compile_loop


def call(q, n, out):
    """Compiled entry."""
    stationary(q, n, out)


def ours(q: np.ndarray) -> np.ndarray:
    out = np.zeros(len(q))
    compile_loop(call)(q.copy(), len(q), out)
    return out


def solved(q: np.ndarray, number: type) -> np.ndarray:
    """Solve for the stationary distribution in exact or very long numbers."""
    n = len(q)
    a = [[number(float(q[j, k])) if j != k else number(0) for j in range(n)] for k in range(n)]  # transposed
    for j in range(n):
        a[j][j] = -sum(number(float(q[j, k])) for k in range(n) if k != j)
    a[n - 1] = [number(1)] * n
    b = [number(0)] * (n - 1) + [number(1)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda row: abs(a[row][k]))
        a[k], a[pivot], b[k], b[pivot] = a[pivot], a[k], b[pivot], b[k]
        for row in range(k + 1, n):
            if a[row][k] != 0:
                factor = a[row][k] / a[k][k]
                top = a[k]
                a[row] = a[row][: k + 1] + [x - factor * y for x, y in zip(a[row][k + 1 :], top[k + 1 :], strict=True)]
                b[row] -= factor * b[k]
    x = [number(0)] * n
    for k in reversed(range(n)):
        x[k] = (b[k] - sum((a[k][m] * x[m] for m in range(k + 1, n)), number(0))) / a[k][k]
    return np.array([float(value) for value in x])


def in_decimals(q: np.ndarray) -> np.ndarray:
    with localcontext() as context:
        context.prec = 120
        assert getcontext().prec == 120
        return solved(q, Decimal)


def chain(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "even":
        q = rng.random((n, n)) + 0.01
    elif kind == "tiny entries":
        q = 10.0 ** rng.uniform(-12, 0, (n, n))
    elif kind == "near identity":
        q = np.eye(n) + 10.0 ** rng.uniform(-12, -9, (n, n))
    elif kind == "two islands":
        q = rng.random((n, n))
        half = n // 2
        q[:half, half:] *= 1e-12
        q[half:, :half] *= 1e-11
    else:  # softmax of large losses, as bandits make them
        q = np.exp(-rng.exponential(8, (n, n)))
    return q / q.sum(axis=1, keepdims=True)


KINDS = ["even", "tiny entries", "near identity", "two islands", "softmax"]


@pytest.mark.parametrize("n", [2, 3, 10, 30])
@pytest.mark.parametrize("kind", KINDS)
def test_twelve_digits_of_every_entry(kind: str, n: int):
    q = chain(kind, n, np.random.default_rng(n))
    np.testing.assert_allclose(ours(q), in_decimals(q), rtol=1e-12, atol=0)


@pytest.mark.parametrize("kind", ["tiny entries", "near identity"])
def test_a_hundred_actions(kind: str):
    q = chain(kind, 100, np.random.default_rng(1))
    np.testing.assert_allclose(ours(q), in_decimals(q), rtol=1e-12, atol=0)


@pytest.mark.parametrize("n", [2, 5, 8])
def test_exact_fractions(n: int):
    q = chain("tiny entries", n, np.random.default_rng(7))
    np.testing.assert_allclose(ours(q), solved(q, Fraction), rtol=1e-13, atol=0)


@pytest.mark.parametrize("n", [5, 20, 100])
def test_eigenvectors_of_numpy_where_the_chain_is_tame(n: int):
    q = chain("even", n, np.random.default_rng(2))
    values, vectors = np.linalg.eig(q.T)
    top = np.real(vectors[:, np.argmin(np.abs(values - 1))])
    np.testing.assert_allclose(ours(q), top / top.sum(), rtol=1e-11)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_it_is_a_distribution_and_a_fixed_point(n: int, seed: int, kind: str):
    q = chain(kind, n, np.random.default_rng(seed))
    p = ours(q)
    assert (p > 0).all()
    assert abs(p.sum() - 1) < 1e-14
    assert np.abs(p @ q - p).max() < 1e-14


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_the_order_of_the_actions_does_not_matter(n: int, seed: int):
    rng = np.random.default_rng(seed)
    q, order = chain("tiny entries", n, rng), rng.permutation(n)
    np.testing.assert_allclose(ours(q[np.ix_(order, order)]), ours(q)[order], rtol=1e-12)


@pytest.mark.parametrize("n", [2, 4])
def test_actions_that_are_never_left_give_a_distribution_still(n: int):
    """Weights can underflow to zero; then several answers are right, and one of them must come out."""
    for q in (np.eye(n), np.tile(np.eye(n)[n - 1], (n, 1)), np.tile(np.eye(n)[0], (n, 1)), np.triu(np.ones((n, n)))):
        q = q / q.sum(axis=1, keepdims=True)
        p = ours(q)
        assert np.isfinite(p).all()
        assert (p >= 0).all()
        assert abs(p.sum() - 1) < 1e-14
        assert np.abs(p @ q - p).max() < 1e-14


def test_compiled_is_interpreted():
    q = chain("softmax", 12, np.random.default_rng(4))
    out = np.zeros(12)
    stationary(q.copy(), 12, out)
    assert out.tobytes() == ours(q).tobytes()
