"""What policies ask of games, imported when it is asked for: a device that plays a part needs NumPy and no game."""

from __future__ import annotations

from typing import Any


def check_game(game: Any) -> None:
    """Raise unless something is a game with tables."""
    from tacit.games.tabular import check_game as check

    check(game)


def is_game(game: Any) -> bool:
    """Return whether something means to be a game."""
    from tacit.games.protocol import is_game as found

    return found(game)


def times(actions: tuple[int, ...]) -> str:
    """Write the agents' numbers of actions, e.g. "2×3"."""
    from tacit.games.tabular import times as written

    return written(actions)
