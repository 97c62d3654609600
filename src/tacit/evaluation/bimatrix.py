"""All extreme equilibria of a two-player game, by enumerating the vertices of the best-response polytopes.

With positive payoffs A, B the polytopes are P = {x ≥ 0, Bᵀx ≤ 1} and Q = {y ≥ 0, Ay ≤ 1}. A vertex has the labels of
its binding inequalities; a pair of vertices that has all labels between them, scaled to sum to 1, is an equilibrium,
and every equilibrium is a mixture of such pairs that exchange [Mangasarian, "Equilibrium points of bimatrix games",
1964; Avis, Rosenberg, Savani, von Stengel, "Enumeration of Nash equilibria for two-player games", 2010]. In a game that
is not degenerate they are all equilibria, finitely many and an odd number; in a degenerate one a component with several
extreme equilibria holds infinitely many.

Vertices are taken generously, since where payoffs differ by many orders of magnitude they are solved with large errors;
then pairs are solved anew on the actions they play, and kept if nobody gains more than rounding. Where pairs were left
out, or an even number is left of a game that is not degenerate, the list may lack some, and `sure` is false.
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
#: Smallest over largest singular value of a basis that counts as regular, and the most that its errors may count for.
_SINGULAR, _MOST = 1e-14, 1e-6
#: A gain that counts as rounding, as a share of what is added up to the worth of the actions in question.
_ROUNDING = 1e-8
_BLOCK = 5_000


class Extreme(NamedTuple):
    """The extreme equilibria of a bimatrix game."""

    rows: FloatArray  # [E, m]
    columns: FloatArray  # [E, n]
    component: IntArray  # [E] connected sets of equilibria, numbered from 0
    degenerate: bool  # whether some mixture of k actions has more than k best responses
    sure: bool  # whether there is surely no other

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
    kept = _undominated(payoffs)
    A, B = payoffs[0][np.ix_(*kept)], payoffs[1][np.ix_(*kept)]
    x, x_labels = _vertices(_positive(B).T, first=True)
    y, y_labels = _vertices(_positive(A), first=False)
    complete = (~x_labels).astype(np.int64) @ (~y_labels).T.astype(np.int64) == 0
    pairs = np.argwhere(complete)
    pairs = pairs[(x[pairs[:, 0]].sum(axis=1) > _ZERO) & (y[pairs[:, 1]].sum(axis=1) > _ZERO)]
    solved = [_solved(A, B, x[j] / x[j].sum(), y[k] / y[k].sum()) for j, k in pairs]
    good = np.array([_stays(A, own, other) and _stays(B.T, other, own) for own, other in solved], dtype=bool)
    rows, columns = (np.zeros((int(good.sum()), size)) for size in payoffs.shape[1:])
    rows[:, kept[0]] = [own for (own, _), stays in zip(solved, good, strict=True) if stays]
    columns[:, kept[1]] = [other for (_, other), stays in zip(solved, good, strict=True) if stays]
    ids = np.stack([np.unique(np.round(own, 12), axis=0, return_inverse=True)[1].ravel() for own in (rows, columns)])
    first = np.sort(np.unique(ids, axis=1, return_index=True)[1])  # two may have become one
    rows, columns, ids = rows[first], columns[first], ids[:, first]
    order = np.lexsort([*(-columns.T[::-1]), *(-rows.T[::-1])])  # pure ones of the first actions first
    degenerate = bool((x_labels.sum(axis=1) > A.shape[0]).any() or (y_labels.sum(axis=1) > A.shape[1]).any())
    sure = bool(good.all()) and (degenerate or len(rows) % 2 == 1)
    return Extreme(rows[order], columns[order], _components(ids.T[order]), degenerate, sure)


def _undominated(payoffs: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the actions that are left when those are struck, again and again, that another one always beats."""
    kept = np.arange(payoffs.shape[1]), np.arange(payoffs.shape[2])
    while True:
        A, B = payoffs[0][np.ix_(*kept)], payoffs[1][np.ix_(*kept)].T
        beaten = [(own[None] > own[:, None]).all(axis=2).any(axis=1) for own in (A, B)]
        if not (beaten[0].any() or beaten[1].any()):
            return kept
        kept = kept[0][~beaten[0]], kept[1][~beaten[1]]


def _solved(A: FloatArray, B: FloatArray, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve a pair anew on the actions that it plays, where these determine it."""
    mine, theirs = np.flatnonzero(x > _MOST), np.flatnonzero(y > _MOST)
    if len(mine) != len(theirs):
        return x, y
    own, other = _indifferent(B.T, theirs, mine), _indifferent(A, mine, theirs)
    return x if own is None else own, y if other is None else other


def _indifferent(payoff: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray | None:
    """Return the mixture of `columns` that makes `rows` equally good, if there is one."""
    k, cells = len(columns), np.ix_(rows, columns)
    square, right = np.zeros((k + 1, k + 1)), np.zeros(k + 1)
    square[:k, :k] = (payoff - payoff.max(axis=0))[cells]  # what is added to a column changes no difference
    scale = max(float(np.abs(square).max()), 1e-300)
    square[:k, :k] /= scale
    square[:k, k], square[k, :k], right[k] = -1.0, 1.0, 1.0
    try:
        found = np.linalg.solve(square, right)[:k]
    except np.linalg.LinAlgError:
        return None
    if not np.isfinite(found).all() or found.min() < -_MOST:
        return None
    mixture = np.zeros(payoff.shape[1])
    mixture[columns] = np.maximum(found, 0.0) / np.maximum(found, 0.0).sum()
    return mixture


def _stays(payoff: FloatArray, own: FloatArray, other: FloatArray) -> bool:
    """Return whether a player gains no more than rounding by leaving its mixture."""
    below = payoff - payoff.max(axis=0)
    worth, added = below @ other, np.abs(below) @ other
    best = int(worth.argmax())
    return float(worth[best] - own @ worth) <= _ROUNDING * float(own @ added + added[best])


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
    slacks: list[FloatArray] = []
    for bases in _blocks(d + others, d):
        square = left[bases]
        singular = np.linalg.svd(square, compute_uv=False)
        regular = singular[:, -1] > _SINGULAR * singular[:, 0]
        if not regular.any():
            continue
        points = np.linalg.solve(square[regular], right[bases[regular]][..., None])[..., 0]
        slack = np.clip(1e-15 * singular[regular, 0] / singular[regular, -1], _ZERO, _MOST)
        inside = (points @ left.T <= right + slack[:, None]).all(axis=1)
        found.append(np.maximum(points[inside], 0.0))
        slacks.append(slack[inside])
    points, slack = np.concatenate(found), np.concatenate(slacks)
    _, kept = np.unique(np.round(points, 9) + 0.0, axis=0, return_index=True)
    points, slack = points[np.sort(kept)], slack[np.sort(kept)]
    binding = np.abs(points @ left.T - right) <= 10 * slack[:, None]
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
