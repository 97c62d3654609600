"""Kernels of games with tables play what the tables say, in frequencies with a false-alarm rate of 1e-9."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.core.compilation import compile_loop
from tacit.testing import Violation
from tacit.testing.checks import require_frequencies

GAMES = {
    "random-team": {"states": 3, "horizon": 4},
    "random-general-sum": {"agents": 3, "actions": [2, 3, 2], "states": 4, "horizon": 3, "homogeneous": False},
}
PLACES, DRAWS = 30, 20_000


def draw_often(game, h, s, actions, u, first, after):
    """Count first states and the next states of one place over many uniform numbers."""
    token = generics.joint_action(game, h, s, actions)
    for k in range(len(u)):
        first[generics.initial_state(game, u[k])] += 1
        if h + 1 < game.horizon:
            after[generics.next_state(game, token, u[k])] += 1


def compare(game: tacit.TabularGame, played: tacit.TabularGame, seed: int = 0) -> None:
    """Compare the tables of one game with the kernels of another at random places."""
    rng, kernels = np.random.default_rng(seed), generics.seal(played.kernels())
    compiled = compile_loop(draw_often, kernels)
    for _ in range(PLACES):
        h, s, actions = int(rng.integers(game.horizon)), int(rng.integers(game.states)), rng.integers(game.actions)
        where = f"h={h}, s={s}, actions {tuple(actions.tolist())}"
        token = generics.joint_action(kernels, h, s, actions)
        paid = [generics.reward(kernels, i, token) for i in range(game.agents)]
        stated = game.rewards[(slice(None), h % game.rewards.shape[1], s, *actions)]
        assert np.array_equal(paid, stated), f"the rewards at {where} are not those of the table"
        first, after = np.zeros(game.states, dtype=np.int64), np.zeros(game.states, dtype=np.int64)
        compiled(kernels, h, s, actions, rng.random(DRAWS), first, after)
        require_frequencies(first, game.initial, "the first state", comparisons=2 * PLACES)
        if h + 1 < game.horizon:
            row = game.transitions[(h % len(game.transitions), s, *actions)]
            require_frequencies(after, row, f"the next state at {where}", comparisons=2 * PLACES)


@pytest.mark.parametrize("name", list(tacit.games.REGISTRY))
def test_kernels_play_the_tables(name: str):
    known = tacit.games.REGISTRY.parameters(name)
    game = tacit.make(name, **{key: value for key, value in GAMES.get(name, {}).items() if key in known})
    if isinstance(game, tacit.TabularGame):
        game = game.to_random_horizon()
        compare(game, game)


def shifted(**changes: Any) -> None:
    """Compare tables with kernels of others."""
    P, R = np.full((1, 2, 2, 2, 2), 0.5), np.zeros((2, 1, 2, 2, 2))
    R[0] = 1.0
    said = {"transitions": P, "rewards": R, "initial": [0.5, 0.5], "horizon": 2}
    compare(tacit.TabularGame(**said), tacit.TabularGame(**{**said, **changes}))


def test_tables_that_differ_are_told_apart():
    shifted()
    P, R = np.full((1, 2, 2, 2, 2), 0.5), np.zeros((2, 1, 2, 2, 2))
    P[..., 0], P[..., 1] = 0.45, 0.55
    with pytest.raises(Violation, match=r"the next state at .* was drawn"):
        shifted(transitions=P)
    with pytest.raises(Violation, match="the first state: 0 was drawn"):
        shifted(initial=[0.55, 0.45])
    R[0], R[0, 0, 1, 1, 1] = 1.0, 0.5
    with pytest.raises(AssertionError, match="not those of the table"):
        shifted(rewards=R)
