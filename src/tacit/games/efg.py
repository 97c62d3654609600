"""Trees with perfect information in the .efg format of Gambit, read.

A state is a node in which a player moves; chance is part of the transitions. What a node's outcome pays is paid on
arrival, at ends and before. A tree in which some player does not know at which node it moves is refused: `tacit` plays
games whose state everybody sees. Errors are reported as `file:line: sentence`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from tacit.core import files
from tacit.core.check import SUM_TOLERANCE
from tacit.core.errors import TacitError, brief
from tacit.games.nfg import Tokens, read_players
from tacit.games.tabular import TabularGame
from tacit.games.tree import CHANCE, Node, tree_game


def load(path: str | os.PathLike[str], *, horizon: int | None = None) -> TabularGame:
    """Read a game with perfect information; its horizon is its longest play.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "entry.efg")
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
    tokens = Tokens(place)
    try:
        tokens.take("EFG")
        tokens.take("2")
        tokens.take("R", "D")
        title = tokens.string("the title")
        tree = _Tree(tokens, _players(tokens))
        root = tree.read()
        tokens.take("")
    except TacitError as error:
        raise TacitError(f"{place}:{tokens.line}: {error}") from None
    game = tree_game(root, tree.players, name=title or None, labels=tree.labels())
    if horizon is not None and horizon != game.horizon:
        raise TacitError(f"{place} has a horizon of its own, {game.horizon}, its longest play; leave horizon out")
    return game


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Refuse: a Markov game would have to be unrolled into a tree."""
    raise TacitError(f"{path}: .efg files are read and not written; .npz holds every game")


def _players(tokens: Tokens) -> int:
    players = read_players(tokens)
    if tokens.current.startswith('"'):
        tokens.string("a comment")
    return players


@dataclass
class _Tree:
    """What was read so far: outcomes and information sets are described where they are met first."""

    tokens: Tokens
    players: int
    outcomes: dict[int, list[float]] = field(default_factory=dict)
    sets: dict[tuple[int, int], tuple[list[str], list[float]]] = field(default_factory=dict)
    nodes: int = 0

    def read(self) -> Node:
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

    def labels(self) -> list[list[str]] | None:
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
        if tokens.current.startswith('"'):
            tokens.string("the name of an information set")
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
        if mover == CHANCE and (min(chances) < 0 or abs(sum(chances) - 1) > SUM_TOLERANCE):
            raise TacitError(f"the probabilities {brief(chances)} of chance must be at least 0 and sum to 1")
        self.sets[mover, number] = names, chances
        return names, chances

    def _outcome(self) -> list[float]:
        """Read the outcome of a node: a number, described where it is new; 0 pays nothing."""
        tokens = self.tokens
        number = tokens.count("the number of an outcome", least=0, most=10**9)
        if number == 0:
            return [0.0] * self.players
        if tokens.current.startswith('"'):
            tokens.string("an outcome's name")
        if tokens.current == "{":
            tokens.take("{")
            self.outcomes[number] = [tokens.number("a payoff") for _ in range(self.players)]
            tokens.take("}")
        if number not in self.outcomes:
            raise TacitError(f"outcome {number} has no payoffs")
        return self.outcomes[number]
