"""Curves over episodes: a line for each learner, a band over its seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from tacit.core import check
from tacit.core.display import count
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.engine import Run
from tacit.experiments import Outcome
from tacit.experiments.results import Group, gap_words, summarize, sureness
from tacit.figures import style
from tacit.figures.style import LINES, PAPER_WIDTH, axes_for, characters, fold, legend, look, name, new_axes, styled

#: What a band can be, with what the legend says of the line and the band.
BANDS = {
    "sd": "mean over {} ± standard deviation",
    "ci95": "mean over {}, 95 % bootstrap interval",
    "quartiles": "median over {}, quartiles",
    "none": "mean over {}",
}
SCALES = ("log", "linear")

#: Gaps below this share of the largest are drawn between it and zero, on an axis that is linear there.
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Series:
    """One line: values [seeds, x] over episodes x, its label, and how it looks."""

    label: str
    x: npt.NDArray[Any]
    y: FloatArray
    look: dict[str, Any] = field(default_factory=dict)
    positive: bool = False  # a gap: its band does not reach below what any seed has


#: Numbers that are aligned at once; of more, some episodes are left out.
AT_ONCE = 20_000_000


def align(curves: Sequence[npt.NDArray[Any]], column: str) -> tuple[npt.NDArray[Any], FloatArray]:
    """Return the episodes of all curves, and each one's column there [curves, x].

    A curve that ended early keeps its last value; before its first there is nan.
    """
    x = np.unique(np.concatenate([curve["episode"] for curve in curves]))
    stride = -(-len(x) * len(curves) // AT_ONCE)
    if stride > 1:
        x = np.union1d(x[::stride], x[-1:])
    places = [np.searchsorted(curve["episode"], x, side="right") - 1 for curve in curves]
    rows = [curve[column][np.maximum(place, 0)] for curve, place in zip(curves, places, strict=True)]
    return x, np.where(np.stack(places) < 0, np.nan, np.stack(rows))


def draw_series(series: Series, *, ax: Any, band: str = "sd") -> Any:
    """Draw a series where all its seeds were measured, and return its line."""
    check.choice("band", band, BANDS)
    label = {"label": name(series.label)} if series.label else {}
    measured = ~np.isnan(series.y).any(axis=0)
    if not measured.any():
        return ax.plot([], [], **series.look, **label)[0]
    x, y = series.x[measured], series.y[:, measured]
    low, middle, high = band_of(y, band)
    if series.positive:
        low = np.maximum(low, y.min(axis=0))
    few = {"marker": "o", "markersize": 4} if len(x) == 1 else {}  # a line of one point would not be seen
    (line,) = ax.plot(x, middle, **{**few, **series.look}, **label)
    if len(y) > 1 and band != "none":
        ax.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
    return line


def band_of(y: FloatArray, band: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lower edge, the line and the upper edge of values [seeds, x]."""
    if band == "quartiles":
        low, median, high = np.quantile(y, [0.25, 0.5, 0.75], axis=0)
        return low, median, high
    mean = y.mean(axis=0)
    if len(y) == 1:
        return mean, mean, mean
    if band == "ci95":
        low, high = np.array([summarize(at).ci95 for at in y.T]).T
        return low, mean, high
    std = y.std(axis=0, ddof=1)
    return mean - std, mean, mean + std


def episode_axis(*axes: Any, log: bool) -> None:
    """Give axes the same scale of episodes, with few ticks and labels such as 12.5k."""
    lines = [line.get_xdata() for ax in axes for line in ax.lines if len(line.get_xdata()) > 2]
    xs = np.concatenate([*lines, np.zeros(0)])
    log = log and len(xs) > 0 and xs.min() > 0 and xs.max() > 20 * xs.min()
    for ax in axes:
        ax.set_xlabel("episode")
        if log:
            ax.set_xscale("log")
            _few_ticks(ax.xaxis, xs.min(), xs.max())
        else:
            ax.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 2.5, 5, 10]))
        ax.xaxis.set_major_formatter(EngFormatter(sep=""))


