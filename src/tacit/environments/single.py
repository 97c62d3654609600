"""What one agent faces while the others play on as they are: a single-agent environment, as Gymnasium has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import streams
from tacit.environments import adapters
from tacit.environments.features import Vector
from tacit.environments.play import EnvironmentArena
from tacit.environments.players import EpisodePlayers

try:
    import gymnasium
except ImportError:  # whoever trains with Gymnasium's tools has it
    gymnasium = None

#: Episodes of training have numbers from here on, so that they share no chance with those of play.
TRAINING = 1 << 40


class SingleAgentEnv(object if gymnasium is None else gymnasium.Env):  # type: ignore[misc]
    """One agent's environment, in which all others play a policy: what a trainer of best responses gets.

    Attributes
    ----------
    observation_space, action_space : gymnasium spaces
        The agent's own; actions are counted from 0. What a plain object shows is seen as an array of floats.
    horizon : int
        Steps after which an episode is truncated.
    agent, seed : int
        Whose environment it is, and a seed for the trainer.
    vector : callable
        From an observation to an array of floats [D].

    Examples
    --------
    >>> import tacit
    >>> from tacit.environments.play import arena_of
    >>> from tacit.environments.single import SingleAgentEnv
    >>> env, policy = tacit.to_pettingzoo(tacit.make("chicken")), tacit.MarkovPolicy([[[[1.0, 0.0]]], [[[1.0, 0.0]]]])
    >>> alone = SingleAgentEnv(arena_of(env, policy), policy, agent=0, seed=1)
    >>> seen, info = alone.reset()
    >>> alone.step(1)[1], info["step"]
    (7.0, 0)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as Gymnasium has it
    render_mode = spec = None

    def __init__(self, arena: EnvironmentArena, policy: Any, agent: int, seed: int) -> None:
        self.agent, self.horizon, self.seed = agent, arena.horizon, seed
        self._arena, self._environment = arena, arena.environment
        self._players = EpisodePlayers(policy, arena.actions)
        space = arena.environment.spaces[agent]
        self.vector = Vector(space, arena.environment.names[agent])
        self._flat = isinstance(space, adapters.Anything)
        self._over: list[bool] | None = None
        self.episodes = self._h = 0
        self._states = np.zeros(arena.agents, np.int64)
        self.action_space: Any = _discrete(arena.actions[agent])
        self.observation_space: Any = self._space(space)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, the next, or that of number `seed`; none shares its chance with what is measured."""
        if gymnasium is not None:
            super().reset(seed=seed)
        self.episodes = self.episodes if seed is None else seed
        number = TRAINING + self.episodes
        own = int(streams.seeds(self.seed, streams.PLAY, range(number, number + 1))[0])
        self.episodes += 1
        self._players.begin(own)
        self._shown, self._over = self._environment.reset(own if self._environment.seeded else None), None
        self._h = 0
        self._let_choose()
        return self.show(self._shown[self.agent]), self._info(None)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action, or, with None, the one that the policy takes: `info["action"]` says which."""
        if action is not None:
            self._chosen[self.agent] = int(action)
        played = self._chosen[self.agent]
        self._shown, paid, self._over = self._environment.step(self._chosen)
        self._h += 1
        terminated = self._over is not None and bool(self._over[self.agent])
        truncated = not terminated and self._h >= self.horizon
        if not (terminated or truncated):
            self._let_choose()
        reward = adapters.floats(self._environment, paid)[self.agent]
        return self.show(self._shown[self.agent]), reward, terminated, truncated, self._info(played)

    def _let_choose(self) -> None:
        self._arena.seen.write(self._shown, self._over, self._states)
        self._chosen = self._players.act(self._h, self._states.tolist(), self._shown, self._environment.allowed)

    def show(self, observation: Any) -> Any:
        """Return an observation as it is seen here: as it is, or, of a plain object, as an array."""
        return self.vector.flatten(observation) if self._flat else observation

    def _info(self, played: int | None) -> dict[str, Any]:
        mask = self._environment.allowed[self.agent]
        masked = {} if mask is None else {"action_mask": np.asarray(mask, np.int8)}
        return {"step": self._h, "action": played, **masked}

    def _space(self, space: Any) -> Any:
        """Return the space of observations as Gymnasium has it, where that is at hand."""
        if isinstance(space, adapters.Discrete):
            return _discrete(space.n)
        if not self._flat or gymnasium is None:
            return space
        seen, _ = self.reset()
        return gymnasium.spaces.Box(-np.inf, np.inf, seen.shape, np.float64)


def _discrete(n: int) -> Any:
    return adapters.Discrete(n) if gymnasium is None else gymnasium.spaces.Discrete(n)
