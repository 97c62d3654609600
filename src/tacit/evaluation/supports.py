"""Nash equilibria of small games of three or more players, support by support.

Where at most two players mix, the others' actions leave a bimatrix game, all of whose extreme equilibria are tried.
Where more do, indifference on the support is a system of polynomials, which Newton's method solves from many starts. It
may miss solutions, so nobody can say that there are no others.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tacit.core.types import FloatArray
from tacit.evaluation import bimatrix, logit

#: Supports of all players together, at most, as of three players with three actions.
_SUPPORTS = 400
#: Starts of Newton's method for one support, and steps from each.
_STARTS, _STEPS = 24, 30
#: What counts as indifferent, and as the same equilibrium; gains are in units of the range of payoffs.
_ROUNDING, _SAME = 1e-10, 1e-7

Rows = list[FloatArray]


def fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of so many actions is small enough.

    >>> fits((3, 3, 3)), fits((2, 2)), fits((2,) * 6)
    (True, False, False)
    """
    return len(actions) > 2 and math.prod(2**a - 1 for a in actions) <= _SUPPORTS


def find_equilibria(payoffs: FloatArray) -> Rows:
    """Return what each player plays, [E, A_i], in equilibria of payoffs [N, A_1, …, A_N], first actions first.

    >>> agree = np.zeros((3, 2, 2, 2))
    >>> agree[:, 0, 0, 0] = agree[:, 1, 1, 1] = 1
    >>> find_equilibria(agree)[0].tolist()
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
    every = np.stack(found)
    return np.split(every[np.lexsort(-every.T[::-1].round(9))], cuts, axis=1)


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
            for pure[i], pure[j] in zip(pair.rows, pair.columns, strict=True):
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
    players = range(len(sizes))
    for _ in range(_STEPS):
        rows = [x[:, cuts[i] : cuts[i + 1]] for i in players]
        error, slope = np.zeros_like(x), np.zeros((len(x), cuts[-1], cuts[-1]))
        for i in players:
            by = contract(payoffs[i], rows, (i,))
            own = slice(cuts[i] + 1, cuts[i + 1])
            error[:, cuts[i]] = rows[i].sum(axis=1) - 1
            error[:, own] = by[:, 1:] - by[:, :1]
            slope[:, cuts[i], cuts[i] : cuts[i + 1]] = 1
            for j in players:
                if j != i:
                    by = contract(payoffs[i], rows, (i, j))
                    slope[:, own, cuts[j] : cuts[j + 1]] = by[:, 1:] - by[:, :1]
        steady = np.abs(np.linalg.det(slope)) > 1e-200
        x, error, slope = x[steady], error[steady], slope[steady]
        x = x - np.linalg.solve(slope, error[..., None])[..., 0]
        kept = np.abs(x).max(axis=1, initial=0) < 1e6
        x = x[kept]
    for one in x[(x > _SAME).all(axis=1)]:
        yield np.split(one, cuts[1:-1])


def contract(payoff: FloatArray, rows: Sequence[FloatArray], left: tuple[int, ...]) -> FloatArray:
    """Return payoffs [B, A_i, …] by the actions of the players `left`, where the others play mixtures [B, A_j]."""
    letters = string.ascii_lowercase[: len(rows)]
    others = [k for k in range(len(rows)) if k not in left]
    terms = ",".join(f"z{letters[k]}" for k in others)
    out = "z" + "".join(letters[k] for k in left)
    found: FloatArray = np.einsum(f"{letters},{terms}->{out}", payoff, *(rows[k] for k in others))
    return found
