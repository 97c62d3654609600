"""The projection onto the simplex: two forms of the code, a bisection, its optimality conditions, and that it ends."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tacit.core.elementary import project, project_each

ORDINARY = st.floats(-10, 10)
TIES = st.sampled_from([-1.0, 0.0, 0.1, 1 / 3, 0.3, 0.30000000000000004, 0.5, 1.0, 1 + 2**-52])
TINY = st.sampled_from([5e-324, -5e-324, 1e-300, 1e-17, -1e-17, 0.0])
ENTRIES = st.one_of(ORDINARY, TIES, TINY)
VECTORS = st.lists(ENTRIES, min_size=1, max_size=9).map(np.array)
TIED = st.lists(TIES, min_size=1, max_size=9).map(np.array)


@st.composite
def at_the_threshold(draw: st.DrawFn) -> np.ndarray:
    """m entries v, and others at v − 1/m within rounding: they lie on the threshold τ of the first m."""
    m, v = draw(st.integers(1, 5)), draw(st.floats(-3, 3))
    edge = v - 1 / m
    near = st.sampled_from([edge, np.nextafter(edge, 9), np.nextafter(edge, -9)])
    return np.array(draw(st.permutations([v] * m + draw(st.lists(near, min_size=1, max_size=4)))))


HUGE = st.lists(st.one_of(ENTRIES, st.floats(-1e20, 1e20)), min_size=1, max_size=6).map(np.array)


class Counted(list[float]):
    """A vector that may be read only so often: a projection that never ends is told, not waited for."""

    reads = 0

    def __getitem__(self, k: SupportsIndex) -> float:  # type: ignore[override]
        self.reads += 1
        assert self.reads <= 4 + 2 * len(self) * (len(self) + 3), "it does not end within n passes"
        return super().__getitem__(k)


def in_place(x: np.ndarray) -> np.ndarray:
    y = Counted(x.tolist())
    project(y, len(y))  # type: ignore[arg-type]
    return np.array(list(y))


def bisection(x: np.ndarray) -> np.ndarray:
    """Find τ with Σ max(x − τ, 0) = 1 by halving, relative to the largest entry."""
    x = x - x.max()
    low, high = -1.0, 0.0
    for _ in range(200):
        tau = (low + high) / 2
        low, high = (tau, high) if np.maximum(x - tau, 0).sum() > 1 else (low, tau)
    return np.maximum(x - high, 0)


def on_the_simplex(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.dirichlet(np.ones(n))


@given(st.one_of(VECTORS, at_the_threshold()))
def test_three_ways_agree(x: np.ndarray):
    expected = bisection(x)
    np.testing.assert_allclose(in_place(x), expected, atol=1e-14, rtol=0)
    np.testing.assert_allclose(project_each(x), expected, atol=1e-14, rtol=0)


@given(VECTORS, st.integers(0, 2**32 - 1))
def test_no_point_of_the_simplex_is_nearer(x: np.ndarray, seed: int):
    """The variational inequality (x − p)·(q − p) ≤ 0 at the vertices and at random q, which needs no algorithm."""
    p, rng = in_place(x), np.random.default_rng(seed)
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1, abs=1e-14)
    for q in [*np.eye(len(x)), *(on_the_simplex(len(x), rng) for _ in range(5))]:
        assert (x - p) @ (q - p) <= 1e-12


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_points_of_the_simplex_stay(n: int, seed: int):
    p = on_the_simplex(n, np.random.default_rng(seed))
    np.testing.assert_allclose(in_place(p), p, atol=1e-15)
    np.testing.assert_allclose(project_each(p), p, atol=1e-15)


@given(st.integers(2, 8), st.integers(0, 2**32 - 1), st.floats(0, 5), st.floats(0, 5))
def test_projections_along_one_direction_compose(n: int, seed: int, alpha: float, beta: float):
    """Proj(Proj(x + αd) + βd) = Proj(x + (α + β)d) for x on the simplex: what lets a state wait for its next visit."""
    rng = np.random.default_rng(seed)
    x, d = on_the_simplex(n, rng), rng.standard_normal(n) * rng.choice([0.1, 1, 100])
    twice = in_place(in_place(x + alpha * d) + beta * d)
    np.testing.assert_allclose(twice, in_place(x + (alpha + beta) * d), atol=1e-11)


def test_projections_along_two_directions_do_not_compose():
    x, d, e = np.array([0.5, 0.5]), np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert not np.allclose(in_place(in_place(x + 2 * d) + 2 * e), in_place(x + 2 * d + 2 * e))


@given(st.one_of(VECTORS, TIED, HUGE, at_the_threshold()))
@example(np.array([-0.12756820854740908, 0.20576512478592424, 0.20576512478592424, 0.20576512478592424]))
@example(np.array([-2.0995891186863873, -2.099589118686387, -1.0995891186863873, -2.099589118686387]))
def test_it_ends_within_n_passes(x: np.ndarray):
    """Entries within rounding of τ once made it go round for ever: they are counted in one pass and not in the next."""
    project(Counted(x.tolist()), len(x))  # type: ignore[arg-type]


@pytest.mark.parametrize("n", range(1, 12))
@pytest.mark.parametrize("value", [1 / 3, 0.1, 0.7, -1e-9, 1e9, 12345.6789])
def test_equal_entries_become_even(n: int, value: float):
    counted = Counted([value] * n)
    project(counted, n)  # type: ignore[arg-type]
    np.testing.assert_allclose(list(counted), np.full(n, 1 / n), atol=1e-6)


def test_only_the_first_entries_are_touched():
    x = np.array([0.9, 0.9, 7.0])
    project(x, 2)
    assert x.tolist() == [0.5, 0.5, 7.0]


@pytest.mark.parametrize("form", [in_place, project_each])
@pytest.mark.parametrize("x", [[0.5, 1e17], [1e20, 1e20], [1e17, 0.5, 0.2], [-1e20, -1e20]])
def test_huge_values(form, x: list[float]):
    """A huge step along one action is a projection onto its vertex, not onto nothing."""
    np.testing.assert_allclose(form(np.array(x)), bisection(np.array(x)), atol=1e-12)
