"""Which of its candidates a run answers with, and what it says where it did not get far."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.core.types import FloatArray

#: A gap is close to the smallest if it is larger by at most this share of uniform play's gap, or of the smallest.
OF_UNIFORM, OF_SMALLEST = 0.02, 0.1
#: Values count as equal within this share of the largest.
_EQUAL = 1e-9


class Judged(Protocol):
    """What is known of a policy."""

    @property
    def gap(self) -> float:
        """The largest upper bound of all agents."""

    @property
    def values(self) -> FloatArray | None:
        """Exact values [N], where they are known."""


def choose(
    known: Mapping[str, Judged],
    uniform: Callable[[], float],
    *,
    target: float | None = None,
    tables: Collection[str] = (),
) -> str:
    """Return the name of the candidate to answer with.

    That is the one with the smallest gap, unless all agents prefer another whose gap is close to it: then the one with
    the smallest gap of those that are close and to which no close one is preferred. Of equal gaps, the one that is
    listed last. A table takes the place of another kind of policy whose gap is not smaller by more than a tenth, if
    values that differ by less than a tenth of that gap count as equal.

    Parameters
    ----------
    known : mapping of Judged
        The candidates, by name.
    uniform : callable
        Returns the gap of uniform play; called only where it decides.
    target : float, optional
        A gap that the run was to reach: where a candidate has, no larger one is close.
    tables : collection of str
        Which candidates are tables: Markov policies, which need no record.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace as Policy
    >>> known = {"average": Policy(gap=0.0, values=np.array([96.8, 96.8])),
    ...          "last": Policy(gap=0.27, values=np.array([118.3, 118.3]))}
    >>> choose(known, lambda: 20.7), choose(known, lambda: 5.0), choose(known, lambda: 20.7, target=0.1)
    ('last', 'average', 'average')
    >>> known = {"latest": Policy(gap=0.1, values=np.array([2.3, 2.7])),
    ...          "markov": Policy(gap=0.105, values=np.array([2.305, 2.695]))}
    >>> choose(known, lambda: 1.0), choose(known, lambda: 1.0, tables=["markov"])
    ('latest', 'markov')
    """
    best = _choose(known, uniform, target)
    if best in tables:
        return best
    gap = known[best].gap
    limit = (1 + OF_SMALLEST) * gap
    if target is not None and gap <= target:
        limit = min(limit, target)
    close = [name for name in tables if known[name].gap <= limit]
    equal = [name for name in close if not _preferred(known[best], known[name], OF_SMALLEST * gap)]
    return min(equal, key=lambda name: known[name].gap, default=best)


def _choose(known: Mapping[str, Judged], uniform: Callable[[], float], target: float | None) -> str:
    """Return the candidate to answer with, whatever kind of policy it is."""
    place = {name: k for k, name in enumerate(known)}
    ranked = sorted(known, key=lambda name: (known[name].gap, -place[name]))
    first = known[ranked[0]]
    if not any(_preferred(one, first) for one in known.values()):
        return ranked[0]
    limit = first.gap + max(OF_UNIFORM * uniform(), OF_SMALLEST * first.gap)
    if target is not None and first.gap <= target:
        limit = min(limit, target)
    close = [name for name in ranked if known[name].gap <= limit]
    return next(name for name in close if not any(_preferred(known[other], known[name]) for other in close))


def _preferred(one: Judged, other: Judged, least: float = 0.0) -> bool:
    """Return whether one policy is better than another for some agent by more than `least`, and for none worse."""
    if one.values is None or other.values is None:
        return False
    more = one.values - other.values
    equal = max(least, _EQUAL * max(float(np.abs(one.values).max()), float(np.abs(other.values).max())))
    return bool((more >= -equal).all() and (more > equal).any())


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
