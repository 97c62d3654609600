"""What is written of the reproduction: a Markdown page with verdicts, measurements and rules, a CSV file, and figures.

[Mao2022, fig:main, fig:1, fig:2] Runs come by group ("V-Learning", "PG", "Centralized", "Independent, caption", …) and
setting, as the experiments in `papers/mao2022` label them. A group has one colour in all figures, its settings differ
in their lines, and legends name the setting.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from claims import (
    HOLDS,
    INTERVALS,
    RULES,
    Claim,
    Groups,
    TeamGroups,
    episodes_asked,
    is_promised,
)
from measures import SURE, Task, name_averaged, papers_column, papers_gap
from tacit.experiments import Outcome
from tacit.experiments.results import Summary
from tacit.figures.curves import plot_band
from tacit.figures.style import COLORS, styled

_ROWS = (
    "A row is a claim on one task, with one reading of it. Settings are those that the paper leaves open; each claim "
    'has its rule in numbers, at the end of this page. "Independent" is read as in the caption of the figure (greedy '
    "Q-learning) or as in the appendix (UCB-ADVANTAGE), which differ."
)


def page(
    claims: Sequence[Claim],
    tables: Sequence[str],
    settings: Mapping[str, str],
    seeds: Mapping[str, int],
    summary: Sequence[str] = (),
) -> str:
    """Write everything as Markdown, the summary first."""
    told = ", ".join(f"{name} {count}" for name, count in seeds.items())
    lines = [
        "# The paper's empirical claims",
        "",
        *(f"- {line}" for line in summary),
        *([""] if summary else []),
        f"Written by `papers/mao2022/reproduce.py`. Seeds: {told}. {INTERVALS}",
        "",
        _ROWS,
        "",
        *_verdicts(claims),
        "",
        *tables,
        "## Rules",
        "",
        "They were written down before the runs. A claim holds if it does in every setting of a group, depends on the "
        "setting if it does in some, and does not hold if it does in none.",
        "",
    ]
    used = dict.fromkeys(claim.rule for claim in claims)
    lines += [f"- *{RULES[key][0].format(which='…')}*: {RULES[key][1]}." for key in used]
    lines += ["", "## Settings", ""]
    lines += [f"- {name}: {text}" for name, text in settings.items()]
    return "\n".join(lines) + "\n"


def _verdicts(claims: Sequence[Claim]) -> list[str]:
    rows = []
    for claim in claims:
        verdict = claim.verdict if claim.verdict == HOLDS else f"**{claim.verdict}**"
        where = "all that were run" if claim.verdict == HOLDS and len(claim.checks) > 1 else claim.where
        rows.append(f"{claim.says} | {claim.task} | {claim.reading} | {verdict} | {where}")
    return _table('the paper says | task | reading of "Independent" | verdict | holds with', rows)


def task_table(task: Task, groups: Groups) -> str:
    """Write what was measured on a Markov game."""
    rows = []
    for name, held in groups.items():
        for one in held:
            gap = "" if one.gap is None else f"{one.gap.mean:.3g}"
            theorem = f"{episodes_asked(one, task):.1e}" if is_promised(one, task) else "none"
            theorem = theorem if gap and name.startswith(("V-Learning", "PG")) else ""
            reward = f"{tell(one.reward)} | {one.share:.0%} | {one.moves:+.1%} | {one.when:,}"
            rows.append(f"{name} | {one.setting} | {reward} | {gap} | {theorem}")
    return _section(
        task.name,
        f"Exact optimum {task.optimum:.2f}; random play {task.random:.2f}, with a gap of {task.random_gap:.2f}. "
        '"Share" is of what there is to gain, "moves" how far the mean reward moves from the last fifth but one to the '
        'last as a share of the same, "95 % at" the episode with 95 % of its own gain. Gaps are certified cce gaps '
        "(V-Learning, upper bounds) and exact nash gaps of the last iterate; beside them the episodes that the theorem "
        "asks for to reach them, or none where it promises nothing because D is infinite.",
        "algorithm | setting | reward | share | moves | 95 % at | gap | theorem",
        rows,
    )


def team_table(task: Task, groups: TeamGroups) -> str:
    """Write what was measured on the matrix team."""
    first = next(iter(groups.values()))[0]
    rows = []
    for name, held in groups.items():
        for one in held:
            gaps = f"{tell(one.l2_gap, 3)} | {tell(one.average_l2_gap, 3)}"
            values = f"{tell(one.value)} | {tell(one.average_value)}"
            ends = f"{one.optimal:.0%} | {one.elsewhere:.0%} | {one.others:.2f}"
            rows.append(f"{name} | {one.setting} | {gaps} | {values} | {ends}")
    return _section(
        task.name,
        f'After {first.episodes} rounds, {first.runs} runs. "Average" is the mean over {first.averaged}. Uniform play '
        f'has an L² gap of {task.random_l2_gap:.2f}. "Optimal" and "elsewhere" are the shares of runs that end in an '
        'optimal and in a non-optimal equilibrium, "others" what the runs that are not elsewhere earn.',
        "algorithm | setting | L² gap, last | average | value, last | average | optimal | elsewhere | others",
        rows,
    )


def _section(title: str, text: str, head: str, rows: Sequence[str]) -> str:
    """Write a text and a table below it."""
    return "\n".join([f"## {title}", "", text, "", *_table(head, rows), "", ""])


def _table(head: str, rows: Sequence[str]) -> list[str]:
    return [f"| {head} |", f"|{'---|' * (head.count(' | ') + 1)}", *(f"| {row} |" for row in rows)]


def tell(summary: Summary, digits: int = 2) -> str:
    """Write a summary with its interval."""
    low, high = summary.ci95
    return f"{summary.mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


COLUMNS = ("task", "algorithm", "setting", "seeds", "episodes", "measure", "mean", "sd", "low", "high")


def rows(task: str, groups: Groups | TeamGroups) -> list[tuple[object, ...]]:
    """Return one row of `COLUMNS` for each quantity that was measured over seeds."""
    found: list[tuple[object, ...]] = []
    for name, held in groups.items():
        for one in held:
            for measure, summary in vars(one).items():
                if isinstance(summary, Summary):
                    numbers = [f"{x:.6g}" for x in (summary.mean, summary.std, *summary.ci95)]
                    found.append((task, name, one.setting, summary.count, one.episodes, measure, *numbers))
    return found


def write_csv(found: Sequence[tuple[object, ...]]) -> str:
    """Write rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *found])
    return text.getvalue()


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


