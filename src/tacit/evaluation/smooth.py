"""(λ, ω)-smooth Markov potential games, by exhaustion on small games. [Mao2022, def:smooth, thm:smooth]

A game is (λ, ω)-smooth if V_i^{π*_i, π_-i}(s) ≥ λ·V_i*(s) − ω·V_i^π(s) for all policies π, agents i and states s,
where π* maximises the potential. The left side plus ω·V_i^π is affine in each agent's distribution at each (h, s), so
its minimum is attained by deterministic policies, which can be counted through. Rewards are shifted to begin at 0, as
the definition asks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.ownership import Owned
from tacit.evaluation.potential import potential
from tacit.evaluation.values import policy_values
from tacit.games.tabular import TabularGame, check_game
from tacit.policies.markov import MarkovPolicy

#: Deterministic joint policies that are counted through at most.
LIMIT = 20_000

#: Maximisers of the potential that are tried as π* where there are several; the best λ counts.
CANDIDATES = 16


@dataclass(frozen=True)
class Smoothness:
    """The largest λ for an ω.

    Attributes
    ----------
    lam, omega : float
    ratio : float
        λ/(1 + ω): what share of V* any Nash equilibrium has, and policy gradients reach up to ε/(1 + ω).
    best : MarkovPolicy
        A policy π* that maximises the potential.
    """

    lam: float
    omega: float
    ratio: float
    best: MarkovPolicy


def smoothness(game: TabularGame, *, omega: float = 0.5) -> Smoothness:
    """Compute the largest λ for which a small potential game is (λ, ω)-smooth.

    >>> import tacit
    >>> round(smoothness(tacit.make("stag-hunt"), omega=0.5).lam, 6)
    1.0
    """
    check_game(game)
    omega = check.real("omega", omega, least=0, most=1)
    profiles = math.prod(a ** (game.horizon * game.states) for a in game.actions)
    if profiles > LIMIT:
        raise TacitError(f"this game has {profiles:.3g} deterministic policies; smoothness is computed up to {LIMIT}")
    found = potential(game)
    if not found.holds:
        raise TacitError("smoothness is defined for Markov potential games, and this game is not one")
    even = np.full(game.states, 1 / game.states)  # π* maximises Φ_s for every s, not only from the game's first states
    shifted = TabularGame(Owned(game.successors), Owned(game.rewards - game.reward_range[0]), even, game.horizon)
    if shifted.reward_range[1] == 0:
        raise TacitError("all rewards are the same: every policy is optimal, and there is no λ to speak of")
    everywhere = replace(found, game=shifted)
    phi = [(everywhere.value(policy), policy) for policy in _deterministic(game)]
    top = max(value for value, _ in phi)
    slack = 1e-9 * game.agents * game.horizon * shifted.reward_range[1]
    candidates = [policy for value, policy in phi if value >= top - slack][:CANDIDATES]
    lam, best = max(((_lambda(shifted, one, phi, omega), one) for one in candidates), key=lambda pair: pair[0])
    return Smoothness(lam, omega, lam / (1 + omega), best)


def _lambda(game: TabularGame, best: MarkovPolicy, phi: list[tuple[float, MarkovPolicy]], omega: float) -> float:
    """Return the largest λ with this π*: the smallest of (V_i^{π*_i, π_-i} + ω·V_i^π)/V_i* over all π, i and s."""
    target = policy_values(game, best).V[:, 0]  # [N, S]
    lam = math.inf
    for _, policy in phi:
        V = policy_values(game, policy).V[:, 0]
        for i in range(game.agents):
            mixed = [Owned(best.probs[j] if j == i else policy.probs[j]) for j in range(game.agents)]
            reached = policy_values(game, MarkovPolicy(mixed)).V[i, 0] + omega * V[i]
            positive = target[i] > 0
            if positive.any():
                lam = min(lam, float((reached[positive] / target[i][positive]).min()))
    return lam


def _deterministic(game: TabularGame) -> Iterator[MarkovPolicy]:
    cells = game.horizon * game.states
    own = [itertools.product(range(a), repeat=cells) for a in game.actions]
    for profile in itertools.product(*own):
        tables = [np.array(table).reshape(game.horizon, game.states) for table in profile]
        yield MarkovPolicy.deterministic(tables, game.actions)
