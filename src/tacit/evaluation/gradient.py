"""Exact policy gradients with direct parameterization. [Mao2022, eqn:policy_gradient]"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation.induction import Play, backward, forward
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
    memory.require(memory.floats(game.agents, game.horizon + 1, game.states), "the values of the policy")
    return gradients(game, policy.at, game.initial)


def gradients(game: ExactGame, rows_at: Play, initial: FloatArray) -> Gradient:
    """Compute the gradients at what independent agents play, distributions or not, from an initial distribution [S].

    Complex rows give derivatives of the gradient without differences: for a polynomial f, Im f(x + iε·v)/ε is the
    directional derivative to rounding, whatever ε (the complex step).
    """
    rows = [rows_at(h) for h in range(game.horizon)]
    steps = [*backward(game, rows.__getitem__)][::-1]
    V = np.stack([*(step.V for step in steps), np.zeros_like(steps[0].V)], axis=1)
    q = np.stack([step.payoffs for step in steps], axis=1)  # [N, H, S, A]
    d = forward(game, rows.__getitem__, initial)
    slopes = d[:, :, None] * q
    own, slopes_own = ([table[i, ..., :a] for i, a in enumerate(game.actions)] for table in (q, slopes))
    return Gradient(slopes_own, own, V, d)
