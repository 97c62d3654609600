"""Which games the pictures of 2×2 games can show."""

from __future__ import annotations

from typing import Any

from tacit.core.errors import TacitError


def check_small(game: Any) -> None:
    """Raise unless a game has two agents with two actions each, one state and one step; name another picture."""
    if tuple(game.actions) == (2, 2) and game.states == game.horizon == 1:
        return
    instead = ["policy (what a solution plays: --concept ce)"]
    if 3 in game.actions:
        instead.insert(0, "simplex (mixtures of three actions)")
    raise TacitError(
        f"{game!r} is not a game of two agents with two actions each, one state and one step; "
        f"of this game there can be drawn: {', '.join(instead)}"
    )
