"""From trees with perfect information to tables: each node in which somebody moves is a state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.games.tabular import TabularGame
from tacit.games.tabulate import tabulate

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


_OVER = "over"


def tree_game(root: Node, agents: int, *, name: str | None = None, labels: Any = None) -> TabularGame:
    """Make the table of a tree.

    Where a node has fewer branches than the mover has actions elsewhere, the others do what its first does; who does
    not move does nothing. `labels` are names of actions, for each agent.
    """
    actions, horizon = _measure(root, agents)
    first = {node: (chance, pay) for chance, node, pay in _follow(root)}

    def taken(node: Node, joint: tuple[int, ...]) -> Node:
        a = joint[node.mover]
        return node.branches[a if a < len(node.branches) else 0]

    def transition(node: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if node is _OVER or not node.branches:
            return [(1.0, _OVER)]
        return [(chance, after if after.branches else _OVER) for chance, after, _ in _follow(taken(node, joint))]

    def reward(node: Any, joint: tuple[int, ...]) -> list[float]:
        total = [0.0] * agents
        if node is _OVER:
            return total
        found = [(chance, pay) for chance, _, pay in _follow(taken(node, joint))] if node.branches else []
        if node in first:  # what was paid before anybody moved
            found.append((1.0, first[node][1]))
        for chance, pay in found:
            total = [so_far + chance * one for so_far, one in zip(total, pay, strict=True)]
        return total

    start = {node: chance for node, (chance, _) in first.items()}
    return tabulate(
        transition,
        reward,
        start=start,
        actions=actions,
        horizon=horizon,
        progress=False,
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
