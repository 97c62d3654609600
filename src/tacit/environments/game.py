"""A game that is known only by playing it."""

from __future__ import annotations

from typing import Any, NoReturn

from tacit.core import check
from tacit.core.display import Document, count, times
from tacit.core.errors import TacitError, brief
from tacit.environments.adapters import Environment, name_of
from tacit.environments.bounds import Bounds
from tacit.environments.observations import Observations


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
    notes : tuple of str
        None: what was found or decided while learning is in `run.notes`.
    """

    def __init__(self, environment: Environment, bounds: Bounds, observations: list[Observations]) -> None:
        self.name = name_of(environment.source)
        self.agent_names = list(environment.names)
        self.actions = environment.actions
        self.horizon, self.reward_range = bounds.horizon, bounds.reward_range
        self.observations = observations
        self.notes: tuple[str, ...] = ()
        self.source: Any = environment.source  # None once the game was pickled or copied
        self.guessed = bounds.guessed

    def __getstate__(self) -> dict[str, Any]:
        """Leave the environment out: it is not ours to copy."""
        return {**self.__dict__, "source": None}

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @property
    def states(self) -> int:
        """Number of states that were met, or that the space has; the most of any agent."""
        return max(len(own.met) for own in self.observations)

    def kernels(self) -> NoReturn:
        """Raise: an environment is played by agents on their own, outside the compiled loop."""
        raise TacitError(f"{self!r} has no kernels; it can only be played")

    def state(self, observation: Any, *, agent: int = 0) -> int:
        """Return the number of the state that an agent takes an observation for, as policies count states."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        found = self.observations[i].known(observation)
        if found is None:
            raise TacitError(f"agent {i} never met the observation {brief(observation)} while it learned")
        return found

    def show(self, **options: Any) -> Document:
        """Show the sizes; an environment is known only by playing it."""
        from tacit.games.showing import show_sizes

        return show_sizes(self, "an environment: it is known only by playing it, so rewards are not listed")

    def __repr__(self) -> str:
        low, high = self.reward_range
        return (
            f"EnvironmentGame({self.name!r}: {count(self.agents, 'agent')}, {count(self.states, 'state')}, "
            f"{times(self.actions)} actions, horizon {self.horizon}, rewards in [{low:g}, {high:g}])"
        )
