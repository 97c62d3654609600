"""The atlas: games with published values or equilibria, each with its source.

entries.json has them all: payoffs, a tree, or the name and the parameters of a function in rules.py.
`tacit.make("atlas/NAME")` makes a game, `tacit atlas` compares every figure with what `tacit.solve`,
`tacit.equilibria` and `tacit.evaluate` give.

PRISM-games solves bounded properties backwards and takes, of the equilibria of each stage, one of the best total: as
`tacit.solve(game, "nash")` does. Properties without a bound are played with a horizon beyond which nothing changes, or
changes less than the digits that are stated.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.games.atlas import rules
from tacit.games.formats import nearest
from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame, as_tables

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Figure:
    """A figure that was stated elsewhere.

    Attributes
    ----------
    question : str
        What it answers: "optimum", "nash", "ce" or "cce", for the last three with a rule of selection behind it as in
        "nash egalitarian"; "play:I", what agent I plays first in the nash solution; "equilibria", how many extreme
        equilibria there are; "sets", in how many connected sets; "gap", the nash gap of `policy`;
        "values", what it pays.
    stated : number or sequence of numbers
        One number is the total value of all agents, or a count; several are the agents' values, or probabilities.
    tolerance : float
        How far ours may be from it: 1e-9 where it was stated exactly, otherwise half of the last digit stated.
    note : str
        Where it does not agree, or needs explanation: why.
    policy : sequence of N sequences of numbers
        For "gap" and "values": what each agent plays at every step, in a game of one state.
    """

    question: str
    stated: float | Sequence[float]
    tolerance: float = 1e-9
    note: str = ""
    policy: Sequence[Sequence[float]] = ()


@dataclass(frozen=True)
class Entry:
    """A game of the atlas.

    Attributes
    ----------
    name : str
        `tacit.make("atlas/" + name)` makes the game.
    source : str
        Who stated the figures.
    about : str
        The rules, in short.
    make : function
        Makes the game; its keyword parameters are those of the game.
    figures : sequence of Figure
    read : {"figure", "game", ""}
        What was read of it in the source's code or in another public text: the figure; the game alone, and the figure
        follows from its rules; neither, so that both are derived.
    seconds : float
        Roughly how long all figures take to check; those of less than one are part of the quick tests.
    """

    name: str
    source: str
    about: str
    make: Callable[..., Any]
    figures: Sequence[Figure]
    read: str = "figure"
    seconds: float = 0.1


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(nearest(word) for word in text.split())


def _figure(question: str, stated: str, more: Mapping[str, Any] | None = None) -> Figure:
    """Return a figure; numbers are written as decimals or fractions."""
    numbers, more = _numbers(stated), dict(more or {})
    policy = [_numbers(probs) for probs in more.pop("policy", ())]
    return Figure(question, numbers if len(numbers) > 1 else numbers[0], policy=policy, **more)


def _maker(name: str, spec: Mapping[str, Any]) -> Callable[..., TabularGame]:
    """Return the function that makes the game of an entry."""
    match spec:
        case {"payoffs": payoffs}:
            return partial(payoff_game, payoffs, name=name)
        case {"zero_sum": row}:
            return partial(payoff_game, [row, 0.0 - np.array(row)], name=name)
        case {"team": common}:
            return partial(payoff_game, [common, common], name=name, horizon=25)
        case {"tree": root}:
            return partial(rules.tree, root, name=name)
    function = getattr(rules, spec["make"])
    named = {"name": name} if "name" in inspect.signature(function).parameters else {}
    parameters = spec.get("parameters", {}) | named
    return partial(function, **parameters) if parameters else function


def payoff_game(payoffs: Any, *, name: str, horizon: int = 1) -> TabularGame:
    """Make a game of payoffs [N, A_1, …, A_N]."""
    return matrix_game(payoffs, name=name, horizon=horizon)


def _entries(name: str, spec: dict[str, Any]) -> Iterator[Entry]:
    """Yield an entry. Games with the same rules have one for each pair of objectives."""
    for k, (objectives, stated, *horizon) in enumerate(spec.get("games", ()), start=1):
        parameters = spec["parameters"] | {"objectives": objectives, "horizon": horizon[0] if horizon else None}
        shared = {key: value for key, value in spec.items() if key != "games"}
        yield from _entries(f"{name}-{k}", shared | {"parameters": parameters, "figures": [["nash", stated]]})
    if "games" not in spec:
        make = _maker(name, spec)
        about = spec.get("about") or getattr(make, "func", make).__doc__ or ""
        figures = tuple(_figure(*figure) for figure in spec["figures"])
        yield Entry(name, spec["source"], about, make, figures, spec.get("read", "figure"), spec.get("seconds", 0.1))


#: All entries, by name.
ENTRIES: dict[str, Entry] = {
    entry.name: entry
    for name, spec in json.loads((FOLDER / "entries.json").read_text(encoding="utf-8")).items()
    for entry in _entries(name, spec)
}


def find(name: str) -> Entry:
    """Return the entry of a name, or raise with a suggestion. All names would fill a page."""
    if name not in ENTRIES:
        raise TacitError(f"no game of the atlas {brief(name)}{check.suggestion(name, ENTRIES)} `tacit atlas` lists all")
    return ENTRIES[name]


# what learners reached on these games ---------------------------------------------------------------------------------

#: A table small enough to give advice by, which `make atlas` writes from docs/atlas.json: by kind of game and learner,
#: on how many games its gap after 100,000 episodes was at most a tenth of the uniform policy's, and the mean total
#: value, from the worst (0) to the best (1).
REACHED = FOLDER / "reached.json"

#: By how much of all games another learner must be ahead to be named.
AHEAD = 0.1


class Reached(NamedTuple):
    """What one learner reached on the games of one kind."""

    near: int  # games on which its gap is at most a tenth of the uniform policy's
    games: int
    welfare: float | None  # mean share of the best total, from the worst; of constant totals none


@cache
def read_reached() -> dict[str, dict[str, Reached]]:
    """Return the table, by kind of game and learner."""
    table = json.loads(REACHED.read_text(encoding="utf-8"))
    return {kind: {name: Reached(*row) for name, row in rows.items()} for kind, rows in table.items()}


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
    """Return a sentence on the learner that came nearest on such games, or "".

    >>> import tacit
    >>> recommend(tacit.make("matching-pennies"), "q-independent").startswith("of the zero-sum games of the atlas")
    True
    """
    if as_tables(game) is None:
        return ""
    kind = kind_of(game)
    rows = read_reached()[kind]
    best = max(rows, key=lambda name: (rows[name].near / rows[name].games, rows[name].welfare or 0.0))
    if learner not in rows or rows[best].near / rows[best].games < rows[learner].near / rows[learner].games + AHEAD:
        return ""
    return (
        f"of the {kind} games of the atlas, {best} came to a tenth of the uniform policy's gap in {rows[best].near} of "
        f"{rows[best].games}, {learner} in {rows[learner].near}"
    )


__all__ = ["ENTRIES", "Entry", "Figure", "find"]
