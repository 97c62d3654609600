"""What the paper's theorems promise for a game; its mismatch and smoothness.

Accuracies are in the game's units; the theorems speak of rewards in [0, 1], so ε is divided by the span of the rewards.
Constants that the theorems hide in O(·) are taken as 1.

**Mismatch.** The distribution mismatch coefficient D = max_{π,π'} max_{h,s} d_h^{π'}(s)/d_h^π(s). [Mao2022, Sec. 4]

Since both policies are free, D = max_{h,s} (max_π d_h^π(s))/(min_π d_h^π(s)): two dynamic programs over joint actions
for each (h, s). It is infinite where some (h, s) can be reached and can be avoided.

With `exploration` both policies are ε̃-greedy, π_i = (1 − ε̃)·θ_i + ε̃/A_i. The probability of being in s is affine in
each agent's θ at each (h, s), so deterministic θ attain the extremes, and each action of the dynamic programs is what
comes of it when every agent explores with ε̃. Every state that can be reached is then reached: D is finite.

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
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, memory
from tacit.core.elementary import pow
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.gradient import lipschitz
from tacit.evaluation.potential import potential
from tacit.evaluation.values import backward, iterate, tables
from tacit.games.exact import check_finite, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy

#: The least ε in units of the rewards' span; powers of what is smaller are no numbers.
_LEAST = 1e-12

#: Deterministic joint policies that are counted through at most.
LIMIT = 20_000

#: Potentials and values within this share of H times the span are equal.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Theory:
    """Promises for accuracy ε and confidence p.

    Attributes
    ----------
    epsilon, confidence : float
        ε, in the game's units, and p.
    iota_cce, iota_ce : float
        ι = log(2·N·S·A_max·K·H/p) with the K below. [Mao2022, thm:cce, thm:ce]
    episodes_cce, episodes_ce : float
        K = S·A_max·H⁵·ι·span²/ε² and S·A_max²·H⁵·ι·span²/ε², with the span of the rewards.
    mismatch : float
        D.
    exact_step, exact_iterations : float
        η = 1/(4·N·A_max·H³) over the span of the rewards, as `pg-exact` takes it, and
        T = 32·N·S·A_max·D²·H⁴·Φ_max·span²/ε². [Mao2022, thm:mpg_exact_gradient]
    storm : mapping
        ε̃, σ², L, k, w, c (b = 1) and T as in the proof of the theorem, and after T episodes M and the bound on the mean
        of ‖G_t‖². [Mao2022, thm:storm_app, thm:finite] `exploration_cost` is what ε̃ adds to the nash gap, in the game's
        units: D·√(SH)·√(N·S·A_max²·H⁵)·ε̃. [Mao2022, lemma:gradient_map_epsilon, lemma:stationarity_implies_nash]
    lower_bound : float
        H³·S·A_max·span²/ε² episodes, for any algorithm on some game of this size. [Mao2022, app:lowerbound]

    Examples
    --------
    >>> import tacit
    >>> found = tacit.theory(tacit.make("matching-pennies"), epsilon=1.0)
    >>> found.episodes_cce < found.episodes_ce
    True
    """

    epsilon: float
    confidence: float
    iota_cce: float
    episodes_cce: float
    iota_ce: float
    episodes_ce: float
    mismatch: float
    exact_step: float
    exact_iterations: float
    storm: dict[str, float]
    lower_bound: float


def theory(game: TabularGame, *, epsilon: float = 0.1, confidence: float = 0.1) -> Theory:
    """Compute what the theorems promise for a game.

    Φ_max is at most H where all rewards are shared, and at most N·H otherwise: the agents' policies can be changed one
    after the other, and each change moves Φ by at most H.

    Parameters
    ----------
    game : TabularGame
    epsilon : float
        Accuracy ε, in the game's units.
    confidence : float
        The probability p with which a theorem may fail.

    Returns
    -------
    Theory

    Examples
    --------
    >>> import tacit
    >>> tacit.theory(tacit.make("good-state"), epsilon=1.0).mismatch
    9.0...
    """
    game = with_tables(game)
    check_finite(game, "the paper's theory")
    p = check.real("confidence", confidence, least=0, most=1)
    if p == 0:
        raise TacitError("confidence, the probability of failing, must be positive; got 0")
    low, high = game.reward_range
    span = high - low
    unit = span if span > 0 else 1.0
    epsilon = check.real("epsilon", epsilon, least=_LEAST * unit, most=unit / _LEAST)
    eps = epsilon / span if span > 0 else math.inf
    N, S, A, H = game.agents, game.states, max(game.actions), game.horizon
    iota, K = _episodes(S * A * H**5 / eps**2, 2 * N * S * A * H / p)
    iota_ce, K_ce = _episodes(S * A**2 * H**5 / eps**2, 2 * N * S * A * H / p)
    D = mismatch(game).D if span > 0 else 1.0  # without a span there is nothing to gain, wherever one is
    phi = H if bool(np.all(game.rewards == game.rewards[:1])) else N * H
    return Theory(
        epsilon=epsilon,
        confidence=p,
        iota_cce=iota,
        episodes_cce=K,
        iota_ce=iota_ce,
        episodes_ce=K_ce,
        mismatch=D,
        exact_step=1 / (lipschitz(N, A, H) * (span if span > 0 else 1.0)),
        exact_iterations=32 * N * S * A * (D * D) * H**4 * phi / eps**2,
        storm=_storm(N, S, A, H, D, eps, phi, span),
        lower_bound=H**3 * S * A / eps**2,
    )


def _episodes(factor: float, inside: float) -> tuple[float, float]:
    """Solve K = factor·log(inside·K) by iteration; return ι and K."""
    K = max(factor, 1.0)
    for _ in range(200):
        K = max(factor * math.log(inside * K), 1.0)
    return math.log(inside * K), K


def _storm(N: int, S: int, A: int, H: int, D: float, eps: float, phi: float, span: float) -> dict[str, float]:
    """Return ε̃, STORM's constants and promise, and what ε̃ adds to the nash gap."""
    explore = min(math.sqrt(N) * eps / (2 * N * D * S * H**3 * A), 1.0)
    if explore < 1e-30:  # D is infinite, or its powers are no numbers any more
        undefined = dict.fromkeys(("sigma2", "L", "k", "w", "c", "M", "bound", "exploration_cost"), math.nan)
        return {"exploration": 0.0, **undefined, "iterations": math.inf}
    T = N**2.25 * D**4.5 * S**3 * A**4.5 * H**12 / eps**4.5
    constants = storm(N, A, H, explore)
    distance = math.sqrt(N * S * A**2 * H**5) * explore  # [Mao2022, lemma:gradient_map_epsilon]
    return {
        "exploration": explore,
        **constants._asdict(),
        "iterations": T,
        **storm_bound(constants, max(T, 1.0), phi)._asdict(),
        "exploration_cost": D * math.sqrt(S * H) * distance * span,
    }


