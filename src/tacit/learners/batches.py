"""Payoffs of own actions from batches of visits, for learners that project onto the simplex of each (h, s).

At each (h, s) an agent plays (1 − ε)·x + ε/A for a batch of visits, and sums what followed each action:

    q̂(a) = mean of what followed a in the batch, or the mean of the batch if a was not played.

All agents see the state, so a batch of (h, s) ends for all of them at the same visit.
"""

from __future__ import annotations

from typing import Any

from tacit.bandits.spec import pick
from tacit.core import check, elementary, generics
from tacit.core.records import NONNEGATIVE, Fields
from tacit.learners.spec import player

project = generics.jitable(elementary.project)


def fields(actions: int) -> Fields:
    """Return what a cell remembers of its batch, and x."""
    return [
        ("prob", NONNEGATIVE, actions),  # x
        ("total", "f8", actions),  # sum of what followed each action in the batch
        ("count", "i8", actions),  # visits of the batch with each action
        ("visits", "i8"),  # visits of the batch
    ]


def check_play(batch: int, exploration: float) -> None:
    """Check the parameters of play."""
    check.integer("batch", batch, least=1)
    check.real("exploration", exploration, least=0, most=0.999)


@generics.jitable
def act(learner, i, h, s, u):
    """Draw from x, or uniformly with probability ε."""
    n, explores = learner.actions[i], learner.exploration
    if u < explores:
        return min(int(u / explores * n), n - 1)
    prob = player(learner.players, learner.cells, i, h, s).prob
    return pick(prob, 1.0, n, (u - explores) / (1.0 - explores))


@generics.jitable
def policy(learner, i, h, s, out):
    """Write x."""
    prob = player(learner.players, learner.cells, i, h, s).prob
    for a in range(learner.actions[i]):
        out[a] = prob[a]


@generics.jitable
def add(cell, a, value):
    """Add what followed an action to the batch."""
    cell.total[a] += value
    cell.count[a] += 1
    cell.visits += 1


@generics.jitable
def close(cell, n):
    """End a batch: write q̂ less its mean into `total`, and return that mean over the visits."""
    mean = 0.0
    for a in range(n):
        mean += cell.total[a]
    mean /= cell.visits
    for a in range(n):
        cell.total[a] = cell.total[a] / cell.count[a] - mean if cell.count[a] > 0 else 0.0
    return mean


@generics.jitable
def ascend(x, q, eta, n):
    """Move x to Proj(x + η·q), in place."""
    for a in range(n):
        x[a] += eta * q[a]
    project(x, n)


@generics.jitable
def clear(cell, n):
    """Begin a batch."""
    for a in range(n):
        cell.total[a] = 0.0
        cell.count[a] = 0
    cell.visits = 0


def begin(players: Any, start: Any, *names: str) -> None:
    """Write the first policies [H, S, N, A] into fields of the players."""
    for name in names:
        players[name][: len(start)] = start[: len(players)]
