"""A bandit of your own: exponential weights on importance-weighted losses, mixed with a little even play."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from tacit import StageV, kernels, learn, make, testing


@dataclass(frozen=True)
class Weights(kernels.Bandit):  # parameters; `regret` is "external" unless you say otherwise
    step: float = 0.1

    def init(self, cells):  # the state of all cells of all agents, ready for their first round
        grid = (cells.agents, cells.number, cells.most)
        return State(np.ones(grid) / cells.actions[:, None, None], self.step, cells.actions)


class State(NamedTuple):  # arrays declare their axes: N agents, C cells, A actions
    weight: Annotated[np.ndarray, "N C A"]  # sums to 1
    step: float
    actions: Annotated[np.ndarray, "N"]


@kernels.chance.implement(State)
def chance(bandit, i, c, a):  # agent i, cell c: a kernel touches nothing else, and allocates nothing
    return 0.95 * bandit.weight[i, c, a] + 0.05 / bandit.actions[i]


@kernels.spread.implement(State)
def spread(bandit, i, c, out):
    for a in range(bandit.actions[i]):
        out[a] = kernels.chance(bandit, i, c, a)


@kernels.draw.implement(State)
def draw(bandit, i, c, u):
    a = 0
    while a < bandit.actions[i] - 1 and u >= kernels.chance(bandit, i, c, a):
        u, a = u - kernels.chance(bandit, i, c, a), a + 1
    return a


@kernels.feed.implement(State)
def feed(bandit, i, c, a, loss, prob):
    bandit.weight[i, c, a] *= kernels.exp(-bandit.step * loss / prob)
    total = sum(bandit.weight[i, c, : bandit.actions[i]])
    for b in range(bandit.actions[i]):
        bandit.weight[i, c, b] /= total


@kernels.restart.implement(State)
def restart(bandit, i, c, rounds):
    bandit.weight[i, c] = 1 / bandit.actions[i]


if __name__ == "__main__":
    testing.check_bandit(Weights())
    print(learn(make("chicken"), StageV(bandit=Weights(), bonus=0.1), episodes=20_000))
