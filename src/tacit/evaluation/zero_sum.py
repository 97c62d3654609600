"""Zero-sum stage games, many at once: saddle points, otherwise the simplex method, otherwise linear programs.

For payoffs M > 0 of the row player, the column player maximises Σ y subject to M·y ≤ 1 and y ≥ 0. At the optimum y/Σ y
is its mixed action, the multipliers x/Σ x are the row player's, and the value is 1/Σ y [Dantzig, 1951]. One tableau of
(m + 1)×(n + 1) numbers gives both, and NumPy pivots those of all states together. Each answer is checked against every
deviation; what does not pass, or has not ended, goes to HiGHS.
"""

from __future__ import annotations

import numpy as np

from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.stage_game import maximin

#: What counts as 0 in a tableau, and the gain from a deviation that is rounding, both in units of the range of payoffs.
_ZERO, _ROUNDING = 1e-12, 1e-12

#: Numbers of a matrix up to which the tableau is quicker than HiGHS.
_LARGE = 10_000


def solve_zero_sum(payoffs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return optimal mixed actions of the maximising row players and the minimising column players.

    A saddle point is taken where there is one: wherever only one of the two moves, it is a plain maximum.

    Parameters
    ----------
    payoffs : array [S, m, n]

    Returns
    -------
    array [S, m], array [S, n]

    Examples
    --------
    >>> x, y = solve_zero_sum(np.array([[[0.0, -1, 2], [1, 0, -1], [-2, 1, 0]], [[3, 1, 2], [0, 0, 0], [0, 0, 0]]]))
    >>> x.round(3).tolist(), y.round(3).tolist()
    ([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]], [[0.25, 0.5, 0.25], [0.0, 1.0, 0.0]])
    """
    m, n = payoffs.shape[1:]
    low, high = payoffs.min(axis=2), payoffs.max(axis=1)
    x, y = np.eye(m)[low.argmax(axis=1)], np.eye(n)[high.argmin(axis=1)]
    mixed = np.flatnonzero(low.max(axis=1) < high.min(axis=1))
    least, most = low[mixed].min(axis=1), high[mixed].max(axis=1)
    unit = (payoffs[mixed] - least[:, None, None]) / (most - least)[:, None, None]
    unsolved = np.ones(len(mixed), dtype=bool)
    if m * n <= _LARGE:
        x[mixed], y[mixed] = _pivot(unit + 1)
        best = np.einsum("sab,sb->sa", unit, y[mixed]).max(axis=1)
        unsolved = ~(best - np.einsum("sa,sab->sb", x[mixed], unit).min(axis=1) <= _ROUNDING)
    for k in np.flatnonzero(unsolved):
        x[mixed[k]], y[mixed[k]] = maximin(unit[k]), maximin(-unit[k].T)
    return x, y


def _pivot(matrices: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mixed actions at the last vertex of each, for matrices [S, m, n] of numbers from 1 to 2."""
    S, m, n = matrices.shape
    tableau = np.ones((S, m + 1, n + 1))
    tableau[:, :m, :n] = matrices
    tableau[:, m] = np.append(-np.ones(n), 0.0)
    inside: IntArray = np.tile(np.arange(n, n + m), (S, 1))  # what is in the basis: y are 0 to n − 1, then slacks
    outside: IntArray = np.tile(np.arange(n), (S, 1))
    busy = np.arange(S)
    for _ in range(20 * (m + n)):  # more than any game needs that does not cycle
        column = tableau[busy, m, :n].argmin(axis=1)
        improves = tableau[busy, m, column] < -_ZERO
        busy, column = busy[improves], column[improves]
        if not len(busy):
            break
        now, each = tableau[busy], np.arange(len(busy))
        down = now[each, :, column]
        enters = down[:, :m] > _ZERO
        ratio = np.where(enters, now[:, :m, n] / np.where(enters, down[:, :m], 1.0), np.inf)
        row = ratio.argmin(axis=1)
        pivot = down[each, row][:, None]
        across = now[each, row] / pivot
        now -= down[:, :, None] * across[:, None, :]
        now[each, row] = across
        now[each, :, column] = -down / pivot
        now[each, row, column] = 1 / pivot[:, 0]
        tableau[busy] = now
        leaves = inside[busy, row]
        inside[busy, row], outside[busy, column] = outside[busy, column], leaves
    primal, dual = np.zeros((2, S, n + m))
    np.put_along_axis(primal, inside, tableau[:, :m, n], axis=1)
    np.put_along_axis(dual, outside, tableau[:, m, :n], axis=1)
    return _normalize(dual[:, n:]), _normalize(primal[:, :n])


def _normalize(weights: FloatArray) -> FloatArray:
    weights = np.maximum(weights, 0.0)
    found: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return found
