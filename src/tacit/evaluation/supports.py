"""Nash equilibria of small games of three or more players, support by support.

Where at most two players mix, the others' actions leave a bimatrix game, all of whose extreme equilibria are tried.
Where more do, indifference on the support is a system of polynomials, which Newton's method solves from many starts. It
may miss solutions, so nobody can say that there are no others.

While the others stay, what one player can play in equilibrium is a polytope, since payoffs are linear in each player's
mixture. Where it is more than a point, its corners are listed and what lies between them is not.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import bimatrix, logit
from tacit.evaluation.stage_game import find_corners

#: Supports of all players together, at most, as of three players with three actions.
_SUPPORTS = 400
#: Starts of Newton's method for one support, and steps from each.
_STARTS, _STEPS = 24, 30
#: What counts as indifferent, and as the same equilibrium; gains are in units of the range of payoffs.
_ROUNDING, _SAME = 1e-10, 1e-7

#: What counts as another best response, and a slope as singular; rows at most where corners lead to further corners.
_TIE, _SINGULAR, _MANY = 1e-9, 1e-6, 100
#: How far along a curve of equilibria another one is looked for, and what counts as arrived: a double root does not.
_AHEAD, _ARRIVED = 1e-3, 1e-13

Rows = list[FloatArray]


def fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of so many actions is small enough.

    >>> fits((3, 3, 3)), fits((2, 2)), fits((2,) * 6)
    (True, False, False)
    """
    return len(actions) > 2 and math.prod(2**a - 1 for a in actions) <= _SUPPORTS


