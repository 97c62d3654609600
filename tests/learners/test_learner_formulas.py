"""Stage lengths, ι, bonuses and losses: each formula by itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit.core.generics import learn
from tacit.learners import World, theorem_iota
from tacit.learners.spec import Scale
from tacit.policies.recorded import stage_lengths


def world(**changes: object) -> World:
    made = World(states=1, actions=np.array([3]), horizon=2, reward_range=(-2.0, 5.0), scale=Scale(1, 1, 1, 1, 1))
    return made._replace(**changes)


@pytest.mark.parametrize("H", [1, 2, 3, 7, 10, 49, 100])
def test_stage_lengths_are_those_of_the_paper(H: int):
    """e_1 = H, e_{j+1} = ⌊(1+1/H)·e_j⌋, in exact arithmetic; for H = 1 they double."""
    lengths = stage_lengths(H, 10**6)
    assert lengths[0] == H
    for e, after in zip(lengths[:-1].tolist(), lengths[1:].tolist(), strict=True):
        assert after == (H + 1) * e // H
    assert lengths[:-1].sum() < 10**6 <= lengths.sum()
    if H == 1:
        assert lengths.tolist() == [2**j for j in range(20)]


@pytest.mark.parametrize("H", [1, 2, 5, 47, 98])  # (1 + 1/47)·47 falls below 48 in floating point
def test_the_learner_keeps_to_them(H: int):
    state = tacit.learners.StageV(bonus=0.1).init(world(horizon=H))
    seen = []
    for _ in range(200):
        seen.append(int(state.cells[0, 0, 0].length))
        learn(state, 0, 0, 0, 0, 1.0, 0)
    expected = np.repeat(stage_lengths(H, 200), stage_lengths(H, 200))[:200]
    assert seen == expected.tolist()


def test_iota_is_that_of_the_theorem():
    """ι = log(2·N·S·A_max·K·H/p). [Mao2022, thm:cce]"""
    found = theorem_iota(Scale(agents=3, states=5, actions=4, episodes=1000, horizon=7), 0.05)
    assert found == pytest.approx(math.log(2 * 3 * 5 * 4 * 1000 * 7 / 0.05), rel=1e-15)
    game = tacit.make("random-general-sum", agents=2, states=3, actions=[2, 4], horizon=2)
    run = learn_average(game, "stage-v-cce", episodes=50, confidence=0.05)
    assert run.params["iota"] == pytest.approx(math.log(2 * 2 * 3 * 4 * 50 * 2 / 0.05), rel=1e-15)
    assert learn_average(game, "stage-v-cce", episodes=50, iota=2.5).params["iota"] == 2.5


@pytest.mark.parametrize("make", [tacit.learners.StageV, tacit.learners.VLearning])
def test_iota_of_the_run_is_that_of_the_bonus(make: type):
    """Where ι is not given, the bonus has that of the theorem, for the size of the whole run."""
    scale = Scale(agents=3, states=5, actions=4, episodes=1000, horizon=7)
    told = make(confidence=0.05).init(world(scale=scale))
    given = make(iota=theorem_iota(scale, 0.05)).init(world())
    assert told.agents[0].bonus == given.agents[0].bonus != make(iota=4.0).init(world()).agents[0].bonus


@pytest.mark.parametrize(
    ("spec", "constant", "horizon_power", "actions_power"),
    [
        (tacit.learners.StageV(iota=4.0), 6, 2, 1),
        (tacit.learners.StageV(bandit="swap", iota=4.0), 11, 2, 2),
        (tacit.learners.StageV(bonus=0.3, iota=4.0), 0.3, 2, 1),
        (tacit.learners.VLearning(iota=4.0), 6, 3, 1),
        (tacit.learners.VLearning("ce", bonus=0.3, iota=4.0), 0.3, 3, 2),
    ],
    ids=["cce", "ce", "given", "rate cce", "rate ce"],
)
def test_bonus(spec: tacit.learners.StageV, constant: float, horizon_power: int, actions_power: int):
    """b·√n = bonus·√(H^2 or 3·A^1 or 2·ι)."""
    H, A, iota = 5, 3, 4.0
    state = spec.init(world(horizon=H))
    assert state.agents[0].bonus == pytest.approx(
        constant * math.sqrt(H**horizon_power * A**actions_power * iota), rel=1e-15
    )


def test_values_after_one_stage():
    """H = 2: two visits make a stage; the mean of r + V̄ plus the bonus, cut at H − h + 1, by hand."""
    state = tacit.learners.StageV(bonus=0.01, iota=4.0).init(world())
    b = 0.01 * math.sqrt(4 * 3 * 4.0 / 2)
    for r in (0.0, 1.5):  # (r + 2)/7 is 2/7 and 1/2
        learn(state, 0, 1, 0, 0, r, 0)
    assert state.cells[1, 0, 0].upper == pytest.approx((2 / 7 + 0.5) / 2 + b, rel=1e-14)
    assert state.cells[1, 0, 0].lower == pytest.approx((2 / 7 + 0.5) / 2 - b, rel=1e-14)
    for _ in range(2):
        learn(state, 0, 0, 0, 0, 5.0, 0)  # the best reward, 1 in units of the span
    assert state.cells[0, 0, 0].upper == pytest.approx(min(1 + state.cells[1, 0, 0].upper + b, 2), rel=1e-14)
    assert state.cells[0, 0, 0].lower == pytest.approx(1 + state.cells[1, 0, 0].lower - b, rel=1e-14)


def test_values_stay_within_their_caps():
    state = tacit.learners.StageV().init(world())
    for _ in range(2):
        learn(state, 0, 1, 0, 0, 5.0, 0)
    assert (state.cells[1, 0, 0].upper, state.cells[1, 0, 0].lower) == (1.0, 0.0)


def test_rate_values_by_hand():
    """Ṽ ← (1 − α_t)·Ṽ + α_t·(r + V̄ + β_t) with α_t = (H+1)/(H+t), here at the last of two steps."""
    state = tacit.learners.VLearning(bonus=0.01, iota=4.0).init(world())
    value, H = 0.0, 2
    for t, r in enumerate((0.0, 1.5, -2.0, 3.0), start=1):
        learn(state, 0, 1, 0, 0, r, 0)
        alpha, beta = (H + 1) / (H + t), 0.01 * math.sqrt(H**3 * 3 * 4.0 / t)
        value = (1 - alpha) * value + alpha * ((r + 2) / 7 + beta)
        assert state.cells[1, 0, 0].upper == pytest.approx(min(value, 1), rel=1e-13)


@pytest.mark.parametrize("make", [tacit.learners.StageV, tacit.learners.VLearning])
def test_raw_loss_is_the_normalized_one_times_horizon_and_span(make: type):
    """[H − h + 1 − (r + V̄)]/H as printed; times H and the span of the rewards, 7, where raw."""
    for loss, factor in (("normalized", 1.0), ("raw", 2 * 7.0)):
        state = make(loss=loss).init(world())
        learn(state, 0, 1, 0, 1, 1.5, 0)
        charged = (1 - 0.5) / 2 * factor
        eta = state.cells[0, 0, 0].bandit.eta if make is tacit.learners.StageV else state.cells[0, 0, 0].bandit.rate
        estimate = charged / (1 / 3 + (eta / 2 if make is tacit.learners.StageV else eta))
        expected = eta * estimate if make is tacit.learners.StageV else estimate
        assert state.cells[1, 0, 0].bandit.loss[1] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("step", ["theory", 0.2])
def test_step_size(step: float | str):
    """η = √(ι/(A·Ť)), or c/√(A·Ť)."""
    state = tacit.learners.StageV(step=step, iota=4.0).init(world())
    constant = math.sqrt(4.0) if step == "theory" else step
    assert state.cells[0, 0, 0].bandit.eta == pytest.approx(constant / math.sqrt(3 * 2), rel=1e-15)
    for _ in range(2):
        learn(state, 0, 0, 0, 0, 1.0, 0)
    assert state.cells[0, 0, 0].bandit.eta == pytest.approx(constant / math.sqrt(3 * 3), rel=1e-15)


@pytest.mark.parametrize("learner", ["stage-v-cce", "v-learning"])
def test_other_units_give_the_same_play(learner: str):
    """Rewards times 8 plus 3 (both exact in binary): the same states, and everything reported in the new units."""
    game = tacit.make("good-state", horizon=4)
    other = tacit.TabularGame(game.transitions, 8 * game.rewards + 3, game.initial, game.horizon)
    one, two = (learn_average(g, learner, episodes=400, bonus=0.1, iota=5.0) for g in (game, other))
    assert (one.policy.visited == two.policy.visited).all()
    np.testing.assert_allclose(one.policy.stored, two.policy.stored, atol=1e-6)
    np.testing.assert_allclose(two.gaps.upper, 8 * one.gaps.upper, rtol=1e-6)
    np.testing.assert_allclose(two.reward, 8 * one.reward + 3 * 4, rtol=1e-9)
    np.testing.assert_allclose(two.values, 8 * one.values + 3 * 4, rtol=1e-6)


def test_a_game_without_a_choice_of_rewards_is_fine():
    """A span of zero: nothing to learn, and nothing breaks."""
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 1)), np.full((2, 1, 1, 2, 2), 3.0), [1.0], 2)
    run = learn_average(game, "stage-v-cce", episodes=50)
    assert run.gap == pytest.approx(0, abs=1e-12)
    assert run.values == pytest.approx([6.0, 6.0])
    assert np.isfinite(run.last.probs[0]).all()


def test_the_agents_own_bound_is_the_mean_of_its_first_values():
    """(1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k), recomputed from values read before each episode, in the game's units."""
    game = tacit.make("random-general-sum", states=2, horizon=2, seed=5)
    K, seed = 120, 3
    run = learn_average(game, "stage-v-cce", episodes=K, seed=seed, bonus=0.02, certify=False)
    from tacit.core.streams import stream

    agents = [
        tacit.agent(
            "stage-v-cce",
            states=2,
            actions=2,
            horizon=2,
            reward_range=game.reward_range,
            seed=seed,
            index=i,
            bonus=0.02,
            iota=run.params["iota"],
        )
        for i in range(2)
    ]
    world_u, total = stream(seed, 0), np.zeros(2)
    for _ in range(K):
        s = game.start(world_u.random())
        total += [agent.state.cells[0, s, 0].upper - agent.state.cells[0, s, 0].lower for agent in agents]
        for h in range(2):
            actions = [agent.act(h, s) for agent in agents]
            s_next, rewards = game.step(h, s, actions, world_u.random() if h == 0 else 0.0)
            for agent, a, r in zip(agents, actions, rewards, strict=True):
                agent.learn(h, s, a, float(r), s_next)
            s = s_next
    low, high = game.reward_range
    np.testing.assert_allclose(run.gaps.upper, total / K * (high - low), rtol=1e-12)
    assert (total / K < 2).all()
