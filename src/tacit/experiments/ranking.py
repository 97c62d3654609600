"""Learners ranked on each game, with intervals over seeds and tests of each pair."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.statistics import summarize
from tacit.core.table import Cell, Document, Table, interval
from tacit.drawing.words import gap_words
from tacit.experiments.results import SOURCES, Group
from tacit.games.tabular import count

BY = ("gap", "reward", "value")


def ranking(groups: Sequence[Group], *, by: str | None = None) -> Document:
    """Rank learners on each game; see `Results.table`."""
    if by is not None:
        check.choice("by", by, BY)
    parts: list[str | Table] = []
    data = []
    for game in dict.fromkeys(group.game for group in groups):
        held = [group for group in groups if group.game == game]
        order = by or ("gap" if all(_numbers(group, "gap") is not None for group in held) else "reward")
        table, pairs, rows = _game(game, held, order)
        parts.append(table)
        parts += [pairs] if pairs is not None else []
        data.append({"game": game, "by": order, **rows})
    kinds = {_kind(group) for group in groups}
    if len(kinds - {""}) > 1:
        parts.append("gaps are of different kinds; a bound may be above the gap that it bounds")
    return Document(f"{count(len(groups), 'group')} of runs", parts, {"games": data})


def _game(game: str, groups: list[Group], by: str) -> tuple[Table, Table | None, dict[str, Any]]:
    sign = 1 if by == "gap" else -1
    known = [group for group in groups if _numbers(group, by) is not None]
    ranked = sorted(known, key=lambda group: sign * float(np.mean(_numbers(group, by))))  # type: ignore[arg-type]
    ranked += [group for group in groups if group not in known]
    tests = _tests(ranked[: len(known)], by)
    rows: list[list[Cell]] = []
    found = []
    for k, group in enumerate(ranked):
        cells: dict[str, Any] = {"rank": k + 1, "learner": group.learner, "seeds": len(group.outcomes)}
        for word in ("reward", "value", "gap"):
            values = _numbers(group, word)
            told = None if values is None else summarize(values)
            cells[word] = None if told is None else {"mean": told.mean, "ci95": list(told.ci95), "std": told.std}
        cells["kind"] = _kind(group)
        cells["p"] = tests.get((0, k)) if k else None
        found.append(cells)
        shown = [_interval(cells[word]) for word in ("reward", "value", "gap")]
        p = cells["p"]
        rows.append([k + 1, group.learner, len(group.outcomes), *shown, cells["kind"], None if p is None else _p(p)])
    columns = ["rank", "learner", "seeds", "reward", "value", "gap", "kind", "p against rank 1"]
    table = Table(f"{game}: ranked by mean {by} (mean [95 % bootstrap interval] over seeds)", columns, rows, head=2)
    pairs = None
    if len(known) > 2:
        lines: list[list[Cell]] = []
        for i in range(len(known)):
            row = [_p(tests[min(i, j), max(i, j)]) if i != j else "—" for j in range(len(known))]
            lines.append([f"{i + 1}. {ranked[i].learner}", *row])
        title = f"{game}: p of each pair that {by} has the same distribution (Mann–Whitney, two-sided, Holm)"
        pairs = Table(title, ["", *(str(j + 1) for j in range(len(known)))], lines)
    tested = [{"pair": [ranked[i].learner, ranked[j].learner], "p": p} for (i, j), p in tests.items()]
    return table, pairs, {"rows": found, "pairs": tested}


def _tests(groups: list[Group], by: str) -> dict[tuple[int, int], float]:
    """Return the p-value of each pair, corrected by Holm for their number."""
    from scipy.stats import mannwhitneyu  # imported where it is used, see core/statistics.py

    raw: dict[tuple[int, int], float] = {}
    for i, j in itertools.combinations(range(len(groups)), 2):
        x, y = _numbers(groups[i], by), _numbers(groups[j], by)
        assert x is not None
        assert y is not None
        same = len(set(x) | set(y)) == 1
        raw[i, j] = 1.0 if same else float(mannwhitneyu(x, y, alternative="two-sided").pvalue)
    largest = 0.0
    found: dict[tuple[int, int], float] = {}
    for k, (pair, p) in enumerate(sorted(raw.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(raw) - k) * p))
        found[pair] = largest
    return found


def _numbers(group: Group, word: str) -> list[float] | None:
    """Return one number of each seed: agent 0's reward or value, or the largest gap; None where it is not known."""
    if word == "reward":
        return [one.reward[0] for one in group.outcomes]
    if word == "value":
        values = [one.value[0] for one in group.outcomes if one.value is not None]
        return values if len(values) == len(group.outcomes) else None
    gaps = [max(one.gap.upper) for one in group.outcomes if one.gap is not None]
    known = len(gaps) == len(group.outcomes) and all(math.isfinite(gap) for gap in gaps)
    return gaps if known else None


def _kind(group: Group) -> str:
    gaps = [one.gap for one in group.outcomes if one.gap is not None]
    if not gaps:
        return ""
    weakest = max(gaps, key=lambda gap: SOURCES.index(gap.source))
    return gap_words(weakest.kind, weakest.source)


def _interval(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return "—"
    return interval(cell["mean"], *cell["ci95"])


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"
