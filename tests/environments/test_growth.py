"""A learner of somebody's own meets new states in an environment: records grow, plain arrays are told what to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import tacit
from tacit import kernels


class Remembered(NamedTuple):
    cells: Any  # [H, S, N]
    actions: np.ndarray


class Silent(NamedTuple):
    cells: Any  # [H, S, N, A], plain
    actions: np.ndarray


def act(learner, i, h, s, u):
    return int(u * learner.actions[i])


def learn(learner, i, h, s, a, r, s_next):
    learner.cells[h, s, i].played[a] += 1.0


def weigh(learner, i, h, s, out):
    played, total = learner.cells[h, s, i].played, 0.0
    for a in range(learner.actions[i]):
        total += 1.0 + played[a]
    for a in range(learner.actions[i]):
        out[a] = (1.0 + played[a]) / total


def learn_silently(learner, i, h, s, a, r, s_next):
    learner.cells[h, s, i, a] += 1.0


def weigh_silently(learner, i, h, s, out):
    played, total = learner.cells[h, s, i], 0.0
    for a in range(learner.actions[i]):
        total += 1.0 + played[a]
    for a in range(learner.actions[i]):
        out[a] = (1.0 + played[a]) / total


@dataclass(frozen=True)
class Counter(kernels.Learner):
    def params(self, world: kernels.World) -> dict[str, Any]:
        return {}

    def init(self, world: kernels.World) -> Any:
        shape, A = (world.horizon, world.states, world.agents), kernels.capacity(world.actions.max())
        return Remembered(kernels.records(shape, [("played", "f8", A)]), world.actions)


@dataclass(frozen=True)
class SilentCounter(Counter):
    def init(self, world: kernels.World) -> Any:
        return Silent(np.zeros((world.horizon, world.states, world.agents, 4)), world.actions)


for kind, own in ((Remembered, (act, learn, weigh)), (Silent, (act, learn_silently, weigh_silently))):
    for generic, kernel in zip((kernels.act, kernels.learn, kernels.policy), own, strict=True):
        generic.implement(kind)(kernel)


def practised(learner: kernels.Learner) -> tuple[tacit.Agent, np.ndarray]:
    agent = tacit.agent(learner, states=2, actions=3, horizon=2, reward_range=(0, 1), seed=1)
    for s in (0, 1, 1, 0, 1):
        for h in range(2):
            agent.learn(h, s, agent.act(h, s), 0.5, s)
    return agent, agent.policy


def test_records_grow():
    agent, before = practised(Counter())
    agent.grow(7)
    assert (agent.policy[:, :2] == before).all()
    assert (agent.policy[:, 2:] == 1 / 3).all()
    assert (before != 1 / 3).any()


def test_plain_arrays_are_told_what_to_be():
    agent, before = practised(SilentCounter())
    with pytest.raises(tacit.TacitError, match=r"cells has the shape .* is an array of records"):
        agent.grow(7)
    assert (agent.policy == before).all()  # and nothing has happened
