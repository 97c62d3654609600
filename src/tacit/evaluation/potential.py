"""Is a game a Markov potential game, and what is its potential? [Mao2022, eqn:potential]

A potential Φ_s exists for every first state s if and only if the cross derivatives of all agents' values agree along
all feasible directions: they are checked at random interior policies, at each step and state on its own scale.

Where it holds, Φ(π) − Φ(π⁰) = ∫₀¹ Σ_i ∇_i V_i(π⁰ + t(π − π⁰))·(π − π⁰)_i dt. Along the line the integrand has degree
N·H − 1 at most, for which Gauss–Legendre quadrature with ⌈N·H/2⌉ points is exact.

The check: let δ = r_i − r_j, and Q and V its values under a policy. V_i and V_j have a common potential if and only if,
whatever the policy, no move of i and move of j act on V together:

    at one (h, s):                  Q_h(s, a', b') − Q_h(s, a, b') − Q_h(s, a', b) + Q_h(s, a, b) = 0,
    i at (h, s), j later at (g, t): [P(s_g = t | s_h = s, a') − P(s_g = t | s_h = s, a)]·[Q_g(t, b') − Q_g(t, b)] = 0,

and the same with i and j exchanged; a and b are actions of i and of j, and all other choices follow the policy. These
are the cross derivatives of V_i − V_j, since V is affine in the distribution at each (h, s), divided by the probability
of being in (h, s): what is hardly ever visited counts as much as what is visited always. They are also the sums of the
two deviators' gains round a cycle of four policies. [Monderer and Shapley 1996] They are polynomials in the policy, so
those that vanish at a random interior policy vanish everywhere, with probability one.

In a discounted game policies are stationary, values are rational functions of them, and the derivatives have a term
more (`_at_one_place`); the quadrature takes as many points as it needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation.gradient import gradients
from tacit.evaluation.values import largest_return, tables
from tacit.games.exact import ExactGame, check_exact, own_payoffs, pair_payoffs
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy, check_policy

#: The search ends when this many failures are known.
ENOUGH = 1000

#: Numbers in the table of chances that is worked on at once.
_BLOCK = 4_000_000

#: Points of the quadrature along a line in a discounted game, at most.
_POINTS = 512

Flags = npt.NDArray[np.bool_]


class Asymmetry(NamedTuple):
    """Where the moves of two agents act together, and by how much.

    `amount` is the largest sum of the two deviators' gains round a cycle of four policies, in reward units, from the
    earlier of the two places on, where everybody else follows a random policy.
    """

    agents: tuple[int, int]
    steps: tuple[int, int]
    states: tuple[int, int]
    amount: float


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
        check_policy(policy, product="the potential")
        policy.check_fits(self.game)
        if not self.holds:
            raise TacitError(f"game must be a potential game; got values that are asymmetric by {self.asymmetry:.3g}")
        start = _full(self.game, MarkovPolicy.uniform(self.game))
        move = [end - begin for end, begin in zip(_full(self.game, policy), start, strict=True)]
        if self.game.discount is None:
            return self._integrate(start, move, -(-self.game.agents * self.game.horizon // 2))
        total, points = self._integrate(start, move, 8), 16  # of a rational function: until nothing changes
        while abs((renewed := self._integrate(start, move, points)) - total) > 1e-12 * largest_return(self.game):
            total, points = renewed, 2 * points
            if points > _POINTS:
                break
        return renewed

    def _integrate(self, start: list[FloatArray], move: list[FloatArray], count: int) -> float:
        """Return what the agents gain along a line, by quadrature with so many points."""
        points, weights = np.polynomial.legendre.leggauss(count)
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
    the probability of reaching it. The exact figure is `Potential.tolerance`: eps·H·(joint actions + successors + 512).
    Probabilities below 1e-300 count as none.

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
            passing = max(least, rounding(two) + np.finfo(float).eps * game.effective_horizon * 4 * others)
            policies = [probs[i] for i in agents]
            at_policy = search(two, policies, among=differing[two], tolerance=passing)
            worst = max(worst, at_policy.worst)
            failures += [
                failure._replace(agents=(agents[failure.agents[0]], agents[failure.agents[1]]))
                for failure in at_policy.failures
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
    return [np.array(np.broadcast_to(probs, (game.horizon, *probs.shape[1:]))) for probs in policy.probs]


# the check of two agents' values


@dataclass
class Search:
    """What was found at one random policy.

    `worst` is the largest relative asymmetry, failure or not: at one place the cycle's sum over the size of returns;
    between two places the smaller of the relative influence and the relative effect.
    """

    tolerance: float
    worst: float = 0.0
    failures: list[Asymmetry] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether enough failures are known."""
        return len(self.failures) >= ENOUGH

    def add(self, relative: FloatArray, asymmetries: Iterator[Asymmetry]) -> None:
        """Take in the relative asymmetries at some places, and the failures among them."""
        self.worst = max(self.worst, float(relative.max(initial=0.0)))
        for failure in asymmetries:
            if self.over:
                return
            self.failures.append(failure)


