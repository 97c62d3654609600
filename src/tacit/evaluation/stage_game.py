"""Equilibria of one normal-form game by linear programming, and how one is selected.

Payoffs are arrays [N, A_1, …, A_N]. They are shifted and scaled to [0, 1] first, so that the tolerance of SciPy's
HiGHS, which is absolute, means the same for every game. Of correlated equilibria the best by an objective is taken, of
Nash equilibria by a rule:

- welfare: the largest sum of payoffs;
- egalitarian: the largest payoff of the agent that gets least, and among those the largest sum;
- agent:K: the best for agent K, and among those the largest sum;
- first: the first in the order in which they are enumerated, pure ones of the first actions first (Nash only).

Zero-sum games come many at once: saddle points, otherwise the simplex method, otherwise linear programs. For payoffs
M > 0 of the row player, the column player maximises Σ y subject to M·y ≤ 1 and y ≥ 0. At the optimum y/Σ y is its mixed
action, the multipliers x/Σ x are the row player's, and the value is 1/Σ y [Dantzig, 1951]. One tableau of
(m + 1)×(n + 1) numbers gives both, and NumPy pivots those of all states together. Each answer is checked against every
deviation; what does not pass, or has not ended, goes to HiGHS.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import own_first

_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}

#: What counts as the same corner, and as one of a polytope.
_SAME, _TIE = 1e-7, 1e-9

#: What counts as 0 in a tableau, and the gain from a deviation that is rounding, both in units of the range of payoffs.
_ZERO, _ROUNDING = 1e-12, 1e-12

#: Numbers of the linear program of one stage up to which it is solved.
LP_NUMBERS = 3_000_000

#: Numbers of a matrix up to which the tableau is quicker than HiGHS.
_LARGE = 10_000


def fits(actions: Sequence[int], concept: str) -> bool:
    """Return whether the linear program for a cce or ce is small enough.

    >>> fits((10, 10, 10), "ce"), fits((100, 100), "cce"), fits((100, 100), "ce")
    (True, True, False)
    """
    deviations = sum(actions) if concept == "cce" else sum(a * a for a in actions)
    return math.prod(actions) * deviations <= LP_NUMBERS


def find_correlated(
    payoffs: FloatArray, concept: str, weights: FloatArray, objective: str = "welfare", offset: FloatArray | float = 0.0
) -> FloatArray:
    """Return the cce or ce [A_1, …, A_N] that is best by an objective.

    Welfare is Σ_i weights[i]·payoff_i; `offset` [N] is added to payoffs where agents are compared with each other.
    """
    if objective == "welfare" and (pure := _find_pure(payoffs, weights)) is not None:
        return pure
    gains = deviation_gains(payoffs, concept)
    flat = payoffs.reshape(len(payoffs), -1)
    if objective == "welfare":
        total = np.tensordot(weights, payoffs, axes=1).ravel()
        x = _clean(_minimise(-_unit(total), gains, np.zeros(len(gains)), np.ones(total.size)))
    else:
        if objective == "egalitarian":
            least = flat + np.reshape(offset, (-1, 1))
            least = least[least.min(axis=1) <= least.max(axis=1).min()]  # the others never get least
        else:
            least = flat[[int(objective.removeprefix("agent:"))]]
        x = _most_for_least(gains, least, flat.sum(axis=0))
    return x.reshape(payoffs.shape[1:])


def _find_pure(payoffs: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Return the pure equilibrium of largest total, if no correlated one has more.

    None has more than the largest total of all joint actions, nor, where one agent alone moves, than its best actions.
    """
    best_responses = [payoff >= payoff.max(axis=i, keepdims=True) for i, payoff in enumerate(payoffs)]
    total = np.where(np.logical_and.reduce(best_responses), np.tensordot(weights, payoffs, axes=1), -np.inf)
    best = total.max()
    movers = sum(bool(np.ptp(payoffs, axis=1 + i).any()) for i in range(len(payoffs)))
    if best == -np.inf or (movers > 1 and best < np.tensordot(weights, payoffs, axes=1).max()):
        return None
    pure = np.zeros(total.shape)
    pure.flat[total.argmax()] = 1.0
    return pure


def deviation_gains(payoffs: FloatArray, concept: str) -> FloatArray:
    """Return each deviation's gain by joint action, [deviations, J]. Units are ranges of payoffs."""
    return np.concatenate([_gains(_unit(payoff), i, concept) for i, payoff in enumerate(payoffs)])


def _gains(payoff: FloatArray, i: int, concept: str) -> FloatArray:
    """Return the gains of agent i's deviations, linear in the joint distribution, [deviations, J]."""
    actions = payoff.shape[i]
    by_action = own_first(payoff, i, payoff.ndim)  # [A_i, rest]
    gain = by_action[:, None, :] - by_action[None, :, :]  # [played, recommended, rest]
    if concept == "cce":
        rows = gain
    else:
        rows = np.zeros((actions, actions, *gain.shape[1:]))
        rows[np.arange(actions), :, np.arange(actions)] = gain.transpose(
            1, 0, 2
        )  # [recommended, played, recommended, rest]
        rows = rows.reshape(actions * actions, *gain.shape[1:])
        rows = rows[~np.eye(actions, dtype=bool).ravel()]
    shape = [len(rows), actions, *np.delete(payoff.shape, i)]
    flat: FloatArray = np.moveaxis(rows.reshape(shape), 1, 1 + i).reshape(len(rows), payoff.size)
    return flat


