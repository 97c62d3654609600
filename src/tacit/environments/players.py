"""Agents that play a policy to be measured, many episodes at once or one; one of them may deviate from it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, NamedTuple, Protocol

import numpy as np

from tacit.core import streams
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.policies import MarkovPolicy, Part, RecordedPolicy


@dataclass
class Deviation:
    """One agent leaves the policy: it plays `table[h, s]`; where that is −1, or s lies beyond, what `lost` says."""

    agent: int
    table: IntArray  # [H, S]
    lost: str = "policy"  # or "random": evenly

    def choose(self, h: int, states: IntArray, followed: IntArray, u: FloatArray, actions: int) -> IntArray:
        """Return the agent's actions in a batch, where the policy would have it play `followed`."""
        known = states < self.table.shape[1]
        wanted = np.where(known, self.table[h, np.minimum(states, self.table.shape[1] - 1)], -1)
        other = followed if self.lost == "policy" else (u * actions).astype(np.int64)
        return np.where(wanted >= 0, wanted, other)

    def begin(self, seed: int) -> None:
        """Begin an episode that is played alone."""
        self._stray = streams.stream(seed, streams.PLAY)

    def choose_one(self, h: int, s: int, shown: Any, allowed: Any, followed: int, actions: int) -> int:
        """Return the agent's action where the policy would have it play `followed`."""
        wanted = int(self.table[h, s]) if s < self.table.shape[1] else -1
        if wanted >= 0 or self.lost == "policy":
            return wanted if wanted >= 0 else followed
        return int(self._stray.random() * actions)


@dataclass(frozen=True)
class PartDeviation:
    """One agent leaves the policy: it plays a part of its own, on what it observes."""

    agent: int
    part: Part

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self.part.begin(seed)

    def choose_one(self, h: int, s: int, shown: Any, allowed: Any, followed: int, actions: int) -> int:
        """Return the agent's action."""
        return self.part.choose(h, shown, allowed)


class Draws(NamedTuple):
    """The chance of a batch of episodes; an episode's depends on nothing but its number and the seed."""

    world: FloatArray  # [B, H]
    common: FloatArray  # [B, H + 1]
    own: FloatArray  # [N, B, H]
    stray: FloatArray  # [B, H]  of who deviates

    @classmethod
    def of(cls, seed: int, episodes: range, horizon: int, agents: int) -> Draws:
        """Draw for episodes of consecutive numbers."""
        B, first = len(episodes), episodes.start

        def numbers(role: int, width: int) -> FloatArray:
            stream = streams.stream(seed, streams.PLAY + 16 + role)
            stream.bit_generator.advance(first * width)  # type: ignore[attr-defined]
            return stream.random((B, width))

        own = np.stack([numbers(3 + i, horizon) for i in range(agents)])
        return cls(numbers(0, horizon), numbers(1, horizon + 1), own, numbers(2, horizon))


class Players(Protocol):
    """All agents in a batch of episodes."""

    def act(self, h: int, states: IntArray) -> IntArray:
        """Return the actions [B, N] at step h in each agent's own states [B, N]."""


def batch_players(policy: Any, actions: Sequence[int], draws: Draws, deviation: Deviation | None) -> Players:
    """Return the players of a batch."""
    made = _batch(policy, draws)
    return made if deviation is None else _Deviating(made, deviation, draws, actions[deviation.agent])


@singledispatch
def _batch(policy: Any, draws: Draws) -> Players:
    """Return how a policy plays a batch; one of another kind plays its parts."""
    return _PartsBatch(policy, draws)


def parts_of(policy: Any, agents: int) -> list[Part]:
    """Return each agent's part, which acts alone: `part.begin(seed)`, then `part.act(h, s)` step by step."""
    if not callable(getattr(policy, "part", None)):
        raise TacitError(f"policy is {brief(policy)}; it must be a policy, as from tacit.learn or tacit.solve")
    return [policy.part(i) for i in range(agents)]


@dataclass
class _Deviating:
    """A batch in which one agent deviates; what the policy would have it play is still drawn."""

    players: Players
    deviation: Deviation
    draws: Draws
    size: int

    def act(self, h: int, states: IntArray) -> IntArray:
        chosen, i = self.players.act(h, states), self.deviation.agent
        chosen[:, i] = self.deviation.choose(h, states[:, i], chosen[:, i], self.draws.stray[:, h], self.size)
        return chosen


