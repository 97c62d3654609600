"""A game of your own, as functions instead of tables: 30 drivers choose among 8 roads, 8^30 joint actions."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import tacit
from tacit import kernels, testing


@dataclass(frozen=True)
class Traffic:  # what the engine asks of a game: sizes, the range of rewards, notes for people, and kernels
    agents: int = 30
    name: str = "traffic"
    states: int = 2  # 0 dry, 1 wet
    horizon: int = 4
    reward_range: tuple[float, float] = (-1.0, 0.0)
    notes: tuple[str, ...] = ()

    actions = property(lambda self: (8,) * self.agents)

    def kernels(self):  # asked for once a run
        return Rules(self.horizon, self.states, np.array(self.actions), np.zeros(8))


class Rules(NamedTuple):  # what kernels read: the first three are needed by the loop, the rest is yours
    horizon: int
    states: int
    actions: np.ndarray  # [N]
    load: np.ndarray  # [roads]  room, since kernels allocate nothing


@kernels.initial_state.implement(Rules)
def initial_state(game, u):  # u is uniform in [0, 1): all chance comes in this way
    return 1 if u < 0.3 else 0


@kernels.joint_action.implement(Rules)
def joint_action(game, h, s, actions):  # once a step; what it returns comes back to next_state and reward
    game.load[:] = 0.0
    for road in actions:
        game.load[road] += 1.0 / len(actions)
    return s, actions


@kernels.next_state.implement(Rules)
def next_state(game, token, u):
    return 1 if u < 0.2 + 0.6 * token[0] else 0


@kernels.reward.implement(Rules)
def reward(game, i, token):  # crowded roads are slow, and slower in the wet
    return -game.load[token[1][i]] * (1.0 if token[0] == 1 else 0.5)


if __name__ == "__main__":
    testing.check_game(Traffic())
    print(tacit.learn(Traffic(), "stage-v-cce", episodes=20_000, bonus=0.01, keep=False))
