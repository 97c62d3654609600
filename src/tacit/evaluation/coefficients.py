"""Two numbers that the paper's theorems ask of a game: its distribution mismatch D, and how smooth it is.

**Mismatch.** The distribution mismatch coefficient D = max_{π,π'} max_{h,s} d_h^{π'}(s)/d_h^π(s). [Mao2022, Sec. 4]

Since both policies are free, D = max_{h,s} (max_π d_h^π(s))/(min_π d_h^π(s)): two dynamic programs over joint actions
for each (h, s). It is infinite where some (h, s) can be reached and can be avoided.

With `exploration` both policies are ε̃-greedy, π_i = (1 − ε̃)·θ_i + ε̃/A_i. The chance of being in s is affine in each
agent's θ at each (h, s), so deterministic θ attain the extremes, and each action of the dynamic programs is what comes
of it when every agent explores with ε̃. Every state that can be reached is then reached: D is finite.

In a discounted game d(s) is the expected number of visits of s, of which stationary policies attain the extremes.

**Smoothness.** (λ, ω)-smooth Markov potential games, by exhaustion on small games. [Mao2022, def:smooth, thm:smooth]

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check, memory
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.potential import potential
from tacit.evaluation.values import backward, iterate, tables
from tacit.games.exact import check_finite, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy

#: Deterministic joint policies that are counted through at most.
LIMIT = 20_000

#: Potentials and values within this share of H times the span are equal.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Mismatch:
    """The mismatch coefficient and what attains it.

    Attributes
    ----------
    D : float
        The coefficient; infinite where a reachable (step, state) can be avoided.
    step, state : int
        Where it is attained.
    most, least : float
        The largest and the smallest probability of being there.
    most_policy, least_policy : MarkovPolicy
        Policies that attain them: deterministic ones, mixed with the exploration.
    exploration : float
        ε̃ of the policies that count.
    deviating : float
        The same ratio where in the numerator one agent at a time need not explore. Gradient domination at an ε̃-greedy
        policy compares it with its best deviations, so this is what takes the place of D there; without exploration it
        is D. [Mao2022, lemma:gradient_domination]

    Examples
    --------
    >>> import tacit
    >>> found = tacit.mismatch(tacit.make("good-state"))
    >>> round(found.most, 3), round(found.least, 3)
    (0.9, 0.1)
    """

    D: float
    step: int
    state: int
    most: float
    least: float
    most_policy: MarkovPolicy
    least_policy: MarkovPolicy
    exploration: float
    deviating: float


def mismatch(game: TabularGame, *, exploration: float = 0.0) -> Mismatch:
    """Compute the mismatch coefficient D of a game, exactly.

    Parameters
    ----------
    game : TabularGame
    exploration : float
        ε̃: only policies that play every action of an agent with probability ε̃/A_i or more count.

    Returns
    -------
    Mismatch

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("good-state")
    >>> round(tacit.mismatch(game).D, 9), round(tacit.mismatch(game, exploration=0.1).D, 3)
    (9.0, 8.059)
    """
    game = with_tables(game)
    explore = check.real("exploration", exploration, least=0, most=1)
    everybody = [explore] * game.agents
    most, least = _reach(game, np.max, everybody), _reach(game, np.min, everybody)
    ratio = _ratio(most, least)
    if np.isinf(ratio.max()):  # of the places that can be avoided, the one that is reached most surely
        h, s = (int(k) for k in np.unravel_index(int(np.where(np.isinf(ratio), most, -1.0).argmax()), ratio.shape))
    else:
        h, s = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
    deviating = ratio.max()
    for i in range(game.agents if explore > 0 else 0):
        alone = [0.0 if j == i else explore for j in range(game.agents)]
        deviating = max(deviating, _ratio(_reach(game, np.max, alone), least).max())
    return Mismatch(
        D=float(ratio[h, s]),
        step=h,
        state=s,
        most=float(most[h, s]),
        least=float(least[h, s]),
        most_policy=_policy(game, h, s, np.argmax, explore),
        least_policy=_policy(game, h, s, np.argmin, explore),
        exploration=explore,
        deviating=float(deviating),
    )


def _ratio(most: FloatArray, least: FloatArray) -> FloatArray:
    """Return most/least, infinite where only the least is 0; places that nobody reaches count as 1."""
    ratio: FloatArray = np.divide(most, least, out=np.where(most > 0, np.inf, 1.0), where=least > 0)
    return ratio


def _reach(game: TabularGame, best: Callable[..., Any], explore: Sequence[float]) -> FloatArray:
    """Return the best probability of being in s at step h, [H, S]; `best` is np.max or np.min."""
    H, S = game.horizon, game.states
    memory.require(memory.floats(2, S, S, game.joint_actions), "the table of all states to be reached")
    found = np.zeros((H, S))
    if game.discount is not None:
        return np.atleast_2d(_visits(game, np.eye(S), best, explore) @ game.initial)
    found[0] = game.initial
    same = game.transition_steps == 1
    chance = np.eye(S)  # [target, s]
    for h in range(1, H):
        if same:  # the chance of being there after h steps depends on h alone
            chance = best(_ahead(game, 0, chance, explore), axis=2)
        else:
            chance = np.eye(S)
            for g in reversed(range(h)):
                chance = best(_ahead(game, g, chance, explore), axis=2)
        found[h] = chance @ game.initial
    return found


def _visits(game: TabularGame, targets: FloatArray, best: Callable[..., Any], explore: Sequence[float]) -> FloatArray:
    """Return the best expected number of visits, discounted, from each state to each of the `targets` [T, S]."""
    return iterate(
        lambda visits: targets + best(_ahead(game, 0, visits, explore), axis=2), targets, 1e-13 / game.effective_horizon
    )


def _ahead(game: TabularGame, h: int, chance: FloatArray, explore: Sequence[float]) -> FloatArray:
    """Return the chances after each joint choice at step h, [targets, S, J], when agents explore with `explore`."""
    ahead = game.expect(h, chance)
    for i, share in enumerate(explore):
        if share > 0:
            ahead = (1 - share) * ahead + share * ahead.mean(axis=2 + i, keepdims=True)
    return ahead.reshape(len(chance), game.states, -1)


def _policy(game: TabularGame, step: int, state: int, choose: Callable[..., Any], explore: float) -> MarkovPolicy:
    """Return the policy that makes being in `state` at `step` most or least likely."""
    choices = np.zeros((game.horizon, game.states), dtype=np.int64)
    chance = np.eye(game.states)[state][None]
    every = np.arange(game.states)
    if game.discount is not None:
        best = np.max if choose is np.argmax else np.min
        chance = _visits(game, chance, best, [explore] * game.agents)
        choices[0] = choose(_ahead(game, 0, chance, [explore] * game.agents)[0], axis=1)
    for h in reversed(range(step)):
        ahead = _ahead(game, h, chance, [explore] * game.agents)[0]
        choices[h] = choose(ahead, axis=1)
        chance = ahead[every, choices[h]][None]
    greedy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
    if explore == 0:
        return greedy
    return MarkovPolicy([(1 - explore) * own + explore / own.shape[2] for own in greedy.probs])


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
    sizes = [len(own) for own in plans]
    which = np.indices(sizes).reshape(len(sizes), -1)  # of each joint policy, the plan of each agent
    rows = [np.eye(a)[own[k]] for own, k, a in zip(plans, which, game.actions, strict=True)]  # [n, H, S, A_i]
    *_, first = backward(game, tables([own.swapaxes(0, 1) for own in rows]))
    return np.moveaxis(first.V - game.horizon * game.reward_range[0], 0, -1).reshape(game.agents, game.states, *sizes)


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
