"""The curves of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.drawing.curves import Series, draw_series, episode_axis, gap_axis, legend
from tacit.drawing.style import look, new_axes, plain, styled
from tacit.drawing.words import gap_words

if TYPE_CHECKING:
    from tacit.engine.run import Run


def plot_run(
    run: Run,
    *,
    ax: Any,
    columns: Sequence[str] | None,
    agents: Sequence[int] | None,
    scale: str,
    title: str | None,
    size: tuple[float, float] | None,
) -> Any:
    """Draw columns of a run's curve; see `Run.plot`."""
    known = [name for name in run.curve.dtype.names or () if name not in ("episode", "ended")]
    wanted = check.listed("columns", columns, "names of columns") if columns is not None else _usual(run)
    for column in wanted:
        check.choice("column", column, known)
    axes_given = ax is not None
    with styled():
        if ax is None:
            ax = new_axes(1, len(wanted), size=size)[0]
        axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(axes) != len(wanted):
            raise TacitError(f"ax has {len(axes)} axes, and there are {len(wanted)} columns: {', '.join(wanted)}")
        for own, column in zip(axes, wanted, strict=True):
            _draw(run, column, own, agents, scale, title)
    return axes[0] if len(axes) == 1 and (axes_given or columns is not None) else axes


def _usual(run: Run) -> list[str]:
    measured = [name for name in ("reward", "gap") if name in (run.curve.dtype.names or ())]
    return [name for name in measured if not np.isnan(run.curve[name]).all()] or ["reward"]


def _draw(run: Run, column: str, ax: Any, agents: Sequence[int] | None, scale: str, title: str | None) -> None:
    whole = [(column, "" if agents is not None else column)]
    lines = whole
    if agents is not None:
        lines = []
        for i in check.listed("agents", agents, "numbers of agents"):
            if f"{column}_{i}" not in (run.curve.dtype.names or ()):
                raise TacitError(f"agents has {brief(i)}; the curve has no column {column}_{i}")
            lines.append((f"{column}_{i}", f"agent {i}"))
    gap = column.startswith("gap") or column.endswith("gap")
    kind = _kind(run, column) if gap else ""
    for k, (name, label) in enumerate(lines):
        told = ", ".join(word for word in (label if agents is not None else run.learner, kind) if word)
        y = run.curve[name].astype(float)[None]
        draw_series(Series(told, run.curve["episode"], y, look(k), positive=gap), ax=ax, band="none")
    ax.set_ylabel(f"{column.replace('_', ' ')}{f': {kind}' if kind else ''}")
    ax.set_title(title if title is not None else f"{run.game.name or 'a game'}: {column.replace('_', ' ')}")
    if gap:
        gap_axis(ax, scale=scale)
    episode_axis(ax)
    legend(ax)
    plain(ax.title)


def _kind(run: Run, column: str) -> str:
    """Return what kind of gap a column is."""
    candidate = column.removeprefix("gap_").removeprefix("average_")
    if column.startswith("gap_") and candidate in run.candidates:
        gaps = run.candidates[candidate].gaps
        return gap_words(gaps.kind, gaps.source)
    if "l2" in column:
        return "L²"
    return gap_words(run.gaps.kind, run.gaps.source) if run.gaps.source != "none" else ""
