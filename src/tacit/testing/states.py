"""States in pieces: copies, one agent's rows, others' rows scrambled, and whether two hold the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.axes import Array, Part, axes_of, by_state, parts
from tacit.core.errors import TacitError
from tacit.testing.violation import Violation, require, require_alike, require_same


def copied(state: Any) -> Any:
    """Return a state with arrays of its own."""
    held = [
        copied(part) if isinstance(part, tuple) else part.copy() if isinstance(part, np.ndarray) else part
        for part in state
    ]
    return type(state)(*held) if hasattr(state, "_fields") else tuple(held)


def require_same_states(one: Any, other: Any, sentence: str) -> None:
    """Raise unless two states hold the same bits; the sentence goes on with the first array that differs."""
    for left, right in zip(parts(one), parts(other), strict=True):
        require_same(left.array, right.array, f"{sentence}; {left.path} differs")


def require_alike_states(one: Any, other: Any, sentence: str, tolerance: float) -> None:
    """Raise unless two states are `require_alike`; the sentence goes on with the first array that differs."""
    for left, right in zip(parts(one), parts(other), strict=True):
        require_alike(left.array, right.array, f"{sentence}; {left.path} differs", tolerance)


def scramble(state: Any, i: int, rng: np.random.Generator) -> None:
    """Overwrite the rows of all agents but i with noise."""
    for part in parts(state):
        if axes_of(part)[0] == "N" and part.array.flags.writeable:
            others = np.arange(len(part.array)) != i
            part.array[others] = (rng.random(part.array[others].shape) * 3 + 1).astype(part.array.dtype)


def own_rows(state: Any, i: int, sizes: tuple[int, int, int]) -> dict[str, Array]:
    """Return what a state holds about agent i of (H, S, A_i), as if it were alone, by path.

    Arrays over actions are cut to its own, and so are copies of cells, one for each action.
    """
    horizon, states, actions = sizes
    found = {}
    for part in parts(state):
        axes = axes_of(part)
        array = by_state(part, horizon, states) if "C" in axes else part.array
        if "C" in axes:
            k = axes.index("C")
            axes = (*axes[:k], "H", "S", "copies", *axes[k + 1 :])
            if array.shape[k + 2] == 1:
                axes = (*axes[: k + 2], "one", *axes[k + 3 :])
        cut = tuple(i if axis == "N" else slice(actions) if axis in ("A", "copies") else slice(None) for axis in axes)
        found[part.path] = array[cut]
    return found


def check_axes(state: Any, known: dict[str, int]) -> None:
    """Raise unless every array of a state declares its axes, and has them.

    H, S, and C up to copies are those of `known`; N and A too in the state itself, and the same throughout each struct
    within it, which may serve others than the agents of the game.
    """
    seen: dict[tuple[str, str], tuple[int, str]] = {("", axis): (known[axis], "") for axis in ("N", "A")}
    for part in parts(state):
        try:
            axes = axes_of(part)
            by_state(part, known["H"], known["S"])
        except TacitError as error:
            raise Violation(str(error)) from error
        for k, (axis, size) in enumerate(zip(axes, part.array.shape, strict=True)):
            _check_axis(part, k, axis, size, known, seen)


def _check_axis(
    part: Part, k: int, axis: str, size: int, known: dict[str, int], seen: dict[tuple[str, str], tuple[int, str]]
) -> None:
    fixed = {"H": known["H"], "H+1": known["H"] + 1, "S": known["S"]}
    wanted, where = fixed.get(axis, size), ""
    if axis.isdigit():
        wanted = int(axis)
    elif axis not in fixed and axis != "C":
        wanted, where = seen.setdefault((part.struct, axis), (size, part.path))
    told = f", as in {where}" if where else ""
    require(
        size == wanted, f"axis {k} of {part.path} is declared {axis}, which is {wanted}{told}, and has {size} entries"
    )
