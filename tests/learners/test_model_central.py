"""model-central: what it counts and plans, games that it has to get right, and when each step has its own model."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.engine.fused import FusedEngine
from tacit.evaluation import policy_values
from tacit.learners import ModelCentral, joint_model, model_central
from tacit.learners.spec import world_of


def random_game(steps: int, *, zero_sum: bool = False, seed: int = 3) -> tacit.TabularGame:
    rng = np.random.default_rng(seed)
    moves, rewards = rng.dirichlet(np.ones(3), (steps, 3, 3, 3)), rng.random((2, steps, 3, 3, 3))
    if zero_sum:
        rewards[1] = 1 - rewards[0]
    return tacit.TabularGame(moves, rewards, np.ones(3) / 3, 4)


def test_a_mixed_equilibrium_after_a_thousand_episodes():
    game = random_game(1, zero_sum=True)
    run = tacit.learn(game, "model-central", episodes=1000, points=1)
    assert run.policy.product
    assert run.gap < 0.03 * run.uniform_gap
    assert run.gap <= min(one.gap for one in run.candidates.values()) + 1e-12


@pytest.mark.parametrize("kind", ["cce", "ce"])
def test_kinds_of_equilibrium(kind: str):
    game = random_game(1)
    run = tacit.learn(game, "model-central", episodes=2000, points=1, equilibrium=kind)
    assert (run.gaps.kind, run.gaps.source) == (kind, "exact")
    np.testing.assert_allclose(run.gaps.upper, tacit.evaluate(game, run.candidates[run.chosen].policy, gap=kind).gaps)
    assert run.gap < 0.03 * run.uniform_gap


def test_the_best_of_several_equilibria():
    for name in ("good-state", "matrix-team"):
        game = tacit.make(name)
        run = tacit.learn(game, "model-central", episodes=1000, seed=2, points=1)
        np.testing.assert_allclose(run.values, tacit.solve(game, "optimum").values, rtol=1e-9)


@pytest.mark.parametrize(("decoy", "episodes"), [(0.0, 1000), (0.1, 2000)])
def test_a_reward_that_even_play_does_not_find(decoy: float, episodes: int):
    """A lock of six digits, each a joint action out of nine; a wrong one pays the decoy, and nothing opens it after."""
    rng, digits = np.random.default_rng(0), 6
    moves, rewards = np.zeros((1, digits + 1, 3, 3, digits + 1)), np.zeros((2, 1, digits + 1, 3, 3))
    moves[..., digits] = 1
    for s in range(digits):
        right = tuple(rng.integers(3, size=2))
        rewards[:, 0, s] = decoy
        rewards[:, 0, s][(slice(None), *right)] = 0
        if s + 1 < digits:
            moves[0, s][right] = np.eye(digits + 1)[s + 1]
        else:
            rewards[:, 0, s][(slice(None), *right)] = 1
    game = tacit.TabularGame(moves, rewards, 0, digits)
    assert episodes / 9**digits < 0.004  # how often even play opens it
    for seed in range(3):
        run = tacit.learn(game, "model-central", episodes=episodes, seed=seed, points=1)
        assert run.values.tolist() == [1.0, 1.0]


def test_the_model_is_the_game_and_a_sweep_evaluates_what_is_played(monkeypatch: pytest.MonkeyPatch):
    """Every joint action of this game is soon tried."""
    game, learner = random_game(1), ModelCentral()
    engine = FusedEngine(game, learner, episodes=8000, seed=1)
    engine.advance(8000)
    state = engine.state
    model = joint_model.model_game(state)
    np.testing.assert_allclose(model.rewards, game.rewards, atol=1e-9)
    assert np.abs(model.transitions - game.transitions).max() < 0.2
    assert (state.model["moved"][game.horizon, :, 0, :9] > 0).all()
    assert state.clock["differ"][0] == 0
    before = engine.policy(engine.distributions())
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    model_central.plan(state)
    values = policy_values(model, before)
    np.testing.assert_allclose(state.cells["value"][:4], np.moveaxis(values.V[:, :4], 0, -1), atol=1e-9)


def test_steps_that_differ_are_found_out_and_others_are_not_suspected():
    for steps in (1, 4):
        for seed in range(3):
            game = random_game(steps, seed=seed)
            engine = FusedEngine(game, ModelCentral(), episodes=2000, seed=seed)
            engine.advance(2000)
            assert engine.state.clock["differ"][0] == (steps > 1)
    run = tacit.learn(random_game(4), "model-central", episodes=5000, points=1)
    assert run.gap < 0.05 * run.uniform_gap


def test_it_is_no_agent_on_its_own_and_says_what_it_cannot_count():
    with pytest.raises(tacit.TacitError, match="central"):
        tacit.agent("model-central", states=2, actions=2, horizon=3, reward_range=(0, 1))
    with pytest.raises(tacit.TacitError, match="at most 4,096 joint actions; got 1,048,576"):
        tacit.learn(tacit.make("minority", agents=20), "model-central", episodes=1)


def test_an_environment_whose_state_all_agents_see():
    from toys import Corridor

    run = tacit.learn(Corridor(cells=3), "model-central", episodes=400)
    assert (set(run.candidates), run.gaps.source) == ({"planned", "last"}, "none")
    assert run.policy.product
    assert tacit.evaluate(Corridor(cells=3), run.policy, episodes=500).values.mean() > 8


def test_rows_of_the_curve_show_what_would_be_answered():
    """Regret matching ends in a poor equilibrium of climbing; the model has the best."""
    game = tacit.make("climbing")
    run = tacit.learn(game, "model-central", episodes=400, points=4)
    best = tacit.solve(game, "optimum").values
    assert run.curve["value_0"].tolist() == pytest.approx([best[0]] * 4)
    assert run.candidates["last"].values[0] < best[0]


@pytest.mark.parametrize(("horizon", "models"), [(1000, 1001), (100_000, 1)])
def test_long_games_have_one_model_for_all_steps(horizon: int, models: int):
    learner = ModelCentral()
    state = learner.init(world_of(learner, tacit.make("chicken", horizon=horizon), episodes=10, seed=0))
    assert len(state.model) == models
