"""What people call the states and actions of a game: its own names, or numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def state_name(game: Any, s: int) -> str:
    """Return the name of a state.

    >>> from tacit.games import make
    >>> state_name(make("good-state"), 1), state_name(make("chicken"), 0)
    ('s1', '0')
    """
    names = getattr(game, "state_names", None)
    return str(s) if names is None else str(names[s])


def action_names(game: Any, agent: int) -> tuple[str, ...]:
    """Return the names of an agent's actions.

    >>> from tacit.games import make
    >>> action_names(make("chicken"), 1)
    ('yield', 'dare')
    """
    names = getattr(game, "action_names", None)
    return tuple(str(a) for a in range(game.actions[agent])) if names is None else tuple(names[agent])


def joint_name(game: Any, joint: Sequence[int]) -> str:
    """Return a joint action in words, e.g. "a0, b1"."""
    return ", ".join(action_names(game, i)[a] for i, a in enumerate(joint))
