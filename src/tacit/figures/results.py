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
from tacit.experiments.comparison import SHARE, Comparison
from tacit.experiments.results import Group, sureness
from tacit.figures import style
from tacit.figures.curves import BANDS, Series, align, band_words, draw_series, episode_axis, gap_axis, plot_band
from tacit.figures.style import legend, look, name, new_axes, styled
from tacit.policies.recorded import take_start

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
    found: list[tuple[str, str]] = []
    for column in columns:
        check.choice("column", column, COLUMNS)
        if column != "gap":
            found.append((column, ""))
            continue
        kinds = dict.fromkeys(group.gap_kind(candidate)[0] for group in groups)
        found += [(column, kind) for kind in kinds if kind] or [(column, "")]
    return found


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
    candidate = check.choice("candidate", take_start(candidate), CANDIDATES)
    games = list(dict.fromkeys(group.game for group in groups))
    learners = list(dict.fromkeys(group.learner for group in groups))
    shown = panels(groups, columns, candidate)
    if axes.shape != (len(games), len(shown)):
        told = [f"{kind} gap" if kind else column for column, kind in shown]
        raise TacitError(
            f"axes has shape {axes.shape}; there must be a row for each of {count(len(games), 'game')} "
            f"({name(', '.join(games))}) and a column for each of {count(len(shown), 'panel')} ({', '.join(told)})"
        )
    looks = {learner: look(k) for k, learner in enumerate(learners)}
    entries: Entries = {}
    for row, game in zip(axes, games, strict=True):
        for ax, (column, kind) in zip(row, shown, strict=True):
            held = [g for g in groups if g.game == game and (not kind or g.gap_kind(candidate)[0] == kind)]
            for group in held:
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
    curves = [one.curve for one in group.outcomes]
    known = [set(curve.dtype.names or ()) for curve in curves]
    sure = sureness(group.gap_kind(candidate)[1]) if column == "gap" else ""
    told = f" ({sure})" if sure else ""
    if agents is None:
        own = _column(group, column, candidate)
        if not all(own in names for names in known):
            return []
        lines = {**style, "linestyle": _DASHED.get(sure, style["linestyle"])}
        return [Series(f"{group.learner}{told}" if told else "", *align(curves, own), lines, positive="gap" in column)]
    found = []
    for k, i in enumerate(agents):
        if not all(f"{column}_{i}" in names for names in known):
            raise TacitError(f"agents has {brief(i)}; {group.learner} on {group.game} has no column {column}_{i}")
        lines = {**style, "linestyle": ("-", "--", ":", "-.")[k % 4]}
        label = f"{group.learner}, agent {i}{told}"
        found.append(Series(label, *align(curves, f"{column}_{i}"), lines, positive=column == "gap"))
    return found


def _column(group: Group, column: str, candidate: str) -> str:
    if column != "gap" or candidate == "best":
        return column
    held = all(f"gap_{candidate}" in (one.curve.dtype.names or ()) for one in group.outcomes)
    return f"gap_{candidate}" if held else "gap"


def _mark_ends(group: Group, ax: Any, color: str) -> None:
    """Mark the gap at which runs were to stop, and where each was certified to have it."""
    target = group.outcomes[0].spec.gap
    if target is not None and target > 0:
        ax.axhline(target, color=color, linewidth=0.8, linestyle=":")
    for one in group.outcomes:
        if one.ended == "gap":
            known = "stopped" in ax.get_legend_handles_labels()[1]
            label = {} if known else {"label": "stopped"}
            ax.plot(one.curve["episode"][-1], one.curve["gap"][-1], "o", color=color, markersize=4, **label)


