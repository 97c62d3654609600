"""What the paper's theorems promise for a game. Constants that they hide in O(·) are taken as 1.

Accuracies are in the game's units; the theorems speak of rewards in [0, 1], so ε is divided by the span of the rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.elementary import pow
from tacit.core.errors import TacitError
from tacit.evaluation.coefficients import mismatch
from tacit.evaluation.gradient import lipschitz
from tacit.games.exact import check_finite, with_tables
from tacit.games.tabular import TabularGame

#: ε̃ that is looked at where D is infinite and none is given.
EXPLORATION = 0.1

#: The least ε̃, and the least ε in units of the rewards' span; powers of what is smaller are no numbers.
_LEAST = 1e-12


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
    explored : mapping
        What can be proved with no constant left out for one ε̃: the one that was given, or the theorem's, or, where D is
        infinite and the theorem has none, 0.1. `mismatch` is D over ε̃-greedy policies, `deviating` the same where one
        agent need not explore, which takes the place of D in what follows. `iterations` is the T for which the gradient
        mappings add ε/2 to the nash gap; at this T there are `M` and `bound`. `gap`, ε/2 + `exploration_cost`, is what
        some iterate then has in expectation, in the game's units: no better than the cost of ε̃, however large T is.
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
    explored: dict[str, float]
    lower_bound: float


def theory(
    game: TabularGame, *, epsilon: float = 0.1, confidence: float = 0.1, exploration: float | None = None
) -> Theory:
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
    exploration : float, optional
        ε̃ for what policy gradients are promised; the theorem's if not given.

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
    if exploration is not None:
        check.real("exploration", exploration, least=_LEAST, most=1)
    p = check.real("confidence", confidence, least=0, most=1)
    if p == 0:
        raise TacitError("confidence is 0; it is the probability of failing, and must be positive")
    low, high = game.reward_range
    span = high - low
    unit = span if span > 0 else 1.0
    check.real("epsilon", epsilon, least=_LEAST * unit, most=unit / _LEAST)
    eps = epsilon / span if span > 0 else math.inf
    N, S, A, H = game.agents, game.states, max(game.actions), game.horizon
    iota, K = _episodes(S * A * H**5 / eps**2, 2 * N * S * A * H / p)
    iota_ce, K_ce = _episodes(S * A**2 * H**5 / eps**2, 2 * N * S * A * H / p)
    D = mismatch(game).D if span > 0 else 1.0  # without a span there is nothing to gain, wherever one is
    phi = H if bool(np.all(game.rewards == game.rewards[:1])) else N * H
    storm_found = _storm(N, S, A, H, D, eps, phi, span)
    explore = exploration or storm_found["exploration"] or EXPLORATION
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
        storm=storm_found,
        explored=_explore(game, explore, eps, phi, span),
        lower_bound=H**3 * S * A / eps**2,
    )


def _episodes(factor: float, inside: float) -> tuple[float, float]:
    """Solve K = factor·log(inside·K) by iteration; return ι and K."""
    K = max(factor, 1.0)
    for _ in range(200):
        K = max(factor * math.log(inside * K), 1.0)
    return math.log(inside * K), K


def _storm(N: int, S: int, A: int, H: int, D: float, eps: float, phi: float, span: float) -> dict[str, float]:
    explore = min(math.sqrt(N) * eps / (2 * N * D * S * H**3 * A), 1.0)
    if explore < 1e-30:  # D is infinite, or its powers are no numbers any more
        undefined = dict.fromkeys(("sigma2", "L", "k", "w", "c", "M", "bound", "exploration_cost"), math.nan)
        return {"exploration": 0.0, **undefined, "iterations": math.inf}
    T = N**2.25 * D**4.5 * S**3 * A**4.5 * H**12 / eps**4.5
    return _promise(N, S, A, H, D, explore, T, phi, span)


def _explore(game: TabularGame, explore: float, eps: float, phi: float, span: float) -> dict[str, float]:
    """Return what is proved for ε̃: the nash gap is at most D_ε̃·√(SH)·(2·‖G‖ + the cost of ε̃).

    [Mao2022, thm:storm_app, lemma:gradient_map_epsilon, lemma:stationarity_implies_nash]
    """
    N, S, A, H = game.agents, game.states, max(game.actions), game.horizon
    found = mismatch(game, exploration=explore)
    D = found.deviating
    T = storm_iterations(storm(N, A, H, explore), eps / (4 * (D * math.sqrt(S * H))), phi)
    promise = _promise(N, S, A, H, D, explore, T, phi, span)
    gap = (eps / 2 * span if span > 0 else 0.0) + promise["exploration_cost"]
    return {"exploration": explore, "mismatch": found.D, "deviating": D, **promise, "gap": gap}


def _promise(
    N: int, S: int, A: int, H: int, D: float, explore: float, T: float, phi: float, span: float
) -> dict[str, float]:
    """Return STORM's constants for ε̃, what they promise after T iterations, and what ε̃ adds to the nash gap."""
    found = storm(N, A, H, explore)
    return {
        "exploration": explore,
        **found._asdict(),
        "iterations": T,
        **storm_bound(found, max(T, 1.0), phi)._asdict(),
        "exploration_cost": D * math.sqrt(S * H) * exploration_cost(N, S, A, H, explore) * span,
    }


