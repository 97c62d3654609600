"""Environments that were written before anything was run on them, and run once: search, delay, bargaining, voting.

Nothing in the default learner was chosen by what it reaches here (`default.py --half unseen`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from worlds import Benchworld


class Search(Benchworld):
    """Two drones look for a lost hiker among six fields; each sees its own field and whether its last look missed."""

    actions, horizon = [3, 3], 15

    def begin(self) -> None:
        self.at, self.missed = [0, 5], [0, 0]
        self.hiker, self.found = int(self.rng.integers(6)), False

    def show(self) -> Any:
        return [(self.at[i], self.missed[i]) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        for i, a in enumerate(actions):
            if a < 2:  # fly
                self.at[i], self.missed[i] = int(np.clip(self.at[i] + 2 * a - 1, 0, 5)), 0
            elif self.at[i] == self.hiker and self.rng.random() < 0.7:
                self.found = True
            else:
                self.missed[i] = min(self.missed[i] + 1, 2)
        return [5.0 if self.found else -0.2] * 2

    def over(self) -> bool:
        return self.found


class Balancing(Benchworld):
    """Four dispatchers choose among three servers, and see queues as they were two steps ago."""

    actions, horizon = [3] * 4, 16

    def begin(self) -> None:
        self.queue = self.rng.integers(0, 5, 3)
        self.reports = [self.queue.copy(), self.queue.copy()]

    def show(self) -> Any:
        shortest, spread = int(self.reports[0].argmin()), int(np.ptp(self.reports[0]))
        return [(shortest, min(spread // 2, 2))] * 4

    def pay(self, actions: list[int]) -> Any:
        rewards = [-0.25 * self.queue[a] for a in actions]
        self.queue = self.queue + np.bincount(actions, minlength=3)
        self.queue = np.maximum(self.queue - self.rng.binomial([2, 2, 3], 0.6), 0)
        self.reports = [self.reports[1], self.queue.copy()]
        return rewards


class Negotiation(Benchworld):
    """Two agents with private values of two goods offer in turns; goods spoil, and no agreement pays nothing."""

    actions, horizon = [4, 4], 6  # 0 to 2: offer the first good, the second, one's worse good; 3: accept

    def begin(self) -> None:
        self.value = self.rng.integers(1, 4, (2, 2))
        self.offer, self.done = -1, False

    def show(self) -> Any:
        return [(*self.value[i].tolist(), self.offer, (self.time + i) % 2) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        mover = self.time % 2
        action = actions[mover]
        if action == 3 and self.offer >= 0:  # who accepts gets the good that was offered
            self.done, shares = True, np.zeros(2)
            shares[mover], shares[1 - mover] = self.value[mover, self.offer], self.value[1 - mover, 1 - self.offer]
            return shares * 0.9**self.time
        self.offer = int(self.value[mover].argmin()) if action >= 2 else action
        return 0.0, 0.0

    def over(self) -> bool:
        return self.done


class Pursuit(Benchworld):
    """Three guards chase a runner round a ring of twelve gates; it flees from the nearest, and a pincer catches it."""

    actions, horizon = [3] * 3, 20

    def begin(self) -> None:
        self.at, self.runner = self.rng.integers(0, 12, 3), int(self.rng.integers(12))
        self.caught = False

    def show(self) -> Any:
        away = (self.runner - self.at + 6) % 12 - 6
        return [(int(away[i]), int(np.sign(np.delete(away, i).sum()))) for i in range(3)]

    def pay(self, actions: list[int]) -> Any:
        self.at = (self.at + np.array(actions) - 1) % 12
        away = (self.at - self.runner + 6) % 12 - 6
        nearest = int(away[np.abs(away).argmin()])
        step = -int(np.sign(nearest)) if self.rng.random() < 0.8 else int(self.rng.integers(-1, 2))
        if not (self.at == (self.runner + step) % 12).any():
            self.runner = (self.runner + step) % 12
        away = (self.at - self.runner + 6) % 12 - 6
        self.caught = bool(((away >= 0) & (away <= 1)).any() and ((away <= 0) & (away >= -1)).any())
        moved = np.array(actions) != 1
        return 4.0 * self.caught - 0.1 - 0.05 * moved

    def over(self) -> bool:
        return self.caught


class Voting(Benchworld):
    """Five observers with readings of different quality vote on a hidden state; all are paid for a right majority."""

    actions, horizon = [3] * 5, 10  # no, yes, abstain
    quality = (0.9, 0.8, 0.6, 0.55, 0.5)

    def begin(self) -> None:
        self.truth, self.majority = int(self.rng.integers(2)), 2

    def show(self) -> Any:
        right = self.rng.random(5) < np.array(self.quality)
        return [(self.truth if ok else 1 - self.truth, self.majority) for ok in right]

    def pay(self, actions: list[int]) -> Any:
        yes, no = actions.count(1), actions.count(0)
        self.majority = 2 if yes == no else int(yes > no)
        reward = float(self.majority == self.truth) - 0.5 * float(self.majority == 1 - self.truth)
        if self.rng.random() < 0.2:
            self.truth = 1 - self.truth
        return [reward - 0.05 * (a < 2) for a in actions]


class Epidemic(Benchworld):
    """Eight people on a ring wear masks, go out or stay in; who is ill infects neighbours who are out."""

    actions, horizon = [3] * 8, 14  # out, out with a mask, in

    def begin(self) -> None:
        self.ill = np.zeros(8, int)  # days left
        self.ill[self.rng.choice(8, 2, replace=False)] = 3

    def show(self) -> Any:
        near = [(self.ill[i - 1] > 0) + int(self.ill[(i + 1) % 8] > 0) for i in range(8)]
        return [(int(self.ill[i] > 0), int(near[i])) for i in range(8)]

    def pay(self, actions: list[int]) -> Any:
        reach, before = np.array([1.0, 0.4, 0.0])[actions], self.ill > 0
        rewards = np.array([1.0, 0.7, 0.2])[actions] - 1.5 * before
        for i in range(8):
            for j in (i - 1, (i + 1) % 8):
                if before[j] and not before[i] and self.rng.random() < 0.7 * reach[i] * reach[j]:
                    self.ill[i] = 4
        self.ill = np.maximum(self.ill - 1, 0)
        if self.rng.random() < 0.1:
            self.ill[int(self.rng.integers(8))] = 3
        return rewards


class Kuhn(Benchworld):
    """Kuhn's poker of three cards: the first passes or bets, the second answers, the first may answer a bet."""

    actions, horizon, mixed = [2, 2], 3, True

    def begin(self) -> None:
        self.cards, self.bets = self.rng.permutation(3)[:2].tolist(), ""

    def show(self) -> Any:
        return [(self.cards[i], self.bets) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        self.bets += "pb"[actions[self.time % 2]]
        if not self.over():
            return 0.0, 0.0
        won = 1.0 if self.cards[0] > self.cards[1] else -1.0
        gains = {"pp": won, "bb": 2 * won, "bp": 1.0, "pbb": 2 * won, "pbp": -1.0}[self.bets]
        return gains, -gains

    def over(self) -> bool:
        return self.bets in ("pp", "bb", "bp", "pbb", "pbp")


UNSEEN = {
    "balancing": Balancing,
    "epidemic": Epidemic,
    "kuhn": Kuhn,
    "negotiation": Negotiation,
    "pursuit": Pursuit,
    "search": Search,
    "voting": Voting,
}
