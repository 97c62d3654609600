"""How many of N agents chose each of A actions: all the vectors there are, and one number for each."""

from __future__ import annotations

import itertools
import math

import numpy as np

from tacit.core import limits, memory
from tacit.core.errors import TacitError
from tacit.core.types import IntArray


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
    agents, actions = limits.integer("agents", agents), limits.integer("actions", actions)
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
