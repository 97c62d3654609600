"""Results as one tidy table: a row for each run, measurement and agent."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import archive, atomic, extras
from tacit.core.errors import TacitError
from tacit.experiments.outcome import Outcome
from tacit.experiments.results import game_names, grouped

#: Columns of the table. `agent` is −1 where a gap is the largest of more agents than have columns of their own.
COLUMNS = (
    "game", "learner", "label", "parameters", "game_parameters", "seed", "episode", "agent", "reward", "value", "gap",
    "kind", "source",
)  # fmt: skip

Column = npt.NDArray[Any]


def tidy(outcomes: Sequence[Outcome]) -> dict[str, Column]:
    """Return the columns of the table, as arrays of the same length.

    `reward` is the agent's mean return in the window that ends with the episode, `value` and `gap` are of the policy at
    that time, and `kind` and `source` say which gap it is and how sure.
    """
    labels = {id(one): group.learner for group in grouped(outcomes) for one in group.outcomes}
    games = game_names([one.spec.game for one in outcomes])
    pieces = [piece for one, game in zip(outcomes, games, strict=True) for piece in _pieces(one, game, labels[id(one)])]
    if not pieces:
        raise TacitError("there are no runs to make a table of")
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in COLUMNS}


def _pieces(one: Outcome, game: str, label: str) -> list[dict[str, Column]]:
    """Return a run's rows, agent after agent."""
    curve, names = one.curve, one.curve.dtype.names or ()
    agents = range(one.agents) if "reward_0" in names else range(0)
    found = [
        _piece(one, game, label, i, *(_column(curve, f"{word}_{i}") for word in ("reward", "value", "gap")))
        for i in agents
    ]
    if not found:
        nothing = np.full(len(curve), np.nan)
        found.append(_piece(one, game, label, 0, _column(curve, "reward"), _column(curve, "value"), nothing))
        found.append(_piece(one, game, label, -1, nothing, nothing, _column(curve, "gap")))
    return found


def _column(curve: Column, name: str) -> Column:
    if name not in (curve.dtype.names or ()):
        return np.full(len(curve), np.nan)
    return curve[name].astype(float)


def _piece(
    one: Outcome, game: str, label: str, agent: int, reward: Column, value: Column, gap: Column
) -> dict[str, Column]:
    spec, rows = one.spec, len(one.curve)
    words = {
        "game": game,
        "learner": spec.learner.name,
        "label": label,  # what tables call it: runs of a sweep differ in it
        "parameters": json.dumps(dict(spec.learner.params), sort_keys=True, default=str),
        "game_parameters": json.dumps(dict(spec.game.params), sort_keys=True, default=str),
        "kind": "" if one.gap is None else one.gap.kind,
        "source": "" if one.gap is None else one.gap.source,
    }
    return {
        **{name: np.full(rows, word, dtype=object) for name, word in words.items()},
        "seed": np.full(rows, spec.seed, dtype=np.int64),
        "episode": one.curve["episode"].astype(np.int64),
        "agent": np.full(rows, agent, dtype=np.int64),
        "reward": reward,
        "value": value,
        "gap": gap,
    }


def frame(outcomes: Sequence[Outcome]) -> Any:
    """Return the table as a pandas DataFrame."""
    pandas = extras.require("pandas", "pandas")
    return pandas.DataFrame(tidy(outcomes))


def write_csv(outcomes: Sequence[Outcome], place: str | os.PathLike[str]) -> Path:
    """Write the table as CSV; what was not measured is empty."""
    columns = tidy(outcomes)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in zip(*(columns[name].tolist() for name in COLUMNS), strict=True):
        writer.writerow(["" if isinstance(cell, float) and np.isnan(cell) else cell for cell in row])
    path = archive.path(place)
    atomic.write(path, text.getvalue().encode(errors="backslashreplace"))
    return path


def write_parquet(outcomes: Sequence[Outcome], place: str | os.PathLike[str]) -> Path:
    """Write the table as Parquet, with pyarrow, or polars where that is installed instead."""
    columns = tidy(outcomes)
    path = archive.path(place)
    with atomic.written(path) as stream:
        try:
            polars = extras.require("polars", "parquet")
        except TacitError:
            arrow = extras.require("pyarrow", "parquet")
            parquet = extras.require("pyarrow.parquet", "parquet")
            parquet.write_table(arrow.table({name: column.tolist() for name, column in columns.items()}), stream)
            return path
        texts = {name: column.tolist() if column.dtype == object else column for name, column in columns.items()}
        polars.DataFrame(texts).write_parquet(stream)
    return path
