"""What policies ask of games, imported when it is asked for: a device that plays a part needs NumPy and no game."""

from __future__ import annotations

from typing import Any


def check_game(game: Any) -> None:
    """Raise unless policies of a game can be evaluated exactly."""
    from tacit.games.exact import check_exact

    check_exact(game)


def is_game(game: Any) -> bool:
    """Return whether something means to be a game."""
    from tacit.games.protocol import is_game as found

    return found(game)


def times(actions: tuple[int, ...]) -> str:
    """Write the agents' numbers of actions, e.g. "2×3"."""
    from tacit.games.tabular import times as written

    return written(actions)
