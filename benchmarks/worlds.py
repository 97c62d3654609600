"""Multi-agent environments of several kinds, as people write them: plain objects with `reset` and `step`.

Each agent sees an observation of its own. Zero-sum worlds, and those where mixing matters, are marked `mixed`: there a
policy is judged by what trained best responses gain, elsewhere by the mean return of all agents.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Benchworld:
    """What all worlds share: the clock, the random numbers, and the end after `horizon` steps."""

    actions: list[int]
    horizon: int
    mixed = False

    @property
    def agents(self) -> int:
        return len(self.actions)

    def reset(self, seed: int | None = None) -> Any:
        self.rng, self.time = np.random.default_rng(seed), 0
        self.begin()
        return self.show()

    def step(self, actions: list[int]) -> Any:
        rewards = self.pay(actions)
        self.time += 1
        return self.show(), [float(reward) for reward in rewards], self.time == self.horizon or self.over()

    def begin(self) -> None:
        """Draw the first state."""

    def show(self) -> Any:
        """Return what each agent sees."""
        return [0] * self.agents

    def pay(self, actions: list[int]) -> Any:
        """Move, and return the rewards."""
        raise NotImplementedError

    def over(self) -> bool:
        return False


class Charging(Benchworld):
    """Vehicles at one transformer: the price of an hour rises with the load, and what is missing at the end costs."""

    def __init__(self, vehicles: int = 5, horizon: int = 12, tariff: float = 0.06) -> None:
        self.actions, self.horizon, self.tariff = [3] * vehicles, horizon, tariff

    def begin(self) -> None:
        self.need = self.rng.integers(2, 7, self.agents)
        self.load = 0

    def show(self) -> Any:
        return [(self.time, int(need), min(self.load // 2, 3)) for need in self.need]

    def pay(self, actions: list[int]) -> Any:
        taken = np.minimum(actions, self.need)
        self.load = int(taken.sum())
        price = 0.02 + 0.1 * (self.time < self.horizon // 2) + self.tariff * self.load / self.agents
        self.need = self.need - taken
        missing = self.need * (self.time == self.horizon - 1)
        return 0.25 * taken - price * taken * 2 - 0.5 * missing


class Signals(Benchworld):
    """Three traffic lights in a row: each sees its own queues and phase; cars go on to the next light."""

    actions, horizon = [2, 2, 2], 20

    def begin(self) -> None:
        self.queue = self.rng.integers(0, 4, (3, 2))
        self.phase = np.zeros(3, int)

    def show(self) -> Any:
        return [(int(min(q[0], 6)), int(min(q[1], 6)), int(p)) for q, p in zip(self.queue, self.phase, strict=True)]

    def pay(self, actions: list[int]) -> Any:
        moved = np.zeros((3, 2), int)
        for i, action in enumerate(actions):
            if action == self.phase[i]:  # a change of phase costs the step
                moved[i, action] = min(3, self.queue[i, action])
            self.phase[i] = action
        self.queue = self.queue - moved
        self.queue[1:, 0] += moved[:-1, 0]
        self.queue += self.rng.poisson([[1.2, 0.9], [0.1, 0.9], [0.1, 0.9]])
        self.queue = np.minimum(self.queue, 12)
        return -0.2 * self.queue.sum(axis=1)


class Spectrum(Benchworld):
    """Radios share channels with primary users: each sees its last channel and whether it was heard there."""

    def __init__(self, radios: int = 4, channels: int = 4, horizon: int = 15) -> None:
        self.actions, self.horizon, self.channels = [channels] * radios, horizon, channels

    def begin(self) -> None:
        self.busy = self.rng.random(self.channels) < 0.3
        self.seen = [(-1, 0)] * self.agents

    def show(self) -> Any:
        return self.seen

    def pay(self, actions: list[int]) -> Any:
        load = np.bincount(actions, minlength=self.channels)
        heard = [float(load[c] == 1 and not self.busy[c]) for c in actions]
        self.seen = [(c, int(h)) for c, h in zip(actions, heard, strict=True)]
        flip = self.rng.random(self.channels)
        self.busy = np.where(self.busy, flip < 0.7, flip < 0.15)
        return heard


class Routing(Benchworld):
    """Commuters of two origins choose one of three roads: a road's delay rises with its load."""

    def __init__(self, drivers: int = 24, horizon: int = 6) -> None:
        self.actions, self.horizon = [3] * drivers, horizon

    def begin(self) -> None:
        self.rain = int(self.rng.random() < 0.3)

    def show(self) -> Any:
        return [(i % 2, self.rain) for i in range(self.agents)]

    def pay(self, actions: list[int]) -> Any:
        load = np.bincount(actions, minlength=3) / self.agents
        delay = np.array([1 + 4 * load[0], 2 + 1.5 * load[1], 1.5 + 3 * load[2] * (1 + 2 * self.rain)])
        self.rain = int(self.rng.random() < (0.7 if self.rain else 0.2))
        return [-delay[a] - 0.5 * (a == 2 and i % 2) for i, a in enumerate(actions)]