# constants of the theorems on policy gradients, for rewards in [0, 1]: learners take their steps from here


def exploration_cost(agents: int, states: int, actions: int, horizon: int, exploration: float) -> float:
    """Return √(N·S·A_max²·H⁵)·ε̃, what ε̃ adds to how far an iterate is from a stationary point.

    [Mao2022, lemma:gradient_map_epsilon]
    """
    return math.sqrt(agents * states * actions**2 * horizon**5) * exploration


class Storm(NamedTuple):
    """STORM's constants: η_t = k/(w + σ²·t)^{1/3}, a_{t+1} = c·η_t². [Mao2022, thm:storm_app]"""

    k: float
    w: float
    c: float
    sigma2: float
    L: float


def storm(agents: int, actions: int, horizon: int, exploration: float, b: float = 1.0) -> Storm:
    """Return the constants with σ² and L as in the proof of [Mao2022, thm:finite].

    Deviations: the proof takes L from the mean-square smoothness of the estimator alone. Its Assumption 1 asks for the
    same L that the potential's gradient is Lipschitz with, so L is the larger of √(N²·A_max³·H³/ε̃³) and 4·N·A_max·H³.
    """
    sigma2 = agents * actions**2 * horizon**4 / exploration
    estimator = math.sqrt(agents**2 * actions**3 * horizon**3 / (exploration * exploration * exploration))
    L = max(estimator, lipschitz(agents, actions, horizon))
    return Storm(
        k=b * float(pow(sigma2, 1 / 3)) / L,
        w=sigma2 * max((4 * b) ** 3, 2.0, (32 * b + 1 / (7 * b**2)) ** 3 / 64),
        c=L * L * (32 + 1 / (7 * b**3)),
        sigma2=sigma2,
        L=L,
    )


class StormBound(NamedTuple):
    """M, and the bound on E[(1/T)·Σ_t ‖G_t‖²] of the gradient mappings G_t. [Mao2022, thm:storm_app]"""

    M: float
    bound: float


def storm_bound(constants: Storm, iterations: float, gain: float) -> StormBound:
    """Return M and the bound after T iterations, where the potential can rise by `gain` at most.

    M = 16·gain + w^{1/3}·σ²/(2·L²·k) + k³·c²/L²·ln(T + 2); the bound is M·w^{1/3}/(T·k) + M·σ^{2/3}/(T^{2/3}·k).
    """
    k, w, c, sigma2, L = constants
    T = iterations
    M = 16 * gain + w ** (1 / 3) * sigma2 / (2 * L**2 * k) + k**3 * c**2 / L**2 * math.log(T + 2)
    return StormBound(M, M * w ** (1 / 3) / (T * k) + M * sigma2 ** (1 / 3) / (T ** (2 / 3) * k))


def storm_iterations(constants: Storm, mapping: float, gain: float) -> float:
    """Return the T after which the mean square of ‖G_t‖ is at most `mapping`², by bisection of log T."""
    low, high = 0.0, 1.0
    while storm_bound(constants, math.exp(high), gain).bound > mapping**2:
        low, high = high, 2 * high
        if high > 512:  # beyond floating-point numbers
            return math.inf
    for _ in range(100):
        middle = (low + high) / 2
        if storm_bound(constants, math.exp(middle), gain).bound > mapping**2:
            low = middle
        else:
            high = middle
    return math.exp(high)
