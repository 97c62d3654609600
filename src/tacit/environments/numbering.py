"""What all agents see in one step, as an integer array of states."""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from operator import index
from typing import Any

import numpy as np

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
        self._least = min(own.count or 0 for own in each) if all(own.numbered for own in each) else 0
        self._pack: Any = struct.Struct(f"{len(self._each)}q").pack_into
        self._form: Any = None  # type and shape of the arrays that are shown
        self.same = True

    def put(self, shown: Sequence[Any], out: IntArray) -> None:
        """Write the state of each agent into `out` [N]; numbers that are states as they are, unread."""
        try:
            self._pack(out, 0, *(shown if self.plain else self.known(shown)))
        except Exception:  # met for the first time, or told below
            self.read(shown, None, out)

    def write(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> None:
        """Write the state of each agent into `out` [N]; `over` says who is out, None for nobody."""
        if over is not None:
            self.read(shown, over, out)
            return
        self.put(shown, out)
        if self.plain:
            low, high = int(out.min()), int(out.max())
            if low < 0 or high >= self._least:
                self.read(shown, over, out)
            else:
                self.same = self.same and low == high

    def known(self, shown: Sequence[Any]) -> list[int]:
        """Return the states of arrays, or numbers, that were read before; raise where it takes a closer look.

        Arrays are known by their bytes; what agents see for the first time, or no longer all of them, wants that look.
        """
        if self._least:
            found = [index(one) - own.start for one, own in zip(shown, self._each, strict=True)]
            if min(found) < 0 or max(found) >= self._least:
                raise LookupError
            if self.same and found.count(found[0]) != len(found):
                raise LookupError
            return found
        dtype, shape = self._form
        raw = []
        for array in shown:
            if array.dtype is not dtype or array.shape != shape:
                raise LookupError
            raw.append(array.tobytes())
        if self.same and raw.count(raw[0]) != len(raw):
            raise LookupError
        return [own.raw[content] for own, content in zip(self._each, raw, strict=True)]

    def _keep(self, shown: Sequence[Any], states: IntArray) -> None:
        """Keep the bytes of arrays whose states were just read."""
        for own, array, s in zip(self._each, shown, states.tolist(), strict=True):
            if own.arrays and isinstance(array, np.ndarray):
                if self._form is None:
                    self._form = (array.dtype, array.shape)
                if (array.dtype, array.shape) == self._form:
                    own.raw[array.tobytes()] = s

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
        if over is None:
            self._keep(shown, out)
        if self.same:
            self.same = all(key == keys[0] for key in keys[1:])
