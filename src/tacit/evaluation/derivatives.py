"""Gradients of all agents' values as functions of unconstrained policies, real or complex.

Complex policies give derivatives of the gradient without differences: for a polynomial f, Im f(x + iε·v)/ε is the
directional derivative to rounding, whatever ε (the complex step).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.evaluation.contraction import own_payoffs
from tacit.games.tabular import TabularGame

ComplexArray = npt.NDArray[Any]
_STEP = 1e-30


def gradients(game: TabularGame, probs: Sequence[ComplexArray], initial: npt.NDArray[np.float64]) -> list[ComplexArray]:
    """Return d_h(s)·E_{a_-i}[Q_{h,i}], [H, S, A_i] for each agent, of policies [H, S, A_i] from `initial` [S]."""
    H, S, N = game.horizon, game.states, game.agents
    kind = np.result_type(*probs)
    q = [np.zeros((H, S, a), dtype=kind) for a in game.actions]
    V = np.zeros((N, S), dtype=kind)
    for h in reversed(range(H)):
        rows = [own[h] for own in probs]
        ahead = game.expect(h, V)
        payoffs = game.step_rewards(h) + ahead
        V = np.zeros((N, S), dtype=kind)
        for i in range(N):
            q[i][h] = own_payoffs(payoffs[i], rows, i)
            V[i] = (q[i][h] * rows[i]).sum(axis=1)
    d = np.zeros((H, S), dtype=kind)
    d[0] = initial
    for h in range(H - 1):
        joint = d[h][:, None]
        for own in probs:
            joint = (joint[:, :, None] * own[h][:, None, :]).reshape(S, -1)
        d[h + 1] = game.push(h, joint.ravel())
    return [d[:, :, None] * own for own in q]


def gradients_along(
    game: TabularGame,
    probs: Sequence[ComplexArray],
    agent: int,
    direction: ComplexArray,
    initial: npt.NDArray[np.float64],
) -> list[npt.NDArray[np.float64]]:
    """Return the derivative of all agents' gradients along `direction` [H, S, A_j] of one agent's policy."""
    moved: list[ComplexArray] = list(probs)
    moved[agent] = probs[agent] + 1j * _STEP * direction
    return [part.imag / _STEP for part in gradients(game, moved, initial)]
