"""Adaptive V-learning: a plain transcription of its formulas, any units of reward, one agent's optimum, small gaps.

Seeds are fixed; where a threshold is statistical, it is at least three times what was measured.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import tacit
from tacit.bandits.ada_tsallis import minimum, solve_two
from tacit.core import generics
from tacit.engine.fused import FusedEngine
from tacit.engine.recorded import record
from tacit.evaluation.certificate import certificate, recent
from tacit.learners import AdaptiveV, World
from tacit.learners.adaptive_v import optimistic_value
from tacit.learners.spec import Scale


def even_gap(game: tacit.TabularGame) -> float:
    return tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap


def latest_gap(game: tacit.TabularGame, spec: AdaptiveV, episodes: int, seed: int = 0) -> float:
    cert, kept = certificate(game, spec.info.learns), record(game, episodes)  # compiled with both elsewhere too
    FusedEngine(game, spec, episodes=episodes, seed=seed, certificate=cert, record=kept).advance(episodes)
    return float(recent(game, cert).gaps.max())


class Transcription:
    """One cell with the formulas of the docstrings, arrays over actions, and a general-purpose optimiser."""

    def __init__(self, actions: int, horizon: int) -> None:
        self.A, self.c, self.H = actions, 0.1 * horizon, horizon
        self.L, self.mu = np.zeros(actions), np.full(actions, 1 / actions)
        self.mean = self.temperature = self.moved = 0.0
        self.top = -np.inf  # the best return so far
        self.gains: list[float] = []
        self.begins = [0]  # rounds (from 0) in which windows begin

    def best(self, L: np.ndarray, temperature: float) -> tuple[np.ndarray, float]:
        def objective(z: np.ndarray) -> float:
            mu = np.exp(z) / np.exp(z).sum()
            return float(mu @ (L - L.min()) / temperature - 2 * np.sqrt(mu).sum())

        found = minimize(objective, np.log(self.mu), method="BFGS", options={"gtol": 1e-10})
        mu = np.exp(found.x) / np.exp(found.x).sum()
        return mu, float(L.min() + temperature * found.fun)

    def learn(self, a: int, x: float) -> None:
        t = len(self.gains) + 1
        doubt = (5 / (5 + t - 1)) ** 2
        value = x if t == 1 else (1 - doubt) * self.mean + doubt * self.top
        loss = value - x
        alpha = (self.c + 1) / (self.c + t)
        gamma = 0.1 * np.sqrt(alpha / self.A)
        self.gains.append(max(-loss, 0.0))
        if t >= self.begins[-1] + (0 if t == 1 else max(4, int((self.begins[-1]) / (self.c + 1)))):
            self.begins.append(t)
        headroom = max(self.gains[self.begins[-2] - 1 if self.begins[-2] else 0 :])
        self.mean += (self.H + 1) / (self.H + t) * (x - self.mean)
        self.top = max(self.top, x)
        if t == 1:
            return
        estimate = -headroom * gamma / (self.mu + gamma)
        estimate[a] += loss / (self.mu[a] + gamma)
        before = (1 - alpha) * self.L
        self.L = before + alpha * estimate
        if t == 2:
            self.temperature = 0.0
        old = (1 - alpha) * self.temperature
        if old == 0.0:
            delta = alpha * self.mu @ estimate - (self.L.min() - before.min())
        else:
            delta = alpha * self.mu @ estimate - (self.best(self.L, old)[1] - self.best(before, old)[1])
        self.moved = (1 - alpha) * self.moved + delta
        self.temperature = self.moved / (2 * (np.sqrt(self.A) - 1))
        self.mu = self.best(self.L, self.temperature)[0]


@pytest.mark.parametrize("mean", [[-3.0, 7.0], [-3.0, 1.0, 7.0]], ids=["two actions", "three"])
def test_one_cell_follows_the_formulas(mean: list[float]):
    A = len(mean)
    world = World(states=1, actions=np.array([A]), horizon=1, reward_range=(0.0, 1.0), scale=Scale(1, 1, A, 1, 1))
    state = AdaptiveV().init(world)
    plain, rng, seen = Transcription(A, 1), np.random.default_rng(4), np.zeros(A)
    for _ in range(60):
        generics.policy(state, 0, 0, 0, seen)
        np.testing.assert_allclose(seen, plain.mu, atol=2e-5)
        a = generics.act(state, 0, 0, 0, rng.random())
        x = float(mean[a] + rng.normal())
        generics.learn(state, 0, 0, 0, a, x, 0)
        plain.learn(a, x)
    assert state.cells[0, 0, 0].value == pytest.approx(plain.mean, rel=1e-12)
    assert seen.argmax() == A - 1


@pytest.mark.parametrize("temperature", [1e-9, 0.01, 1.0, 300.0])
@pytest.mark.parametrize("loss", [[0.0, 0.0], [1.0, -2.0], [-5.0, 3.0], [1e3, 1e3 + 1e-6]])
def test_two_actions_are_solved_in_closed_form(loss: list[float], temperature: float):
    """μ(b) = (λ/(x + L(b)))² with Σ μ = 1, and Φ = ⟨μ, L⟩ − 2λ·Σ √μ."""
    value, *found = solve_two(np.array(loss), temperature)
    mu = np.array(found)
    assert mu.sum() == pytest.approx(1.0, abs=1e-15)
    x = temperature / np.sqrt(mu) - loss
    assert x[0] == pytest.approx(x[1], rel=1e-12, abs=1e-12 * max(np.abs(loss)))
    assert value == pytest.approx(mu @ loss - 2 * temperature * np.sqrt(mu).sum(), rel=1e-14)
    newton = np.zeros(2)
    assert minimum(np.array(loss), min(loss), 2, temperature, temperature, newton) == pytest.approx(value, rel=1e-14)
    np.testing.assert_allclose(newton, mu, rtol=1e-13)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("kind", ["cce", "ce"])
def test_the_units_of_rewards_do_not_matter(kind: str):
    """Rewards times 1024 plus 512: powers of two, so that rounding is the only difference there can be."""
    base = tacit.make("random-general-sum", states=3, actions=3, horizon=4, seed=5)
    other = tacit.TabularGame(base.transitions, base.rewards * 1024 + 512, base.initial, base.horizon)
    one, two = (tacit.learn(game, f"adaptive-v-{kind}", episodes=40, seed=1) for game in (base, other))
    for few, many in zip(one.last.probs, two.last.probs, strict=True):
        np.testing.assert_allclose(few, many, atol=1e-6)
    np.testing.assert_allclose(two.gaps.upper, 1024 * one.gaps.upper, rtol=1e-5)


def test_an_unseen_state_is_worth_the_best_return_so_far():
    """Two steps, three states: after an episode of returns 5 and 3 from its steps on, a new state has value 3."""
    world = World(states=3, actions=np.array([2]), horizon=2, reward_range=(0.0, 1.0), scale=Scale(1, 3, 2, 2, 1))
    state = AdaptiveV().init(world)
    generics.learn(state, 0, 0, 0, 0, 2.0, 1)
    generics.learn(state, 0, 1, 1, 0, 3.0, 1)
    assert state.steps["best_return"][:, 0].tolist() == [5.0, 3.0]
    before = state.cells[0, 0, 0].value
    generics.learn(state, 0, 0, 0, 0, 1.0, 2)  # to a state that nobody has seen: x = 1 + 3
    assert state.cells[0, 0, 0].value == pytest.approx(before + 3 / (2 + 2) * (4.0 - before))
    generics.learn(state, 0, 1, 2, 0, 0.0, 2)
    assert state.cells[1, 2, 0].value == 0.0
    assert optimistic_value(state, state.cells[1, 2, 0], 0, 1, 0.0) == pytest.approx((5 / 6) ** 2 * 3.0)
    state.steps[1, 0].best_return = 30.0  # when more is known to be possible, its value rises again
    assert optimistic_value(state, state.cells[1, 2, 0], 0, 1, 0.0) == pytest.approx((5 / 6) ** 2 * 30.0)


def test_what_the_agent_is_told_of_the_range_does_not_matter():
    game = tacit.make("good-state", horizon=4)
    learned = []
    for told in ((-2.0, 5.0), (-9e3, 7e5)):
        sizes = {"states": game.states, "actions": 2, "horizon": 4, "reward_range": told, "seed": 2}
        agents = [tacit.agent("adaptive-v-cce", **sizes, index=i) for i in range(2)]
        world = np.random.default_rng(5)
        for _ in range(100):
            s = game.start(world.random())
            for h in range(4):
                actions = [agent.act(h, s) for agent in agents]
                s_next, rewards = game.step(h, s, actions, world.random())
                for agent, a, r in zip(agents, actions, rewards, strict=True):
                    agent.learn(h, s, a, float(r), s_next)
                s = s_next
        learned.append([agent.policy for agent in agents])
    for one, other in zip(*learned, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_single_agent_finds_the_optimum():
    game = tacit.make("random-general-sum", agents=1, states=4, actions=4, horizon=5, seed=3)
    gap = latest_gap(game, AdaptiveV(), 10_000)
    assert gap < 0.03 * even_gap(game)


@pytest.mark.parametrize(
    ("name", "params", "kind", "episodes", "share"),
    [
        ("good-state", {}, "cce", 3000, 0.05),
        ("box-pushing", {"horizon": 5}, "cce", 5000, 0.1),
        ("distancing", {"agents": 4, "horizon": 5}, "cce", 4000, 0.1),
        ("random-general-sum", {"states": 5, "actions": 3, "seed": 2}, "cce", 10_000, 0.15),
        ("good-state", {}, "ce", 5000, 0.05),
        ("chicken", {"horizon": 3}, "ce", 5000, 0.1),
    ],
)
def test_certified_gaps_get_small(name: str, params: dict, kind: str, episodes: int, share: float):
    game = tacit.make(name, **params)
    assert latest_gap(game, AdaptiveV(kind), episodes, seed=1) < share * even_gap(game)


def test_one_action_and_constant_rewards_do_no_harm():
    rewards = np.zeros((2, 1, 2, 1, 3))
    rewards[1] = 4.0
    game = tacit.TabularGame(np.full((1, 2, 1, 3, 2), 0.5), rewards, [0.5, 0.5], 3)
    for kind in ("cce", "ce"):
        run = tacit.learn(game, f"adaptive-v-{kind}", episodes=50)
        assert run.gap == pytest.approx(0.0, abs=1e-12)
        assert all(np.isfinite(probs).all() for probs in run.last.probs)


def test_an_agent_grows_without_forgetting():
    me = tacit.agent("adaptive-v-ce", states=2, actions=3, horizon=2, reward_range=(0, 1), seed=4)
    for k in range(50):
        for h in range(2):
            s = (k + h) % 2
            a = me.act(h, s)
            me.learn(h, s, a, float(a == 1), 1 - s)
    before = me.policy
    me.grow(5)
    assert (me.policy[:, :2] == before).all()
    np.testing.assert_allclose(me.policy[:, 2:], 1 / 3)
    assert before[1, 0, 1] > 0.5
    assert me.state.cells["visits"].sum() == 100


@pytest.mark.parametrize(
    "params", [{"memory": -1}, {"implicit": "x"}, {"step": 0}, {"step": "theory"}, {"optimism": -1}]
)
def test_bad_parameters_are_named(params: dict):
    with pytest.raises(tacit.TacitError, match=next(iter(params))):
        tacit.learn(tacit.make("chicken"), "adaptive-v-cce", episodes=10, **params)
