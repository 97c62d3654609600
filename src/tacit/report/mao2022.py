"""The figures of the paper, made anew from runs. [Mao2022, fig:main, fig:1, fig:2]

Results are dictionaries from a label of the paper ("V-Learning", "PG", "Centralized", "Independent") to its runs, one
for each seed. Every label has one colour, in all figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit.experiments import Outcome
from tacit.report.bands import plot_band
from tacit.report.style import COLORS

Results = Mapping[str, Sequence[Outcome]]

LABEL_COLORS = {
    "V-Learning": COLORS["blue"],
    "PG": COLORS["red"],
    "Centralized": COLORS["black"],
    "Independent": COLORS["orange"],
    "Last Iterate": COLORS["red"],
    "Average": COLORS["green"],
}


def plot_label(runs: Sequence[Outcome], column: str, *, ax: Any, label: str, band: str = "sd") -> Any:
    """Draw one column of a label's runs in its colour."""
    plot_band(runs, column, ax=ax, band=band, label=label, color=LABEL_COLORS[label])
    return ax


def plot_matrix_team(runs: Sequence[Outcome], *, axes: Sequence[Any]) -> None:
    """Draw the L² equilibrium gap and the reward of last iterate and average. [Mao2022, fig:1]"""
    gap, reward = axes
    plot_label(runs, "l2_gap", ax=gap, label="Last Iterate")
    plot_label(runs, "average_l2_gap", ax=gap, label="Average")
    plot_label(runs, "value", ax=reward, label="Last Iterate")
    plot_label(runs, "average_value", ax=reward, label="Average")
    gap.set(xlabel="round", ylabel="L² equilibrium gap", title="Matrix team: equilibrium gap", ylim=(0, None))
    reward.set(xlabel="round", ylabel="expected reward", title="Matrix team: reward")
    for ax in axes:
        ax.legend(title=f"mean ± sd, {len(runs)} seeds")


def plot_rewards(results: Results, *, ax: Any, title: str, optimum: float) -> Any:
    """Draw the rewards of all algorithms on a task. [Mao2022, fig:2]"""
    for label, runs in results.items():
        plot_label(runs, "reward", ax=ax, label=label)
    ax.axhline(optimum, color=COLORS["black"], linestyle=":", linewidth=1, label=f"exact optimum {optimum:.4g}")
    seeds = len(next(iter(results.values())))
    ax.set(xlabel="episode", ylabel="reward in an episode", title=title)
    ax.legend(title=f"mean ± sd, {seeds} seeds", loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    return ax


def plot_gaps(results: Results, *, ax: Any, title: str) -> Any:
    """Draw beyond the paper: the certified cce gap of V-learning, and nash gaps of the others' last iterates."""
    for label, runs in results.items():
        plot_label(runs, "gap", ax=ax, label=label, band="quartiles")
    seeds = len(next(iter(results.values())))
    ax.set(xlabel="episode", ylabel="equilibrium gap", title=title)
    ax.set_yscale("symlog", linthresh=0.1)
    ax.set_ylim(0, None)
    handles, labels = ax.get_legend_handles_labels()
    kinds = [f"{name}: {'certified cce, ≤' if name == 'V-Learning' else 'nash, exact'}" for name in labels]
    legend_title = f"median and quartiles, {seeds} seeds"
    ax.legend(handles, kinds, title=legend_title, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=8)
    return ax
