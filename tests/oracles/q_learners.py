"""Q-learners of the literature as their sources state them: plain Python, dictionaries, one agent each, no shortcuts.

Steps count from 0. `end` is what follows the last step, where values are 0; without resets it is None, and step 0
follows step 0. Uniform numbers are given: the first draws the action, `rest` of it a second coin.
"""

from __future__ import annotations

import math
from collections import defaultdict


def rest(u: float) -> float:
    """Return the digits of a uniform number below 2^-24, as a uniform number."""
    return math.modf(u * 2**24)[0]


def draw(weights: list[float], u: float) -> int:
    for a, weight in enumerate(weights[:-1]):
        u -= weight
        if u < 0:
            return a
    return len(weights) - 1


class Tabular:
    """One agent with a table q[h, s, a]."""

    def __init__(self, A: int, H: int, gamma: float, *, resets: bool) -> None:
        self.A, self.H, self.gamma, self.resets = A, H, gamma, resets
        self.q: dict = defaultdict(float)

    def next(self, h: int) -> int:
        return h + 1 if self.resets else 0

    def ends(self, h: int) -> bool:
        return self.resets and h == self.H - 1

    def row(self, h: int, s: int) -> list[float]:
        return [self.q[h, s, a] for a in range(self.A)]

    def ahead(self, h: int, s_next: int) -> float:
        return 0.0 if self.ends(h) else max(self.row(self.next(h), s_next))

    def greedy(self, h: int, s: int) -> list[float]:
        row = self.row(h, s)
        best = [a for a in range(self.A) if row[a] == max(row)]
        return [1 / len(best) if a in best else 0.0 for a in range(self.A)]

    def policy(self, h: int, s: int) -> list[float]:
        return self.greedy(h, s)


class Independent(Tabular):
    """Watkins (1989), with exploration that falls with the episodes or periods, or Boltzmann's."""

    def __init__(self, *args, alpha: float, first: float, decay=0.0, boltzmann=False, **more) -> None:
        super().__init__(*args, **more)
        self.alpha, self.first, self.decay, self.boltzmann = alpha, first, decay, boltzmann
        self.t = 0

    @property
    def explores(self) -> float:
        return self.first * math.exp(-self.decay * self.t)

    def policy(self, h: int, s: int) -> list[float]:
        if not self.boltzmann:
            return self.greedy(h, s)
        row = self.row(h, s)
        weights = [math.exp((x - max(row)) / self.explores) for x in row]
        return [weight / sum(weights) for weight in weights]

    def act(self, h: int, s: int, u: float) -> int:
        if self.boltzmann:
            return draw(self.policy(h, s), u)
        return draw([(1 - self.explores) * p + self.explores / self.A for p in self.greedy(h, s)], u)

    def learn(self, h, s, a, r, s_next, u) -> None:
        self.q[h, s, a] += self.alpha * (r + self.gamma * self.ahead(h, s_next) - self.q[h, s, a])
        if h == self.H - 1:
            self.t += 1


class Distributed(Tabular):
    """Lauer and Riedmiller (2000)."""

    def __init__(self, *args, low: float, epsilon: float, over: int = -1, **more) -> None:
        super().__init__(*args, **more)
        self.low, self.epsilon, self.over = low, epsilon, over
        self.chosen: dict = defaultdict(int)
        self.met: set = set()

    def row(self, h: int, s: int) -> list[float]:
        if (h, s) not in self.met:  # no return is smaller
            self.met.add((h, s))
            left = self.H - h if self.gamma == 1 else 1 / (1 - self.gamma)
            for a in range(self.A):
                self.q[h, s, a] = self.low * left
        return super().row(h, s)

    def policy(self, h: int, s: int) -> list[float]:
        return [float(a == self.chosen[h, s]) for a in range(self.A)]

    def act(self, h: int, s: int, u: float) -> int:
        return int(u / self.epsilon * self.A) if u < self.epsilon else self.chosen[h, s]

    def learn(self, h, s, a, r, s_next, u) -> None:
        if self.over >= 0 and (s_next == self.over or h == self.H - 1):
            return  # no step of the discounted game
        step = 0 if self.over >= 0 else self.next(h)
        here = 0 if self.over >= 0 else h
        before = max(self.row(here, s))
        follows = 0.0 if self.over < 0 and self.ends(h) else max(self.row(step, s_next))
        value = r + self.gamma * follows
        if value > self.q[here, s, a]:
            self.q[here, s, a] = value
        if max(self.row(here, s)) > before:
            self.chosen[here, s] = a