def _minimise(cost: FloatArray, rows: FloatArray, bound: FloatArray, total: FloatArray) -> FloatArray:
    """Minimise cost·x subject to rows·x ≤ bound, total·x = 1, and x ≥ 0 where total is not 0."""
    from scipy.optimize import linprog  # imported where it is used: learning does not

    ranges = [(0 if weight else None, None) for weight in total]
    program = linprog(cost, rows, bound, total[None], [1.0], ranges, method="highs", options=_OPTIONS)
    if program.x is None:
        raise RuntimeError(f"HiGHS did not solve the linear program of a stage game: {program.message}")
    x: FloatArray = program.x
    return x


def _unit(payoff: FloatArray) -> FloatArray:
    low, high = payoff.min(), payoff.max()
    return (payoff - low) / (high - low) if high > low else np.zeros_like(payoff)


def find_corners(limits: FloatArray, *, singular: float) -> FloatArray:
    """Return the corners [V, d] of the distributions x with limits·x ≤ 0. All d − 1 of few limits are tried.

    Systems whose determinant is at most `singular` have no corner.

    >>> find_corners(np.array([[1.0, -1.0, 0.0], [0.0, 0.0, 1.0]]), singular=1e-6).tolist()
    [[0.0, 1.0, 0.0], [0.5, 0.5, 0.0]]
    """
    d = limits.shape[1]
    every = np.concatenate([-np.eye(d), limits])
    chosen = np.array(list(itertools.combinations(range(len(every)), d - 1)))
    systems = np.concatenate([np.ones((len(chosen), 1, d)), every[chosen]], axis=1)
    systems = systems[np.abs(np.linalg.det(systems)) > singular]
    corners: list[FloatArray] = []
    for corner in np.linalg.solve(systems, np.eye(d)[None, :, :1])[..., 0]:
        new = not any(np.abs(corner - other).max() < _SAME for other in corners)
        if new and np.sum(every * corner, axis=1).max() <= _TIE:
            corners.append(corner)
    return _clean(np.array(corners).reshape(-1, d))


OBJECTIVES = ("welfare", "egalitarian", "agent:K")
RULES = ("welfare", "egalitarian", "first", "agent:K")


def check_rule(what: str, value: object, rules: tuple[str, ...], agents: int) -> str:
    """Return an objective or a rule for a game of so many agents.

    >>> check_rule("objective", "agent:1", OBJECTIVES, 2)
    'agent:1'
    """
    if isinstance(value, str) and value.startswith("agent:"):
        number = value.removeprefix("agent:")
        if not number.isdecimal() or int(number) >= agents:
            raise TacitError(f"{what} must name an agent from 0 to {agents - 1}; got {brief(value)}")
        return value
    return check.choice(what, value, rules)


def select_best(values: FloatArray, rule: str) -> IntArray:
    """Return those of some equilibria [E, N] that are best by a rule.

    >>> select_best(np.array([[2.0, 1.0], [0.5, 0.5], [1.0, 2.0]]), "welfare").tolist()
    [0, 2]
    """
    if rule == "first":
        return np.array([0])
    total = values.sum(axis=1)
    first = total if rule == "welfare" else values.min(axis=1)
    if rule.startswith("agent:"):
        first = values[:, int(rule.removeprefix("agent:"))]
    scale = 1e-9 * float(np.abs(values).max())
    best = np.flatnonzero(first >= first.max() - scale)
    selected: IntArray = best[total[best] >= total[best].max() - scale]
    return selected


def _most_for_least(gains: FloatArray, payoffs: FloatArray, total: FloatArray) -> FloatArray:
    """Maximise the least of some payoffs, and then the total among those that have it."""
    shifted, J = _unit(payoffs), gains.shape[1]
    rows = np.block([[gains, np.zeros((len(gains), 1))], [-shifted, np.ones((len(shifted), 1))]])
    x = _minimise(np.append(np.zeros(J), -1.0), rows, np.zeros(len(rows)), np.append(np.ones(J), 0.0))
    least = x[-1] - 1e-10
    bound = np.append(np.zeros(len(gains)), np.full(len(shifted), -least))
    return _clean(_minimise(-_unit(total), np.concatenate([gains, -shifted]), bound, np.ones(J)))


def _clean(x: FloatArray) -> FloatArray:
    """Return distributions [..., n] of weights that may be negative by rounding."""
    x = np.maximum(x, 0.0)
    x /= x.sum(axis=-1, keepdims=True)
    return x


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
    """Return the mixed actions at the last vertex of each matrix. `matrices` [S, m, n] have entries from 1 to 2."""
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
    return _clean(dual[:, n:]), _clean(primal[:, :n])


def maximin(matrix: FloatArray) -> FloatArray:
    """Maximise v subject to Σ_a x(a)·matrix(a, b) ≥ v for every b."""
    rows, columns = matrix.shape
    cost = np.append(np.zeros(rows), -1.0)
    gains = np.column_stack([-matrix.T, np.ones(columns)])
    return _clean(_minimise(cost, gains, np.zeros(columns), np.append(np.ones(rows), 0.0))[:-1])
