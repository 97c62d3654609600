"""Pictures of games, policies and learning: each takes axes, or makes them, and returns them.

What `plot_…` and `animate_…` make of games, policies and learners, the `draw_…` functions draw of plain data: heat maps
of policies, triangles of three choices, and games of two by two.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core import check, memory, streams
from tacit.core.display import cell_text, exact
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine.drive import Engine
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.environments.play import Played, play, unroll
from tacit.evaluation.behaviour import behaviour, joint_actions
from tacit.evaluation.equilibria import enumerable, equilibria
from tacit.evaluation.gaps import evaluate
from tacit.evaluation.solve import solve
from tacit.evaluation.stage_game import deviation_gains, find_corners
from tacit.figures.style import COLORS, animate, axes_for, legend, name, new_axes, plain, styled, title
from tacit.games.showing import action_names, state_name, steps_played
from tacit.games.tabular import TabularGame
from tacit.learners import REGISTRY
from tacit.learners.several import is_interpreted
from tacit.learners.spec import is_exact

_FIRST = ("blue", "red", "green", "orange", "purple", "black")
_LINE = [COLORS[color] for color in (*_FIRST, *(color for color in COLORS if color not in _FIRST))]


def plot_policy(policy: Any, game: Any = None, *, ax: Any = None, size: tuple[float, float] | None = None) -> Any:
    """Draw what a policy plays: a joint distribution, or heat maps by step and state.

    Parameters
    ----------
    policy, game
        As for `policy.show`.
    ax : axes, or one for each agent; optional
    size : (float, float), optional

    Returns
    -------
    array of axes
    """
    game = policy.game if game is None else game
    if game is None:
        raise TacitError("names and what is reached are unknown; give the game: policy.plot(game)")
    play = behaviour(game, policy)
    names = [action_names(game, i) for i in range(game.agents)]
    with styled():
        if play.reach.size == 1 and (game.agents == 2 or play.joint is not None):
            axes = axes_for(ax, 1, size, (4.2, 3.6) if game.agents == 2 else (6.0, 4.2))
            joint = np.multiply.outer(*(m[0, 0] for m in play.marginals)) if play.joint is None else play.joint[0, 0]
            (draw_joint if game.agents == 2 else draw_joint_actions)(axes[0], joint, names)
            return axes
        agents = range(min(game.agents, 6))
        shown, left_out = play.likeliest_states(12)
        height = min(14.0, max(3.0, 0.9 + 0.19 * len(shown) * max(game.actions[i] for i in agents)))
        axes = axes_for(ax, len(agents), size, (4.6 * len(agents), height))
        states = [state_name(game, s) for s in shown]
        for panel, i in zip(axes, agents, strict=True):
            image = draw_policy(panel, play.marginals[i][:, shown], play.reach[:, shown], states, names[i])
            panel.set_title(f"agent {i}" if play.joint is None else f"agent {i}'s part of a joint draw")
        axes[-1].figure.colorbar(image, ax=list(axes), label="probability; pale: hardly reached")
        rest = {"agents": game.agents - len(agents), "states that are reached less": left_out}
        if words := " and ".join(f"{more} {what}" for what, more in rest.items() if more):
            axes[0].figure.text(0.01, 0.005, f"{words} are not shown", fontsize=8)
    return axes


def plot_simplex(paths: Sequence[Trajectory], *, ax: Any = None, size: Any = None) -> Any:
    """Draw how mixed actions of agents with three actions move, at the first step."""
    game = paths[0].game
    agents = [i for i in range(game.agents) if game.actions[i] == 3]
    if not agents:
        raise TacitError(f"an agent of the game must have three actions to be drawn in a triangle; got {game!r}")
    with styled():
        axes = axes_for(ax, len(agents), size, (4.2 * len(agents), 4.0))
        for panel, i in zip(axes, agents, strict=True):
            draw_simplex(panel, action_names(game, i))
            for path, color in _colored(paths):
                draw_path(panel, flat(_first(path, i)).T, label=path.learner, color=color)
            if enumerable(game):
                points = flat(np.stack([policy.probs[i][0, 0] for policy in equilibria(game).policies]))
                panel.plot(*points.T, "*", color=COLORS["black"], markersize=11, label="Nash equilibrium")
            title(panel, f"{name(game.name or 'a game')}: agent {i}")
            legend(panel)
    return axes


def plot_field(
    game: TabularGame,
    paths: Sequence[Trajectory] = (),
    policies: Sequence[Any] = (),
    *,
    ax: Any = None,
    size: tuple[float, float] | None = None,
) -> Any:
    """Draw the best responses of a 2×2 game, its equilibria, how learners move, and policies. Return the axes.

    A correlated policy is drawn where its marginals are.
    """
    check_small(game)
    with styled():
        (panel,) = axes_for(ax, 1, size, (5.2, 5.0))
        draw_field(panel, game.rewards[:, 0, 0], [action_names(game, i) for i in (0, 1)])
        for path, color in _colored(paths, 2):
            draw_path(panel, np.stack([_first(path, i)[:, 1] for i in (0, 1)]), label=path.learner, color=color)
        for k, policy in enumerate(policies):
            point = [float(behaviour(game, policy).marginals[i][0, 0, 1]) for i in (0, 1)]
            ring = {"markerfacecolor": "none", "markeredgewidth": 2, "color": _LINE[(k + 4) % len(_LINE)]}
            panel.plot(*point, "^", markersize=12, **ring, label=_policy_label(k, policies))
        nash = np.array([[policy.probs[i][0, 0, 1] for i in (0, 1)] for policy in equilibria(game).policies])
        panel.plot(*nash.T, "o", color=COLORS["black"], markersize=9, markerfacecolor="none", label="Nash equilibrium")
        title(panel, f"{name(game.name or 'a game')}: best responses")
        legend(panel, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return panel


def plot_polytope(
    game: TabularGame,
    paths: Sequence[Trajectory] = (),
    policies: Sequence[Any] = (),
    *,
    ax: Any = None,
    size: Any = None,
) -> Any:
    """Draw correlated and Nash equilibria of a 2×2 game, with learners' play and policies."""
    check_small(game)
    with styled():
        if ax is None:
            ax = new_axes(size=size or (6.0, 5.4), subplot_kw={"projection": "3d"})[0, 0]
        draw_polytope(ax, game.rewards[:, 0, 0], [action_names(game, i) for i in (0, 1)])
        nash = [np.multiply.outer(*(probs[0, 0] for probs in p.probs)).ravel() for p in equilibria(game).policies]
        points = (np.stack(nash) @ TETRAHEDRON).T
        ax.scatter(*points, color=COLORS["black"], s=36, label="Nash equilibrium", depthshade=False)

        for x, y, z in points.T:
            ax.plot([x, x], [y, y], [0, z], color="0.5", linewidth=0.8, linestyle=":")  # how high it is above the floor

        def ring(joint: FloatArray, color: str, label: str, **look: Any) -> None:
            """Mark a distribution by a ring, which is seen around what it lies upon."""
            look = {"facecolors": "none", "edgecolors": color, "linewidths": 2, **_once(ax, label), **look}
            ax.scatter(*(joint.ravel() @ TETRAHEDRON)[:, None], **look, depthshade=False)

        for path, color in _colored(paths, 1):
            label = f"{name(path.learner)}: play of {int(path.episode[-1]):,} episodes"
            ring(path.counts, color, label, marker="s", s=110)
        for k, policy in enumerate(policies):
            joint = behaviour(game, policy).joint
            label = _policy_label(k, policies)
            ring(
                (policy.joint(0) if joint is None else joint)[0], _LINE[(k + 4) % len(_LINE)], label, marker="^", s=150
            )
        title(ax, f"{name(game.name or 'a game')}: correlated equilibria", y=0.95)
        legend(ax, loc="upper center", bbox_to_anchor=(0.5, -0.04), ncols=2)
    return ax