class Hysteretic(Tabular):
    """Matignon et al. (2007); with a temperature, Wei and Luke (2016)."""

    def __init__(self, *args, alpha: float, beta: float, temperature: float, epsilon: float, **more) -> None:
        super().__init__(*args, **more)
        self.alpha, self.beta, self.lenient, self.epsilon = alpha, beta, temperature > 0, epsilon
        self.T: dict = defaultdict(lambda: temperature)

    def act(self, h: int, s: int, u: float) -> int:
        return draw([(1 - self.epsilon) * p + self.epsilon / self.A for p in self.greedy(h, s)], u)

    def learn(self, h, s, a, r, s_next, u) -> None:
        delta = r + self.gamma * self.ahead(h, s_next) - self.q[h, s, a]
        if delta >= 0:
            self.q[h, s, a] += self.alpha * delta
        elif not self.lenient:
            self.q[h, s, a] += self.beta * delta
        elif rest(u) < 1 - math.exp(-1 / self.T[h, s, a]):
            self.q[h, s, a] += self.alpha * delta
        if self.ends(h):
            self.T[h, s, a] *= 0.995
        else:
            mean = sum(self.T[self.next(h), s_next, b] for b in range(self.A)) / self.A
            self.T[h, s, a] = 0.995 * (0.9 * self.T[h, s, a] + 0.1 * mean)


class WoLF(Tabular):
    """Bowling and Veloso (2002)."""

    def __init__(self, *args, alpha, win, lose, epsilon, alpha_visits=math.inf, delta_visits=math.inf, **more) -> None:
        super().__init__(*args, **more)
        self.alpha, self.win, self.lose, self.epsilon = alpha, win, lose, epsilon
        self.alpha_visits, self.delta_visits = alpha_visits, delta_visits
        self.pi: dict = defaultdict(lambda: [1 / self.A] * self.A)
        self.mean: dict = defaultdict(lambda: [1 / self.A] * self.A)
        self.n: dict = defaultdict(int)

    def policy(self, h: int, s: int) -> list[float]:
        return self.pi[h, s]

    def act(self, h: int, s: int, u: float) -> int:
        if u < self.epsilon:
            return int(u / self.epsilon * self.A)
        return draw(self.pi[h, s], (u - self.epsilon) / (1 - self.epsilon))

    def learn(self, h, s, a, r, s_next, u) -> None:
        t = self.n[h, s]
        alpha = self.alpha / (1 + t / self.alpha_visits)
        self.q[h, s, a] = (1 - alpha) * self.q[h, s, a] + alpha * (r + self.gamma * self.ahead(h, s_next))
        self.n[h, s] = t + 1
        row, pi = self.row(h, s), self.pi[h, s]
        self.mean[h, s] = [old + (new - old) / (t + 1) for old, new in zip(self.mean[h, s], pi, strict=True)]
        mine, average = (sum(p * x for p, x in zip(probs, row, strict=True)) for probs in (pi, self.mean[h, s]))
        delta = (self.win if mine > average else self.lose) / (1 + t / self.delta_visits)
        best = row.index(max(row))
        taken = [0.0 if b == best else min(pi[b], delta / (self.A - 1)) for b in range(self.A)]
        self.pi[h, s] = [pi[b] + (sum(taken) if b == best else -taken[b]) for b in range(self.A)]


