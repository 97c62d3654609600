"""What a game says of itself."""

from __future__ import annotations

import numpy as np
import pytest

import tacit


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (
            tacit.make("good-state"),
            "TabularGame('good-state': 2 agents, 2 states, 2×2 actions, horizon 10, rewards in [-2, 5])",
        ),
        (
            tacit.make("distancing", agents=6, weights=[1, 2], horizon=3),
            "TabularGame('distancing': 6 agents, 2 states, 2^6 actions, horizon 3, rewards in [-99, 12])",
        ),
        (
            tacit.TabularGame(np.ones((1, 1, 3, 1)), [[[[1, 2, 3]]]], [1], 1),
            "TabularGame(1 agent, 1 state, 3 actions, horizon 1, rewards in [1, 3])",
        ),
    ],
)
def test_repr(game: tacit.TabularGame, text: str):
    assert repr(game) == text
