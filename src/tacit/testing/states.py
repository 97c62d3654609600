"""States in pieces: copies, one agent's records, noise in everything else, and whether two remember the same bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tacit.core.records import Array, arrays, columns, parts
from tacit.testing.violation import require, require_alike, require_same


def copy(state: Any) -> Any:
    """Return a state with arrays of its own; those that cannot be written to are shared."""
    if isinstance(state, np.ndarray):
        return state.copy() if state.flags.writeable else state
    if not isinstance(state, tuple):
        return state
    held = [copy(part) for part in state]
    return type(state)(*held) if hasattr(state, "_fields") else tuple(held)


def numbers(state: Any) -> Iterator[tuple[str, Array]]:
    """Yield what a state remembers, field by field, with their paths."""
    for path, array in parts(state):
        yield from columns(array, path)


def require_same_states(one: Any, other: Any, sentence: str) -> None:
    """Raise unless two states remember the same bits; the sentence goes on with the first field that differs."""
    for (path, left), (_, right) in zip(numbers(one), numbers(other), strict=True):
        require_same(left, right, f"{sentence}; {path} differs")


def require_alike_states(one: Any, other: Any, sentence: str, tolerance: float) -> None:
    """Raise unless two states are `require_alike`; the sentence goes on with the first field that differs."""
    for (path, left), (_, right) in zip(numbers(one), numbers(other), strict=True):
        require_alike(left, right, f"{sentence}; {path} differs", tolerance)


def scramble(state: Any, i: int, rng: np.random.Generator) -> None:
    """Overwrite the records of all agents but i with noise, and all that is no record."""
    for _, array in arrays(state):
        if array.dtype.names is None:
            if array.flags.writeable:
                _fill(array, rng)
            continue
        others = np.arange(array.shape[-1]) != i
        noise = array[..., others]
        for _, column in columns(noise):
            _fill(column, rng)
        array[..., others] = noise


def _fill(array: Array, rng: np.random.Generator) -> None:
    array[...] = (rng.random(array.shape) * 3 + 1).astype(array.dtype)


def own_records(state: Any, i: int, actions: int) -> dict[str, Array]:
    """Return what a state remembers of agent i, as if it were alone, field by field.

    What a record holds for each action is cut to those that the agent has: there is room for more.
    """
    found = {}
    for path, array in parts(state):
        own = array[..., i : i + 1]
        for name, column in columns(own, path):
            cut: Any = (..., *(slice(actions),) * (column.ndim - own.ndim))
            found[name] = column[cut]
    return found


def check_shapes(name: str, state: Any, agents: int, steps: int, states: int) -> None:
    """Raise unless the records of a state are [agents], [steps, agents] or [steps, states, agents]."""
    for path, array in parts(state):
        fitting = [(agents,), *(shape for h in (1, steps, steps + 1) for shape in ((h, agents), (h, states, agents)))]
        require(
            array.shape in fitting,
            f"{path} of {name} has the shape {array.shape} for {agents} agents, {steps} steps and {states} states; "
            f"records are [agents], [steps, agents] or [steps, states, agents], with steps, one more, or one for all",
        )