def _dress(ax: Any, game: str, column: str, kind: str, candidate: str, scale: str, title: str | None) -> None:
    gap = f"{kind} gap".strip()
    if column == "gap":
        whose = "" if candidate == "best" else f' of "{candidate}"'
        ax.set_ylabel(f"largest {gap}{whose}")
    else:
        ax.set_ylabel(_WORDS[column])
    words = title if title is not None else f"{name(game)}: {gap if column == 'gap' else _WORDS[column]}"
    style.title(ax, textwrap.fill(words, _TITLE))
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
    """Draw groups on axes that `new` makes, or on those given, and return them as an array [games, panels].

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
        shown_as = list(entries.values()), labels
        if ax is None:
            columns = int(_INCH * first.figure.get_figwidth()) // (max(map(len, labels), default=0) + 8)
            below = {"loc": "outside lower center", "ncols": max(1, columns), "fontsize": None}
            legend(first.figure, *shown_as, title=band_words(options.get("band", "sd")), **below)
        elif first.get_legend() is None:
            legend(first, *shown_as)
    return axes


def results_figure(groups: Sequence[Group], **options: Any) -> Figure:
    """Draw groups of runs on a figure that pyplot does not know; options are those of `plot_groups`."""

    def new(rows: int, columns: int, *, size: tuple[float, float]) -> Any:
        return Figure(figsize=size).subplots(rows, columns, squeeze=False)

    figure: Figure = plot_groups(groups, new=new, **options).flat[0].figure
    return figure


#: Marks of those whose colours are the same, or hard to tell apart.
_MARKS = "os^vDPX"


def draw_welfare(found: Comparison, ax: Any, least: float) -> Any:
    """Draw what learning costs: the gap of each run's policy, at least `least`, against the share of the best total."""
    for k, row in enumerate(found.rows):
        gaps = [max(one.gap, least) for one in row.entries]
        shares = [100 * (found.welfare_share(sum(one.values)) or 0.0) for one in row.entries]
        ax.scatter(gaps, shares, s=36, alpha=0.75, color=look(k)["color"], marker=_MARKS[k % len(_MARKS)])
    ax.set(xscale="log", xlabel="gap of a run's policy", ylabel="total of all agents, % from the least to the largest")
    ax.set_ylim(-4, 104)
    style.title(ax, "what learning costs: left is stable, up is good")
    return ax


#: Gaps below this share of that of uniform play are not shown.
_LEAST = 1e-5


def comparison_figure(found: Comparison) -> Figure:
    """Draw a comparison: gaps over episodes, mean over seeds and a band of one standard deviation.

    A run that ended keeps its gap. Beside it, where totals differ, each run's gap against the total of all agents.
    """
    both = found.welfare_share(0.0) is not None
    with styled():
        figure = Figure(figsize=(12 if both else 9, 5))
        ax, *beside = figure.subplots(1, 2 if both else 1, squeeze=False, width_ratios=[3, 2] if both else None)[0]
        for k, row in enumerate(found.rows):
            label = f"{row.rank}. {name(row.learner)} ({row.kind}): {row.gap:.3g}"
            drawn_as: dict[str, Any] = {"marker": _MARKS[k % len(_MARKS)], "markevery": [-1]} if both else {}
            plot_band(row.entries, "gap", ax=ax, label=label, **drawn_as, **look(k))
        drawn = np.concatenate([[found.uniform_gap], *(line.get_ydata() for line in ax.lines)])
        if drawn.max() > 0:
            ax.set(xscale="log", yscale="log")
            least = max(drawn[drawn > 0].min(), drawn.max() * _LEAST)
            ax.set_ylim(least / 1.5, drawn.max() * 1.5)
            ax.axhline(found.uniform_gap, color="0.5", linewidth=1.0, label="uniform play")
            tenth = f"{100 * SHARE:.0f} % of it"
            ax.axhline(SHARE * found.uniform_gap, color="0.5", linewidth=1.0, linestyle=":", label=tenth)
            for other in beside:
                draw_welfare(found, other, least)
        ax.set(xlabel="episode (iteration, where a learner follows exact gradients)", ylabel="gap of the best policy")
        style.title(ax, f"{name(found.game.name or 'a game')}: {found.budget} a run")
        told = f"mean over {count(found.seeds, 'seed')} ± sd"
        legend(figure, *ax.get_legend_handles_labels(), loc="outside right center", title=told, fontsize=None)
    return figure
