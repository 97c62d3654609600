"""A bandit of your own, in one file: regret matching with importance weights, used by V-learning without another line.

    python examples/new_bandit.py

    R(b) ← max(0, R(b) + loss − loss/prob·[b = a]),   μ(b) = (1 − γ)·R(b)/ΣR + γ/A

A bandit is a frozen dataclass of parameters, a NamedTuple of arrays, and five kernels: plain functions that touch row
i, cell c, and call each other through `generics`. They are compiled into the learning loop, and swap regret over them
comes for free.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import tacit
from tacit.bandits import REGISTRY
from tacit.core import generics


@dataclass(frozen=True)
class RegretMatching:
    """Regret matching+ on estimated losses, mixed with even play."""

    exploration: float = 0.1

    @property
    def regret(self):
        return "external"

    def init(self, cells):
        grid = (cells.agents, cells.number)
        return RegretMatchingState(np.zeros((*grid, cells.most)), np.zeros(grid), self.exploration, cells.actions)


class RegretMatchingState(NamedTuple):
    regret: np.ndarray  # [N, C, A]  R, never negative
    total: np.ndarray  # [N, C]  ΣR
    exploration: float
    actions: np.ndarray  # [N]


@generics.restart.implement(RegretMatchingState)
def restart(bandit, i, c, rounds):
    for a in range(bandit.actions[i]):
        bandit.regret[i, c, a] = 0.0
    bandit.total[i, c] = 0.0


@generics.chance.implement(RegretMatchingState)
def chance(bandit, i, c, a):
    even = 1.0 / bandit.actions[i]
    if bandit.total[i, c] <= 0.0:
        return even
    return (1.0 - bandit.exploration) * bandit.regret[i, c, a] / bandit.total[i, c] + bandit.exploration * even


@generics.draw.implement(RegretMatchingState)
def draw(bandit, i, c, u):
    for a in range(bandit.actions[i] - 1):
        u -= generics.chance(bandit, i, c, a)
        if u < 0.0:
            return a
    return bandit.actions[i] - 1


@generics.spread.implement(RegretMatchingState)
def spread(bandit, i, c, out):
    for a in range(bandit.actions[i]):
        out[a] = generics.chance(bandit, i, c, a)


@generics.feed.implement(RegretMatchingState)
def feed(bandit, i, c, a, loss, prob):
    total = 0.0
    for b in range(bandit.actions[i]):
        gained = bandit.regret[i, c, b] + loss - (loss / prob if b == a else 0.0)
        bandit.regret[i, c, b] = max(0.0, gained)
        total += bandit.regret[i, c, b]
    bandit.total[i, c] = total


REGISTRY.add("regret-matching", RegretMatching)  # a package would use the entry point group tacit.bandits instead

if __name__ == "__main__":
    game = tacit.make("rock-paper-scissors")
    for learner in ("stage-v-cce", "stage-v-ce"):
        run = tacit.learn(game, learner, episodes=50_000, seed=0, bandit="regret-matching")
        print(f"{learner}: {run.gaps.kind} gap ≤ {run.gap:.4f}, {run.steps_per_second:.2g} steps a second")
        assert run.gap < 0.1
