"""The paper's benchmarks: optimistic stage-based Q-learning, central and independent, and textbook Q-learning."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY


@pytest.fixture(scope="module")
def alone() -> tacit.TabularGame:
    """A game of one agent: a Markov decision process."""
    return tacit.make("random-general-sum", agents=1, states=3, actions=3, horizon=4, seed=5)


@pytest.mark.parametrize("learner", ["ucb-independent", "ucb-central", "q-independent"])
def test_an_agent_alone_finds_the_optimum(learner: str, alone: tacit.TabularGame):
    """And answers with it, without what it explored with."""
    params = {"exploration": 0.2, "step": 0.02} if learner == "q-independent" else {"bonus": 0.05}
    run = tacit.learn(alone, learner, episodes=60_000, seed=1, certify=False, **params)
    assert tacit.evaluate(alone, run.policy).values[0] > 0.99 * tacit.solve(alone).values[0]


@pytest.mark.parametrize("reference", [None, 100])
def test_values_stay_above_the_optimum_with_the_theory_s_bonus(reference: int | None, alone: tacit.TabularGame):
    # with probability 1 − p, p = 0.01 for each bound; seed fixed
    spec = REGISTRY.make("ucb-independent", bonus=1.0, reference=reference)
    session = FusedEngine(alone, spec, episodes=20_000, seed=2)
    session.advance(20_000)
    low, high = alone.reward_range
    steps_left = np.arange(alone.horizon, -1, -1)[:, None]
    true = (tacit.solve(alone).V[0] - low * steps_left) / (high - low)
    assert (session.state.cells["V"][:, :, 0] >= true - 1e-12).all()


def test_q_never_rises(alone: tacit.TabularGame):
    spec = REGISTRY.make("ucb-independent", bonus=0.1, reference=50)
    session = FusedEngine(alone, spec, episodes=2000, seed=3)
    before = session.state.cells["Q"].copy()
    for _ in range(20):
        session.advance(100)
        assert (before >= session.state.cells["Q"]).all()
        before = session.state.cells["Q"].copy()


def test_regret_grows_more_slowly_than_the_episodes(alone: tacit.TabularGame):
    # √K would double the regret from K to 4K, a linear one would make it four times as large
    optimum = tacit.solve(alone).values[0]
    spec = REGISTRY.make("ucb-independent", bonus=0.05)
    session = FusedEngine(alone, spec, episodes=80_000, seed=4)
    regret = np.cumsum(optimum - session.advance(80_000)[:, 0])
    assert regret[19_999] > 0
    assert regret[-1] < 3 * regret[19_999]


def test_the_reference_lowers_some_q(alone: tacit.TabularGame):
    """Without a bonus the bound through V^ref is sometimes the smaller one, once V^ref differs between states."""
    tables = []
    for reference in (None, 2000):
        spec = REGISTRY.make("ucb-independent", bonus=0.0, reference=reference)
        session = FusedEngine(alone, spec, episodes=5000, seed=4)
        session.advance(5000)
        tables.append(session.state.cells["Q"])
    assert (tables[0] != tables[1]).any()


def test_central_is_one_learner_on_the_joint_action():
    """On a team the central learner is an independent one on the game in which a single agent has all joint actions."""
    game = tacit.make("good-state", horizon=4)
    single = tacit.TabularGame(
        game.transitions.reshape(1, 2, 4, 2), game.rewards[:1].reshape(1, 1, 2, 4), game.initial, game.horizon
    )
    runs = []
    for played, spec in (
        (game, REGISTRY.make("ucb-central", bonus=0.1, reference=30)),
        (single, REGISTRY.make("ucb-independent", bonus=0.1, reference=30)),
    ):
        session = FusedEngine(played, spec, episodes=3000, seed=6)
        runs.append((session.advance(3000)[:, 0], session.state))
    assert (runs[0][0] == runs[1][0]).all()
    assert (runs[0][1].inner.cells["Q"] == runs[1][1].cells["Q"]).all()


@pytest.mark.parametrize(
    ("learner", "bonus", "low", "high"), [("ucb-central", 0.02, 45.3, 45.7), ("ucb-independent", 0.1, 43, 45)]
)
def test_rewards_on_good_state(learner: str, bonus: float, low: float, high: float):
    # 10 seeds; the spread over seeds is about 0.05 and 0.8, so a false alarm is beyond four standard errors
    game = tacit.make("good-state")
    rewards = [
        tacit.learn(game, learner, episodes=50_000, seed=seed, bonus=bonus, certify=False).reward[0]
        for seed in range(10)
    ]
    assert low < np.mean(rewards) < high


def test_a_central_learner_is_no_agent_on_its_own():
    with pytest.raises(tacit.TacitError, match="central"):
        tacit.agent("ucb-central", states=2, actions=2, horizon=3, reward_range=(0, 1))
