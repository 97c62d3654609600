"""Games in the formats of Gambit: one-state games (.nfg), read and written, and trees (.efg), read.

Of .nfg are read the payoff form and the outcome form, both with numbers of strategies or with their names, for any
number of players. A number is an integer, a decimal or a fraction, and is rounded once, to the nearest float. The first
player's strategies run fastest. Written is the payoff form with numbers of strategies, which Gambit and OpenSpiel read;
OpenSpiel does not read names. Memory: about 5 bytes for each byte of the file, and 64 for each number in its table.

Of a tree, a state is a node in which a player moves; chance is part of the transitions. What a node's outcome pays is
paid on arrival, at ends and before. A tree in which some player does not know at which node it moves is refused:
`tacit` plays games whose state everybody sees. Errors are reported as `file:line: sentence`.
"""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame, check_axes, check_game
from tacit.games.tabulate import tabulate_steps
from tacit.games.text import Scanner, locate_errors, nearest

#: Bytes for each number of the table while it is put in order and made into a game.
_PER_NUMBER = 64

#: Quantifiers are possessive, since a way back would be remembered for every character of a string; the last
#: alternative is a quote that is not closed.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}]|[^\s{},"]++|"', re.DOTALL)


class Tokens(Scanner):
    """The tokens of a file one after the other; `characters` is the length of the file."""

    def __init__(self, place: Path) -> None:
        text = files.read_utf8(place)
        self.characters = len(text)
        super().__init__(text, _TOKEN)

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

    def skip_string(self) -> None:
        """Take a string if there is one."""
        if self.current.startswith('"'):
            self.string("a string")


def load(path: str | os.PathLike[str], *, horizon: int | None = None) -> TabularGame:
    """Read a strategic game, to be played `horizon` times (once, if it is None), or a tree, whose horizon is its own.

    Names of strategies are kept unless one is empty or repeats; names of players are not.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "pennies.nfg")
    >>> _ = path.write_text('NFG 1 R "Matching pennies" { "Even" "Odd" } { 2 2 } 1 -1 -1 1 -1 1 1 -1')
    >>> load(path)
    TabularGame('Matching pennies': 2 agents, 1 state, 2×2 actions, horizon 1, rewards in [-1, 1])
    >>> path = path.with_name("entry.efg")
    >>> _ = path.write_text('''EFG 2 R "Entry" { "Entrant" "Store" }
    ... p "" 1 1 "" { "in" "out" } 0
    ... p "" 2 1 "" { "yield" "fight" } 0
    ... t "" 1 "" { 2 2 }
    ... t "" 2 "" { 0 0 }
    ... t "" 3 "" { 1 5 }''')
    >>> load(path)
    TabularGame('Entry': 2 agents, 3 states, 2×2 actions, horizon 2, rewards in [0, 5])
    """
    place = files.path(path)
    if horizon is not None:
        check.integer("horizon", horizon)
    tokens = Tokens(place)
    tree = place.suffix == ".efg"
    with locate_errors(place, tokens):
        tokens.take("EFG" if tree else "NFG")
        tokens.take("2" if tree else "1")
        tokens.take("R", "D")
        title = tokens.string("the title") or None
        players = _players(tokens)
        read = _Tree(tokens, players) if tree else _Strategies(tokens, players)
        tokens.take("")
    with locate_errors(place):
        return read.make(title, horizon)


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


class _Strategies:
    """A strategic game, read."""

    def __init__(self, tokens: Tokens, players: int) -> None:
        self._actions, self._names = _strategies(tokens, players)
        tokens.skip_string()  # a comment
        outcomes = tokens.current == "{"
        self._table = _outcome_form(tokens, self._actions) if outcomes else _payoff_form(tokens, self._actions)

    def make(self, title: str | None, horizon: int | None) -> TabularGame:
        """Make the game."""
        payoffs = self._table.reshape(*reversed(self._actions), len(self._actions)).T  # [N, A_1, …, A_N]
        return matrix_game(payoffs, horizon=1 if horizon is None else horizon, name=title, action_names=self._names)


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


