"""Proofs of gaps: a second checker, written from docs/proof-json.md alone, and exact gaps of a document's game."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

Q = Fraction


class NoProof(Exception):
    """The document is not as the description says."""


def demand(condition: bool) -> None:
    if not condition:
        raise NoProof


def real(x: Any) -> Fraction:
    demand(isinstance(x, int | float) and not isinstance(x, bool))
    demand(math.isfinite(x))
    return Q(float(x))


def whole(x: Any, low: int, high: int | None = None) -> int:
    demand(isinstance(x, int) and not isinstance(x, bool))
    demand(low <= x and (high is None or x < high))
    return x


def entries(x: Any, count: int | None = None) -> list[Any]:
    demand(isinstance(x, list))
    demand(count is None or len(x) == count)
    return x


def normalized(probs: dict[Any, Fraction]) -> dict[Any, Fraction]:
    total = sum(probs.values(), Q(0))
    demand(all(p >= 0 for p in probs.values()) and abs(total - 1) <= Q(1, 10**9))
    return {outcome: p / total for outcome, p in probs.items()}


class Game:
    """The game and the policy of a document, read key by key."""

    def __init__(self, document: Any) -> None:
        demand(isinstance(document, dict))
        wanted = ["format", "kind", "horizon", "discount", "states", "actions"]
        wanted += ["initial", "game", "product", "policy", "agents"]
        demand(all(key in document for key in wanted))
        demand(document["format"] == "tacit-proof-1" and document["kind"] in ["nash", "cce", "ce"])
        self.kind, self.product = document["kind"], document["product"]
        demand(isinstance(self.product, bool) and (self.product or self.kind != "nash"))
        demand((document["horizon"] is None) != (document["discount"] is None))
        self.H = None if document["horizon"] is None else whole(document["horizon"], 1)
        self.gamma = Q(1) if self.H else real(document["discount"])
        demand(bool(self.H) or 0 <= self.gamma < 1)
        self.S = whole(document["states"], 1)
        self.A = [whole(a, 1) for a in entries(document["actions"])]
        demand(len(self.A) >= 1)
        self.steps = self.H or 1
        for agent in entries(document["agents"], len(self.A)):  # before anything as large is made
            demand(isinstance(agent, dict) and "low" in agent)
            entries(agent["low"], self.steps)
        demand(math.prod(self.A) <= len(entries(document["game"])))
        self.initial = self.states(document["initial"])
        self.outcomes: dict[Any, Any] = {}
        for row in entries(document["game"]):
            h, s, actions, rewards, successors = entries(row, 5)
            place = (whole(s, 0, self.S), self.joint(actions))
            alone = self.H is not None and (h == self.H - 1 or self.H == 1)
            following = {} if successors == [] and alone else self.states(successors)
            self.place(self.outcomes, h, place, ([real(r) for r in entries(rewards, len(self.A))], following))
        self.draws: dict[Any, Any] = {}
        for row in entries(document["policy"]):
            h, s, draw = entries(row, 3)
            self.place(self.draws, h, whole(s, 0, self.S), self.draw(draw))
        self.joints = list(itertools.product(*map(range, self.A)))
        demand(len(self.outcomes) == self.steps * self.S * len(self.joints))
        demand(len(self.draws) == self.steps * self.S)

    def states(self, pairs: Any) -> dict[int, Fraction]:
        listed = [(whole(entries(pair, 2)[0], 0, self.S), real(pair[1])) for pair in entries(pairs)]
        demand(len(dict(listed)) == len(listed))
        return normalized(dict(listed))

    def joint(self, actions: Any) -> tuple[int, ...]:
        return tuple(whole(a, 0, size) for a, size in zip(entries(actions, len(self.A)), self.A, strict=True))

    def place(self, table: dict[Any, Any], h: Any, place: Any, content: Any) -> None:
        steps = range(self.steps) if h is None else [whole(h, 0, self.H or 0)]
        for step in steps:
            demand((step, place) not in table)
            table[step, place] = content

    def draw(self, draw: Any) -> dict[tuple[int, ...], Fraction]:
        if not self.product:
            pairs = [(self.joint(entries(pair, 2)[0]), real(pair[1])) for pair in entries(draw)]
            demand(len(dict(pairs)) == len(pairs))
            return normalized(dict(pairs))
        each = []
        for probs, size in zip(entries(draw, len(self.A)), self.A, strict=True):
            each.append(normalized(dict(enumerate(map(real, entries(probs, size))))))
        every = itertools.product(*[range(size) for size in self.A])
        return {a: math.prod((each[i][a[i]] for i in range(len(a))), start=Q(1)) for a in every}

    def q(self, i: int, h: int, s: int, a: tuple[int, ...], V: list[Fraction]) -> Fraction:
        rewards, successors = self.outcomes[h, (s, a)]
        return rewards[i] + self.gamma * sum((p * V[t] for t, p in successors.items()), Q(0))

    def follow(self, i: int, h: int, s: int, V: list[Fraction]) -> Fraction:
        return sum((p * self.q(i, h, s, a, V) for a, p in self.draws[h, s].items()), Q(0))

    def answers(self, i: int, h: int, s: int, V: list[Fraction]) -> dict[Any, list[Fraction]]:
        """Return what each action pays: for each own part of the draw (ce), or for all together."""
        pays: dict[Any, list[Fraction]] = {}
        for a, p in self.draws[h, s].items():
            row = pays.setdefault(a[i] if self.kind == "ce" else None, [Q(0)] * self.A[i])
            for b in range(self.A[i]):
                row[b] += p * self.q(i, h, s, (*a[:i], b, *a[i + 1 :]), V)
        return pays

    def deviate(self, i: int, h: int, s: int, V: list[Fraction]) -> Fraction:
        return sum(map(max, self.answers(i, h, s, V).values()), Q(0))


def second_verdict(document: Any) -> int:
    """Return the exit code that a checker has to give."""
    try:
        game = Game(document)
        agents = []
        for agent in entries(document["agents"], len(game.A)):
            demand(isinstance(agent, dict) and all(key in agent for key in ("low", "high", "bound")))
            tables = [
                [[real(x) for x in entries(row, game.S)] for row in entries(agent[side], game.steps)]
                for side in ("low", "high")
            ]
            agents.append((*tables, real(agent["bound"])))
    except NoProof:
        return 2
    over = [Q(0)] * game.S
    for i, (low, high, bound) in enumerate(agents):
        for h in range(game.steps):
            after = [table[0] if game.H is None else table[h + 1] if h + 1 < game.H else over for table in (low, high)]
            for s in range(game.S):
                if low[h][s] > game.follow(i, h, s, after[0]) or high[h][s] < game.deviate(i, h, s, after[1]):
                    return 1
        if bound < sum((p * (high[0][s] - low[0][s]) for s, p in game.initial.items()), Q(0)):
            return 1
    return 0


def exact_gaps(document: Any) -> list[Fraction]:
    """Return the gain of each agent's best deviation, in rationals; tables and bounds are not looked at."""
    game = Game(document)
    gaps = []
    for i in range(len(game.A)):
        value, best = [Q(0)] * game.S, [Q(0)] * game.S
        if game.H is None:
            value, best = _forever(game, i, None), _iterate_policies(game, i)
        for h in reversed(range(game.H or 0)):
            value = [game.follow(i, h, s, value) for s in range(game.S)]
            best = [game.deviate(i, h, s, best) for s in range(game.S)]
        gaps.append(sum((p * (best[s] - value[s]) for s, p in game.initial.items()), Q(0)))
    return gaps


