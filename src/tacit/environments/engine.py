"""The environment engine: agents on their own in somebody else's environment.

Each agent is a `tacit.Agent` and gets its own observation and its own reward, nothing else. It numbers what it observes
for itself. An agent that is out of the game before the horizon stays in a state "over", which pays nothing.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from tacit.core.ownership import locked
from tacit.core.types import FloatArray
from tacit.engine.agents import Agent, make_agent
from tacit.engine.protocols import Engine
from tacit.engine.record import Nothing, Record
from tacit.engine.run import Gaps
from tacit.engine.validation import Arrays
from tacit.environments.adapters import Environment, Moved
from tacit.environments.bounds import Bounds, check_ended, check_over, check_rewards
from tacit.environments.game import EnvironmentGame
from tacit.environments.observations import OVER, Encode, Observations, numberings
from tacit.games.protocol import Game
from tacit.learners import Learner, World, own_bound
from tacit.learners.plain import PlainAgent
from tacit.learners.spec import Scale
from tacit.policies import MarkovPolicy

DIFFERENT = (
    "the agents saw different observations; the guarantees ask for a state that all of them see, so there is no bound, "
    "and the policy is the last iterate"
)
MARKOV = "the bound holds if what all agents see is the state of a Markov game, which nobody can check from outside"


class EnvironmentEngine(Engine):
    """The agents, what each makes of its observations, and the record of where they were."""

    def __init__(
        self,
        environment: Environment,
        learner: Learner,
        bounds: Bounds,
        *,
        episodes: int,
        seed: int,
        encode: Encode | None = None,
        game: Game | None = None,
    ) -> None:
        self.environment, self.learner, self.bounds, self.seed = environment, learner, bounds, seed
        self.observations = numberings(environment, encode, early=bounds.early)
        self.game: Game = EnvironmentGame(environment, bounds, self.observations) if game is None else game
        self.chunk = episodes
        self.seconds = 0.0
        self.common_state = True
        self.record: Record | Nothing = Nothing()
        self.world = self._known(episodes)
        self.agents = self._agents()
        self.notes = (*bounds.notes, *([MARKOV] if self._proven else []))
        self._episode = 0

    def _known(self, episodes: int) -> World:
        """Return what the agents know; the scale counts as many states as they may come to see."""
        horizon, actions = self.bounds.horizon, self.game.actions
        states = max(own.at_most(episodes * horizon) for own in self.observations)
        scale = Scale(self.game.agents, states, max(actions), horizon, episodes)
        return World(self.game.states, locked(np.array(actions)), horizon, self.bounds.reward_range, scale)

    def _agents(self) -> list[Agent | PlainAgent]:
        """Make the agents; one that numbers states as it meets them has room for those of the first episode."""
        horizon = self.bounds.horizon
        sizes = [
            (horizon, len(own.met) or horizon, actions)
            for own, actions in zip(self.observations, self.game.actions, strict=True)
        ]
        return [
            make_agent(self.learner.seat(i), size, self.bounds.reward_range, self.world.scale, seed=self.seed, index=i)
            for i, size in enumerate(sizes)
        ]

    @property
    def _proven(self) -> bool:
        return not self.bounds.guessed and own_bound.is_bound(self.learner, self.world, self.world.scale)

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes one by one for a tenth of a second, one at least; return the agents' returns [episodes, N]."""
        began = time.perf_counter()
        returns = [self._play()]
        while len(returns) < episodes and time.perf_counter() - began < 0.1:
            returns.append(self._play())
        self.seconds += time.perf_counter() - began
        return np.array(returns)

    def _play(self) -> FloatArray:
        """Play one episode; return the agents' returns [N]."""
        horizon, N = self.bounds.horizon, self.game.agents
        for agent, own in zip(self.agents, self.observations, strict=True):
            _make_room(agent, own)
        returns, over = np.zeros(N), [False] * N
        seen = self._keys(self.environment.reset(self.seed if self._episode == 0 else None), over)
        states = [own.number(key) for own, key in zip(self.observations, seen, strict=True)]
        for h in range(horizon):
            self._note(h, states, seen)
            actions = [agent.act(h, s) for agent, s in zip(self.agents, states, strict=True)]
            moved = Moved([], [0.0] * N, over) if all(over) else self.environment.step(actions)
            over = moved.over
            check_rewards(self.bounds, moved.rewards)
            here, states = states, [-1] * N  # after the last step nobody needs to know
            seen = self._keys(moved.observations, over)
            if h + 1 < horizon:
                check_over(self.bounds, over)
                states = [own.number(key) for own, key in zip(self.observations, seen, strict=True)]
            for i, agent in enumerate(self.agents):
                agent.learn(h, here[i], actions[i], moved.rewards[i], states[i])
            returns += moved.rewards
        check_ended(self.bounds, over)
        self._episode += 1
        return returns

    def _keys(self, observations: Sequence[Any], over: Sequence[bool]) -> list[Hashable]:
        """Return what each agent sees, in the form in which it numbers it."""
        return [
            OVER if out else own.key(observations[i])
            for i, (own, out) in enumerate(zip(self.observations, over, strict=True))
        ]

    def _note(self, h: int, states: Sequence[int], seen: Sequence[Hashable]) -> None:
        """Record the state, if all see the same, and the agents' distributions."""
        if self.common_state and any(key != seen[0] for key in seen[1:]):
            self.common_state = False
            self.warnings, self.notes = (DIFFERENT,), (*self.bounds.notes, DIFFERENT)
        if self.common_state and isinstance(self.record, Record):
            k = self._episode
            self.record.clock[0] = k + 1
            self.record.visited[k, h] = states[0]
            rows = [agent.probabilities(h, s)[:-1] for agent, s in zip(self.agents, states, strict=True)]
            self.record.stored[k, h] = np.concatenate(rows)

    def distributions(self) -> list[FloatArray]:
        """Return each agent's current distributions at the states it has met, [H, S_i, A_i]."""
        return [agent.policy[:, : len(own.met)] for agent, own in zip(self.agents, self.observations, strict=True)]

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy; even ones at states that an agent had not met by then."""
        probs = []
        for table, actions in zip(distributions, self.game.actions, strict=True):
            padded = np.full((self.bounds.horizon, self.game.states, actions), 1 / actions)
            padded[:, : table.shape[1]] = table
            probs.append(padded)
        return MarkovPolicy(probs)

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return each agent's own bound; nothing where they saw different things."""
        sums = [agent.bound_sum for agent in self.agents]
        if not self.common_state or any(own is None for own in sums):
            return Gaps("nash", np.full(self.game.agents, np.nan), "none")
        drawn = self.bounds.drawn and any(own.count != 1 for own in self.observations)
        total = np.array(sums, dtype=float)
        upper, source = own_bound.judged(
            self.learner, self.world, total, done, drawn=drawn, trusted=not self.bounds.guessed
        )
        return Gaps(kind, upper, source, most=self.world.largest_gap)

    def snapshot(self) -> Arrays:
        """Raise: runs in an environment are not checkpointed."""
        raise NotImplementedError

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise: runs in an environment are not checkpointed."""
        raise NotImplementedError

    def restore(self, arrays: Arrays) -> None:
        """Raise: runs in an environment are not checkpointed."""
        raise NotImplementedError


def _make_room(agent: Agent | PlainAgent, own: Observations) -> None:
    """See that an agent that numbers states as it meets them has room for all that an episode may show it."""
    needed = len(own.met) + agent.horizon
    if not own.numbered and needed > agent.states:
        agent.grow(max(needed, 2 * agent.states))
