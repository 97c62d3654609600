"""All extreme equilibria of a two-player game, without rounding. Vertices of the best-response polyhedra, and labels.

For payoffs A, B [m, n] these are {(x, v): x a mixture of rows, Bᵀx ≤ v} and {(y, v): y a mixture of columns, Ay ≤ v}. A
vertex has the labels of its binding inequalities: actions that it does not play, and the other player's best responses.
A pair of vertices that has all labels between them is an extreme equilibrium, and every equilibrium is a mixture of
extreme ones that exchange [Mangasarian, "Equilibrium points of bimatrix games", 1964; Avis, Rosenberg, Savani, von
Stengel, "Enumeration of Nash equilibria for two-player games", 2010]. In a game that is not degenerate there are no
others, and their number is odd; in a degenerate one, two that share a strategy are the ends of infinitely many.

The vertices are extreme rays of a cone, found by the double description method [Motzkin, Raiffa, Thompson, Thrall,
1953; Fukuda, Prodon, "Double description method revisited", 1996]: one inequality after the other cuts the cone, and
each pair of adjacent rays on either side of the cut makes a new one. All numbers are integers, of 64 bits where those
hold them, otherwise Python's, so that no sign is guessed.
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
#: Integers of 64 bits, or Python's.
_Integers = npt.NDArray[Any]
#: Sets of labels, [..., words]: a bit for each, the first player's actions before the second's.
_Labels = npt.NDArray[np.uint64]


class Extreme(NamedTuple):
    """The extreme equilibria of a game that is played once."""

    rows: list[FloatArray]  # [E, A_i] of each player
    component: IntArray  # [E] connected sets of equilibria, numbered from 0
    degenerate: bool  # whether some mixture of k actions has more than k best responses


def fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of so many actions is small enough."""
    return len(actions) == 2 and math.comb(sum(actions), actions[0]) <= BASES


def extreme_equilibria(payoffs: FloatArray) -> Extreme:
    """Return all extreme equilibria of payoffs [2, m, n], first actions first.

    >>> found = extreme_equilibria(np.array([[[6.0, 2], [7, 0]], [[6, 7], [2, 0]]]))
    >>> found.rows[0].round(6).tolist()
    [[1.0, 0.0], [0.666667, 0.333333], [0.0, 1.0]]
    """
    m, n = payoffs.shape[1:]
    words = -(-(m + n) // 64)
    labels = np.packbits(np.eye(m + n, 64 * words, dtype=bool), axis=1).view(np.uint64)  # in whatever order of bits
    x, x_labels = _vertices(payoffs[1].T, labels[:m], labels[m:])
    y, y_labels = _vertices(payoffs[0], labels[m:], labels[:m])
    j, k = _complete(x_labels, y_labels, np.bitwise_or.reduce(labels))
    order = np.lexsort([*(-y[k].T[::-1]), *(-x[j].T[::-1])])
    j, k = j[order], k[order]
    degenerate = bool((_size(x_labels) > m).any() or (_size(y_labels) > n).any())
    return Extreme([x[j], y[k]], _components(j, k), degenerate)


def pure_equilibria(payoffs: FloatArray) -> list[tuple[int, ...]]:
    """Return the pure equilibria of payoffs [N, A_1, …, A_N], as joint actions."""
    stable = np.ones(payoffs.shape[1:], dtype=bool)
    for i, payoff in enumerate(payoffs):
        slack = _EQUAL * max(float(np.ptp(payoff)), 1e-300)
        stable &= payoff >= payoff.max(axis=i, keepdims=True) - slack
    return [tuple(int(a) for a in joint) for joint in np.argwhere(stable)]


def _vertices(payoff: FloatArray, labels: _Labels, other: _Labels) -> tuple[FloatArray, _Labels]:
    """Return vertices of {(y, v): y ≥ 0, Σ y = 1, payoff·y ≤ v}, as mixtures, and labels.

    Each probability is the float that is nearest.
    """
    exact = _integers(payoff)
    exact -= exact.min(axis=0)  # what is added to a column changes no best response
    exact //= max(math.gcd(*exact.ravel().tolist()), 1)
    small = exact.max() <= _largest(min(payoff.shape))
    rays, binding = _rays(exact.astype(np.int64 if small else object), labels, other)
    weights = rays[1:, :-1].astype(object)  # all but the ray along which v alone grows
    mixtures: FloatArray = (weights / weights.sum(axis=1, keepdims=True)).astype(float)
    return mixtures, binding[1:]


def _integers(payoff: FloatArray) -> _Integers:
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
    """Return the largest payoff for which 64 bits hold a combination of two rays.

    Rays and slacks are determinants of order k + 1 with a column of ones and others from 0 to M: by Hadamard they are
    at most M^k·(k + 2)^((k + 2)/2)/2^(k + 1). A combination adds two products of two.
    """
    return int(((2.0**31 - 1) * 2.0 ** (k + 1) / (k + 2) ** ((k + 2) / 2)) ** (1 / k))


def _rays(rows: _Integers, labels: _Labels, other: _Labels) -> tuple[_Integers, _Labels]:
    """Return the extreme rays [V, d + 1] of {(y, v): y ≥ 0, rows·y ≤ v}, and what binds them. Along the first y = 0.

    Parameters
    ----------
    rows : array [k, d]
        Integers from 0 on.
    labels, other : arrays [d, words], [k, words]
        The labels of y ≥ 0 and of the rows.
    """
    d = rows.shape[1]
    rays = np.eye(d + 1, k=-1, dtype=rows.dtype)
    rays[0, d], rays[1:, d] = 1, rows[0]
    unplayed = np.bitwise_or.reduce(labels)
    binding = np.concatenate([unplayed[None], (unplayed ^ labels) | other[0]])
    for row, label in zip(rows[1:], other[1:], strict=True):
        slack = rays[:, d] - rays[:, :d] @ row
        size = np.abs(slack)
        p, q = _adjacent(binding, np.flatnonzero(slack > 0), np.flatnonzero(slack < 0), d)
        new = size[p, None] * rays[q] + size[q, None] * rays[p]
        new //= np.gcd.reduce(new, axis=1)[:, None]
        both = binding[p] & binding[q]
        binding[slack == 0] |= label
        inside = np.flatnonzero(slack >= 0)
        rays, binding = np.concatenate([rays[inside], new]), np.concatenate([binding[inside], both | label])
    return rays, binding


def _adjacent(binding: _Labels, inside: IntArray, outside: IntArray, d: int) -> tuple[IntArray, IntArray]:
    """Return the pairs of an inner and an outer ray that are neighbours. No third one has all that binds both."""
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
    blocks = [np.nonzero(((x[k : k + block, None] | y) == every).all(axis=2)) for k in range(0, len(x), block)]
    return np.concatenate([j + block * b for b, (j, _) in enumerate(blocks)]), np.concatenate([k for _, k in blocks])


def _size(labels: _Labels) -> IntArray:
    """Return how many labels are in each set."""
    if hasattr(np, "bitwise_count"):  # NumPy 2
        bits = np.bitwise_count(labels)
    else:
        bits = np.unpackbits(labels[..., None].view(np.uint8), axis=-1).sum(axis=-1)
    size: IntArray = bits.sum(axis=-1)
    return size


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
