"""What learners reached on games of the atlas, in a table small enough to give advice by: reached.json.

`make atlas` writes it from docs/atlas.json: by kind of game and learner, on how many games its gap after 100,000
episodes was at most a tenth of that of uniform play, and the mean total value, from the worst (0) to the best (1).
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.games.tabular import as_tables

PLACE = Path(__file__).parent / "reached.json"

#: By how much of all games another learner must be ahead to be named.
AHEAD = 0.1


class Reached(NamedTuple):
    """What one learner reached on the games of one kind."""

    near: int  # games on which its gap is at most a tenth of uniform play's
    games: int
    welfare: float | None  # mean share of the best total, from the worst; of constant totals none


@cache
def reached() -> dict[str, dict[str, Reached]]:
    """Return the table, by kind of game and learner."""
    found = json.loads(PLACE.read_text(encoding="utf-8"))
    return {kind: {name: Reached(*row) for name, row in rows.items()} for kind, rows in found.items()}


def kind_of(game: Any) -> str:
    """Return which kind of game it is: "team", "zero-sum" or "mixed".

    >>> import tacit
    >>> [kind_of(tacit.make(name)) for name in ("matrix-team", "matching-pennies", "chicken")]
    ['team', 'zero-sum', 'mixed']
    """
    rewards = game.rewards
    if (rewards == rewards[:1]).all():
        return "team"
    total = rewards.sum(axis=0)
    constant = np.ptp(total.reshape(len(total), -1), axis=1).max() <= 1e-9 * float(np.ptp(rewards))
    return "zero-sum" if len(rewards) == 2 and constant else "mixed"


def recommend(game: Any, learner: str) -> str:
    """Return a sentence that names the learner that came nearest on such games of the atlas; "" if none did better.

    >>> import tacit
    >>> recommend(tacit.make("matching-pennies"), "q-independent").startswith("of the zero-sum games of the atlas")
    True
    """
    if as_tables(game) is None:
        return ""
    kind = kind_of(game)
    rows = reached()[kind]
    best = max(rows, key=lambda name: (rows[name].near / rows[name].games, rows[name].welfare or 0.0))
    if learner not in rows or rows[best].near / rows[best].games < rows[learner].near / rows[learner].games + AHEAD:
        return ""
    return (
        f"of the {kind} games of the atlas, {best} came to a tenth of uniform play's gap in {rows[best].near} of "
        f"{rows[best].games}, {learner} in {rows[learner].near}"
    )
