"""Curves of stored or finished runs: a row for each game, rewards, an axis for each kind of gap; and comparisons."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tacit.core import check
from tacit.core.display import count
from tacit.core.errors import TacitError, brief
from tacit.experiments.comparison import TARGET, Comparison, gap_of
from tacit.experiments.results import Group, sureness
from tacit.figures import style
from tacit.figures.curves import BANDS, Series, align, band_words, draw_series, episode_axis, gap_axis, plot_band
from tacit.figures.style import LINES, legend, look, name, new_axes, styled

COLUMNS = ("reward", "value", "gap", "l2_gap")
CANDIDATES = ("best", "average", "recent", "last")
_WORDS = {"reward": "reward in an episode", "value": "value of the policy", "l2_gap": "L² gap"}
_DASHED = {"bound": "--", "estimate": ":"}

#: Characters in the width of an axis title, and in an inch of a legend.
_TITLE, _INCH = 42, 13

#: The line of each learner and number of seeds in the legend, as it is drawn where its gap is exact.
Entries = dict[tuple[str, int], Line2D]


def panels(groups: Sequence[Group], columns: Sequence[str], candidate: str) -> list[tuple[str, str]]:
    """Return what axes a row has: (column, kind of gap or ""). Exact gaps and bounds of a kind share one."""
    kinds = dict.fromkeys(kind for group in groups if (kind := group.gap_kind(candidate)[0]))
    pairs: list[tuple[str, str]] = []
    for column in columns:
        check.choice("column", column, COLUMNS)
        pairs += [(column, kind) for kind in (kinds or [""] if column == "gap" else [""])]
    return pairs


def draw_groups(
    groups: Sequence[Group],
    axes: npt.NDArray[Any],
    *,
    columns: Sequence[str] = ("reward", "gap"),
    agents: Sequence[int] | None = None,
    scale: str = "log",
    band: str = "sd",
    candidate: str = "best",
    title: str | None = None,
) -> Entries:
    """Draw groups on axes [games, panels]; return what the legend shows.

    The same learner has the same colour everywhere. The gap is that of the best candidate at every time, or of one of
    them; learners without candidates have only the one gap. Bounds are dashed and estimates dotted.
    """
    check.choice("band", band, BANDS)
    candidate = check.choice("candidate", candidate, CANDIDATES)
    games = list(dict.fromkeys(group.game for group in groups))
    learners = list(dict.fromkeys(group.learner for group in groups))
    shown = panels(groups, columns, candidate)
    if axes.shape != (len(games), len(shown)):
        words = ", ".join(f"{kind} gap" if kind else column for column, kind in shown)
        raise TacitError(
            f"axes must have a row for each of {count(len(games), 'game')} ({name(', '.join(games))}) and a column for "
            f"each of {count(len(shown), 'panel')} ({words}); got shape {axes.shape}"
        )
    looks = {learner: look(k) for k, learner in enumerate(learners)}
    entries: Entries = {}
    for row, game in zip(axes, games, strict=True):
        for ax, (column, kind) in zip(row, shown, strict=True):
            members = [g for g in groups if g.game == game and (not kind or g.gap_kind(candidate)[0] == kind)]
            for group in members:
                for series in _series(group, column, candidate, agents, looks[group.learner]):
                    draw_series(series, ax=ax, band=band)
                    line: Any = looks[group.learner]
                    entries.setdefault((group.learner, len(group.outcomes)), Line2D([], [], **line))
                if column == "gap":
                    _mark_ends(group, ax, looks[group.learner]["color"])
            _dress(ax, game, column, kind, candidate, scale, title)
    return entries


def _series(
    group: Group, column: str, candidate: str, agents: Sequence[int] | None, style: dict[str, str]
) -> list[Series]:
    curves = [outcome.curve for outcome in group.outcomes]
    common = set.intersection(*(set(curve.dtype.names or ()) for curve in curves))
    sure = sureness(group.gap_kind(candidate)[1]) if column == "gap" else ""
    words = f" ({sure})" if sure else ""
    if agents is None:
        own_gap = column == "gap" and f"gap_{candidate}" in common
        part = f"gap_{candidate}" if own_gap else column
        if part not in common:
            return []
        line = {**style, "linestyle": _DASHED.get(sure, style["linestyle"])}
        return [
            Series(f"{group.learner}{words}" if words else "", *align(curves, part), line, positive="gap" in column)
        ]
    series = []
    for k, i in enumerate(agents):
        part = f"{column}_{i}"
        if part not in common:
            raise TacitError(f"agents must have curves; got {brief(i)}: {group.learner} on {group.game} has no {part}")
        line = {**style, "linestyle": LINES[k % len(LINES)]}
        label = f"{group.learner}, agent {i}{words}"
        series.append(Series(label, *align(curves, part), line, positive=column == "gap"))
    return series


def _mark_ends(group: Group, ax: Any, color: str) -> None:
    """Mark the gap at which runs were to stop, and where each was certified to have it."""
    target = group.outcomes[0].spec.gap
    if target is not None and target > 0:
        ax.axhline(target, color=color, linewidth=0.8, linestyle=":")
    for outcome in group.outcomes:
        if outcome.ended == "gap":
            label = {} if "stopped" in ax.get_legend_handles_labels()[1] else {"label": "stopped"}
            ax.plot(outcome.curve["episode"][-1], outcome.curve["gap"][-1], "o", color=color, markersize=4, **label)


def _dress(ax: Any, game: str, column: str, kind: str, candidate: str, scale: str, title: str | None) -> None:
    words = f"{kind} gap".strip() if column == "gap" else _WORDS[column]
    whose = f' of "{candidate}"' if column == "gap" and candidate != "best" else ""
    ax.set_ylabel(f"{words}, max over agents{whose}" if column == "gap" else words)
    style.title(ax, textwrap.fill(title if title is not None else f"{name(game)}: {words}", _TITLE))
    if "gap" in column:
        gap_axis(ax, scale=scale, kind=kind)
    episode_axis(ax)
    if ax.lines and len(ax.get_legend_handles_labels()[1]) <= 10:
        legend(ax)


def plot_groups(
    groups: Sequence[Group],
    *,
    ax: Any = None,
    size: tuple[float, float] | None = None,
    new: Callable[..., npt.NDArray[Any]] = new_axes,
    **options: Any,
) -> npt.NDArray[Any]:
    """Draw groups on `ax`, or on axes that `new` makes, and return them as an array [games, panels].

    The same learner has the same colour everywhere. New axes have one legend below them. Options are those of
    `draw_groups`.
    """
    if not groups:
        raise TacitError("there are no runs to draw")
    shown = panels(groups, options.get("columns", ("reward", "gap")), options.get("candidate", "best"))
    shape = len({group.game for group in groups}), len(shown)
    with styled():
        if ax is None:
            usual = (5.0 * shape[1], 0.8 + 3.2 * shape[0] + 0.25 * len({group.learner for group in groups}))
            axes = new(*shape, size=size or usual)
        else:
            axes = np.atleast_1d(np.asarray(ax, dtype=object))
            axes = axes.reshape(shape) if axes.ndim == 1 and axes.size == shape[0] * shape[1] else axes
        entries, first = draw_groups(groups, axes, **options), axes.flat[0]
        labels = [f"{name(learner)} ({count(seeds, 'seed')})" for learner, seeds in entries]
        lines = list(entries.values())
        if ax is None:
            columns = int(_INCH * first.figure.get_figwidth()) // (max(map(len, labels), default=0) + 8)
            below = {"loc": "outside lower center", "ncols": max(1, columns), "fontsize": None}
            legend(first.figure, lines, labels, title=band_words(options.get("band", "sd")), **below)
        elif first.get_legend() is None:
            legend(first, lines, labels)
    return axes


def results_figure(groups: Sequence[Group], **options: Any) -> Figure:
    """Draw groups of runs on a figure that pyplot does not know; options are those of `plot_groups`."""

    def new(rows: int, columns: int, *, size: tuple[float, float]) -> Any:
        return Figure(figsize=size).subplots(rows, columns, squeeze=False)

    figure: Figure = plot_groups(groups, new=new, **options).flat[0].figure
    return figure


#: Marks of those whose colours are the same, or hard to tell apart.
_MARKS = "os^vDPX"


def draw_welfare(comparison: Comparison, ax: Any, least: float) -> Any:
    """Draw the gap of each run's policy, at least `least`, against its normalized welfare."""
    for k, group in enumerate(comparison.groups):
        gaps = [max(gap_of(outcome), least) for outcome in group.outcomes]
        shares = [100 * (comparison.welfare_share(sum(outcome.value or ())) or 0.0) for outcome in group.outcomes]
        ax.scatter(gaps, shares, s=36, alpha=0.75, color=look(k)["color"], marker=_MARKS[k % len(_MARKS)])
    ax.set(xscale="log", xlabel="gap of a run's policy", ylabel="normalized welfare, %")
    ax.set_ylim(-4, 104)
    style.title(ax, "left: near an equilibrium; up: high welfare")
    return ax


