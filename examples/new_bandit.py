"""A bandit of your own, in one file: regret matching with importance weights, used by V-learning without another line.

    python examples/new_bandit.py

    R(b) ← max(0, R(b) + loss − loss/prob·[b = a]),   μ(b) = (1 − γ)·R(b)/ΣR + γ/A

A bandit is a frozen dataclass of parameters that says what a cell remembers, and five kernels: plain functions that get
the record of their cell, and call each other through `generics`. They are compiled into the learning loop, and swap
regret over them comes for free.
"""

from dataclasses import dataclass
from typing import NamedTuple

import tacit
from tacit.bandits import REGISTRY, Bandit
from tacit.core import generics
from tacit.core.records import FIXED


@dataclass(frozen=True)
class RegretMatching(Bandit):
    """Regret matching+ on estimated losses, mixed with even play."""

    exploration: float = 0.1

    def fields(self, actions):
        return [("gained", "f8", actions), ("total", "f8"), ("actions", FIXED)]  # R, never negative; ΣR

    def init(self, cells, setting):
        cells["actions"] = setting.actions
        return RegretMatchingParams(self.exploration)


class RegretMatchingParams(NamedTuple):
    exploration: float


@generics.restart.implement(RegretMatchingParams)
def restart(bandit, cell, rounds):
    for a in range(cell.actions):
        cell.gained[a] = 0.0
    cell.total = 0.0


@generics.prob.implement(RegretMatchingParams)
def prob(bandit, cell, a):
    even = 1.0 / cell.actions
    if cell.total <= 0.0:
        return even
    return (1.0 - bandit.exploration) * cell.gained[a] / cell.total + bandit.exploration * even


@generics.draw.implement(RegretMatchingParams)
def draw(bandit, cell, u):
    for a in range(cell.actions - 1):
        u -= generics.prob(bandit, cell, a)
        if u < 0.0:
            return a
    return cell.actions - 1


@generics.probs.implement(RegretMatchingParams)
def probs(bandit, cell, out):
    for a in range(cell.actions):
        out[a] = generics.prob(bandit, cell, a)


@generics.update.implement(RegretMatchingParams)
def update(bandit, cell, a, loss, prob):
    total = 0.0
    for b in range(cell.actions):
        cell.gained[b] = max(0.0, cell.gained[b] + loss - (loss / prob if b == a else 0.0))
        total += cell.gained[b]
    cell.total = total


REGISTRY.add("regret-matching", RegretMatching)  # a package would use the entry point group tacit.bandits instead

if __name__ == "__main__":
    game = tacit.make("rock-paper-scissors")
    for learner in ("stage-v-cce", "stage-v-ce"):
        run = tacit.learn(game, learner, episodes=50_000, seed=0, bandit="regret-matching")
        print(f"{learner}: {run.gaps.kind} gap ≤ {run.gap:.4f}, {run.steps_per_second:.2g} steps a second")
        assert run.gap < 0.1
