"""Pictures of games, policies and learning, from objects: each takes axes, or makes them, and returns them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.trajectory import Trajectory, trajectory
from tacit.environments.play import Played, play
from tacit.evaluation.behaviour import behaviour
from tacit.evaluation.equilibria import enumerable, equilibria
from tacit.figures.curves import legend
from tacit.figures.mixtures import (
    TETRAHEDRON,
    check_small,
    draw_field,
    draw_joint,
    draw_path,
    draw_policy,
    draw_polytope,
    draw_simplex,
    flat,
)
from tacit.figures.style import COLORS, animate, name, new_axes, plain, styled
from tacit.games.showing import action_names, state_name
from tacit.games.tabular import TabularGame

_LINE = (COLORS["blue"], COLORS["red"], COLORS["green"], COLORS["orange"], COLORS["purple"], COLORS["black"])


def plot_policy(policy: Any, game: Any = None, *, ax: Any = None, size: tuple[float, float] | None = None) -> Any:
    """Draw what a policy plays: of one place the joint distribution, else a heat map by step and state for each agent.

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
        raise TacitError("nobody knows the names and what is reached; give the game: policy.plot(game)")
    found = behaviour(game, policy)
    H, S = found.reach.shape
    names = [action_names(game, i) for i in range(game.agents)]
    with styled():
        if H * S == 1 and game.agents == 2:
            axes = _axes(ax, 1, size, (4.2, 3.6))
            joint = (
                found.joint[0, 0] if found.joint is not None else np.multiply.outer(*(m[0, 0] for m in found.marginals))
            )
            image = draw_joint(axes[0], joint, names)
            axes[0].set_title("joint distribution")
            axes[0].figure.colorbar(image, ax=axes[0], label="probability")
            return axes
        agents = range(min(game.agents, 6))
        reached = [s for s in range(S) if found.reach[:, s].any()]
        shown = sorted(reached, key=lambda s: -found.reach[:, s].sum())[:12]
        shown.sort()
        height = min(14.0, max(3.0, 0.9 + 0.19 * len(shown) * max(game.actions[i] for i in agents)))
        axes = _axes(ax, len(agents), size, (4.6 * len(agents), height))
        for own, i in zip(axes, agents, strict=True):
            states = [state_name(game, s) for s in shown]
            image = draw_policy(own, found.marginals[i][:, shown], found.reach[:, shown], states, names[i])
            own.set_title(f"agent {i}")
        axes[-1].figure.colorbar(image, ax=list(axes), label="probability; pale: hardly reached")
        left = len(reached) - len(shown)
        if left:
            axes[0].figure.text(0.01, 0.005, f"{left} states that are reached less are not shown", fontsize=8)
    return axes


def plot_simplex(paths: Trajectory | Sequence[Trajectory], *, ax: Any = None, size: Any = None) -> Any:
    """Draw how the mixed actions of agents with three actions move, at the first step in the likeliest first state."""
    held = [paths] if isinstance(paths, Trajectory) else list(paths)
    game = held[0].game
    agents = [i for i in range(game.agents) if game.actions[i] == 3]
    if not agents:
        raise TacitError(f"{game!r} has no agent with three actions, whose mixtures a triangle could show")
    with styled():
        axes = _axes(ax, len(agents), size, (4.2 * len(agents), 4.0))
        for own, i in zip(axes, agents, strict=True):
            draw_simplex(own, action_names(game, i))
            for k, path in enumerate(held):
                draw_path(own, _first(path, i), label=path.learner, color=_LINE[k % len(_LINE)])
            _mark_nash(own, game, i)
            own.set_title(f"{name(game.name or 'a game')}: agent {i}")
            plain(own.title)
            legend(own)
    return axes


