"""A tabular game as a PettingZoo environment; `to_pettingzoo` makes one.

Draws come one at a time from the environment's stream of the seed, as the fused loop takes them in blocks: agents that
learn in this environment do what they do in the loop, bit for bit. The observation after the last step, which nobody
learns from, is drawn from a stream of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv

from tacit.core import check, streams
from tacit.core.errors import TacitError, brief
from tacit.games.exact import ExactGame
from tacit.games.showing import state_name

Action: TypeAlias = Any  # a whole number, Python's or NumPy's
Observation: TypeAlias = Any


class GameEnv(ParallelEnv[str, Observation, Action]):
    """Agents `agent_0`, `agent_1`, … that all observe the state. The end of the horizon is a truncation.

    Attributes
    ----------
    game : TabularGame
    horizon, reward_range, first_states
        As the game has them, so that learners need not be told; `first_states` is how many states may be the first.
    """

    render_mode = "ansi"

    def __init__(self, game: ExactGame) -> None:
        game = game.to_random_horizon()
        self.metadata = {"name": game.name or "tacit", "render_modes": ["ansi"], "is_parallelizable": True}
        self.game = game
        self.horizon, self.reward_range = game.horizon, game.reward_range
        self.first_states = int(np.count_nonzero(game.initial))
        self.possible_agents = [f"agent_{i}" for i in range(game.agents)]
        self.agents: list[str] = []
        self.observation_spaces = {name: Discrete(game.states) for name in self.possible_agents}
        self.action_spaces = {
            name: Discrete(size) for name, size in zip(self.possible_agents, game.actions, strict=True)
        }
        self._stream: np.random.Generator | None = None
        self._after: np.random.Generator
        self._h = self._s = 0

    def observation_space(self, agent: str) -> Discrete:
        """All states."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The agent's own actions."""
        return self.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin an episode. A seed begins its random stream anew; without one, the stream goes on."""
        if seed is not None or self._stream is None:
            chosen = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed
            chosen = check.integer("seed", chosen)
            self._stream = streams.stream(chosen, streams.ENVIRONMENT)
            self._after = streams.stream(chosen, streams.AFTER)
        self.agents = self.possible_agents[:]
        self._h, self._s = 0, self.game.start(self._stream.random())
        return self._observations(), self._infos()

    def step(
        self, actions: dict[str, Action]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Take a joint action."""
        if self._stream is None or not self.agents:
            raise TacitError("no episode is running; call reset() first")
        if not isinstance(actions, Mapping) or set(actions) != set(self.agents):
            raise TacitError(f"actions must be a dict with one for each of {brief(self.agents)}; got {brief(actions)}")
        last = self._h + 1 == self.horizon
        chosen = [actions[name] for name in self.agents]
        self.game.check_place(self._h, self._s, chosen)  # before anything is drawn
        u = (self._after if last else self._stream).random()
        self._s, rewards = self.game.step(self._h, self._s, chosen, u)
        self._h += 1
        live, seen, infos = self.agents, self._observations(), self._infos()
        self.agents = [] if last else live
        by_name = dict(zip(live, rewards.tolist(), strict=True))
        return seen, by_name, dict.fromkeys(live, False), dict.fromkeys(live, last), infos

    def get_state(self) -> dict[str, Any]:
        """Return what lasts from one episode to the next: the random streams."""
        if self._stream is None:
            return {}
        return {"stream": self._stream.bit_generator.state, "after": self._after.bit_generator.state}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Take back what `get_state` returned; an episode begins with `reset`."""
        if state:
            self._stream, self._after = streams.stream(0, streams.ENVIRONMENT), streams.stream(0, streams.AFTER)
            self._stream.bit_generator.state, self._after.bit_generator.state = state["stream"], state["after"]

    def render(self) -> str:
        """Return the state as text."""
        if self._stream is None:
            raise TacitError("no episode has begun; call reset() first")
        return f"step {self._h} of {self.horizon}, state {state_name(self.game, self._s)}"

    def _observations(self) -> dict[str, Observation]:
        return dict.fromkeys(self.agents, np.int64(self._s))

    def _infos(self) -> dict[str, dict[str, Any]]:
        return {name: {"step": self._h} for name in self.agents}
