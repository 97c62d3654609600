"""model-independent: what it counts and plans, games that it has to get right, and what bounds its memory and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.learners.spec import Scale, World

CLIMBING = np.array([[11.0, -30, 0], [-30, 7, 6], [0, 0, 5]])


def alone(states: int, actions: int, horizon: int, **params: Any) -> Any:
    """Return the state of one agent."""
    scale = Scale(1, states, actions, horizon, 1)
    return tacit.learners.ModelIndependent(**params).init(
        World(states, np.array([actions]), horizon, (0.0, 1.0), scale)
    )


@pytest.mark.parametrize(("horizon", "optimum"), [(10, 45.5), (20, 90.5)])
def test_good_state_ends_in_the_best_equilibrium(horizon: int, optimum: float):
    game = tacit.make("good-state", horizon=horizon)
    for seed in range(5):
        run = tacit.learn(game, "model-independent", episodes=2000, seed=seed, points=1)
        assert run.gap == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(run.values, optimum)


def test_climbing_ends_at_the_top_though_missing_each_other_costs():
    game = tacit.TabularGame(np.ones((1, 1, 3, 3, 1)), np.stack([CLIMBING] * 2)[:, None, None], np.ones(1), 25)
    runs = [tacit.learn(game, "model-independent", episodes=5000, seed=seed, points=1) for seed in range(5)]
    assert np.median([run.gap for run in runs]) == pytest.approx(0, abs=1e-9)
    assert np.median([run.values[0] for run in runs]) == pytest.approx(275)


def test_where_equilibria_mix_the_average_is_the_answer():
    run = tacit.learn(tacit.make("matching-pennies", horizon=3), "model-independent", episodes=5000, points=1)
    assert run.gap == run.candidates["recent"].gap < 0.5 * run.candidates["last"].gap
    assert run.gaps.source == "exact"


def test_exploration_is_played_and_not_answered():
    agent = tacit.agent("model-independent", states=1, actions=2, horizon=1, reward_range=(0, 1))
    for _ in range(400):
        a = agent.act(0, 0)
        agent.learn(0, 0, a, float(a), None)
    np.testing.assert_array_equal(agent.policy[0, 0], [0, 1])
    assert 0 < agent.spec.explores(agent.state, 0) < 0.5
    assert {agent.act(0, 0) for _ in range(200)} == {0, 1}


class Reference:
    """One agent by the formulas of the file, from a list of all its steps instead of running sums."""

    def __init__(self, states: int, actions: int, horizon: int) -> None:
        self.S, self.A, self.H = states, actions, horizon
        self.steps: list[tuple[int, int, int, float, int | None, float]] = []  # h, s, a, r, s', weight
        self.residuals: list[tuple[int, int, int, float, float]] = []  # h, s, a, weight, r + V − Q̂
        self.surprises: list[tuple[int, int, float, float]] = []  # h, s, k², (r + V' − V)²
        self.V, self.model = np.zeros((horizon + 1, states)), np.zeros((horizon, states, actions))
        self.P = np.full((horizon, states, actions), 1 / actions)
        self.average, self.at = self.P.copy(), np.zeros((horizon, states))
        self.k, self.due, self.best, self.explored = 0, 0, -np.inf, 0.5
        self.met: list[int] = []
        self.planned: list[int] = []
        self.path: list[int] = []
        self.gained = 0.0

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        ended, square = h == self.H - 1, (self.k + 1.0) ** 2
        self.path, self.gained = ([*self.path, s], self.gained + r) if h else ([s], r)
        for state in [s] if ended else [s, s_next]:
            if state not in self.met:
                self.met.append(state)
        weight = square
        if s in self.planned:
            ahead = 0.0 if ended else self.V[h + 1, s_next] if s_next in self.planned else self.best
            x = r + ahead
            self.surprises.append((h, s, square, (x - self.V[h, s]) ** 2))
            prob = (1 - self.explored) * self.P[h, s, a] + self.explored / self.A
            weight *= min(5.0, 1 / (self.A * prob))
            if x > self.model[h, s, a] + 1e-9 * abs(self.model[h, s, a]):
                weight *= 1 + 20 * (1000 / (1000 + self.k)) ** 3
            self.residuals.append((h, s, a, weight, x - self.model[h, s, a]))
        self.steps.append((h, s, a, r, None if ended else s_next, weight))
        if ended:
            self.k, self.best = self.k + 1, max(self.best, self.gained)
            if self.k < self.due:
                for g in reversed(range(self.H)):
                    self.plan(g, self.path[g])
                return
            for g in reversed(range(self.H)):
                for state in self.met:
                    self.plan(g, state)
            self.planned = self.met[:]
            self.explored = min(0.5, (1 + self.k / max(50, 4 * len(self.met))) ** -0.6)
            self.due = self.k + max(10, self.k // 100, len(self.met) // 10)

    def plan(self, h: int, s: int) -> None:
        e, w = 1000 / (1000 + self.k), float(self.k) ** 2
        o, Q = len(self.met) * e**2 * w, np.zeros(self.A)
        for a in range(self.A):
            here = [(r, s_next, weight) for _, t, b, r, s_next, weight in self.steps if (t, b) == (s, a)]
            self.model[h, s, a] = self.best
            if here:
                n, mean = sum(x[2] for x in here), np.average([x[0] for x in here], weights=[x[2] for x in here])
                moved = [(self.V[h + 1, x[1]], x[2]) for x in here if x[1] is not None]
                if moved:
                    mean += np.average([x[0] for x in moved], weights=[x[1] for x in moved])
                self.model[h, s, a] = (n * mean + o * self.best) / (n + o)
            D = [(weight, x) for g, t, b, weight, x in self.residuals if (g, t, b) == (h, s, a)]
            Q[a] = self.model[h, s, a] + sum(x[0] * x[1] for x in D) / (sum(x[0] for x in D) + 10 * w)
        here = [(weight, x) for g, t, weight, x in self.surprises if (g, t) == (h, s)]
        if here:
            visits = sum(t == s for _, t, _, _ in self.surprises)
            variance = np.average([x[1] for x in here], weights=[x[0] for x in here])
            P = np.exp((Q - Q.max()) / (2.7 * (1 - np.sqrt(e)) * np.sqrt(variance / visits)))
        else:
            P = np.ones(self.A)
        self.P[h, s] = P / P.sum()
        self.V[h, s] = self.P[h, s] @ Q
        self.average[h, s] += (1 - (self.at[h, s] / self.k) ** 3) * (self.P[h, s] - self.average[h, s])
        self.at[h, s] = self.k


def test_it_learns_by_the_formulas_of_the_file():
    """Three states, three actions, 60 episodes of noisy rewards: all of it written out with lists."""
    S, A, H = 3, 3, 3
    learner, reference, rng = alone(S, A, H), Reference(S, A, H), np.random.default_rng(0)
    for _ in range(60):
        s = int(rng.integers(2))  # the third state is met later, and not by every plan
        for h in range(H):
            a, r, s_next = int(rng.integers(A)), float(rng.normal()) + s + h, int(rng.integers(S))
            for one in (learner, reference):
                args = (h, s, a, r, s_next)
                one.learn(*args) if one is reference else generics.learn(one, 0, *args)
            s = s_next
        np.testing.assert_allclose(learner.agents["exploration"][0], reference.explored)
        np.testing.assert_allclose(learner.cells["value"][:, :, 0], reference.V, atol=1e-9)
        np.testing.assert_allclose(learner.cells["model"][:H, :, 0, :A], reference.model, atol=1e-9)
        np.testing.assert_allclose(learner.cells["prob"][:H, :, 0, :A], reference.P, atol=1e-9)
        np.testing.assert_allclose(learner.cells["average"][:H, :, 0, :A], reference.average, atol=1e-9)
    assert 0 < reference.P.min() < 0.1  # responses are smooth, and have moved


def test_a_discounted_game_has_one_table():
    """Two states by turns that pay 1 and 2, with discount 0.5: values by linear equations."""
    scale = Scale(1, 3, 1, 20, 1)
    world = World(3, np.array([1]), 20, (0.0, 2.0), scale, continues=0.5)
    learner, rng = tacit.learners.ModelIndependent().init(world), np.random.default_rng(0)
    for _ in range(3000):
        s = 0
        for h in range(20):
            onward = 2 if s == 2 or rng.random() < 0.5 else 1 - s
            generics.learn(learner, 0, h, s, 0, (1.0, 2.0, 0.0)[s], onward)
            s = onward
    assert learner.cells.shape == (1, 3, 1)
    expected = np.linalg.solve([[1, -0.5], [-0.5, 1]], [1.0, 2.0])
    np.testing.assert_allclose(learner.cells["value"][0, :2, 0], expected, rtol=0.02)


def test_of_too_many_successors_the_least_visited_is_forgotten():
    learner = alone(5, 2, 2, successors=2)
    for s_next in (1, 1, 2, 3, 3, 3, 4):
        generics.learn(learner, 0, 0, 0, 1, 0.0, s_next)
    here = learner.model[0, 0, 0]
    assert {int(s): float(n) for s, n in zip(here["next"], here["count"][:, 1], strict=True)} == {4: 1, 3: 3}
    assert (here["moved"][1], here["seen"][1]) == (4, 7)


def test_the_larger_the_model_the_rarer_the_plans():
    rng, due = np.random.default_rng(1), []
    for states in (3, 300):
        learner = alone(states, 4, 2)
        for _ in range(900):
            s, s_next = (int(x) for x in rng.integers(states, size=2))
            for h in range(2):
                generics.learn(learner, 0, h, s, int(rng.integers(4)), 0.5, s_next)
        due.append(int(learner.agents["due"][0]) - 900)
    assert 0 < due[0] <= 10 < due[1] <= 30


def test_memory_is_told_before_it_is_taken():
    with pytest.raises(tacit.TacitError, match="the agents' models of the world would take"):
        alone(10_000, 2, 1, successors=1 << 20)
