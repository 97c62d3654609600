"""What a page shows of a directory of runs, as plain data that JSON can hold.

    {"title", "tacit", "unread": runs not read yet, "problems": [sentence, …],
     "games": [{"name", "told", "groups": [{"learner", "settings": [[key, value], …], "seeds", "columns",
                "bands": {column: {"x", "mean", "sd", "low", "high", "n"}},
                "runs": [{"name", "seed", "status", "done", "of", …, "curve": {"x", "y": {column: …}}}]}]}]}

Every text is cut to a length and freed of control characters; the scripts show it as text and nothing else.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tacit._version import __version__
from tacit.core.display import printable
from tacit.core.types import FloatArray, IntArray
from tacit.experiments import Group, Outcome
from tacit.experiments.results import GapOutcome, group_outcomes
from tacit.figures.curves import align
from tacit.view.folder import MOST_RUNS, Folder, StoredRun

#: Characters of a text, entries of a list and problems that are shown.
_LONGEST, _ENTRIES, _PROBLEMS = 300, 40, 50


def overview(folder: Folder) -> dict[str, Any]:
    """Return all that is shown of the runs in a directory, but for what has to be computed from their policies."""
    groups = group_outcomes(cast("list[Outcome]", list(folder.runs.values())))
    groups.sort(key=lambda group: (group.game, group.learner))
    games: dict[str, list[Group]] = {}
    for group in groups:
        games.setdefault(group.game, []).append(group)
    learners = sorted({group.learner for group in groups})
    names = {id(group): columns(_runs(group)) for group in groups}
    lines = sum(len(names[id(group)]) * (1 + len(group.outcomes)) for group in groups)
    if lines > BUDGET // FEWEST:
        names = {key: [name for name in own if name in LEADING] for key, own in names.items()}
        lines = sum(len(names[id(group)]) * (1 + len(group.outcomes)) for group in groups)
    most = int(min(max(BUDGET // max(lines, 1), FEWEST), MOST))
    shown = [
        {
            "name": text(name),
            "told": text(_told(held)),
            "groups": [
                {**_group(group, names[id(group)], most), "colour": learners.index(group.learner)} for group in held
            ],
        }
        for name, held in games.items()
    ]
    problems = [text(sentence) for sentence in folder.problems.values()]
    if len(problems) > _PROBLEMS:
        problems = [*problems[:_PROBLEMS], f"and {len(problems) - _PROBLEMS} more"]
    if len(folder.runs) + len(folder.problems) >= MOST_RUNS:
        problems.append(f"only the first {MOST_RUNS} runs are shown")
    return {
        "title": text(folder.place.resolve().name or str(folder.place)),
        "tacit": __version__,
        "version": folder.version,
        "unread": folder.unread,
        "games": shown,
        "problems": problems,
    }


def _runs(group: Group) -> list[StoredRun]:
    return cast("list[StoredRun]", group.outcomes)


def _told(groups: Sequence[Group]) -> str:
    """Describe a game in words, if a finished run does."""
    outcomes = (run.outcome for group in groups for run in _runs(group))
    told = next((one.game for one in outcomes if one is not None), "")
    return told.partition("(")[2].removesuffix(")").partition(": ")[2] or told


def _group(group: Group, names: Sequence[str], most: int) -> dict[str, Any]:
    runs = _runs(group)
    found = {name: band(runs, name, most) for name in names}
    bands = {name: one for name, one in found.items() if one is not None}
    alone = len(runs) == 1
    return {
        "learner": text(group.learner),
        "settings": _settings(runs[0], len(runs)),
        "seeds": len(runs),
        "agents": runs[0].outcome.agents if runs[0].outcome is not None else None,
        "columns": list(bands),
        "bands": bands,
        "gap": _gap_told(runs),
        "kinds": sorted({text(run.outcome.gap.kind) for run in runs if run.outcome is not None and run.outcome.gap}),
        "runs": [{**_run(run), "curve": None if alone else seed_curve(run, list(bands), most)} for run in runs],
    }


def _settings(run: StoredRun, seeds: int) -> list[list[str]]:
    spec = run.spec
    rows: list[tuple[str, object]] = [("learner", spec.learner.name)]
    rows += [(f"learner: {key}", value) for key, value in list(spec.learner.params.items())[:_ENTRIES]]
    rows += [("game", spec.game.name)]
    rows += [(f"game: {key}", value) for key, value in list(spec.game.params.items())[:_ENTRIES]]
    rows += [("episodes", "open" if spec.open else f"{spec.episodes:,}")]
    rows += [
        (name, value) for name, value in (("stop at gap", spec.gap), ("stop after seconds", spec.seconds)) if value
    ]
    certify = {None: "where it is cheap", True: "yes", False: "no"}[spec.certify]
    rows += [("seeds", seeds), ("certificate", certify), ("tacit", spec.tacit)]
    rows += [("Python", run.versions.python), ("NumPy", run.versions.numpy), ("Numba", run.versions.numba)]
    return [[text(name), text(_value(value))] for name, value in rows]


def _value(value: object) -> str:
    match value:
        case float():
            return f"{value:.6g}"
        case {} | [*_]:
            return json.dumps(value, default=str)[:_LONGEST]
    return str(value)


def _run(run: StoredRun) -> dict[str, Any]:
    curve, one = run.curve, run.outcome
    done = 0 if curve is None else int(curve["episode"][-1])
    found: dict[str, Any] = {
        "name": run.name,
        "seed": text(run.spec.seed),
        "status": run.status,
        "done": done,
        "of": None if run.spec.open else run.spec.episodes,
    }
    if one is not None:
        found |= {
            "reward": one.reward[:_ENTRIES],
            "value": None if one.value is None else one.value[:_ENTRIES],
            "gap": _gap(one.gap),
            "chosen": text(one.chosen),
            "uniform": one.uniform_gap,
            "ended": text(one.ended),
            "seconds": one.seconds,
            "where": text(one.where),
            "notes": [text(note) for note in one.notes[:_ENTRIES]],
            "advice": [text(advice.text) for advice in one.advice[:_ENTRIES]],
        }
    return found


def _gap(gap: GapOutcome | None) -> dict[str, Any] | None:
    if gap is None:
        return None
    kept = {"kind": text(gap.kind), "source": text(gap.source), "informative": gap.informative, "most": gap.most}
    return {**kept, "upper": gap.upper[:_ENTRIES], "largest": max(gap.upper)}


def _gap_told(runs: Sequence[StoredRun]) -> str:
    """Say which gap the curves show, e.g. "cce, upper bound"."""
    gaps = [run.outcome.gap for run in runs if run.outcome is not None and run.outcome.gap is not None]
    sure = {"exact": "exact", "estimate": "estimate"}
    return text(" and ".join(sorted({f"{gap.kind}, {sure.get(gap.source, 'upper bound')}" for gap in gaps})))


def text(value: object) -> str:
    """Return a text as pages show it."""
    return printable(value, _LONGEST)


def title_of(place: Path) -> str:
    """Return what a page of a directory is called."""
    return text(place.resolve().name or str(place))


#: Numbers in all curves of a page, and points of a line at least and at most.
BUDGET, FEWEST, MOST = 400_000, 60, 4000

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


_CANDIDATES = ("_average", "_recent", "_last")


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
    held = [(run, run.curve) for run in runs if run.curve is not None]
    if not held:
        return None
    x, y = align([curve for _, curve in held], name)
    for row, (run, curve) in zip(y, held, strict=True):
        if run.outcome is None:
            row[x > curve["episode"][-1]] = np.nan
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
