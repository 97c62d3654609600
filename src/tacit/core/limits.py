"""The largest numbers that are taken at all; what memory holds may be less, and is looked at where it is needed."""

from __future__ import annotations

from tacit.core import check
from tacit.core.errors import TacitError, brief

#: Episodes of a run: at ten million a second they take three years.
EPISODES = 10**15

#: Steps of an episode.
HORIZON = 10**15

#: Seeds of an experiment, and a seed itself.
SEEDS, SEED = 10**6, 2**128 - 1

#: Rows of a curve.
POINTS = 10**8

#: Threads.
WORKERS = 1024


def integer(name: str, value: object, *, least: int, most: int) -> int:
    """Return `value` as an int of at least `least`; one above `most` is refused as too large.

    >>> integer("seeds", 10**9, least=1, most=SEEDS)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: seeds is 1000000000; at most 1,000,000 can be asked for
    """
    number = check.integer(name, value, least=least)
    if number > most:
        raise TacitError(f"{name} is {brief(number)}; at most {most:,} can be asked for")
    return number
