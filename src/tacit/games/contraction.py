"""Expectations over the other agents' actions: what payoffs of joint actions are to each agent on its own.

Payoffs are arrays [..., S, A_1, …, A_N]; what agents play is [..., S, A_i] for each, or one joint draw
[..., S, A_1, …, A_N]. The axes in front broadcast. Sums are NumPy's own (einsum), never those of BLAS, whose order
depends on its threads and on the processor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.types import FloatArray


def own_payoffs(payoff: FloatArray, rows: Sequence[FloatArray], i: int) -> FloatArray:
    """Return E_{a_-i ~ π_-i}[payoff] as [..., S, A_i], where the others draw independently from `rows`.

    One agent is summed out at a time, from the ends of the array towards agent i, so that each pass is a product
    of contiguous blocks and the array shrinks by a factor A_j: the cost is that of reading the payoff once. The first
    agents go first, since theirs are the longer blocks.
    """
    reduced = payoff.reshape(*payoff.shape[: payoff.ndim - len(rows)], -1)
    for own in rows[:i]:
        reduced = np.einsum("...a,...ar->...r", own, reduced.reshape(*reduced.shape[:-1], own.shape[-1], -1))
    for own in reversed(rows[i + 1 :]):
        reduced = np.einsum("...ra,...a->...r", reduced.reshape(*reduced.shape[:-1], -1, own.shape[-1]), own)
    # who is alone has the same payoffs whatever is played, and several policies at once need an axis all the same
    return reduced if len(rows) > 1 else np.broadcast_to(reduced, np.broadcast_shapes(reduced.shape, rows[i].shape))


def advised_payoffs(payoff: FloatArray, joint: FloatArray, i: int) -> FloatArray:
    """Return Σ_{a_-i} μ(b, a_-i)·payoff(a, a_-i) as [..., S, b, a]: advised b, agent i plays a."""
    agents = joint.ndim - 1
    paid: FloatArray = np.einsum("...bj,...aj->...ba", own_first(joint, i, agents), own_first(payoff, i, agents))
    return paid


def own_first(array: FloatArray, i: int, agents: int) -> FloatArray:
    """Bring agent i's axis before the others' and flatten those: [..., S, A_i, Π_{j≠i} A_j]."""
    first = array.ndim - agents
    moved = np.moveaxis(array, first + i, first)
    return moved.reshape(*moved.shape[: first + 1], -1)


def pair_payoffs(payoff: FloatArray, rows: Sequence[FloatArray], i: int, j: int) -> FloatArray:
    """Return E_{a_-ij}[payoff] as [S, A_i, A_j], i < j, where the others draw independently from `rows`."""
    reduced = payoff
    for k in reversed(range(len(rows))):
        if k not in (i, j):
            reduced = np.einsum("s...a,sa->s...", np.moveaxis(reduced, 1 + k, -1), rows[k])
    return reduced


def joint_draw(rows: Sequence[FloatArray]) -> FloatArray:
    """Return the joint distributions [..., J] of independent ones [..., A_i]."""
    joint = rows[0]
    for own in rows[1:]:
        both = joint[..., :, None] * own[..., None, :]
        joint = both.reshape(*both.shape[:-2], -1)
    return joint


def stack_rows(rows: Sequence[FloatArray]) -> FloatArray:
    """Stack what agents play, [..., S, A_i], as [..., N, S, A]; what an agent does not have has no chance.

    >>> stack_rows([np.array([[1.0]]), np.array([[0.5, 0.5]])]).tolist()
    [[[1.0, 0.0]], [[0.5, 0.5]]]
    """
    widths = {own.shape[-1] for own in rows}
    most = max(widths)
    if len(widths) > 1:
        rows = [np.concatenate([own, np.zeros((*own.shape[:-1], most - own.shape[-1]))], axis=-1) for own in rows]
    lead, states = rows[0].shape[:-2], rows[0].shape[-2]
    return np.concatenate(rows, axis=-2).reshape(*lead, len(rows), states, most)  # for a thousand faster than np.stack


def stack_agents(parts: Sequence[FloatArray], *, advised: bool = False) -> FloatArray:
    """Stack the agents' payoffs [..., S, A_i] as [..., N, S, A]; who has fewer actions has its last one repeated.

    Where agents are advised an action, payoffs [..., S, b, a] as [..., N, S, A, A]; what is never advised pays nothing.
    """
    most = max(part.shape[-1] for part in parts)
    filled = []
    for part in parts:
        missing = most - part.shape[-1]
        if missing and advised:
            part = np.concatenate([part, np.zeros((*part.shape[:-2], missing, part.shape[-1]))], axis=-2)
        filled.append(np.concatenate([part, *[part[..., -1:]] * missing], axis=-1) if missing else part)
    return np.stack(filled, axis=-4 if advised else -3)
