"""A learner of your own: independent Q-learning with Boltzmann exploration."""

from dataclasses import dataclass
from math import exp
from typing import Annotated, NamedTuple

import numpy as np

import tacit
from tacit import kernels, testing


@dataclass(frozen=True)
class BoltzmannQ(kernels.Learner):  # parameters; kernels.Learner has what else can be said of a learner
    step: float = 0.1
    heat: float = 0.2

    def params(self, world):  # what reports and files show
        return {"step": self.step, "heat": self.heat}

    def init(self, world):  # the state of all agents in this world
        table = np.zeros((world.agents, world.horizon + 1, world.states, max(world.actions)))
        return State(table, np.zeros(table.shape[::3]), self.step, self.heat, world.actions)


class State(NamedTuple):  # arrays declare their axes: N agents, H steps, S states, A actions
    Q: Annotated[np.ndarray, "N H+1 S A"]
    room: Annotated[np.ndarray, "N A"]
    step: float
    heat: float
    actions: Annotated[np.ndarray, "N"]


@kernels.weigh.implement(State)
def weigh(learner, i, h, s, out):  # a kernel touches row i only, and allocates nothing
    total = 0.0
    for a in range(learner.actions[i]):
        out[a] = exp((learner.Q[i, h, s, a] - max(learner.Q[i, h, s])) / learner.heat)
        total += out[a]
    for a in range(learner.actions[i]):
        out[a] /= total


@kernels.act.implement(State)
def act(learner, i, h, s, u):
    kernels.weigh(learner, i, h, s, learner.room[i])
    a = 0
    while a < learner.actions[i] - 1 and u >= learner.room[i, a]:
        u, a = u - learner.room[i, a], a + 1
    return a


@kernels.learn.implement(State)
def learn(learner, i, h, s, a, r, s_next):
    learner.Q[i, h, s, a] += learner.step * (r + max(learner.Q[i, h + 1, s_next]) - learner.Q[i, h, s, a])


if __name__ == "__main__":
    testing.check_learner(BoltzmannQ())
    print(tacit.learn(tacit.make("climbing"), BoltzmannQ(), episodes=20_000))
