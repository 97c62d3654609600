"""Is a game a Markov potential game, and what is its potential? [Mao2022, eqn:potential]

A potential Φ_s exists for every first state s if and only if the cross derivatives of all agents' values agree along
all feasible directions: `symmetry.py` checks them at random interior policies, at each step and state on its own scale.

Where it holds, Φ(π) − Φ(π⁰) = ∫₀¹ Σ_i ∇_i V_i(π⁰ + t(π − π⁰))·(π − π⁰)_i dt. Along the line the integrand has degree
N·H − 1 at most, for which Gauss–Legendre quadrature with ⌈N·H/2⌉ points is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation.gradient import gradients
from tacit.evaluation.induction import tables
from tacit.evaluation.symmetry import Asymmetry, Pair, pairs, rounding, search
from tacit.games.exact import ExactGame, check_exact
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy, check_policy


@dataclass(frozen=True)
class Potential:
    """What is known of a game's potential.

    Attributes
    ----------
    game : TabularGame or CountGame
    holds : bool
        Whether the game is a Markov potential game, but for `tolerance`.
    asymmetry : float
        The largest relative asymmetry of the agents' values that was met: at one (step, state), the sum of two
        deviators' gains round a cycle over the size of returns; between two, the smaller of the earlier agent's
        relative influence on getting there and the later agent's relative effect there.
    tolerance : float
        Relative asymmetries up to this pass: the bound on rounding errors, or the larger one that was given.
    failures : tuple of Asymmetry
        Where it fails, worst first; empty where it holds. The search ends after a thousand.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("stag-hunt")
    >>> found = tacit.potential(game)
    >>> hunt, stay = (tacit.MarkovPolicy.deterministic([[[a]], [[a]]], game.actions) for a in (0, 1))
    >>> float(round(found.value(hunt) - found.value(stay), 6))  # to leave the hunt costs 1, to stay alone gains 3
    -2.0
    """

    game: ExactGame
    holds: bool
    asymmetry: float
    tolerance: float
    failures: tuple[Asymmetry, ...]

    def value(self, policy: MarkovPolicy) -> float:
        """Return Φ_ρ(π) − Φ_ρ(uniform) from the game's initial distribution, to rounding."""
        check_policy(policy)
        policy.check_fits(self.game)
        if not self.holds:
            raise TacitError(
                f"this game has no potential: the agents' values are asymmetric by {self.asymmetry:.3g} of their size"
            )
        if not policy.product:
            raise TacitError("the potential is a function of product policies, and this one is correlated")
        start = _full(self.game, MarkovPolicy.uniform(self.game))
        move = [end - begin for end, begin in zip(_full(self.game, policy), start, strict=True)]
        points, weights = np.polynomial.legendre.leggauss(-(-self.game.agents * self.game.horizon // 2))
        total = 0.0
        for point, weight in zip((points + 1) / 2, weights / 2, strict=True):
            here = [begin + point * step for begin, step in zip(start, move, strict=True)]
            slopes = gradients(self.game, tables(here), self.game.initial).gradients
            total += weight * sum(float((slope * step).sum()) for slope, step in zip(slopes, move, strict=True))
        return total

    def __repr__(self) -> str:
        if self.holds:
            return (
                f"Potential(a Markov potential game up to {self.tolerance:.2g} of the returns at each step and state; "
                f"largest asymmetry {self.asymmetry:.2g})"
            )
        worst = self.failures[0]
        return (
            f"Potential(not a Markov potential game; worst: agents {worst.agents} at steps {worst.steps}, states "
            f"{worst.states}, gains round a cycle add up to {worst.amount:.4g})"
        )


def potential(game: ExactGame, *, trials: int = 3, seed: int = 0, tolerance: float = 0.0) -> Potential:
    """Decide whether a game is a Markov potential game, up to rounding, with probability one.

    Each (step, state) that can be reached is judged by itself, however rarely it is visited. What passes unseen is
    relative to what is there: gains round a cycle below about H·1e-13 of the two agents' returns from that place on
    (counting the rewards in which they differ), and an influence of an agent on reaching a place below about H·1e-13 of
    the chance to reach it. The exact figure is `Potential.tolerance`: eps·H·(joint actions + successors + 512). Chances
    below 1e-300 count as none.

    Parameters
    ----------
    game : TabularGame or CountGame
    trials : int
        Random policies that are tried.
    seed : int
        Of those policies.
    tolerance : float
        Relative asymmetries that pass as well, e.g. 1e-6 for tables of single precision.

    Returns
    -------
    Potential

    Examples
    --------
    >>> import tacit
    >>> tacit.potential(tacit.make("good-state")).holds, tacit.potential(tacit.make("matching-pennies")).holds
    (True, False)
    """
    check_exact(game)
    rng = np.random.default_rng(check.integer("seed", seed))
    trials, least = check.integer("trials", trials), check.real("tolerance", tolerance, least=0)
    groups, worst, passing = game.agents_to_compare(rng), 0.0, least
    failures: list[Asymmetry] = []
    differing: dict[TabularGame, list[Pair]] = {}
    for _ in range(trials if groups else 0):
        probs = _interior(game, rng)
        for agents in groups:
            two = game.induce_game(agents, probs)
            if two not in differing:
                differing = {two: pairs(two)}
            # where others are integrated out, their distribution is a sum of positive products, one for each of them
            others = game.agents - len(agents)
            passing = max(least, rounding(two) + np.finfo(float).eps * game.horizon * 4 * others)
            own = [probs[i] for i in agents]
            found = search(two, own, among=differing[two], tolerance=passing)
            worst = max(worst, found.worst)
            failures += [
                failure._replace(agents=(agents[failure.agents[0]], agents[failure.agents[1]]))
                for failure in found.failures
            ]
        if failures or not any(differing.values()):
            break
    failures.sort(key=lambda failure: -failure.amount)
    return Potential(game, not failures, worst, passing, tuple(failures))


def _interior(game: ExactGame, rng: np.random.Generator) -> list[FloatArray]:
    """Draw a policy [H, S, A_i] for each agent that plays every action."""
    grid = (game.horizon, game.states)
    return [0.5 / a + 0.5 * rng.dirichlet(np.ones(a), grid) for a in game.actions]


def _full(game: ExactGame, policy: MarkovPolicy) -> list[FloatArray]:
    """Return the policies at every step, [H, S, A_i]."""
    return [np.array(np.broadcast_to(own, (game.horizon, *own.shape[1:]))) for own in policy.probs]
