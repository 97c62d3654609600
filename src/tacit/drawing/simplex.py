"""Mixed actions of three choices as points of a triangle, and how they move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.drawing.style import name, plain

#: The corners of the triangle.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])


def flat(points: FloatArray) -> FloatArray:
    """Return distributions [n, 3] as points [n, 2] of the plane.

    >>> flat(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    placed: FloatArray = np.asarray(points, dtype=float) @ CORNERS
    return placed


def draw_simplex(ax: Any, names: Sequence[str]) -> Any:
    """Draw the triangle with the names of its corners, and return the axes."""
    if len(names) != 3:
        raise TacitError(f"a triangle has three corners, and there are {len(names)} actions")
    closed = np.concatenate([CORNERS, CORNERS[:1]])
    ax.plot(*closed.T, color="0.4", linewidth=1)
    middle = CORNERS.mean(axis=0)
    for corner, word in zip(CORNERS, names, strict=True):
        ax.plot(*np.stack([(CORNERS.sum(axis=0) - corner) / 2, corner]).T, color="0.85", linewidth=0.6, zorder=0)
        away = (corner - middle) * 0.12
        plain(ax.text(*(corner + away), name(word), ha="center", va="center", fontsize=9))
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_xlim(-0.15, 1.15)
    ax.set_ylim(-0.15, 1.05)
    return ax


def draw_path(ax: Any, path: FloatArray, *, label: str = "", color: str | None = None, fade: bool = True) -> Any:
    """Draw how a distribution [n, 3] moves, from faint to strong, with a ring where it begins and a dot at its end."""
    from matplotlib.collections import LineCollection

    points = flat(path)
    if len(points) > 1 and fade:
        pieces = np.stack([points[:-1], points[1:]], axis=1)
        strength = np.linspace(0.45, 1.0, len(pieces))
        drawn: Any = LineCollection(list(pieces), colors=color, linewidths=1.8)
        drawn.set_alpha(strength)
        ax.add_collection(drawn)
    elif len(points) > 1:
        ax.plot(*points.T, color=color, linewidth=1.3)
    ax.plot(*points[0], "o", markerfacecolor="none", markeredgecolor=color, markersize=6)
    (end,) = ax.plot(*points[-1], "o", color=color, markersize=6, **({"label": name(label)} if label else {}))
    return end
