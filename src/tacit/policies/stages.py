"""The stages into which the visits of a (step, state) pair are divided. [Mao2022, Sec. 3.1]"""

from __future__ import annotations

import numpy as np

from tacit.core.types import IntArray


def stage_lengths(horizon: int, visits: int) -> IntArray:
    """Return e_1 = H, e_{j+1} = ⌊(1 + 1/H)·e_j⌋ up to the stage in which visit number `visits` falls.

    >>> stage_lengths(2, 12)
    array([2, 3, 4, 6])
    """
    lengths = [horizon]
    total = horizon
    while total < visits:
        lengths.append(lengths[-1] + lengths[-1] // horizon)  # integers: (1 + 1/H)·e may fall just below one
        total += lengths[-1]
    return np.array(lengths)
