"""Episodes of a policy, each agent playing its part alone, kept step by step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.core import streams
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import ExactGame


class Played(NamedTuple):
    """Episodes that were played, E of them."""

    states: IntArray  # [E, H + 1], with the state after the last step
    actions: IntArray  # [E, H, N]
    rewards: FloatArray  # [E, H, N]


def play(game: ExactGame, policy: Any, *, episodes: int, seed: int = 0) -> Played:
    """Play a policy of any kind, from one seed."""
    H, N = game.horizon, game.agents
    parts = [policy.part(i) for i in range(N)]
    world = streams.stream(seed, streams.PLAY)
    states = np.zeros((episodes, H + 1), dtype=np.int64)
    actions = np.zeros((episodes, H, N), dtype=np.int64)
    rewards = np.zeros((episodes, H, N))
    for e, common in enumerate(streams.seeds(seed, streams.EPISODES, range(episodes)).tolist()):
        for part in parts:
            part.begin(common)
        s = states[e, 0] = game.start(world.random())
        for h in range(H):
            chosen = [part.act(h, int(s)) for part in parts]
            s, paid = game.step(h, int(s), chosen, world.random())
            states[e, h + 1], actions[e, h], rewards[e, h] = s, chosen, paid
    return Played(states, actions, rewards)