def plot_field(
    game: TabularGame,
    paths: Sequence[Trajectory] = (),
    policies: Sequence[Any] = (),
    *,
    ax: Any = None,
    size: tuple[float, float] | None = None,
) -> Any:
    """Draw the best responses of a 2×2 game, its equilibria, how learners move, and policies; return the axes.

    A correlated policy is drawn where its marginals are.
    """
    check_small(game)
    names = [action_names(game, i) for i in (0, 1)]
    with styled():
        (own,) = _axes(ax, 1, size, (5.2, 5.0))
        draw_field(own, game.rewards[:, 0, 0], names)
        for k, path in enumerate(paths):
            points = np.stack([_first(path, i)[:, 1] for i in (0, 1)])
            color = _LINE[(k + 2) % len(_LINE)]
            own.plot(*points, color=color, linewidth=1.4, label=f"{name(path.learner)}: path")
            end = {"linestyle": "none", "marker": "s", "color": color, "markersize": 6}
            own.plot(*points[:, -1:], **end, label=f"{name(path.learner)}: end")
        for k, policy in enumerate(policies):
            at = [float(behaviour(game, policy).marginals[i][0, 0, 1]) for i in (0, 1)]
            ring = {"markerfacecolor": "none", "markeredgewidth": 2, "color": _LINE[(k + 4) % len(_LINE)]}
            own.plot(*at, "^", markersize=12, **ring, label=_policy_label(k, policies))
        every = equilibria(game)
        x = [float(policy.probs[0][0, 0, 1]) for policy in every.policies]
        y = [float(policy.probs[1][0, 0, 1]) for policy in every.policies]
        own.plot(x, y, "o", color=COLORS["black"], markersize=9, markerfacecolor="none", label="nash equilibrium")
        own.set_title(f"{name(game.name or 'a game')}: best responses")
        plain(own.title)
        below = own.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
        plain(*below.get_texts())
    return own


def plot_polytope(
    game: TabularGame,
    paths: Sequence[Trajectory] = (),
    policies: Sequence[Any] = (),
    *,
    ax: Any = None,
    size: Any = None,
) -> Any:
    """Draw the correlated equilibria of a 2×2 game, with its Nash equilibria, play of learners, and policies."""
    check_small(game)
    names = [action_names(game, i) for i in (0, 1)]
    with styled():
        if ax is None:
            ax = new_axes(size=size or (6.0, 5.4), subplot_kw={"projection": "3d"})[0, 0]
        draw_polytope(ax, game.rewards[:, 0, 0], names)
        found = np.stack(
            [np.multiply.outer(*(own[0, 0] for own in p.probs)).ravel() for p in equilibria(game).policies]
        )
        ax.scatter(*(found @ TETRAHEDRON).T, color=COLORS["black"], s=36, label="nash equilibrium", depthshade=False)
        for k, path in enumerate(paths):
            point = path.counts.ravel() @ TETRAHEDRON
            color = _LINE[(k + 1) % len(_LINE)]
            label = f"{name(path.learner)}: play of {int(path.episode[-1]):,} episodes"
            ring = {"facecolors": "none", "edgecolors": color, "linewidths": 2, "marker": "s", "s": 110}
            ax.scatter(*point[:, None], **ring, label=label, depthshade=False)  # seen around what it lies upon
        for k, policy in enumerate(policies):
            joint = behaviour(game, policy)
            point = (joint.joint if joint.joint is not None else policy.joint(0))[0].ravel() @ TETRAHEDRON
            color = _LINE[(k + 4) % len(_LINE)]
            ring = {"facecolors": "none", "edgecolors": color, "linewidths": 2, "marker": "^", "s": 150}
            ax.scatter(*point[:, None], **ring, label=_policy_label(k, policies), depthshade=False)
        ax.set_title(f"{name(game.name or 'a game')}: correlated equilibria")
        plain(ax.title)
        drawn = ax.legend(fontsize=8, frameon=False, loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2)
        plain(*drawn.get_texts())
    return ax


