"""Warm start of V-learners: the bandit of every (h, s) begins at a given distribution, as if it had learned it.

A policy counts for n visits of each state. The bandit of (h, s) begins at (n·μ(·|s) + 1)/(n + A), in its n-th round:
what it meets moves it as it would move a bandit of that age. Values, the number of visits that V-learning's α_t counts,
and so the certificate and the record, begin as ever: α_1 = 1 would overwrite any value that was given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import generics
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.learners.spec import Start, World, starting_point

#: Visits that a starting policy counts for unless it is said.
VISITS = 100.0


def lean_all(bandit, cells, given, table, rounds, scale):
    """Let the bandits of those agents begin at their distributions, `table` [H, S, N, A]."""
    for h in range(table.shape[0]):
        for s in range(table.shape[1]):
            for i in range(table.shape[2]):
                if given[i]:
                    generics.lean(bandit, cells[h, s, i], table[h, s, i], rounds, scale)


def warm_up(bandit: Any, cells: Any, world: World, visits: float, scale: float) -> None:
    """Let fresh bandits, with their cells, begin at `world.start`, where there is one.

    `scale` is the size of losses: it decides how far a loss moves a bandit of that age.
    """
    if not world.start:
        return
    if not generics.lean.known(type(bandit)):
        name = type(bandit).__name__.removesuffix("Params")
        raise TacitError(f"the bandit {name} cannot begin at a starting policy")
    table: FloatArray = starting_point(world)
    for i, size in enumerate(world.actions):
        table[:, :, i, :size] = (visits * table[:, :, i, :size] + 1.0) / (visits + float(size))
    given = np.array([own is not None for own in world.start])
    compile_loop(lean_all, bandit)(bandit, cells, given, table, float(visits), float(scale))


def describe(start: Start, visits: float) -> dict[str, Any]:
    """Return what a run says of its start among its parameters: nothing where it begins evenly."""
    if start == "uniform":
        return {}
    return {"start": start if isinstance(start, str) else repr(start), "start_visits": visits}
