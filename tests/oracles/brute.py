"""Values and best deviations by following every trajectory, in plain loops: slow, obvious, and nothing of tacit in it.

A game is (P, R, rho, H) with P[h][s][joint][s'], R[i][h][s][joint] indexed by tuples; a joint policy is a function
(h, s) -> {joint action: probability}.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

Joint = tuple[int, ...]
Play = Callable[[int, int], dict[Joint, float]]


class Game:
    def __init__(self, P: np.ndarray, R: np.ndarray, rho: np.ndarray, H: int) -> None:
        self.P = P if len(P) == H else np.repeat(P, H, axis=0)
        self.R = R if R.shape[1] == H else np.repeat(R, H, axis=1)
        self.rho, self.H = rho, H
        self.N, self.S, self.actions = len(R), len(rho), R.shape[3:]

    def joints(self) -> Iterator[Joint]:
        return itertools.product(*map(range, self.actions))


def values(game: Game, play: Play) -> list[float]:
    """Expected return of each agent: the sum over all trajectories of probability times reward."""
    total = [0.0] * game.N

    def walk(h: int, s: int, weight: float) -> None:
        if h == game.H or weight == 0:
            return
        for joint, p in play(h, s).items():
            for i in range(game.N):
                total[i] += weight * p * game.R[(i, h, s, *joint)]
            for s_next in range(game.S):
                walk(h + 1, s_next, weight * p * game.P[(h, s, *joint, s_next)])

    for s in range(game.S):
        walk(0, s, game.rho[s])
    return total


def occupancy(game: Game, play: Play) -> np.ndarray:
    d = np.zeros((game.H, game.S))

    def walk(h: int, s: int, weight: float) -> None:
        if h == game.H:
            return
        d[h, s] += weight
        for joint, p in play(h, s).items():
            for s_next in range(game.S):
                walk(h + 1, s_next, weight * p * game.P[(h, s, *joint, s_next)])

    for s in range(game.S):
        walk(0, s, game.rho[s])
    return d


def deviate(game: Game, play: Play, i: int, swap: Callable[[int, int, int], int]) -> Play:
    """Agent i plays swap(h, s, b) where it was told b."""

    def changed(h: int, s: int) -> dict[Joint, float]:
        out: dict[Joint, float] = {}
        for joint, p in play(h, s).items():
            told = list(joint)
            told[i] = swap(h, s, joint[i])
            out[tuple(told)] = out.get(tuple(told), 0.0) + p
        return out

    return changed


def best_deaf(game: Game, play: Play, i: int) -> float:
    """Best value over all deterministic policies of agent i that ignore what it is told."""
    cells = list(itertools.product(range(game.H), range(game.S)))
    best = -np.inf
    for plan in itertools.product(range(game.actions[i]), repeat=len(cells)):
        table = dict(zip(cells, plan, strict=True))
        best = max(best, values(game, deviate(game, play, i, lambda h, s, b, t=table: t[h, s]))[i])
    return best


def best_swap(game: Game, play: Play, i: int) -> float:
    """Best value over all functions (h, s, told) -> action of agent i."""
    cells = list(itertools.product(range(game.H), range(game.S), range(game.actions[i])))
    best = -np.inf
    for plan in itertools.product(range(game.actions[i]), repeat=len(cells)):
        table = dict(zip(cells, plan, strict=True))
        best = max(best, values(game, deviate(game, play, i, lambda h, s, b, t=table: t[h, s, b]))[i])
    return best


def best_total(game: Game) -> float:
    """Largest total return over all deterministic joint policies."""
    cells = list(itertools.product(range(game.H), range(game.S)))
    best = -np.inf
    for plan in itertools.product(list(game.joints()), repeat=len(cells)):
        table = dict(zip(cells, plan, strict=True))
        best = max(best, sum(values(game, lambda h, s, t=table: {t[h, s]: 1.0})))
    return best


def product_play(tables: list[np.ndarray]) -> Play:
    """Independent draws: tables[i][h][s][a]."""

    def play(h: int, s: int) -> dict[Joint, float]:
        out = {}
        for joint in itertools.product(*(range(t.shape[2]) for t in tables)):
            p = 1.0
            for t, a in zip(tables, joint, strict=True):
                p *= t[h if len(t) > 1 else 0, s, a]
            out[joint] = p
        return out

    return play


def correlated_play(table: np.ndarray) -> Play:
    """One joint draw: table[h][s][a_1]…[a_N]."""
    return lambda h, s: {joint: table[(h, s, *joint)] for joint in np.ndindex(table.shape[2:])}