def _iterate_policies(game: Game, i: int) -> list[Fraction]:
    """Return the values of the best deviation in a discounted game."""
    zero = [Q(0)] * game.S
    choice = [dict.fromkeys(game.answers(i, 0, s, zero), 0) for s in range(game.S)]
    while True:
        V = _forever(game, i, choice)
        better = []
        for s in range(game.S):
            pays = game.answers(i, 0, s, V)
            better.append(
                {c: b if pays[c][b] == max(pays[c]) else pays[c].index(max(pays[c])) for c, b in choice[s].items()}
            )
        if better == choice:
            return V
        choice = better


def _forever(game: Game, i: int, choice: list[dict[Any, int]] | None) -> list[Fraction]:
    """Solve V = r + γPV of the policy, or where agent i answers its part of the draw by a choice."""
    rows = []
    for s in range(game.S):
        row = [Q(t == s) for t in range(game.S)] + [Q(0)]
        for a, p in game.draws[0, s].items():
            if choice is not None:
                a = (*a[:i], choice[s][a[i] if game.kind == "ce" else None], *a[i + 1 :])
            rewards, successors = game.outcomes[0, (s, a)]
            row[-1] += p * rewards[i]
            for t, chance in successors.items():
                row[t] -= game.gamma * p * chance
        rows.append(row)
    for k in range(game.S):
        pivot = next(r for r in range(k, game.S) if rows[r][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(game.S):
            if r != k and rows[r][k]:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]
