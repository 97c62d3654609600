"""Exact values of the named games, known from independent computations (six decimals)."""

from __future__ import annotations

import numpy as np
import pytest

import tacit

BOX_OPTIMUM = {
    1: -0.2,
    2: 17.6,
    3: 66.81,
    4: 106.430588,
    5: 118.772036,
    10: 244.849454,
    20: 511.130614,
    50: 1306.244276,
    100: 2628.14109,
}
BOX_UNIFORM = {5: -2.669906, 10: -8.296121, 20: -20.455599, 50: -57.936308, 100: -120.545222}
BOX_MINIMUM = {5: -40.89899, 10: -91.89899, 20: -193.89899}
DISTANCING = {1: (384, -416), 2: (544, -364), 3: (704, -204), 5: (1024, 116), 10: (1824, 916), 20: (3424, 2516)}


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("horizon", BOX_OPTIMUM)
def test_optimum_of_box_pushing(horizon: int, published: bool):
    game = tacit.make("box-pushing", horizon=horizon, published_file=published)
    assert tacit.solve(game).values.tolist() == pytest.approx([BOX_OPTIMUM[horizon]] * 2, abs=6e-7)


@pytest.mark.parametrize("horizon", BOX_UNIFORM)
def test_uniform_play_of_box_pushing(horizon: int):
    game = tacit.make("box-pushing", horizon=horizon, published_file=True)
    found = tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))
    assert found.values.tolist() == pytest.approx([BOX_UNIFORM[horizon]] * 2, abs=6e-7)


@pytest.mark.parametrize("horizon", BOX_MINIMUM)
def test_worst_play_of_box_pushing(horizon: int):
    game = tacit.make("box-pushing", horizon=horizon, published_file=True)
    assert tacit.solve(game, weights=[-1, 0]).values[0] == pytest.approx(BOX_MINIMUM[horizon], abs=6e-7)


@pytest.mark.parametrize(("start", "best"), [("s0", 45.5), ("uniform", 43.0)])
def test_optimum_of_good_state(start: str, best: float):
    game = tacit.make("good-state", start=start)
    assert tacit.solve(game).values.tolist() == pytest.approx([best, best], abs=1e-12)


@pytest.mark.parametrize("horizon", DISTANCING)
def test_welfare_of_distancing(horizon: int):
    found = tacit.solve(tacit.make("distancing", horizon=horizon))
    assert found.V[:, 0].sum(axis=0).tolist() == pytest.approx(DISTANCING[horizon], abs=1e-9)
    assert found.values.sum() == pytest.approx(np.mean(DISTANCING[horizon]), abs=1e-9)
