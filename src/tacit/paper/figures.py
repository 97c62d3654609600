"""The figures of the paper, made anew from runs. [Mao2022, fig:main, fig:1, fig:2]

Runs come by group ("V-Learning", "PG", "Centralized", "Independent, caption", …) and setting, as the experiments in
`papers/mao2022` label them. A group has one colour in all figures, its settings differ in their lines, and legends name
the setting.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from tacit.experiments import Outcome
from tacit.figures.curves import plot_band
from tacit.figures.style import COLORS, styled
from tacit.paper.measured import SURE, Task, name_averaged, papers_column, papers_gap

#: The runs of each setting of each group.
Variants = Mapping[str, Mapping[str, Sequence[Outcome]]]

_GROUP_COLORS = {
    "V-Learning": COLORS["blue"],
    "PG": COLORS["red"],
    "Centralized": COLORS["black"],
    "Independent, caption": COLORS["orange"],
    "Independent, appendix": COLORS["purple"],
}
_OTHER_COLORS = (COLORS["sky"], COLORS["green"])  # of what departs from print
_LINES = ("-", "--")


def team_figure(variants: Variants) -> Figure:
    """Draw L² gap and value of last iterate and average: a row for the first setting of each group. [Mao2022, fig:1]"""
    shown = [(group, *next(iter(held.items()))) for group, held in variants.items()]
    with styled():
        figure = Figure(figsize=(9.5, 0.4 + 3.2 * len(shown)))
        for row, (group, setting, runs) in zip(figure.subplots(len(shown), 2, squeeze=False), shown, strict=True):
            _team_row(runs, axes=row, title=f"{group}: {setting}")
    return figure


def _team_row(runs: Sequence[Outcome], *, axes: Sequence[Any], title: str) -> None:
    lines = {"Last iterate": ("", COLORS["red"]), f"Average of {name_averaged(runs)}": ("average_", COLORS["green"])}
    for ax, column, words in ((axes[0], "l2_gap", "L² equilibrium gap"), (axes[1], "value", "expected reward")):
        for label, (prefix, color) in lines.items():
            plot_band(runs, f"{prefix}{column}", ax=ax, label=label, color=color)
        ax.set(xlabel="round", ylabel=words)
        ax.set_title(title, fontsize=9)
        ax.legend(title=f"mean ± sd, {len(runs)} seeds", fontsize=8, title_fontsize=8)
    axes[0].set_ylim(0, None)


def task_figure(variants: Variants, task: Task) -> Figure:
    """Draw the rewards of all algorithms [Mao2022, fig:2], and beside them gaps where all are exact or certified."""
    bounds = [papers_gap(run) for held in variants.values() for runs in held.values() for run in runs]
    gaps = all(bound is not None and bound.source in SURE for bound in bounds)
    with styled():
        figure = Figure(figsize=(13, 5.2) if gaps else (11, 4.4))
        axes = figure.subplots(1, 2 if gaps else 1, squeeze=False)[0]
        _plot_rewards(variants, ax=axes[0], task=task)
        if gaps:
            _plot_gaps(variants, ax=axes[1], task=task)
            handles, labels = axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9)
        else:
            axes[0].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)
    return figure


def _plot_rewards(variants: Variants, *, ax: Any, task: Task) -> None:
    for label, runs, look in _shown(variants):
        plot_band(runs, "reward", ax=ax, label=label, **look)
    name = f"exact optimum {task.optimum:.4g}"
    ax.axhline(task.optimum, color=COLORS["black"], linestyle=":", linewidth=1, label=name)
    ax.set(xlabel="episode", ylabel="reward in an episode")
    ax.set_title(f"{task.name}: reward, mean ± sd of {_seeds(variants)} seeds", fontsize=10)
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def _plot_gaps(variants: Variants, *, ax: Any, task: Task) -> None:
    for label, runs, look in _shown(variants):
        plot_band(runs, papers_column(runs[0]), ax=ax, label=label, band="quartiles", **look)
    ax.set(xlabel="episode", ylabel="gap: V-Learning certified cce, others nash")
    ax.set_title(f"{task.name}: gap, median and quartiles of {_seeds(variants)} seeds", fontsize=10)
    ax.yaxis.label.set_size(9)
    ax.set_yscale("symlog", linthresh=0.1)
    ax.set_ylim(0, None)
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def _shown(variants: Variants) -> Iterator[tuple[str, Sequence[Outcome], dict[str, Any]]]:
    """Yield label, runs and look: of the first setting of each group, and of the first two of Independent's."""
    others = iter(_OTHER_COLORS)
    for group, held in variants.items():
        color = _GROUP_COLORS.get(group) or next(others, COLORS["sky"])
        settings = list(held.items())[: 2 if group.startswith("Independent") else 1]
        for (setting, runs), line in zip(settings, _LINES, strict=False):
            yield f"{group}: {setting}", runs, {"color": color, "linestyle": line}


def _seeds(variants: Variants) -> int:
    return len(next(iter(next(iter(variants.values())).values())))
