"""Further multi-agent environments: queueing, inventory, bidding, dispatch, traffic, sensors, heating.

`default.py` says which of them were held out of the design of the default learner.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from worlds import Benchworld


class Ambulances(Benchworld):
    """Three ambulances on a ring road choose where to wait; the nearest free one goes, and all share the delay."""

    actions, horizon = [3] * 3, 16

    def begin(self) -> None:
        self.at, self.busy = self.rng.integers(0, 8, 3), np.zeros(3, int)

    def show(self) -> Any:
        return [(int(self.at[i]), int(self.busy.sum() - self.busy[i] > 0), int(self.busy[i] > 0)) for i in range(3)]

    def pay(self, actions: list[int]) -> Any:
        free = self.busy == 0
        self.at = np.where(free, (self.at + np.array(actions) - 1) % 8, self.at)
        self.busy = np.maximum(self.busy - 1, 0)
        cost = 0.05 * (np.array(actions) != 1) * free
        if self.rng.random() < 0.5:
            call = int(self.rng.choice(8, p=[0.3, 0.1, 0.05, 0.05, 0.3, 0.1, 0.05, 0.05]))
            away = np.minimum((self.at - call) % 8, (call - self.at) % 8) + 100 * (self.busy > 0)
            nearest = int(away.argmin())
            delay = min(int(away[nearest]), 6)
            if away[nearest] < 100:
                self.at[nearest], self.busy[nearest] = call, 2
            return -delay / 2 - cost
        return -cost


class Bidding(Benchworld):
    """Four generators bid a price level for the demand of an hour; the cheapest run and are paid the last bid."""

    actions, horizon, mixed = [4] * 4, 12, True

    def begin(self) -> None:
        self.demand = int(self.rng.integers(1, 5))

    def show(self) -> Any:
        return [(self.demand, i // 2) for i in range(4)]

    def pay(self, actions: list[int]) -> Any:
        order = np.argsort(np.array(actions) + 0.1 * self.rng.random(4))
        price = actions[order[self.demand - 1]] + 1
        rewards = np.zeros(4)
        for i in order[: self.demand]:
            rewards[i] = price - (1.0, 1.0, 2.0, 2.5)[i]
        self.demand = int(np.clip(self.demand + self.rng.integers(-1, 2), 1, 4))
        return rewards


class Elevators(Benchworld):
    """Two lifts of a house of six floors: passengers wait for one that goes their way; waiting costs both."""

    actions, horizon = [3, 3], 25

    def begin(self) -> None:
        self.at, self.load = [0, 5], [0, 0]
        self.wait = np.zeros(6, int)

    def show(self) -> Any:
        return [(self.at[i], self.load[i] > 0, int((self.wait > 0) @ (1 << np.arange(6)))) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        done = 0.0
        for i, a in enumerate(actions):
            self.at[i] = int(np.clip(self.at[i] + a - 1, 0, 5))
            if self.at[i] == 0 and self.load[i]:
                done, self.load[i] = done + self.load[i], 0
            elif self.wait[self.at[i]] and self.at[i]:
                taken = min(2 - self.load[i], int(self.wait[self.at[i]]))
                self.load[i] += taken
                self.wait[self.at[i]] -= taken
        if self.rng.random() < 0.3:
            floor = int(self.rng.integers(1, 6))
            self.wait[floor] = min(self.wait[floor] + 1, 2)
        return [done - 0.05 * self.wait.sum()] * 2


class Evacuation(Benchworld):
    """Ten people choose one of two doors or wait; a door lets two through at once, and each sees how full both are."""

    actions, horizon = [3] * 10, 8

    def begin(self) -> None:
        self.inside, self.crowd = np.ones(10, bool), np.zeros(2, int)

    def show(self) -> Any:
        return [(bool(self.inside[i]), i % 2, *np.minimum(self.crowd // 2, 2).tolist()) for i in range(10)]

    def pay(self, actions: list[int]) -> Any:
        rewards = -0.2 * self.inside
        for door in (0, 1):
            want = [i for i, a in enumerate(actions) if a == door and self.inside[i]]
            self.crowd[door] = len(want)
            room = 3 - door
            through = self.rng.permutation(want)[:room].astype(int)
            rewards[through] += 1.0 - 0.3 * (through % 2 != door)
            self.inside[through] = False
            late = [i for i in want if self.inside[i]]
            rewards[late] -= 0.1 * len(late) / 2
        return rewards

    def over(self) -> bool:
        return not self.inside.any()


class Fires(Benchworld):
    """Three fire engines, four houses in a row: two engines put a fire out at once; each sees its two houses."""

    actions, horizon = [2] * 3, 12

    def begin(self) -> None:
        self.fire = self.rng.integers(0, 3, 4)

    def show(self) -> Any:
        return [(int(self.fire[i]), int(self.fire[i + 1])) for i in range(3)]

    def pay(self, actions: list[int]) -> Any:
        there = np.bincount([i + a for i, a in enumerate(actions)], minlength=4)
        near = np.array([self.fire[max(i - 1, 0)] + self.fire[min(i + 1, 3)] for i in range(4)]) > 0
        for j in range(4):
            if there[j] >= 2:
                self.fire[j] = 0
            elif there[j] == 1 and self.fire[j] and self.rng.random() < (0.6 if near[j] else 1.0):
                self.fire[j] -= 1
            elif not there[j] and self.rng.random() < (0.5 if near[j] else 0.15):
                self.fire[j] = min(self.fire[j] + 1, 3)
        return [-0.2 * float(self.fire.sum())] * 3


class Handover(Benchworld):
    """Six users choose among three cells of a drifting quality, and see their own cell and its rate."""

    actions, horizon = [3] * 6, 15

    def begin(self) -> None:
        self.cell, self.quality = self.rng.integers(0, 3, 6), np.array([1.0, 1.5, 2.0])
        self.rate = np.zeros(6, int)

    def show(self) -> Any:
        return [(int(c), int(r)) for c, r in zip(self.cell, self.rate, strict=True)]

    def pay(self, actions: list[int]) -> Any:
        moved = np.array(actions) != self.cell
        self.cell = np.array(actions)
        load = np.bincount(self.cell, minlength=3)
        rate = self.quality[self.cell] / load[self.cell] * self.rng.uniform(0.7, 1.3, 6)
        self.rate = np.digitize(rate, [0.4, 0.8, 1.2])
        return rate - 0.15 * moved


class Inventory(Benchworld):
    """Three shops with own demand order from one store of limited stock; what is missing and what is left costs."""

    actions, horizon = [4] * 3, 14

    def begin(self) -> None:
        self.stock, self.store = self.rng.integers(0, 4, 3), 8

    def show(self) -> Any:
        return [(int(s), self.store // 3) for s in self.stock]

    def pay(self, actions: list[int]) -> Any:
        given = np.zeros(3, int)
        for i in self.rng.permutation(3):
            given[i] = min(actions[i], self.store)
            self.store -= int(given[i])
        self.stock = self.stock + given
        demand = self.rng.poisson([0.8, 1.2, 1.6])
        sold = np.minimum(demand, self.stock)
        self.stock = np.minimum(self.stock - sold, 8)
        self.store = min(self.store + 4, 12)
        return 1.0 * sold - 0.4 * (demand - sold) - 0.15 * self.stock - 0.2 * given


class Irrigation(Benchworld):
    """Five farmers along a river take water in turn downstream; a crop needs water in three of four weeks of growth."""

    actions, horizon = [3] * 5, 12

    def begin(self) -> None:
        self.flow, self.moist = int(self.rng.integers(3, 9)), np.full(5, 2)

    def show(self) -> Any:
        return [(int(m), min(self.flow // 2, 4), self.time % 4) for m in self.moist]

    def pay(self, actions: list[int]) -> Any:
        left, got = self.flow, np.zeros(5, int)
        for i, a in enumerate(actions):
            got[i] = min(a, left)
            left -= int(got[i])
        self.moist = np.clip(self.moist + got - 1, 0, 4)
        self.flow = int(np.clip(self.flow + self.rng.integers(-2, 3), 2, 9))
        growth = np.array([-1.0, 0.3, 0.6, 0.5, 0.0])[self.moist]
        return growth - 0.1 * got


class Kitchen(Benchworld):
    """A cook fills plates, and a waiter carries them from a counter of two places; plates that wait get cold."""

    actions, horizon = [3, 3], 20

    def begin(self) -> None:
        self.pot, self.counter, self.tables = 0, [], int(self.rng.integers(0, 3))

    def show(self) -> Any:
        return [(self.pot, len(self.counter), self.tables), (len(self.counter), max(self.counter, default=0), self.pot)]

    def pay(self, actions: list[int]) -> Any:
        cook, waiter = actions
        reward = -0.1 * self.tables - 0.02 * (cook > 0) - 0.02 * (waiter > 0)
        self.counter = [min(age + 1, 4) for age in self.counter]
        if cook == 1:
            self.pot = min(self.pot + 1, 2)
        elif cook == 2 and self.pot == 2:
            self.pot = 0
            self.counter = [*self.counter, 0][:2]
        if waiter == 1 and self.counter:
            age = self.counter.pop(0)
            if self.tables:
                self.tables, reward = self.tables - 1, reward + 1.0 - 0.25 * age
        elif waiter == 2:
            self.counter = [age for age in self.counter if age < 3]
        self.tables = min(self.tables + int(self.rng.random() < 0.3), 3)
        return [reward, reward]


class Machines(Benchworld):
    """Four machines wear out; one crew serves the first that asks, and a machine that stands earns nothing."""

    actions, horizon = [2] * 4, 20

    def begin(self) -> None:
        self.wear = self.rng.integers(0, 4, 4)
        self.calls = 0

    def show(self) -> Any:
        return [(int(w), min(self.calls, 2)) for w in self.wear]

    def pay(self, actions: list[int]) -> Any:
        asking = [i for i, a in enumerate(actions) if a]
        self.calls = len(asking)
        rewards = np.where(self.wear < 5, 1.0 - 0.12 * self.wear, -0.5) - 0.2 * np.array(actions)
        if asking:
            served = int(self.rng.choice(asking))
            rewards[served] -= 0.5
            self.wear[served] = 0
        others = np.array([i not in asking[:1] for i in range(4)])
        self.wear = np.minimum(self.wear + (self.rng.random(4) < 0.4) * others, 5)
        return rewards


class Merging(Benchworld):
    """Three cars merge into one lane: each sees its own place and speed and the gap ahead; two in one place crash."""

    actions, horizon = [3] * 3, 15

    def begin(self) -> None:
        self.at, self.speed = np.array([0, 1, 2]) + self.rng.integers(0, 2, 3), np.ones(3, int)
        self.done = np.zeros(3, bool)

    def show(self) -> Any:
        seen = []
        for i in range(3):
            ahead = [self.at[j] - self.at[i] for j in range(3) if j != i and self.at[j] >= self.at[i]]
            seen.append((int(self.at[i]), int(self.speed[i]), int(min(min(ahead, default=4), 4))))
        return seen

    def pay(self, actions: list[int]) -> Any:
        self.speed = np.clip(self.speed + np.array(actions) - 1, 0, 2)
        self.at = np.where(self.done, 20, self.at + self.speed)
        rewards = np.where(self.done, 0.0, -0.1)
        for i in range(3):
            if not self.done[i] and 6 <= self.at[i] < 12:
                rewards[i] -= 1.0 * sum(self.at[j] == self.at[i] for j in range(3) if j != i)
        new = (self.at >= 12) & ~self.done
        self.done = self.done | new
        return rewards + 2.0 * new

    def over(self) -> bool:
        return bool(self.done.all())


class Packets(Benchworld):
    """Five routers pass packets to a neighbour on the way to one of two exits; each sees its first packet's exit."""

    links = ((1, 2), (0, 3), (0, 3, 4), (1, 2, 4), (2, 3))
    actions, horizon = [2, 2, 3, 3, 2], 20

    def begin(self) -> None:
        self.queue: list[list[tuple[int, int]]] = [[] for _ in range(5)]

    def show(self) -> Any:
        return [(q[0][0] if q else -1, min(len(q), 3)) for q in self.queue]

    def pay(self, actions: list[int]) -> Any:
        rewards, moves = np.array([-0.1 * len(q) for q in self.queue]), []
        for i, a in enumerate(actions):
            if self.queue[i]:
                moves.append((self.links[i][a], self.queue[i].pop(0), i))
        for j, (goal, age), i in moves:
            if j == goal:
                rewards[i] += 1.0
            elif age < 6 and len(self.queue[j]) < 5:
                self.queue[j].append((goal, age + 1))
            else:
                rewards[i] -= 0.5
        if self.rng.random() < 0.7:
            self.queue[int(self.rng.integers(2))].append((int(self.rng.choice([3, 4])), 0))
        return rewards