def _few_ticks(axis: Any, low: float, high: float, *, zero: bool = False) -> None:
    """Label at most four places of a logarithmic axis. On a short one, 1, 2 and 5 times a decade."""
    decades = 10.0 ** np.arange(np.ceil(np.log10(low) - 1e-9), np.floor(np.log10(high) + 1e-9) + 1)
    if len(decades) < 2:
        base = 10.0 ** np.floor(np.log10(low))
        decades = np.array([base * factor for factor in (1, 2, 5, 10, 20, 50) if low <= base * factor <= high])
    most = 3 if zero else 4
    stride = -(-len(decades) // most) if len(decades) else 1
    ticks = [*([0.0] if zero else []), *decades[::-1][::stride][::-1]]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda tick, _: _tick(tick)))
    axis.set_minor_formatter(NullFormatter())


def _tick(tick: float) -> str:
    """Write a number of a logarithmic axis.

    >>> _tick(0.01), _tick(1e-5), _tick(2e-7)
    ('0.01', '$10^{-5}$', '2·$10^{-7}$')
    """
    if tick == 0 or 1e-3 <= tick < 1e4:
        return f"{tick:g}"
    factor, _, exponent = f"{tick:.0e}".partition("e")
    power = f"$10^{{{int(exponent)}}}$"
    return power if factor == "1" else f"{factor}·{power}"


def gap_axis(ax: Any, *, scale: str = "log", kind: str = "") -> None:
    """Scale an axis of gaps: logarithmic, and linear just above zero, which is on it.

    Where nothing is above zero the axis is linear; where no gap (of this kind) was measured it says so.
    """
    check.choice("scale", scale, SCALES)
    values = [np.asarray(line.get_ydata(), dtype=float) for line in ax.lines if len(line.get_ydata())]
    gaps = np.concatenate([*values, np.zeros(0)])
    if not len(gaps):
        ax.text(0.5, 0.5, f"no {f'{kind} ' if kind else ''}gap was measured", transform=ax.transAxes, ha="center")
        return
    top = float(gaps.max())
    if scale == "linear" or top <= 0:
        highest = 1.08 * top if top > 0 else 1.0
        ax.set_ylim(-0.03 * highest, highest)
        return
    least = max(float(gaps[gaps > 0].min()), _LEAST * top)
    if float(gaps.min()) >= least:  # nothing is zero
        ax.set_yscale("log")
        ax.set_ylim(least / 1.5, 1.5 * top)
        _few_ticks(ax.yaxis, least / 1.5, 1.5 * top)
        return
    threshold = 10.0 ** np.floor(np.log10(least))
    ax.set_yscale("symlog", linthresh=threshold, linscale=0.5)
    ax.set_ylim(-0.1 * threshold, 1.5 * top)
    _few_ticks(ax.yaxis, threshold, 1.5 * top, zero=True)
    ax.axhspan(-0.1 * threshold, threshold, color="0.5", alpha=0.08, linewidth=0)
    ax.annotate("linear to 0", (0.99, 0.02), xycoords="axes fraction", ha="right", fontsize=7, color="0.4")


def plot_band(runs: Sequence[Outcome], column: str, *, ax: Any, band: str = "sd", **look: Any) -> Any:
    """Draw a column over seeds and return the line; see `draw_series`. `look` goes to `ax.plot`."""
    label = str(look.pop("label", ""))
    x, y = align([run.curve for run in runs], column)
    return draw_series(Series(label, x, y, look, positive=column.startswith("gap")), ax=ax, band=band)


def plot_run(
    run: Run,
    *,
    ax: Any = None,
    columns: Sequence[str] | None = None,
    agents: Sequence[int] | None = None,
    scale: str = "log",
    title: str | None = None,
    size: tuple[float, float] | None = None,
    style: str = "screen",
) -> Any:
    """Draw columns of a run's curve; see `Run.plot`."""
    names = [name for name in run.curve.dtype.names or () if name not in ("episode", "ended")]
    shown = check.list_of("columns", columns, "names of columns") if columns is not None else _usual(run)
    for column in shown:
        check.choice("column", column, names)
    with styled(style):
        axes = axes_for(ax, len(shown), size, (PAPER_WIDTH, 1.9) if style == "paper" else None)
        for panel, column in zip(axes, shown, strict=True):
            _draw(run, column, panel, agents, scale, title)
        episode_axis(*axes, log=scale == "log" and any("gap" in column for column in shown))
    return axes[0] if len(axes) == 1 and (ax is not None or columns is not None) else axes


def _usual(run: Run) -> list[str]:
    measured = [name for name in ("reward", "gap") if name in (run.curve.dtype.names or ())]
    return [name for name in measured if not np.isnan(run.curve[name]).all()] or ["reward"]


