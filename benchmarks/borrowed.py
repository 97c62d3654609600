"""Environments that others wrote, in the form of `worlds.py`: PettingZoo, mpe2, lbforaging, rware, Gymnasium.

Observations of simple_spread, foraging and CartPole are shortened to what agents need, as in `real.py`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from real import relative
from worlds import Benchworld


class Borrowed(Benchworld):
    """An environment of Gymnasium, one agent or a tuple of them."""

    def __init__(self, name: str, horizon: int, encode: Callable[[Any], Any], **params: Any) -> None:
        import gymnasium

        self.env = gymnasium.make(name, disable_env_checker=True, **params).unwrapped
        self.horizon, self.encode = horizon, encode
        spaces = getattr(self.env.action_space, "spaces", [self.env.action_space])
        self.actions = [int(space.n) for space in spaces]
        self.alone = not hasattr(self.env.action_space, "spaces")

    def reset(self, seed: int | None = None) -> Any:
        seen, _ = self.env.reset(seed=seed)
        self.time = 0
        return self.encoded(seen)

    def encoded(self, seen: Any) -> Any:
        return [self.encode(one) for one in ([seen] if self.alone else seen)]

    def step(self, actions: list[int]) -> Any:
        seen, rewards, ended, cut, _ = self.env.step(actions[0] if self.alone else actions)
        self.time += 1
        rewards = [float(rewards)] if self.alone else [float(reward) for reward in rewards]
        return self.encoded(seen), rewards, bool(np.all(ended)) or bool(cut) or self.time == self.horizon


class Parallel(Benchworld):
    """A ParallelEnv of PettingZoo or mpe2, whose agents all stay until the end."""

    def __init__(self, module: str, encode: Callable[[Any], Any], *, mixed: bool = False, **params: Any) -> None:
        self.env = importlib.import_module(module).parallel_env(**params)
        self.horizon, self.encode, self.mixed = params["max_cycles"], encode, mixed
        self.actions = [int(self.env.action_space(agent).n) for agent in self.env.possible_agents]

    def reset(self, seed: int | None = None) -> Any:
        seen, _ = self.env.reset(seed=seed)
        return [self.encode(seen[agent]) for agent in self.env.possible_agents]

    def step(self, actions: list[int]) -> Any:
        agents = self.env.possible_agents
        seen, rewards, ended, cut, _ = self.env.step(dict(zip(agents, actions, strict=True)))
        over = all(ended[agent] or cut[agent] for agent in agents)
        return [self.encode(seen[agent]) for agent in agents], [float(rewards[agent]) for agent in agents], over


class TicTacToe(Benchworld):
    """PettingZoo's tictactoe; a field that is taken stands for a free one, drawn at random."""

    actions, horizon, mixed = [9, 9], 9, True

    def __init__(self) -> None:
        from pettingzoo.classic import tictactoe_v3

        self.env = tictactoe_v3.raw_env()

    def begin(self) -> None:
        self.env.reset()

    def show(self) -> Any:
        return [tuple(self.env.board.squares)] * 2

    def pay(self, actions: list[int]) -> Any:
        free = [field for field, mark in enumerate(self.env.board.squares) if mark == 0]
        action = actions[self.time % 2]
        self.env.step(action if action in free else int(self.rng.choice(free)))
        return [float(self.env.rewards[agent]) for agent in self.env.possible_agents]

    def over(self) -> bool:
        return any(self.env.terminations.values())


def whole(seen: Any) -> Any:
    """Return an observation as it is: a number, or a tuple of them."""
    return tuple(np.asarray(seen).tolist()) if np.ndim(seen) else int(seen)


def signs(seen: Any) -> Any:
    """Return on which side each of the three landmarks of simple_spread is."""
    return tuple(bool(number > 0) for number in seen[4:10])


def cart(seen: Any) -> Any:
    """Return the bins of `real.py` for CartPole: no place, three speeds, six angles, five spins."""
    edges = ([-0.5, 0.5], np.linspace(-0.2095, 0.2095, 7)[1:-1], [-1, -0.3, 0.3, 1])
    return tuple(int(np.digitize(number, cut)) for number, cut in zip(seen[1:], edges, strict=True))


class Warehouse(Borrowed):
    """rware, two robots, the easy tiny warehouse, 100 steps; each sees the fields around it."""

    mixed = False

    def __init__(self) -> None:
        import rware  # noqa: F401  # registers its environments

        super().__init__("rware-tiny-2ag-easy-v2", 100, whole)


class Foraging(Borrowed):
    """lbforaging 5x5-2p-1f; where food and the other one are from here."""

    def __init__(self) -> None:
        import lbforaging  # noqa: F401  # registers its environments

        super().__init__("Foraging-5x5-2p-1f-v3", 50, lambda seen: tuple(float(x) for x in relative(seen)))


class FrozenLake(Borrowed):
    def __init__(self) -> None:
        super().__init__("FrozenLake-v1", 100, whole)


class Taxi(Borrowed):
    def __init__(self) -> None:
        super().__init__("Taxi-v4", 200, whole)


class CartPole(Borrowed):
    def __init__(self) -> None:
        super().__init__("CartPole-v1", 200, cart)


class Spread(Parallel):
    def __init__(self) -> None:
        super().__init__("mpe2.simple_spread_v3", signs, N=3, max_cycles=25)


class RockPaperScissors(Parallel):
    mixed = True

    def __init__(self) -> None:
        super().__init__("pettingzoo.classic.rps_v2", whole, mixed=True, max_cycles=5)


BORROWED = {
    "CartPole": CartPole,
    "FrozenLake": FrozenLake,
    "LBF-5x5-2p-1f": Foraging,
    "rware-tiny-2ag-easy": Warehouse,
    "rps": RockPaperScissors,
    "simple_spread": Spread,
    "Taxi": Taxi,
    "tictactoe": TicTacToe,
}
