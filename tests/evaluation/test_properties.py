"""Laws that hold for every game and every policy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit

examples = settings(max_examples=40)


@st.composite
def games(draw: st.DrawFn, stationary: bool | None = None) -> tacit.TabularGame:
    """Small general-sum games, some with ties, zeros and unused states."""
    agents = draw(st.integers(1, 4))
    actions = tuple(draw(st.integers(1, 3)) for _ in range(agents))
    states, horizon = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    steps = 1 if draw(st.booleans() if stationary is None else st.just(stationary)) else horizon
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P = rng.dirichlet(np.full(states, draw(st.sampled_from([0.1, 1.0]))), (steps, states, *actions))
    R = rng.normal(size=(agents, steps, states, *actions))
    if draw(st.booleans()):
        R = R.round()  # ties
    return tacit.TabularGame(P, R, rng.dirichlet(np.ones(states)), horizon)


def policy_for(game: tacit.TabularGame, seed: int, correlated: bool) -> tacit.MarkovPolicy:
    """Dense for even seeds, with many zeros for odd ones."""
    policy = tacit.MarkovPolicy.random(game, seed=seed, correlated=correlated)
    if seed % 2 == 0:
        return policy
    thin = []
    for own in policy.probs:
        flat = own.reshape(*own.shape[:2], -1)
        kept = np.where(flat >= np.median(flat, axis=-1, keepdims=True), flat, 0.0)
        thin.append((kept / kept.sum(axis=-1, keepdims=True)).reshape(own.shape))
    return tacit.MarkovPolicy(thin[0] if correlated else thin)


seeds = st.integers(0, 10_000)
kinds = st.sampled_from(["cce", "ce"])


def assert_close(one: tacit.evaluation.Evaluation, other: tacit.evaluation.Evaluation) -> None:
    assert np.allclose(one.values, other.values, atol=1e-11)
    assert np.allclose(one.gaps, other.gaps, atol=1e-11)
    assert one.gap == max(one.gaps)


@examples
@given(games(), seeds, st.booleans(), kinds)
def test_gaps_are_never_negative(game: tacit.TabularGame, seed: int, correlated: bool, kind: str):
    found = tacit.evaluate(game, policy_for(game, seed, correlated), gap=kind)
    assert (found.gaps >= 0).all()
    assert found.gap >= 0


@examples
@given(games(), seeds)
def test_who_listens_can_gain_at_least_as_much_as_who_does_not(game: tacit.TabularGame, seed: int):
    policy = policy_for(game, seed, True)
    ce, cce = (tacit.evaluate(game, policy, gap=kind).gaps for kind in ("ce", "cce"))
    assert (ce >= cce - 1e-12).all()


@examples
@given(games(), seeds)
def test_for_a_product_policy_all_three_gaps_agree(game: tacit.TabularGame, seed: int):
    policy = policy_for(game, seed, False)
    nash, cce, ce = (tacit.evaluate(game, policy, gap=kind) for kind in ("nash", "cce", "ce"))
    assert_close(nash, cce)
    assert_close(nash, ce)


@examples
@given(games(), seeds, kinds)
def test_a_product_policy_written_as_a_joint_one_has_the_same_gaps(game: tacit.TabularGame, seed: int, kind: str):
    policy = policy_for(game, seed, False)
    joint = tacit.MarkovPolicy(np.stack([policy.joint(h) for h in range(game.horizon)]))
    assert_close(tacit.evaluate(game, policy), tacit.evaluate(game, joint, gap=kind))


@examples
@given(games(), seeds, st.booleans(), kinds, st.randoms(use_true_random=False))
def test_renaming_agents_permutes_the_results(game, seed: int, correlated: bool, kind: str, random):
    order = list(range(game.agents))
    random.shuffle(order)
    P = game.transitions.transpose(0, 1, *(2 + i for i in order), game.transitions.ndim - 1)
    R = game.rewards[order].transpose(0, 1, 2, *(3 + i for i in order))
    renamed = tacit.TabularGame(P, R, game.initial, game.horizon)
    policy = policy_for(game, seed, correlated)
    if correlated:
        moved = tacit.MarkovPolicy(policy.probs[0].transpose(0, 1, *(2 + i for i in order)))
    else:
        moved = tacit.MarkovPolicy([policy.probs[i] for i in order])
    one, other = tacit.evaluate(game, policy, gap=kind), tacit.evaluate(renamed, moved, gap=kind)
    assert np.allclose(one.values[order], other.values, atol=1e-11)
    assert np.allclose(one.gaps[order], other.gaps, atol=1e-11)


@examples
@given(games(), seeds, st.booleans(), kinds, st.randoms(use_true_random=False))
def test_renaming_actions_changes_nothing(game, seed: int, correlated: bool, kind: str, random):
    P, R = game.transitions, game.rewards
    policy = policy_for(game, seed, correlated)
    probs = list(policy.probs)
    for i, a in enumerate(game.actions):
        order = list(range(a))
        random.shuffle(order)
        P, R = P.take(order, axis=2 + i), R.take(order, axis=3 + i)
        k, axis = (0, 2 + i) if correlated else (i, 2)
        probs[k] = probs[k].take(order, axis=axis)
    renamed = tacit.TabularGame(P, R, game.initial, game.horizon)
    moved = tacit.MarkovPolicy(probs[0] if correlated else probs)
    assert_close(tacit.evaluate(game, policy, gap=kind), tacit.evaluate(renamed, moved, gap=kind))


@examples
@given(games(), seeds, st.booleans(), kinds, st.randoms(use_true_random=False))
def test_renaming_states_changes_nothing(game, seed: int, correlated: bool, kind: str, random):
    order = list(range(game.states))
    random.shuffle(order)
    P = game.transitions[:, order][..., order]
    renamed = tacit.TabularGame(P, game.rewards[:, :, order], game.initial[order], game.horizon)
    policy = policy_for(game, seed, correlated)
    probs = [own[:, order] for own in policy.probs]
    moved = tacit.MarkovPolicy(probs[0] if correlated else probs)
    assert_close(tacit.evaluate(game, policy, gap=kind), tacit.evaluate(renamed, moved, gap=kind))


@examples
@given(games(), seeds, st.booleans(), kinds)
def test_other_units_scale_the_results(game: tacit.TabularGame, seed: int, correlated: bool, kind: str):
    rng = np.random.default_rng(seed)
    scale, shift = rng.uniform(0.1, 10, game.agents), rng.normal(scale=5, size=game.agents)
    column = (-1, *[1] * (game.rewards.ndim - 1))
    scaled = tacit.TabularGame(
        game.transitions, game.rewards * scale.reshape(column) + shift.reshape(column), game.initial, game.horizon
    )
    policy = policy_for(game, seed, correlated)
    one, other = tacit.evaluate(game, policy, gap=kind), tacit.evaluate(scaled, policy, gap=kind)
    assert np.allclose(scale * one.values + game.horizon * shift, other.values, atol=1e-9)
    assert np.allclose(scale * one.gaps, other.gaps, atol=1e-9)


@examples
@given(games(stationary=True), seeds, st.booleans(), kinds)
def test_a_stationary_game_equals_its_stacked_copy(game: tacit.TabularGame, seed: int, correlated: bool, kind: str):
    H = game.horizon
    stacked = tacit.TabularGame(
        np.repeat(game.transitions, H, axis=0), np.repeat(game.rewards, H, axis=1), game.initial, H
    )
    policy = policy_for(game, seed, correlated)
    assert_close(tacit.evaluate(game, policy, gap=kind), tacit.evaluate(stacked, policy, gap=kind))


@examples
@given(games(), seeds, st.booleans(), kinds)
def test_a_stationary_policy_equals_its_stacked_copy(game: tacit.TabularGame, seed: int, correlated: bool, kind: str):
    first = [own[:1] for own in policy_for(game, seed, correlated).probs]
    stacked = [np.repeat(own, game.horizon, axis=0) for own in first]
    one, other = (tacit.MarkovPolicy(probs[0] if correlated else probs) for probs in (first, stacked))
    assert_close(tacit.evaluate(game, one, gap=kind), tacit.evaluate(game, other, gap=kind))


@examples
@given(games(), seeds, st.booleans())
def test_occupancy_is_a_distribution_at_every_step(game: tacit.TabularGame, seed: int, correlated: bool):
    d = tacit.evaluation.occupancy(game, policy_for(game, seed, correlated))
    assert d.shape == (game.horizon, game.states)
    assert (d >= 0).all()
    assert np.allclose(d.sum(axis=1), 1, atol=1e-12)


@examples
@given(games(), seeds, st.booleans())
def test_values_are_rewards_weighted_by_occupancy(game: tacit.TabularGame, seed: int, correlated: bool):
    policy = policy_for(game, seed, correlated)
    d = tacit.evaluation.occupancy(game, policy)
    total = np.zeros(game.agents)
    for h in range(game.horizon):
        weight = d[h].reshape(-1, *[1] * game.agents) * policy.joint(h)
        total += (game.step_rewards(h) * weight).reshape(game.agents, -1).sum(axis=1)
    assert np.allclose(total, tacit.evaluate(game, policy, gap="cce").values, atol=1e-11)
    assert np.allclose(total, tacit.evaluation.policy_values(game, policy).initial, atol=1e-11)


@examples
@given(games(), seeds)
def test_playing_the_best_response_leaves_no_gap_to_that_agent(game: tacit.TabularGame, seed: int):
    policy = policy_for(game, seed, False)
    i = seed % game.agents
    response = tacit.evaluation.best_response(game, policy, i)
    H = game.horizon
    probs = [np.broadcast_to(own, (H, *own.shape[1:])) for own in policy.probs]
    probs[i] = np.eye(game.actions[i])[response.actions]
    found = tacit.evaluate(game, tacit.MarkovPolicy(probs))
    assert found.gaps[i] <= 1e-11
    assert np.isclose(found.values[i], response.value, atol=1e-11)
