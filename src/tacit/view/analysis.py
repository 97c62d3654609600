"""What a policy does at each step and state, and who gains by leaving it: the one place that asks the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.types import FloatArray
from tacit.evaluation import Evaluation, deviations, occupancy
from tacit.games.exact import ExactGame
from tacit.policies import MarkovPolicy
from tacit.view import episodes


@dataclass(frozen=True)
class Behaviour:
    """How likely each place is reached [H, S], and what each agent plays there, [H, S, A_i] each."""

    reach: FloatArray
    marginals: tuple[FloatArray, ...]
    averaged: bool


def behaviour(game: ExactGame, policy: Any) -> Behaviour:
    """Compute what a policy does; of one that is not Markov, by playing it."""
    H, S = game.horizon, game.states
    if isinstance(policy, MarkovPolicy):
        tables = tuple(np.broadcast_to(policy.marginal(i), (H, S, game.actions[i])) for i in range(game.agents))
        return Behaviour(occupancy(game, policy), tables, False)
    count = int(max(50, min(2000, 100_000 // (game.horizon * game.agents))))
    played = episodes.play(game, policy, episodes=count)
    reach = np.stack([np.bincount(played.states[:, h], minlength=S) for h in range(H)]) / count
    counted = []
    for i, a in enumerate(game.actions):
        table = np.full((H, S, a), 1e-12)
        for h in range(H):
            np.add.at(table[h], (played.states[:, h], played.actions[:, h, i]), 1.0)
        counted.append(table / table.sum(axis=2, keepdims=True))
    return Behaviour(reach, tuple(counted), True)


def deviation_rows(game: ExactGame, policy: Any, found: Evaluation, most: int) -> list[dict[str, Any]]:
    """Return the largest parts of the gaps."""
    if not isinstance(policy, MarkovPolicy):
        return []
    deviations(game, policy, found.kind)
    return []


def lower_bounds(game: ExactGame, policy: Any, found: Evaluation) -> FloatArray | None:
    """Return lower bounds on the gaps, where they are known."""
    return found.gaps if found.exact else None
