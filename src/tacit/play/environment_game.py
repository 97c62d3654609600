"""A game that is known only by playing it."""

from __future__ import annotations

from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.games.tabular import count, times
from tacit.play.environments import Environment, name_of
from tacit.play.observations import Observations
from tacit.play.scouting import Frame


class EnvironmentGame:
    """What a run has learned about an environment: `run.game` where there are no tables.

    Attributes
    ----------
    name : str
    agent_names : list of N str
    actions : tuple of N ints
    horizon : int
    reward_range : (float, float)
    observations : list of N Observations
        Each agent's own numbering of what it has met.
    shared : bool
        Whether all agents saw the same at every step, which the guarantees ask for.
    notes : tuple of str
        What was found or decided while learning.
    """

    def __init__(self, environment: Environment, frame: Frame, observations: list[Observations]) -> None:
        self.name = name_of(environment.source)
        self.agent_names = list(environment.names)
        self.actions = environment.actions
        self.horizon, self.reward_range = frame.horizon, frame.reward_range
        self.observations = observations
        self.shared = True
        self.notes: tuple[str, ...] = ()

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @property
    def states(self) -> int:
        """Number of states that were met, or that the space has; the most of any agent."""
        return max(len(own.met) for own in self.observations)

    def state(self, observation: Any, *, agent: int = 0) -> int:
        """Return the number of the state that an agent takes an observation for, as policies count states."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        found = self.observations[i].known(observation)
        if found is None:
            raise TacitError(f"agent {i} never met the observation {brief(observation)} while it learned")
        return found

    def __repr__(self) -> str:
        low, high = self.reward_range
        return (
            f"EnvironmentGame({self.name!r}: {count(self.agents, 'agent')}, {count(self.states, 'state')}, "
            f"{times(self.actions)} actions, horizon {self.horizon}, rewards in [{low:g}, {high:g}])"
        )
