"""Q-learners of the literature as their sources state them: plain Python, dictionaries, one agent each, no shortcuts.

Steps count from 0. `end` is what follows the last step, where values are 0; without resets it is None, and step 0
follows step 0. Uniform numbers are given: the first draws the action, `rest` of it a second coin.
"""

from __future__ import annotations

import math
from collections import defaultdict


def rest(u: float) -> float:
    """Return the digits of a uniform number below 2^-24, as a uniform number."""
    return math.modf(u * 2**24)[0]


def draw(weights: list[float], u: float) -> int:
    for a, weight in enumerate(weights[:-1]):
        u -= weight
        if u < 0:
            return a
    return len(weights) - 1


class Tabular:
    """One agent with a table q[h, s, a]."""

    def __init__(self, A: int, H: int, gamma: float, *, resets: bool) -> None:
        self.A, self.H, self.gamma, self.resets = A, H, gamma, resets
        self.q: dict = defaultdict(float)

    def next(self, h: int) -> int:
        return h + 1 if self.resets else 0

    def ends(self, h: int) -> bool:
        return self.resets and h == self.H - 1

    def row(self, h: int, s: int) -> list[float]:
        return [self.q[h, s, a] for a in range(self.A)]

    def ahead(self, h: int, s_next: int) -> float:
        return 0.0 if self.ends(h) else max(self.row(self.next(h), s_next))

    def greedy(self, h: int, s: int) -> list[float]:
        row = self.row(h, s)
        best = [a for a in range(self.A) if row[a] == max(row)]
        return [1 / len(best) if a in best else 0.0 for a in range(self.A)]

    def policy(self, h: int, s: int) -> list[float]:
        return self.greedy(h, s)


class Distributed(Tabular):
    """Lauer and Riedmiller (2000)."""

    def __init__(self, *args, low: float, epsilon: float, over: int = -1, **more) -> None:
        super().__init__(*args, **more)
        self.low, self.epsilon, self.over = low, epsilon, over
        self.chosen: dict = defaultdict(int)
        self.met: set = set()

    def row(self, h: int, s: int) -> list[float]:
        if (h, s) not in self.met:  # no return is smaller
            self.met.add((h, s))
            left = self.H - h if self.gamma == 1 else 1 / (1 - self.gamma)
            for a in range(self.A):
                self.q[h, s, a] = self.low * left
        return super().row(h, s)

    def policy(self, h: int, s: int) -> list[float]:
        return [float(a == self.chosen[h, s]) for a in range(self.A)]

    def act(self, h: int, s: int, u: float) -> int:
        return int(u / self.epsilon * self.A) if u < self.epsilon else self.chosen[h, s]

    def learn(self, h, s, a, r, s_next, u) -> None:
        if self.over >= 0 and (s_next == self.over or h == self.H - 1):
            return  # no step of the discounted game
        step = 0 if self.over >= 0 else self.next(h)
        here = 0 if self.over >= 0 else h
        before = max(self.row(here, s))
        follows = 0.0 if self.over < 0 and self.ends(h) else max(self.row(step, s_next))
        value = r + self.gamma * follows
        if value > self.q[here, s, a]:
            self.q[here, s, a] = value
        if max(self.row(here, s)) > before:
            self.chosen[here, s] = a


class Hysteretic(Tabular):
    """Matignon et al. (2007); with a temperature, Wei and Luke (2016)."""

    def __init__(self, *args, alpha: float, beta: float, temperature: float, epsilon: float, **more) -> None:
        super().__init__(*args, **more)
        self.alpha, self.beta, self.lenient, self.epsilon = alpha, beta, temperature > 0, epsilon
        self.T: dict = defaultdict(lambda: temperature)

    def act(self, h: int, s: int, u: float) -> int:
        return draw([(1 - self.epsilon) * p + self.epsilon / self.A for p in self.greedy(h, s)], u)

    def learn(self, h, s, a, r, s_next, u) -> None:
        delta = r + self.gamma * self.ahead(h, s_next) - self.q[h, s, a]
        if delta >= 0:
            self.q[h, s, a] += self.alpha * delta
        elif not self.lenient:
            self.q[h, s, a] += self.beta * delta
        elif rest(u) < 1 - math.exp(-1 / self.T[h, s, a]):
            self.q[h, s, a] += self.alpha * delta
        if self.ends(h):
            self.T[h, s, a] *= 0.995
        else:
            mean = sum(self.T[self.next(h), s_next, b] for b in range(self.A)) / self.A
            self.T[h, s, a] = 0.995 * (0.9 * self.T[h, s, a] + 0.1 * mean)


class WoLF(Tabular):
    """Bowling and Veloso (2002)."""

    def __init__(self, *args, alpha, win, lose, epsilon, alpha_visits=math.inf, delta_visits=math.inf, **more) -> None:
        super().__init__(*args, **more)
        self.alpha, self.win, self.lose, self.epsilon = alpha, win, lose, epsilon
        self.alpha_visits, self.delta_visits = alpha_visits, delta_visits
        self.pi: dict = defaultdict(lambda: [1 / self.A] * self.A)
        self.mean: dict = defaultdict(lambda: [1 / self.A] * self.A)
        self.n: dict = defaultdict(int)

    def policy(self, h: int, s: int) -> list[float]:
        return self.pi[h, s]

    def act(self, h: int, s: int, u: float) -> int:
        if u < self.epsilon:
            return int(u / self.epsilon * self.A)
        return draw(self.pi[h, s], (u - self.epsilon) / (1 - self.epsilon))

    def learn(self, h, s, a, r, s_next, u) -> None:
        t = self.n[h, s]
        alpha = self.alpha / (1 + t / self.alpha_visits)
        self.q[h, s, a] = (1 - alpha) * self.q[h, s, a] + alpha * (r + self.gamma * self.ahead(h, s_next))
        self.n[h, s] = t + 1
        row, pi = self.row(h, s), self.pi[h, s]
        self.mean[h, s] = [old + (new - old) / (t + 1) for old, new in zip(self.mean[h, s], pi, strict=True)]
        mine, average = (sum(p * x for p, x in zip(probs, row, strict=True)) for probs in (pi, self.mean[h, s]))
        delta = (self.win if mine > average else self.lose) / (1 + t / self.delta_visits)
        best = row.index(max(row))
        taken = [0.0 if b == best else min(pi[b], delta / (self.A - 1)) for b in range(self.A)]
        self.pi[h, s] = [pi[b] + (sum(taken) if b == best else -taken[b]) for b in range(self.A)]
