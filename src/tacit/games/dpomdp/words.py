"""A line of a .dpomdp file as words and numbers."""

from __future__ import annotations

import math
import re

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray

_WORDS = re.compile(r'"([^"]*)"|(:)|([^\s:"]+)')


def fields(line: str) -> list[list[str]]:
    """Split a line at its colons into lists of words; names may be in quotes, which are taken off.

    >>> fields('T: listen "open left" : 0 :')
    [['T'], ['listen', 'open left'], ['0'], []]
    """
    if '"' not in line:
        return [part.split() for part in line.split(":")]
    if line.count('"') % 2:
        raise TacitError(f"a quote is not closed in {brief(line)}")
    parts: list[list[str]] = [[]]
    for quoted, colon, bare in _WORDS.findall(line):
        if colon:
            parts.append([])
        else:
            parts[-1].append(bare or quoted)
    return parts


def number(word: str) -> float:
    """Return a finite number, written with ASCII digits."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in word or not word.isascii():
        raise TacitError(f"{brief(word)} stands where a finite number must")
    return value


def probability(word: str, what: str = "probability") -> float:
    """Return a number from 0 to 1."""
    value = number(word)
    if not 0 <= value <= 1:
        raise TacitError(f"the {what} {brief(word)} is not from 0 to 1")
    return value


def numbers(line: str, count: int, what: str) -> FloatArray:
    """Return the finite numbers of a line, which must be `count`."""
    words = line.split()
    if len(words) != count:
        shown = f"has {len(words)} numbers" if len(words) > 1 else f"is {brief(line)}"
        raise TacitError(f"{what} {shown}; it must have {count} numbers, on one line")
    try:
        values = [float(word) for word in words]
        plain = math.isfinite(sum(values)) and "_" not in line and line.isascii()
    except ValueError:
        plain = False
    return np.array(values if plain else [number(word) for word in words])  # tells the wrong one


def probabilities(line: str, count: int, what: str) -> FloatArray:
    """Return the numbers from 0 to 1 of a line, which must be `count`."""
    values = numbers(line, count, what)
    if values.min() < 0 or values.max() > 1:
        wrong = line.split()[int(np.argmax((values < 0) | (values > 1)))]
        raise TacitError(f"{what} has the probability {brief(wrong)}, which is not from 0 to 1")
    return values
