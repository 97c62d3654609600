"""The line search in counting games: agents that all play the same are one evaluation, not one for each of them."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import tacit
from tacit.learners.pg_exact import sum_gains


@pytest.fixture(autouse=True)
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


@pytest.mark.parametrize("name", ["congestion", "spectrum", "minority"])
def test_moving_one_after_another_is_the_same_for_all(name: str):
    game = tacit.make(name, agents=5, horizon=2)
    A, rng = game.actions[0], np.random.default_rng(0)
    old, new = rng.dirichlet(np.ones(A), (2, 2, game.states))
    found = game.gain_alike(old, new)
    for order in (range(5), range(5)[::-1]):
        assert found == pytest.approx(sum_gains(game, [old] * 5, [new] * 5, order), abs=1e-12)
        assert abs(found) > 1e-3


def test_agents_of_different_weights_are_not_alike():
    like = tacit.make("congestion", agents=3, horizon=1)
    even = np.full((1, like.states, 2), 0.5)
    assert like.gain_alike(even, even) == 0
    game = tacit.CountGame(
        np.ones((1, 1, 2, 4)), np.ones((1, 1, 4, 1)), [1.0], 1, agents=3, actions=2, weights=[1.0, 2.0, 1.0], load=True
    )
    assert game.gain_alike(np.full((1, 1, 2), 0.5), np.full((1, 1, 2), 0.5)) is None
