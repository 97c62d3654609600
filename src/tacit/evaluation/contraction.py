"""Expectations over the other agents' actions: what a payoff looks like from one agent's seat.

Payoffs of one step are arrays [S, A_1, …, A_N], policies of one step what `MarkovPolicy.at` returns. Sums are NumPy's
own (einsum), never those of BLAS, whose order depends on its threads and on the processor.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.types import FloatArray


def own_payoffs(payoff: FloatArray, rows: Sequence[FloatArray], i: int) -> FloatArray:
    """Return E_{a_-i ~ π_-i}[payoff] as [S, A_i], where the others draw independently from `rows`.

    A payoff [1, A_1, …, A_N] is that of all states. One agent is summed out at a time, from the ends of the array
    towards agent i, so that each pass is a product of contiguous blocks and the array shrinks by a factor A_j: the cost
    is that of reading the payoff once. The first agents go first, since theirs are the longer blocks.
    """
    reduced = payoff
    for own in rows[:i]:
        reduced = np.einsum("sa,sar->sr", own, reduced.reshape(len(reduced), own.shape[1], -1))
    for own in reversed(rows[i + 1 :]):
        reduced = np.einsum("sra,sa->sr", reduced.reshape(len(reduced), -1, own.shape[1]), own)
    return reduced.reshape(len(reduced), rows[i].shape[1])


def own_payoffs_correlated(payoff: FloatArray, joint: FloatArray, i: int) -> FloatArray:
    """Return E_{a_-i ~ μ_-i}[payoff] as [S, A_i], where μ_-i is the others' marginal of `joint` [S, A_1, …, A_N]."""
    others = seat_first(joint, i).sum(axis=1)
    own: FloatArray = np.einsum("saj,sj->sa", seat_first(payoff, i), others)
    return own


def swap_payoffs(payoff: FloatArray, joint: FloatArray, i: int) -> FloatArray:
    """Return Σ_{a_-i} μ(b, a_-i)·payoff(a, a_-i) as [S, b, a]: told b, agent i plays a."""
    swapped: FloatArray = np.einsum("sbj,saj->sba", seat_first(joint, i), seat_first(payoff, i))
    return swapped


def seat_first(array: FloatArray, i: int) -> FloatArray:
    """Bring agent i's axis to the front and flatten the others': [S, A_i, Π_{j≠i} A_j]."""
    moved = np.moveaxis(array, 1 + i, 1)
    return moved.reshape(*moved.shape[:2], -1)


def pair_payoffs(payoff: FloatArray, rows: Sequence[FloatArray], i: int, j: int) -> FloatArray:
    """Return E_{a_-ij}[payoff] as [S, A_i, A_j], i < j, where the others draw independently from `rows`."""
    reduced = payoff
    for k in reversed(range(len(rows))):
        if k not in (i, j):
            reduced = np.einsum("s...a,sa->s...", np.moveaxis(reduced, 1 + k, -1), rows[k])
    return reduced
