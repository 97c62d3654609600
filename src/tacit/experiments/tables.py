"""Results as tables: of all measurements, and of learners, ranked."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core import check, files, registry
from tacit.core.display import Cell, Document, Table, count, drop_noise, interval
from tacit.core.errors import TacitError
from tacit.experiments.results import Group, Outcome, gap_words, group_outcomes, summarize

#: Columns of the table. `agent` is −1 where a gap is the largest of more agents than have columns of their own.
COLUMNS = (
    "game", "learner", "label", "parameters", "game_parameters", "seed", "episode", "agent", "reward", "value", "gap",
    "kind", "source",
)  # fmt: skip

_MEASURES = ("reward", "value", "gap")


def tidy(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the rows of the table, run by run and agent by agent.

    `reward` is the agent's mean return in the window that ends with the episode, `value` and `gap` are of the policy at
    that time, and `kind` and `source` say which gap it is and how sure.
    """
    if not outcomes:
        raise TacitError("there are no runs to make a table of")
    groups = {id(one): group for group in group_outcomes(outcomes) for one in group.outcomes}
    return [row for one in outcomes for row in _rows(one, groups[id(one)])]


def _rows(one: Outcome, group: Group) -> Iterator[dict[str, Any]]:
    """Yield a run's rows. Of very many agents, agent 0's rewards and values, then the largest gaps."""
    spec, curve = one.spec, one.curve
    run = {
        "game": group.game,
        "learner": spec.learner.name,
        "label": group.learner,  # what tables call it: runs of a sweep differ in it
        "parameters": json.dumps(dict(spec.learner.params), sort_keys=True, default=str),
        "game_parameters": json.dumps(dict(spec.game.params), sort_keys=True, default=str),
        "seed": spec.seed,
    }
    gap = {"kind": "" if one.gap is None else one.gap.kind, "source": "" if one.gap is None else one.gap.source}
    names = curve.dtype.names or ()
    agents = {i: {word: f"{word}_{i}" for word in _MEASURES} for i in range(one.agents)}
    if "reward_0" not in names:
        agents = {0: {"reward": "reward", "value": "value"}, -1: {"gap": "gap"}}
    for agent, columns in agents.items():
        stored = {word: name for word, name in columns.items() if name in names}
        for row in curve:
            measured = {word: float(row[stored[word]]) if word in stored else math.nan for word in _MEASURES}
            yield {**run, "episode": int(row["episode"]), "agent": agent, **measured, **gap}


def frame(outcomes: Sequence[Outcome]) -> Any:
    """Return the table as a pandas DataFrame."""
    pandas = registry.require("pandas", "pandas")
    return pandas.DataFrame(tidy(outcomes))


