"""Which earlier visit is drawn: evenly from the last stage that ended, or with the weights α_t^j."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.policies.recorded import draw_by_rate


def alphas(H: int, t: int) -> np.ndarray:
    """α_t^j = α_j·Π_{k=j+1..t}(1 − α_k), as printed."""
    alpha = [(H + 1) / (H + k) for k in range(1, t + 1)]
    return np.array([alpha[j] * np.prod([1 - a for a in alpha[j + 1 :]]) for j in range(t)])


@pytest.mark.parametrize("H", [1, 2, 5, 10])
@pytest.mark.parametrize("t", [1, 2, 7, 40])
def test_draw_by_rate_inverts_the_weights(H: int, t: int):
    """At the edges and in the middle of every step of the distribution function."""
    edges = np.cumsum(alphas(H, t))
    assert abs(edges[-1] - 1) < 1e-12
    middle = edges - alphas(H, t) / 2
    keep = alphas(H, t) > 1e-9
    assert (draw_by_rate(H, np.full(keep.sum(), t), middle[keep]) == np.flatnonzero(keep)).all()
    below, above = edges[:-1] - 1e-11, edges[:-1] + 1e-11
    wide = (alphas(H, t)[:-1] > 1e-9) & (alphas(H, t)[1:] > 1e-9)
    j = np.flatnonzero(wide)
    assert (draw_by_rate(H, np.full(len(j), t), below[wide]) == j).all()
    assert (draw_by_rate(H, np.full(len(j), t), above[wide]) == j + 1).all()


def test_draw_by_rate_stays_within_the_visits():
    u = np.array([0.0, np.nextafter(1.0, 0), 0.5])
    for visits in ([1, 1, 1], [10**6, 10**6, 10**6]):
        found = draw_by_rate(10, np.array(visits), u)
        assert (found >= 0).all()
        assert (found < visits[0]).all()


@pytest.mark.parametrize("rule", ["stage", "rate"])
def test_frequencies(rule: str):
    """Over an even grid of uniform numbers every earlier visit comes up with its probability."""
    rng, K, H = np.random.default_rng(1), 40, 2
    visited = rng.integers(2, size=(K, H)).astype(np.uint8)
    policy = tacit.policies.RecordedPolicy(
        visited, np.full((K, H, 2), 0.5, np.float32), actions=(2, 2), states=2, rule=rule
    )
    u = (np.arange(20_000) + 0.5) / 20_000
    for k in (0, 1, 3, 12, 39):
        for h in range(H):
            for s in range(2):
                visits = np.flatnonzero(visited[:k, h] == s)
                found = policy.record.earlier(h, np.full(len(u), k), np.full(len(u), s), u)
                if rule == "rate":
                    expected = dict(zip(visits.tolist(), alphas(H, len(visits)), strict=True)) or {-1: 1.0}
                else:
                    begin, length, expected = 0, H, {-1: 1.0}
                    while begin + length <= len(visits):
                        expected = dict.fromkeys(visits[begin : begin + length].tolist(), 1 / length)
                        begin, length = begin + length, length + length // H
                assert set(found.tolist()) <= set(expected)
                for j, p in expected.items():
                    assert abs((found == j).mean() - p) < 2e-4


def test_the_lost_index_stays_lost():
    policy = tacit.policies.RecordedPolicy(
        np.zeros((9, 1), np.uint8), np.zeros((9, 1, 2), np.float32), actions=(2, 2), states=1
    )
    assert policy.record.earlier(0, np.array([-1]), np.array([0]), np.array([0.3])).tolist() == [-1]
    assert policy.record.earlier(0, np.array([0]), np.array([0]), np.array([0.3])).tolist() == [-1]
    assert policy.record.earlier(0, np.array([1]), np.array([0]), np.array([0.9])).tolist() == [0]
    assert policy.record.earlier(0, np.array([4]), np.array([0]), np.array([0.9])).tolist() == [2]
