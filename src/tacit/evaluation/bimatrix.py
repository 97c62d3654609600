"""All extreme equilibria of a two-player game, by enumerating the vertices of the best-response polytopes.

With positive payoffs A, B the polytopes are P = {x ≥ 0, Bᵀx ≤ 1} and Q = {y ≥ 0, Ay ≤ 1}. A vertex has the labels of
its binding inequalities; a pair of vertices that has all labels between them, scaled to sum to 1, is an equilibrium,
and every equilibrium is a mixture of such pairs that exchange [Mangasarian, "Equilibrium points of bimatrix games",
1964; Avis, Rosenberg, Savani, von Stengel, "Enumeration of Nash equilibria for two-player games", 2010]. In a game that
is not degenerate they are all equilibria, finitely many and an odd number; in a degenerate one a component with several
extreme equilibria holds infinitely many.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tacit.core.types import BoolArray, FloatArray, IntArray

#: Bases that are tried for one polytope, at most: C(m + n, m), as of 9×9 actions.
BASES = 50_000
#: What counts as zero; payoffs are scaled to [1, 2].
_ZERO = 1e-9
_BLOCK = 5_000


class Extreme(NamedTuple):
    """The extreme equilibria of a bimatrix game."""

    rows: FloatArray  # [E, m]
    columns: FloatArray  # [E, n]
    component: IntArray  # [E] connected sets of equilibria, numbered from 0
    degenerate: bool  # whether some mixture of k actions has more than k best responses

    @property
    def infinite(self) -> bool:
        """Whether a component has more than one extreme equilibrium, and so infinitely many equilibria."""
        return len(set(self.component.tolist())) < len(self.component)


def fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of so many actions is small enough."""
    return len(actions) == 2 and math.comb(sum(actions), actions[0]) <= BASES


def extreme_equilibria(payoffs: FloatArray) -> Extreme:
    """Return all extreme equilibria of payoffs [2, m, n].

    >>> found = extreme_equilibria(np.array([[[6.0, 2], [7, 0]], [[6, 7], [2, 0]]]))
    >>> found.rows.round(6).tolist()
    [[1.0, 0.0], [0.666667, 0.333333], [0.0, 1.0]]
    """
    m, n = payoffs.shape[1:]
    A, B = _positive(payoffs[0]), _positive(payoffs[1])
    x, x_labels = _vertices(B.T, first=True)
    y, y_labels = _vertices(A, first=False)
    complete = (~x_labels).astype(np.int64) @ (~y_labels).T.astype(np.int64) == 0
    pairs = np.argwhere(complete)
    pairs = pairs[(x[pairs[:, 0]].sum(axis=1) > _ZERO) & (y[pairs[:, 1]].sum(axis=1) > _ZERO)]
    rows, columns = x[pairs[:, 0]], y[pairs[:, 1]]
    rows, columns = rows / rows.sum(axis=1, keepdims=True), columns / columns.sum(axis=1, keepdims=True)
    order = np.lexsort([*(-columns.T[::-1]), *(-rows.T[::-1])])  # pure ones of the first actions first
    degenerate = bool((x_labels.sum(axis=1) > m).any() or (y_labels.sum(axis=1) > n).any())
    return Extreme(rows[order], columns[order], _components(pairs[order]), degenerate)


def pure_equilibria(payoffs: FloatArray) -> list[tuple[int, ...]]:
    """Return the joint actions of payoffs [N, A_1, …, A_N] from which nobody gains by leaving alone."""
    stays = np.ones(payoffs.shape[1:], dtype=bool)
    for i, own in enumerate(payoffs):
        slack = _ZERO * max(float(np.ptp(own)), 1e-300)
        stays &= own >= own.max(axis=i, keepdims=True) - slack
    return [tuple(int(a) for a in joint) for joint in np.argwhere(stays)]


def _positive(payoff: FloatArray) -> FloatArray:
    low, high = payoff.min(), payoff.max()
    return 1 + (payoff - low) / (high - low) if high > low else np.ones_like(payoff)


def _vertices(matrix: FloatArray, *, first: bool) -> tuple[FloatArray, BoolArray]:
    """Return the vertices of {v ≥ 0, matrix·v ≤ 1} and their labels, [V, d] and [V, labels].

    Labels are those of the first player's actions, then the second's: of the first polytope v ≥ 0 has the former.
    """
    others, d = matrix.shape
    left = np.concatenate([-np.eye(d), matrix])  # left·v ≤ right
    right = np.concatenate([np.zeros(d), np.ones(others)])
    found: list[FloatArray] = []
    for bases in _blocks(d + others, d):
        square = left[bases]
        regular = np.abs(np.linalg.det(square)) > 1e-12
        if not regular.any():
            continue
        points = np.linalg.solve(square[regular], right[bases[regular]][..., None])[..., 0]
        inside = (points @ left.T <= right + _ZERO).all(axis=1)
        found.append(np.maximum(points[inside], 0.0))
    points = np.concatenate(found)
    _, kept = np.unique(np.round(points, 9) + 0.0, axis=0, return_index=True)
    points = points[np.sort(kept)]
    binding = np.abs(points @ left.T - right) <= 1e-8
    return points, binding if first else np.concatenate([binding[:, d:], binding[:, :d]], axis=1)


def _blocks(total: int, chosen: int) -> Iterator[IntArray]:
    every = itertools.combinations(range(total), chosen)
    while block := list(itertools.islice(every, _BLOCK)):
        yield np.array(block)


def _components(pairs: IntArray) -> IntArray:
    """Number the connected sets of equilibria: two that share a strategy are connected."""
    component = np.arange(len(pairs))
    changed = True
    while changed:
        changed = False
        for side in (0, 1):
            for strategy in np.unique(pairs[:, side]):
                held = pairs[:, side] == strategy
                least = component[held].min()
                changed |= bool((component[held] != least).any())
                component[held] = least
    numbers = list(dict.fromkeys(component.tolist()))
    return np.array([numbers.index(c) for c in component.tolist()], dtype=np.int64)
