"""Centralized learners as their sources state them, in dense arrays; what stage games are solved by is given.

A stage game has payoffs [N, A_1, …, A_N]. The learner's own solution takes the place of the oracle of the sources, and
`gain` says by brute force how far it is from an equilibrium.
"""

from __future__ import annotations

import numpy as np


def gain(payoffs: np.ndarray, joint: np.ndarray, kind: str) -> float:
    """The most that an agent gains by a fixed action (cce), or by one for each recommendation (ce, nash)."""
    most = 0.0
    for i, own in enumerate(payoffs):
        u, d = np.moveaxis(own, i, 0).reshape(own.shape[i], -1), np.moveaxis(joint, i, 0).reshape(own.shape[i], -1)
        told = np.array([[(d[a] * (u[b] - u[a])).sum() for b in range(len(u))] for a in range(len(u))])
        most = max(most, told.sum(axis=0).max() if kind == "cce" else told.max(axis=1).sum())
    return most


class JointQ:
    """Q-learning of joint actions: Q[h][s] has the shape [N, A_1, …, A_N]."""

    def __init__(self, actions: tuple[int, ...], states: int, horizon: int, rate) -> None:
        self.Q = np.zeros((horizon, states, len(actions), *actions))
        self.n = np.zeros((horizon, states, *actions), dtype=int)
        self.V = np.zeros((horizon + 1, states, len(actions)))
        self.rate = rate

    def learn(self, h: int, s: int, a: tuple[int, ...], r: np.ndarray, s_next: int) -> None:
        self.n[h, s][a] += 1
        alpha, at = self.rate(self.n[h, s][a]), (slice(None), *a)
        self.Q[h, s][at] = (1 - alpha) * self.Q[h, s][at] + alpha * (r + self.V[h + 1, s_next])

    def revalue(self, h: int, s: int, joint: np.ndarray, *, friend: bool) -> None:
        Q = self.Q[h, s].reshape(self.V.shape[2], -1)
        self.V[h, s] = Q.max(axis=1) if friend else Q @ joint.ravel()


class OptimisticModel:
    """Upper and lower values of a model [H, S, A_1, …, A_N], backwards, for given policies."""

    def __init__(self, actions: tuple[int, ...], states: int, horizon: int) -> None:
        self.actions, self.S, self.H = actions, states, horizon
        self.count = np.zeros((horizon, states, *actions, states))
        self.seen = np.zeros((horizon, states, *actions))
        self.reward = np.zeros((len(actions), horizon, states, *actions))

    def learn(self, h: int, s: int, a: tuple[int, ...], r: np.ndarray, s_next: int) -> None:
        self.seen[h, s][a] += 1
        self.count[h, s][(*a, s_next)] += 1
        for i in range(len(self.actions)):
            self.reward[i, h, s][a] += r[i]

    def values(self, joints: np.ndarray, bonus: float, correction: float, iota: float):
        """Return Q̄ [H, S, N, …] where a state was visited, V̄ and V̲ [H + 1, S, N]."""
        H, S, N = self.H, self.S, len(self.actions)
        upper, lower = np.zeros((H + 1, S, N)), np.zeros((H + 1, S, N))
        Q = np.zeros((H, S, N, *self.actions))
        for h in reversed(range(H)):
            for s in range(S):
                if not self.seen[h, s].any():
                    upper[h, s] = H - h
                    continue
                for i in range(N):
                    below = np.zeros(self.actions)
                    Q[h, s, i] = H - h
                    for a in zip(*np.nonzero(self.seen[h, s]), strict=True):
                        n, mean = self.seen[h, s][a], self.reward[i, h, s][a] / self.seen[h, s][a]
                        move = self.count[h, s][a] / n
                        up, down = move @ upper[h + 1, :, i], move @ lower[h + 1, :, i]
                        beta = bonus * np.sqrt(H**2 * iota / n) + correction * H**2 * S * iota / n
                        gamma = correction / H * (up - down)
                        Q[h, s, i][a] = min(mean + up + gamma + beta, H - h)
                        below[a] = max(mean + down - gamma - beta, 0)
                    upper[h, s, i] = (joints[h, s] * Q[h, s, i]).sum()
                    lower[h, s, i] = (joints[h, s] * below).sum()
        return Q, upper, lower
