"""Probabilities as heat maps: a policy by step and state, a joint distribution with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.table import number
from tacit.core.types import FloatArray
from tacit.drawing.style import name, plain

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
