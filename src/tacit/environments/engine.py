"""The environment engine: agents on their own in somebody else's environment.

Each agent gets its own observation and its own reward, nothing else, and numbers what it observes for itself. All of
them act in one compiled call and learn in another (`engine/team.py`), with the same bits as `tacit.agent` objects that
are on their own. An agent that is out before the horizon stays in a state "over", which pays nothing.
"""

from __future__ import annotations

import time
import numpy as np

from tacit.core.ownership import locked
from tacit.core.types import FloatArray
from tacit.engine.protocols import Engine
from tacit.engine.record import Nothing, Record
from tacit.engine.run import Gaps
from tacit.engine.team import team_of
from tacit.engine.validation import Arrays
from tacit.environments.adapters import Environment
from tacit.environments.bounds import Bounds, check_ended, check_over, check_rewards
from tacit.environments.game import EnvironmentGame
from tacit.environments.numbering import Numbering
from tacit.environments.observations import Encode, numberings
from tacit.games.protocol import Game
from tacit.learners import Learner, World, own_bound
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
        self.record: Record | Nothing = Nothing()
        self.world = self._known(episodes)
        self.team = team_of(learner, self.world._replace(states=self._room()), seed=seed)
        self.structs = self.team.structs
        self.notes = (*bounds.notes, *([MARKOV] if self._proven else []))
        self._seen = Numbering(self.observations)
        self._numbered = all(own.numbered for own in self.observations)
        self._states, self._nexts = np.zeros((2, self.game.agents), dtype=np.int64)
        self._rewards = np.zeros(self.game.agents)
        self._episode = 0

    def _known(self, episodes: int) -> World:
        """Return what the agents know; the scale counts as many states as they may come to see."""
        horizon, actions = self.bounds.horizon, self.game.actions
        states = max(own.at_most(episodes * horizon) for own in self.observations)
        scale = Scale(self.game.agents, states, max(actions), horizon, episodes)
        return World(self.game.states, locked(np.array(actions)), horizon, self.bounds.reward_range, scale)

    def _room(self) -> int:
        """Return how many states to begin with; where they are numbered as they are met, those of one episode."""
        return max(len(own.met) or self.bounds.horizon for own in self.observations)

    @property
    def _proven(self) -> bool:
        return not self.bounds.guessed and own_bound.is_bound(self.learner, self.world, self.world.scale)

    @property
    def common_state(self) -> bool:  # type: ignore[override]
        """Whether all agents saw the same at every step."""
        return self._seen.same

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes one by one for a tenth of a second, one at least; return the agents' returns [episodes, N]."""
        began = time.perf_counter()
        returns = [self._play()]
        while len(returns) < episodes and time.perf_counter() - began < 0.1:
            returns.append(self._play())
        self.seconds += time.perf_counter() - began
        if not self.common_state and not self.warnings:
            self.warnings, self.notes = (DIFFERENT,), (*self.bounds.notes, DIFFERENT)
        return np.array(returns)

    def _play(self) -> FloatArray:
        """Play one episode; return the agents' returns [N]."""
        horizon, team, k, seen = self.bounds.horizon, self.team, self._episode, self._seen
        states, nexts, rewards = self._states, self._nexts, self._rewards
        low, high = self.bounds.reward_range
        self._make_room()
        team.begin(k)
        returns = np.zeros(self.game.agents)
        over: list[bool] | None = None  # nobody is out yet
        stored = self.record.stored if isinstance(self.record, Record) and seen.same else None
        shown = self.environment.reset(self.seed if k == 0 else None)
        seen.write(shown, over, states)
        for h in range(horizon):
            if stored is not None:
                if seen.same:
                    self.record.visited[k, h] = states[0]  # type: ignore[union-attr]
                else:
                    stored = None
            chosen = team.act(h, states, stored, k)
            if over is None or not all(over):
                moved = self.environment.step(chosen.tolist())
                rewards[:] = paid = moved.rewards
                if not low <= min(paid) <= max(paid) <= high:
                    check_rewards(self.bounds, paid)
                over = moved.over if True in moved.over else None
            else:
                rewards[:] = 0.0
            if h + 1 < horizon:
                if over is not None:
                    check_over(self.bounds, over)
                seen.write(moved.observations, over, nexts)
                team.learn(h, states, rewards, nexts, returns)
                states, nexts = nexts, states
            else:  # nobody needs to know what comes after the end
                team.learn(h, states, rewards, states, returns)
        check_ended(self.bounds, over)
        self._episode += 1
        if isinstance(self.record, Record):
            self.record.clock[0] = self._episode
        return returns

    def _make_room(self) -> None:
        """See that there is room for all states that an episode may show, where they are numbered as they are met."""
        if not self._numbered:
            needed = max(len(own.met) for own in self.observations) + self.bounds.horizon
            if needed > self.team.room:
                self.team.grow(max(needed, 2 * self.team.room))

    def distributions(self) -> list[FloatArray]:
        """Return each agent's current distributions at the states it has met, [H, S_i, A_i]."""
        return self.team.distributions([len(own.met) for own in self.observations])

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
        total = self.team.bound_sum()
        if not self.common_state or total is None:
            return Gaps("nash", np.full(self.game.agents, np.nan), "none")
        drawn = self.bounds.drawn and any(own.count != 1 for own in self.observations)
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

