"""A thinned policy's graph as JSON values, and back.

    runs    the node that each run starts from
    nodes   for each node an object from a state to a row [next node, agent 0's probabilities, agent 1's, …]

A row has all but the last probability of each agent, as the shortest decimals that give the same 32-bit floats again.
Node 0 has no rows: from there on everybody plays evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.types import IntArray
from tacit.policies.certified import MOST
from tacit.policies.document import entries

PLAY = (
    "In each episode all agents share one number u in [0, 1): node = runs[floor(u * runs.length)]. In state s take "
    "row = nodes[node][s]; the next node is row[0], and row[1 + i] has the probabilities of agent i's actions but the "
    "last, to be drawn from with a number of the agent's own. Without a row: node = 0, and all actions are equally "
    "likely."
)


def dumped(
    row: IntArray, following: IntArray, stored: npt.NDArray[np.float32], *, states: int, columns: Sequence[slice]
) -> list[dict[str, Any]]:
    """Return the nodes, with the probabilities of the agents whose columns are given."""
    nodes: list[dict[str, Any]] = [{} for _ in range(1 + int(row.max(initial=0)) // states)]
    shortest = stored.astype(str).astype(np.float64).tolist()
    for key, after, probs in zip(row.tolist(), following.tolist(), shortest, strict=True):
        node, s = divmod(key, states)
        nodes[node][str(s)] = [after, *(probs[own] for own in columns)]
    return nodes


def loaded(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a `ThinnedPolicy`."""
    states, horizon = (check.integer(key, document.get(key), least=1, most=MOST) for key in ("states", "horizon"))
    actions = [
        check.integer(f"actions[{i}]", a, least=1, most=MOST) for i, a in enumerate(entries(document, "actions"))
    ]
    nodes = entries(document, "nodes")
    last = len(nodes) - 1
    rows: list[tuple[int, int, list[float]]] = []
    for n, node in enumerate(nodes):
        if not isinstance(node, dict):
            raise TacitError(f"nodes[{n}] is {brief(node)}; it must be an object from states to rows")
        for state, row in node.items():
            name = f"nodes[{n}][{brief(state)}]"
            key = n * states + _state(name, state, states)
            if not isinstance(row, list) or len(row) != 1 + len(actions):
                raise TacitError(
                    f"{name} is {brief(row)}; it must be a node and a list for each of {len(actions)} agents"
                )
            after = check.integer(f"{name}[0]", row[0], least=0, most=last)
            rows.append((key, after, _probabilities(name, row[1:], actions)))
    rows.sort(key=lambda one: one[0])
    runs = [check.integer(f"runs[{m}]", node, least=0, most=last) for m, node in enumerate(entries(document, "runs"))]
    return {
        "row": np.array([key for key, _, _ in rows], dtype=np.int64),
        "following": np.array([after for _, after, _ in rows], dtype=np.int64),
        "stored": np.array([probs for _, _, probs in rows], dtype=np.float32).reshape(
            len(rows), sum(actions) - len(actions)
        ),
        "first": np.array(runs, dtype=np.int64),
        "actions": actions,
        "states": states,
        "horizon": horizon,
    }


def _state(name: str, text: str, states: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and str(int(text)) == text and int(text) < states):
        raise TacitError(f"{name} is of no state; states go from 0 to {states - 1}")
    return int(text)


def _probabilities(name: str, lists: Sequence[Any], actions: Sequence[int]) -> list[float]:
    """Return the agents' probabilities, one after the other."""
    found: list[float] = []
    for i, (own, size) in enumerate(zip(lists, actions, strict=True)):
        if not isinstance(own, list) or len(own) != size - 1:
            raise TacitError(f"{name}[{1 + i}] is {brief(own)}; it must be a list of {size - 1} probabilities")
        found += [check.real(f"{name}[{1 + i}][{a}]", p, least=0, most=1) for a, p in enumerate(own)]
    return found
