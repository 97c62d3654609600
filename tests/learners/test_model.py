"""model-independent: what it counts and plans, games that it has to get right, and what bounds its memory and time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.learners import model
from tacit.learners.model import CREDIT, PRODUCTS
from tacit.learners.spec import Scale, World

CLIMBING = np.array([[11.0, -30, 0], [-30, 7, 6], [0, 0, 5]])


def alone(states: int, actions: int, horizon: int, **params: Any) -> Any:
    """Return the state of one agent."""
    scale = Scale(1, states, actions, horizon, 1)
    return tacit.ModelIndependent(**params).init(World(states, np.array([actions]), horizon, (0.0, 1.0), scale))


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


def test_a_plan_is_backward_induction_on_what_was_counted(monkeypatch: pytest.MonkeyPatch):
    """Two states, two actions, one agent: Q by the formulas of the file, written out with dictionaries."""
    monkeypatch.setattr(model, "FADED", 10.0)  # so that responses are smooth after twenty episodes
    learner, rng, H = alone(2, 2, 3), np.random.default_rng(0), 3
    steps = []  # of the first batch: all weights are 1
    for _ in range(10):
        s = int(rng.integers(2))
        for h in range(H):
            a, r, s_next = int(rng.integers(2)), float(rng.random()), int(rng.integers(2))
            steps.append((h, s, a, r, s_next))
            generics.learn(learner, 0, h, s, a, r, s_next)
            s = s_next
    G = max(sum(step[3] for step in steps[k : k + H]) for k in range(0, len(steps), H))
    w = 5 * (10 / 20) ** 2 * 10.0**2  # five visits of the weight that steps now have
    V = np.zeros((H + 1, 2))
    for h in reversed(range(H)):
        for s in range(2):
            Q = np.empty(2)
            for a in range(2):
                here = [step for step in steps if step[1] == s and step[2] == a]
                moved = here if h == H - 1 else [step for step in here if step[0] < H - 1]
                follow = np.mean([V[h + 1, step[4]] for step in moved]) if h < H - 1 else 0.0
                n = len(moved)
                Q[a] = (n * (np.mean([step[3] for step in here]) + follow) + w * G) / (n + w)
            P = np.exp((Q - Q.max()) / np.ptp(Q))  # no surprises yet
            P /= P.sum()
            V[h, s] = P @ Q
            cell = learner.cells[h, s, 0]
            np.testing.assert_allclose(cell["model"][:2], Q)
            np.testing.assert_allclose(cell["value"], V[h, s])
            np.testing.assert_allclose(cell["prob"][:2], P)
    surprises = []
    for k in range(10):  # the next batch, of weight 100; after each of its episodes states 0 are planned anew
        V = learner.cells["value"][:, 0, 0].copy()
        generics.learn(learner, 0, 0, 0, k // 2 % 2, 4.0 * (k % 2), 0)
        surprises.append((4.0 * (k % 2) + V[1] - V[0]) ** 2)
        generics.learn(learner, 0, 1, 0, 0, 0.5, 0)
        generics.learn(learner, 0, 2, 0, 0, 0.5, 0)
    before = sum(step[1] == 0 for step in steps)
    n = (before + 30 * 100) ** 2 / (before + 30 * 100**2)
    cell, e = learner.cells[0, 0, 0], 10 / 30
    temperature = 2 * (1 - np.sqrt(e)) * np.sqrt(np.mean(surprises) / n)
    Q = cell["model"][:2] + cell["doubt"][:2] / (cell["weight"][:2] + doubt(learner.cells[:H], 100) * 400)
    np.testing.assert_allclose(np.diff(np.log(cell["prob"][:2])), np.diff(Q) / temperature)


def doubt(cells: Any, w: float) -> float:
    """Return d by the formula of the file."""
    seen = cells["weight"] > 0
    n, D = cells["weight"][seen], cells["doubt"][seen]
    chance = np.broadcast_to((2 / 3 * cells["surprise"] / np.maximum(cells["visits"], 1e-300))[..., None], seen.shape)
    tau = (D**2 / (n * w) - chance[seen]).sum() / (n / w).sum()
    return float(np.clip(chance[seen].mean() / tau, 3, 100)) if tau > 0 else 100.0


@pytest.mark.parametrize(("slope", "low", "high"), [(0.0, 30, 100), (2.0, 3, 5)])
def test_agents_learn_whether_steps_differ(slope: float, low: float, high: float):
    """Rewards are noise, or differ from step to step by as much as that: the model is believed, or each step is."""
    learner, rng = alone(1, 2, 4), np.random.default_rng(0)
    for _ in range(500):
        for h in range(4):
            generics.learn(learner, 0, h, 0, int(rng.integers(2)), slope * h + float(rng.normal()), 0)
    assert low <= learner.agents[0]["doubt"] <= high


def test_rare_actions_weigh_more():
    """A step weighs k² over the probability of its action beside an even one's, at least a fifth."""
    learner = alone(1, 2, 1)
    for k in range(12):
        prob, explored = learner.cells["prob"][0, 0, 0, :2].copy(), float(learner.agents[0]["exploration"])
        a = k % 2 if k < 10 else k - 10  # after the first batch, one of each
        before = float(learner.model[0, 0, 0]["seen"][a])
        generics.learn(learner, 0, 0, 0, a, float(k % 2), 0)
        even = 2 * ((1 - explored) * prob[a] + explored / 2)
        if k >= 10:
            weight = 100 / max(even, 0.2)
            lenient = float(learner.agents[0]["lenience"])
            gained = float(learner.model[0, 0, 0]["seen"][a]) - before
            assert gained == pytest.approx(weight) or gained == pytest.approx(weight * lenient)
            assert even != pytest.approx(1)


