"""SPoCMAR for one agent, as its source lists it: a generator of the schedule, lists of what was played, Exp3-IX.

Steps count from 0 and rewards are in [0, 1]. `follow` is a stage whose rounds are drawn by the common bits; None is the
uniform policy. A bandit stops after `memory` rounds.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict


def common_bits(episode: int, h: int, H: int, seed: int) -> float:
    mixed = (374761393 * (episode * H + h) + 668265263 * seed) % 2**31
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) % 2**31
    mixed = ((mixed ^ (mixed >> 15)) * 1103515245) % 2**31
    return (mixed ^ (mixed >> 16)) / 2**31


class Cover:
    def __init__(self, A, S, H, *, K, N, p, memory, stages, c, seed) -> None:
        self.A, self.S, self.H, self.K, self.N, self.p = A, S, H, K, N, p
        self.memory, self.stages, self.seed = memory, stages, seed
        self.eta = c / math.sqrt(A * memory)
        self.V: dict = defaultdict(float)
        self.rounds: dict = defaultdict(list)  # (stage, h, s): own actions
        self.covered: dict = {}  # (h, s): stage
        self.returned, self.episode, self.path = None, 0, []
        self.schedule = self.run()
        self.part = next(self.schedule)  # (stage, h or None, follow)

    def run(self):
        for q in range(self.stages):
            for h in reversed(range(self.H)):
                self.losses = defaultdict(lambda: [0.0] * self.A)
                self.gains = defaultdict(list)
                for follow in [None, *sorted({stage for (step, _), stage in self.covered.items() if step == h})]:
                    for _ in range(self.K):
                        yield q, h, follow
                for s in range(self.S):
                    gains = self.gains[s]
                    known = (h, s) in self.covered and gains
                    self.V[h, s] = sum(gains) / len(gains) if known else self.H - h
            met: Counter = Counter()
            for _ in range(self.N):
                yield q, None, q
                met.update(enumerate(self.states))
            self.returned = q
            new = [key for key, n in met.items() if n / self.N >= self.p and key not in self.covered]
            if not new:
                break
            self.covered.update(dict.fromkeys(new, q))
        while True:
            yield self.returned, None, self.returned

    def weights(self, s):
        least = min(self.losses[s])
        raw = [math.exp(self.eta * (least - loss)) for loss in self.losses[s]]
        return [x / sum(raw) for x in raw]

    def act(self, h, s, u):
        q, step, follow = self.part
        if h == step:
            for a, weight in enumerate(self.weights(s)[:-1]):
                u -= weight
                if u < 0:
                    return a
            return self.A - 1
        stage = follow if step is None or h < step else q
        actions = self.rounds[stage, h, s] if stage is not None else []
        if not actions:
            return int(u * self.A)
        return actions[int(common_bits(self.episode, h, self.H, self.seed) * len(actions))]

    def learn(self, h, s, a, r, s_next):
        q, step, _ = self.part
        self.path.append(s)
        if h == step and len(self.rounds[q, h, s]) < self.memory:
            value = r + (self.V[h + 1, s_next] if h + 1 < self.H else 0.0)
            loss = (self.H - value) / self.H if (h, s) in self.covered else h / self.H
            self.losses[s][a] += loss / (self.weights(s)[a] + self.eta / 2)
            self.rounds[q, h, s].append(a)
            self.gains[s].append(value)
        if h == self.H - 1:
            self.states, self.path = self.path, []
            self.episode += 1
            self.part = next(self.schedule)

    def policy(self, h, s):
        actions = self.rounds[self.returned, h, s] if self.returned is not None else []
        return [actions.count(a) / len(actions) if actions else 1 / self.A for a in range(self.A)]
