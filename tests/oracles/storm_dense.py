"""STORM as the paper has it: every cell of every agent is updated in every episode. [Mao2022, Alg. 3]

Plain NumPy, nothing of the learner in it; only the random streams and the game's arrays are shared. Ascent, returns in
the game's own units, the same trajectory in the old policy's estimator; where the old policy gave the action no chance
(which happens with exploration = 0 alone) the old estimate is left out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import tacit
from tacit.core.streams import stream


def sorted_projection(x: np.ndarray) -> np.ndarray:
    """Project each row of x [C, A] onto the simplex: sort, find the last entry above its threshold, shift, cut."""
    order = np.sort(x, axis=1)[:, ::-1]
    threshold = (np.cumsum(order, axis=1) - 1) / np.arange(1, x.shape[1] + 1)
    count = (order > threshold).sum(axis=1)
    return np.maximum(x - threshold[np.arange(len(x)), count - 1][:, None], 0)


def drawn(row: np.ndarray, u: float) -> int:
    """Return the first action whose cumulative probability exceeds u."""
    for a, p in enumerate(row.tolist()):
        u -= p
        if u < 0:
            return a
    return len(row) - 1


class Dense:
    """All agents of a game; `eta(t)` and `a(t)` are the step and the momentum of episode t = 1, 2, …"""

    def __init__(
        self,
        game: tacit.TabularGame,
        *,
        eta: Callable[[int], float],
        a: Callable[[int], float],
        exploration: float,
        own_ratio: bool = False,
        low: float = 0.0,
        scale: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.game, self.eta, self.a = game, eta, a
        self.exploration, self.own_ratio, self.low, self.scale = exploration, own_ratio, low, scale
        cells = game.horizon * game.states
        self.theta = [np.full((cells, size), 1 / size) for size in game.actions]
        self.before = [x.copy() for x in self.theta]  # θ of the episode before
        self.d = [np.zeros((cells, size)) for size in game.actions]
        self.t = 0
        self.no_chance = 0  # how often an action was played that the old policy gave no chance
        self._world = stream(seed, 0)
        self._streams = [stream(seed, 1 + i) for i in range(game.agents)]
        H = game.horizon
        self._rewards = np.broadcast_to(game.rewards, (game.agents, H, *game.rewards.shape[2:]))
        self._cumulative = np.broadcast_to(np.cumsum(game.transitions, axis=-1), (H, *game.transitions.shape[1:]))

    def policy(self, i: int, theta: np.ndarray) -> np.ndarray:
        return (1 - self.exploration) * theta + self.exploration / self.game.actions[i]

    def episode(self) -> np.ndarray:
        """Play one episode, let all agents learn, and return their returns [N]."""
        game, H, S = self.game, self.game.horizon, self.game.states
        self.t += 1
        world = self._world.random(H)
        draws = [own.random(H) for own in self._streams]
        now = [self.policy(i, theta) for i, theta in enumerate(self.theta)]
        returns, total = np.zeros(game.agents), np.zeros(game.agents)
        visited, played = [], []
        s = int(np.searchsorted(np.cumsum(game.initial), world[0], side="right"))
        for h in range(H):
            joint = tuple(drawn(pi[h * S + s], u[h]) for pi, u in zip(now, draws, strict=True))
            visited.append(h * S + s)
            played.append(joint)
            r = self._rewards[(slice(None), h, s, *joint)]
            returns += r
            total += (r - self.low) * self.scale
            if h + 1 < H:
                s = int(np.searchsorted(self._cumulative[(h, s, *joint)], world[h + 1], side="right"))
        keep = 1 - self.a(self.t) if self.t > 1 else 0.0
        for i in range(game.agents):
            old = self.policy(i, self.before[i])
            actions = [joint[i] for joint in played]
            self.no_chance += int((old[visited, actions] == 0).sum())
            g_now, g_old = np.zeros_like(old), np.zeros_like(old)
            size = total[i] * (1 - self.exploration)
            ratio = np.prod(old[visited, actions] / now[i][visited, actions]) if self.own_ratio else 1.0
            for c, b in zip(visited, actions, strict=True):
                g_now[c, b] = size / now[i][c, b]
                g_old[c, b] = ratio * size / old[c, b] if old[c, b] > 0 else 0.0
            self.d[i] = g_now + keep * (self.d[i] - g_old)
            self.before[i] = self.theta[i]
            self.theta[i] = sorted_projection(self.theta[i] + self.eta(self.t) * self.d[i])
        return returns

    def probs(self) -> list[np.ndarray]:
        """Return what the agents play next, [H, S, A_i] for each."""
        shape = (self.game.horizon, self.game.states, -1)
        return [self.policy(i, theta).reshape(shape) for i, theta in enumerate(self.theta)]
