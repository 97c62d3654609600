"""Agents on their own in somebody else's environment: `tacit.learn` where there are no tables.

Each agent is a `tacit.Agent` and gets its own observation and its own reward, nothing else. It numbers what it observes
for itself. An agent that is out of the game before the horizon stays in a state "over", which pays nothing.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Hashable
from typing import Any

import numpy as np

from tacit.core import streams
from tacit.core.types import FloatArray
from tacit.learners import Learner, own_bound, theorem_iota
from tacit.play.environment_game import EnvironmentGame
from tacit.play.environments import Environment, Moved
from tacit.play.interrupts import Interrupts
from tacit.play.observations import OVER, Encode, Observations, observers
from tacit.play.observers import certified_policy, record
from tacit.play.progress import Progress, ended, tell
from tacit.play.run import Gaps, Run
from tacit.play.scouting import Beyond, Frame, check_ended, check_over, check_rewards, framed
from tacit.play.session import chunk_of
from tacit.play.solo import Agent, own_world
from tacit.play.windows import Measures, Windows
from tacit.policies import CertifiedPolicy, MarkovPolicy

DIFFERENT = (
    "the agents saw different observations; the guarantees ask for a state that all of them see, so there is no bound, "
    "and the policy is the last iterate"
)
MARKOV = "the bound holds if what all agents see is the state of a Markov game, which nobody can check from outside"


def learn_in(
    environment: Environment,
    name: str,
    spec: Learner,
    *,
    episodes: int,
    seed: int,
    keep: bool,
    points: int,
    progress: Progress | None,
    horizon: int | None,
    reward_range: tuple[float, float] | None,
    encode: Encode | None,
) -> Run:
    """Let agents on their own learn in an environment; start over with more room where it turns out to need it."""
    frame = framed(environment, horizon=horizon, reward_range=reward_range, seed=seed)
    while True:
        meeting = Meeting(
            environment, spec, frame, episodes=episodes, seed=seed, keep=keep, points=points, encode=encode
        )
        try:
            meeting.play(progress)
            return meeting.result(name)
        except Beyond as beyond:
            frame = beyond.wider


class Meeting:
    """One run: the agents, what each makes of its observations, and the record of where they were."""

    def __init__(
        self,
        environment: Environment,
        spec: Learner,
        frame: Frame,
        *,
        episodes: int,
        seed: int,
        keep: bool,
        points: int,
        encode: Encode | None,
    ) -> None:
        self.environment, self.spec, self.frame = environment, spec, frame
        self.episodes, self.seed = episodes, seed
        self.observations = observers(environment, encode, early=frame.early)
        self.game = EnvironmentGame(environment, frame, self.observations)
        self.agents = self._agents()
        self.windows = Windows(episodes, points, self.game.agents)
        self.certified = spec.output in ("stage", "rate")
        self.seconds = 0.0
        self.record = record(self.game, episodes) if keep and self.certified else None
        self._sampled_at = int(streams.stream(seed, streams.OUTPUT).integers(episodes))
        self._sampled: list[FloatArray] | None = None

    def _agents(self) -> list[Agent]:
        """Make the agents; one that numbers states as it meets them has room for those of the first episode."""
        iota = getattr(self.spec, "iota", 0.0)
        iota = self._iota(self.episodes) if iota is None else float(iota)
        horizon, made = self.frame.horizon, []
        for i, (own, actions) in enumerate(zip(self.observations, self.game.actions, strict=True)):
            size = (horizon, len(own.met) or horizon, actions)
            world = own_world(self.spec, size, self.frame.reward_range, iota, seed=self.seed, index=i)
            made.append(Agent(self.spec, world, seed=self.seed, index=i))
        return made

    def _iota(self, episodes: int) -> float:
        """Return ι of the theorem; where the number of states is not known, for as many as can be met."""
        return theorem_iota(
            agents=self.game.agents,
            states=max(own.at_most(episodes * self.frame.horizon) for own in self.observations),
            actions=max(self.game.actions),
            episodes=episodes,
            horizon=self.frame.horizon,
            confidence=self.spec.confidence,  # type: ignore[attr-defined]
        )

    def play(self, progress: Progress | None) -> None:
        """Play all episodes, or as many as there are until Ctrl-C."""
        began = time.perf_counter()
        with Interrupts() as interrupts:
            while self.windows.done < self.episodes and not interrupts.pending:
                self.windows.add(self._chunk(progress, interrupts))  # as the fused loop does, to the last rounding
                self.seconds = time.perf_counter() - began
                if self.windows.full:
                    self.windows.close(self._measures())

    def _chunk(self, progress: Progress | None, interrupts: Interrupts) -> FloatArray:
        """Play the episodes that the fused loop would play at once; return the agents' returns [episodes, N]."""
        returns: list[FloatArray] = []
        first = self.windows.done
        size = self.windows.next_chunk(chunk_of(self.frame.horizon))
        if not self.certified:
            if first == self._sampled_at:
                self._sampled = self._tables()
            elif first < self._sampled_at:
                size = min(size, self._sampled_at - first)
        while len(returns) < size and not interrupts.pending:
            returns.append(self._episode(first + len(returns)))
            tell(progress, first + len(returns), self.episodes, interrupts)
        return np.array(returns).reshape(-1, self.game.agents)

    def _episode(self, k: int) -> FloatArray:
        """Play episode k; return the agents' returns [N]."""
        horizon, N = self.frame.horizon, self.game.agents
        for agent, own in zip(self.agents, self.observations, strict=True):
            _make_room(agent, own)
        returns, over = np.zeros(N), [False] * N
        seen = self._keys(self.environment.reset(self.seed if k == 0 else None), over)
        states = [own.number(key) for own, key in zip(self.observations, seen, strict=True)]
        for h in range(horizon):
            self._record(k, h, states, seen)
            actions = [agent.act(h, s) for agent, s in zip(self.agents, states, strict=True)]
            moved = Moved([], [0.0] * N, over) if all(over) else self.environment.step(actions)
            over = moved.over
            check_rewards(self.frame, moved.rewards)
            here, states = states, [-1] * N  # after the last step nobody needs to know
            seen = self._keys(moved.observations, over)
            if h + 1 < horizon:
                check_over(self.frame, over)
                states = [own.number(key) for own, key in zip(self.observations, seen, strict=True)]
            for i, agent in enumerate(self.agents):
                agent.learn(h, here[i], actions[i], moved.rewards[i], states[i])
            returns += moved.rewards
        check_ended(self.frame, over)
        return returns

    def _keys(self, observations: list[Any], over: list[bool]) -> list[Hashable]:
        """Return what each agent sees, in the form in which it numbers it."""
        return [
            OVER if out else own.key(observations[i])
            for i, (own, out) in enumerate(zip(self.observations, over, strict=True))
        ]

    def _record(self, k: int, h: int, states: list[int], seen: list[Hashable]) -> None:
        """Write down the state, if all see the same, and the agents' distributions."""
        if any(key != seen[0] for key in seen[1:]):
            self.game.shared = False
        if self.game.shared and self.record is not None:
            self.record.clock[0] = k + 1
            self.record.visited[k, h] = states[0]
            rows = [agent.probabilities(h, s)[:-1] for agent, s in zip(self.agents, states, strict=True)]
            self.record.stored[k, h] = np.concatenate(rows)

    def _measures(self) -> Measures:
        """Return the agents' own bounds or estimates; nobody knows the values."""
        return {"value": np.full(self.game.agents, np.nan), "gap": self._gaps().upper}

    def _tables(self) -> list[FloatArray]:
        """Return each agent's current distributions at the states it has met, [H, S_i, A_i]."""
        return [agent.policy[:, : len(own.met)] for agent, own in zip(self.agents, self.observations, strict=True)]

    def _iterate(self, tables: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy; even ones at states that an agent had not met by then."""
        probs = []
        for table, actions in zip(tables, self.game.actions, strict=True):
            padded = np.full((self.frame.horizon, self.game.states, actions), 1 / actions)
            padded[:, : table.shape[1]] = table
            probs.append(padded)
        return MarkovPolicy(probs)

    def result(self, name: str) -> Run:
        """Return the run with what was reached."""
        done = ended(self.windows, self.episodes)
        if self.windows.open:
            self.windows.close(self._measures())
        gaps = self._gaps()
        notes = [*self.frame.notes, *([MARKOV] if gaps.source == "model-free" else [])]
        self.game.notes = (*notes, *([] if self.game.shared else [DIFFERENT]))
        if not self.game.shared:
            warnings.warn(DIFFERENT, stacklevel=4)
        last = self._iterate(self._tables())
        return Run(
            game=self.game,
            learner=name,
            episodes=done,
            seed=self.seed,
            last=last,
            gaps=gaps,
            values=None,
            reward=self.windows.last_tenth(),
            curve=self.windows.table(),
            params=dict(self.spec.params(self.agents[0].world)),
            seconds=self.seconds,
            interrupted=done < self.episodes,
            sampled=self._sampled_iterate(last),
            _policy=self._policy(last),
        )

    def _sampled_iterate(self, last: MarkovPolicy) -> MarkovPolicy | None:
        if self.certified:
            return None
        return last if self._sampled is None else self._iterate(self._sampled)

    def _gaps(self) -> Gaps:
        """Return what each agent knows of its own gap: bounds where all is known that they need."""
        if not self.certified or not self.game.shared:
            return Gaps("nash", np.full(self.game.agents, np.nan), "none")
        world, K = self.agents[0].world, self.windows.done
        total = np.array([agent.state.bound_sum[0] for agent in self.agents])
        guessed = self.frame.guessed_range or self.frame.guessed_horizon
        if guessed or not own_bound.is_bound(self.spec, iota=world.iota, needed=self._iota(K)):
            upper, source = own_bound.estimate(total, K, world), "estimate"
        else:
            upper, source = own_bound.bound(total, K, world, drawn=self._drawn()), "model-free"
        return Gaps(self.spec.equilibrium, upper, source, most=own_bound.cap(world))

    def _drawn(self) -> bool:
        """Return whether first states may differ from episode to episode, as far as anybody knows."""
        return self.frame.drawn and any(own.count != 1 for own in self.observations)

    def _policy(self, last: MarkovPolicy) -> CertifiedPolicy | MarkovPolicy | None:
        if not self.certified or not self.game.shared:
            return last
        return None if self.record is None else certified_policy(self.game, self.record, self.spec.output)


def _make_room(agent: Agent, own: Observations) -> None:
    """See that an agent that numbers states as it meets them has room for all that an episode may show it."""
    needed = len(own.met) + agent.world.horizon
    if not own.numbered and needed > agent.world.states:
        agent.grow(max(needed, 2 * agent.world.states))
