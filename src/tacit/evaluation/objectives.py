"""Which equilibrium, where there are many: of correlated ones the best by an objective, of Nash equilibria by a rule.

- welfare: the largest sum of payoffs;
- egalitarian: the largest payoff of the agent that gets least, and among those the largest sum;
- agent:K: the best for agent K, and among those the largest sum;
- entropy: of largest entropy, the most random one (correlated equilibria only);
- first: the first in the order in which they are enumerated, pure ones of the first actions first (Nash only).
"""

from __future__ import annotations

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray

OBJECTIVES = ("welfare", "egalitarian", "entropy", "agent:K")
RULES = ("welfare", "egalitarian", "first", "agent:K")

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def checked(what: str, value: object, known: tuple[str, ...], agents: int) -> str:
    """Return an objective or a rule that makes sense for a game of so many agents.

    >>> checked("objective", "agent:1", OBJECTIVES, 2)
    'agent:1'
    """
    if isinstance(value, str) and value.startswith("agent:"):
        number = value.removeprefix("agent:")
        if not number.isdecimal() or int(number) >= agents:
            raise TacitError(f"{what} is {brief(value)}; agents are numbered from 0 to {agents - 1}")
        return value
    return check.choice(what, value, known)


def ranked(values: FloatArray, rule: str) -> int:
    """Return which of some equilibria [E, N] a rule selects; the first of those that are equally good."""
    return int(tied(values, rule)[0])


def tied(values: FloatArray, rule: str) -> IntArray:
    """Return those of some equilibria [E, N] that are best by a rule.

    >>> tied(np.array([[2.0, 1.0], [0.5, 0.5], [1.0, 2.0]]), "welfare").tolist()
    [0, 2]
    """
    if rule == "first":
        return np.array([0])
    total = values.sum(axis=1)
    first = total if rule == "welfare" else values.min(axis=1)
    if rule.startswith("agent:"):
        first = values[:, int(rule.removeprefix("agent:"))]
    scale = 1e-9 * max(1.0, float(np.abs(values).max()))
    best = np.flatnonzero(first >= first.max() - scale)
    found: IntArray = best[total[best] >= total[best].max() - scale]
    return found


def optimal(gains: FloatArray, payoffs: FloatArray, objective: str) -> FloatArray:
    """Return the distribution x [J] with gains·x ≤ 0 that is best by an objective, of payoffs [N, J]."""
    if objective == "entropy":
        return _most_even(gains)
    total = payoffs.sum(axis=0)
    if objective.startswith("agent:"):
        own = payoffs[int(objective.removeprefix("agent:"))]
        return _then(gains, own[None], total)
    return _then(gains, payoffs, total)


def _then(gains: FloatArray, payoffs: FloatArray, total: FloatArray) -> FloatArray:
    """Maximise the least of some payoffs, and then the total among those that have it."""
    scale = max(float(np.ptp(payoffs)), 1e-300)
    shifted = (payoffs - payoffs.min()) / scale
    J = gains.shape[1]
    cost = np.append(np.zeros(J), -1.0)
    rows = np.concatenate(
        [np.column_stack([gains, np.zeros(len(gains))]), np.column_stack([-shifted, np.ones(len(shifted))])]
    )
    found = _lp(cost, rows, np.zeros(len(rows)), np.append(np.ones(J), 0.0))
    least = found[-1] - 1e-10
    rows = np.concatenate([gains, -shifted])
    bound = np.append(np.zeros(len(gains)), np.full(len(shifted), -least))
    unit = (total - total.min()) / max(float(np.ptp(total)), 1e-300)
    return _clean(_lp(-unit, rows, bound, np.ones(J)))


def _most_even(gains: FloatArray) -> FloatArray:
    """Maximise the entropy: first the face of the polytope that can be played, then the dual on it.

    On the face there is a point that plays everything and keeps a reserve in every inequality that allows one, so the
    dual has a minimum: x ∝ exp(−λ·gains), λ ≥ 0 where there is a reserve.
    """
    from scipy.optimize import linprog, minimize  # imported where they are used: learning does not

    D, J = gains.shape
    # maximise Σ t + Σ u with t ≤ x, u ≤ −gains·x, all within [0, 1]; a cone, so any scale of x will do
    cost = np.concatenate([np.zeros(J), -np.ones(J + D)])
    rows = np.block(
        [
            [-np.eye(J), np.eye(J), np.zeros((J, D))],
            [gains, np.zeros((D, J)), np.eye(D)],
        ]
    )
    bounds = [(0, None)] * J + [(0, 1)] * (J + D)
    found = linprog(cost, rows, np.zeros(J + D), bounds=bounds, method="highs", options=_OPTIONS)
    if found.x is None:
        raise RuntimeError(f"HiGHS did not solve the linear program of a stage game: {found.message}")
    played = found.x[J : 2 * J] > 1e-6
    reserve = found.x[2 * J :] > 1e-6
    inner = np.where(played, found.x[:J], 0.0)
    inner /= inner.sum()
    own = gains[:, played]
    kept = np.abs(own).max(axis=1) > 1e-12
    own, reserve = own[kept], reserve[kept]
    if not len(own):
        return _clean(np.where(played, 1.0, 0.0))

    def dual(multiplier: FloatArray) -> tuple[float, FloatArray]:
        weight = -multiplier @ own
        top = weight.max()
        chance = np.exp(weight - top)
        total = chance.sum()
        return float(np.log(total) + top), -(own @ (chance / total))

    limits = [(0.0, None) if free else (None, None) for free in reserve]
    effort = {"maxiter": 5000, "maxfun": 50_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 30}
    best = minimize(dual, np.zeros(len(own)), jac=True, method="L-BFGS-B", bounds=limits, options=effort)
    weight = -best.x @ own
    x = np.zeros(J)
    x[played] = np.exp(weight - weight.max())
    x /= x.sum()
    over = float(np.max(gains @ x, initial=0.0))
    if over > 0:  # the reserve of the inner point makes up for what is left of rounding
        room = -float(np.max((gains @ inner)[kept][reserve], initial=-np.inf)) if reserve.any() else 0.0
        if np.isfinite(room) and room > 0:
            share = min(1.0, over / (over + room))
            x = (1 - share) * x + share * inner
    return _clean(x)


def _lp(cost: FloatArray, rows: FloatArray, bound: FloatArray, total: FloatArray) -> FloatArray:
    from scipy.optimize import linprog

    bounds: list[tuple[float | None, float | None]] = [(0, None) if weight else (None, None) for weight in total]
    found = linprog(cost, rows, bound, total[None], [1.0], bounds=bounds, method="highs", options=_OPTIONS)
    if found.x is None:
        raise RuntimeError(f"HiGHS did not solve the linear program of a stage game: {found.message}")
    x: FloatArray = found.x
    return x


def _clean(x: FloatArray) -> FloatArray:
    x = np.maximum(x, 0.0)
    x /= x.sum()
    return x
