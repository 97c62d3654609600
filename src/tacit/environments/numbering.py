"""What all agents see in one step, as an integer array of states."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from tacit.core.types import IntArray
from tacit.environments.observations import OVER, Observations

#: Types whose values are whole numbers as they are.
_WHOLE = frozenset({int, np.int64, np.int32, np.int16, np.int8, np.uint8, np.uint16, np.uint32})


class Numbering:
    """All agents' observations, numbered by each for itself.

    Attributes
    ----------
    same : bool
        Whether all have seen the same at every step so far.
    """

    def __init__(self, each: Sequence[Observations]) -> None:
        self._each = list(each)
        self._plain = all(own.plain for own in each)  # observations are the numbers of the states
        self._least = min(own.count or 0 for own in each) if self._plain else 0
        self.same = True

    def write(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> None:
        """Write the state of each agent into `out` [N]; `over` says who is out, None for nobody."""
        if self._plain and over is None and _WHOLE.issuperset(map(type, shown)):
            low, high = min(shown), max(shown)
            if low >= 0 and high < self._least:
                out[:] = shown
                self.same = self.same and bool(low == high)
                return
        self._write(shown, over, out)

    def _write(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> None:
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
