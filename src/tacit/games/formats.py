"""Files of games: `.npz`, Gambit's `.nfg`, and what the readers of text formats share."""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.games.exact import Successors
from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame, check_axes


class LineError(TacitError):
    """A wrong input on a line of a file, which may be an earlier line."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


@contextmanager
def locate_errors(file: Path, reader: Any = None) -> Iterator[None]:
    """Put the file, and the line where known, before an error that is raised within."""
    try:
        yield
    except TacitError as error:
        line = getattr(error, "line", None) or (reader and max(reader.line, 1))
        raise TacitError(f"{file}:{line}: {error}" if line else f"{file}: {error}") from None


_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d+)/(\d+)", re.ASCII)


def nearest(token: str) -> float:
    """Return the float nearest to a decimal or a fraction. NaN if it is neither.

    >>> nearest("-1/3"), nearest("1e-3"), nearest("1/0")
    (-0.3333333333333333, 0.001, nan)
    """
    try:
        if fraction := _FRACTION.fullmatch(token):
            return int(fraction[1]) / int(fraction[2])
        return float(token) if _DECIMAL.fullmatch(token) else math.nan
    except (ValueError, ZeroDivisionError, OverflowError):  # thousands of digits, x/0, beyond the largest float
        return math.nan


# A game as `.npz`. Arrays: `rewards`, `initial`, `horizon` or `discount`, and either `transitions` (dense) or
# `successor_first`, `successor_state`, `successor_prob` (see `Successors`), whichever is smaller; optional `name`,
# `state_names`, `action_names_<agent>`, `notes`, and of tables that end where a search did, `edge`.


def save_npz(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game."""
    arrays: dict[str, npt.ArrayLike] = {
        "rewards": game.rewards,
        "initial": game.initial,
        **({"horizon": np.int64(game.horizon)} if game.discount is None else {"discount": np.float64(game.discount)}),
    }
    if len(game.successors.state) * 2 < game.successors.rows * game.states:
        arrays |= {f"successor_{key}": value for key, value in game.successors._asdict().items()}
    else:
        arrays["transitions"] = game.transitions
    if game.name is not None:
        arrays["name"] = np.array(game.name)
    if game.state_names is not None:
        arrays["state_names"] = np.array(game.state_names)
    for i, names in enumerate(game.action_names or ()):
        arrays[f"action_names_{i}"] = np.array(names)
    if game.notes:
        arrays["notes"] = np.array(game.notes)
    if game.edge:
        arrays["edge"] = np.int64(game.edge)
    files.write_arrays(path, arrays)


def load_npz(path: str | os.PathLike[str], *, horizon: int | None = None, discount: float | None = None) -> TabularGame:
    """Read a game. A horizon or discount replaces the stored one, where the game is the same at every step."""
    arrays = files.read_arrays(path)
    missing = [key for key in ("rewards", "initial") if key not in arrays]
    stored = horizon is None and discount is None
    if stored and "horizon" not in arrays and "discount" not in arrays:
        missing.append("horizon or discount")
    if "transitions" not in arrays and "successor_first" not in arrays:
        missing.append("transitions")
    if missing:
        content = one_line(", ".join(sorted(arrays)), 200) or "nothing"
        raise TacitError(f"{path} is not a game: it has no {' and no '.join(missing)} (it has {content})")
    try:
        if stored:
            horizon = files.single("horizon", arrays["horizon"]) if "horizon" in arrays else None
            discount = files.single("discount", arrays["discount"]) if "discount" in arrays else None
        game = TabularGame(
            _transitions(arrays),
            Owned(arrays["rewards"]),
            arrays["initial"],
            horizon,
            discount=discount,
            name=files.single("name", arrays["name"]) if "name" in arrays else None,
            state_names=files.words("state_names", arrays["state_names"]) if "state_names" in arrays else None,
            action_names=_action_names(arrays),
            notes=files.words("notes", arrays["notes"]) if "notes" in arrays else (),
        )
        if "edge" in arrays:
            game.edge = check.integer("edge", files.single("edge", arrays["edge"]), least=0, most=game.states)
        if game.edge and discount is not None:
            return game.with_discount(discount)  # says why it cannot be
        return game
    except TacitError as error:
        raise TacitError(f"{path}: {error}") from None
    except (TypeError, KeyError, ValueError, IndexError, OverflowError) as error:
        raise TacitError(f"{path} is not a game: {one_line(error, 300)}") from None


def _transitions(arrays: dict[str, Any]) -> Owned[Any]:
    if "transitions" in arrays:
        return Owned(arrays["transitions"])
    first, state, prob = (arrays[f"successor_{key}"] for key in Successors._fields)
    return Owned(Successors(first.astype(np.int64), state.astype(np.int32), prob.astype(np.float64)))