def write_csv(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the table as CSV; what was not measured is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in tidy(outcomes):
        unmeasured = {name: "" for name in _MEASURES if math.isnan(row[name])}
        writer.writerow({**row, **unmeasured})
    files.write(path, text.getvalue().encode(errors="backslashreplace"))


BY = ("gap", "reward", "value", "welfare")
_SHOWN = ("reward", "value", "welfare", "gap")


def ranking(groups: Sequence[Group], *, by: str | None = None) -> Document:
    """Rank learners on each game; see `Results.table`."""
    if by is not None:
        check.choice("by", by, BY)
    parts: list[str | Table] = []
    data = []
    for game in dict.fromkeys(group.game for group in groups):
        members = [group for group in groups if group.game == game]
        order = by or ("gap" if all(_numbers(group, "gap") is not None for group in members) else "reward")
        table, pairs, rows = _game(game, members, order)
        parts.append(table)
        parts += [pairs] if pairs is not None else []
        parts += [note for note in (_reversal(members),) if note]
        data.append({"game": game, "by": order, **rows})
    kinds = {group.gap_kind() for group in groups} - {("", "")}
    if {"ce"} < {kind for kind, _ in kinds}:
        parts.append("gaps are of different kinds: a ce gap is never below the nash or cce gap of the same policy")
    if len({source for _, source in kinds}) > 1:
        parts.append("a bound may be above the gap that it bounds")
    return Document(f"{count(len(groups), 'group')} of runs", parts, {"games": data})


def _game(game: str, groups: list[Group], by: str) -> tuple[Table, Table | str | None, dict[str, Any]]:
    sign = 1 if by == "gap" else -1
    measured_groups = [group for group in groups if _numbers(group, by) is not None]
    ranked = sorted(measured_groups, key=lambda group: sign * float(np.mean(_numbers(group, by))))  # type: ignore[arg-type]
    ranked += [group for group in groups if group not in measured_groups]
    tests = _tests(ranked[: len(measured_groups)], by)
    seeds = min((len(group.outcomes) for group in measured_groups), default=0)
    few = bool(tests) and len(tests) * 2 / math.comb(2 * seeds, seeds) >= 0.05  # the least p of an exact test, by Holm
    rows: list[list[Cell]] = []
    data = []
    for k, group in enumerate(ranked):
        cells: dict[str, Any] = {"rank": k + 1, "learner": group.learner, "seeds": len(group.outcomes)}
        for word in _SHOWN:
            values = _numbers(group, word)
            cells[word] = None if values is None else summarize(values).data()
        kind, source = group.gap_kind()
        cells["kind"] = gap_words(kind, source) if kind else ""
        cells["p"] = tests.get((0, k)) if k else None
        data.append(cells)
        measured = drop_noise([cells[word] for word in _SHOWN], group.scale)
        shown = ["—" if one is None else interval(one["mean"], *one["ci95"]) for one in measured]
        p = None if few else cells["p"]
        rows.append([k + 1, group.learner, len(group.outcomes), *shown, cells["kind"], None if p is None else _p(p)])
    columns = ["rank", "learner", "seeds", *_SHOWN, "kind", "p against rank 1"]
    table = Table(f"{game}: ranked by mean {by} (mean [95 % bootstrap interval] over seeds)", columns, rows, head=2)
    pairs: Table | str | None = None
    if few:
        pairs = f"{count(seeds, 'seed')}: no pair can reach p < .05"
    elif len(measured_groups) > 2:
        lines: list[list[Cell]] = []
        for i in range(len(measured_groups)):
            row = [_p(tests[min(i, j), max(i, j)]) if i != j else "—" for j in range(len(measured_groups))]
            lines.append([f"{i + 1}. {ranked[i].learner}", *row])
        title = f"{game}: p of each pair that {by} has the same distribution (Mann–Whitney, two-sided, Holm)"
        pairs = Table(title, ["", *(str(j + 1) for j in range(len(measured_groups)))], lines)
    tested = [{"pair": [ranked[i].learner, ranked[j].learner], "p": p} for (i, j), p in tests.items()]
    return table, pairs, {"rows": data, "pairs": tested}


def _reversal(groups: Sequence[Group]) -> str:
    """Name two learners whose last iterates are ranked the other way round."""
    gaps: dict[str, tuple[float, float]] = {}
    for group in groups:
        lasts = [one.candidates["last"] for one in group.outcomes if "last" in one.candidates]
        returned = _numbers(group, "gap")
        if returned is not None and len(lasts) == len(returned):
            gaps[group.learner] = float(np.mean(returned)), float(np.mean([max(last.upper) for last in lasts]))
    for (one, (x, last_x)), (other, (y, last_y)) in itertools.combinations(gaps.items(), 2):
        if (x - y) * (last_x - last_y) < 0:
            before, after = (one, other) if x < y else (other, one)
            return f"the choice of candidate decides: {before} is before {after}, by last iterates it is behind"
    return ""


def rates(groups: Sequence[Group]) -> Document:
    """Fit the slope of log gap over log episode of each group; see `Results.rate`."""
    rows: list[list[Cell]] = []
    data = []
    for group in groups:
        slopes = []
        for one in group.outcomes:
            curve = one.curve[np.nan_to_num(one.curve["gap"]) > 0]
            if len(curve) > 1:
                slopes.append(float(np.polyfit(np.log(curve["episode"]), np.log(curve["gap"]), 1)[0]))
        slope = summarize(slopes).data() if slopes else None
        data.append({"game": group.game, "learner": group.learner, "seeds": len(slopes), "slope": slope})
        shown = "—" if slope is None else interval(slope["mean"], *slope["ci95"])
        rows.append([group.game, group.learner, len(slopes), shown])
    table = Table("", ["game", "learner", "seeds", "slope [95 % interval]"], rows, head=2)
    return Document("slope of log gap over log episode", [table], {"rates": data})


#: What LaTeX would take for a command.
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "—": "---", "−": "$-$"}
_LATEX |= {char: f"\\{char}" for char in "&%$#_{}"}


def latex(document: Document) -> str:
    """Return the tables of a document as LaTeX, with booktabs."""
    blocks = []
    for table in document.parts:
        if not isinstance(table, Table):
            blocks.append(f"% {table}")
            continue
        lines = [[_escape(cell) for cell in row] for row in ([*table.columns], *table.cells())]
        head, *rows = [f"{' & '.join(line)} \\\\" for line in lines]
        columns = "l" * len(table.columns)
        body = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
        blocks.append("\n".join([f"% {table.title}", f"\\begin{{tabular}}{{{columns}}}", *body, "\\end{tabular}"]))
    return "\n\n".join(blocks) + "\n"


def _escape(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def _tests(groups: list[Group], by: str) -> dict[tuple[int, int], float]:
    """Return the p-value of each pair, corrected by Holm for their number."""
    from scipy.stats import mannwhitneyu  # it takes longer to import than all the rest

    raw: dict[tuple[int, int], float] = {}
    for i, j in itertools.combinations(range(len(groups)), 2):
        x, y = _numbers(groups[i], by), _numbers(groups[j], by)
        assert x is not None
        assert y is not None
        same = len(set(x) | set(y)) == 1
        raw[i, j] = 1.0 if same else float(mannwhitneyu(x, y, alternative="two-sided").pvalue)
    largest = 0.0
    corrected: dict[tuple[int, int], float] = {}
    for k, (pair, p) in enumerate(sorted(raw.items(), key=lambda item: item[1])):
        largest = max(largest, min(1.0, (len(raw) - k) * p))
        corrected[pair] = largest
    return corrected


def _numbers(group: Group, word: str) -> list[float] | None:
    """Return one number of each seed; None where it is not known.

    They are agent 0's reward or value, the sum of all values, or the largest gap.
    """
    if word == "reward":
        return [one.reward[0] for one in group.outcomes]
    if word in ("value", "welfare"):
        values = [
            one.value[0] if word == "value" else sum(one.value) for one in group.outcomes if one.value is not None
        ]
        return values if len(values) == len(group.outcomes) else None
    gaps = [max(one.gap.upper) for one in group.outcomes if one.gap is not None]
    finite = len(gaps) == len(group.outcomes) and all(math.isfinite(gap) for gap in gaps)
    return gaps if finite else None


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.2g}"
