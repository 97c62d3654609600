"""The largest numbers that are taken at all; what memory holds may be less, and is looked at where it is needed.

They are declared once, by the name of the argument, and checked before anything is computed from them.
"""

from __future__ import annotations

from tacit.core import check
from tacit.core.errors import TacitError, brief

#: Episodes of a run: at ten million a second they take three years.
EPISODES = 10**15

#: Seeds of an experiment, and a seed itself.
SEEDS, SEED = 10**6, 2**128 - 1

#: Actions of an agent.
ACTIONS = 10**6

#: The least and the largest number of each kind.
RANGES = {
    "agents": (1, 1 << 20),
    "actions": (1, ACTIONS),
    "states": (1, 10**15),
    "horizon": (1, 10**15),
    "episodes": (1, EPISODES),
    "seeds": (1, SEEDS),
    "first_seed": (0, SEED),
    "seed": (0, SEED + SEEDS),  # the last seed of an experiment
    "points": (1, 10**8),  # rows of a curve
    "workers": (1, 1024),
    "trials": (1, 10_000),  # random policies that are tried
}


def integer(name: str, value: object, *, least: int | None = None, most: int | None = None) -> int:
    """Return `value` as an int within the range of its name; one above it is refused as too large.

    >>> integer("seeds", 10**9)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: seeds is 1000000000; at most 1,000,000 can be asked for
    >>> integer("links", 1, least=2, most=ACTIONS)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: links is 1; it must be a whole number of at least 2
    """
    low = RANGES[name][0] if least is None else least
    high = RANGES[name][1] if most is None else most
    number = check.integer(name, value, least=low)
    if number > high:
        raise TacitError(f"{name} is {brief(number)}; at most {high:,} can be asked for")
    return number
