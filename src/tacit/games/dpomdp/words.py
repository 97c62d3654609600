"""A line of a .dpomdp file as words and numbers, and what words stand for: states, actions and observations."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.text import nearest

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
    value = math.nan if "/" in word else nearest(word)  # the format has no fractions
    if not math.isfinite(value):
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


#: What a word stands for: one index, or several.
Selection = int | IntArray


def is_one(*chosen: Selection) -> bool:
    """Return whether each stands for one index."""
    return all(isinstance(one, int) for one in chosen)


#: Above this, a count is a slip rather than a size, and would not be representable as an index.
_MOST = 10**18

#: Bytes for each index while a wildcard is written out.
_PER_INDEX = 32


class Labels:
    """A set of `count` things that are told by an index or, where there are names, by name."""

    def __init__(self, what: str, words: Sequence[str]) -> None:
        self.what = what
        self.names: tuple[str, ...] | None = None
        if len(words) == 1 and _is_index(words[0]):
            self.count = _check_count(what, words[0])
        else:
            self.names = _check_names(what, words)
            self.count = len(self.names)
        self._indices = {name: k for k, name in enumerate(self.names or ())}

    @cached_property
    def every(self) -> IntArray:
        """All indices."""
        memory.require(memory.floats(self.count), f"all {self.count} {self.what}")
        return np.arange(self.count)

    def index(self, word: str) -> int:
        """Return the index that a name or an index stands for."""
        if _is_index(word):
            return _check_index(word, self.count, self.what)
        found = self._indices.get(word)
        if found is None:
            known = f"0 to {self.count - 1}" if self.names is None else brief(self.names)
            raise TacitError(f"{brief(word)} is none of the {self.what}; known: {known}")
        return found

    def select(self, words: Sequence[str]) -> Selection:
        """Return what one word stands for: an index, or all of them for `*`."""
        if len(words) != 1:
            raise TacitError(f"{brief(' '.join(words))} stands where one of the {self.what} must")
        return self.every if words[0] == "*" else self.index(words[0])


class Joint:
    """Tuples of one thing for each agent; the joint index is row-major, the last agent's runs fastest."""

    def __init__(self, what: str, agents: Sequence[Labels]) -> None:
        self.what = what
        self.agents = agents
        self.count = math.prod(own.count for own in agents)
        if self.count > _MOST:
            raise TacitError(f"there are about 1e{len(str(self.count)) - 1} {what}; {_MOST:.0e} is the most")

    @cached_property
    def every(self) -> IntArray:
        """All joint indices."""
        memory.require(_PER_INDEX * self.count, f"all {self.count} {self.what}")
        return np.arange(self.count)

    def select(self, words: Sequence[str]) -> Selection:
        """Return what the words stand for: one for each agent, or one joint index, or one `*`."""
        if len(words) == len(self.agents):
            return self._combine(words)
        if list(words) == ["*"]:
            return self.every
        if len(words) == 1 and _is_index(words[0]):
            return _check_index(words[0], self.count, self.what)
        raise TacitError(
            f"{brief(' '.join(words))} is none of the {self.what}: one part for each of {len(self.agents)} agents, "
            f"one joint index, or *"
        )

    def covers(self, words: Sequence[str]) -> bool:
        """Tell whether the words stand for everything: `*`, or `*` for each agent."""
        return len(words) in (1, len(self.agents)) and all(word == "*" for word in words)

    def unravel(self, joint: int) -> tuple[int, ...]:
        """Return the parts of a joint index."""
        return tuple(int(k) for k in np.unravel_index(joint, [own.count for own in self.agents]))

    def _combine(self, words: Sequence[str]) -> Selection:
        if "*" not in words:
            joint = 0
            for word, own in zip(words, self.agents, strict=True):
                joint = joint * own.count + own.index(word)
            return joint
        if self.covers(words):
            return self.every
        size = math.prod(own.count for word, own in zip(words, self.agents, strict=True) if word == "*")
        memory.require(_PER_INDEX * size, f"the {size} {self.what} {brief(' '.join(words))}")
        several = np.zeros(1, dtype=np.int64)
        for word, own in zip(words, self.agents, strict=True):
            several = np.add.outer(several * own.count, own.select([word])).ravel()
        return several


def _is_index(word: str) -> bool:
    return word.isdigit() and word.isascii()


def _check_index(word: str, count: int, what: str) -> int:
    index = int(word) if len(word) <= 18 else count
    if index >= count:
        raise TacitError(f"{brief(word)} is out of range: the {what} go from 0 to {count - 1}")
    return index


def _check_count(what: str, word: str) -> int:
    if len(word) > 18 or not 1 <= int(word) <= _MOST:
        raise TacitError(f"the number of {what} is {brief(word)}; it must be from 1 to {_MOST:.0e}")
    return int(word)


def _check_names(what: str, words: Sequence[str]) -> tuple[str, ...]:
    if not words:
        raise TacitError(f"there are no {what}; give their number or their names")
    for word in words:
        if not word[:1].isalpha():
            raise TacitError(f"{brief(word)} is no name for one of the {what}; a name begins with a letter")
    if len(set(words)) != len(words):
        twice = Counter(words).most_common(1)[0][0]
        raise TacitError(f"the {what} have the name {brief(twice)} twice")
    return tuple(words)
