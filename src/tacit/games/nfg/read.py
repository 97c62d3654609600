"""Read a .nfg file."""

from __future__ import annotations

import math
import os
from array import array

import numpy as np

from tacit.core import archive, limits, memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.games.matrix import matrix_game
from tacit.games.nfg.tokens import Tokens
from tacit.games.tabular import TabularGame, check_axes

#: Bytes for each number of the table while it is put in order and made into a game.
_PER_NUMBER = 64


def load(path: str | os.PathLike[str], *, horizon: int | None = None) -> TabularGame:
    """Read a strategic game, to be played `horizon` times (once, if it is None).

    Names of strategies are kept unless one is empty or repeats; names of players are not.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pennies.nfg")
    >>> _ = path.write_text('NFG 1 R "Matching pennies" { "Even" "Odd" } { 2 2 } 1 -1 -1 1 -1 1 1 -1')
    >>> load(path)
    TabularGame('Matching pennies': 2 agents, 1 state, 2×2 actions, horizon 1, rewards in [-1, 1])
    """
    place = archive.path(path)
    steps = limits.integer("horizon", 1 if horizon is None else horizon)
    tokens = Tokens(place)
    try:
        title = _title(tokens)
        actions, names = _strategies(tokens, _players(tokens))
        if tokens.current.startswith('"'):
            tokens.string("a comment")
        table = _outcome_form(tokens, actions) if tokens.current == "{" else _payoff_form(tokens, actions)
        tokens.take("")
    except TacitError as error:
        raise TacitError(f"{place}:{tokens.line}: {error}") from None
    payoffs = table.reshape(*reversed(actions), len(actions)).T  # [N, A_1, …, A_N]
    try:
        return matrix_game(payoffs, horizon=steps, name=title or None, action_names=names)
    except TacitError as error:
        raise TacitError(f"{place}: {error}") from None


def _title(tokens: Tokens) -> str:
    tokens.take("NFG")
    tokens.take("1")
    tokens.take("R", "D")
    return tokens.string("the title")


def _players(tokens: Tokens) -> int:
    """Read the players' names and return how many there are."""
    tokens.take("{")
    players = 0
    while tokens.current != "}":
        tokens.string("a player's name")
        players += 1
    check_axes(players)
    if players == 0:
        raise TacitError("there are no players")
    tokens.take("}")
    return players


def _strategies(tokens: Tokens, players: int) -> tuple[list[int], list[list[str]] | None]:
    """Read each player's number of strategies, or their names."""
    tokens.take("{")
    if tokens.current != "{":
        actions = [tokens.count("a number of strategies", least=1, most=10**18) for _ in range(players)]
        tokens.take("}")
        return actions, None
    names = [_names(tokens) for _ in range(players)]
    tokens.take("}")
    distinct = all(len(set(own)) == len(own) and "" not in own for own in names)
    return [len(own) for own in names], names if distinct else None


def _names(tokens: Tokens) -> list[str]:
    tokens.take("{")
    names = [tokens.string("a strategy's name")]
    while tokens.current != "}":
        names.append(tokens.string("a strategy's name"))
    tokens.take("}")
    return names


def _payoff_form(tokens: Tokens, actions: list[int]) -> FloatArray:
    """Read a payoff for each profile and player, as [profiles·N]."""
    count = math.prod(actions) * len(actions)
    _require(tokens, count, len(actions))
    return np.array(array("d", (tokens.number(f"payoff {k + 1} of {count}") for k in range(count))))


def _outcome_form(tokens: Tokens, actions: list[int]) -> FloatArray:
    """Read payoffs of outcomes and then an outcome for each profile, where 0 pays nothing; as [profiles, N]."""
    players = len(actions)
    tokens.take("{")
    payoffs = array("d", [0.0] * players)
    while tokens.current == "{":
        tokens.take("{")
        tokens.string("an outcome's name")
        payoffs.extend(tokens.number("a payoff") for _ in range(players))
        tokens.take("}")
    tokens.take("}")
    outcomes = len(payoffs) // players - 1
    profiles = math.prod(actions)
    _require(tokens, profiles, players)
    chosen = array("q", (tokens.count("the number of an outcome", least=0, most=outcomes) for _ in range(profiles)))
    table: FloatArray = np.array(payoffs).reshape(-1, players)[np.array(chosen)]
    return table


def _require(tokens: Tokens, numbers: int, players: int) -> None:
    """Refuse a table of more numbers than the file holds, or than memory does."""
    if numbers > tokens.characters:
        raise TacitError(f"the file is too short for a table of {brief(numbers)} numbers")
    memory.require(_PER_NUMBER * numbers * players, f"a table of {numbers} numbers")
