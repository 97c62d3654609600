"""Curves as documents: each seed's own, and their mean with bands around it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.types import FloatArray, IntArray
from tacit.view.folder import StoredRun

#: Numbers in all curves of a page, points of a line at least and at most, and numbers that a mean is taken of.
BUDGET, FEWEST, MOST = 400_000, 60, 4000
_AT_ONCE = 20_000_000

#: Columns of a curve that are shown, and those that are shown of very many runs.
COLUMNS, LEADING = 220, ("reward", "reward_0", "gap")

#: What is shown of a curve, in this order: the beginnings of columns.
_MEASURES = ("reward", "value", "gap", "l2_gap", "average_value", "average_gap", "average_l2_gap")


def columns(runs: Sequence[StoredRun]) -> list[str]:
    """Return the columns that all runs have and that are shown."""
    names = [list(run.curve.dtype.names or ()) for run in runs if run.curve is not None]
    if not names:
        return []
    common = [name for name in names[0] if all(name in own for own in names)]
    return [name for measure in _MEASURES for name in common if _is(name, measure)][:COLUMNS]


def _is(name: str, measure: str) -> bool:
    rest = name.removeprefix(measure)
    agents = rest.startswith("_") and rest[1:].isdigit()
    return name == measure or (name.startswith(measure) and agents) or (measure == "gap" and rest in _CANDIDATES)


_CANDIDATES = ("_average", "_latest", "_last")


def seed_curve(run: StoredRun, names: Sequence[str], most: int) -> dict[str, Any] | None:
    """Return one run's curve, thinned to about `most` rows; every number is one of the file."""
    curve = run.curve
    if curve is None:
        return None
    leading = [curve[name].astype(float) for name in ("reward", "gap") if name in names]
    kept = rows_to_show(leading or [curve["episode"].astype(float)], most)
    return {
        "rows": len(curve),
        "x": curve["episode"][kept].tolist(),
        "y": {name: numbers(curve[name][kept]) for name in names},
    }


def band(runs: Sequence[StoredRun], name: str, most: int) -> dict[str, Any] | None:
    """Return the mean of a column over seeds, with its standard deviation and its smallest and largest number.

    A seed that ended early keeps its last value; one that is going on counts only as far as it has come.
    """
    held = [run for run in runs if run.curve is not None]
    if not held:
        return None
    x, y = _align(held, name)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # a column of which nothing was measured
        mean, low, high = np.nanmean(y, axis=0), np.nanmin(y, axis=0), np.nanmax(y, axis=0)
        count = (~np.isnan(y)).sum(axis=0)
        sd = np.where(count > 1, np.nanstd(y, axis=0, ddof=1), 0.0)
    if not np.isfinite(mean).any():
        return None
    if len(held) == 1:
        kept = rows_to_show([mean], most)
        return {"x": x[kept].tolist(), "mean": numbers(mean[kept])}
    kept = rows_to_show([low, mean, high], most)
    return {
        "x": x[kept].tolist(),
        "mean": numbers(mean[kept]),
        "sd": numbers(sd[kept], digits=6),
        "low": numbers(low[kept], digits=6),
        "high": numbers(high[kept], digits=6),
        "n": count[kept].tolist(),
    }


def _align(runs: Sequence[StoredRun], name: str) -> tuple[npt.NDArray[Any], FloatArray]:
    """Return the episodes of all runs, and each one's column there, [runs, x]."""
    curves = [run.curve for run in runs if run.curve is not None]
    x = np.unique(np.concatenate([curve["episode"] for curve in curves]))
    stride = -(-len(x) * len(curves) // _AT_ONCE)
    if stride > 1:
        x = np.union1d(x[::stride], x[-1:])
    y = np.empty((len(curves), len(x)))
    for k, (run, curve) in enumerate(zip(runs, curves, strict=True)):
        place = np.searchsorted(curve["episode"], x, side="right") - 1
        y[k] = curve[name][np.maximum(place, 0)]
        y[k, place < 0] = np.nan
        if run.outcome is None:
            y[k, x > curve["episode"][-1]] = np.nan
    return x, y


def numbers(array: npt.NDArray[Any], *, digits: int | None = None) -> list[float | None]:
    """Return an array as JSON can hold it: what is not finite is null.

    >>> numbers(np.array([1.5, np.nan, 1 / 3]), digits=3)
    [1.5, None, 0.333]
    """
    found = array.astype(float).tolist()
    if digits is None:
        return [x if np.isfinite(x) else None for x in found]
    return [float(f"{x:.{digits}g}") if np.isfinite(x) else None for x in found]


def rows_to_show(columns: Sequence[FloatArray], most: int) -> IntArray:
    """Return which rows of some columns to show, in order: all, or at most about `most`.

    The rows are cut into pieces of equal length, and of each the rows with the smallest and the largest number of each
    column are kept, so that no peak is lost; and always the first and the last.

    >>> rows_to_show([np.array([0.0, 9.0, 0.0, 0.0, 0.0, 0.0, -9.0, 0.0])], 6).tolist()
    [0, 1, 4, 6, 7]
    """
    count = len(columns[0])
    if count <= most:
        return np.arange(count)
    pieces = max(1, (most - 2) // (2 * len(columns)))
    length = -(-count // pieces)
    kept = [np.array([0, count - 1])]
    for column in columns:
        padded = np.full(pieces * length, np.nan)
        padded[:count] = column
        cut = padded.reshape(pieces, length)
        cut = cut[~np.isnan(cut).all(axis=1)]
        first = np.flatnonzero(~np.isnan(padded.reshape(pieces, length)).all(axis=1)) * length
        if len(cut):
            kept += [first + np.nanargmin(cut, axis=1), first + np.nanargmax(cut, axis=1)]
    found: IntArray = np.unique(np.concatenate(kept))
    return found
