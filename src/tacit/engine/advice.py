"""Words for runs that did not get far: what is wrong, in numbers, and what to try, by name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: From this share of the gap of uniform play on, nothing was learned.
NO_BETTER = 0.9
#: A gap grows if from the second quarter of a run to the last it became so many times as large.
GROWS = 1.25
#: It stalls if it lost less than this share there, and ends above `SMALL` of that of uniform play.
STALLS, SMALL = 0.05, 0.1
#: Curves of fewer rows say nothing about the way.
ROWS = 10


class Advice(NamedTuple):
    """What is wrong, in one word, and a sentence."""

    kind: str  # "uniform", "grows", "stalls" or "blank"
    text: str


def advise(
    curve: npt.NDArray[Any], gap: float, uniform: float | None, most: float, *, informative: bool, instead: str
) -> tuple[Advice, ...]:
    """Say what is wrong with a run, most telling first; nothing where nothing is.

    Parameters
    ----------
    curve : structured array
        With the columns episode and gap.
    gap : float
        The gap of the answer.
    uniform : float or None
        The gap of uniform play, where it is known.
    most : float
        No gap is larger.
    informative : bool
        Whether the gap is known any better than that.
    instead : str
        What to try.
    """
    episodes = f"{int(curve['episode'][-1]):,} episodes"
    if not informative:
        return (Advice("blank", f"after {episodes} the bound is still the trivial one; {instead}"),)
    found = []
    if uniform is not None and uniform > 1e-9 * most and gap >= NO_BETTER * uniform:
        share = f"{100 * gap / uniform:.0f} % of its gap of {uniform:.4g}"
        found.append(
            Advice("uniform", f"after {episodes} the answer is no better than uniform play ({share}); {instead}")
        )
    gaps = curve["gap"]
    small = SMALL * (most if uniform is None or uniform <= 1e-9 * most else uniform)
    if len(curve) < ROWS or not np.isfinite(gaps).all() or gap <= small:
        return tuple(found)
    rows = len(curve)
    then, now = float(np.median(gaps[rows // 4 : rows // 2])), float(np.median(gaps[-rows // 4 :]))  # gaps fluctuate
    moved = f"it was {then:.4g} in the second quarter of the run and {now:.4g} in the last"
    if now > GROWS * then:
        found.append(Advice("grows", f"the gap grows: {moved}; {instead}"))
    elif not found and now > (1 - STALLS) * then:
        found.append(Advice("stalls", f"the gap hardly moves: {moved}; {instead}"))
    return tuple(found)
