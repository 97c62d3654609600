"""Other libraries' environments as agents on their own meet them: observations and rewards, one for each agent."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from tacit.core.errors import TacitError, brief


class Moved(NamedTuple):
    """What a step gives each agent: its own observation and reward, and whether it is out of the game."""

    observations: list[Any]
    rewards: list[float]
    over: list[bool]


class Environment(Protocol):
    """An environment in which all agents act at once, an action being a number from 0."""

    source: Any  # the library's own object
    names: list[str]
    spaces: list[Any]  # of observations
    actions: tuple[int, ...]

    def reset(self, seed: int | None) -> list[Any]:
        """Begin an episode; return each agent's observation. With a seed, begin its random stream anew."""

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action; those of agents that are out do not matter."""


class ParallelWorld:
    """A PettingZoo `ParallelEnv`."""

    def __init__(self, env: Any) -> None:
        self.source = env
        self.names = list(getattr(env, "possible_agents", ()))
        if not self.names:
            raise TacitError(f"{brief(env)} does not say who plays; it must have possible_agents")
        self.spaces = [env.observation_space(name) for name in self.names]
        own = [env.action_space(name) for name in self.names]
        self.actions, self._first = _discrete(own, self.names)
        self._last: list[Any] = []

    def reset(self, seed: int | None) -> list[Any]:
        """Begin an episode."""
        observations, _ = self.source.reset() if seed is None else self.source.reset(seed=seed)
        missing = [name for name in self.names if name not in observations]
        if missing:
            raise TacitError(f"{missing[0]} is not there when an episode begins; all agents must be")
        self._last = [observations[name] for name in self.names]
        return self._last

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        live = set(self.source.agents)
        chosen = {
            name: first + a for name, first, a in zip(self.names, self._first, actions, strict=True) if name in live
        }
        observations, rewards, _, _, _ = self.source.step(chosen)
        left = set(self.source.agents)
        self._last = [observations.get(name, last) for name, last in zip(self.names, self._last, strict=True)]
        paid = [float(rewards.get(name, 0.0)) for name in self.names]
        return Moved(self._last, paid, [name not in left for name in self.names])


class SingleWorld:
    """A Gymnasium environment: one agent."""

    def __init__(self, env: Any) -> None:
        self.source = env
        self.names = ["agent"]
        self.spaces = [env.observation_space]
        self.actions, self._first = _discrete([env.action_space], self.names)

    def reset(self, seed: int | None) -> list[Any]:
        """Begin an episode."""
        observation, _ = self.source.reset(seed=seed)
        return [observation]

    def step(self, actions: list[int]) -> Moved:
        """Take an action."""
        observation, reward, terminated, truncated, _ = self.source.step(self._first[0] + actions[0])
        return Moved([observation], [float(reward)], [bool(terminated or truncated)])


def is_environment(value: object) -> bool:
    """Return whether something looks like an environment of PettingZoo or Gymnasium."""
    return callable(getattr(value, "reset", None)) and callable(getattr(value, "step", None))


def has_table(value: object) -> bool:
    """Return whether something is a Gymnasium environment that carries its own transition table."""
    return isinstance(getattr(getattr(value, "unwrapped", None), "P", None), dict) and is_environment(value)


def environment(env: Any) -> Environment:
    """Return an environment of PettingZoo or Gymnasium as agents on their own meet it."""
    if callable(getattr(env, "agent_iter", None)):
        raise TacitError(
            f"{brief(env)} lets agents act in turn (AEC); give its parallel form, as from parallel_env() or "
            f"pettingzoo.utils.aec_to_parallel"
        )
    if hasattr(env, "possible_agents") or callable(getattr(env, "observation_space", None)):
        return ParallelWorld(env)
    if hasattr(env, "observation_space") and hasattr(env, "action_space"):
        return SingleWorld(env)
    raise TacitError(f"{brief(env)} is neither a TabularGame nor an environment of PettingZoo or Gymnasium")


def _discrete(spaces: list[Any], names: list[str]) -> tuple[tuple[int, ...], list[int]]:
    """Return each agent's number of actions and the environment's name for the first."""
    for space, name in zip(spaces, names, strict=True):
        if type(space).__name__ != "Discrete":
            raise TacitError(f"{name} acts in {brief(space)}; only Discrete actions can be learned")
    return tuple(int(space.n) for space in spaces), [int(space.start) for space in spaces]
