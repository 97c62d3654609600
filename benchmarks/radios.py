"""Environments of radios that choose a channel, written for PettingZoo: a lean one, and one as people write them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from gymnasium.spaces import Discrete, MultiDiscrete
    from pettingzoo import ParallelEnv


class Radios(ParallelEnv[str, int, int]):
    """Radios that choose a channel; a jammer, which all of them hear, moves over the channels. Lean: 10 µs a step."""

    metadata = {"name": "radios"}  # noqa: RUF012

    def __init__(self, agents: int, channels: int = 4, horizon: int = 10) -> None:
        self.possible_agents = [f"radio_{i}" for i in range(agents)]
        self.channels, self.horizon, self.reward_range = channels, horizon, (0.0, 1.0)
        self._seen, self._acts = Discrete(channels), Discrete(channels)

    def observation_space(self, agent: str) -> Any:
        return self._seen

    def action_space(self, agent: str) -> Any:
        return self._acts

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.jammed, self.steps, self.agents = int(self.rng.integers(self.channels)), 0, self.possible_agents[:]
        return dict.fromkeys(self.agents, self.jammed), {name: {} for name in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        load = np.zeros(self.channels)
        for channel in actions.values():
            load[channel] += 1
        good = np.where(np.arange(self.channels) == self.jammed, 0.0, 1.0 / np.maximum(load, 1.0))
        rewards = {name: float(good[channel]) for name, channel in actions.items()}
        if self.rng.random() < 0.5:
            self.jammed = (self.jammed + 1) % self.channels
        self.steps += 1
        live, late = self.agents, self.steps == self.horizon
        if late:
            self.agents = []
        seen = dict.fromkeys(live, self.jammed)
        return seen, rewards, dict.fromkeys(live, False), dict.fromkeys(live, late), {name: {} for name in live}


class Sensors(ParallelEnv[str, Any, int]):
    """Radios with fading and interference, each of which senses its own channel and how well it was heard there.

    Written as people write PettingZoo environments: dictionaries by agent, an array for each observation, NumPy for the
    physics, and infos. A reward is log2(1 + signal/interference), at most 4.
    """

    metadata = {"name": "sensors"}  # noqa: RUF012

    def __init__(self, agents: int, channels: int = 4, horizon: int = 10) -> None:
        self.possible_agents = [f"radio_{i}" for i in range(agents)]
        self.channels, self.horizon, self.reward_range = channels, horizon, (0.0, 4.0)
        self.levels, self.noise = np.array([1.0, 2.0, 3.0]), 0.1
        place = np.random.default_rng(0).random((agents, 2))
        self.gain = 1.0 / (1.0 + 10.0 * np.linalg.norm(place[:, None] - place[None], axis=2) ** 2)
        self.observation_spaces = {name: MultiDiscrete([channels, 4]) for name in self.possible_agents}
        self.action_spaces = {name: Discrete(channels) for name in self.possible_agents}

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            self.rng = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.steps = 0
        observations = {name: np.array([0, 0]) for name in self.agents}
        return observations, {name: {} for name in self.agents}

    def step(self, actions: dict[str, int]) -> Any:
        sent = np.array([actions[name] for name in self.agents])
        faded = self.gain * self.rng.exponential(size=self.gain.shape)
        same = sent[:, None] == sent[None, :]
        np.fill_diagonal(same, False)
        signal = np.diag(faded)
        rate = np.minimum(np.log2(1.0 + signal / (self.noise + (faded * same).sum(axis=1))), 4.0)
        heard = np.digitize(rate, self.levels)
        self.steps += 1
        late = self.steps >= self.horizon
        observations = {name: np.array([sent[i], heard[i]]) for i, name in enumerate(self.agents)}
        rewards = {name: float(rate[i]) for i, name in enumerate(self.agents)}
        terminations = dict.fromkeys(self.agents, False)
        truncations = dict.fromkeys(self.agents, late)
        infos = {name: {"rate": rate[i]} for i, name in enumerate(self.agents)}
        if late:
            self.agents = []
        return observations, rewards, terminations, truncations, infos
