"""Is a game a Markov potential game, and what is its potential? [Mao2022, eqn:potential]

Values are polynomials in the policies, so a potential Φ_s exists for every first state s if and only if the cross
derivatives agree along all feasible directions, everywhere: u·∂²V_i/∂π_i∂π_j·v = v·∂²V_j/∂π_j∂π_i·u. Polynomials that
agree at a random interior point, along random directions, from a random distribution of the first state, agree
everywhere with probability one.

Where it holds, Φ(π) − Φ(π⁰) = ∫₀¹ Σ_i ∇_i V_i(π⁰ + t(π − π⁰))·(π − π⁰)_i dt. Along the line the integrand has degree
N·H − 1 at most, for which Gauss–Legendre quadrature with ⌈N·H/2⌉ points is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation.derivatives import gradients, gradients_along
from tacit.games.tabular import TabularGame, check_game
from tacit.policies.markov import MarkovPolicy, check_policy

#: Asymmetry up to this fraction of the largest cross derivative counts as rounding.
TOLERANCE = 1e-9


class Asymmetry(NamedTuple):
    """Where the cross derivatives of two agents' values differ, and by how much, in reward units."""

    agents: tuple[int, int]
    steps: tuple[int, int]
    states: tuple[int, int]
    amount: float


@dataclass(frozen=True)
class Potential:
    """What is known of a game's potential.

    Attributes
    ----------
    holds : bool
        Whether the game is a Markov potential game.
    asymmetry : float
        Largest difference of cross derivatives that was met, relative to the largest cross derivative.
    failures : list of Asymmetry
        Where the symmetry fails, worst first; empty where it holds.
    """

    game: TabularGame
    holds: bool
    asymmetry: float
    failures: tuple[Asymmetry, ...]

    def value(self, policy: MarkovPolicy) -> float:
        """Return Φ_ρ(π) − Φ_ρ(uniform) from the game's initial distribution, exactly."""
        check_policy(policy)
        policy.check_fits(self.game)
        if not self.holds:
            raise TacitError(
                f"this game has no potential: its cross derivatives differ by {self.asymmetry:.3g} of their size"
            )
        if not policy.product:
            raise TacitError("the potential is a function of product policies, and this one is correlated")
        start = _full(self.game, MarkovPolicy.uniform(self.game))
        move = [end - begin for end, begin in zip(_full(self.game, policy), start, strict=True)]
        points, weights = np.polynomial.legendre.leggauss(-(-self.game.agents * self.game.horizon // 2))
        total = 0.0
        for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
            here = [begin + point * step for begin, step in zip(start, move, strict=True)]
            slopes = gradients(self.game, here, self.game.initial)
            total += weight * sum(float((slope * step).sum()) for slope, step in zip(slopes, move, strict=True))
        return total

    def __repr__(self) -> str:
        if self.holds:
            return f"Potential(a Markov potential game; largest asymmetry {self.asymmetry:.2g}, which is rounding)"
        worst = self.failures[0]
        return (
            f"Potential(not a Markov potential game; worst: agents {worst.agents} at steps {worst.steps}, states "
            f"{worst.states}, cross derivatives differ by {worst.amount:.4g})"
        )


def potential(game: TabularGame, *, trials: int = 3, seed: int = 0) -> Potential:
    """Decide whether a game is a Markov potential game, with probability one.

    Parameters
    ----------
    game : TabularGame
    trials : int
        Random points, directions and first states that are tried.

    Examples
    --------
    >>> import tacit
    >>> potential(tacit.make("good-state")).holds, potential(tacit.make("matching-pennies")).holds
    (True, False)
    """
    check_game(game)
    rng = np.random.default_rng(check.integer("seed", seed, least=0))
    worst, failures = 0.0, []
    for _ in range(check.integer("trials", trials, least=1)):
        place = _random_place(game, rng)
        asymmetry, size = _asymmetry(game, place)
        relative = float(np.abs(asymmetry).max() / size) if size > 0 else 0.0
        worst = max(worst, relative)
        if relative > TOLERANCE:
            failures = _located(game, place, size)
            break
    return Potential(game, worst <= TOLERANCE, worst, tuple(failures))


class _Place(NamedTuple):
    """A random interior policy, a feasible direction for each agent, and a distribution of the first state."""

    probs: list[FloatArray]
    directions: list[FloatArray]
    initial: FloatArray


def _random_place(game: TabularGame, rng: np.random.Generator) -> _Place:
    grid = (game.horizon, game.states)
    probs = [0.5 / a + 0.5 * rng.dirichlet(np.ones(a), grid) for a in game.actions]
    directions = []
    for a in game.actions:
        draw = rng.standard_normal((*grid, a))
        directions.append(draw - draw.mean(axis=2, keepdims=True))
    return _Place(probs, directions, rng.dirichlet(np.ones(game.states)))


def _asymmetry(game: TabularGame, place: _Place) -> tuple[FloatArray, float]:
    """Return u_i·∂²V_i·u_j − u_j·∂²V_j·u_i for all pairs [N, N], and the size of what was subtracted."""
    N = game.agents
    cross = np.zeros((N, N))
    size = 0.0
    for j in range(N):
        slopes = gradients_along(game, place.probs, j, place.directions[j], place.initial)
        for i in range(N):
            if i != j:
                parts = slopes[i] * place.directions[i]
                cross[i, j] = parts.sum()
                size = max(size, float(np.abs(parts).sum()))
    return cross - cross.T, size


def _located(game: TabularGame, place: _Place, size: float) -> list[Asymmetry]:
    """Find the pairs of (step, state) where the symmetry fails, one cell of one agent at a time."""
    N, H, S = game.agents, game.horizon, game.states
    cross = np.zeros((N, H, S, N, H, S))
    for j in range(N):
        for h in range(H):
            for s in range(S):
                single = np.zeros_like(place.directions[j])
                single[h, s] = place.directions[j][h, s]
                slopes = gradients_along(game, place.probs, j, single, place.initial)
                for i in range(N):
                    if i != j:
                        cross[i, :, :, j, h, s] = (slopes[i] * place.directions[i]).sum(axis=2)
    difference = cross - cross.transpose(3, 4, 5, 0, 1, 2)
    found = []
    for i, h, s, j, g, t in np.argwhere(np.abs(difference) > TOLERANCE * size):
        if i < j:
            amount = float(abs(difference[i, h, s, j, g, t]))
            found.append(Asymmetry((int(i), int(j)), (int(h), int(g)), (int(s), int(t)), amount))
    return sorted(found, key=lambda failure: -failure.amount)


def _full(game: TabularGame, policy: MarkovPolicy) -> list[FloatArray]:
    """Return the policies at every step, [H, S, A_i]."""
    return [np.array(np.broadcast_to(own, (game.horizon, *own.shape[1:]))) for own in policy.probs]
