"""Exact policy gradients with direct parameterization. [Mao2022, eqn:policy_gradient]"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation.contraction import own_payoffs
from tacit.evaluation.crowd import crowd_values
from tacit.evaluation.values import occupancy
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame
from tacit.policies.markov import MarkovPolicy, check_policy


class Gradient(NamedTuple):
    """Gradients of every agent's value with respect to its own policy, and what they are made of.

    Attributes
    ----------
    gradients : list of N arrays [H, S, A_i]
        Of each agent's value with respect to its own policy.
    q : list of N arrays [H, S, A_i]
        The values of own actions, averaged over the others' policies.
    V : array [N, H + 1, S]
        Values from step h on.
    occupancy : array [H, S]
        Probabilities of being in s at step h.

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import policy_gradient
    >>> game = tacit.make("matching-pennies")
    >>> policy_gradient(game, tacit.MarkovPolicy.uniform(game)).occupancy
    array([[1.]])
    """

    gradients: list[FloatArray]  # for each agent [H, S, A_i]: d_h(s)·E_{a_-i}[Q_{h,i}(s, a, a_-i)]
    q: list[FloatArray]  # for each agent [H, S, A_i]: E_{a_-i}[Q_{h,i}(s, a, a_-i)]
    V: FloatArray  # [N, H + 1, S]
    occupancy: FloatArray  # [H, S]


def policy_gradient(game: ExactGame, policy: MarkovPolicy) -> Gradient:
    """Compute ∂V_{1,i}(ρ)/∂π_{h,i}(a|s) = d_h(s)·E_{a_-i ~ π_-i}[Q_{h,i}(s, a, a_-i)] for all agents.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
        A product policy.

    Returns
    -------
    Gradient

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import policy_gradient
    >>> game = tacit.make("matching-pennies")
    >>> policy_gradient(game, tacit.MarkovPolicy([[[[1.0, 0.0]]], [[[0.5, 0.5]]]])).gradients[1]
    array([[[-1.,  1.]]])
    """
    check_policy(policy)
    policy.check_fits(game)
    if not policy.product:
        raise TacitError("the policy gradient needs a product policy, and this one is correlated")
    if isinstance(game, CountGame):
        values, own_q, there = crowd_values(game, policy)
        return Gradient(list(there[:, :, None] * own_q), list(own_q), values, there)
    H, S = game.horizon, game.states
    V = memory.zeros((game.agents, H + 1, S), "the values of the policy")
    q = [np.zeros((H, S, a)) for a in game.actions]
    for h in reversed(range(H)):
        rows = policy.at(h)
        payoffs = game.step_rewards(h)
        if h + 1 < H:
            payoffs = payoffs + game.expect(h, V[:, h + 1])
        for i, own in enumerate(rows):
            q[i][h] = own_payoffs(payoffs[i], rows, i)
            V[i, h] = np.einsum("sa,sa->s", q[i][h], own)
    d = occupancy(game, policy)
    return Gradient([d[:, :, None] * own for own in q], q, V, d)