# constants of the theorems on policy gradients, for rewards in [0, 1]: learners take their steps from here


class Storm(NamedTuple):
    """STORM's constants: η_t = k/(w + σ²·t)^{1/3}, a_{t+1} = c·η_t². [Mao2022, thm:storm_app]"""

    k: float
    w: float
    c: float
    sigma2: float
    L: float


def storm(agents: int, actions: int, horizon: int, exploration: float) -> Storm:
    """Return the constants with b = 1, and σ² and L as in the proof of [Mao2022, thm:finite].

    Deviations: the proof takes L from the mean-square smoothness of the estimator alone. Its Assumption 1 asks for the
    same L that the potential's gradient is Lipschitz with, so L is the larger of √(N²·A_max³·H³/ε̃³) and 4·N·A_max·H³.
    """
    sigma2 = agents * actions**2 * horizon**4 / exploration
    estimator = math.sqrt(agents**2 * actions**3 * horizon**3 / (exploration * exploration * exploration))
    L = max(estimator, lipschitz(agents, actions, horizon))
    return Storm(
        k=float(pow(sigma2, 1 / 3)) / L,
        w=sigma2 * ((32 + 1 / 7) ** 3 / 64),
        c=L * L * (32 + 1 / 7),
        sigma2=sigma2,
        L=L,
    )


