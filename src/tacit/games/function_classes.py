"""Where the structs of games that are functions live: made when a game is, and found again by name.

Compiled loops are cached by the types of their arguments, and a type is stored by the name of its module and its own.
So each set of functions has a struct of its own, named by a digest of the functions, which this module has under that
name in every process that made the game.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

_made: dict[str, type] = {}


def struct(name: str, fields: tuple[str, ...]) -> tuple[type, bool]:
    """Return the NamedTuple of a name, and whether it is new."""
    new = name not in _made
    if new:
        kind = namedtuple(name, fields)  # type: ignore[misc]
        kind.__module__ = __name__
        _made[name] = kind
    return _made[name], new


def __getattr__(name: str) -> Any:
    if name in _made:
        return _made[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