class Parking(Benchworld):
    """Five cars drive along a street of eight places to the theatre at its end; each sees whether its place is free."""

    actions, horizon = [2] * 5, 10

    def begin(self) -> None:
        self.at, self.parked = np.zeros(5, int), np.zeros(5, bool)
        self.taken = self.rng.random(8) < np.linspace(0.1, 0.7, 8)

    def show(self) -> Any:
        return [(int(at), bool(self.taken[min(at, 7)]), bool(p)) for at, p in zip(self.at, self.parked, strict=True)]

    def pay(self, actions: list[int]) -> Any:
        rewards = -0.05 * ~self.parked
        for i in self.rng.permutation(5):
            if self.parked[i]:
                continue
            if actions[i] and self.at[i] < 8 and not self.taken[self.at[i]]:
                self.parked[i] = self.taken[self.at[i]] = True
                rewards[i] += 0.3 + 0.1 * self.at[i]
            elif self.rng.random() < 0.8:
                self.at[i] = min(self.at[i] + 1, 8)
        return rewards - 0.1 * (self.at == 8)

    def over(self) -> bool:
        return bool(self.parked.all())


class Sensors(Benchworld):
    """Six sensors on a line sleep or watch a target that walks along; being seen by two pays both; watching drains."""

    actions, horizon = [2] * 6, 18

    def begin(self) -> None:
        self.battery, self.target = np.full(6, 3), int(self.rng.integers(6))
        self.heard = np.zeros(6, int)

    def show(self) -> Any:
        return [(int(b), int(h)) for b, h in zip(self.battery, self.heard, strict=True)]

    def pay(self, actions: list[int]) -> Any:
        on = (np.array(actions) > 0) & (self.battery > 0)
        sees = on & (np.abs(np.arange(6) - self.target) <= 1)
        self.battery = np.clip(self.battery - on + (self.rng.random(6) < 0.4), 0, 4)
        rewards = sees * (1.0 if sees.sum() >= 2 else 0.2) - 0.1 * on
        self.heard = np.where(on, np.where(sees, 2, 1), 0)
        self.target = int(np.clip(self.target + self.rng.integers(-1, 2), 0, 5))
        return rewards


