"""Learners that project onto simplices, as their sources state them: plain Python, one state and agent at a time.

Steps count from 0. `end` of a finite horizon is worth 0; in play without resets step 0 follows step 0. Rewards are in
[0, 1]. Uniform numbers are given.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np


def closest(point: np.ndarray) -> np.ndarray:
    """The closest distribution: Σ max(point − t, 0) = 1, by bisection."""
    low, high = point.min() - 1.0, point.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(point - middle, 0).sum() > 1 else (low, middle)
    return np.maximum(point - low, 0)


def draw(weights: np.ndarray, u: float) -> int:
    for a, weight in enumerate(weights[:-1]):
        u -= weight
        if u < 0:
            return a
    return len(weights) - 1


def optimistic(r, p, gamma, x, y, iterations, eta):
    """Wei et al. (2021) on a discounted zero-sum game with losses r [S, A, B] of the first agent: yields iterates."""
    S, H = len(r), 1 / (1 - gamma)
    critics, hats = [np.zeros(S), np.zeros(S)], [x.copy(), y.copy()]
    x, y = x.copy(), y.copy()
    for t in range(1, iterations + 1):
        alpha, new = (H + 1) / (H + t), [np.zeros(S), np.zeros(S)]
        moved = [x.copy(), y.copy()]
        for s in range(S):
            loss = [
                (r[s] + gamma * p[s] @ critics[0]) @ y[s],
                (-r[s] + gamma * p[s] @ critics[1]).T @ x[s],
            ]
            for k, mine in enumerate((x[s], y[s])):
                new[k][s] = critics[k][s] + alpha * (mine @ loss[k] - critics[k][s])
                hats[k][s] = closest(hats[k][s] - eta * loss[k])
                moved[k][s] = closest(hats[k][s] - eta * loss[k])
        (x, y), critics = moved, new
        yield x, y


class Batches:
    """What batches of visits have in common."""

    def __init__(self, A: int, H: int, *, batch: int, epsilon: float, eta: float, gamma: float = 1.0, endless=False):
        self.A, self.H, self.batch, self.epsilon, self.eta = A, H, batch, epsilon, eta
        self.gamma, self.endless = gamma, endless
        self.x: dict = defaultdict(lambda: np.full(A, 1 / A))
        self.seen: dict = defaultdict(list)

    def act(self, h: int, s: int, u: float) -> int:
        if u < self.epsilon:
            return int(u / self.epsilon * self.A)
        return draw(self.x[h, s], (u - self.epsilon) / (1 - self.epsilon))

    def policy(self, h: int, s: int) -> np.ndarray:
        return self.x[h, s]

    def payoffs(self, batch: list) -> tuple[float, np.ndarray]:
        mean = sum(value for _, value in batch) / len(batch)
        each = [[value for b, value in batch if b == a] for a in range(self.A)]
        return mean, np.array([sum(values) / len(values) if values else mean for values in each])


class Optimistic(Batches):
    """Wei et al. (2021) from play, with batches by state."""

    def __init__(self, *args, **more) -> None:
        super().__init__(*args, **more)
        self.hat: dict = defaultdict(lambda: np.full(self.A, 1 / self.A))
        self.V: dict = defaultdict(float)
        self.t: dict = defaultdict(int)

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        last = h == self.H - 1 and not self.endless
        follows = 0.0 if last else self.V[0 if self.endless else h + 1, s_next]
        self.seen[h, s].append((a, r + self.gamma * follows))
        if len(self.seen[h, s]) == self.batch:
            mean, q = self.payoffs(self.seen.pop((h, s)))
            self.t[h, s] += 1
            length = 1 / (1 - self.gamma) if self.endless else self.H
            alpha = (length + 1) / (length + self.t[h, s])
            self.V[h, s] = (1 - alpha) * self.V[h, s] + alpha * mean
            self.hat[h, s] = closest(self.hat[h, s] + self.eta * q)
            self.x[h, s] = closest(self.hat[h, s] + self.eta * q)


class Returns(Batches):
    """Ding et al. (2022) from play: means of returns."""

    def __init__(self, *args, **more) -> None:
        super().__init__(*args, **more)
        self.path: list = []

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        self.path.append((h, s, a, r))
        if h == self.H - 1:
            for k, (step, state, action, _) in enumerate(self.path):
                self.seen[step, state].append((action, sum(reward for *_, reward in self.path[k:])))
                if len(self.seen[step, state]) == self.batch:
                    _, q = self.payoffs(self.seen.pop((step, state)))
                    self.x[step, state] = closest(self.x[step, state] + self.eta * q)
            self.path = []


class Reinforce:
    """Daskalakis et al. (2020): REINFORCE with ε-greedy direct parameters."""

    def __init__(self, A: int, H: int, *, epsilon: float, eta: float) -> None:
        self.A, self.H, self.epsilon, self.eta = A, H, epsilon, eta
        self.theta: dict = defaultdict(lambda: np.full(A, 1 / A))
        self.path: list = []

    def policy(self, h: int, s: int) -> np.ndarray:
        return (1 - self.epsilon) * self.theta[h, s] + self.epsilon / self.A

    def act(self, h: int, s: int, u: float) -> int:
        return draw(self.policy(h, s), u)

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        self.path.append((h, s, a, r))
        if h == self.H - 1:
            total = sum(reward for *_, reward in self.path)
            for step, state, action, _ in self.path:
                score = np.eye(self.A)[action] * (1 - self.epsilon) / self.policy(step, state)[action]
                self.theta[step, state] = closest(self.theta[step, state] + self.eta * total * score)
            self.path = []
