"""Extreme equilibria of bimatrix games (every basis is solved) and nash gaps of Markov games, in fractions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tacit import MarkovPolicy, TabularGame

Vector = tuple[Fraction, ...]


class Found(NamedTuple):
    equilibria: set[tuple[Vector, Vector]]
    sets: int  # connected ones
    degenerate: bool


def rational_equilibria(A: Sequence[Sequence[float | str]], B: Sequence[Sequence[float | str]]) -> Found:
    """Return all extreme equilibria; a float is the binary fraction that it is, and a text the decimal that it says."""
    mine = [[Fraction(a) for a in row] for row in A]
    theirs = [[Fraction(B[i][j]) for i in range(len(B))] for j in range(len(B[0]))]
    m, n = len(A), len(A[0])
    xs, ys = _vertices(theirs), _vertices(mine)  # labels: unplayed actions, then the other's best responses
    every = set(range(m + n))
    pairs = {
        (x, y)
        for x, (x_unplayed, x_best) in xs.items()
        for y, (y_unplayed, y_best) in ys.items()
        if x_unplayed | y_best | {m + j for j in x_best | y_unplayed} == every
    }
    degenerate = any(len(best) > len(x) - len(unplayed) for found in (xs, ys) for x, (unplayed, best) in found.items())
    return Found(pairs, _connected(pairs), degenerate)


def _vertices(payoff: list[list[Fraction]]) -> dict[Vector, tuple[set[int], set[int]]]:
    """Return each vertex y of {payoff·y ≤ v} over mixtures with what it does not play and the rows that are best."""
    k, d = len(payoff), len(payoff[0])
    found = {}
    for unplayed in itertools.chain.from_iterable(itertools.combinations(range(d), r) for r in range(d)):
        played = [j for j in range(d) if j not in unplayed]
        for best in itertools.combinations(range(k), len(played)):
            equal = [[*(payoff[i][j] for j in played), Fraction(-1), Fraction(0)] for i in best]
            solved = _solve([*equal, [*([Fraction(1)] * len(played)), Fraction(0), Fraction(1)]])
            if solved is None or min(solved[:-1]) < 0:
                continue
            y = [Fraction(0)] * d
            for j, weight in zip(played, solved[:-1], strict=True):
                y[j] = weight
            worth = [sum(a * b for a, b in zip(row, y, strict=True)) for row in payoff]
            if max(worth) == solved[-1]:
                zero = {j for j in range(d) if y[j] == 0}
                found[tuple(y)] = zero, {i for i in range(k) if worth[i] == max(worth)}
    return found


def _solve(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the only solution of equations [n, n + 1], or None."""
    rows = [row[:] for row in rows]
    n = len(rows)
    for c in range(n):
        at = next((r for r in range(c, n) if rows[r][c] != 0), None)
        if at is None:
            return None
        rows[c], rows[at] = rows[at], rows[c]
        rows[c] = [value / rows[c][c] for value in rows[c]]
        for r in range(n):
            if r != c and rows[r][c] != 0:
                rows[r] = [a - rows[r][c] * b for a, b in zip(rows[r], rows[c], strict=True)]
    return [row[n] for row in rows]


def _connected(pairs: set[tuple[Vector, Vector]]) -> int:
    left, sets = set(pairs), 0
    while left:
        sets, edge = sets + 1, [left.pop()]
        while edge:
            x, y = edge.pop()
            near = {pair for pair in left if pair[0] == x or pair[1] == y}
            left -= near
            edge += near
    return sets


def rational_gaps(game: TabularGame, policy: MarkovPolicy) -> list[Fraction]:
    """Return the nash gaps of a product policy of two agents in a finite game, probabilities scaled to sum to 1."""
    m, n = game.actions
    values, best = ([[Fraction(0)] * game.states for _ in range(2)] for _ in range(2))
    for h in reversed(range(game.horizon)):
        now, top = ([[Fraction(0)] * game.states for _ in range(2)] for _ in range(2))
        for s in range(game.states):
            x, y = (_scale(own[h if len(own) > 1 else 0, s]) for own in policy.probs)
            for i in range(2):
                paid = {"stay": {}, "leave": {}}
                for name, following in (("stay", values), ("leave", best)):
                    for a, b in itertools.product(range(m), range(n)):
                        moves = _scale(game.transitions[h if len(game.transitions) > 1 else 0, s, a, b])
                        ahead = sum(p * v for p, v in zip(moves, following[i], strict=True))
                        reward = game.rewards[i, h if game.rewards.shape[1] > 1 else 0, s, a, b]
                        paid[name][a, b] = Fraction(float(reward)) + ahead
                now[i][s] = sum(x[a] * y[b] * q for (a, b), q in paid["stay"].items())
                own, other, size = (m, y, n) if i == 0 else (n, x, m)
                top[i][s] = max(
                    sum(other[b] * paid["leave"][(a, b) if i == 0 else (b, a)] for b in range(size)) for a in range(own)
                )
        values, best = now, top
    start = _scale(game.initial)
    return [sum(p * (top - v) for p, top, v in zip(start, best[i], values[i], strict=True)) for i in range(2)]


def _scale(weights: Iterable[float]) -> list[Fraction]:
    each = [Fraction(float(weight)) for weight in weights]
    return [weight / sum(each) for weight in each]