def find_equilibria(payoffs: FloatArray) -> bimatrix.Extreme:
    """Return equilibria of payoffs [N, A_1, …, A_N], first actions first.

    Components are of corners of the same polytopes; it is degenerate where one of them has another best response, or
    equations with a singular slope.

    >>> agree = np.zeros((3, 2, 2, 2))
    >>> agree[:, 0, 0, 0] = agree[:, 1, 1, 1] = 1
    >>> find_equilibria(agree).rows[0].tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    spans = np.maximum(np.ptp(payoffs.reshape(len(payoffs), -1), axis=1), 1e-300)
    scaled = payoffs / spans.reshape(-1, *[1] * len(payoffs))
    found: list[FloatArray] = []
    for rows in itertools.chain(_two_mix(payoffs), _more_mix(scaled), [logit.equilibrium(payoffs).rows]):
        flat = np.concatenate(rows)
        if not any(np.abs(flat - other).max() < _SAME for other in found) and _gain(scaled, rows) <= _ROUNDING:
            found.append(flat)
    cuts = np.cumsum(payoffs.shape[1:])[:-1]
    found, component = _corners(scaled, found, cuts)
    every = np.stack(found)
    order = np.lexsort(-every.T[::-1].round(9))
    kinds = [_kind(scaled, np.split(flat, cuts)) for flat in found]
    sets = component[order].tolist()
    numbers = {one: k for k, one in enumerate(dict.fromkeys(sets))}
    return bimatrix.Extreme(
        np.split(every[order], cuts, axis=1),
        np.array([numbers[one] for one in sets]),
        any(degenerate for degenerate, _ in kinds),
        any(curve for _, curve in kinds),
    )


def _corners(payoffs: FloatArray, found: Rows, cuts: IntArray) -> tuple[Rows, IntArray]:
    """Return equilibria that lie between no others, and which set each belongs to."""
    found, inner = list(found), set[int]()
    sets = list(range(len(found)))
    for k, flat in enumerate(found):  # corners are added on the way
        rows = np.split(flat, cuts)
        for i, own in enumerate(rows):
            corners = _polytope(payoffs, rows, i)
            if len(corners) < 2:
                continue
            if not any(np.abs(corner - own).max() < _SAME for corner in corners):
                inner.add(k)
            for corner in corners:
                other = np.concatenate([*rows[:i], corner, *rows[i + 1 :]])
                at = next((j for j, known in enumerate(found) if np.abs(known - other).max() < _SAME), len(found))
                if at == len(found):
                    if at >= _MANY:
                        continue
                    found.append(other)
                    sets.append(at)
                sets = [sets[k] if one == sets[at] else one for one in sets]
    kept = [k for k in range(len(found)) if k not in inner]
    kept = [k for k in kept if not _lies_between(payoffs, found[k], [found[j] for j in kept if j != k], cuts)]
    return [found[k] for k in kept], np.array([sets[k] for k in kept])


def _lies_between(payoffs: FloatArray, flat: FloatArray, others: Rows, cuts: IntArray) -> bool:
    """Return whether an equilibrium lies on a segment of equilibria between two others."""
    for one, two in itertools.combinations(others, 2):
        way = two - one
        share = float(np.sum((flat - one) * way) / np.sum(way * way))
        if 0 < share < 1 and np.abs(one + share * way - flat).max() < _SAME:
            halves = ((one + flat) / 2, (flat + two) / 2)
            if all(_gain(payoffs, np.split(half, cuts)) <= _TIE for half in halves):
                return True
    return False


def _polytope(payoffs: FloatArray, rows: Rows, i: int) -> Rows:
    """Return the corners of what a player can play in equilibrium while the others stay."""
    batch = [mixed[None] for mixed in rows]
    worth = contract(payoffs[i], batch, (i,))[0]
    best = np.flatnonzero(worth >= worth.max() - _TIE)
    if len(best) == 1:
        return [rows[i]]
    gains = []  # of the others, which must not be positive
    for j, mixed in enumerate(rows):
        if j != i:
            by = contract(payoffs[j], batch, (j, i))[0][:, best]
            gains.append(by - np.sum(mixed[:, None] * by, axis=0))
    corners = find_corners(np.concatenate(gains), singular=_SINGULAR)
    found = np.zeros((len(corners), len(worth)))
    found[:, best] = corners
    return list(found)


def _kind(payoffs: FloatArray, rows: Rows) -> tuple[bool, bool]:
    """Return whether an equilibrium is not regular, and whether it lies on a curve of equilibria."""
    worth = [contract(own, [mixed[None] for mixed in rows], (i,))[0] for i, own in enumerate(payoffs)]
    played = [np.flatnonzero(mixed > _SAME) for mixed in rows]
    ties = any(np.sum(own >= own.max() - _TIE) > len(support) for own, support in zip(worth, played, strict=True))
    part = payoffs[np.ix_(np.arange(len(rows)), *played)]
    cuts = np.cumsum([len(support) for support in played])[:-1]
    x = np.concatenate([mixed[support] for mixed, support in zip(rows, played, strict=True)])
    _, sizes, directions = np.linalg.svd(_equations(part, np.split(x[None], cuts, axis=1))[1][0])
    free = directions[sizes < _SINGULAR]
    for way in (*free, *-free):
        y = x + _AHEAD * way
        for _ in range(_STEPS):  # back to the equations, and not along the way
            error, slope = _equations(part, np.split(y[None], cuts, axis=1))
            full = np.concatenate([error[0], np.zeros(len(free))])
            y = y - np.linalg.lstsq(np.concatenate([slope[0], free]), full, rcond=None)[0]
        there = [np.zeros(len(mixed)) for mixed in rows]
        for own, support, mixed in zip(there, played, np.split(y, cuts), strict=True):
            own[support] = mixed
        if y.min() >= 0 and np.abs(error).max() < _ARRIVED and _gain(payoffs, there) <= _ROUNDING:
            return True, True
    return ties or len(free) > 0, False


def _gain(payoffs: FloatArray, rows: Rows) -> float:
    """Return the most that a player gains by an action of its own, where all play `rows`."""
    worth = [contract(own, [mixed[None] for mixed in rows], (i,))[0] for i, own in enumerate(payoffs)]
    return max(float(own.max() - np.sum(own * mixed)) for own, mixed in zip(worth, rows, strict=True))


def _two_mix(payoffs: FloatArray) -> Iterator[Rows]:
    """Yield the equilibria of each pair of players for all pure actions of the others."""
    actions = payoffs.shape[1:]
    for i, j in itertools.combinations(range(len(actions)), 2):
        for chosen in np.ndindex(*(1 if k in (i, j) else a for k, a in enumerate(actions))):
            at: Any = ([i, j], *(slice(None) if k in (i, j) else a for k, a in enumerate(chosen)))
            pair = bimatrix.extreme_equilibria(payoffs[at])
            pure = [np.eye(a)[k] for a, k in zip(actions, chosen, strict=True)]
            for pure[i], pure[j] in zip(*pair.rows, strict=True):
                yield list(pure)


def _more_mix(payoffs: FloatArray) -> Iterator[Rows]:
    """Yield candidates in which three or more players mix."""
    actions = payoffs.shape[1:]
    subsets = [[c for k in range(1, a + 1) for c in itertools.combinations(range(a), k)] for a in actions]
    for supports in itertools.product(*subsets):
        free = [len(own) - 1 for own in supports]
        if sum(f > 0 for f in free) > 2 and 2 * max(free) <= sum(free):  # else there are more equations than unknowns
            for mixtures in _indifferent(payoffs[np.ix_(range(len(actions)), *supports)]):
                rows = [np.zeros(a) for a in actions]
                for own, support, mixed in zip(rows, supports, mixtures, strict=True):
                    own[list(support)] = mixed
                yield rows


def _indifferent(payoffs: FloatArray) -> Iterator[Rows]:
    """Yield mixtures of all actions that make every player indifferent, by Newton's method from many starts at once."""
    sizes = payoffs.shape[1:]
    cuts = [0, *np.cumsum(sizes)]
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.dirichlet(np.ones(a), _STARTS) for a in sizes], axis=1)
    for _ in range(_STEPS):
        error, slope = _equations(payoffs, np.split(x, cuts[1:-1], axis=1))
        steady = np.abs(np.linalg.det(slope)) > 1e-200
        x, error, slope = x[steady], error[steady], slope[steady]
        x = x - np.linalg.solve(slope, error[..., None])[..., 0]
        kept = np.abs(x).max(axis=1, initial=0) < 1e6
        x = x[kept]
    for one in x[(x > _SAME).all(axis=1)]:
        yield np.split(one, cuts[1:-1])


