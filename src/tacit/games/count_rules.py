"""What is given of a counting game, as tables: vectors of counts, and functions of them.

A function is called with whole arrays where it takes them, else point by point. What it says for arrays is compared
with what it says for single points here and there, since code written for one point (`max(counts)`, `if n > 3`) may
accept an array and mean something else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.types import FloatArray, IntArray


def number_of_counts(agents: int, actions: int) -> int:
    """Return how many vectors of counts there are, (N+A−1 choose A−1).

    >>> number_of_counts(8, 4)
    165
    """
    return math.comb(agents + actions - 1, actions - 1)


def count_vectors(agents: int, actions: int) -> IntArray:
    """Return all vectors of counts of `agents` agents, [M, A], in ascending order.

    Parameters
    ----------
    agents, actions : int

    Returns
    -------
    int array [M, A]

    Examples
    --------
    >>> import tacit
    >>> tacit.count_vectors(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    agents, actions = check.integer("agents", agents), check.integer("actions", actions)
    check_counts(agents, actions)
    number = number_of_counts(agents, actions)
    # bars among stars: the places of A − 1 bars among N + A − 1 things
    flat = itertools.chain.from_iterable(itertools.combinations(range(agents + actions - 1), actions - 1))
    bars = np.fromiter(flat, dtype=np.int64, count=number * (actions - 1)).reshape(number, actions - 1)
    edges = np.concatenate([np.full((number, 1), -1), bars, np.full((number, 1), agents + actions - 1)], axis=1)
    counts: IntArray = np.diff(edges, axis=1) - 1
    return counts


def check_counts(agents: int, actions: int) -> None:
    """Raise unless all vectors of counts fit into memory; there may be too many of them to be counted.

    >>> check_counts(1000, 1000)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: 1000 agents and 1000 actions have about 1e+600 counts, too many for any memory; ...
    """
    log = math.lgamma(agents + actions) - math.lgamma(agents + 1) - math.lgamma(actions)
    if log > math.log(1e18):
        raise TacitError(
            f"{agents} agents and {actions} actions have about 1e+{log / math.log(10):.0f} counts, too many for any "
            f"memory; load=True and scores, where a game has them, need no counts"
        )
    number = number_of_counts(agents, actions)
    size = 4 * memory.floats(number, actions)
    memory.require(size, f"the {number:,} counts of {agents} agents and {actions} actions")


def digits(agents: int, actions: int) -> IntArray:
    """Return the scores [A] with which the sum of all agents' scores tells every count: 0, 1, N+1, (N+1)², …

    >>> digits(2, 4)
    array([0, 1, 3, 9])
    """
    return np.array([0] + [(agents + 1) ** a for a in range(actions - 1)])


#: Points at which arrays are compared with single calls.
_COMPARED = 12


def table(
    what: str, function: Callable[..., Any], at: tuple[int, ...], points: IntArray, states: int = 0
) -> FloatArray:
    """Return a function's numbers at `points` [M] or [A, M], called as function(*at, point).

    With `states` = 0 a number for each point, [M]; otherwise a distribution, [S, M], from probabilities [S] or [S, M],
    or from one next state for each point.
    """
    try:
        with np.errstate(all="ignore"):
            whole = _result(np.asarray(function(*at, points)), points.shape[-1], states)
    except Exception:  # it is not written for arrays
        whole = None
    some = np.unique(np.linspace(0, points.shape[-1] - 1, _COMPARED).astype(np.int64))
    if whole is not None and all(_same(what, function, at, points, k, whole[..., k], states) for k in some):
        return whole
    return np.stack([_single(what, function, at, points, k, states) for k in range(points.shape[-1])], axis=-1)


def _same(
    what: str, function: Callable[..., Any], at: tuple[int, ...], points: IntArray, k: int, whole: Any, states: int
) -> bool:
    try:
        single = _single(what, function, at, points, k, states)
    except TacitError:  # it is written for arrays alone
        return True
    return bool(np.array_equal(single, whole, equal_nan=True))


def _single(
    what: str, function: Callable[..., Any], at: tuple[int, ...], points: IntArray, k: int, states: int
) -> FloatArray:
    point: Any = int(points[k]) if points.ndim == 1 else points[:, k].copy()
    told = f"{what}({', '.join(str(x) for x in at)}, {brief(point if points.ndim == 1 else point.tolist())})"
    try:
        given = np.asarray(function(*at, point))
    except Exception as error:  # whatever somebody's function does
        raise TacitError(f"{told} raised {type(error).__name__}: {one_line(error, 200)}") from error
    found = _result(given[..., None] if given.dtype.kind in "biuf" else given, 1, states)
    if found is None:
        wanted = f"{states} probabilities, or a next state" if states else "a number"
        raise TacitError(f"{told} returned {brief(given.tolist())}; it must be {wanted}")
    single: FloatArray = found[..., 0]
    return single


def _result(given: Any, number: int, states: int) -> FloatArray | None:
    """Return what a function gave for so many points as floats [M] or [S, M], or None where it is no such thing."""
    if given.dtype.kind not in "biuf":
        return None
    if states == 0:
        return given.astype(np.float64) if given.shape == (number,) else None
    if given.shape == (number,) and given.dtype.kind in "iu":
        inside = (given >= 0) & (given < states)
        return (np.arange(states)[:, None] == given).astype(np.float64) if inside.all() else None
    return given.astype(np.float64) if given.shape == (states, number) else None
