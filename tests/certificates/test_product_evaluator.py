"""The evaluator of the last iterate gives what `evaluate` gives, interpreted and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.evaluation.certificate import ProductEvaluator

GAMES: dict[str, dict[str, Any]] = {
    "one agent": {"actions": [3]},
    "two agents": {"actions": [2, 3]},
    "the same at every step": {"actions": [3, 2], "stationary": True},
    "few successors": {"actions": [2, 2, 3], "successors": 2},
    "four agents": {"actions": [2, 1, 3, 2]},
}


@pytest.mark.parametrize("origin", [-2.0, 1e6])  # rewards far from 0 are shifted
@pytest.mark.parametrize("name", GAMES)
def test_values_and_gaps_are_those_of_evaluate(name: str, origin: float):
    game = tacit.make(
        "random-general-sum", states=4, horizon=3, seed=5, agents=len(GAMES[name]["actions"]), **GAMES[name]
    )
    game = tacit.TabularGame(game.successors, 3 * game.rewards + origin, game.initial, game.horizon)
    evaluator = ProductEvaluator(game)
    for seed in range(16):  # compiled after the first few
        policy = tacit.MarkovPolicy.random(game, seed=seed)
        values, gaps = evaluator(policy)
        exact = tacit.evaluate(game, policy, gap="nash")
        np.testing.assert_allclose(values, exact.values, rtol=1e-14, atol=1e-12)
        np.testing.assert_allclose(gaps, exact.gaps, atol=1e-12)
