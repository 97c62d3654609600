"""Spaces of observations and actions, as Gymnasium has them: their parts, their bounds, and their numbers in a row.

A space is known by the name of its class, so that nothing has to be imported. `Discrete`, `Numbers` and `Anything`
stand for spaces where an environment has none.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray


class Discrete(NamedTuple):
    """The space of the numbers 0 to n − 1, as Gymnasium's."""

    n: int
    start: int = 0


class Numbers(NamedTuple):
    """The space of arrays of numbers that a plain object shows."""

    shape: tuple[int, ...]
    dtype: Any = np.float64
    low: float = -math.inf
    high: float = math.inf


class Anything:
    """The space of whatever can be hashed, and of lists and arrays of it."""

    def __repr__(self) -> str:
        return "anything"


def kind(space: Any) -> str:
    """Return the name of a space's class."""
    return type(space).__name__


def parts(space: Any) -> dict[str, Any]:
    """Return the parts of a Dict or Tuple by name; none of another space."""
    if kind(space) not in ("Dict", "Tuple"):
        return {}
    inner = space.spaces
    return dict(inner) if isinstance(inner, Mapping) else {str(i): part for i, part in enumerate(inner)}


def pairs(space: Any, observation: Any) -> list[tuple[Any, Any]]:
    """Return the parts of a Dict or Tuple, each with its share of an observation."""
    if kind(space) == "Dict":
        return [(part, observation[name]) for name, part in space.spaces.items()]
    return list(zip(space.spaces, observation, strict=True))


def ends(space: Any) -> tuple[FloatArray, FloatArray, bool]:
    """Return the bounds of each number of a space without parts, and whether they are whole numbers."""
    match kind(space):
        case "Discrete":
            return np.array(float(space.start)), np.array(float(space.start + space.n - 1)), True
        case "MultiDiscrete":
            first = np.asarray(getattr(space, "start", np.zeros_like(space.nvec)), dtype=np.float64)
            return first, first + space.nvec - 1, True
        case "MultiBinary":
            return np.zeros(space.shape), np.ones(space.shape), True
        case "Box" | "Numbers":
            low, high = (np.broadcast_to(np.float64(end), space.shape) for end in (space.low, space.high))
            return low, high, np.dtype(space.dtype).kind in "iub"
    raise TacitError(f"{brief(space)} has no numbers to put into bins; give a function as encode")


def count(space: Any, *, whole: bool = True) -> int | None:
    """Return how many elements of whole numbers a space has, None where it has others too.

    Without `whole`, a Box of floats between whole numbers counts as if it had only these.
    """
    if kind(space) in ("Dict", "Tuple"):
        each = [count(part, whole=whole) for part in parts(space).values()]
        return None if None in each else math.prod(each)  # type: ignore[arg-type]
    if kind(space) not in ("Discrete", "MultiDiscrete", "MultiBinary", "Box"):
        return None
    low, high, exact = ends(space)
    bounds = np.stack([low.ravel(), high.ravel()])
    if (whole and not exact) or not np.isfinite(bounds).all() or (bounds != np.round(bounds)).any():
        return None
    return math.prod(int(side) for side in (bounds[1] - bounds[0] + 1).tolist())


def list_elements(space: Any) -> Sequence[Any]:
    """Return the elements of a space of whole numbers in their order, the last number changing fastest."""
    if kind(space) == "Discrete":
        return range(int(space.start), int(space.start) + int(space.n))
    leaves = list(_leaves(space))
    sides = [
        range(int(low), int(high) + 1)
        for leaf in leaves
        for low, high in zip(*(end.ravel() for end in ends(leaf)[:2]), strict=True)
    ]
    return [unflatten(space, iter(row)) for row in itertools.product(*sides)]


def _leaves(space: Any) -> Iterator[Any]:
    if kind(space) not in ("Dict", "Tuple"):
        yield space
    for part in parts(space).values():
        yield from _leaves(part)


def flatten(space: Any, observation: Any) -> list[Any]:
    """Return the numbers of an observation in their order."""
    if kind(space) in ("Dict", "Tuple"):
        return [value for part, share in pairs(space, observation) for value in flatten(part, share)]
    if kind(space) == "Discrete":
        if not 0 <= operator.index(observation) - space.start < space.n:
            raise TacitError(f"{brief(observation)} is not in {brief(space)}")
        return [operator.index(observation)]
    array = np.asarray(observation)
    if array.shape != tuple(space.shape):
        raise TacitError(f"{brief(observation)} is not in {brief(space)}")
    return array.ravel().tolist()


def unflatten(space: Any, values: Iterator[Any]) -> Any:
    """Return an observation of a space from its numbers."""
    match kind(space):
        case "Dict":
            return {key: unflatten(part, values) for key, part in space.spaces.items()}
        case "Tuple":
            return tuple(unflatten(part, values) for part in space.spaces)
        case "Discrete":
            return next(values)
    taken = [next(values) for _ in range(math.prod(space.shape))]
    return np.array(taken, dtype=space.dtype).reshape(space.shape)