#: Directions in which the borders of sets of payoffs are looked for.
_DIRECTIONS = 72


def plot_payoffs(game: TabularGame, *, ax: Any = None, size: tuple[float, float] | None = None) -> Any:
    """Draw the feasible, cce, ce and Nash payoffs of a two-player game played once."""
    if game.agents != 2 or game.states * game.horizon != 1:
        raise TacitError(f"payoffs must be of a game of two agents that is played once; got {game!r}")
    angles = np.linspace(0, 2 * np.pi, _DIRECTIONS, endpoint=False)
    sets = {"feasible": ("optimum", "0.85"), "cce": ("cce", COLORS["sky"]), "ce": ("ce", COLORS["blue"])}
    with styled():
        (panel,) = axes_for(ax, 1, size, (5.0, 4.6))
        for label, (concept, color) in sets.items():
            border = [solve(game, concept, weights=[np.cos(angle), np.sin(angle)]).values for angle in angles]
            points = np.stack([*border, border[0]])
            panel.fill(*points.T, facecolor=color, edgecolor=color, linewidth=2, alpha=0.6, label=label)
        nash = np.stack([evaluate(game, policy).values for policy in equilibria(game).policies])
        panel.plot(*nash.T, "o", color=COLORS["black"], markersize=7, label="Nash equilibrium")
        panel.set(xlabel="payoff of agent 0", ylabel="payoff of agent 1")
        title(panel, f"{name(game.name or 'a game')}: payoffs")
        legend(panel, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=4)
    return panel


