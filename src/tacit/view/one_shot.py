"""The game itself, where it is small: payoffs of two agents in one state, and their Nash equilibria."""

from __future__ import annotations

from typing import Any

from tacit.core.errors import TacitError
from tacit.evaluation.equilibria import enumerable, equilibria
from tacit.games.exact import ExactGame
from tacit.games.naming import action_names
from tacit.games.tabular import TabularGame
from tacit.view.documents import text

#: Actions of each agent, and equilibria, at most.
ACTIONS, EQUILIBRIA = 8, 12


def game_document(game: ExactGame) -> dict[str, Any] | None:
    """Return payoffs and equilibria of a game of two agents and one state; None where there is more to a game."""
    if game.anonymous or game.agents != 2 or game.states > 1 or max(game.actions) > ACTIONS:
        return None
    game = game.tabular()
    names = [[text(name) for name in action_names(game, i)] for i in (0, 1)]
    own, other = (game.step_rewards(0)[i][0] for i in (0, 1))
    cells = [[[float(own[a, b]), float(other[a, b])] for b in range(len(names[1]))] for a in range(len(names[0]))]
    return {"rows": names[0], "columns": names[1], "cells": cells, "equilibria": _equilibria(game, names)}


def _equilibria(game: TabularGame, names: list[list[str]]) -> list[str]:
    """Return the Nash equilibria of a game played once, in words."""
    if game.horizon > 1 or not enumerable(game):
        return []
    try:
        found = equilibria(game).policies[:EQUILIBRIA]
    except TacitError:
        return []
    return ["; ".join(_mixture(p.probs[i][0, 0], names[i], i) for i in (0, 1)) for p in found]


def _mixture(probs: Any, names: list[str], i: int) -> str:
    played = [f"{name} {p:.4g}" for name, p in zip(names, probs, strict=True) if p > 0]
    alone = next(name for name, p in zip(names, probs, strict=True) if p > 0)
    return f"agent {i}: {alone if len(played) == 1 else ', '.join(played)}"
