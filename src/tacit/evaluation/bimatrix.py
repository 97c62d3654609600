"""All extreme equilibria of a two-player game, without rounding: vertices of the best-response polyhedra, and labels.

For payoffs A, B [m, n] these are {(x, v): x a mixture of rows, Bᵀx ≤ v} and {(y, v): y a mixture of columns, Ay ≤ v}. A
vertex has the labels of its binding inequalities: actions that it does not play, and the other player's best responses.
A pair of vertices that has all labels between them is an extreme equilibrium, and every equilibrium is a mixture of
extreme ones that exchange [Mangasarian, "Equilibrium points of bimatrix games", 1964; Avis, Rosenberg, Savani, von
Stengel, "Enumeration of Nash equilibria for two-player games", 2010]. In a game that is not degenerate there are no
others, and their number is odd; in a degenerate one, two that share a strategy are the ends of infinitely many.

The vertices are extreme rays of a cone, found by the double description method [Motzkin, Raiffa, Thompson, Thrall,
1953; Fukuda, Prodon, "Double description method revisited", 1996]: one inequality after the other cuts the cone, and
each pair of adjacent rays on either side of the cut makes a new one. Which side a ray is on is a sign, and no sign is
guessed: where integers of 64 bits cannot hold the numbers, floating-point numbers are taken as long as a running bound
on their errors proves every sign, otherwise Python's integers; no bound proves the slacks of 0 of degenerate games.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core.types import FloatArray, IntArray

#: Bases of one polyhedron, at most: C(m + n, m), as of 9×9 actions.
BASES = 50_000
#: Payoffs with at most so many decimals are these decimals; others are the binary fractions that their floats are.
DECIMALS = (0, 3, 6, 9, 12)
#: What counts as equal for more than two players, relative to the range of payoffs.
_EQUAL = 1e-9
#: Twice the relative error of one operation: the other half makes up for products of errors.
_EPS = 2.0**-52
#: The smallest payoff beside the largest, and the smallest number in a ray, that floating point may have.
_SMALL_PAYOFF, _SMALL = 1e-15, 1e-100

#: Integers of 64 bits, Python's integers, or floating-point numbers.
_Numbers = npt.NDArray[Any]
#: Sets of labels, [..., words]: a bit for each, the first player's actions before the second's.
_Labels = npt.NDArray[np.uint64]


class Extreme(NamedTuple):
    """The extreme equilibria of a game that is played once."""

    rows: list[FloatArray]  # [E, A_i] of each player
    component: IntArray  # [E] connected sets of equilibria, numbered from 0
    degenerate: bool  # whether some mixture of k actions has more than k best responses
    curve: bool = False  # of more than two players: whether one lies on a curve of equilibria with the same supports


class _Vertices(NamedTuple):
    payoff: _Numbers  # [k, d] the other player's: integers in their proportions, the least of each column 0
    rays: _Numbers  # [V, d] not scaled to sum to 1
    held: _Labels  # [V, words]


def fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of so many actions is small enough."""
    return len(actions) == 2 and math.comb(sum(actions), actions[0]) <= BASES