def plot_play(game: TabularGame, policy: Any, *, seed: int = 0, ax: Any = None, size: Any = None) -> Any:
    """Draw an episode step by step: the state, what each agent does and earns."""
    game, policy = unroll(game, policy)
    played = play(game, policy, seed=seed)
    steps = min(24, steps_played(game, played.states[0, :, 0]))
    columns = min(5, steps)
    rows = -(-steps // columns)
    with styled():
        if ax is None:
            ax = new_axes(rows, columns, size=size or (2.6 * columns, 2.7 * rows))
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        for panel in axes[steps:]:
            panel.set_axis_off()
        for h, panel in enumerate(axes[:steps]):
            draw_step(panel, game, played, h)
    return axes


def draw_step(ax: Any, game: TabularGame, played: Played, h: int) -> Any:
    """Draw step h of the first episode that was played."""
    s, actions, rewards = int(played.states[0, h, 0]), played.actions[0, h], played.rewards[0, h]
    ax.clear()
    ax.grid(False)
    ax.set(xticks=[], yticks=[])
    if game.picture is not None:
        ax.imshow(game.picture(s), interpolation="nearest")
    else:
        plain(ax.text(0.5, 0.5, name(state_name(game, s)), ha="center", va="center", transform=ax.transAxes))
    words = [f"{i}: {name(action_names(game, i)[a])}" for i, a in enumerate(actions[:4])]
    shown = rewards[:1] if (rewards == rewards[0]).all() else rewards[:4]
    words.append("reward " + ", ".join(f"{r:g}" for r in shown))
    title(ax, f"step {h}: {name(state_name(game, s))}", fontsize=9)
    plain(ax.set_xlabel("\n".join(words), fontsize=8))
    return ax


def animate_play(
    game: TabularGame, policy: Any, place: str | os.PathLike[str], *, seed: int = 0, fps: float = 1.0
) -> Path:
    """Write an episode step by step as `.gif` or `.html`."""
    game, policy = unroll(game, policy)
    played = play(game, policy, seed=seed)
    with styled():
        ax = new_axes(size=(3.6, 3.8))[0, 0]
        frames = steps_played(game, played.states[0, :, 0])
        return animate(ax.figure, lambda h: draw_step(ax, game, played, h), frames, place, fps=fps)


def animate_learning(
    paths: Sequence[Trajectory], place: str | os.PathLike[str], *, frames: int = 60, fps: float = 12.0
) -> Path:
    """Write how mixed actions move while agents learn as `.gif` or `.html`.

    Agents of three actions move in triangles, those of a 2×2 game in a square.
    """
    game, episode = paths[0].game, paths[0].episode
    frames = check.integer("frames", frames, least=1, most=1000)
    marks = np.unique(np.linspace(0, len(episode) - 1, frames).round().astype(int))
    square = game.actions == (2, 2) and game.states == game.horizon == 1
    with styled():
        count = 1 if square else max(1, game.actions.count(3))
        axes = new_axes(1, count, size=(4.2 * count, 4.8 if square else 4.4))[0]

        if square:
            plot_field(game, paths, ax=axes[0])
        else:
            plot_simplex(paths, ax=axes)
        lines = [line for panel in axes for line in panel.lines if line.get_gid()]
        points = [line.get_data() for line in lines]  # of whole paths
        heading = axes[0].figure.suptitle(f"episode {int(episode[-1]):,}", fontsize=10)
        axes[0].figure.canvas.draw()
        axes[0].figure.set_layout_engine("none")  # nothing but paths moves from now on

        def draw(k: int) -> None:
            end = int(marks[k]) + 1
            for line, (x, y) in zip(lines, points, strict=True):
                begin = 0 if line.get_gid() == "path" else end - 1
                line.set_data(x[begin:end], y[begin:end])
            heading.set_text(f"episode {int(episode[end - 1]):,}")

        return animate(axes[0].figure, draw, len(marks), place, fps=fps)


def _colored(paths: Sequence[Trajectory], first: int = 0) -> list[tuple[Trajectory, str]]:
    """Return paths with their colours, one for each learner."""
    learners = list(dict.fromkeys(path.learner for path in paths))
    return [(path, _LINE[(learners.index(path.learner) + first) % len(_LINE)]) for path in paths]


def _once(ax: Any, label: str) -> dict[str, str]:
    """Return a label, unless the legend has it."""
    return {} if label in ax.get_legend_handles_labels()[1] else {"label": label}


def _first(path: Trajectory, i: int) -> FloatArray:
    """Return what agent i plays first in the likeliest first state, [T, A_i]."""
    return np.asarray(path.probs[i][:, 0, int(np.argmax(path.game.initial))])


def _policy_label(k: int, policies: Sequence[Any]) -> str:
    return f"policy {k}" if len(policies) > 1 else "policy"


_COLORS = "Blues"


def draw_joint(ax: Any, joint: FloatArray, names: Sequence[Sequence[str]]) -> Any:
    """Draw a joint distribution [A_1, A_2] with its numbers, and return the axes."""
    image = ax.imshow(joint, cmap=_COLORS, vmin=0, vmax=1)
    _ticks(ax.xaxis, names[1])
    _ticks(ax.yaxis, names[0])
    if joint.size <= 144:
        for (a, b), p in np.ndenumerate(joint):
            color = "white" if p > 0.6 else "black"
            ax.text(b, a, cell_text(exact(float(p), 3)), ha="center", va="center", color=color)
    ax.set(xlabel="agent 1", ylabel="agent 0", title="joint distribution")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, label="probability")
    return ax


