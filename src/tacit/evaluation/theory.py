"""What the paper's theorems promise for a game. Constants that they hide in O(·) are taken as 1.

Accuracies are in the game's units; the theorems speak of rewards in [0, 1], so ε is divided by the span of the rewards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.evaluation.mismatch import mismatch
from tacit.games.tabular import TabularGame, check_game


@dataclass(frozen=True)
class Theory:
    """Promises for accuracy ε and confidence p.

    Attributes
    ----------
    iota_cce, iota_ce : float
        ι = log(2·N·S·A_max·K·H/p) with the K below. [Mao2022, thm:cce, thm:ce]
    episodes_cce, episodes_ce : float
        K = S·A_max·H⁵·ι/ε² and S·A_max²·H⁵·ι/ε².
    mismatch : float
        D.
    exact_step, exact_iterations : float
        η = 1/(4·N·A_max·H³) over the span of the rewards, as `pg-exact` takes it, and
        T = 32·N·S·A_max·D²·H⁴·Φ_max/ε². [Mao2022, thm:mpg_exact_gradient]
    storm : mapping
        ε̃, σ², L, k, w, c (b = 1) and T. [Mao2022, thm:storm_app, thm:finite]
    lower_bound : float
        H³·S·A_max/ε² episodes, for any algorithm on some game of this size. [Mao2022, app:lowerbound]
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

    >>> import tacit
    >>> theory(tacit.make("good-state"), epsilon=1.0).mismatch
    9.0...
    """
    check_game(game)
    if check.real("epsilon", epsilon, least=0) == 0:
        raise TacitError("epsilon is 0; it must be a positive accuracy, in the game's reward units")
    p = check.real("confidence", confidence, least=0, most=1)
    if p == 0:
        raise TacitError("confidence is 0; it is the probability of failing, and must be positive")
    low, high = game.reward_range
    span = high - low
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
        exact_step=1 / (4 * N * A * H**3 * (span if span > 0 else 1.0)),
        exact_iterations=32 * N * S * A * D**2 * H**4 * phi / eps**2,
        storm=_storm(N, S, A, H, D, eps),
        lower_bound=H**3 * S * A / eps**2,
    )


def _episodes(factor: float, inside: float) -> tuple[float, float]:
    """Solve K = factor·log(inside·K) by iteration; return ι and K."""
    K = max(factor, 1.0)
    for _ in range(200):
        K = max(factor * math.log(inside * K), 1.0)
    return math.log(inside * K), K


def _storm(N: int, S: int, A: int, H: int, D: float, eps: float) -> dict[str, float]:
    explore = min(math.sqrt(N) * eps / (2 * N * D * S * H**3 * A), 1.0)
    if explore == 0:  # D is infinite
        nan = math.nan
        return {"exploration": 0.0, "sigma2": nan, "L": nan, "k": nan, "w": nan, "c": nan, "iterations": math.inf}
    sigma2 = N * A**2 * H**4 / explore
    L = math.sqrt(N**2 * A**3 * H**3 / explore**3)
    return {
        "exploration": explore,
        "sigma2": sigma2,
        "L": L,
        "k": sigma2 ** (1 / 3) / L,
        "w": sigma2 * max(64.0, 2.0, (32 + 1 / 7) ** 3 / 64),
        "c": L**2 * (32 + 1 / 7),
        "iterations": N**2.25 * D**4.5 * S**3 * A**4.5 * H**12 / eps**4.5,
    }
