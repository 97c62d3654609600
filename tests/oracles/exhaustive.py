"""The true gap of a certified policy, by following every history of the deviator: slow, obvious, from the record alone.

The deviator of agent i sees the states and its own actions (for ce also what it is told) and remembers them; the hidden
index is integrated out. A history is followed with an unnormalised belief over the index, so the best plan is found one
history at a time, over all plans there are.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

import tacit

LOST = -1  # the index once no earlier visit is known: all play evenly to the end


class Exhaustive:
    def __init__(self, game: tacit.TabularGame, policy: tacit.policies.RecordedPolicy) -> None:
        self.game, self.policy, self.recent = game, policy, policy.start == "recent"
        self.H, self.K = game.horizon, policy.episodes
        self.P = game.transitions if len(game.transitions) == self.H else np.repeat(game.transitions, self.H, axis=0)
        R = game.rewards
        self.mu, self.earlier = functools.cache(self._mu), functools.cache(self._earlier)
        self.R = R if R.shape[1] == self.H else np.repeat(R, self.H, axis=1)

    def _mu(self, i: int, k: int, h: int) -> np.ndarray:
        size = self.game.actions[i]
        if k == LOST:
            return np.full(size, 1 / size)
        begin = sum(a - 1 for a in self.game.actions[:i])
        known = self.policy.stored[k, h, begin : begin + size - 1].astype(float)
        return np.append(known, max(1 - known.sum(), 0.0))

    def _earlier(self, k: int, h: int, s: int) -> dict[int, float]:
        """Distribution of the episode that is drawn at (h, s) when the index is k."""
        if k == LOST:
            return {LOST: 1.0}
        visits = [j for j in range(k) if self.policy.visited[j, h] == s]
        if self.policy.rule == "rate":
            if not visits:
                return {LOST: 1.0}
            alpha = [(self.H + 1) / (self.H + t) for t in range(1, len(visits) + 1)]
            return {j: alpha[t] * np.prod([1 - a for a in alpha[t + 1 :]]) for t, j in enumerate(visits)}
        begin, length, last = 0, self.H, None
        while begin + length <= len(visits):
            last = visits[begin : begin + length]
            begin, length = begin + length, (self.H + 1) * length // self.H
        return {LOST: 1.0} if last is None else {j: 1 / len(last) for j in last}

    def drawn(self, h: int, s: int, belief: dict[int, float]) -> dict[int, float]:
        after: dict[int, float] = {}
        for k, weight in belief.items():
            for j, p in self.earlier(k, h, s).items():
                after[j] = after.get(j, 0.0) + weight * p
        return after

    def step(self, i: int, h: int, s: int, a: int, belief: dict[int, float]) -> tuple[float, list[dict[int, float]]]:
        """Agent i plays a, the others their distributions: expected reward and the beliefs at each next state."""
        others = [range(size) if j != i else [a] for j, size in enumerate(self.game.actions)]
        reward, ahead = 0.0, [{} for _ in range(self.game.states)]
        for k, weight in belief.items():
            rows = [self.mu(j, k, h) for j in range(self.game.agents)]
            for joint in itertools.product(*others):
                p = weight * np.prod([rows[j][b] for j, b in enumerate(joint) if j != i])
                reward += p * self.R[(i, h, s, *joint)]
                for s_next in range(self.game.states):
                    ahead[s_next][k] = ahead[s_next].get(k, 0.0) + p * self.P[(h, s, *joint, s_next)]
        return reward, ahead

    def follow(self, kind: str, i: int, h: int, s: int, belief: dict[int, float]) -> float:
        """Value to agent i from here on: kind "stay", or the best plan of a "cce" or "ce" deviator."""
        if h == self.H:
            return 0.0
        belief = self.drawn(h, s, belief)

        def after(a: int, held: dict[int, float]) -> float:
            reward, ahead = self.step(i, h, s, a, held)
            return reward + sum(self.follow(kind, i, h + 1, t, ahead[t]) for t in range(self.game.states))

        actions = range(self.game.actions[i])
        if kind == "cce":
            return max(after(a, belief) for a in actions)
        told = [{k: weight * self.mu(i, k, h)[b] for k, weight in belief.items()} for b in actions]
        if kind == "stay":
            return sum(after(b, told[b]) for b in actions)
        return sum(max(after(a, told[b]) for a in actions) for b in actions)

    def value(self, kind: str, i: int) -> float:
        begin = {self.K: 1.0} if self.recent else dict.fromkeys(range(self.K), 1 / self.K)
        starts = enumerate(self.game.initial)
        return float(sum(p * self.follow(kind, i, 0, s, begin) for s, p in starts if p > 0))

    def gap(self, kind: str, i: int) -> float:
        return self.value(kind, i) - self.value("stay", i)