#: Joint actions that are drawn.
_BARS = 24


def draw_joint_actions(ax: Any, joint: FloatArray, names: Sequence[Sequence[str]]) -> Any:
    """Draw the likeliest joint actions of a distribution [A_1, …, A_N] as bars. Return the axes."""
    played = joint_actions(joint)
    probs = [p for _, p in played[:_BARS]]
    ax.barh(range(len(probs)), probs, color=COLORS["blue"])
    _ticks(ax.yaxis, [", ".join(names[i][a] for i, a in enumerate(actions)) for actions, _ in played[:_BARS]])
    for k, p in enumerate(probs):
        ax.text(p, k, f" {cell_text(exact(p, 4))}", va="center", fontsize=8)
    ax.invert_yaxis()
    ax.margins(x=0.12)
    more = f" ({len(played) - _BARS} more)" if len(played) > _BARS else ""
    ax.set(xlabel="probability", title=f"joint actions of agents 0 to {joint.ndim - 1}{more}")
    return ax


def draw_policy(ax: Any, probs: FloatArray, reach: FloatArray, states: Sequence[str], actions: Sequence[str]) -> Any:
    """Draw an agent's probabilities [H, S, A]. Steps go to the right, states and actions downwards.

    What is hardly reached is pale; what is never reached is blank.
    """
    H, S, A = probs.shape
    shown = probs.transpose(1, 2, 0).reshape(S * A, H)
    alpha = np.repeat(np.where(reach > 0, 0.25 + 0.75 * np.minimum(1, 3 * reach), 0.0).T, A, axis=0)
    image = ax.imshow(shown, cmap=_COLORS, vmin=0, vmax=1, alpha=alpha, aspect="auto", interpolation="nearest")
    labels = [f"{s}: {a}" if S > 1 else a for s in states for a in actions]
    _ticks(ax.yaxis, *((labels,) if len(labels) <= 60 else (states, A)))
    for s in range(1, S):
        ax.axhline(s * A - 0.5, color="0.6", linewidth=0.6)
    ax.set(xticks=range(0, H, max(1, H // 12)), xlabel="step")
    ax.grid(False)
    return image


def _ticks(axis: Any, words: Sequence[str], apart: int = 1) -> None:
    axis.set_ticks(np.arange(len(words)) * apart)
    plain(*axis.set_ticklabels([name(word) for word in words], fontsize=8))


#: The corners of the triangle.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])


def flat(points: FloatArray) -> FloatArray:
    """Return distributions [n, 3] as points [n, 2] of the plane.

    >>> flat(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])).tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """
    return np.asarray(points @ CORNERS)


def draw_simplex(ax: Any, names: Sequence[str]) -> Any:
    """Draw the triangle with the names of its corners, and return the axes."""
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.4", linewidth=1)
    for corner, word in zip(CORNERS, names, strict=True):
        ax.plot(*np.stack([(CORNERS.sum(axis=0) - corner) / 2, corner]).T, color="0.85", linewidth=0.6, zorder=0)
        away = (corner - CORNERS.mean(axis=0)) * 0.12
        plain(ax.text(*(corner + away), name(word), ha="center", va="center", fontsize=9))
    ax.set(aspect="equal", xlim=(-0.15, 1.15), ylim=(-0.15, 1.05))
    ax.set_axis_off()
    return ax


def draw_path(ax: Any, points: FloatArray, *, label: str, color: str) -> Any:
    """Draw a path through points [2, n], from a ring to a dot."""
    (line,) = ax.plot(*points, color=color, linewidth=1.2, alpha=0.8, gid="path", **_once(ax, name(label)))
    mark = {"color": color, "markersize": 5, "linestyle": "none"}
    ax.plot(*points[:, :1], marker="o", markerfacecolor="none", **mark, **_once(ax, "start"))
    (end,) = ax.plot(*points, marker="o", gid="end", **mark, **_once(ax, "end"))
    end.set_markevery([-1])
    return line


def draw_field(ax: Any, payoffs: FloatArray, names: Sequence[Sequence[str]]) -> Any:
    """Draw where each player's payoff rises, and both best-response curves, over their mixtures.

    x and y are the probabilities of the second action of agent 0 and of agent 1. Arrows have the direction in which
    both gain by moving.
    """
    grid = np.linspace(0.04, 0.96, 13)
    x, y = np.meshgrid(grid, grid)
    first, second = _gain(payoffs[0], y), _gain(payoffs[1].T, x)
    length = np.hypot(first, second)
    scale = np.where(length > 0, length, 1.0) ** 0.6
    ax.quiver(x, y, first / scale, second / scale, color="0.65", width=0.003, pivot="mid")
    ax.plot([], [], linestyle="none", marker=r"$\rightarrow$", color="0.5", markersize=11, label="where each gains")
    for i, color in enumerate(("blue", "red")):
        for k, (mine, theirs) in enumerate(_responses(payoffs[0] if i == 0 else payoffs[1].T)):
            line = (mine, theirs) if i == 0 else (theirs, mine)
            label = f"best response of agent {i}" if k == 0 else None
            ax.plot(*line, color=COLORS[color], linewidth=2.2, label=label)
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
    plain(ax.set_xlabel(f"agent 0: P({name(names[0][1])})"), ax.set_ylabel(f"agent 1: P({name(names[1][1])})"))
    return ax


def _gain(payoff: FloatArray, other: FloatArray) -> FloatArray:
    """Return the second action's payoff minus the first's. `other` is the probability of the other's second."""
    return np.asarray((payoff[1, 0] - payoff[0, 0]) * (1 - other) + (payoff[1, 1] - payoff[0, 1]) * other)


def _responses(payoff: FloatArray) -> list[tuple[list[float], list[float]]]:
    """Return the best-response curve as pieces (own probability, the other's)."""
    at_0, at_1 = _gain(payoff, np.array(0.0)), _gain(payoff, np.array(1.0))
    if at_0 == at_1 == 0:
        return [([0, 1, 1, 0, 0], [0, 0, 1, 1, 0])]
    if at_0 * at_1 < 0:
        turn = float(at_0 / (at_0 - at_1))
        low, high = (0.0, 1.0) if at_0 < 0 else (1.0, 0.0)
        return [([low, low, high, high], [0.0, turn, turn, 1.0])]
    action = 1.0 if at_0 + at_1 > 0 else 0.0
    ties = [([0.0, 1.0], [other, other]) for other, gain in ((0.0, at_0), (1.0, at_1)) if gain == 0]
    return [([action, action], [0.0, 1.0]), *ties]


#: Corners of the tetrahedron of joint distributions, in the order of joint actions (0, 0), (0, 1), (1, 0), (1, 1).
TETRAHEDRON = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.866, 0.0], [0.5, 0.289, 0.816]])