class Shelves(Benchworld):
    """Two robots carry boxes from a shelf to a desk through one aisle; blocked moves fail, a delivery pays."""

    actions, horizon = [5, 5], 30
    moves = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))

    def begin(self) -> None:
        self.at, self.box = [(0, 0), (2, 0)], [False, False]

    def show(self) -> Any:
        return [(self.at[i], self.box[i], self.at[1 - i]) for i in range(2)]

    def pay(self, actions: list[int]) -> Any:
        rewards = [-0.02, -0.02]
        for i in self.rng.permutation(2).tolist():
            dx, dy = self.moves[actions[i]]
            aim = (min(max(self.at[i][0] + dx, 0), 2), min(max(self.at[i][1] + dy, 0), 3))
            if aim == self.at[1 - i] or (aim[0] != 1 and aim[1] in (1, 2)):
                continue
            self.at[i] = aim
            if aim[1] == 3 and not self.box[i]:
                self.box[i] = True
                rewards[i] += 0.2
            elif aim[1] == 0 and self.box[i]:
                self.box[i], rewards[i] = False, rewards[i] + 1.0
        return rewards


class Synchrony(Benchworld):
    """Four agents see a noisy clock and should act in the same step, once; acting alone is in vain."""

    actions, horizon = [2] * 4, 8

    def begin(self) -> None:
        self.used = np.zeros(4, bool)

    def show(self) -> Any:
        noise = self.rng.random(4) < 0.15
        return [(self.time + int(n), bool(u)) for n, u in zip(noise, self.used, strict=True)]

    def pay(self, actions: list[int]) -> Any:
        acts = (np.array(actions) > 0) & ~self.used
        self.used = self.used | acts
        return [float(acts.sum() ** 2) / 4 * (acts.sum() > 1) - 0.1 * float(acts[i]) for i in range(4)]


