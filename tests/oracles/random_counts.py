"""Random counting games of every form, and an oracle for them: sums over joint actions in plain Python."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

import tacit

#: name: agents, actions, load, scores, weights
FORMS: dict[str, tuple[int, int, bool, tuple[int, ...] | None, bool]] = {
    "loads and counts": (3, 3, True, None, True),
    "two actions": (5, 2, True, (1, 3), False),
    "one action": (3, 1, True, None, False),
    "one action, scored": (3, 1, False, (2,), False),
    "counts and counts": (2, 4, False, None, True),
    "counts and scores": (4, 3, False, (1, 2, 4), False),
    "two actions, counts": (4, 2, False, None, True),
    "alone": (1, 3, True, (0, 1, 5), False),
    "nobody moves the state": (6, 4, True, (0, 0, 0, 0), False),
    "eight agents": (8, 2, True, (0, 1), True),
    "eight agents, four actions": (8, 4, True, None, False),
}


class Tables:
    """The arrays a game was made of."""

    def __init__(self, form: str, *, states: int = 2, horizon: int = 3, seed: int = 0) -> None:
        self.N, self.A, self.load, self.scores, weighted = FORMS[form]
        self.S, self.H = states, horizon
        rng = np.random.default_rng([seed, *form.encode()])
        self.counts = [tuple(row) for row in tacit.games.count_vectors(self.N, self.A).tolist()]
        totals = len(self.counts) if self.scores is None else self.N * max(self.scores) + 1
        self.R = rng.normal(size=(horizon, states, self.A, self.N + 1 if self.load else len(self.counts)))
        self.P = rng.dirichlet(np.ones(states), (1, states, totals))
        self.rho = rng.dirichlet(np.ones(states))
        self.w = rng.normal(size=(self.N, self.A)) if weighted else None

    def game(self) -> tacit.CountGame:
        sizes: dict[str, Any] = {"agents": self.N, "actions": self.A, "load": self.load, "scores": self.scores}
        return tacit.CountGame(self.R, self.P, self.rho, self.H, weights=self.w, **sizes)

    def reward(self, i: int, h: int, s: int, joint: tuple[int, ...]) -> float:
        a = joint[i]
        counts = tuple(joint.count(b) for b in range(self.A))
        own = self.R[h, s, a, counts[a] if self.load else self.counts.index(counts)]
        return float(own if self.w is None else self.w[i, a] * own)

    def row(self, s: int, joint: tuple[int, ...]) -> np.ndarray:
        counts = tuple(joint.count(b) for b in range(self.A))
        total = self.counts.index(counts) if self.scores is None else sum(self.scores[a] for a in joint)
        return self.P[0, s, total]

    def joints(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(range(self.A), repeat=self.N)


def exact_seat(tables: Tables, probs: list[list[Fraction]], i: int, h: int, s: int) -> tuple[list, list]:
    """Agent i's expected reward and next states of each own action, in rational numbers, over all joint actions."""
    reward = [Fraction(0)] * tables.A
    after = [[Fraction(0)] * tables.S for _ in range(tables.A)]
    for joint in tables.joints():
        chance = Fraction(1)
        for j, a in enumerate(joint):
            if j != i:
                chance *= probs[j][a]
        reward[joint[i]] += chance * Fraction(tables.reward(i, h, s, joint))
        for t, p in enumerate(tables.row(s, joint)):
            after[joint[i]][t] += chance * Fraction(float(p))
    return reward, after
