"""The constants of the theorems on policy gradients, for rewards in [0, 1]: their one home.

Learners take their steps from here, and `tacit.theory` its promises.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tacit.core.elementary import pow


def smooth(agents: int, actions: int, horizon: int) -> float:
    """Return 4·N·A_max·H³, a Lipschitz constant of the potential's gradient. [Mao2022, lemma:smoothness]"""
    return 4.0 * agents * actions * horizon**3


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
    L = max(estimator, smooth(agents, actions, horizon))
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