class Duopoly(Benchworld):
    """Two firms with logit demand; each sees both last prices and its sales, on bins."""

    actions, horizon, mixed = [7, 7], 12, True

    def begin(self) -> None:
        self.prices = self.rng.integers(0, 7, 2)
        self.shock = 0.0

    def show(self) -> Any:
        level = int(self.shock > 0)
        return [(int(self.prices[i]) // 2, int(self.prices[1 - i]) // 2, level) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        self.prices = np.array(actions)
        self.shock = 0.7 * self.shock + 0.3 * self.rng.normal()
        prices = 1.0 + 0.2 * self.prices
        pull = np.exp((2.0 - prices) / 0.25)
        return (prices - 1.0) * pull / (pull.sum() + np.exp(self.shock))


class Senders(Benchworld):
    """Senders with packets on one channel: two at once collide. Each sees its packets and what it heard."""

    def __init__(self, senders: int = 3, horizon: int = 16) -> None:
        self.actions, self.horizon = [2] * senders, horizon

    def begin(self) -> None:
        self.packets = self.rng.integers(0, 3, self.agents)
        self.heard = 0

    def show(self) -> Any:
        return [(int(n), self.heard) for n in self.packets]

    def pay(self, actions: list[int]) -> Any:
        sends = np.array(actions) * (self.packets > 0)
        self.heard = int(min(sends.sum(), 2))
        rewards = -0.1 * self.packets - 0.3 * sends
        if sends.sum() == 1:
            rewards = rewards + 1.3 * sends
            self.packets = self.packets - sends
        self.packets = np.minimum(self.packets + (self.rng.random(self.agents) < 0.25), 3)
        return rewards


class Crossing(Benchworld):
    """Two robots cross a narrow grid to the other's side; a crash costs, arriving pays. Each sees both positions."""

    actions, horizon = [5, 5], 20
    moves = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))

    def begin(self) -> None:
        self.at = [(int(self.rng.integers(2)), 0), (int(self.rng.integers(2)), 4)]
        self.home = [False, False]

    def show(self) -> Any:
        return [(self.at[i], self.at[1 - i]) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        aims = []
        for i, (x, y) in enumerate(self.at):
            dx, dy = (0, 0) if self.home[i] else self.moves[actions[i]]
            aims.append((min(max(x + dx, 0), 1), min(max(y + dy, 0), 4)))
        crash = aims[0] == aims[1] or (aims[0] == self.at[1] and aims[1] == self.at[0])
        rewards = np.array([-0.1 * (not home) for home in self.home])
        if crash:
            return rewards - 0.5
        self.at = aims
        for i, column in enumerate((4, 0)):
            if not self.home[i] and aims[i][1] == column:
                self.home[i], rewards[i] = True, rewards[i] + 5
        return rewards

    def over(self) -> bool:
        return all(self.home)


class Fishery(Benchworld):
    """Four boats fish one stock, which grows by what is left; each sees the stock roughly."""

    actions, horizon, mixed = [4] * 4, 15, True

    def begin(self) -> None:
        self.stock = float(self.rng.uniform(20, 40))

    def show(self) -> Any:
        return [int(self.stock // 5)] * 4

    def pay(self, actions: list[int]) -> Any:
        effort = np.array(actions)
        catch = effort * 0.03 * self.stock
        self.stock = max(self.stock - catch.sum(), 1.0)
        self.stock += 0.4 * self.stock * (1 - self.stock / 50) * self.rng.uniform(0.7, 1.3)
        return catch - 0.5 * effort


class Supply(Benchworld):
    """A factory, a warehouse and a shop: each orders from the one above, with a delay; stock and backlog cost."""

    actions, horizon = [5] * 3, 20

    def begin(self) -> None:
        self.stock, self.coming = np.full(3, 4), np.full(3, 2)

    def show(self) -> Any:
        return [(int(np.clip(s, -4, 8)), int(c)) for s, c in zip(self.stock, self.coming, strict=True)]

    def pay(self, actions: list[int]) -> Any:
        self.stock = self.stock + self.coming
        demand = int(self.rng.poisson(2))
        wanted = [demand, actions[0], actions[1]]
        sent = [min(w, max(int(s), 0)) for w, s in zip(wanted, self.stock, strict=True)]
        self.stock = self.stock - sent
        self.stock[0] -= demand - sent[0]  # backlog at the shop
        self.coming = np.array([sent[1], sent[2], actions[2]])
        self.stock = np.clip(self.stock, -8, 12)
        own = -0.1 * np.maximum(self.stock, 0) - 0.5 * np.maximum(-self.stock, 0)
        return np.full(3, own.sum() / 3) + own / 3


class Hunters(Benchworld):
    """Two hunters chase a prey that moves at random on a torus; together beside it they catch it."""

    actions, horizon, size = [5, 5], 25, 5
    moves = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))

    def begin(self) -> None:
        self.at = [tuple(self.rng.integers(self.size, size=2).tolist()) for _ in range(3)]
        self.caught = False

    def away(self, i: int, j: int) -> tuple[int, int]:
        n = self.size
        return tuple((self.at[j][k] - self.at[i][k] + n // 2) % n - n // 2 for k in (0, 1))  # type: ignore[return-value]

    def show(self) -> Any:
        return [(self.away(0, 2), self.away(0, 1)), (self.away(1, 2), self.away(1, 0))]

    def pay(self, actions: list[int]) -> Any:
        for i, a in enumerate([*actions, int(self.rng.integers(5))]):
            self.at[i] = tuple((self.at[i][k] + self.moves[a][k]) % self.size for k in (0, 1))
        near = [sum(map(abs, self.away(i, 2))) <= 1 for i in range(2)]
        self.caught = all(near)
        return [10.0 if self.caught else -0.2 - 0.5 * (near[i] and not near[1 - i]) for i in range(2)]

    def over(self) -> bool:
        return self.caught


class Signalling(Benchworld):
    """A speaker sees one of four objects and says a word; a listener hears it and picks: right or wrong for both."""

    actions, horizon = [4, 4], 2

    def begin(self) -> None:
        self.thing, self.word = int(self.rng.integers(4)), -1

    def show(self) -> Any:
        return [(self.thing, self.time), self.word]

    def pay(self, actions: list[int]) -> Any:
        if self.time == 0:
            self.word = actions[0]
            return 0.0, 0.0
        return [float(actions[1] == self.thing)] * 2


class Matrix(Benchworld):
    """A matrix game played over and over; both see what was played before."""

    def __init__(self, payoffs: Any, horizon: int = 5, *, mixed: bool = False, memory: bool = True) -> None:
        self.payoffs, self.horizon, self.mixed, self.memory = np.array(payoffs, float), horizon, mixed, memory
        self.actions = list(self.payoffs.shape[1:])

    def begin(self) -> None:
        self.last: Any = None

    def show(self) -> Any:
        return [self.last if self.memory else 0] * 2

    def pay(self, actions: list[int]) -> Any:
        self.last = tuple(actions)
        return self.payoffs[(slice(None), *actions)]


def rock_paper_scissors() -> Matrix:
    row = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
    return Matrix([row, -row], mixed=True)


def pennies() -> Matrix:
    row = np.array([[2, -1], [-1, 1]])  # mixes 2 : 3
    return Matrix([row, -row], horizon=3, mixed=True, memory=False)


def climbing() -> Matrix:
    row = np.array([[11, -30, 0], [-30, 7, 6], [0, 0, 5]])
    return Matrix([row, row], horizon=3, memory=False)


def stag() -> Matrix:
    row = np.array([[4, 0], [3, 2]])
    return Matrix([row, row.T], horizon=5)


class Queues(Benchworld):
    """Three dispatchers send jobs to four servers of different speed; each sees which queues are long."""

    actions, horizon = [4] * 3, 15
    speed = (2, 1, 1, 1)

    def begin(self) -> None:
        self.queue = self.rng.integers(0, 4, 4)

    def show(self) -> Any:
        return [tuple(np.minimum(self.queue // 2, 2).tolist())] * 3

    def pay(self, actions: list[int]) -> Any:
        waits = [-0.3 * self.queue[a] / self.speed[a] for a in actions]
        for a in actions:
            self.queue[a] += 1
        self.queue = np.maximum(self.queue - self.rng.binomial(self.speed, 0.6), 0)
        return waits


class Auction(Benchworld):
    """Three bidders with private values in repeated first-price auctions; each sees its value."""

    actions, horizon, mixed = [6] * 3, 4, True

    def show(self) -> Any:
        self.values = self.rng.integers(0, 6, 3)
        return self.values.tolist()

    def pay(self, actions: list[int]) -> Any:
        values, high = self.values, max(actions)
        winners = [i for i, a in enumerate(actions) if a == high]
        winner = winners[int(self.rng.integers(len(winners)))]
        return [float(values[i] - actions[i]) if i == winner else 0.0 for i in range(3)]


class Patrol(Benchworld):
    """A guard and a thief choose among three sites of different value for four nights; loot is what was not guarded."""

    actions, horizon, mixed = [3, 3], 4, True
    worth = (1.0, 2.0, 3.0)

    def begin(self) -> None:
        self.left = [1, 1, 1]

    def show(self) -> Any:
        return [tuple(self.left)] * 2

    def pay(self, actions: list[int]) -> Any:
        guard, thief = actions
        loot = self.worth[thief] * self.left[thief] * (guard != thief)
        if loot:
            self.left[thief] = 0
        return -loot, loot


class Grid(Benchworld):
    """Five households with batteries: each sees the time of day and its charge; buying together is dear."""

    actions, horizon = [3] * 5, 24

    def begin(self) -> None:
        self.charge = self.rng.integers(0, 4, 5)

    def show(self) -> Any:
        return [(self.time, int(c)) for c in self.charge]

    def pay(self, actions: list[int]) -> Any:
        use = self.rng.random(5) < (0.8 if self.time >= 16 else 0.3)
        change = np.array(actions) - 1  # discharge, rest, charge
        change = np.clip(self.charge + change, 0, 4) - self.charge
        self.charge = self.charge + change
        bought = np.maximum(use + change, 0)
        price = 0.1 + 0.1 * bought.sum() + 0.1 * (self.time >= 16)
        return -price * bought


class Taskforce(Benchworld):
    """Four workers choose one of three tasks, each of which needs another number of them; all share the result."""

    actions, horizon = [3] * 4, 10

    def begin(self) -> None:
        self.needs = self.rng.multinomial(4, [1 / 3] * 3)

    def show(self) -> Any:
        return [tuple(self.needs.tolist())] * 4

    def pay(self, actions: list[int]) -> Any:
        there = np.bincount(actions, minlength=3)
        done = float(np.minimum(there, self.needs).sum()) / 4
        self.needs = self.rng.multinomial(4, [1 / 3] * 3)
        return [done] * 4


OWN = {
    "auction": Auction,
    "charging-5": Charging,
    "charging-6": lambda: Charging(6, 24, 0.09),
    "climbing": climbing,
    "crossing": Crossing,
    "duopoly": Duopoly,
    "fishery": Fishery,
    "grid": Grid,
    "hunters": Hunters,
    "patrol": Patrol,
    "pennies": pennies,
    "queues": Queues,
    "rock-paper-scissors": rock_paper_scissors,
    "routing-24": Routing,
    "senders": Senders,
    "signalling": Signalling,
    "signals": Signals,
    "spectrum": Spectrum,
    "stag": stag,
    "supply": Supply,
    "taskforce": Taskforce,
}
