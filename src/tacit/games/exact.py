"""Games whose rules are known in full, so that policies can be evaluated exactly: tables, and tables over counts."""

from __future__ import annotations

from typing import TypeGuard

from tacit.core.errors import TacitError, brief
from tacit.games.count import CountGame
from tacit.games.tabular import TabularGame

ExactGame = TabularGame | CountGame


def is_exact(game: object) -> TypeGuard[ExactGame]:
    """Return whether policies of a game can be evaluated exactly."""
    return isinstance(game, TabularGame | CountGame)


def check_exact(game: object) -> None:
    """Raise unless policies of a game can be evaluated exactly."""
    if not is_exact(game):
        tables = "; tacit.tabulate makes tables of functions over states" if hasattr(game, "kernels") else ""
        raise TacitError(
            f"game is {brief(game)}; it must be a TabularGame or a CountGame, as from tacit.make or tacit.load{tables}"
        )


def with_tables(game: object) -> TabularGame:
    """Return a game with joint tables: a counting game's are written out, if they fit."""
    if isinstance(game, CountGame):
        return game.tabular()
    check_exact(game)
    assert isinstance(game, TabularGame)
    return game
