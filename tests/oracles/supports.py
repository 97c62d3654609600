"""Nash equilibria of bimatrix games by supports, written independently of the library: one LP for each pair."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.optimize import linprog


def supports_with_equilibria(A: np.ndarray, B: np.ndarray) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the pairs of supports within which some equilibrium plays, with all of both best replies."""
    m, n = A.shape
    found = set()
    for mine in _sets(m):
        for theirs in _sets(n):
            if _mix(A, mine, theirs) is not None and _mix(B.T, theirs, mine) is not None:
                found.add((mine, theirs))
    return found


def _sets(n: int) -> list[tuple[int, ...]]:
    return [mine for size in range(1, n + 1) for mine in itertools.combinations(range(n), size)]


def _mix(A: np.ndarray, best: tuple[int, ...], played: tuple[int, ...]) -> np.ndarray | None:
    """Return y > 0 on `played` alone that makes all of `best` best replies, or None."""
    m, n = A.shape
    # variables: y (n), v, t; maximise t ≤ y_j on played
    cost = np.zeros(n + 2)
    cost[-1] = -1
    equal, equal_to, less, less_than = [], [], [], []
    for i in range(m):
        row = np.append(A[i], [-1.0, 0.0])
        (equal if i in best else less).append(row)
        (equal_to if i in best else less_than).append(0.0)
    for j in played:
        row = np.zeros(n + 2)
        row[j], row[-1] = -1.0, 1.0
        less.append(row)
        less_than.append(0.0)
    equal.append(np.append(np.ones(n), [0.0, 0.0]))
    equal_to.append(1.0)
    bounds = [(0, None) if j in played else (0, 0) for j in range(n)] + [(None, None), (None, 1)]
    solved = linprog(
        cost, np.array(less) if less else None, less_than or None, np.array(equal), equal_to, bounds=bounds
    )
    return solved.x[:n] if solved.x is not None and solved.status == 0 and solved.x[-1] > 1e-7 else None
