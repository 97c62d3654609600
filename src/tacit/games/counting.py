"""What agents of a counting game face against fixed policies of the others: induced rewards and transitions.

At each (h, s) an agent's rewards [A] and next states [A, S] are expectations over the counts of the others. Agents that
play the same are computed once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray, IntArray

if TYPE_CHECKING:
    from tacit.games.count import CountGame


class Induced(NamedTuple):
    """What agents face at some rows of one step."""

    rewards: FloatArray  # [..., N, A]
    transitions: FloatArray  # [..., N, A, S]; zero after the last step


def induce(game: CountGame, h: int, rows: FloatArray, s: int | None) -> Induced:
    """Return what agents face at step h where they play `rows` [..., S, N, A], or [..., N, A] in state s."""
    N, A, S = game.agents, game.actions[0], game.states
    flat, states = _flatten(game, rows, s)
    n = len(flat)
    memory.require(memory.floats(n, N, A, 2 * (S + 2)), "what the agents of a counting game face")
    mu, copies = np.zeros((n, N, A)), np.zeros((n, N), dtype=np.int64)
    number, which = np.zeros(n, dtype=np.int64), np.zeros((n, N), dtype=np.int64)
    for k, own in enumerate(flat):
        found, back, times = _different(own)
        mu[k, : len(found)], copies[k, : len(found)], number[k], which[k] = found, times, len(found), back
    each = induce_kinds(game, h, states, mu, copies, number)
    index = which[:, :, None]
    rewards = game.weights * np.take_along_axis(each.rewards, index, axis=1)
    transitions = np.take_along_axis(each.transitions, index[..., None], axis=1)
    return Induced(rewards.reshape(rows.shape), transitions.reshape(*rows.shape, S))


def induce_kinds(
    game: CountGame, h: int, states: IntArray, mu: FloatArray, copies: IntArray, number: IntArray
) -> Induced:
    """Return what each kind of agent faces at step h in `states` [n], rewards without the agents' weights.

    In states[k] there are number[k] kinds; copies[k, m] agents play mu[k, m].
    """
    from tacit.core.compilation import compiled  # imports the compiler
    from tacit.games.leave_one_out import face

    rewards, transitions = np.zeros(mu.shape), np.zeros((*mu.shape, game.states))
    tables = game.kernels()
    compiled(face, tables)(tables, mu, copies, number, h, states, rewards, transitions)
    return Induced(rewards, transitions)


def follow(game: CountGame, h: int, rows: FloatArray, s: int | None) -> FloatArray:
    """Return the distributions of the next state where all play `rows` [..., S, N, A], or [..., N, A] in state s."""
    from tacit.core.compilation import compiled  # imports the compiler
    from tacit.games.leave_one_out import lead

    flat, states = _flatten(game, rows, s)
    following = np.zeros((len(flat), game.states))
    tables = game.kernels()
    compiled(lead, tables)(tables, flat, h, states, following)
    return following.reshape(*rows.shape[:-2], game.states)


def add_up(scores: FloatArray, probs: FloatArray) -> FloatArray:
    """Return the distribution of Σ_k scores[a_k] where each k plays its row of `probs` [n, A].

    >>> add_up(np.array([0, 1]), np.array([[0.5, 0.5], [0.5, 0.5]])).tolist()
    [0.25, 0.5, 0.25]
    """
    total = np.ones(1)
    for own in probs:
        joined = np.zeros(len(total) + int(scores.max()))
        for score, chance in zip(scores, own, strict=True):
            joined[score : score + len(total)] += chance * total
        total = joined
    return total


def _flatten(game: CountGame, rows: FloatArray, s: int | None) -> tuple[FloatArray, IntArray]:
    """Return rows [n, N, A] of all states, or of state s, and the states that they are of, [n]."""
    flat = np.ascontiguousarray(rows.reshape(-1, *rows.shape[-2:]))
    if s is not None:
        return flat, np.full(len(flat), s, dtype=np.int64)
    return flat, np.tile(np.arange(game.states), len(flat) // game.states)


def _different(rows: FloatArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the different rows, which of them each row is, and how many rows are the same."""
    if len(rows) > 1 and (rows == rows[0]).all():
        return rows[:1], np.zeros(len(rows), dtype=np.int64), np.array([len(rows)])
    view = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * 8))).ravel()
    _, first, back, times = np.unique(view, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], back.ravel(), times