class Pair(NamedTuple):
    """Two agents, and the size of the returns in which they differ. Rounding errors are relative to it."""

    i: int
    j: int
    size: FloatArray  # [H, S]


class Effect(NamedTuple):
    """What one agent's action changes in the other's return less its own, [H, S]."""

    earlier: int
    later: int
    range: FloatArray
    relative: FloatArray  # to the size of the returns; 0 where it is rounding or nobody gets there


def rounding(game: TabularGame) -> float:
    """Return a bound on relative rounding errors: eps·H·(joint actions + successors + 512).

    A sum of n products is exact to n·eps of the sum of their sizes; in each step n is at most the joint actions and the
    successors. The last term is for the tables themselves, which somebody has computed: a few hundred roundings.
    """
    successors = int(np.diff(game.successors.first).max())
    return float(np.finfo(float).eps) * game.effective_horizon * (game.joint_actions + successors + 512)


def pairs(game: TabularGame) -> list[Pair]:
    """Return the pairs of agents that differ anywhere.

    The size at (h, s) is the most that |r_i| + |r_j| can add up to from there on, counting rewards that differ only.
    """
    differing = []
    for i, j in combinations(range(game.agents), 2):
        size = np.zeros((game.horizon + 1, game.states))
        rounds = 1 if game.discount is None else math.ceil(20 * game.effective_horizon)  # a scale needs few digits
        for h in [*reversed(range(game.horizon))] * rounds:
            one, other = game.step_rewards(h)[[i, j]]
            now = np.where(one != other, np.abs(one) + np.abs(other), 0.0)
            size[h] = (now + game.expect(h, size[h + 1][None])[0]).reshape(game.states, -1).max(axis=1)
            if game.discount is not None:
                size[1] = size[0]
        if size.any():
            differing.append(Pair(i, j, size[:-1]))
    return differing


def reachable(game: TabularGame) -> Flags:
    """Return where somebody can be, from whichever first state, however rarely, [H, S]."""
    there = np.ones((game.horizon, game.states), dtype=bool)
    even = [np.full((game.states, a), 1 / a) for a in game.actions]
    for h in range(game.horizon - 1):
        there[h + 1] = game.push(h, even, there[h].astype(float)) > 0
    return there