def _action_names(arrays: dict[str, Any]) -> list[list[str]] | None:
    keys = sorted((key for key in arrays if key.startswith("action_names_")), key=lambda key: int(key.split("_")[-1]))
    if keys != [f"action_names_{i}" for i in range(len(keys))]:
        raise TacitError(
            f"action names are of {one_line(', '.join(keys), 200)}; there must be one array for each agent, from 0"
        )
    return [files.words(key, arrays[key]) for key in keys] or None


# Strategic games in Gambit's format `.nfg`.
#
# Read are the payoff form and the outcome form, both with numbers of strategies or with their names, for any number of
# players. A number is an integer, a decimal or a fraction, and is rounded once, to the nearest float. The first
# player's strategies run fastest. Written is the payoff form with numbers of strategies, which Gambit and OpenSpiel
# read; OpenSpiel does not read names. Memory: about 5 bytes for each byte of the file, and 64 for each number in its
# table. Errors are reported as `file:line: sentence`.

#: Bytes for each number of the table while it is put in order and made into a game.
_PER_NUMBER = 64

#: Quantifiers are possessive, since a way back would be remembered for every character of a string; the last
#: alternative is a quote that is not closed.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}]|[^\s{},"]++|"', re.DOTALL)


class Tokens:
    """The tokens of a file one after the other. They are not all held at once.

    Attributes
    ----------
    current : str
        The token that comes next; at the end it is empty.
    characters : int
        The length of the file.
    """

    def __init__(self, file: Path) -> None:
        self._text = files.read_utf8(file)
        self._matches = _TOKEN.finditer(self._text)
        self.characters = len(self._text)
        self.advance()

    def advance(self) -> None:
        """Go on to the next token."""
        match = next(self._matches, None)
        self.current = match[0] if match else ""
        self._begin = match.start() if match else len(self._text.rstrip())

    @property
    def line(self) -> int:
        """The line of the current token, counted from 1."""
        return self._text.count("\n", 0, self._begin) + 1

    def refuse(self, wanted: str) -> NoReturn:
        """Say what must be here."""
        current = f"there is {brief(self.current)}" if self.current else "the file ends"
        raise LineError(self.line, f"{current} where {wanted} must be")

    def take(self, *wanted: str) -> str:
        """Take a token, which must be one of these."""
        token = self.current
        if token not in wanted:
            self.refuse(" or ".join(word or "the end of the file" for word in wanted))
        self.advance()
        return token

    def string(self, what: str) -> str:
        """Take a string and return it without its quotes."""
        token = self.current
        if len(token) < 2 or token[0] != '"':
            self.refuse(f"{what} in quotes")
        self.advance()
        return token[1:-1].replace('\\"', '"')

    def count(self, what: str, *, least: int, most: int) -> int:
        """Take a whole number."""
        token = self.current
        if not (token.isdigit() and token.isascii() and len(token) <= 18 and least <= int(token) <= most):
            self.refuse(f"{what} from {least} to {most}")
        self.advance()
        return int(token)

    def number(self, what: str) -> float:
        """Take a finite number."""
        value = nearest(self.current)
        if not math.isfinite(value):
            self.refuse(f"{what}, a finite number like 3, -0.5, 1e-3 or 1/3,")
        self.advance()
        return value


def load_nfg(path: str | os.PathLike[str], *, horizon: int | None = None) -> TabularGame:
    """Read a strategic game, to be played `horizon` times (once, if it is None).

    Names of strategies are kept unless one is empty or repeats; names of players are not.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pennies.nfg")
    >>> _ = path.write_text('NFG 1 R "Matching pennies" { "Even" "Odd" } { 2 2 } 1 -1 -1 1 -1 1 1 -1')
    >>> load_nfg(path)
    TabularGame('Matching pennies': 2 agents, 1 state, 2×2 actions, horizon 1, rewards in [-1, 1])
    """
    file = files.path(path)
    if horizon is not None:
        horizon = check.integer("horizon", horizon)
    tokens = Tokens(file)
    with locate_errors(file, tokens):
        tokens.take("NFG")
        tokens.take("1")
        tokens.take("R", "D")
        title = tokens.string("the title") or None
        actions, names = _strategies(tokens, _players(tokens))
        if tokens.current.startswith('"'):  # a comment
            tokens.string("a comment")
        read_table = _outcome_form if tokens.current == "{" else _payoff_form
        table = read_table(tokens, actions)
        tokens.take("")
    with locate_errors(file):
        payoffs = table.reshape(*reversed(actions), len(actions)).T  # [N, A_1, …, A_N]
        return matrix_game(payoffs, horizon=1 if horizon is None else horizon, name=title, action_names=names)


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
    distinct = all(len(set(labels)) == len(labels) and "" not in labels for labels in names)
    return [len(labels) for labels in names], names if distinct else None


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
    """Read payoffs of outcomes and then an outcome for each profile, where 0 pays nothing. As [profiles, N]."""
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


def save_nfg(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game with one state and the same rewards at every step as .nfg. Its horizon and names are not written.

    Numbers are written so that reading them back gives the same bits.
    """
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
