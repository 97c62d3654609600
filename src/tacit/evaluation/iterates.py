"""Many product policies at once: value, nash gap and L² gap of each iterate of a run, in one backward pass.

The same quantities as `evaluate` and `l2_gap`, for averages over all iterates. The states of all policies form one long
axis, so that one NumPy call does for all of them what would take one for each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core.elementary import dot
from tacit.core.types import FloatArray
from tacit.evaluation.contraction import own_payoffs
from tacit.evaluation.gaps import distances_to_best, tie_slack
from tacit.games.tabular import TabularGame


class IterateMeasures(NamedTuple):
    """Of n policies."""

    values: FloatArray  # [n, N]
    gaps: FloatArray  # [n, N]
    l2_gaps: FloatArray  # [n]


def evaluate_iterates(game: TabularGame, table: FloatArray) -> IterateMeasures:
    """Evaluate product policies given as one table [n, N, H, S, A], padded to the largest number of actions A.

    The L² gap of a policy is the expected sum over the steps of each state's distance to a best response, so it is
    computed as a value is, with distances in place of rewards.

    Parameters
    ----------
    game : TabularGame
    table : array [n, N, H, S, A]

    Returns
    -------
    IterateMeasures
        Value [n, N], nash gap [n, N] and L² gap [n] of each policy.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.evaluation import evaluate_iterates
    >>> found = evaluate_iterates(tacit.make("matching-pennies"), np.full((1, 2, 1, 1, 2), 0.5))
    >>> found._fields
    ('values', 'gaps', 'l2_gaps')
    """
    n, N, S = len(table), game.agents, game.states
    slack = tie_slack(game, 1e-9)
    # V of the policy and of each agent's best deviation, and the distance still to come
    V, best, away = np.zeros((n, N, S)), np.zeros((n, N, S)), np.zeros((n, S))
    for h in reversed(range(game.horizon)):
        rows = [table[:, i, h, :, :size].reshape(n * S, size) for i, size in enumerate(game.actions)]
        reward = game.step_rewards(h)
        stay, leave = _ahead(game, h, V), _ahead(game, h, best)
        away = _mean(game.expect(h, away).reshape(n * S, *game.actions), rows).reshape(n, S)
        for i, own in enumerate(rows):
            q = own_payoffs((reward[i] + stay[:, i]).reshape(n * S, *game.actions), rows, i)
            V[:, i] = np.einsum("sa,sa->s", q, own).reshape(n, S)
            gain = own_payoffs((reward[i] + leave[:, i]).reshape(n * S, *game.actions), rows, i)
            best[:, i] = gain.max(axis=1).reshape(n, S)
            away += distances_to_best(own, gain, slack).reshape(n, S)
    values = dot(V, game.initial)
    return IterateMeasures(values, np.maximum(dot(best, game.initial) - values, 0.0), dot(away, game.initial))


def _ahead(game: TabularGame, h: int, values: FloatArray) -> FloatArray:
    """Return the expected `values` [n, N, S] of the next state, as [n, N, S, A_1, …, A_N]."""
    n, N, S = values.shape
    return game.expect(h, values.reshape(n * N, S)).reshape(n, N, S, *game.actions)


def _mean(payoff: FloatArray, rows: list[FloatArray]) -> FloatArray:
    """Return the expectation of a payoff [n·S, A_1, …, A_N] over the joint action, [n·S]."""
    last = len(rows) - 1
    mean: FloatArray = np.einsum("sa,sa->s", own_payoffs(payoff, rows, last), rows[last])
    return mean
