"""One-state games in the .nfg format of Gambit, read and written.

Read are the payoff form and the outcome form, both with numbers of strategies or with their names, for any number of
players. A number is an integer, a decimal or a fraction, and is rounded once, to the nearest float. The first player's
strategies run fastest. Errors are reported as `file:line: sentence`.

Written is the payoff form with numbers of strategies, which Gambit and OpenSpiel read; OpenSpiel does not read names.

Memory: about 5 bytes for each byte of the file, and 64 for each number in its table.
"""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import numpy as np

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame, check_axes, check_game

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
    place = files.path(path)
    steps = check.integer("horizon", 1 if horizon is None else horizon)
    tokens = Tokens(place)
    try:
        title = _title(tokens)
        actions, names = _strategies(tokens, read_players(tokens))
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


def read_players(tokens: Tokens) -> int:
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


#: Quantifiers are possessive, since a way back would be remembered for every character of a string; the last
#: alternative is a quote that is not closed.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}]|[^\s{},"]++|"', re.DOTALL)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d+)/(\d+)", re.ASCII)


class Tokens:
    """The tokens of a file one after the other.

    Attributes
    ----------
    current : str
        The token that comes next; at the end of the file it is empty.
    characters : int
        Length of the file.
    """

    def __init__(self, place: Path) -> None:
        self._text = files.read_utf8(place)
        self._matches = _TOKEN.finditer(self._text)
        self.characters = len(self._text)
        self._advance()

    @property
    def line(self) -> int:
        """The line of the current token, counted from 1."""
        return self._text.count("\n", 0, self._begin) + 1

    def take(self, *wanted: str) -> str:
        """Take a token, which must be one of these."""
        token = self.current
        if token not in wanted:
            self._refuse(" or ".join(word or "the end of the file" for word in wanted))
        self._advance()
        return token

    def string(self, what: str) -> str:
        """Take a string and return it without its quotes."""
        token = self.current
        if len(token) < 2 or token[0] != '"':
            self._refuse(f"{what} in quotes")
        self._advance()
        return token[1:-1].replace('\\"', '"')

    def count(self, what: str, *, least: int, most: int) -> int:
        """Take a whole number."""
        token = self.current
        if not (token.isdigit() and token.isascii() and len(token) <= 18 and least <= int(token) <= most):
            self._refuse(f"{what} from {least} to {most}")
        self._advance()
        return int(token)

    def number(self, what: str) -> float:
        """Take a finite number."""
        value = nearest(self.current)
        if not math.isfinite(value):
            self._refuse(f"{what}, a finite number like 3, -0.5, 1e-3 or 1/3,")
        self._advance()
        return value

    def _refuse(self, wanted: str) -> NoReturn:
        found = f"there is {brief(self.current)}" if self.current else "the file ends"
        raise TacitError(f"{found} where {wanted} must be")

    def _advance(self) -> None:
        match = next(self._matches, None)
        self.current = match[0] if match else ""
        self._begin = match.start() if match else len(self._text.rstrip())


def nearest(token: str) -> float:
    """Return the float nearest to a decimal or a fraction, or NaN if it is neither; Python rounds both correctly.

    >>> nearest("-1/3"), nearest("1e-3"), nearest("1/0")
    (-0.3333333333333333, 0.001, nan)
    """
    try:
        if fraction := _FRACTION.fullmatch(token):
            return int(fraction[1]) / int(fraction[2])
        return float(token) if _DECIMAL.fullmatch(token) else math.nan
    except (ValueError, ZeroDivisionError, OverflowError):  # thousands of digits, x/0, beyond the largest float
        return math.nan


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game with one state and the same rewards at every step; its horizon and names are not written.

    Numbers are written so that reading them back gives the same bits.
    """
    check_game(game)
    if game.states > 1 or game.rewards.shape[1] > 1:
        raise TacitError(f"{game!r} has more than one state, or changes with the step; a .nfg file holds one table")
    files.write_pieces(path, _pieces(game))


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