class StormBound(NamedTuple):
    """M, and the bound on E[(1/T)·Σ_t ‖G_t‖²] of the gradient mappings G_t. [Mao2022, thm:storm_app]"""

    M: float
    bound: float


def storm_bound(constants: Storm, iterations: float, gain: float) -> StormBound:
    """Return M and the bound after T iterations. The potential rises by `gain`.

    M = 16·gain + w^{1/3}·σ²/(2·L²·k) + k³·c²/L²·ln(T + 2); the bound is M·w^{1/3}/(T·k) + M·σ^{2/3}/(T^{2/3}·k).
    """
    k, w, c, sigma2, L = constants
    T = iterations
    M = 16 * gain + w ** (1 / 3) * sigma2 / (2 * L**2 * k) + k**3 * c**2 / L**2 * math.log(T + 2)
    return StormBound(M, M * w ** (1 / 3) / (T * k) + M * sigma2 ** (1 / 3) / (T ** (2 / 3) * k))


# mismatch and smoothness


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
    most, least = _reach(game, np.max, explore), _reach(game, np.min, explore)
    ratio = _ratio(most, least)
    if np.isinf(ratio.max()):  # of the places that can be avoided, the one that is reached most surely
        h, s = (int(k) for k in np.unravel_index(int(np.where(np.isinf(ratio), most, -1.0).argmax()), ratio.shape))
    else:
        h, s = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
    return Mismatch(
        D=float(ratio[h, s]),
        step=h,
        state=s,
        most=float(most[h, s]),
        least=float(least[h, s]),
        most_policy=_policy(game, h, s, np.argmax, explore),
        least_policy=_policy(game, h, s, np.argmin, explore),
        exploration=explore,
    )


def _ratio(most: FloatArray, least: FloatArray) -> FloatArray:
    """Return most/least, infinite where only the least is 0. Places that nobody reaches count as 1."""
    ratio: FloatArray = np.divide(most, least, out=np.where(most > 0, np.inf, 1.0), where=least > 0)
    return ratio


def _reach(game: TabularGame, best: Callable[..., Any], explore: float) -> FloatArray:
    """Return the best probability of being in s at step h, [H, S]. `best` is np.max or np.min."""
    H, S = game.horizon, game.states
    memory.require(memory.floats(2, S, S, game.joint_actions), "the table of all states to be reached")
    reach = np.zeros((H, S))
    if game.discount is not None:
        return np.atleast_2d(_visits(game, np.eye(S), best, explore) @ game.initial)
    reach[0] = game.initial
    same = game.transition_steps == 1
    prob = np.eye(S)  # [target, s]
    for h in range(1, H):
        if same:  # the chance of being there after h steps depends on h alone
            prob = best(_ahead(game, 0, prob, explore), axis=2)
        else:
            prob = np.eye(S)
            for g in reversed(range(h)):
                prob = best(_ahead(game, g, prob, explore), axis=2)
        reach[h] = prob @ game.initial
    return reach


def _visits(game: TabularGame, targets: FloatArray, best: Callable[..., Any], explore: float) -> FloatArray:
    """Return the best discounted visits from each state to each of the `targets` [T, S]."""
    return iterate(
        lambda visits: targets + best(_ahead(game, 0, visits, explore), axis=2), targets, 1e-13 / game.effective_horizon
    )


def _ahead(game: TabularGame, h: int, prob: FloatArray, explore: float) -> FloatArray:
    """Return the probabilities after each joint choice at step h, [targets, S, J]. Agents explore with ε̃."""
    ahead = game.expect(h, prob)
    for i in range(game.agents if explore > 0 else 0):
        ahead = (1 - explore) * ahead + explore * ahead.mean(axis=2 + i, keepdims=True)
    return ahead.reshape(len(prob), game.states, -1)


