"""A learner of your own: independent Q-learning with Boltzmann exploration."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit import kernels, learn, make, testing


@dataclass(frozen=True)
class BoltzmannQ(kernels.Learner):  # parameters, info, init and kernels
    step: float = 0.1
    heat: float = 0.2

    @property
    def info(self):  # five facts; here: it learns the same whatever range of rewards it is given
        return kernels.Info(reward_scale_free=True)

    def init(self, world):  # the state of all agents in this world: a record for each step, state and agent
        shape, A = (world.horizon + 1, world.states, world.agents), kernels.capacity(max(world.actions))
        cells = kernels.records(shape, [("Q", "f8", A), ("prob", "f8", A)])
        return State(cells, self.step, self.heat, world.actions)


class State(NamedTuple):
    cells: np.ndarray  # [H+1, S, N]
    step: float
    heat: float
    actions: np.ndarray  # [N]


@kernels.policy.implement(State)
def policy(learner, i, h, s, out):  # a kernel touches records of agent i only, and allocates nothing
    Q, total = learner.cells[h, s, i].Q, 0.0
    for a in range(learner.actions[i]):
        out[a] = kernels.exp((Q[a] - max(Q[: learner.actions[i]])) / learner.heat)
        total += out[a]
    for a in range(learner.actions[i]):
        out[a] /= total


@kernels.act.implement(State)
def act(learner, i, h, s, u):
    prob, a = learner.cells[h, s, i].prob, 0
    kernels.policy(learner, i, h, s, prob)
    while a < learner.actions[i] - 1 and u >= prob[a]:
        u, a = u - prob[a], a + 1
    return a


@kernels.learn.implement(State)
def update(learner, i, h, s, a, r, s_next):
    Q, after = learner.cells[h, s, i].Q, learner.cells[h + 1, s_next, i].Q
    Q[a] += learner.step * (r + max(after[: learner.actions[i]]) - Q[a])


if __name__ == "__main__":
    testing.check_learner(BoltzmannQ())
    print(learn(make("climbing"), BoltzmannQ(), episodes=20_000))