def _draw(run: Run, column: str, ax: Any, agents: Sequence[int] | None, scale: str, title: str | None) -> None:
    lines = {column: run.learner}
    if agents is not None:
        lines = {f"{column}_{i}": f"agent {i}" for i in check.list_of("agents", agents, "numbers of agents")}
        for part in lines:
            check.choice("column of an agent", part, run.curve.dtype.names or ())
    gap = column.startswith("gap") or column.endswith("gap")
    kind = _kind(run, column) if gap else ""
    for k, (part, label) in enumerate(lines.items()):
        series = Series(label, run.curve["episode"], run.curve[part].astype(float)[None], look(k), positive=gap)
        draw_series(series, ax=ax, band="none")
    ax.set_ylabel(f"{column.replace('_', ' ')}{f': {kind}' if kind else ''}")
    style.title(ax, title if title is not None else f"{name(run.game.name or 'a game')}: {name(run.learner)}")
    if gap:
        gap_axis(ax, scale=scale)
    if agents is not None:
        legend(ax)


def _kind(run: Run, column: str) -> str:
    """Return what kind of gap a column is."""
    candidate = column.removeprefix("gap_").removeprefix("average_")
    if column.startswith("gap_") and candidate in run.candidates:
        gaps = run.candidates[candidate].gaps
        return gap_words(gaps.kind, gaps.source)
    if "l2" in column:
        return "L²"
    return gap_words(run.gaps.kind, run.gaps.source) if run.gaps.source != "none" else ""


COLUMNS = ("reward", "value", "gap", "l2_gap")
_WORDS = {"reward": "reward in an episode", "value": "value of the policy", "l2_gap": "L² gap"}
_DASHED = {"bound": "--", "estimate": ":"}

#: Lines of a legend, by what they mean.
Entries = dict[str, Line2D]