def test_every_episode_moves_the_policy_where_it_passed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(model, "FADED", 1.0)  # so that responses are smooth from the first batch on
    learner, rng = alone(3, 2, 2), np.random.default_rng(0)
    for k in range(36):
        before = learner.cells["prob"].copy()
        for h in range(2):
            generics.learn(learner, 0, h, k % 2 + h, int(rng.integers(2)), float(rng.random()), k % 2 + 1)
        planned = int(learner.agents[0]["plans"]) * 10 == k + 1
        moved = np.argwhere((learner.cells["prob"] != before).any(axis=(2, 3))).tolist()
        if k >= 20 and not planned:
            assert moved == [[h, k % 2 + h] for h in range(2)]
            assert learner.cells["at"][0, k % 2, 0] == k + 1


def test_of_too_many_successors_the_lightest_is_forgotten():
    learner = alone(5, 2, 2, successors=2)
    for s_next in (1, 1, 2, 3, 3, 3, 4):
        generics.learn(learner, 0, 0, 0, 1, 0.0, s_next)
    here = learner.model[0, 0, 0]
    kept = {int(s): float(n) for s, n in zip(here["next"], here["count"][:, 1], strict=True)}
    assert kept == {4: 1, 3: 3}
    assert (here["moved"][1], here["seen"][1]) == (4, 7)


def test_the_larger_the_model_the_rarer_the_plans():
    """A plan is due when playing has taken as long: by counts, so that runs do not depend on a clock."""
    rng, plans = np.random.default_rng(1), []
    for states in (3, 300):
        learner = alone(states, 4, 2)
        for _ in range(1500):
            s, s_next = (int(x) for x in rng.integers(states, size=2))
            for h in range(2):
                generics.learn(learner, 0, h, s, int(rng.integers(4)), 0.5, s_next)
        me = learner.agents[0]
        plans.append(int(me["plans"]))
        assert me["spent"] <= PRODUCTS * (me["episodes"] + CREDIT)
    assert plans[1] < plans[0] / 2


def test_memory_is_told_before_it_is_taken():
    with pytest.raises(tacit.TacitError, match="the agents' models of the world would take"):
        alone(10_000, 2, 1, successors=1 << 20)
