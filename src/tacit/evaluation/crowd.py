"""Values, best deviations and gradients of product policies in counting games, exactly and polynomially in N."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.seats import Seat, expected, seats, table
from tacit.games.count import CountGame
from tacit.policies.markov import MarkovPolicy


def steps_back(game: CountGame, policy: MarkovPolicy) -> Iterator[tuple[int, FloatArray, Seat]]:
    """Yield each step from the last to the first, with the agents' rows [S, N, A] and what they face."""
    every = np.arange(game.states)
    for h in reversed(range(game.horizon)):
        rows = table(policy.at(h))
        yield h, rows, seats(game, h, every, rows)


def crowd_deviations(game: CountGame, policy: MarkovPolicy) -> tuple[FloatArray, FloatArray, tuple[IntArray, ...]]:
    """Return V and best [N, H + 1, S], and each agent's best responses [H, S]."""
    N, H, S = game.agents, game.horizon, game.states
    V = memory.zeros((N, H + 1, S), "the values of the policy")
    best, choices = np.zeros_like(V), np.zeros((N, H, S), dtype=np.int64)
    for h, rows, seat in steps_back(game, policy):
        V[:, h] = (expected(seat, V[:, h + 1]) * rows).sum(axis=2).T
        gain = expected(seat, best[:, h + 1])
        choices[:, h], best[:, h] = gain.argmax(axis=2).T, gain.max(axis=2).T
    return V, best, tuple(choices)


def crowd_gains(game: CountGame, policy: MarkovPolicy, best: FloatArray) -> list[FloatArray]:
    """Return for each step what each own action brings where the best responses [N, H + 1, S] follow, [S, N, A]."""
    found = [expected(seat, best[:, h + 1]) for h, _, seat in steps_back(game, policy)]
    return found[::-1]


def crowd_values(game: CountGame, policy: MarkovPolicy) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return V [N, H + 1, S], q [N, H, S, A] and the occupancy [H, S] of a product policy."""
    N, H, S = game.agents, game.horizon, game.states
    V = memory.zeros((N, H + 1, S), "the values of the policy")
    q, step = np.zeros((N, H, S, game.actions[0])), np.zeros((H, S, S))
    for h, rows, seat in steps_back(game, policy):
        own = expected(seat, V[:, h + 1])
        q[:, h], V[:, h] = own.transpose(1, 0, 2), (own * rows).sum(axis=2).T
        step[h] = np.einsum("sa,sat->st", rows[:, 0], seat.next[:, 0])  # one agent sees all of the transition
    d = np.zeros((H, S))
    d[0] = game.initial
    for h in range(H - 1):
        d[h + 1] = d[h] @ step[h]
    return V, q, d