class Thermostats(Benchworld):
    """Four flats in a row heat with one pump, which is less efficient the more of them heat; walls leak."""

    actions, horizon = [3] * 4, 18

    def begin(self) -> None:
        self.heat, self.outside = self.rng.uniform(15, 21, 4), float(self.rng.uniform(0, 10))

    def show(self) -> Any:
        warm = np.digitize(self.heat, [17, 18.5, 19.5, 20.5, 22])
        return [(int(level), int(self.outside > 5), int(6 <= self.time < 12)) for level in warm]

    def pay(self, actions: list[int]) -> Any:
        power = np.array(actions)
        inside = np.convolve(np.pad(self.heat, 1, mode="edge"), [0.1, 0.8, 0.1], mode="valid")
        self.heat = inside + 1.2 * power * (1 - 0.08 * power.sum()) - 0.05 * (inside - self.outside)
        self.outside = float(np.clip(self.outside + self.rng.normal(0, 1), -3, 12))
        away = np.abs(self.heat - (17.5 if 6 <= self.time < 12 else 20.0))
        return -0.2 * np.minimum(away, 4) - 0.06 * power


class Tolls(Benchworld):
    """Twenty commuters choose when to leave: a slot's delay rises with those in it, and each has a time it prefers."""

    actions, horizon = [4] * 20, 5

    def begin(self) -> None:
        self.last, self.event = np.zeros(20, int), int(self.rng.random() < 0.25)

    def show(self) -> Any:
        return [(int(x), self.event) for x in self.last]

    def pay(self, actions: list[int]) -> Any:
        load = np.bincount(actions, minlength=4) / 20
        chosen = np.array(actions)
        delay = 3 * load[chosen] * (1 + self.event)
        early = 0.3 * np.abs(chosen - np.arange(20) % 4)
        self.last = np.digitize(delay, [0.5, 1.0, 2.0])
        self.event = int(self.rng.random() < 0.25)
        return -delay - early


FURTHER = {
    "ambulances": Ambulances,
    "bidding": Bidding,
    "elevators": Elevators,
    "evacuation": Evacuation,
    "fires": Fires,
    "handover": Handover,
    "inventory": Inventory,
    "irrigation": Irrigation,
    "kitchen": Kitchen,
    "machines": Machines,
    "merging": Merging,
    "packets": Packets,
    "parking": Parking,
    "sensors": Sensors,
    "shelves": Shelves,
    "synchrony": Synchrony,
    "thermostats": Thermostats,
    "tolls": Tolls,
}
