"""What a person sees of a game while playing it, as a document and as lines of text."""

from __future__ import annotations

from typing import Any

from tacit.core.types import FloatArray
from tacit.games.naming import action_names, state_name
from tacit.view.details import picture
from tacit.view.documents import text
from tacit.view.seat import Seat, Turn

#: Actions of each agent up to which rewards are shown as a table, and steps that are shown of the past.
_SMALL, _PAST = 8, 200


def document(seat: Seat) -> dict[str, Any]:
    """Return all that the page shows of a seat."""
    game, i = seat.game, seat.agent
    pictured: dict[int, str | None] = {}
    turns = seat.turns[-_PAST:]
    return {
        "game": text(game.name or "game"),
        "agent": i,
        "agents": game.agents,
        "horizon": game.horizon,
        "episode": seat.episode,
        "step": seat.h,
        "over": seat.over,
        "state": text(state_name(game, seat.state)),
        "states": game.states,
        "picture": picture(game, seat.state, pictured),
        "actions": [text(action_names(game, i)[a]) for a in range(game.actions[i])],
        "payoffs": payoffs(seat),
        "told": None if seat.told is None else text(action_names(game, i)[seat.told]),
        "turns": [_turn(seat, turn) for turn in turns],
        "earned": seat.earned,
        "result": result(seat) if seat.over else None,
        "tally": {
            "episodes": seat.tally.episodes,
            "mean": seat.tally.mean if seat.tally.episodes else None,
            "regret": seat.tally.regret / seat.tally.episodes
            if seat.tally.episodes and seat.judge.q is not None
            else None,
            "told_regret": seat.tally.told_regret / seat.tally.episodes
            if seat.tally.episodes and seat.judge.signal is not None
            else None,
        },
        "judge": {
            "value": seat.judge.value,
            "best": seat.judge.best,
            "exact": seat.judge.exact,
            "told_best": None if seat.judge.signal is None else seat.judge.signal.best,
        },
    }


def payoffs(seat: Seat) -> dict[str, Any] | None:
    """Return the rewards of the current step as a table: own actions by the other's, own reward and the other's.

    After the last step it is that one's, and `played` says which cell it came to.
    """
    game, i = seat.game, seat.agent
    h, s = (seat.turns[-1].h, seat.turns[-1].state) if seat.over else (seat.h, seat.state)
    if game.agents != 2 or max(game.actions) > _SMALL or game.anonymous:
        return None
    own, other = (game.tabular().step_rewards(h)[k][s] for k in (i, 1 - i))
    cells: list[list[list[float]]] = [
        [[float(_at(own, i, a, b)), float(_at(other, i, a, b))] for b in range(game.actions[1 - i])]
        for a in range(game.actions[i])
    ]
    return {
        "rows": [text(action_names(game, i)[a]) for a in range(game.actions[i])],
        "columns": [text(action_names(game, 1 - i)[b]) for b in range(game.actions[1 - i])],
        "cells": cells,
        "played": [seat.turns[-1].actions[i], seat.turns[-1].actions[1 - i]] if seat.over else None,
        "shared": all(mine == theirs for row in cells for mine, theirs in row),
    }


def _at(table: FloatArray, agent: int, own: int, other: int) -> float:
    return float(table[own, other] if agent == 0 else table[other, own])


def result(seat: Seat) -> dict[str, Any]:
    """Return how an episode that is over went."""
    best = None if seat.judge.q is None else float(seat.judge.q[0, seat.first].max())
    regret = seat.regret
    return {
        "earned": seat.earned,
        "regret": regret,
        "told_regret": seat.told_regret,
        "best": best,
        "luck": None if best is None or regret is None else seat.earned - (best - regret),
        "same_luck": seat.same_luck(),
    }


def _turn(seat: Seat, turn: Turn) -> dict[str, Any]:
    game = seat.game
    return {
        "step": turn.h,
        "state": text(state_name(game, turn.state)),
        "actions": [text(action_names(game, i)[a]) for i, a in enumerate(turn.actions)],
        "reward": turn.reward,
        "regret": turn.regret,
        "told": None if turn.told is None else text(action_names(game, seat.agent)[turn.told]),
        "told_regret": turn.told_regret,
        "told_best": None if turn.told_best is None else text(action_names(game, seat.agent)[turn.told_best]),
        "best": None if turn.best is None else text(action_names(game, seat.agent)[turn.best]),
    }
