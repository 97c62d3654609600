"""Small PettingZoo environments of our own, each with something that real ones have."""

# ruff: noqa: RUF012

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Discrete, MultiDiscrete
from pettingzoo import ParallelEnv


class Corridor(ParallelEnv):
    """Two agents on a corridor of cells; it ends when both stand at the right end, or by truncation.

    Both see both positions, as an array of integers. A step costs 1, the end pays 10.
    """

    metadata = {"name": "corridor"}
    render_mode = None
    possible_agents = ["left", "right"]

    def __init__(self, cells: int = 4, limit: int | None = 12, space: str = "box", prize: float = 10.0) -> None:
        self.cells, self.limit, self.prize = cells, limit, prize
        kinds = {
            "box": Box(0, cells - 1, (2,), dtype=np.int64),
            "multi": MultiDiscrete([cells, cells]),
            "float": Box(0.0, 1.0, (2,)),
        }
        self.spaces = dict.fromkeys(self.possible_agents, kinds[space])
        self.acts = {name: Discrete(2, start=5) for name in self.possible_agents}
        self.scale = (cells - 1) if space == "float" else None
        self.log: list[Any] = []

    def observation_space(self, agent: str) -> Any:
        return self.spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.acts[agent]

    def seen(self) -> dict[str, Any]:
        at = np.array(self.at)
        return dict.fromkeys(self.possible_agents, at / self.scale if self.scale else at)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.at, self.steps, self.agents = [0, 0], 0, self.possible_agents[:]
        return self.seen(), {name: {} for name in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        for i, name in enumerate(self.possible_agents):
            assert self.acts[name].contains(actions[name])
            if actions[name] == 6 and self.rng.random() < 0.9:
                self.at[i] = min(self.at[i] + 1, self.cells - 1)
        self.steps += 1
        home = self.at == [self.cells - 1] * 2
        late = self.limit is not None and self.steps >= self.limit
        live = self.agents
        rewards = dict.fromkeys(live, self.prize if home else -1.0)
        if home or late:
            self.agents = []
        return self.seen(), rewards, dict.fromkeys(live, home), dict.fromkeys(live, late), {n: {} for n in live}


class DropOut(ParallelEnv):
    """Three agents; agent i is out after i + 1 steps. Everybody sees the number of steps."""

    metadata = {"name": "drop-out"}
    possible_agents = ["a", "b", "c"]

    def observation_space(self, agent: str) -> Any:
        return Discrete(4)

    def action_space(self, agent: str) -> Any:
        return Discrete(2)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.steps, self.agents = 0, self.possible_agents[:]
        return dict.fromkeys(self.agents, 0), {name: {} for name in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        assert set(actions) == set(self.agents)
        live, self.steps = self.agents, self.steps + 1
        out = {name: self.possible_agents.index(name) < self.steps for name in live}
        self.agents = [name for name in live if not out[name]]
        rewards = {name: float(actions[name]) for name in live}
        return dict.fromkeys(live, self.steps), rewards, out, dict.fromkeys(live, False), {n: {} for n in live}


class Whispers(ParallelEnv):
    """Each agent sees its own coin and is paid for naming it; `spoil` changes all that the others see and get."""

    metadata = {"name": "whispers"}
    possible_agents = ["a", "b"]

    def __init__(self, spoil: str | None = None) -> None:
        self.spoil = spoil

    def observation_space(self, agent: str) -> Any:
        return Discrete(2)

    def action_space(self, agent: str) -> Any:
        return Discrete(2)

    def toss(self) -> dict[str, int]:
        coins = {name: int(rng.integers(2)) for name, rng in self.rngs.items()}
        return {name: 1 - coin if name == self.spoil else coin for name, coin in coins.items()}

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rngs = {name: np.random.default_rng([seed, k]) for k, name in enumerate(self.possible_agents)}
        self.coins, self.steps, self.agents = self.toss(), 0, self.possible_agents[:]
        return self.coins, {name: {} for name in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        live, self.steps = self.agents, self.steps + 1
        rewards = {name: float(actions[name] == self.coins[name]) for name in live}
        if self.spoil in rewards:
            rewards[self.spoil] = 1.0 - rewards[self.spoil]
        self.coins = self.toss()
        late = self.steps >= 3
        if late:
            self.agents = []
        return self.coins, rewards, dict.fromkeys(live, False), dict.fromkeys(live, late), {n: {} for n in live}


class Surprise(DropOut):
    """Pays 1, and 50 from the 60th episode on; nobody drops out of its one step."""

    metadata = {"name": "surprise"}
    possible_agents = ["a"]
    episodes = 0

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self.episodes += 1
        return super().reset(seed, options)

    def step(self, actions: dict[str, int]) -> Any:
        observations, _, *rest = super().step(actions)
        return observations, {"a": 50.0 if self.episodes >= 60 else 1.0}, *rest