def _policy(game: TabularGame, step: int, state: int, choose: Callable[..., Any], explore: float) -> MarkovPolicy:
    """Return the policy that makes being in `state` at `step` most or least likely."""
    choices = np.zeros((game.horizon, game.states), dtype=np.int64)
    prob = np.eye(game.states)[state][None]
    every = np.arange(game.states)
    if game.discount is not None:
        best = np.max if choose is np.argmax else np.min
        prob = _visits(game, prob, best, explore)
        choices[0] = choose(_ahead(game, 0, prob, explore)[0], axis=1)
    for h in reversed(range(step)):
        ahead = _ahead(game, h, prob, explore)[0]
        choices[h] = choose(ahead, axis=1)
        prob = ahead[every, choices[h]][None]
    greedy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
    if explore == 0:
        return greedy
    return MarkovPolicy([(1 - explore) * probs + explore / probs.shape[2] for probs in greedy.probs])


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
    """Compute the largest λ for which a small potential game is (λ, ω)-smooth.

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
        raise TacitError(f"game must have at most {LIMIT} deterministic policies; got {Decimal(profiles):.3g}")
    if not potential(game).holds:
        raise TacitError(f"game must be a Markov potential game; got {game!r}")
    low, high = game.reward_range
    if high == low:
        raise TacitError(f"rewards must differ, or every policy is optimal; got {game!r}")
    plans = [_plans(game, a) for a in game.actions]
    V = _values(game, plans)
    phi = _potentials(V.sum(axis=1))  # π* maximises Φ_s for every s, not only from the game's first states
    slack = _EQUAL * game.agents * game.horizon * (high - low)
    best = phi >= phi.max() - slack * game.states
    lam = np.where(best, _lambdas(V, omega, slack), -np.inf)
    at = np.unravel_index(int(lam.argmax()), lam.shape)
    chosen = MarkovPolicy.deterministic([plan[k] for plan, k in zip(plans, at, strict=True)], game.actions)
    largest = float(lam[at])
    return Smoothness(largest, omega, largest / (1 + omega), chosen, int(best.sum()))


def _plans(game: TabularGame, actions: int) -> IntArray:
    """Return all deterministic policies of one agent, [n, H, S]."""
    cells = game.horizon * game.states
    every = np.array(list(itertools.product(range(actions), repeat=cells)), dtype=np.int64)
    return every.reshape(-1, game.horizon, game.states)


def _values(game: TabularGame, plans: list[IntArray]) -> FloatArray:
    """Return V_{1,i}(s) of all joint deterministic policies, [N, S, n_1, …, n_N]. Rewards are shifted to begin at 0."""
    sizes = [len(plan) for plan in plans]
    which = np.indices(sizes).reshape(len(sizes), -1)  # of each joint policy, the plan of each agent
    rows = [np.eye(a)[plan[k]] for plan, k, a in zip(plans, which, game.actions, strict=True)]  # [n, H, S, A_i]
    *_, first = backward(game, tables([plan.swapaxes(0, 1) for plan in rows]))
    return np.moveaxis(first.V - game.horizon * game.reward_range[0], 0, -1).reshape(game.agents, game.states, *sizes)


def _potentials(V: FloatArray) -> FloatArray:
    """Return Φ − Φ(first policies) of values [N, n_1, …, n_N]. The agents change their policies one after the other.

    The last agent's change is seen from where all others are, the one before from where the last is not yet, and so on.
    """
    phi = np.zeros(V.shape[1:])
    for i, values in enumerate(V):
        later = (Ellipsis, *[slice(0, 1)] * (V.ndim - 2 - i))  # who comes later is still at the first policy
        start = values[later]
        phi = phi + start - start.take([0], axis=i)
    return phi


def _lambdas(V: FloatArray, omega: float, slack: float) -> FloatArray:
    """Return the largest λ with each deterministic policy as π*, [n_1, …, n_N], from values [N, S, n_1, …, n_N]."""
    lam = np.full(V.shape[2:], np.inf)
    for i, values in enumerate(V):
        axis = 1 + i
        others = tuple(k for k in range(1, values.ndim) if k != axis)
        reached = (values + omega * values.min(axis=axis, keepdims=True)).min(axis=others, keepdims=True)  # f_i
        share = np.divide(
            np.broadcast_to(reached, values.shape), values, out=np.full_like(values, np.inf), where=values > slack
        )
        lam = np.minimum(lam, share.min(axis=0))
    return lam
