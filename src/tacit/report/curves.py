"""Curves over episodes: a mean line over seeds with a band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import LogFormatter

from tacit.core.errors import TacitError
from tacit.play import Run


def plot_reward(runs: Sequence[Run], *, ax: Any, label: str, color: str | None = None) -> Any:
    """Draw the mean reward of agent 0 over seeds, with a band of one standard deviation."""
    return _band(runs, "reward", ax, label, color)


def plot_gap(runs: Sequence[Run], *, ax: Any, label: str, color: str | None = None) -> Any:
    """Draw the bound on the gap over seeds on log–log axes, with a band of one standard deviation."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    _band(runs, "gap", ax, label, color)
    for formatter in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
        formatter(LogFormatter(labelOnlyBase=False, minor_thresholds=(2, 0.5)))
    return ax


def _band(runs: Sequence[Run], column: str, ax: Any, label: str, color: str | None) -> Any:
    if not len(runs):
        raise TacitError("runs is empty; there must be at least one to draw")
    x = runs[0].curve["episode"]
    if any(len(run.curve) != len(x) or (run.curve["episode"] != x).any() for run in runs):
        raise TacitError("the runs have different episodes on their curves; draw those of one experiment together")
    y = np.stack([run.curve[column] for run in runs])
    mean, std = y.mean(axis=0), y.std(axis=0, ddof=1) if len(y) > 1 else np.zeros(y.shape[1])
    (line,) = ax.plot(x, mean, color=color, label=f"{label} (mean ± sd, {len(runs)} seeds)")
    ax.fill_between(x, mean - std, mean + std, color=line.get_color(), alpha=0.2, linewidth=0)
    ax.set_xlabel("episode")
    return ax
