"""Values, best deviations and gradients of product policies in counting games, exactly and polynomially in N."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tacit.core import memory
from tacit.core.elementary import dot
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.seats import Seat, expected, kinds, seats, table
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


def gained_alike(game: CountGame, old: FloatArray, new: FloatArray) -> float | None:
    """Return Σ_i (what agent i's value rises by when it moves), where all agents move one after another, old to new.

    All agents play `old` [H or 1, S, A] first and `new` at last, so it does not matter in which order they move: the
    m-th to move faces m that have and N − 1 − m that have not. None where agents differ in their weights.
    """
    N, S, A = game.agents, game.states, game.actions[0]
    if not (game.weights == game.weights[:1]).all():
        return None
    moved = np.repeat(np.arange(N), S)
    copies, number = np.stack([N - moved, moved], axis=1), np.where(moved > 0, 2, 1)
    states = np.tile(np.arange(S), N)
    V, V_moved = np.zeros((N, S)), np.zeros((N, S))
    for h in reversed(range(game.horizon)):
        rows, rows_moved = (policy[h if len(policy) > 1 else 0] for policy in (old, new))
        mu = np.tile(np.stack([rows, rows_moved], axis=1), (N, 1, 1))  # [N·S, 2, A]
        seat = kinds(game, h, states, mu, copies, number)
        reward = (game.weights[0] * seat.reward[:, 0]).reshape(N, S, A)
        following = seat.next[:, 0].reshape(N, S, A, S)
        V = ((reward + np.einsum("msat,mt->msa", following, V)) * rows).sum(axis=2)
        V_moved = ((reward + np.einsum("msat,mt->msa", following, V_moved)) * rows_moved).sum(axis=2)
    return float(dot(V_moved - V, game.initial).sum())


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
        d[h + 1] = dot(d[h], step[h])
    return V, q, d