#: On which side of a corner its label stands, as the tetrahedron is seen.
_SIDES = (("right", "center"), ("center", "top"), ("left", "center"), ("center", "bottom"))


def ce_vertices(payoffs: FloatArray) -> FloatArray:
    """Return the vertices [V, 4] of a 2×2 game's correlated equilibria, over joint actions.

    >>> ce_vertices(np.array([[[6.0, 2], [7, 0]], [[6, 7], [2, 0]]])).shape
    (5, 4)
    """
    return find_corners(deviation_gains(payoffs, "ce"), singular=1e-12)


def draw_polytope(ax: Any, payoffs: FloatArray, names: Sequence[Sequence[str]]) -> Any:
    """Draw the correlated equilibria of a 2×2 game in the tetrahedron of joint distributions."""
    for one, other in itertools.combinations(range(4), 2):
        ax.plot(*TETRAHEDRON[[one, other]].T, color="0.6", linewidth=0.8)
    ax.plot_trisurf(*TETRAHEDRON[:3].T, color="0.7", alpha=0.15, shade=False)  # the floor
    for k, (a, b) in enumerate(np.ndindex(2, 2)):
        away = (TETRAHEDRON[k] - TETRAHEDRON.mean(axis=0)) * 0.08  # clear of markers at the corner
        word = f"{name(names[0][a])},\n{name(names[1][b])}"
        plain(ax.text(*(TETRAHEDRON[k] + away), word, fontsize=8, ha=_SIDES[k][0], va=_SIDES[k][1]))
    corners = ce_vertices(payoffs) @ TETRAHEDRON
    _hull(ax, corners)
    ax.scatter(*corners.T, color=COLORS["blue"], s=16, label="corners of the ce polytope", depthshade=False)
    inside = np.linspace(0, 1, 12)
    x, y = np.meshgrid(inside, inside)
    product = np.stack([(1 - x) * (1 - y), (1 - x) * y, x * (1 - y), x * y], axis=-1) @ TETRAHEDRON
    ax.plot_wireframe(*np.moveaxis(product, -1, 0), color=COLORS["orange"], linewidth=0.4, alpha=0.7)
    ax.plot([], [], color=COLORS["orange"], linewidth=0.8, label="product policies")
    ax.set_axis_off()
    ax.set_box_aspect((1, 0.87, 0.82), zoom=1.2)
    return ax


