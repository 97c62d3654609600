"""Parts of an experiment, for job arrays: each job runs its share, and needs to know nothing of the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tacit.core.errors import TacitError, brief

T = TypeVar("T")


@dataclass(frozen=True)
class Shard:
    """The `index`-th of `count` shares, counted from 1.

    >>> Shard.parse("2/3").of(["a", "b", "c", "d", "e"])
    ['b', 'e']
    """

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.index <= self.count:
            raise TacitError(
                f"shard is {self.index}/{self.count}; it must be from 1/{self.count} to {self.count}/{self.count}"
            )

    @classmethod
    def parse(cls, text: object) -> Shard:
        """Read "i/n"."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text) if isinstance(text, str) else None
        if found is None:
            raise TacitError(f"shard is {brief(text)}; it must be i/n, e.g. 1/8 for the first of eight")
        if found[2] == "0" * len(found[2]):
            raise TacitError(f"shard is {brief(text)}; there must be at least one share, as in 1/1")
        return cls(int(found[1]), int(found[2]))

    def of(self, runs: Sequence[T]) -> list[T]:
        """Return every `count`-th run: seeds come one after the other, so shares have some of every game."""
        return list(runs[self.index - 1 :: self.count])