class Smoothed(Tabular):
    """Sayin et al. (2021) as their laboratory's code has it, Chen et al. (2023), Maheshwari et al. (2022)."""

    def __init__(
        self, *args, rule, tau, fast, slow=1.0, ratio=1.0, inner=1, power=0.0, cooling=0.0, over=-1, **more
    ) -> None:
        super().__init__(*args, **more)
        self.rule, self.tau, self.fast, self.slow = rule, tau, fast, slow
        self.ratio, self.inner, self.power, self.cooling, self.over = ratio, inner, power, cooling, over
        self.pi: dict = defaultdict(lambda: [1 / self.A] * self.A)
        self.v: dict = defaultdict(float)
        self.n: dict = defaultdict(int)
        self.m: dict = defaultdict(int)

    def policy(self, h: int, s: int) -> list[float]:
        return self.pi[h, s]

    def act(self, h: int, s: int, u: float) -> int:
        return draw(self.pi[h, s], u)

    def softmax(self, row: list[float], tau: float) -> list[float]:
        weights = [math.exp((x - max(row)) / tau) for x in row]
        return [weight / sum(weights) for weight in weights]

    def worth(self, h: int, s: int) -> float:
        return sum(p * x for p, x in zip(self.pi[h, s], self.row(h, s), strict=True))

    def toward(self, h: int, s: int, target: list[float], rate: float) -> None:
        self.pi[h, s] = [(1 - rate) * p + rate * x for p, x in zip(self.pi[h, s], target, strict=True)]

    def learn(self, h, s, a, r, s_next, u) -> None:
        if s == self.over:
            return
        cell, follows = (h, s), (self.next(h), s_next)
        self.n[cell] += 1
        self.m[h, s, a] += 1
        n, tau = self.n[cell], self.tau / (1 + self.cooling * math.log(self.n[cell])) / self.n[cell] ** self.power
        q, ended = self.q[h, s, a], self.ends(h)
        if self.rule == "slow-values":
            rate = min(1.0, n**-self.fast / self.pi[cell][a])
            self.q[h, s, a] = q + rate * (r + (0.0 if ended else self.gamma * self.v[follows]) - q)
            self.v[cell] += n**-self.slow * (self.worth(h, s) - self.v[cell])
            self.pi[cell] = self.softmax(self.row(h, s), tau)
        elif self.rule == "inner-loop":
            self.q[h, s, a] = q + n**-self.fast * (r + (0.0 if ended else self.gamma * self.v[follows]) - q)
            if n == self.inner:
                self.v[cell], self.n[cell] = self.worth(h, s), 0
            rate = self.ratio * (self.n[cell] + 1) ** -self.fast
            self.toward(h, s, self.softmax(self.row(h, s), tau), rate)
        else:
            entropy = -sum(p * math.log(p) for p in self.pi[cell] if p > 0)
            response = self.softmax(self.row(h, s), tau)
            value = 0.0 if ended else self.gamma * self.worth(*follows)
            self.q[h, s, a] = q + self.m[h, s, a] ** -self.fast * (r + tau * entropy + value - q)
            self.toward(h, s, response, n**-self.slow)


class Phases(Tabular):
    """Arslan and Yüksel (2017); with aspiration, Yongacoglu, Arslan and Yüksel (2019).

    `pick` gives the uniform number of a cell, from the coin.
    """

    def __init__(
        self, *args, S, T, rho, inertia, delta, power, pick, memory=0, slack=0.0, happy=0.0, sad=0.0, **more
    ) -> None:
        super().__init__(*args, **more)
        self.S, self.T, self.rho, self.inertia, self.delta, self.power, self.pick = (
            S,
            T,
            rho,
            inertia,
            delta,
            power,
            pick,
        )
        self.memory, self.slack, self.happy, self.sad = memory, slack, happy, sad
        self.pi = {(h, s): 0 for h in range(self.H if self.resets else 1) for s in range(S)}
        self.n: dict = defaultdict(int)
        self.episodes, self.scores = 0, []

    def policy(self, h: int, s: int) -> list[float]:
        return [float(a == self.pi[h, s]) for a in range(self.A)]

    def act(self, h: int, s: int, u: float) -> int:
        return int(u / self.rho * self.A) if u < self.rho else self.pi[h, s]

    def replies(self, h: int, s: int) -> list[int]:
        row = self.row(h, s)
        return [a for a in range(self.A) if row[a] >= max(row) - self.delta]

    def learn(self, h, s, a, r, s_next, u) -> None:
        self.n[h, s, a] += 1
        alpha = self.n[h, s, a] ** -self.power
        self.q[h, s, a] += alpha * (r + self.gamma * self.ahead(h, s_next) - self.q[h, s, a])  # rounded as there: ties
        if not self.resets or h == self.H - 1:
            self.episodes += 1
            if self.episodes % self.T == 0:
                self.n.clear()
                self.reconsider(rest(u))

    def reconsider(self, coin: float) -> None:
        everything = {cell: list(range(self.A)) for cell in self.pi}
        best = {cell: self.replies(*cell) for cell in self.pi}
        experiments = 0.0
        if self.memory:
            score = sum(self.q[(*cell, a)] for cell, a in self.pi.items())
            self.scores = [*self.scores, score][-self.memory :]
            experiments = self.happy if score >= max(self.scores) - self.slack else self.sad
        elif all(self.pi[cell] in best[cell] for cell in self.pi):
            return
        if coin < experiments:
            chosen = everything
        elif (coin - experiments) / (1 - experiments) >= self.inertia:
            chosen = best
        else:
            return
        self.pi = {cell: choices[int(self.pick(coin, *cell) * len(choices))] for cell, choices in chosen.items()}