def panels(groups: Sequence[Group], columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return what axes a row has: (column, kind of gap or ""). Exact gaps and bounds of a kind share one."""
    kinds = dict.fromkeys(kind for group in groups if (kind := _axis_kind(group, groups)))
    pairs: list[tuple[str, str]] = []
    for column in columns:
        check.choice("column", column, COLUMNS)
        pairs += [(column, kind) for kind in (kinds or [""] if column == "gap" else [""])]
    return pairs


def _axis_kind(group: Group, groups: Sequence[Group]) -> str:
    """Return the kind of gap whose axis a group is drawn on. A nash gap is a gap of every kind."""
    kind = group.gap_kind()[0]
    others = [other for one in groups if (other := one.gap_kind()[0]) not in ("", "nash")]
    return others[0] if kind == "nash" and others else kind


def draw_groups(
    groups: Sequence[Group],
    axes: npt.NDArray[Any],
    *,
    columns: Sequence[str] = ("reward", "gap"),
    agents: Sequence[int] | None = None,
    scale: str = "log",
    band: str = "sd",
    title: str | None = None,
) -> Entries:
    """Draw groups on axes [games, panels]; return what the legend shows.

    The same learner has the same colour everywhere. The gap is that of the best candidate at every time. Bounds are
    dashed and estimates dotted.
    """
    check.choice("band", band, BANDS)
    games = list(dict.fromkeys(group.game for group in groups))
    learners = list(dict.fromkeys(group.learner for group in groups))
    shown = panels(groups, columns)
    if axes.shape != (len(games), len(shown)):
        words = ", ".join(f"{kind} gap" if kind else column for column, kind in shown)
        raise TacitError(
            f"axes must have a row for each of {count(len(games), 'game')} ({name(', '.join(games))}) and a column for "
            f"each of {count(len(shown), 'panel')} ({words}); got shape {axes.shape}"
        )
    looks: dict[str, Any] = {learner: look(k) for k, learner in enumerate(learners)}
    seeds = {len(group.outcomes) for group in groups}
    entries: Entries = {}
    extra: Entries = {}
    for row, game in zip(axes, games, strict=True):
        for ax, (column, kind) in zip(row, shown, strict=True):
            for group in [g for g in groups if g.game == game and (not kind or _axis_kind(g, groups) == kind)]:
                label = name(group.learner)
                label = label if len(seeds) == 1 else f"{label} ({count(len(group.outcomes), 'seed')})"
                entries.setdefault(label, Line2D([], [], **looks[group.learner]))
                for what, series in _series(group, column, agents, looks[group.learner]):
                    draw_series(series, ax=ax, band=band)
                    if what:
                        extra[what] = Line2D([], [], color="0.4", linestyle=series.look["linestyle"])
                if column == "gap" and _mark_ends(group, ax, looks[group.learner]["color"]):
                    extra["stopped"] = Line2D([], [], color="0.4", marker="o", markersize=4, linestyle="")
            words = f"largest {kind} gap".replace("  ", " ") if column == "gap" else _WORDS[column]
            ax.set_ylabel(words)
            style.title(ax, fold(ax, title if title is not None else name(game), len(shown)))
            if "gap" in column:
                gap_axis(ax, scale=scale, kind=kind)
        episode_axis(*row, log=scale == "log" and any("gap" in column for column, _ in shown))
    return {**entries, **extra}


def _series(
    group: Group, column: str, agents: Sequence[int] | None, look: dict[str, str]
) -> Iterator[tuple[str, Series]]:
    """Yield the lines of a group, and what the style of each means."""
    curves = [outcome.curve for outcome in group.outcomes]
    common = set.intersection(*(set(curve.dtype.names or ()) for curve in curves))
    positive = "gap" in column
    if agents is None:
        sure = sureness(group.gap_kind()[1]) if column == "gap" else ""
        line = {**look, "linestyle": _DASHED.get(sure, look["linestyle"])}
        if column in common:
            yield sure, Series("", *align(curves, column), line, positive=positive)
        return
    for k, i in enumerate(agents):
        part = f"{column}_{i}"
        if part not in common:
            raise TacitError(f"agents must have curves; got {brief(i)}: {group.learner} on {group.game} has no {part}")
        line = {**look, "linestyle": LINES[k % len(LINES)]}
        yield f"agent {i}", Series("", *align(curves, part), line, positive=positive)


def _mark_ends(group: Group, ax: Any, color: str) -> bool:
    """Mark the gap at which runs were to stop, and where they did. Return whether one did."""
    target = group.outcomes[0].spec.options.gap
    if target is not None and target > 0:
        ax.axhline(target, color=color, linewidth=0.8, linestyle=":")
    ends = [outcome.curve[-1] for outcome in group.outcomes if outcome.ended == "gap"]
    for end in ends:
        ax.plot(end["episode"], end["gap"], "o", color=color, markersize=4)
    return bool(ends)


def plot_groups(
    groups: Sequence[Group],
    *,
    ax: Any = None,
    size: tuple[float, float] | None = None,
    style: str = "screen",
    **options: Any,
) -> npt.NDArray[Any]:
    """Draw groups on `ax`, or on new axes of pyplot. Return an array of axes [games, panels].

    The same learner has the same colour everywhere. New axes have one legend below them. Options are those of
    `draw_groups`.
    """
    if not groups:
        raise TacitError("there are no runs to draw")
    shown = panels(groups, options.get("columns", ("reward", "gap")))
    shape = len({group.game for group in groups}), len(shown)
    with styled(style):
        if ax is None:
            below = 0.15 * len({group.learner for group in groups})
            usual = (5.0 * shape[1], 0.8 + 3.2 * shape[0] + below)
            usual = (PAPER_WIDTH, 0.4 + 1.6 * shape[0] + below) if style == "paper" else usual
            axes = new_axes(*shape, size=size or usual)
        else:
            axes = np.atleast_1d(np.asarray(ax, dtype=object))
            axes = axes.reshape(shape) if axes.ndim == 1 and axes.size == shape[0] * shape[1] else axes
        entries, first = draw_groups(groups, axes, **options), axes.flat[0]
        lines, labels = list(entries.values()), list(entries)
        if ax is None:
            seeds = {len(group.outcomes) for group in groups}
            words = BANDS[options.get("band", "sd")].format(count(max(seeds), "seed") if len(seeds) == 1 else "seeds")
            columns = characters(first.figure, "legend.fontsize") // (max(map(len, labels)) + 6)
            place = {"loc": "outside lower center", "ncols": max(1, min(columns, len(labels))), "fontsize": None}
            legend(first.figure, lines, labels, title="1 seed" if seeds == {1} else words, **place)
        elif first.get_legend() is None:
            legend(first, lines, labels)
    return axes
