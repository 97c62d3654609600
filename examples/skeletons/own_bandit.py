"""A bandit of your own: exponential weights on importance-weighted losses, mixed with a little uniform play."""

from dataclasses import dataclass
from typing import NamedTuple

from tacit import kernels, learn, make, testing


@dataclass(frozen=True)
class Weights(kernels.Bandit):  # parameters; `regret` is "external" unless you say otherwise
    step: float = 0.1

    def fields(self, actions):  # what one cell remembers, with room for so many actions
        return [("weight", "f8", actions), ("actions", "i8")]

    def init(self, cells, setting):  # all cells at once [..., N], which are zero; returns what kernels read besides
        cells["weight"] = 1 / setting.actions[:, None]
        cells["actions"] = setting.actions
        return Params(self.step)


class Params(NamedTuple):
    step: float


@kernels.prob.implement(Params)
def prob(bandit, cell, a):  # a kernel gets its cell, can touch no other, and allocates nothing
    return 0.95 * cell.weight[a] + 0.05 / cell.actions


@kernels.probs.implement(Params)
def probs(bandit, cell, out):
    for a in range(cell.actions):
        out[a] = kernels.prob(bandit, cell, a)


@kernels.draw.implement(Params)
def draw(bandit, cell, u):
    a = 0
    while a < cell.actions - 1 and u >= kernels.prob(bandit, cell, a):
        u, a = u - kernels.prob(bandit, cell, a), a + 1
    return a


@kernels.update.implement(Params)
def update(bandit, cell, a, loss, prob):
    cell.weight[a] *= kernels.exp(-bandit.step * loss / prob)
    total = sum(cell.weight[: cell.actions])
    for b in range(cell.actions):
        cell.weight[b] /= total


@kernels.restart.implement(Params)
def restart(bandit, cell, rounds):
    cell.weight[:] = 1 / cell.actions


if __name__ == "__main__":
    testing.check_bandit(Weights())
    print(learn(make("chicken"), "stage-v-cce", bandit=Weights(), bonus=0.1, episodes=20_000))
