"""(λ, ω)-smooth Markov potential games, by exhaustion on small games. [Mao2022, def:smooth, thm:smooth]

A game is (λ, ω)-smooth if V_i^{π*_i, π_-i}(s) ≥ λ·V_i*(s) − ω·V_i^π(s) for all policies π, agents i and states s,
where π* maximises the potential. The left side plus ω·V_i^π is affine in each agent's distribution at each (h, s), so
its minimum over π is attained by deterministic policies, which can be counted through. With f_i(x_i, s) the smallest
of V_i^{x_i, π_-i}(s) + ω·V_i^π(s), the largest λ for one π* is the smallest of f_i(π*_i, s)/V_i*(s). Rewards are
shifted to begin at 0, as the definition asks.

Deviations: π* ranges over the deterministic maximisers, all of them. Where there are several, a mixture of them may
maximise the potential too and allow a larger λ; the one here is sound and does not depend on the order of actions.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.potential import potential
from tacit.games.exact import check_finite, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy

#: Deterministic joint policies that are counted through at most.
LIMIT = 20_000

#: Potentials and values within this share of H times the span are equal.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Smoothness:
    """The largest λ for an ω.

    Attributes
    ----------
    lam, omega : float
        λ is infinite where V* is 0 for everybody.
    ratio : float
        λ/(1 + ω): what share of V* any Nash equilibrium has, and policy gradients reach up to ε/(1 + ω).
    best : MarkovPolicy
        The policy π* with this λ: it maximises the potential, summed over first states, among all policies.
    maximisers : int
        How many deterministic policies do.

    Examples
    --------
    >>> import tacit
    >>> tacit.smoothness(tacit.make("stag-hunt")).maximisers
    1
    """

    lam: float
    omega: float
    ratio: float
    best: MarkovPolicy
    maximisers: int


def smoothness(game: TabularGame, *, omega: float = 0.5) -> Smoothness:
    """Compute the largest λ for which a small potential game is (λ, ω)-smooth with a deterministic π*.

    Parameters
    ----------
    game : TabularGame
    omega : float

    Returns
    -------
    Smoothness

    Examples
    --------
    >>> import tacit
    >>> round(tacit.smoothness(tacit.make("stag-hunt"), omega=0.5).lam, 6)
    1.0
    """
    game = with_tables(game)
    check_finite(game, "smoothness")
    omega = check.real("omega", omega, least=0, most=1)
    profiles = math.prod(a ** (game.horizon * game.states) for a in game.actions)
    if profiles > LIMIT:
        raise TacitError(f"this game has {profiles:.3g} deterministic policies; smoothness is computed up to {LIMIT}")
    if not potential(game).holds:
        raise TacitError("smoothness is defined for Markov potential games, and this game is not one")
    low, high = game.reward_range
    if high == low:
        raise TacitError("all rewards are the same: every policy is optimal, and there is no λ to speak of")
    plans = [_plans(game, a) for a in game.actions]
    V = _values(game, plans)
    phi = _potentials(V.sum(axis=1))  # π* maximises Φ_s for every s, not only from the game's first states
    slack = _EQUAL * game.agents * game.horizon * (high - low)
    best = phi >= phi.max() - slack * game.states
    lam = np.where(best, _lambdas(V, omega, slack), -np.inf)
    at = np.unravel_index(int(lam.argmax()), lam.shape)
    chosen = MarkovPolicy.deterministic([own[k] for own, k in zip(plans, at, strict=True)], game.actions)
    found = float(lam[at])
    return Smoothness(found, omega, found / (1 + omega), chosen, int(best.sum()))


def _plans(game: TabularGame, actions: int) -> IntArray:
    """Return all deterministic policies of one agent, [n, H, S]."""
    cells = game.horizon * game.states
    every = np.array(list(itertools.product(range(actions), repeat=cells)), dtype=np.int64)
    return every.reshape(-1, game.horizon, game.states)


def _values(game: TabularGame, plans: list[IntArray]) -> FloatArray:
    """Return V_{1,i}(s) of all joint deterministic policies, [N, S, n_1, …, n_N]; rewards are shifted to begin at 0."""
    N, S = game.agents, game.states
    sizes = [len(own) for own in plans]
    V = np.zeros((N, S, math.prod(sizes)))
    for h in reversed(range(game.horizon)):
        rewards = (game.step_rewards(h) - game.reward_range[0]).reshape(N, S, -1)
        P = game.transitions[h if game.transition_steps > 1 else 0].reshape(S, -1, S)
        now = np.empty_like(V)
        for s in range(S):
            played = np.ix_(*[own[:, h, s] for own in plans])
            joint = np.ravel_multi_index(tuple(np.broadcast_arrays(*played)), game.actions).ravel()
            now[:, s] = rewards[:, s, joint] + np.einsum("pt,ntp->np", P[s, joint], V)
        V = now
    return V.reshape(N, S, *sizes)


def _potentials(V: FloatArray) -> FloatArray:
    """Return Φ − Φ(first policies) of values [N, n_1, …, n_N]: the agents change their policies one after the other.

    The last agent's change is seen from where all others are, the one before from where the last is not yet, and so on.
    """
    phi = np.zeros(V.shape[1:])
    for i, own in enumerate(V):
        later = (Ellipsis, *[slice(0, 1)] * (V.ndim - 2 - i))  # who comes later is still at the first policy
        start = own[later]
        phi = phi + start - start.take([0], axis=i)
    return phi


def _lambdas(V: FloatArray, omega: float, slack: float) -> FloatArray:
    """Return the largest λ with each deterministic policy as π*, [n_1, …, n_N], from values [N, S, n_1, …, n_N]."""
    lam = np.full(V.shape[2:], np.inf)
    for i, own in enumerate(V):
        axis = 1 + i
        others = tuple(k for k in range(1, own.ndim) if k != axis)
        reached = (own + omega * own.min(axis=axis, keepdims=True)).min(axis=others, keepdims=True)  # f_i
        share = np.divide(np.broadcast_to(reached, own.shape), own, out=np.full_like(own, np.inf), where=own > slack)
        lam = np.minimum(lam, share.min(axis=0))
    return lam
