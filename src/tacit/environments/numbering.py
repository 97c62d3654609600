"""What all agents see in one step, as an integer array of states."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from typing import Any

from tacit.core.types import IntArray
from tacit.environments.observations import OVER, Observations


class Numbering:
    """All agents' observations, numbered by each for itself.

    Attributes
    ----------
    plain : bool
        Whether observations are the numbers of the states.
    same : bool
        Whether all have seen the same at every step so far.
    """

    def __init__(self, each: Sequence[Observations]) -> None:
        self._each = list(each)
        self.plain = all(own.plain for own in each)
        self._least = min(own.count or 0 for own in each) if self.plain else 0
        self._pack: Any = struct.Struct(f"{len(self._each)}q").pack_into
        self.same = True

    def put(self, shown: Sequence[Any], out: IntArray) -> None:
        """Write the state of each agent into `out` [N]; numbers that are states as they are, unread."""
        if self.plain:
            try:
                self._pack(out, 0, *shown)
                return
            except Exception:  # no whole number: told below
                pass
        self.read(shown, None, out)

    def write(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> None:
        """Write the state of each agent into `out` [N]; `over` says who is out, None for nobody."""
        if not self.plain or over is not None:
            self.read(shown, over, out)
            return
        self.put(shown, out)
        low, high = int(out.min()), int(out.max())
        if low < 0 or high >= self._least:
            self.read(shown, over, out)
        else:
            self.same = self.same and low == high

    def differ(self) -> None:
        """Take note that two agents are in states of different numbers: where these are what they see, that differs."""
        self.same = self.same and not self.plain

    def read(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> None:
        """Write the state of each agent, looking at every observation; what is in no space is told."""
        keys: list[Hashable] = []
        before: Any = None  # agents are often shown the very same object
        for i, own in enumerate(self._each):
            if over is not None and over[i]:
                keys.append(OVER)
                continue
            if i and keys[-1] is not OVER and shown[i] is before and own.reads_as(self._each[i - 1]):
                keys.append(keys[-1])
            else:
                keys.append(own.key(shown[i]))
            before = shown[i]
        for i, (own, key) in enumerate(zip(self._each, keys, strict=True)):
            out[i] = own.number(key)
        if self.same:
            self.same = all(key == keys[0] for key in keys[1:])
