"""Exact policy gradients with direct parameterization, and the distance to a stationary point.

[Mao2022, eqn:policy_gradient, def:stationary_point]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.elementary import project_each
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.evaluation.values import Play, backward, follow_on, forward
from tacit.games.exact import ExactGame, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy, check_policy


class Gradient(NamedTuple):
    """Gradients of every agent's value in its own policy, and their factors.

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
    check_policy(policy, product="the policy gradient")
    policy.check_fits(game)
    memory.require(memory.floats(game.agents, game.horizon + 1, game.states), "the values of the policy")
    return gradients(game, policy.at, game.initial)


def gradients(game: ExactGame, rows_at: Play, initial: FloatArray) -> Gradient:
    """Compute the gradients at any rows of independent agents, distributions or not.

    Complex rows give derivatives of the gradient without differences: for a polynomial f, Im f(x + iε·v)/ε is the
    directional derivative to rounding, whatever ε (the complex step).
    """
    rows = [rows_at(h) for h in range(game.horizon)]
    steps = [*backward(game, rows.__getitem__)][::-1]
    V = follow_on(game, np.stack([*(step.V for step in steps), np.zeros_like(steps[0].V)], axis=1))
    q = np.stack([step.payoffs for step in steps], axis=1)  # [N, H, S, A]
    d = forward(game, rows.__getitem__, initial)
    slopes = d[:, :, None] * q
    values, own_slopes = ([table[i, ..., :a] for i, a in enumerate(game.actions)] for table in (q, slopes))
    return Gradient(own_slopes, values, V, d)


@dataclass(frozen=True)
class Stationarity:
    """First-order conditions at a policy.

    Attributes
    ----------
    epsilon : float
        The smallest ε for which the policy is an ε-approximate stationary point: the largest Σ_i δ_i·∇_i V_i over
        feasible δ with Σ_i ‖δ_i‖² ≤ 1.
    mapping : float
        ‖Proj(π + η∇V) − π‖/η with η one over the smoothness constant.
    smoothness : float
        4·N·A_max·H³ times the span of the rewards. [Mao2022, lemma:smoothness]

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("stag-hunt")
    >>> tacit.stationarity(game, tacit.MarkovPolicy.uniform(game)).epsilon > 0
    True
    """

    epsilon: float
    mapping: float
    smoothness: float


def lipschitz(agents: int, actions: int, horizon: float) -> float:
    """Return 4·N·A_max·H³, a Lipschitz constant of the potential's gradient. [Mao2022, lemma:smoothness]"""
    return 4.0 * agents * actions * horizon**3


def smoothness_constant(game: TabularGame) -> float:
    """Return 4·N·A_max·H³ times the span of the rewards, a Lipschitz constant of the potential's gradient.

    [Mao2022, lemma:smoothness] In a discounted game 1/(1 − γ) stands for H.

    Parameters
    ----------
    game : TabularGame

    Returns
    -------
    float

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import smoothness_constant
    >>> smoothness_constant(tacit.make("matching-pennies"))
    32.0
    """
    if not isinstance(game, TabularGame):
        raise TacitError(f"game must be a TabularGame; got {brief(game)}")
    low, high = game.reward_range
    return lipschitz(game.agents, max(game.actions), game.effective_horizon) * (high - low)


def stationarity(game: TabularGame, policy: MarkovPolicy) -> Stationarity:
    """Measure how far a product policy is from a stationary point.

    In a Markov potential game the agents' own gradients are those of the potential. The largest first-order gain over
    the unit ball is attained by δ = Proj(π + t·∇V) − π for the t at which ‖δ‖ = 1, found by bisection; without the
    ball, by best responses at each (h, s).

    Parameters
    ----------
    game : TabularGame
    policy : MarkovPolicy
        A product policy.

    Returns
    -------
    Stationarity

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("stag-hunt")
    >>> tacit.stationarity(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], game.actions)).epsilon
    0.0
    """
    game = with_tables(game)
    check_policy(policy, product="stationarity")
    slopes = policy_gradient(game, policy).gradients
    here = [np.broadcast_to(probs, slope.shape) for probs, slope in zip(policy.probs, slopes, strict=True)]
    smoothness = smoothness_constant(game)
    eta = 1.0 / smoothness if smoothness > 0 else 1.0
    mapping = _norm(_move(here, slopes, eta)) / eta
    free = [_to_best(probs, slope) for probs, slope in zip(here, slopes, strict=True)]
    delta = free if _norm(free) <= 1 else _on_the_ball(here, slopes)
    gain = sum(float((part * slope).sum()) for part, slope in zip(delta, slopes, strict=True))
    return Stationarity(max(gain, 0.0), mapping, smoothness)


def _on_the_ball(here: list[FloatArray], slopes: list[FloatArray]) -> list[FloatArray]:
    low, high = 0.0, 1.0 / max(_norm(slopes), 1e-300)
    while _norm(_move(here, slopes, high)) < 1:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if _norm(_move(here, slopes, middle)) < 1:
            low = middle
        else:
            high = middle
    return _move(here, slopes, low)


def _move(here: list[FloatArray], slopes: list[FloatArray], t: float) -> list[FloatArray]:
    return [project_each(probs + t * slope) - probs for probs, slope in zip(here, slopes, strict=True)]


def _to_best(probs: FloatArray, slope: FloatArray) -> FloatArray:
    """Return the shortest way to a best response at each (h, s). The mass of worse actions goes evenly to the best."""
    good = slope >= slope.max(axis=2, keepdims=True)
    off = np.where(good, 0.0, probs)
    share = off.sum(axis=2, keepdims=True) / good.sum(axis=2, keepdims=True)
    return np.where(good, share, -probs)


def _norm(parts: list[FloatArray]) -> float:
    return float(np.sqrt(sum(float((part**2).sum()) for part in parts)))