def search(game: TabularGame, probs: Sequence[FloatArray], *, among: list[Pair], tolerance: float) -> Search:
    """Search for asymmetries at one interior policy, [H, S, A_i] for each agent."""
    asymmetries, there = Search(tolerance), reachable(game)
    again = None if game.discount is None else _count_visits(game, [table[0] for table in probs])
    effects: list[Effect] = []
    for pair in among:
        effects += _at_one_place(game, probs, pair, there, asymmetries, again)
    first = 1 if again is None else 0
    effects = [effect for effect in effects if effect.relative[first:].any()]
    for g in range(first, game.horizon if effects else first):
        targets = np.flatnonzero(np.any([effect.relative[g] > 0 for effect in effects], axis=0))
        block = max(1, _BLOCK // (game.states * game.joint_actions))
        for begin in range(0, len(targets), block):
            if not asymmetries.over:
                _on_the_way(game, probs, g, targets[begin : begin + block], effects, there, asymmetries, again)
    return asymmetries


def _count_visits(game: TabularGame, rows: Sequence[FloatArray]) -> FloatArray:
    """Return discounted expected visits [S, S] from each state to each, Σ_k (γP)^k.

    They are sums of products of positive numbers, as the chances of a finite game are.
    """
    power, visits = game.walk(rows), np.eye(game.states)
    while power.any() and power.max() > 1e-300:  # twice as many terms each time
        visits, power = visits + np.einsum("st,tu->su", power, visits), np.einsum("st,tu->su", power, power)
    return visits


def _at_one_place(
    game: TabularGame,
    probs: Sequence[FloatArray],
    pair: Pair,
    there: Flags,
    asymmetries: Search,
    again: FloatArray | None,
) -> list[Effect]:
    """Check both agents' moves at the same (h, s). Return what the moves of each do there on their own.

    In a discounted game play comes back to a state, and moves meet themselves. With G the expected visits, `again`, x
    and y moves of i in s and j in t, the cross derivative of V from all first states is

        G(·, s)·(x·γP_i·G)(s, t)·(y·Q)(t) + G(·, t)·(y·γP_j·G)(t, s)·(x·Q)(s), and where s = t, G(·, s)·(x·Q·y)(s).

    The columns of G are independent, so that each factor must vanish, where s = t the sum of all three.
    """
    i, j, size = pair
    V = np.zeros(game.states)
    if again is not None:
        rows, rewards = [table[0] for table in probs], game.step_rewards(0)
        V = again @ (own_payoffs(rewards[i] - rewards[j], rows, i) * rows[i]).sum(axis=1)
    ranges = np.zeros((2, game.horizon, game.states))
    for h in reversed(range(game.horizon)):
        rows = [table[h] for table in probs]
        rewards = game.step_rewards(h)
        Q = rewards[i] - rewards[j] + game.expect(h, V[None])[0]
        first, second = own_payoffs(Q, rows, i), own_payoffs(Q, rows, j)
        ranges[0, h], ranges[1, h] = np.ptp(first, axis=1), np.ptp(second, axis=1)
        V = (first * rows[i]).sum(axis=1)
        both = pair_payoffs(Q, rows, i, j)
        if again is not None:
            back = _visit_itself(game, again)  # [S, A_1, …, A_N]
            both = both + own_payoffs(back, rows, i)[:, :, None] * second[:, None, :]
            both += first[:, :, None] * own_payoffs(back, rows, j)[:, None, :]
        cycles = _largest_cycle(both)
        relative = np.where(there[h], _share(cycles, size[h]), 0.0)
        failing = np.flatnonzero(relative > asymmetries.tolerance)
        asymmetries.add(relative, (Asymmetry((i, j), (h, h), (int(s), int(s)), float(cycles[s])) for s in failing))
    effects = []
    for earlier, later, moved in ((i, j, ranges[1]), (j, i, ranges[0])):
        share = np.where(there, _share(moved, size), 0.0)
        effects.append(Effect(earlier, later, moved, np.where(share > asymmetries.tolerance, share, 0.0)))
    return effects


def _visit_itself(game: TabularGame, visits: FloatArray) -> FloatArray:
    """Return how often each joint action leads back to its own state, discounted, [S, A_1, …, A_N]."""
    every = np.arange(game.states)
    back: FloatArray = game.expect(0, visits.T)[every, every]
    return back


def _largest_cycle(table: FloatArray) -> FloatArray:
    """Return the largest |q(a', b') − q(a, b') − q(a', b) + q(a, b)| of each table [S, A_i, A_j]."""
    largest = np.zeros(len(table))
    for b in range(table.shape[2] - 1):
        change = table[:, :, b + 1 :] - table[:, :, b : b + 1]
        largest = np.maximum(largest, np.ptp(change, axis=1).max(axis=1))
    return largest


def _on_the_way(
    game: TabularGame,
    probs: Sequence[FloatArray],
    g: int,
    targets: npt.NDArray[np.intp],
    effects: list[Effect],
    there: Flags,
    asymmetries: Search,
    again: FloatArray | None,
) -> None:
    """Check earlier agents' influence on reaching `targets` against later agents' effects there.

    Chances are sums of products of positive numbers, so that each has a small relative error, however small it is. In a
    discounted game the influence is on all visits to come, whose expectations are `again`.
    """
    S, T = game.states, len(targets)
    prob = np.eye(S)[targets] if again is None else again.T[targets]  # [T, S]
    for h in reversed(range(g)) if again is None else [0]:
        ahead = game.expect(h, prob).reshape(T * S, *game.actions)
        rows = [np.tile(table[h], (T, 1)) for table in probs]
        for i in sorted({effect.earlier for effect in effects}):
            by_action = own_payoffs(ahead, rows, i)
            influence = np.ptp(by_action, axis=1).reshape(T, S)
            share = np.where(there[h], _share(influence, by_action.max(axis=1).reshape(T, S)), 0.0)
            if again is not None:
                share[np.arange(T), targets] = 0.0  # what is at one place was seen to
            for effect in effects:
                if effect.earlier == i:
                    there_too = effect.relative[g, targets][:, None]
                    relative = np.minimum(share, there_too)
                    failures = _failures(relative, asymmetries.tolerance, influence, effect, targets, h, g)
                    asymmetries.add(relative, failures)
        prob = (own_payoffs(ahead, rows, 0) * rows[0]).sum(axis=1).reshape(T, S)
        if asymmetries.over:
            return


def _failures(
    relative: FloatArray,
    tolerance: float,
    influence: FloatArray,
    effect: Effect,
    targets: npt.NDArray[np.intp],
    h: int,
    g: int,
) -> Iterator[Asymmetry]:
    for k, s in np.argwhere(relative > tolerance):
        t, amount = int(targets[k]), float(influence[k, s] * effect.range[g, targets[k]])
        agents, steps, states = (effect.earlier, effect.later), (h, g), (int(s), t)
        if agents[0] > agents[1]:
            agents, steps, states = agents[::-1], steps[::-1], states[::-1]
        yield Asymmetry(agents, steps, states, amount)


def _share(part: FloatArray, total: FloatArray) -> FloatArray:
    """Return part/whole, and 0 where the whole is 0."""
    share: FloatArray = np.divide(part, total, out=np.zeros_like(part), where=total > 0)
    return share