class _Tree:
    """What was read so far: outcomes and information sets are described where they are met first."""

    def __init__(self, tokens: Tokens, players: int) -> None:
        tokens.skip_string()  # a comment
        self.tokens, self.players, self.nodes = tokens, players, 0
        self.outcomes: dict[int, list[float]] = {}
        self.sets: dict[tuple[int, int], tuple[list[str], list[float]]] = {}
        self.root = self._read()

    def make(self, title: str | None, horizon: int | None) -> TabularGame:
        """Make the game."""
        game = tree_game(self.root, self.players, name=title, labels=self._labels())
        if horizon is not None and horizon != game.horizon:
            raise TacitError(f"the tree has a horizon of its own, {game.horizon}, its longest play; leave horizon out")
        return game

    def _read(self) -> Node:
        """Read all nodes, which are listed a branch after the other."""
        root, left = self._node()
        open_ = [(root, left)]
        while open_:
            node, left = open_[-1]
            if len(node.branches) == left:
                open_.pop()
                continue
            branch, more = self._node()
            node.branches.append(branch)
            open_.append((branch, more))
        return root

    def _labels(self) -> list[list[str]] | None:
        """Return names of each player's actions: all that the k-th one is called; None if two look the same."""
        found: list[list[list[str]]] = [[] for _ in range(self.players)]
        for (mover, _), (names, _) in self.sets.items():
            if mover != CHANCE:
                own = found[mover]
                own += [[] for _ in range(len(names) - len(own))]
                for called, name in zip(own, names, strict=False):
                    if name not in called:
                        called.append(name)
        named = [["/".join(called) for called in own] or ["none"] for own in found]
        distinct = all("" not in own and len(set(own)) == len(own) for own in named)
        return named if distinct else None

    def _node(self) -> tuple[Node, int]:
        """Read a node, and return it with the number of its branches."""
        kind = self.tokens.take("c", "p", "t")
        label = self.tokens.string("the name of a node")
        self.nodes += 1
        name = f"{label} ({self.nodes})" if label else f"node {self.nodes}"
        if kind == "t":
            return Node(self._outcome(), name=name), 0
        mover = CHANCE if kind == "c" else self.tokens.count("a player", least=1, most=self.players) - 1
        names, chances = self._set(mover)
        return Node(self._outcome(), mover, chances, name=name), len(names)

    def _set(self, mover: int) -> tuple[list[str], list[float]]:
        """Read the information set of a node, which must not have been met before unless it is chance's."""
        tokens = self.tokens
        number = tokens.count("the number of an information set", least=1, most=10**9)
        if (mover, number) in self.sets and mover != CHANCE:
            raise TacitError(
                f"player {mover + 1} moves at several nodes of information set {number} and does not know at which; "
                f"tacit reads trees with perfect information, and as a matrix of plans (.nfg) any game"
            )
        tokens.skip_string()  # its name
        if (mover, number) in self.sets and tokens.current != "{":
            return self.sets[mover, number]
        tokens.take("{")
        names: list[str] = []
        chances: list[float] = []
        while tokens.current != "}":
            names.append(tokens.string("the name of an action"))
            if mover == CHANCE:
                chances.append(tokens.number("a probability"))
        tokens.take("}")
        if not names:
            raise TacitError(f"information set {number} has no actions")
        if mover == CHANCE and (min(chances) < 0 or abs(sum(chances) - 1) > check.SUM_TOLERANCE):
            raise TacitError(f"the probabilities {brief(chances)} of chance must be at least 0 and sum to 1")
        self.sets[mover, number] = names, chances
        return names, chances

    def _outcome(self) -> list[float]:
        """Read the outcome of a node: a number, described where it is new; 0 pays nothing."""
        tokens = self.tokens
        number = tokens.count("the number of an outcome", least=0, most=10**9)
        if number == 0:
            return [0.0] * self.players
        tokens.skip_string()  # its name
        if tokens.meet("{"):
            self.outcomes[number] = [tokens.number("a payoff") for _ in range(self.players)]
            tokens.take("}")
        if number not in self.outcomes:
            raise TacitError(f"outcome {number} has no payoffs")
        return self.outcomes[number]


#: Who moves where chance does, or nobody.
CHANCE = -1


@dataclass(eq=False)
class Node:
    """A node of a tree.

    Attributes
    ----------
    pay : sequence of N floats
        What arriving here pays.
    mover : int
        The agent that moves, or CHANCE.
    chances : sequence of floats
        Of the branches of a chance node.
    branches : list of Node
        None at an end.
    name : str
        For people; no two nodes share one.
    """

    pay: Sequence[float]
    mover: int = CHANCE
    chances: Sequence[float] = ()
    branches: list[Node] = field(default_factory=list)
    name: str = ""

    def __str__(self) -> str:
        return self.name


def tree_game(root: Node, agents: int, *, name: str | None = None, labels: Any = None) -> TabularGame:
    """Make the table of a tree.

    Where a node has fewer branches than the mover has actions elsewhere, the others do what its first does; who does
    not move does nothing. `labels` are names of actions, for each agent.
    """
    actions, horizon = _measure(root, agents)
    first = {node: (chance, pay) for chance, node, pay in _follow(root)}  # with what is paid before anybody moves

    def step(node: Node, joint: tuple[int, ...]) -> list[tuple[float, Any, list[float]]]:
        found = [(1.0, node, [0.0] * agents)]
        if node.branches:
            a = joint[node.mover]
            found = _follow(node.branches[a if a < len(node.branches) else 0])
        before = first[node][1] if node in first else [0.0] * agents
        return [
            (chance, after if after.branches else None, [one + two for one, two in zip(before, pay, strict=True)])
            for chance, after, pay in found
        ]

    return tabulate_steps(
        step,
        start={node: chance for node, (chance, _) in first.items()},
        actions=actions,
        horizon=horizon,
        name=name,
        action_names=labels,
        notes=["an action that a node does not have does what its first does, and nothing out of turn"],
    )


def _measure(root: Node, agents: int) -> tuple[list[int], int]:
    """Return the largest number of branches of each agent, and the most moves of a play."""
    actions, horizon, waiting = [1] * agents, 1, [(root, 0)]
    while waiting:
        node, moves = waiting.pop()
        if node.mover != CHANCE:
            moves += 1
            actions[node.mover] = max(actions[node.mover], len(node.branches))
            horizon = max(horizon, moves)
        waiting += [(branch, moves) for branch in node.branches]
    return actions, horizon


def _follow(node: Node) -> list[tuple[float, Node, list[float]]]:
    """Follow chance to the nodes where somebody moves and to the ends: probability, node, what is paid on the way."""
    found, waiting = [], [(1.0, node, [0.0] * len(node.pay))]
    while waiting:
        chance, here, paid = waiting.pop()
        paid = [so_far + one for so_far, one in zip(paid, here.pay, strict=True)]
        if here.mover == CHANCE and here.branches:
            waiting += [
                (chance * p, after, paid) for p, after in zip(here.chances, here.branches, strict=True) if p > 0
            ]
        else:
            found.append((chance, here, paid))
    return found[::-1]


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game with one state and the same rewards at every step as .nfg; its horizon and names are not written.

    Numbers are written so that reading them back gives the same bits.
    """
    if files.path(path).suffix == ".efg":  # a Markov game would have to be unrolled into a tree
        raise TacitError(f"{path}: .efg files are read and not written; .npz holds every game")
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
