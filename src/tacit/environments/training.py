"""A best response, trained: optimistic value iteration on what one agent meets while the others play frozen policies.

[UCB-VI, Azar, Osband, Munos 2017], in batches of episodes, on the states that the agent itself sees. Before a batch the
agent plans with the means of what it has met and a bonus for what it has hardly tried; what it has never tried is worth
the most that anything can be. Where the others' policies are Markov and the state is shared, what it faces is a Markov
decision process, and a second plan bounds what any deviation can gain:

    V̄_h(s) = max_a min{(H − h)·span, r̂ + P̂·V̄_{h+1} + (H − h)·span·√(log(2·H·S·A·K/p)/(2n))}

in rewards counted from their lowest. By Hoeffding r̂ + P̂·V*_{h+1} misses r + P·V*_{h+1} by more than the bonus for some
(h, s, a) and some n ≤ K with probability p at most, and then V̄ ≥ V* by induction.

Deviations from UCB-VI: batches; a bonus of (H − h)·span·c/√n with a small c while learning, since what is found is
measured afresh and needs no proof; states that are discovered are counted as at most K·H.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray, IntArray
from tacit.environments.play import Played

#: The constant c of the bonus while learning.
CURIOSITY = 0.15


class Model:
    """What one agent has met: visits, rewards and transitions of (h, s, a)."""

    def __init__(self, agent: int, horizon: int, actions: int) -> None:
        self.agent, self.horizon, self.actions = agent, horizon, actions
        self.states = 0
        self.visits: FloatArray = np.zeros((horizon, 0, actions))
        self.rewards: FloatArray = np.zeros((horizon, 0, actions))
        self.low, self.high = math.inf, -math.inf  # rewards of a step so far
        self._code: IntArray = np.zeros(0, dtype=np.int64)  # ((h·S + s)·A + a)·S + s', ascending
        self._count: FloatArray = np.zeros(0)

    def add(self, played: Played, states: int) -> None:
        """Take in a batch, in which `states` are the states that there are by now."""
        self._grow(states)
        H, S, A, i = self.horizon, self.states, self.actions, self.agent
        s, a, r = played.states[:, :, i], played.actions[:, :, i], played.rewards[:, :, i]
        self.low, self.high = min(self.low, float(r.min())), max(self.high, float(r.max()))
        place = (np.arange(H) * S + s) * A + a
        self.visits += np.bincount(place.ravel(), minlength=H * S * A).reshape(H, S, A)
        self.rewards += np.bincount(place.ravel(), r.ravel(), minlength=H * S * A).reshape(H, S, A)
        met = (place[:, :-1] * S + s[:, 1:]).ravel()
        codes = np.concatenate([self._code, met])
        counts = np.concatenate([self._count, np.ones(len(met))])
        self._code, where = np.unique(codes, return_inverse=True)
        self._count = np.bincount(where.ravel(), weights=counts, minlength=len(self._code)).astype(np.float64)

    def _grow(self, states: int) -> None:
        if states <= self.states:
            return
        before, self.states = self.states, max(states, 2 * self.states)
        shape = (self.horizon, self.states, self.actions)
        wider = [memory.zeros(shape, "the model of what an agent meets") for _ in range(2)]
        for old, new in zip((self.visits, self.rewards), wider, strict=True):
            new[:, :before] = old
        self.visits, self.rewards = wider
        if before:
            place, s_next = np.divmod(self._code, before)
            place, a = np.divmod(place, self.actions)
            h, s = np.divmod(place, before)
            self._code = ((h * self.states + s) * self.actions + a) * self.states + s_next

    def plan(self, bonus: FloatArray, most: FloatArray, unknown: float) -> tuple[FloatArray, FloatArray]:
        """Return Q [H, S, A] and V [H + 1, S]: means plus a bonus, at most `most` [H]; `unknown` [as most] untried.

        `unknown` times `most` is what an action is worth that was never tried.
        """
        H, S, A = self.horizon, self.states, self.actions
        place, s_next = np.divmod(self._code, S)
        edges = np.searchsorted(place, np.arange(H + 1) * S * A)
        Q, V = np.zeros((H, S, A)), np.zeros((H + 1, S))
        tried = self.visits > 0
        mean = self.rewards / np.maximum(self.visits, 1)
        for h in reversed(range(H)):
            own = slice(edges[h], edges[h + 1])
            ahead = np.bincount(
                place[own] - h * S * A, self._count[own] * V[h + 1][s_next[own]], minlength=S * A
            ).reshape(S, A)
            value = mean[h] + ahead / np.maximum(self.visits[h], 1) + bonus[h]
            Q[h] = np.where(tried[h], np.minimum(value, most[h]), unknown * most[h])
            V[h] = Q[h].max(axis=1)
        return Q, V

    def curious(self, constant: float = CURIOSITY) -> IntArray:
        """Return what to play next [H, S]: the best action of an optimistic plan; −1 where nothing was tried."""
        span = max(self.high - self.low, 1e-12)
        left = np.arange(self.horizon, 0, -1.0)
        bonus = constant * span * left[:, None, None] / np.sqrt(np.maximum(self.visits, 1))
        Q, _ = self._plan_from_lowest(bonus, left * span)
        return self._choice(Q, np.zeros_like(self.visits))

    def best(self) -> IntArray:
        """Return the best response by what was met [H, S]; what was never tried does not count, −1 for no state."""
        left = np.arange(self.horizon, 0, -1.0)
        span = max(self.high - self.low, 1e-12)
        Q, _ = self._plan_from_lowest(np.zeros_like(self.visits), left * span, unknown=-1.0)
        return self._choice(Q, np.where(self.visits > 0, 0.0, -np.inf))

    def upper(self, *, span: float, low: float, states: int, episodes: int, chance: float) -> FloatArray:
        """Return V̄_1 [S], an upper bound on the value of any deviation from each first state, in the game's units."""
        count = 2 * self.horizon * states * self.actions * max(episodes, 1)
        left = np.arange(self.horizon, 0, -1.0) * span
        width = np.sqrt(math.log(count / chance) / (2 * np.maximum(self.visits, 1)))
        _, V = self._plan_from_lowest(left[:, None, None] * width, left, low=low)
        found: FloatArray = V[0] + self.horizon * low
        return found

    def _plan_from_lowest(
        self, bonus: FloatArray, most: FloatArray, *, unknown: float = 1.0, low: float | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Plan with rewards counted from their lowest, so that no value is negative."""
        lowest = self.low if low is None else low
        kept = self.rewards
        self.rewards = kept - lowest * self.visits
        try:
            return self.plan(bonus, most, unknown)
        finally:
            self.rewards = kept

    def _choice(self, Q: FloatArray, allowed: FloatArray) -> IntArray:
        met = self.visits.sum(axis=2) > 0
        return np.where(met, (Q + allowed).argmax(axis=2), -1)
