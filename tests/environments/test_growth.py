"""A learner of somebody's own meets new states in an environment: with declared axes it grows, without it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import pytest

import tacit
from tacit import kernels


class Declared(NamedTuple):
    played: Annotated[np.ndarray, "N C A"]
    actions: Annotated[np.ndarray, "N"]
    states: int


class Silent(NamedTuple):
    played: np.ndarray
    actions: np.ndarray
    states: int


def act(learner, i, h, s, u):
    return int(u * learner.actions[i])


def learn(learner, i, h, s, a, r, s_next):
    learner.played[i, h * learner.states + s, a] += 1.0


def weigh(learner, i, h, s, out):
    total = 0.0
    for a in range(learner.actions[i]):
        total += 1.0 + learner.played[i, h * learner.states + s, a]
    for a in range(learner.actions[i]):
        out[a] = (1.0 + learner.played[i, h * learner.states + s, a]) / total


@dataclass(frozen=True)
class Counter(kernels.Learner):
    kind: ClassVar[Any] = Declared

    def params(self, world: kernels.World) -> dict[str, Any]:
        return {}

    def init(self, world: kernels.World) -> Any:
        shape = (world.agents, world.cells, int(world.actions.max()))
        return self.kind(np.zeros(shape), world.actions, world.states)


@dataclass(frozen=True)
class SilentCounter(Counter):
    kind: ClassVar[Any] = Silent


for kind in (Declared, Silent):
    for generic, kernel in ((kernels.act, act), (kernels.learn, learn), (kernels.weigh, weigh)):
        generic.implement(kind)(kernel)


def practised(learner: kernels.Learner) -> tuple[tacit.Agent, np.ndarray]:
    agent = tacit.agent(learner, states=2, actions=3, horizon=2, reward_range=(0, 1), seed=1)
    for s in (0, 1, 1, 0, 1):
        for h in range(2):
            agent.learn(h, s, agent.act(h, s), 0.5, s)
    return agent, agent.policy


def test_a_declared_state_grows():
    agent, before = practised(Counter())
    agent.grow(7)
    assert (agent.policy[:, :2] == before).all()
    assert (agent.policy[:, 2:] == 1 / 3).all()
    assert (before != 1 / 3).any()


def test_a_silent_state_is_told_what_to_declare():
    agent, before = practised(SilentCounter())
    with pytest.raises(tacit.TacitError, match="played does not say which of its axes is the state"):
        agent.grow(7)
    assert (agent.policy == before).all()  # and nothing has happened
