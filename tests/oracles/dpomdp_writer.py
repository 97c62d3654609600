"""Team games as .dpomdp files, written for tests of the reader: numbers come back to the last bit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from tacit import TabularGame


def write_dpomdp(game: TabularGame, path: Path) -> None:
    """Write a stationary team game with or without names. Each agent observes the state."""
    path.write_text("".join(pieces(game)), encoding="utf-8")


def pieces(game: TabularGame) -> Iterator[str]:
    states = labels(game.state_names, game.states)
    names = game.action_names or [None] * game.agents
    actions = [labels(each, size) for each, size in zip(names, game.actions, strict=True)]
    discount = 1.0 if game.discount is None else game.discount
    yield f"agents: {game.agents}\ndiscount: {discount!r}\nvalues: reward\nstates: {states}\n"
    yield f"start:\n{' '.join(repr(p) for p in game.initial.tolist())}\n"
    yield "\n".join(["actions:", *actions, "observations:", *[states] * game.agents, ""])
    joints = [" ".join(str(a) for a in joint) for joint in np.ndindex(game.actions)]
    first, state, prob = (array.tolist() for array in game.successors)
    for row, (s, joint) in enumerate(product(range(game.states), joints)):
        for k in range(first[row], first[row + 1]):
            yield f"T: {joint} : {s} : {state[k]} : {prob[k]!r}\n"
    for s in range(game.states):
        yield f"O: * : {s} :{f' {s}' * game.agents} : 1.0\n"
    rewards = game.rewards[0, 0].ravel().tolist()
    for (s, joint), reward in zip(product(range(game.states), joints), rewards, strict=True):
        yield f"R: {joint} : {s} : * : * : {reward!r}\n"


def labels(names: Sequence[str] | None, count: int) -> str:
    """Write names in quotes; where one does not begin with a letter, their number."""
    if names is None or not all(name[:1].isalpha() for name in names):
        return str(count)
    return " ".join(f'"{name}"' for name in names)