def _equations(payoffs: FloatArray, rows: Rows) -> tuple[FloatArray, FloatArray]:
    """Return by how much mixtures [B, A_i] miss sums of 1 and indifference, [B, all A], and the slopes of that."""
    cuts = [0, *np.cumsum(payoffs.shape[1:])]
    error, slope = np.zeros((len(rows[0]), cuts[-1])), np.zeros((len(rows[0]), cuts[-1], cuts[-1]))
    for i, mixed in enumerate(rows):
        by = contract(payoffs[i], rows, (i,))
        own = slice(cuts[i] + 1, cuts[i + 1])
        error[:, cuts[i]] = mixed.sum(axis=1) - 1
        error[:, own] = by[:, 1:] - by[:, :1]
        slope[:, cuts[i], cuts[i] : cuts[i + 1]] = 1
        for j in range(len(rows)):
            if j != i:
                by = contract(payoffs[i], rows, (i, j))
                slope[:, own, cuts[j] : cuts[j + 1]] = by[:, 1:] - by[:, :1]
    return error, slope


def contract(payoff: FloatArray, rows: Sequence[FloatArray], left: tuple[int, ...]) -> FloatArray:
    """Return payoffs [B, A_i, …] by the actions of the players `left`, where the others play mixtures [B, A_j]."""
    letters = string.ascii_lowercase[: len(rows)]
    others = [k for k in range(len(rows)) if k not in left]
    terms = ",".join(f"z{letters[k]}" for k in others)
    out = "z" + "".join(letters[k] for k in left)
    found: FloatArray = np.einsum(f"{letters},{terms}->{out}", payoff, *(rows[k] for k in others))
    return found
