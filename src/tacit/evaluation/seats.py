"""A counting game from each agent's seat: against fixed policies of the others, every agent faces a decision process.

At each (h, s) its rewards [A] and next states [A, S] are expectations over the counts of the others. Values, best
responses, gradients and gaps follow from them as for a single agent. Agents that play the same are computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray, IntArray
from tacit.games.count import CountGame


class Seat(NamedTuple):
    """What the agents face at one step, or at one step and state."""

    reward: FloatArray  # [..., N, A]
    next: FloatArray  # [..., N, A, S]; zero after the last step


def seats(game: CountGame, h: int, states: Sequence[int] | IntArray, rows: FloatArray) -> Seat:
    """Return what agents face at step h in `states` [n] where they play `rows` [n, N, A]."""
    N, A, S = game.agents, game.actions[0], game.states
    memory.require(memory.floats(len(rows), N, A, 2 * (S + 2)), "what the agents of a counting game face")
    n = len(rows)
    mu, copies = np.zeros((n, N, A)), np.zeros((n, N), dtype=np.int64)
    number, which = np.zeros(n, dtype=np.int64), np.zeros((n, N), dtype=np.int64)
    for k, own in enumerate(rows):
        found, back, times = _different(own)
        mu[k, : len(found)], copies[k, : len(found)], number[k], which[k] = found, times, len(found), back
    each = kinds(game, h, states, mu, copies, number)
    index = which[:, :, None]
    reward = game.weights * np.take_along_axis(each.reward, index, axis=1)
    return Seat(reward, np.take_along_axis(each.next, index[..., None], axis=1))


def kinds(
    game: CountGame, h: int, states: Sequence[int] | IntArray, mu: FloatArray, copies: IntArray, number: IntArray
) -> Seat:
    """Return what each kind of agent faces at step h in `states` [n], rewards without the agents' weights.

    In states[k] there are number[k] kinds; copies[k, m] agents play mu[k, m].
    """
    from tacit.core.compilation import compiled  # imports the compiler
    from tacit.evaluation.leave_one_out import faced

    reward, following = np.zeros(mu.shape), np.zeros((*mu.shape, game.states))
    tables = game.kernels()
    at = np.asarray(states, dtype=np.int64)
    compiled(faced, tables)(tables, mu, copies, number, h, at, reward, following)
    return Seat(reward, following)


def _different(rows: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the different rows, which of them each row is, and how many rows are the same."""
    if len(rows) > 1 and (rows == rows[0]).all():
        return rows[:1], np.zeros(len(rows), dtype=np.int64), np.array([len(rows)])
    view = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    _, first, back, times = np.unique(view, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], back.ravel(), times


def table(policy_rows: Sequence[FloatArray]) -> FloatArray:
    """Return the distributions of one step, [S, A] for each agent, as one table [S, N, A]."""
    return np.stack(policy_rows, axis=1)


def expected(seat: Seat, values: FloatArray) -> FloatArray:
    """Return r + E[values of the next state], [n, N, A], of values [N, S]."""
    ahead: FloatArray = seat.reward + np.einsum("knat,nt->kna", seat.next, values)
    return ahead


def seconds_to_certify(game: CountGame, visits: int) -> float:
    """Return roughly how long the certificate of so many visits takes, from the operations that it needs.

    A nanosecond does ten of the products that convolutions are made of, and three of those that read tables (measured;
    a busy machine takes longer).
    """
    N, S = game.agents, game.states
    levels = max(N - 1, 1).bit_length()
    total = 0.0
    for q, statistic in enumerate(game.statistics):
        different = len(set(statistic.scores))
        spread = 12.0 * max(statistic.scores) * N**0.5  # the rest of a sum has no chance worth mentioning
        width = min(statistic.size, spread if different == 2 else statistic.size)
        reads = sum(own == q for own in game._reward_of) + (different * S if q == game._transition_of else 0)
        total += N * width * (levels * different * 0.1 + reads * 0.35)
    return visits * (total * 1e-9 + N * game.actions[0] * S * 4e-9)


def told_cost(game: CountGame, visits: int) -> str:
    """Say how long the certificate of so many visits takes."""
    return in_words(seconds_to_certify(game, visits))


def in_words(seconds: float) -> str:
    """Say how long something takes.

    >>> in_words(1), in_words(90), in_words(300), in_words(20_000)
    ('about a second', 'about 90 s', 'about 5 min', 'about 6 h')
    """
    if seconds < 2:
        return "about a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.0f} h"
