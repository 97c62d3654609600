"""Discounted games in stretches: how what has no last step is played and learned.

A stretch ends with probability 1 − γ at each step, so that the sum of its rewards is on average the discounted return,
up to what comes after its last step (`TabularGame.stretch`). It is a finite game like any other; what is learned in it
has a table for each step, and is brought back to one: the tables averaged by how often they are used, or the first one,
which looks furthest ahead, whichever has the smaller exact gap in the discounted game.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.evaluation.gaps import Evaluation, evaluate
from tacit.evaluation.values import occupancy
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy


def extend_policy(policy: MarkovPolicy) -> MarkovPolicy:
    """Return a stationary policy as it is played in a stretch: evenly in the last state, "over".

    >>> extend_policy(MarkovPolicy([[[[1.0, 0.0]]]])).probs[0].tolist()
    [[[1.0, 0.0], [0.5, 0.5]]]
    """
    tables = []
    for own in policy.probs:
        even = np.full((own.shape[0], 1, *own.shape[2:]), 1 / np.prod(own.shape[2:]))
        tables.append(np.concatenate([own, even], axis=1))
    return MarkovPolicy([Owned(own) for own in tables] if policy.product else Owned(tables[0]))


def unroll(game: Any, policy: Any) -> tuple[Any, Any]:
    """Return a game and a policy as they are played: of a discounted game its stretch, others as they are."""
    if getattr(game, "discount", None) is None:
        return game, policy
    policy.check_fits(game)
    return game.stretch(), extend_policy(policy)


def merge_steps(
    game: TabularGame, stretch: TabularGame, policy: MarkovPolicy, *, gap: str | None = None
) -> tuple[MarkovPolicy, Evaluation]:
    """Return the stationary policy of a discounted game that comes of one for each step of a stretch, and its gap."""
    used = occupancy(stretch, policy)[:, : game.states]
    averaged = [_average(own[:, : game.states], used) for own in policy.probs]
    found = []
    for tables in (averaged, [own[:1, : game.states] for own in policy.probs]):
        one = MarkovPolicy([Owned(own) for own in tables] if policy.product else Owned(tables[0]))
        found.append((one, evaluate(game, one, gap=None if policy.product else gap)))
    return min(found, key=lambda pair: pair[1].gap)


def _average(table: FloatArray, used: FloatArray) -> FloatArray:
    """Return the mean [1, S, …] of tables [T or 1, S, …] by how often each is used, [T, S]; the first if none is."""
    if len(table) == 1:
        return np.array(table)
    total = used.sum(axis=0)
    flat = table.reshape(*used.shape, -1)
    mean: FloatArray = np.einsum("hs,hsa->sa", used, flat) / np.where(total > 0, total, 1.0)[:, None]
    mean = np.where(total[:, None] > 0, mean, flat[0])
    mean /= mean.sum(axis=1, keepdims=True)
    return mean.reshape(1, *table.shape[1:])
