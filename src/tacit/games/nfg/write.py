"""Write a game with one state as a .nfg file."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tacit.core import text
from tacit.core.errors import TacitError
from tacit.games.tabular import TabularGame, check_game


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game with one state and the same rewards at every step; its horizon and names are not written.

    Numbers are written so that reading them back gives the same bits.
    """
    check_game(game)
    if game.states > 1 or game.rewards.shape[1] > 1:
        raise TacitError(f"{game!r} has more than one state, or changes with the step; a .nfg file holds one table")
    text.write(path, _pieces(game))


def _pieces(game: TabularGame) -> Iterator[str]:
    players = " ".join(f'"Player {i + 1}"' for i in range(game.agents))
    actions = " ".join(str(a) for a in game.actions)
    yield f'NFG 1 R "{_plain(game.name or "")}" {{ {players} }} {{ {actions} }}\n\n'
    profiles = game.rewards[:, 0, 0].T.reshape(-1, game.agents)  # the first player's action runs fastest
    for payoffs in profiles:
        yield " ".join(repr(r).replace("e+", "e") for r in payoffs.tolist()) + "\n"  # Gambit takes no plus sign


def _plain(name: str) -> str:
    """Return a name on one line, without what ends or escapes within a string."""
    printable = "".join(character if character.isprintable() else " " for character in name)
    return printable.replace('"', "'").replace("\\", "/")
