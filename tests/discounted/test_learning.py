"""Discounted games are played and learned in stretches, and what is answered is stationary."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.environments.play import play
from tacit.evaluation.gaps import evaluate_returned, l2_gap, merge_steps, uniform_gap
from tacit.learners.spec import world_of
from tacit.report.play import Player


@pytest.fixture(scope="module")
def game():
    return tacit.make("good-state", discount=0.8)


def test_a_stretch_has_the_values_of_its_game(game):
    policy = tacit.MarkovPolicy.random(game, seed=1)
    stretch = game.to_random_horizon()
    assert (stretch.states, stretch.horizon) == (3, 31)  # 0.8 ** 31 < 1/1000 < 0.8 ** 30
    exact, cut = tacit.evaluate(game, policy), tacit.evaluate(stretch, policy.to_random_horizon())
    bound = 0.8**31 * 5 * 7  # γ^T·span/(1 − γ)
    np.testing.assert_allclose(exact.values, cut.values, atol=bound)
    assert exact.gap == pytest.approx(cut.gap, abs=bound)


def test_play_earns_the_discounted_value(game):
    policy = tacit.solve(game).policy
    returns = play(game, policy, episodes=4000).returns[:, 0]
    value, error = tacit.evaluate(game, policy).values[0], returns.std() / np.sqrt(4000)
    assert abs(returns.mean() - value) < 4 * error + 0.03  # false alarms: one in 16,000; what is cut off: 0.03


def test_steps_are_merged_by_use(game):
    stretch = game.to_random_horizon()
    policy = tacit.MarkovPolicy.random(stretch, seed=2)
    steady = tacit.MarkovPolicy.random(game, seed=3).to_random_horizon()
    repeated = tacit.MarkovPolicy([np.repeat(own, stretch.horizon, axis=0) for own in steady.probs])
    merged, found = merge_steps(stretch, repeated)
    np.testing.assert_allclose(merged.probs[0], steady.probs[0][:, :2])
    assert found.gap == pytest.approx(tacit.evaluate(game, merged).gap)
    assert merge_steps(stretch, policy)[0].horizon is None


@pytest.mark.parametrize("learner", ["adaptive-v-cce", "pg-adaptive"])
def test_learners_answer_with_stationary_policies_and_exact_gaps(game, learner):
    run = tacit.learn(game, learner, episodes=600, seed=1)
    assert run.game is game
    assert run.policy.horizon is None
    assert (run.policy.states, run.last.states) == (2, 2)
    assert run.gaps.source == "exact"
    found = tacit.evaluate(game, run.policy, gap=None if run.policy.product else run.gaps.kind)
    np.testing.assert_allclose(found.gaps, run.gaps.upper, atol=1e-12)
    assert any("episodes end with probability 0.2" in note for note in run.notes)
    again = tacit.learn(game, learner, episodes=600, seed=1)
    np.testing.assert_array_equal(again.last.probs[0], run.last.probs[0])


def test_a_person_plays_until_the_stretch_is_over(game):
    player = Player(game, tacit.solve(game).policy, seed=3)
    while not player.over:
        player.act(0)
    assert player.state == 2
    assert len(player.turns) < 31
    assert player.earned == sum(turn.reward for turn in player.turns)


def test_an_environment_is_a_stretch(game):
    from tacit.environments.exported import GameEnv

    assert GameEnv(game).horizon == 31


def test_agents_that_model_keep_one_table_for_all_steps(game):
    draw = np.random.default_rng(3)
    mixed = tacit.TabularGame(
        draw.dirichlet(np.ones(6), (6, 2, 2)), draw.random((2, 6, 2, 2)), np.ones(6) / 6, discount=0.9
    )
    state = tacit.learners.ModelIndependent().init(
        world_of(tacit.learners.ModelIndependent(), mixed.to_random_horizon(), episodes=9, seed=0)
    )
    assert state.cells.shape == (1, 7, 2)
    for one in (mixed, game):
        assert tacit.learn(one, "model-independent", episodes=3000).gap < 0.05 * uniform_gap(one)


def test_gradients_share_steps(game, interpreted):
    assert tacit.learn(game, "pg-adaptive", episodes=20).params["steps"] == "shared"


def test_tables_that_end_at_a_horizon_have_no_discount():
    def walk(horizon):
        return tacit.tabulate(
            lambda s, a: {(s + a[0]) % 4: 1.0}, lambda s, a: float(s == 3), start=0, actions=[2], horizon=horizon
        )

    with pytest.raises(tacit.TacitError, match="nobody knows what follows 1 of its states"):
        walk(3).with_discount(0.9)
    assert tacit.solve(walk(5).with_discount(0.9)).values[0] == pytest.approx(0.9**3 / (1 - 0.9))


def test_a_shared_model_answers_with_its_stationary_equilibrium(game):
    draw = np.random.default_rng(3)
    tables = draw.dirichlet(np.ones(6), (6, 2, 2)), draw.random((2, 6, 2, 2))
    mixed = tacit.TabularGame(*tables, np.ones(6) / 6, discount=0.9)
    found = tacit.learn(mixed, "model-central", episodes=1000).candidates["planned"]
    assert found.policy.horizon is None
    assert found.gap < 0.05 * uniform_gap(mixed)


def test_bandits_that_restart_with_the_stages_of_a_step_keep_a_table_for_each(game, interpreted):
    assert tacit.learn(game, "stage-v-cce", episodes=5, seed=1).policy.horizon is None


def test_a_shared_model_has_one_set_of_counts_for_all_steps_of_a_stretch(game):
    """Whatever play looks like, steps do not differ: a model for each could not be planned on without a horizon."""
    learner = tacit.learners.ModelCentral()
    state = learner.init(world_of(learner, game.to_random_horizon(), episodes=10, seed=0))
    assert len(state.model) == 1
    state.clock["differ"] = 1
    assert learner.plan(state, game.states + 1) is not None


def test_certify_changes_no_answer_and_says_so(game):
    asked = tacit.learn(game, "adaptive-v-cce", episodes=50, certify=True)
    plain = tacit.learn(game, "adaptive-v-cce", episodes=50)
    assert asked.gap == plain.gap
    assert asked.gaps.source == "exact"
    assert [note for note in asked.notes if note not in plain.notes] == [
        "certify=True changes nothing here: policies of a discounted game are tables, with exact gaps"
    ]


def test_stationary_policies_are_measured_in_the_discounted_game(monkeypatch: pytest.MonkeyPatch):
    """Over a stretch of 6,905 steps each measure took a second; nothing is asked of the stretch."""
    game = tacit.make("good-state").with_discount(0.999)
    stretch, rng = game.to_random_horizon(), np.random.default_rng(0)
    policy = tacit.MarkovPolicy([rng.dirichlet(np.ones(2), (1, 2)) for _ in range(2)])
    repeated = tacit.MarkovPolicy([np.repeat(own, stretch.horizon, axis=0) for own in policy.to_random_horizon().probs])
    monkeypatch.setattr(stretch, "push", None)
    monkeypatch.setattr(stretch, "payoffs", None)
    measured = evaluate_returned(stretch, repeated)
    exact = tacit.evaluate(game, policy)
    assert measured.gaps.tolist() == exact.gaps.tolist()
    assert measured.values.tolist() == exact.values.tolist()
    assert l2_gap(stretch, repeated) == l2_gap(game, policy)


@pytest.mark.parametrize("learner", ["model-independent", "q-independent"])
def test_rows_of_the_curve_are_of_the_discounted_game(learner: str):
    game = tacit.make("stag-hunt", discount=0.9)
    run = tacit.learn(game, learner, episodes=20, points=2, certify=True)
    exact = tacit.evaluate(game, run.policy)
    assert run.curve["gap"][-1] == pytest.approx(exact.gap, abs=1e-12)
    assert run.curve["value_0"][-1] == pytest.approx(exact.values[0], abs=1e-12)
    assert run.curve["l2_gap"][-1] == pytest.approx(l2_gap(game, run.last), abs=1e-12)
