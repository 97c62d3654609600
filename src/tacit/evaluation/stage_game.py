"""Equilibria of one normal-form game by linear programming, with SciPy's HiGHS.

Payoffs are arrays [N, A_1, …, A_N]. They are shifted and scaled to [0, 1] first, so that the solver's tolerance, which
is absolute, means the same for every game.
"""

from __future__ import annotations

import numpy as np

from tacit.core.types import FloatArray
from tacit.evaluation.objectives import optimal
from tacit.games.contraction import own_first

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def correlated(payoffs: FloatArray, concept: str, weights: FloatArray, objective: str = "welfare") -> FloatArray:
    """Return the cce or ce [A_1, …, A_N] that maximises Σ_i weights[i]·payoff_i, or is best by another objective."""
    shape = payoffs.shape[1:]
    scaled = np.stack([_unit(payoff) for payoff in payoffs])
    gains = np.concatenate([_gains(scaled[i], i, concept) for i in range(len(payoffs))])
    if objective != "welfare":
        return optimal(gains, payoffs.reshape(len(payoffs), -1), objective).reshape(shape)
    total = np.tensordot(weights, payoffs, axes=1).ravel()
    x = _solve(-_unit(total), gains, np.zeros(len(gains)), np.ones((1, total.size)))
    return x.reshape(shape)


def zero_sum(payoff: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return optimal mixed actions of the maximising row and the minimising column player of a matrix.

    A saddle point is taken where there is one: wherever only one of them moves, that saves both linear programs.
    """
    low, high = payoff.min(axis=1), payoff.max(axis=0)
    if low.max() == high.min():
        return np.eye(len(low))[low.argmax()], np.eye(len(high))[high.argmin()]
    unit = _unit(payoff)
    return _maximin(unit), _maximin(-unit.T)


def _maximin(matrix: FloatArray) -> FloatArray:
    """Maximise v subject to Σ_a x(a)·matrix(a, b) ≥ v for every b."""
    rows, columns = matrix.shape
    cost = np.append(np.zeros(rows), -1.0)
    gains = np.column_stack([-matrix.T, np.ones(columns)])
    total = np.append(np.ones(rows), 0.0)[None]
    return _solve(cost, gains, np.zeros(columns), total, free_last=True)


def _gains(payoff: FloatArray, i: int, concept: str) -> FloatArray:
    """Return the gain of each deviation of agent i as a linear function of the joint distribution, [deviations, J]."""
    actions = payoff.shape[i]
    own = own_first(payoff, i, payoff.ndim)  # [A_i, rest]
    gain = own[:, None, :] - own[None, :, :]  # [played, told, rest]
    if concept == "cce":
        rows = gain
    else:
        rows = np.zeros((actions, actions, *gain.shape[1:]))
        rows[np.arange(actions), :, np.arange(actions)] = gain.transpose(1, 0, 2)  # [told, played, told, rest]
        rows = rows.reshape(actions * actions, *gain.shape[1:])
        rows = rows[~np.eye(actions, dtype=bool).ravel()]
    shape = [len(rows), actions, *np.delete(payoff.shape, i)]
    flat: FloatArray = np.moveaxis(rows.reshape(shape), 1, 1 + i).reshape(len(rows), payoff.size)
    return flat


def _solve(
    cost: FloatArray, gains: FloatArray, bound: FloatArray, total: FloatArray, *, free_last: bool = False
) -> FloatArray:
    """Minimise cost·x subject to gains·x ≤ bound, total·x = 1, x ≥ 0; return the cleaned distribution."""
    from scipy.optimize import linprog  # imported where it is used: learning does not

    bounds: list[tuple[float | None, float | None]] = [(0, None)] * (len(cost) - free_last)
    if free_last:
        bounds.append((None, None))
    result = linprog(cost, gains, bound, total, [1.0], bounds=bounds, method="highs", options=_OPTIONS)
    if result.x is None:
        raise RuntimeError(f"HiGHS did not solve the linear program of a stage game: {result.message}")
    x: FloatArray = np.maximum(result.x[:-1] if free_last else result.x, 0.0)
    x /= x.sum()
    return x


def _unit(payoff: FloatArray) -> FloatArray:
    low, high = payoff.min(), payoff.max()
    return (payoff - low) / (high - low) if high > low else np.zeros_like(payoff)