def extreme_equilibria(payoffs: FloatArray) -> Extreme:
    """Return all extreme equilibria of payoffs [2, m, n], pure ones of the first actions first.

    >>> found = extreme_equilibria(np.array([[[6.0, 2], [7, 0]], [[6, 7], [2, 0]]]))
    >>> found.rows[0].round(6).tolist()
    [[1.0, 0.0], [0.666667, 0.333333], [0.0, 1.0]]
    """
    m, n = payoffs.shape[1:]
    words = -(-(m + n) // 64)
    labels = np.packbits(np.eye(m + n, 64 * words, dtype=bool), axis=1).view(np.uint64)  # in whatever order of bits
    x, y = _vertices(payoffs[1].T, labels[:m], labels[m:]), _vertices(payoffs[0], labels[m:], labels[:m])
    j, k = _complete(x.held, y.held, np.bitwise_or.reduce(labels))
    rows, columns = _mixtures(x, j, labels[:m], labels[m:]), _mixtures(y, k, labels[m:], labels[:m])
    order = np.lexsort([*(-columns.T[::-1]), *(-rows.T[::-1])])
    degenerate = bool((_size(x.held) > m).any() or (_size(y.held) > n).any())
    return Extreme([rows[order], columns[order]], _components(j[order], k[order]), degenerate)


def pure_equilibria(payoffs: FloatArray) -> list[tuple[int, ...]]:
    """Return the joint actions of payoffs [N, A_1, …, A_N] from which nobody gains by leaving alone."""
    stays = np.ones(payoffs.shape[1:], dtype=bool)
    for i, own in enumerate(payoffs):
        slack = _EQUAL * max(float(np.ptp(own)), 1e-300)
        stays &= own >= own.max(axis=i, keepdims=True) - slack
    return [tuple(int(a) for a in joint) for joint in np.argwhere(stays)]


def _vertices(payoff: FloatArray, own: _Labels, other: _Labels) -> _Vertices:
    """Return the vertices of {(y, v): y ≥ 0, Σ y = 1, payoff·y ≤ v} for payoffs [k, d], and which labels they hold."""
    exact = _integers(payoff)
    exact -= exact.min(axis=0)  # what is added to a column changes no best response
    exact //= max(math.gcd(*exact.ravel().tolist()), 1)
    if exact.max() <= _largest(min(payoff.shape)):
        rays, held = _rays(exact.astype(np.int64), own, other)
    else:
        exact = exact.astype(object)
        try:
            rays, held = _rays((exact / exact.max()).astype(float), own, other)
        except _UnprovenSign:
            rays, held = _rays(exact, own, other)
    return _Vertices(exact, rays[1:, :-1], held[1:])  # all but the ray along which v alone grows


def _integers(payoff: FloatArray) -> _Numbers:
    """Return integers in the proportions of the payoffs."""
    for digits in DECIMALS:
        with np.errstate(over="ignore"):
            scaled = np.rint(payoff * 10.0**digits)
        if np.abs(scaled).max() < 2**53 and (scaled / 10.0**digits == payoff).all():
            return scaled.astype(np.int64)
    ratios = [value.as_integer_ratio() for value in payoff.ravel().tolist()]
    denominator = max(below for _, below in ratios)  # powers of 2
    return np.array([above * (denominator // below) for above, below in ratios], dtype=object).reshape(payoff.shape)


def _largest(k: int) -> int:
    """Return up to which payoff 64 bits hold a combination of two rays, for k the smaller number of actions.

    Rays and slacks are determinants of order k + 1 with a column of ones and others from 0 to M: by Hadamard they are
    at most M^k·(k + 2)^((k + 2)/2)/2^(k + 1). A combination adds two products of two.
    """
    return int(((2.0**31 - 1) * 2.0 ** (k + 1) / (k + 2) ** ((k + 2) / 2)) ** (1 / k))


class _UnprovenSign(ArithmeticError):
    """Floating point does not tell on which side of an inequality a ray is."""


def _rays(rows: _Numbers, own: _Labels, other: _Labels) -> tuple[_Numbers, _Labels]:
    """Return the extreme rays [V, d + 1] of {(y, v): y ≥ 0, rows·y ≤ v}, and what binds them; along the first y = 0.

    In floating point also a bound on the relative error of each ray is kept; where it does not prove a sign, that is
    raised. It stays small since rows, and so rays, are never negative: combinations of rays add up and lose nothing;
    only slacks are differences.

    Parameters
    ----------
    rows : array [k, d]
        Integers, or floating-point numbers, from 0 on.
    own, other : arrays [d, words], [k, words]
        The labels of y ≥ 0 and of the rows.
    """
    d = rows.shape[1]
    floating = rows.dtype == np.float64
    if floating and np.min(rows, where=rows > 0, initial=1.0) < _SMALL_PAYOFF:
        raise _UnprovenSign
    rays = np.eye(d + 1, k=-1, dtype=rows.dtype)
    rays[0, d], rays[1:, d] = 1, rows[0]
    unplayed = np.bitwise_or.reduce(own)
    binding = np.concatenate([unplayed[None], (unplayed ^ own) | other[0]])
    error = np.zeros(d + 1)
    for row, label in zip(rows[1:], other[1:], strict=True):
        worth = rays[:, :d] @ row
        slack = rays[:, d] - worth
        size = np.abs(slack)
        if floating:
            doubt = (error + (d + 3) * _EPS) * (rays[:, d] + worth)
            if (size <= doubt).any():
                raise _UnprovenSign
            unsure = doubt / size
        inside, outside = np.flatnonzero(slack > 0), np.flatnonzero(slack < 0)
        p, q = _adjacent(binding, inside, outside, d)
        new = size[p, None] * rays[q] + size[q, None] * rays[p]
        both = binding[p] & binding[q]
        if floating:
            new /= new.max(axis=1, keepdims=True)
            if np.min(new, where=new > 0, initial=1.0) < _SMALL:
                raise _UnprovenSign
            worse = np.maximum((1 + unsure[p]) * (1 + error[q]), (1 + unsure[q]) * (1 + error[p])) - 1 + 4 * _EPS
            error = np.concatenate([error[inside], worse])
            kept = inside
        else:
            new //= np.gcd.reduce(new, axis=1)[:, None]
            binding[slack == 0] |= label
            kept = np.flatnonzero(slack >= 0)
        rays, binding = np.concatenate([rays[kept], new]), np.concatenate([binding[kept], both | label])
    return rays, binding


def _adjacent(binding: _Labels, inside: IntArray, outside: IntArray, d: int) -> tuple[IntArray, IntArray]:
    """Return the pairs of an inner and an outer ray that are neighbours: no third one has all that binds both."""
    near = np.nonzero(_size(binding[inside, None] & binding[outside]) >= d - 1)
    p, q = inside[near[0]], outside[near[1]]
    if (_size(binding) == d).all():  # a simple cone: sharing d − 1 is enough
        return p, q
    both = (binding[p] & binding[q])[:, None]
    alone = ((both & binding) == both).all(axis=2).sum(axis=1) == 2
    return p[alone], q[alone]


def _complete(x: _Labels, y: _Labels, every: _Labels) -> tuple[IntArray, IntArray]:
    """Return the pairs that hold all labels between them."""
    block = max(1, 2**20 // len(y))  # so that memory stays small
    found = [np.nonzero(((x[k : k + block, None] | y) == every).all(axis=2)) for k in range(0, len(x), block)]
    return np.concatenate([j + block * b for b, (j, _) in enumerate(found)]), np.concatenate([k for _, k in found])


def _size(labels: _Labels) -> IntArray:
    """Return how many labels are in each set."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        bits = np.bitwise_count(labels)
    else:
        bits = np.unpackbits(labels[..., None].view(np.uint8), axis=-1).sum(axis=-1)
    found: IntArray = bits.sum(axis=-1)
    return found


def _mixtures(vertices: _Vertices, chosen: IntArray, own: _Labels, other: _Labels) -> FloatArray:
    """Return chosen vertices as mixtures, each number the float that is nearest."""
    found: _Numbers = vertices.rays[chosen].astype(object)
    if vertices.rays.dtype == np.float64:  # then each vertex has as many best responses as actions that it plays
        held = vertices.held[chosen, None]
        played, best = np.all(held & own == 0, axis=2), np.any(held & other, axis=2)
        found[:] = 0
        for e in range(len(found)):
            found[e, played[e]] = _solve_ones(vertices.payoff[np.ix_(best[e], played[e])] + 1)
    mixtures: FloatArray = (found / found.sum(axis=1, keepdims=True)).astype(float)
    return mixtures


def _solve_ones(matrix: _Numbers) -> list[int]:
    """Return integers y in the proportions that solve matrix·y = 1, by fraction-free elimination [Bareiss, 1968]."""
    rows, last = [[*row, 1] for row in matrix.tolist()], 1
    for c in range(len(rows)):
        at = next(r for r in range(c, len(rows)) if rows[r][c])
        rows[c], rows[at] = rows[at], rows[c]
        pivot = rows[c]
        for r, row in enumerate(rows):
            if r != c:
                rows[r] = [(pivot[c] * own - row[c] * other) // last for own, other in zip(row, pivot, strict=True)]
        last = pivot[c]
    return [row[-1] for row in rows]


def _components(j: IntArray, k: IntArray) -> IntArray:
    """Number the connected sets of pairs (j, k): two that share a strategy are connected."""
    component = np.arange(len(j))
    changed = True
    while changed:
        before = component
        for side in (j, k):
            least = np.full(side.max() + 1, len(j))
            np.minimum.at(least, side, component)
            component = least[side]
        changed = bool((component != before).any())
    return np.unique(component, return_inverse=True)[1].astype(np.int64)
