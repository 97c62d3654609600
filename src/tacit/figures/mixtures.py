"""Mixed actions in pictures: heat maps of policies, triangles of three choices, and games of two by two.

All of it is drawn from plain data, on axes that are given.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.display import number
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.figures.style import COLORS, name, plain

_COLORS = "Blues"


def draw_joint(ax: Any, joint: FloatArray, names: Sequence[Sequence[str]]) -> Any:
    """Draw a joint distribution [A_1, A_2] with its numbers, and return the axes."""
    image = ax.imshow(joint, cmap=_COLORS, vmin=0, vmax=1)
    _ticks(ax.set_xticks, ax.set_xticklabels, names[1])
    _ticks(ax.set_yticks, ax.set_yticklabels, names[0])
    if joint.size <= 144:
        for (a, b), p in np.ndenumerate(joint):
            ax.text(
                b, a, number(round(float(p), 4), 3), ha="center", va="center", color="white" if p > 0.6 else "black"
            )
    ax.set(xlabel="agent 1", ylabel="agent 0")
    ax.grid(False)
    return image


def draw_policy(
    ax: Any, probs: FloatArray, reach: FloatArray | None, states: Sequence[str], actions: Sequence[str]
) -> Any:
    """Draw an agent's probabilities [H, S, A]: steps to the right, states and their actions downwards.

    What is hardly reached is pale; what is never reached is blank.
    """
    H, S, A = probs.shape
    shown = probs.transpose(1, 2, 0).reshape(S * A, H)
    alpha = np.ones_like(shown)
    if reach is not None:
        alpha = np.repeat(np.where(reach > 0, 0.25 + 0.75 * np.minimum(1, 3 * reach), 0.0).T, A, axis=0)
    image = ax.imshow(shown, cmap=_COLORS, vmin=0, vmax=1, alpha=alpha, aspect="auto", interpolation="nearest")
    labels = [f"{name(s)}: {name(a)}" if S > 1 else name(a) for s in states for a in actions]
    if len(labels) <= 60:
        _ticks(ax.set_yticks, ax.set_yticklabels, labels)
    else:
        _ticks(ax.set_yticks, ax.set_yticklabels, [name(s) for s in states], A)
    for s in range(1, S):
        ax.axhline(s * A - 0.5, color="0.6", linewidth=0.6)
    every = max(1, H // 12)
    ax.set_xticks(range(0, H, every))
    ax.set_xlabel("step")
    ax.grid(False)
    return image


def _ticks(places: Any, labels: Any, words: Sequence[str], apart: int = 1) -> None:
    places(np.arange(len(words)) * apart)
    plain(*labels([name(word) for word in words], fontsize=8))


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


def check_two_by_two(payoffs: FloatArray) -> None:
    """Raise unless payoffs are those of two players with two actions each."""
    if payoffs.shape != (2, 2, 2):
        raise TacitError(f"payoffs have shape {payoffs.shape}; this picture is of two players with two actions each")


def draw_field(ax: Any, payoffs: FloatArray, names: Sequence[Sequence[str]], *, arrows: int = 13) -> Any:
    """Draw where each player's payoff rises, and both best-response curves, over the square of their mixtures.

    x and y are the probabilities of the second action of agent 0 and of agent 1. Arrows have the direction in which
    both gain by moving.
    """
    check_two_by_two(payoffs)
    grid = np.linspace(0.04, 0.96, arrows)
    x, y = np.meshgrid(grid, grid)
    first = _gain(payoffs[0], y)
    second = _gain(payoffs[1].T, x)
    length = np.hypot(first, second)
    scale = np.where(length > 0, length, 1.0) ** 0.6
    ax.quiver(x, y, first / scale, second / scale, color="0.65", width=0.003, pivot="mid")
    ax.plot([], [], linestyle="none", marker=r"$\rightarrow$", color="0.5", markersize=11, label="where each gains")
    for payoff, color, swap, who in ((payoffs[0], COLORS["blue"], False, 0), (payoffs[1].T, COLORS["red"], True, 1)):
        for k, (own, other) in enumerate(_responses(payoff)):
            line = (other, own) if swap else (own, other)
            ax.plot(*line, color=color, linewidth=2.2, label=f"best response of agent {who}" if k == 0 else None)
    told = [name(own[1]) for own in names]
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    plain(ax.set_xlabel(f"agent 0: P({told[0]})"), ax.set_ylabel(f"agent 1: P({told[1]})"))
    return ax


def _gain(payoff: FloatArray, other: FloatArray) -> FloatArray:
    """Return what the second action brings more than the first, where the other plays its second with `other`."""
    gain: FloatArray = (payoff[1, 0] - payoff[0, 0]) * (1 - other) + (payoff[1, 1] - payoff[0, 1]) * other
    return gain


def _responses(payoff: FloatArray) -> list[tuple[list[float], list[float]]]:
    """Return the best-response curve as pieces (own, other)."""
    at_0, at_1 = _gain(payoff, np.array(0.0)), _gain(payoff, np.array(1.0))
    if at_0 == at_1 == 0:
        return [([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])]
    pieces: list[tuple[list[float], list[float]]] = []
    if at_0 * at_1 < 0:
        turn = float(at_0 / (at_0 - at_1))
        low, high = (0.0, 1.0) if at_0 < 0 else (1.0, 0.0)
        return [([low, low, high, high], [0.0, turn, turn, 1.0])]
    own = 1.0 if at_0 + at_1 > 0 else 0.0
    pieces.append(([own, own], [0.0, 1.0]))
    if at_0 == 0:
        pieces.append(([0.0, 1.0], [0.0, 0.0]))
    if at_1 == 0:
        pieces.append(([0.0, 1.0], [1.0, 1.0]))
    return pieces


#: Corners of the tetrahedron of joint distributions, in the order of joint actions (0, 0), (0, 1), (1, 0), (1, 1).
TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.866, 0.0], [0.5, 0.289, 0.816]])


def ce_vertices(payoffs: FloatArray) -> FloatArray:
    """Return the vertices [V, 4] of the correlated equilibria of a 2×2 game, over joint actions in their order.

    >>> ce_vertices(np.array([[[6.0, 2], [7, 0]], [[6, 7], [2, 0]]])).shape
    (5, 4)
    """
    check_two_by_two(payoffs)
    rows = [-np.eye(4)[k] for k in range(4)]
    for i, told in itertools.product(range(2), range(2)):
        gain = np.zeros((2, 2))
        for other in range(2):
            at = (told, other) if i == 0 else (other, told)
            swapped = (1 - told, other) if i == 0 else (other, 1 - told)
            gain[at] = payoffs[i][swapped] - payoffs[i][at]
        rows.append(gain.ravel() / max(float(np.abs(payoffs[i]).max()), 1e-300))
    found: list[FloatArray] = []
    for chosen in itertools.combinations(rows, 3):
        square = np.stack([*chosen, np.ones(4)])
        if abs(np.linalg.det(square)) < 1e-12:
            continue
        point = np.linalg.solve(square, np.array([0.0, 0.0, 0.0, 1.0]))
        new = not any(np.allclose(point, other, atol=1e-9) for other in found)
        if new and all(row @ point <= 1e-9 for row in rows):
            found.append(np.maximum(point, 0.0))
    return np.array(found)


def draw_polytope(ax: Any, payoffs: FloatArray, names: Sequence[Sequence[str]]) -> Any:
    """Draw the correlated equilibria of a 2×2 game within the tetrahedron of joint distributions, on axes in 3D."""
    for one, other in itertools.combinations(range(4), 2):
        ax.plot(*TETRAHEDRON[[one, other]].T, color="0.6", linewidth=0.8)
    for k, (a, b) in enumerate(np.ndindex(2, 2)):
        away = (TETRAHEDRON[k] - TETRAHEDRON.mean(axis=0)) * 0.3  # clear of markers at the corner
        word = f"{name(names[0][a])}, {name(names[1][b])}"
        plain(ax.text(*(TETRAHEDRON[k] + away), word, fontsize=8, ha="center"))
    corners = ce_vertices(payoffs) @ TETRAHEDRON
    _hull(ax, corners)
    ax.scatter(*corners.T, color=COLORS["blue"], s=16, label="corners of the ce polytope", depthshade=False)
    inside = np.linspace(0, 1, 12)
    x, y = np.meshgrid(inside, inside)
    product = np.stack([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y], axis=-1) @ TETRAHEDRON
    ax.plot_wireframe(*np.moveaxis(product, -1, 0), color=COLORS["orange"], linewidth=0.4, alpha=0.7)
    ax.plot([], [], color=COLORS["orange"], linewidth=0.8, label="independent play")
    ax.set_axis_off()
    ax.set_box_aspect((1, 0.87, 0.82), zoom=1.2)
    return ax


def _hull(ax: Any, corners: FloatArray) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    from scipy.spatial import ConvexHull, QhullError

    if len(corners) == 2:
        ax.plot(*corners.T, color=COLORS["blue"], linewidth=2)
        return
    if len(corners) < 3:
        return
    try:
        faces = [corners[face] for face in ConvexHull(corners).simplices] if len(corners) > 3 else [corners]
    except QhullError:  # all in one plane
        middle = corners.mean(axis=0)
        _, _, axes = np.linalg.svd(corners - middle)
        flat = (corners - middle) @ axes[:2].T
        faces = [corners[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))]]
    ax.add_collection3d(Poly3DCollection(faces, facecolor=COLORS["sky"], alpha=0.35, edgecolor=COLORS["blue"]))


def check_small(game: Any) -> None:
    """Raise unless a game has two agents with two actions each, one state and one step; name another picture."""
    if tuple(game.actions) == (2, 2) and game.states == game.horizon == 1:
        return
    instead = ["policy (what a solution plays: --concept ce)"]
    if 3 in game.actions:
        instead.insert(0, "simplex (mixtures of three actions)")
    raise TacitError(
        f"{game!r} is not a game of two agents with two actions each, one state and one step; "
        f"of this game there can be drawn: {', '.join(instead)}"
    )
