"""Evidence without tables: intervals that cover, responses that come near the best, and honest words."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from calibration import trial

import tacit
from tacit.environments.intervals import bernstein, half_widths
from tacit.environments.training import Model

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from toys import Corridor, Whispers


def calibrated(games: int, episodes: int, *, covered: float) -> None:
    trials = [trial(number, episodes) for number in range(games)]
    for measure in ("values_covered", "gain_covered"):
        assert np.mean([one for own in trials for one in getattr(own, measure)]) >= covered, measure
    assert np.mean([one for own in trials for one in own.below_gap]) >= covered
    assert all(one for own in trials for one in own.above_gap)  # p = 0.05 each, and Hoeffding is far from tight
    assert np.median([one for own in trials for one in own.reached]) >= 0.9


def test_calibration_in_short():
    """12 games, 27 intervals: 4 misses or fewer; with 5 % each, more come once in 100 choices of seeds."""
    calibrated(12, 1000, covered=0.85)


@pytest.mark.slow
def test_calibration_over_two_hundred_games():
    calibrated(200, 2000, covered=0.93)


def test_the_upper_bound_closes_in_where_it_can():
    """One state, one step: the model knows the game, and the bound falls with the visits."""
    game = tacit.make("matching-pennies")
    policy = tacit.MarkovPolicy([np.array([[[0.9, 0.1]]]), np.array([[[0.5, 0.5]]])])
    few, many = (tacit.exploit(game, policy, episodes=n, seed=1) for n in (400, 40_000))
    exact = tacit.evaluate(game, policy)
    assert few.upper.max() > many.upper.max()
    assert (many.upper >= exact.gaps).all()
    assert many.upper[1] - exact.gaps[1] < 0.2
    assert many.bounded
    assert many.gap == pytest.approx(0.8, abs=0.1)
    assert str(many).startswith("gap ≥ 0.8")


def test_a_bound_that_says_nothing_is_not_shown():
    game = tacit.make("random-general-sum", states=20, horizon=8)
    found = tacit.exploit(game, tacit.MarkovPolicy.uniform(game), agent=0, episodes=50)
    assert not found.bounded
    assert "≤" not in str(found)
    assert any("says nothing yet" in note for note in found.notes)
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
    assert set(run.candidates) == {"average", "latest", "last"}
    latest = run.candidates["latest"].policy
    assert isinstance(latest, tacit.SeparatePolicy)
    found = tacit.exploit(Whispers(), latest, episodes=100, plays=60)
    assert found.deviations == "deviations on own observations"
    assert tacit.evaluate(Whispers(), latest, episodes=60).values.min() > 2.5  # of 3: each has learned its coin
    assert not found.bounded


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
    loaded = tacit.Part.load(tmp_path / "p.npz", agent=1)
    loaded.begin(0)
    assert loaded.act(0, 0) in (0, 1)


def test_agents_that_see_the_same_play_the_certified_policy():
    """The separate mixture of a shared state is the certified policy, part by part."""
    run = tacit.learn(tacit.make("good-state"), "adaptive-v-cce", episodes=80)
    policy = run.candidates["average"].policy
    visited = np.repeat(policy.visited[:, :, None], 2, axis=2)
    apart = tacit.SeparatePolicy.of(
        visited, policy.stored, actions=policy.actions, states=[policy.states] * 2, rule=policy.rule, start=policy.start
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


def test_intervals():
    samples = np.random.default_rng(0).normal(size=(100, 2))
    expected = 1.984 * samples.std(axis=0, ddof=1) / 10
    np.testing.assert_allclose(half_widths(samples, 0.95, 10.0), expected, rtol=1e-3)
    assert half_widths(np.ones((100, 1)), 0.95, 10.0)[0] == pytest.approx(0.2996, rel=1e-3)
    flips = np.random.default_rng(1).random((1000, 400)) < 0.1
    short = [row.mean() + bernstein(row.astype(float), 0.05, 1.0) < 0.1 for row in flips]
    assert np.mean(short) <= 0.05


def test_the_model_plans_as_value_iteration_does():
    """With every transition seen in its true share, the plan is the exact best response."""
    game = tacit.make("random-general-sum", agents=1, states=3, actions=2, horizon=3, seed=2)
    arena = tacit.environments.arena.GameArena(game)
    policy, model = tacit.MarkovPolicy.uniform(game), Model(0, 3, 2)
    model.add(arena.play(policy, range(60_000), seed=0), 3)
    best = tacit.best_response(game, policy, 0).value
    table = model.best()
    chosen = tacit.MarkovPolicy.deterministic([np.maximum(table[:, :3], 0)], [2])
    assert tacit.evaluate(game, chosen).values[0] == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda game, policy: tacit.exploit(game, policy, episodes=0), "episodes is 0"),
        (lambda game, policy: tacit.exploit(game, policy, agent=7), "agent is 7"),
        (lambda game, policy: tacit.exploit(game, policy, confidence=1.0), "between 0 and 1"),
        (lambda game, policy: tacit.exploit(game, 3), "policy is 3"),
        (lambda game, policy: tacit.evaluate(game, policy, episodes=5, gap="nash"), "tacit.exploit"),
        (lambda game, policy: tacit.exploit(object(), policy), "neither a TabularGame nor an environment"),
        (lambda game, policy: tacit.exploit(Corridor(cells=3), tacit.MarkovPolicy.uniform(game)), "does not fit"),
        (lambda game, policy: tacit.exploit(game, policy, horizon=3), "horizon is for environments"),
    ],
)
def test_wrong_calls_are_told(call, told: str):
    game = tacit.make("rock-paper-scissors")
    with pytest.raises(tacit.TacitError, match=told):
        call(game, tacit.MarkovPolicy.uniform(game))