def plot_play(game: TabularGame, policy: Any, *, seed: int = 0, ax: Any = None, size: Any = None) -> Any:
    """Draw an episode step by step: the state's picture where the game has one, what each agent does and earns."""
    played = play(game, policy, seed=seed)
    steps = min(24, game.horizon)
    columns = min(5, steps)
    rows = -(-steps // columns)
    with styled():
        if ax is None:
            axes = new_axes(rows, columns, size=size or (2.6 * columns, 2.7 * rows)).ravel()
        else:
            axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        for own in axes[steps:]:
            own.set_axis_off()
        for h, own in enumerate(axes[:steps]):
            draw_step(own, game, played, h)
    return axes


def draw_step(ax: Any, game: TabularGame, played: Played, h: int) -> Any:
    """Draw step h of the first episode that was played."""
    s, actions, rewards = int(played.states[0, h, 0]), played.actions[0, h], played.rewards[0, h]
    ax.clear()
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks([])
    if game.picture is not None:
        ax.imshow(game.picture(s), interpolation="nearest")
    else:
        plain(ax.text(0.5, 0.5, name(state_name(game, s)), ha="center", va="center", transform=ax.transAxes))
    acts = "\n".join(f"{i}: {name(action_names(game, i)[a])}" for i, a in enumerate(actions[:4]))
    team = bool((rewards == rewards[0]).all())
    paid = f"{rewards[0]:g}" if team else ", ".join(f"{r:g}" for r in rewards[:4])
    plain(ax.set_title(f"step {h}: {name(state_name(game, s))}", fontsize=9))
    plain(ax.set_xlabel(f"{acts}\nreward {paid}", fontsize=8))
    return ax


def animate_play(
    game: TabularGame, policy: Any, place: str | os.PathLike[str], *, seed: int = 0, fps: float = 1.0
) -> Path:
    """Write an episode step by step as `.gif` or `.html`."""
    played = play(game, policy, seed=seed)
    with styled():
        ax = new_axes(size=(3.6, 3.8))[0, 0]
        return _close(
            animate(ax.figure, lambda h: _nothing(draw_step(ax, game, played, h)), game.horizon, place, fps=fps), ax
        )


def animate_learning(
    paths: Trajectory | Sequence[Trajectory], place: str | os.PathLike[str], *, frames: int = 60, fps: float = 12.0
) -> Path:
    """Write how mixed actions move while agents learn as `.gif` or `.html`.

    On triangles for agents of three actions, in the square for 2×2 games, otherwise as bars of what each agent plays
    at the first step.
    """
    held = [paths] if isinstance(paths, Trajectory) else list(paths)
    game = held[0].game
    frames = check.integer("frames", frames, least=1, most=1000)
    marks = np.unique(np.linspace(0, len(held[0].episode) - 1, frames).round().astype(int))
    square = game.actions == (2, 2) and game.states == game.horizon == 1
    triangles = not square and all(a == 3 for a in game.actions)
    with styled():
        count = 1 if square else min(game.agents, 4)
        axes = new_axes(1, count, size=(4.2 * count, 4.4 if not square else 4.8))[0]

        def draw(k: int) -> None:
            upto = int(marks[k]) + 1
            cut = [
                Trajectory(p.game, p.learner, p.episode[:upto], tuple(own[:upto] for own in p.probs), p.counts)
                for p in held
            ]
            for own in axes:
                own.clear()
            if square:
                plot_field(game, cut, ax=axes[0])
            elif triangles:
                plot_simplex(cut, ax=axes)
            else:
                _bars(axes, cut[0])
            axes[0].figure.suptitle(f"episode {int(held[0].episode[upto - 1]):,}", fontsize=10)

        return _close(animate(axes[0].figure, draw, len(marks), place, fps=fps), axes[0])


def learned_paths(game: TabularGame, learners: Sequence[str], **options: Any) -> list[Trajectory]:
    """Return the trajectory of each learner."""
    return [trajectory(game, learner, **options) for learner in learners]


def _bars(axes: Any, path: Trajectory) -> None:
    for own, i in zip(axes, range(path.game.agents), strict=False):
        own.bar(range(path.game.actions[i]), _first(path, i)[-1], color=_LINE[i % len(_LINE)])
        own.set_ylim(0, 1)
        own.set_xticks(range(path.game.actions[i]))
        plain(*own.set_xticklabels([name(word) for word in action_names(path.game, i)], fontsize=8))
        own.set_title(f"agent {i} at step 0")


def _first(path: Trajectory, i: int) -> FloatArray:
    """Return what agent i plays at the first step in the likeliest first state, [T, A_i]."""
    found: FloatArray = path.probs[i][:, 0, int(np.argmax(path.game.initial))]
    return found


def _mark_nash(ax: Any, game: TabularGame, i: int) -> None:
    if enumerable(game):
        points = flat(np.stack([policy.probs[i][0, 0] for policy in equilibria(game).policies]))
        ax.plot(*points.T, "*", color=COLORS["black"], markersize=11, linestyle="none", label="nash equilibrium")


def _axes(ax: Any, count: int, size: tuple[float, float] | None, usual: tuple[float, float]) -> Any:
    if ax is None:
        return new_axes(1, count, size=size or usual)[0]
    given = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(given) != count:
        raise TacitError(f"ax has {len(given)} axes, and {count} are needed")
    return given


def _policy_label(k: int, policies: Sequence[Any]) -> str:
    return f"policy {k}" if len(policies) > 1 else "policy"


def _nothing(_: Any) -> None:
    """Frames return nothing."""


def _close(path: Path, ax: Any) -> Path:
    from matplotlib import pyplot

    pyplot.close(ax.figure)
    return path