#: Gaps below this share of the uniform policy's are not shown.
_LEAST = 1e-5


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw a comparison: gaps over episodes, mean over seeds and a band of one standard deviation.

    A run that ended keeps its gap. Beside it, where welfare differs, each run's gap against its welfare.
    """
    both = comparison.welfare_share(0.0) is not None
    with styled():
        figure = Figure(figsize=(12 if both else 9, 5))
        ax, *beside = figure.subplots(1, 2 if both else 1, squeeze=False, width_ratios=[3, 2] if both else None)[0]
        for k, (group, row) in enumerate(zip(comparison.groups, comparison.rows, strict=True)):
            label = f"{k + 1}. {name(group.learner)} ({row['gap']['kind']}): {row['gap']['mean']:.3g}"
            mark: dict[str, Any] = {"marker": _MARKS[k % len(_MARKS)], "markevery": [-1]} if both else {}
            plot_band(group.outcomes, "gap", ax=ax, label=label, **mark, **look(k))
        gaps = np.concatenate([[comparison.uniform_gap], *(line.get_ydata() for line in ax.lines)])
        if gaps.max() > 0:
            least = max(gaps[gaps > 0].min(), gaps.max() * _LEAST)
            ax.set(xscale="log", yscale="log", ylim=(least / 1.5, gaps.max() * 1.5))
            ax.axhline(comparison.uniform_gap, color="0.5", linewidth=1.0, label="uniform policy")
            tenth = f"{100 * TARGET:.0f} % of it"
            ax.axhline(TARGET * comparison.uniform_gap, color="0.5", linewidth=1.0, linestyle=":", label=tenth)
            for other in beside:
                draw_welfare(comparison, other, least)
        ax.set(xlabel="episode (iteration, where a learner follows exact gradients)", ylabel="gap of the best policy")
        style.title(ax, f"{name(comparison.game.name or 'a game')}: {comparison.budget}")
        words = f"mean over {count(len(comparison.best.outcomes), 'seed')} ± sd"
        legend(figure, *ax.get_legend_handles_labels(), loc="outside right center", title=words, fontsize=None)
    return figure
