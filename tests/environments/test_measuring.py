"""Evidence without tables: intervals that cover, responses that come near the best, and honest words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from calibration import trial

import tacit
from tacit.environments.deviators import VisitCounts
from tacit.environments.measuring import interval, lower
from tacit.policies.recorded import each_agents_own

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Corridor, Whispers


def calibrated(games: int, episodes: int, *, covered: float) -> None:
    trials = [trial(number, episodes, rare=number % 5 == 4) for number in range(games)]
    for measure in ("values_covered", "gain_covered"):
        assert np.mean([one for own in trials for one in getattr(own, measure)]) >= covered, measure
    assert np.mean([one for own in trials for one in own.below_gap]) >= covered
    assert np.median([one for own in trials for one in own.reached]) >= 0.9


def test_calibration_in_short():
    """12 games, 27 intervals: 4 misses or fewer; with 5 % each, more come once in 100 choices of seeds."""
    calibrated(12, 1000, covered=0.85)


@pytest.mark.slow
def test_calibration_over_two_hundred_games():
    calibrated(200, 2000, covered=0.93)


def test_the_lower_bound_is_the_end_of_the_interval_and_is_printed():
    game = tacit.make("matching-pennies")
    policy = tacit.MarkovPolicy([np.array([[[0.9, 0.1]]]), np.array([[[0.5, 0.5]]])])
    many = tacit.exploit(game, policy, episodes=40_000, seed=1)
    exact = tacit.evaluate(game, policy)
    assert many.gap == pytest.approx(0.8, abs=0.1)
    assert many.lower == np.nanmax(many.low) < exact.gap
    printed = float(str(many).split("≥ ")[1].split(",")[0])
    assert many.lower - 0.001 < printed <= many.lower


def test_agents_that_were_not_asked_for_have_no_gain():
    game = tacit.make("random-general-sum", states=20, horizon=8)
    found = tacit.exploit(game, tacit.MarkovPolicy.uniform(game), agent=0, episodes=50, plays=4)
    assert np.isnan(found.gains[1])


def test_the_same_seed_is_the_same_chance():
    game = tacit.make("random-general-sum", states=5, horizon=4)
    policy = tacit.MarkovPolicy.random(game, seed=1)
    one, other = (tacit.evaluate(game, policy, episodes=50, seed=3).returns for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert (tacit.evaluate(game, policy, episodes=50, seed=4).returns != one).any()
    env = tacit.to_pettingzoo(game)
    played = tacit.evaluate(env, policy, episodes=400, seed=3)
    exact = tacit.evaluate(game, policy).values
    assert ((played.low - 0.3 <= exact) & (exact <= played.high + 0.3)).all()


def test_certified_and_own_policies_in_environments():
    run = tacit.learn(Corridor(), "adaptive-v-cce", episodes=150)
    found = tacit.exploit(Corridor(), run.policy, agent=0, episodes=60, plays=40)
    assert found.kind == "cce"
    assert "shared state" in str(found)
    with pytest.warns(UserWarning, match="different observations"):
        run = tacit.learn(Whispers(), "adaptive-v-cce", episodes=150)
    assert set(run.candidates) == {"average", "recent", "last"}
    recent = run.candidates["recent"].policy
    assert len(recent.records) == 2
    found = tacit.exploit(Whispers(), recent, episodes=100, plays=60)
    assert found.deviations == "deviations on own observations"
    assert tacit.evaluate(Whispers(), recent, episodes=60).values.min() > 2.5  # of 3: each has learned its coin


def test_own_mixtures_survive_storage(tmp_path: Path):
    with pytest.warns(UserWarning, match="different observations"):
        run = tacit.learn(Whispers(), "adaptive-v-cce", episodes=60)
    policy = run.candidates["average"].policy
    policy.save(tmp_path / "p.npz")
    again = tacit.policies.load(tmp_path / "p.npz")
    for i in range(2):
        one, other = policy.part(i), again.part(i)
        for seed in range(20):
            one.begin(seed)
            other.begin(seed)
            for h in range(3):
                assert one.act(h, seed % 2) == other.act(h, seed % 2)
    loaded = tacit.policies.Part.load(tmp_path / "p.npz", agent=1)
    loaded.begin(0)
    assert loaded.act(0, 0) in (0, 1)


def test_agents_that_see_the_same_play_the_certified_policy():
    """The separate mixture of a shared state is the certified policy, part by part."""
    run = tacit.learn(tacit.make("good-state"), "adaptive-v-cce", episodes=80)
    policy = run.candidates["average"].policy
    visited = np.repeat(policy.visited[:, :, None], 2, axis=2)
    sizes = {"actions": policy.actions, "states": [policy.states] * 2, "rule": policy.rule}
    apart = tacit.policies.RecordedPolicy.of_records(
        each_agents_own(visited, policy.stored, **sizes), start=policy.start
    )
    rng = np.random.default_rng(0)
    for i in range(2):
        one, other = policy.part(i), apart.part(i)
        for seed in range(30):
            one.begin(seed)
            other.begin(seed)
            for h in range(policy.horizon):
                s = int(rng.integers(policy.states))
                assert one.act(h, s) == other.act(h, s)


def test_intervals_of_ordinary_returns_are_hardly_wider_than_students():
    samples = np.random.default_rng(0).normal(size=(4000, 2)).clip(-5, 5)
    student = 1.961 * samples.std(axis=0, ddof=1) / np.sqrt(4000)
    low, high = interval(samples, 0.95, -10.0, 10.0)
    for half in (samples.mean(axis=0) - low, high - samples.mean(axis=0)):
        assert (half < 1.6 * student).all()
        assert (half > student).all()


def test_intervals_of_the_same_returns_leave_room_for_what_is_rare():
    """Something of probability q is not met in n episodes with probability (1 − q)^n: 2.5 % where q = 3.69/n."""
    low, high = interval(np.ones((100, 1)), 0.95, 0.0, 10.0)
    assert 0.0362 < 1.0 - low[0] < 0.3 * 10 * 0.0362
    assert 9 * 0.0362 < high[0] - 1.0 < 1.5 * 9 * 0.0362
    np.testing.assert_allclose(interval(np.ones((1, 1)), 0.95, 0.0, 1.0), [[0.0], [1.0]])
    np.testing.assert_allclose(interval(np.ones((5, 1)), 0.95, 1.0, 1.0), [[1.0], [1.0]])


def test_what_cannot_be_lost_makes_lower_bounds_narrow():
    """A gain of 0.4 ± 0.3 where returns differ by 21 at most: 0.094 instead of the 0.175 of stakes 0.9/(high − low)."""
    gains = np.random.default_rng(0).normal(0.4, 0.3, 1000)
    assert 0.08 < gains.mean() - lower(gains, 0.025, -21.0, 21.0) < 0.1


@pytest.mark.parametrize("rare", [0.1, 0.5, 2.0, 20.0])
def test_lower_bounds_hold_for_what_is_rare(rare: float):
    """A loss of 1 comes `rare` times in 400 episodes, among noise of 0.001: 5 % of the bounds may be above the mean."""
    rng = np.random.default_rng(3)
    samples = rng.normal(0.0, 0.001, (300, 400)).clip(-0.01, 0.01) - (rng.random((300, 400)) < rare / 400)
    wrong = [lower(row, 0.05, -1.01, 1.01) > -rare / 400 for row in samples]
    assert np.mean(wrong) <= 0.05


def test_gaps_are_not_overstated_where_a_loss_is_rare():
    """What looks like a gain is a loss, which most measurements do not meet: no bound may be above 0."""
    found = [trial(number, 400, rare=True) for number in range(12)]
    assert all(one for own in found for one in own.below_gap)
    assert all(one for own in found for one in own.gain_covered)


def test_a_range_that_was_only_seen_is_said():
    run = tacit.learn(Corridor(), "adaptive-v-cce", episodes=30)
    found = tacit.evaluate(Corridor(), run.policy, episodes=20)
    assert any("give reward_range" in note for note in found.notes)
    assert not tacit.evaluate(tacit.from_pettingzoo(Corridor(), reward_range=(-1, 10)), run.policy, episodes=20).notes


def test_the_model_plans_as_value_iteration_does():
    """With every transition seen in its true share, the plan is the exact best response."""
    game = tacit.make("random-general-sum", agents=1, states=3, actions=2, horizon=3, seed=2)
    arena = tacit.environments.play.GameArena(game)
    policy, model = tacit.MarkovPolicy.uniform(game), VisitCounts(0, 3, 2)
    model.add(arena.play(policy, range(60_000), seed=0), 3)
    best = tacit.evaluation.best_response(game, policy, 0).value
    table = model.best()
    chosen = tacit.MarkovPolicy.deterministic([np.maximum(table[:, :3], 0)], [2])
    assert tacit.evaluate(game, chosen).values[0] == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda game, policy: tacit.exploit(game, policy, episodes=0), "episodes must be"),
        (lambda game, policy: tacit.exploit(game, policy, agent=7), "agent must be"),
        (lambda game, policy: tacit.exploit(game, policy, confidence=1.0), "between 0 and 1"),
        (lambda game, policy: tacit.exploit(game, 3), "policy of agent 0 must be .*; got 3"),
        (lambda game, policy: tacit.evaluate(game, policy, episodes=5, gap="nash"), "tacit.exploit"),
        (lambda game, policy: tacit.exploit(object(), policy), "an environment must be of PettingZoo"),
        (lambda game, policy: tacit.exploit(Corridor(cells=3), tacit.MarkovPolicy.uniform(game)), "must have actions"),
        (
            lambda game, policy: tacit.exploit(tacit.from_pettingzoo(game, horizon=3), policy),
            "env must be an environment",
        ),
    ],
)
def test_wrong_calls_are_told(call, told: str):
    game = tacit.make("rock-paper-scissors")
    with pytest.raises(tacit.TacitError, match=told):
        call(game, tacit.MarkovPolicy.uniform(game))