#: Where the light comes from that shades a polytope.
_LIGHT = np.array([-0.5, -0.6, 0.62])


def _hull(ax: Any, corners: FloatArray) -> None:
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection
    from scipy.spatial import ConvexHull, QhullError

    if len(corners) < 3:
        ax.plot(*corners.T, color=COLORS["blue"], linewidth=2)
        return
    bright = np.ones(1)
    try:
        hull = ConvexHull(corners)
        faces, bright = [corners[face] for face in hull.simplices], 0.75 + 0.35 * hull.equations[:, :3] @ _LIGHT
    except QhullError:  # all in one plane
        middle = corners.mean(axis=0)
        plane = (corners - middle) @ np.linalg.svd(corners - middle)[2][:2].T
        faces = [corners[np.argsort(np.arctan2(plane[:, 1], plane[:, 0]))]]
    colors = np.clip(np.outer(bright, to_rgb(COLORS["sky"])), 0, 1)
    ax.add_collection3d(
        Poly3DCollection(faces, facecolors=colors, alpha=0.7, edgecolors=COLORS["blue"], linewidths=0.6)
    )


def check_small(game: Any) -> None:
    """Raise unless a game is 2×2 with one state and one step. Name another picture."""
    if tuple(game.actions) == (2, 2) and game.states == game.horizon == 1:
        return
    instead = ["policy (what a solution plays: --concept ce)"]
    if 3 in game.actions:
        instead.insert(0, "simplex (mixtures of three actions)")
    raise TacitError(
        f"{game!r} is not a game of two agents with two actions each, one state and one step; "
        f"of this game there can be drawn: {', '.join(instead)}"
    )