#: The paper's names, and which group of settings each is; the first setting of a group is the paper's.
PAPERS_NAMES = {
    "V-Learning": "V-Learning",
    "PG": "PG",
    "Centralized": "Centralized",
    "Independent": "Independent, caption",
}


#: Seeds of the paper, which its figure shows.
PAPERS_SEEDS = 20


def paper_figure(panels: Mapping[str, Variants], optima: Mapping[str, float]) -> Figure:
    """Draw the paper's figure: a panel for each task, its four algorithms, mean ± sd over seeds. [Mao2022, fig:main]"""
    with styled("paper"):
        figure = Figure(figsize=(6.9, 2.5))
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for ax, (task, variants) in zip(axes, panels.items(), strict=True):
            shown = {group: next(iter(held.values()))[:PAPERS_SEEDS] for group, held in variants.items()}
            if "Centralized" in variants:
                for label, group in PAPERS_NAMES.items():
                    plot_band(shown[group], "reward", ax=ax, label=label, color=_GROUP_COLORS[group])
                ax.axhline(optima[task], color="0.4", linestyle=":", linewidth=1, label="exact optimum")
                ax.set_xlabel("episode")
            else:
                for label, column, color in (("last iterate", "value", "red"), ("average", "average_value", "green")):
                    plot_band(shown["PG"], column, ax=ax, label=f"PG, {label}", color=COLORS[color])
                ax.axhline(optima[task], color="0.4", linestyle=":", linewidth=1)
                ax.set_xlabel("round")
                ax.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, 0.9))
            ax.set_title(f"{task} ({len(shown['PG'])} seeds)")
            ax.xaxis.set_major_locator(MaxNLocator(4))
            ax.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes[0].set_ylabel("reward (mean ± sd)")
        handles, labels = axes[-1].get_legend_handles_labels()
        if "Centralized" in labels:
            figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure


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
