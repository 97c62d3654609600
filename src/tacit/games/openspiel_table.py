"""The states of an OpenSpiel game, written into the arrays of a tabular game."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, one_line
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.games import successors
from tacit.games.openspiel_states import Actions, Ambiguous, Place, Search, Stage
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame


def table(game: Any, *, horizon: int | None, key: Callable[[Any], object], limit: int) -> TabularGame:
    """Find the states of a game with perfect information, and make its table."""
    found, notes = _find(game, horizon, key, limit)
    if not found.stages:
        raise TacitError(f"{game} has no state in which an agent moves; check its parameters")
    if horizon is None:
        horizon = found.depth
        notes.append(f"the horizon, {horizon}, is the longest play")
    actions = tuple(tuple(sorted(own)) or (-1,) for own in found.names)  # -1 stands for an agent that never moves
    if any(place and stage.legal != actions for place, stage in found.stages.items()):
        notes.append("an action that is not legal does what the agent's first legal one does, and nothing out of turn")
    index = {place: s for s, place in enumerate(found.stages)}
    transitions, rewards = _arrays(list(found.stages.values()), index, actions)
    initial = np.zeros(len(index))
    initial[[index[place] for place in found.initial]] = list(found.initial.values())
    return TabularGame(
        Owned(transitions),
        Owned(rewards),
        initial,
        horizon,
        name=str(game),
        state_names=distinct(_text(place) for place in found.stages),
        action_names=[
            distinct(names.get(a, "none") for a in own) for own, names in zip(actions, found.names, strict=True)
        ],
        notes=notes,
    )


def _find(game: Any, horizon: int | None, key: Callable[[Any], object], limit: int) -> tuple[Search, list[str]]:
    """Search the states, told apart by their keys, or where that does not suffice by the moves before as well."""
    try:
        return Search(game, horizon=horizon, key=key, limit=limit, timed=False), []
    except Ambiguous as error:
        followed = error.followed
        note = "states are told apart by the number of moves before as well, since it changes what follows"
    try:
        return Search(game, horizon=horizon, key=key, limit=limit, timed=True, followed=followed), [note]
    except Ambiguous as error:
        raise TacitError(
            f"{game} has different states with the same key, {error}; pass key=, a function that tells them apart"
        ) from None


def _arrays(stages: list[Stage], index: dict[Place, int], actions: Actions) -> tuple[Successors, FloatArray]:
    """Return the successors and the rewards [N, 1, S, A_1, …, A_N] of stages with legal joint actions only."""
    sizes = [len(own) for own in actions]
    rows = len(stages) * math.prod(sizes)
    memory.require(memory.floats(rows, 2 * len(sizes) + 4), f"a table of {rows:,} rows")
    ahead = [outcomes for stage in stages for outcomes in stage.ahead]
    legal = successors.from_entries(
        np.repeat(np.arange(len(ahead)), [len(outcomes) for outcomes in ahead]),
        [index[place] for outcomes in ahead for place in outcomes],
        [chance for outcomes in ahead for chance in outcomes.values()],
        len(ahead),
    )
    rewards = np.array([reward for stage in stages for reward in stage.rewards])
    chosen = _legal_rows(stages, actions)
    return _take(legal, chosen), np.ascontiguousarray(rewards[chosen].T).reshape(-1, 1, len(stages), *sizes)


def _legal_rows(stages: list[Stage], actions: Actions) -> IntArray:
    """For each state and joint action [S·J], return the row among the legal ones that it stands for."""
    chosen, begin = [], 0
    for stage in stages:
        places = [{action: k for k, action in enumerate(own)} for own in stage.legal]
        spread = [[own.get(action, 0) for action in every] for own, every in zip(places, actions, strict=True)]
        shape = [len(own) or 1 for own in stage.legal]
        chosen.append(begin + np.ravel_multi_index(np.ix_(*spread), shape).ravel())
        begin += math.prod(shape)
    return np.concatenate(chosen)


def _take(rows: Successors, chosen: IntArray) -> Successors:
    """Return the chosen rows, in their order and as often as chosen."""
    lengths = np.diff(rows.first)[chosen]
    first = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(first[-1]) + np.repeat(rows.first[chosen] - first[:-1], lengths)
    return Successors(first, rows.state[entries], rows.prob[entries])


def _text(place: Place) -> str:
    """Write a place on one line."""
    if place is None:
        return "over"
    key, _, depth = place
    text = one_line(key)
    return text if depth is None else f"{depth}: {text}"


def distinct(names: Iterable[str]) -> list[str]:
    """Number the names that occurred before.

    >>> distinct(["left", "right", "left"])
    ['left', 'right', 'left (2)']
    """
    count: Counter[str] = Counter()
    result = []
    for name in names:
        count[name] += 1
        result.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return result