@_batch.register(MarkovPolicy)
class _MarkovBatch:
    def __init__(self, policy: MarkovPolicy, draws: Draws) -> None:
        self.policy, self.draws = policy, draws
        flat = (own.reshape(*own.shape[:2], -1) for own in policy.probs)
        self.cumulated = [np.cumsum(own, axis=2) for own in flat]

    def act(self, h: int, states: IntArray) -> IntArray:
        step = h if self.policy.steps > 1 else 0
        if not self.policy.product:
            joint = _pick(self.cumulated[0][step], states[:, 0], self.draws.common[:, h])
            return np.stack(np.unravel_index(joint, self.policy.actions), axis=1)
        pairs = enumerate(self.cumulated)
        return np.stack([_pick(own[step], states[:, i], self.draws.own[i][:, h]) for i, own in pairs], axis=1)


@_batch.register(RecordedPolicy)
class _RecordedBatch:
    def __init__(self, policy: RecordedPolicy, draws: Draws) -> None:
        self.policy, self.draws = policy, draws
        self.k = [policy.first(draws.common[:, -1])] * len(policy.records)  # the index in each record

    def act(self, h: int, states: IntArray) -> IntArray:
        chosen = []
        for r, record in enumerate(self.policy.records):
            known, s = states[:, r] < record.states, np.minimum(states[:, r], record.states - 1)
            self.k[r] = np.where(known, record.earlier(h, self.k[r], s, self.draws.common[:, h]), -1)
            own = self.draws.own[r : r + len(record.actions)]
            chosen += [record.draw(i, self.k[r], h, u[:, h]) for i, u in enumerate(own)]
        return np.stack(chosen, axis=1)


class _PartsBatch:
    """Any policy with parts, one for each agent and episode: slow, and right."""

    def __init__(self, policy: Any, draws: Draws) -> None:
        seeds = (draws.common[:, 0] * 2**31).astype(np.int64).tolist()
        self.parts = [parts_of(policy, draws.own.shape[0]) for _ in seeds]
        for row, seed in zip(self.parts, seeds, strict=True):
            for part in row:
                part.begin(seed)

    def act(self, h: int, states: IntArray) -> IntArray:
        rows = zip(self.parts, states.tolist(), strict=True)
        return np.array([[part.act(h, s) for part, s in zip(row, own, strict=True)] for row, own in rows])


def _pick(cumulated: FloatArray, states: IntArray, u: FloatArray) -> IntArray:
    """Draw from the distributions [S, A] of states; evenly in states that the policy does not know."""
    S, A = cumulated.shape
    known = states < S
    found: IntArray = (u[:, None] >= cumulated[np.minimum(states, S - 1), :-1]).sum(axis=1)
    return np.where(known, found, (u * A).astype(np.int64))


class EpisodePlayers:
    """All agents in one episode after the other, each with its own part."""

    def __init__(self, policy: Any, actions: Sequence[int], deviation: Deviation | PartDeviation | None = None) -> None:
        self.parts = parts_of(policy, len(actions))
        self.known = _known(policy, len(actions))
        self.actions, self.deviation = list(actions), deviation

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        for part in self.parts:
            part.begin(seed)
        if self.deviation is not None:
            self.deviation.begin(seed)

    def act(self, h: int, states: Sequence[int], shown: Sequence[Any], allowed: Sequence[Any]) -> list[int]:
        """Return the agents' actions; who sees what its policy never saw plays evenly."""
        chosen = [
            part.choose(h, seen, mask) if part.sees else part.act(h, s) if s < known else part.stray(h)
            for part, s, known, seen, mask in zip(self.parts, states, self.known, shown, allowed, strict=True)
        ]
        if self.deviation is not None:
            i = self.deviation.agent
            own = states[i], shown[i], allowed[i], chosen[i], self.actions[i]
            chosen[i] = self.deviation.choose_one(h, *own)
        return chosen


def _known(policy: Any, agents: int) -> list[int]:
    """Return how many states each agent's part knows."""
    known = getattr(policy, "known_states", lambda agent: getattr(policy, "states", sys.maxsize))
    return [known(i) for i in range(agents)]
