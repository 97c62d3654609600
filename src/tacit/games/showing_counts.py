"""A counting game in tables: what an action pays by how many chose it, and what leads where."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core import check
from tacit.core.table import Cell, Document, Table, number
from tacit.games.naming import action_names, state_name
from tacit.games.showing import MORE, STATES, heading, opening, state_number, summary
from tacit.games.tabular import count

if TYPE_CHECKING:
    from tacit.games.count import CountGame

#: Rows of a table unless more are asked for.
ROWS = 12


def show_counts(game: CountGame, *, state: int | str | None, step: int | None, limit: int | None) -> Document:
    """Show a counting game; see `CountGame.show`."""
    h = 0 if step is None else check.integer("step", step, least=0, most=game.horizon - 1)
    if limit is not None:
        check.integer("limit", limit, least=1)
    most = game.states if limit is None else min(game.states, STATES)
    states = list(range(most)) if state is None else [state_number(game, state)]
    parts: list[str | Table] = [*opening(game)]
    if not (game.weights == 1).all():
        parts.append("each agent's rewards are these times its own weights")
    parts.append(f"agents are anonymous: only how many chose what matters; this is step {h}")
    payoffs, transitions = [], []
    for s in states:
        where = f" in {state_name(game, s)}" if game.states > 1 else ""
        table = _rewards(game, h, s, where, limit)
        parts.append(table)
        payoffs.append({"step": h, "state": state_name(game, s), "columns": list(table.columns), "rows": table.rows})
        if game.states > 1 and game.horizon > 1:
            table = _moves(game, h, s, limit)
            parts.append(table)
            rows = {"columns": list(table.columns), "rows": table.rows}
            transitions.append({"step": h, "state": state_name(game, s), **rows})
    left = game.states - most if state is None else 0
    if left:
        parts.append(f"{count(left, 'more state')} {'is' if left == 1 else 'are'} not shown; {MORE}")
    data: dict[str, Any] = {"payoffs": payoffs, "transitions": transitions, "states_not_shown": left}
    return Document(heading(game), parts, {**summary(game), **data})


def _rewards(game: CountGame, h: int, s: int, where: str, limit: int | None) -> Table:
    names = action_names(game, 0)
    if game.load:
        rows: list[list[Cell]] = []
        for n in _some(game.agents, limit):
            paid: list[Cell] = []
            for a in range(len(names)):
                counts = np.zeros(len(names), dtype=np.int64)
                counts[a - 1] = game.agents - n  # all others elsewhere, where there is an elsewhere
                counts[a] = n
                paid.append(game.reward(h, s, a, counts))
            rows.append([n, *paid])
        title = f"reward{where} of an action by how many chose it, oneself included"
        return Table(_cut(title, game.agents, len(rows)), ["how many", *names], rows)
    vectors = game._counts
    rows = []
    for k in _some(len(vectors), limit):
        counts = vectors[k - 1]
        row = [game.reward(h, s, a, counts) if counts[a] else None for a in range(len(names))]
        rows.append([", ".join(str(c) for c in counts), *row])
    title = f"reward{where} of an action by how many chose {', '.join(names)}"
    return Table(_cut(title, len(vectors), len(rows)), ["counts", *names], rows)


def _moves(game: CountGame, h: int, s: int, limit: int | None) -> Table:
    """List where totals lead; totals that lead to the same are one row."""
    statistic = game.transition_statistic
    table = game._transitions[h if len(game._transitions) > 1 else 0, s].T  # [X, S]
    vectors = game._counts if game.scores is None else None
    if vectors is not None:
        kept = [int(np.dot(statistic.scores, counts)) for counts in vectors]
        table = table[kept]
    ends = [0, *(np.flatnonzero((table[1:] != table[:-1]).any(axis=1)) + 1).tolist(), len(table)]
    rows: list[list[Cell]] = []
    spans = [(begin, end) for begin, end in itertools.pairwise(ends) if table[begin].any()]  # others are no totals
    for pick in _some(len(spans), limit):
        begin, end = spans[pick - 1]
        row = table[begin]
        where = " or ".join(f"{state_name(game, int(t))} ({number(float(row[t]))})" for t in np.flatnonzero(row)[:6])
        if vectors is None:
            rows.append([str(begin) if end == begin + 1 else f"{begin} to {end - 1}", where])
        else:
            first = ", ".join(str(c) for c in vectors[begin])
            last = ", ".join(str(c) for c in vectors[end - 1])
            rows.append([first if end == begin + 1 else f"{first} to {last}", where])
    names = action_names(game, 0)
    column = "counts"
    if vectors is None:
        column = "total"
        weights = ", ".join(f"{name} {w}" for name, w in zip(names, statistic.scores, strict=False))
        by = f"by the sum of scores ({weights})" if max(statistic.scores) else "whatever is chosen"
        if sorted(statistic.scores) == [*[0] * (len(names) - 1), 1]:
            column = names[statistic.scores.index(1)]
            by = f"by how many chose {column}"
        title = f"from {state_name(game, s)}, {by}"
    else:
        title = f"from {state_name(game, s)}, by how many chose {', '.join(names)}"
    return Table(_cut(title, len(spans), len(rows)), [column, "next"], rows)


def _some(total: int, limit: int | None) -> list[int]:
    """Return whole numbers from 1 to `total`: all, or some of them from end to end."""
    if limit is None or total <= ROWS:
        return list(range(1, total + 1))
    return sorted({round(x) for x in np.geomspace(1, total, ROWS)})


def _cut(title: str, total: int, shown: int) -> str:
    return title if shown == total else f"{title} ({shown} of {total:,} rows; {MORE})"