# what agents play while they learn ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What agents play as they learn.

    Attributes
    ----------
    learner : str
    episode : int array [T]
    probs : tuple of arrays [T, H, S, A_i]
        Each agent's distributions after so many episodes.
    counts : array [A_1, …, A_N]
        How likely each joint action was at the first step, on average over these episodes: in a game of one state and
        step this approaches the (coarse) correlated equilibria of no-regret learners. Of fictitious play, how often it
        was played.
    """

    game: TabularGame
    learner: str
    episode: IntArray
    probs: tuple[FloatArray, ...]
    counts: FloatArray


#: Dynamics of agents who know the payoffs.
DYNAMICS = ("fictitious-play", "replicator", "best-response")


def trajectory(
    game: TabularGame, learner: str, *, episodes: int = 2000, points: int = 200, seed: int = 0, **params: Any
) -> Trajectory:
    """Let agents learn as `tacit.learn` does, and record what they play; `DYNAMICS` are known too.

    >>> import tacit
    >>> from tacit.figures.pictures import trajectory
    >>> path = trajectory(tacit.make("shapley"), "fictitious-play", episodes=100, points=20)
    >>> path.probs[0].shape
    (21, 1, 1, 3)
    """
    episodes = check.integer("episodes", episodes)
    points = min(check.integer("points", points), episodes)
    marks = np.unique(np.linspace(0, episodes, points + 1).round().astype(np.int64))
    if learner in DYNAMICS:
        return _follow(game, learner, marks, seed)
    spec = REGISTRY.make(learner, **params)
    if is_interpreted(spec):
        raise TacitError(f"{learner} has no kernels; paths are drawn of learners in the compiled loop")
    exact = is_exact(spec)
    played = game if exact else game.to_random_horizon()  # of a discounted game
    kind: Any = ExactEngine if exact else FusedEngine
    engine: Engine = kind(played, spec, episodes=episodes, seed=seed)
    paths = [memory.zeros((len(marks), played.horizon, played.states, a), "the trajectory") for a in game.actions]
    joint = np.zeros(game.joint_actions)
    for place, more in enumerate(np.diff(marks, prepend=0)):
        if more:
            engine.advance(int(more))
        now = engine.policy(engine.distributions())
        for path, probs in zip(paths, now.probs, strict=True):
            path[place] = probs
        joint += dot(played.initial, now.joint(0).reshape(played.states, -1))
    return Trajectory(game, learner, marks, tuple(paths), (joint / joint.sum()).reshape(game.actions))


#: How much time one step of the continuous dynamics takes, where payoffs differ by 1 at most.
_TIME = 0.02


def _replicate(play: list[FloatArray], gains: Sequence[FloatArray], time: float) -> list[FloatArray]:
    """Let what pays more be played more, for some time."""
    weights = [probs * np.exp(time * (gain - gain.max())) for probs, gain in zip(play, gains, strict=True)]
    return [weight / weight.sum() for weight in weights]


def _follow(game: TabularGame, rule: str, marks: IntArray, seed: int) -> Trajectory:
    """Follow dynamics of two agents who know the payoffs, from a random start."""
    if (game.agents, game.states, game.horizon) != (2, 1, 1):
        raise TacitError(f"{rule} must have a two-player game of one state and step; got {game!r}")
    payoffs = game.rewards[:, 0, 0]
    time = _TIME / max(float(np.ptp(payoffs)), 1e-300)
    rng = streams.stream(seed, streams.START)
    play = [rng.dirichlet(np.ones(a)) for a in game.actions]
    paths = [np.zeros((len(marks), 1, 1, a)) for a in game.actions]
    joint = np.zeros(game.actions)
    place = 0
    for k in range(int(marks[-1]) + 1):
        if k == marks[place]:
            for path, probs in zip(paths, play, strict=True):
                path[place, 0, 0] = probs
            place += 1
        gains = payoffs[0] @ play[1], play[0] @ payoffs[1]
        replies = [np.eye(len(gain))[gain.argmax()] for gain in gains]
        if k < marks[-1]:
            joint += np.outer(*(replies if rule == "fictitious-play" else play))
        if rule == "replicator":
            middle = _replicate(play, gains, time / 2)  # by the midpoint rule, which hardly drifts
            play = _replicate(play, (payoffs[0] @ middle[1], middle[0] @ payoffs[1]), time)
        else:
            rate = _TIME if rule == "best-response" else 1 / (k + 2)
            play = [probs + rate * (reply - probs) for probs, reply in zip(play, replies, strict=True)]
    return Trajectory(game, rule.replace("-", " "), marks, tuple(paths), joint / joint.sum())
