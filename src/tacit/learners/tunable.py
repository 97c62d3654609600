"""Which parameters of a learner are worth tuning, and where: declared by each learner, beside its parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tacit.core.errors import TacitError


@dataclass(frozen=True)
class Span:
    """A positive number from `low` to `high`, tried evenly on a logarithmic scale.

    >>> Span(0.01, 1).at(0.5)
    0.1
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high < math.inf:
            raise TacitError(f"a span from {self.low} to {self.high} is none; it must be 0 < low < high")

    def at(self, u: float) -> float:
        """Return the number at a place u in [0, 1), in three digits."""
        return float(f"{self.low * (self.high / self.low) ** u:.3g}")


@dataclass(frozen=True)
class Choice:
    """One of several values.

    >>> Choice("normalized", "raw").at(0.7)
    'raw'
    """

    values: tuple[Any, ...]

    def __init__(self, *values: Any) -> None:
        object.__setattr__(self, "values", values)

    def at(self, u: float) -> Any:
        """Return the value at a place u in [0, 1)."""
        return self.values[int(u * len(self.values))]


Range = Span | Choice
