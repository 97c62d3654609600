"""Paths of pure policies and what deviations gain: against sums along the path, and all policies of a deviator."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tacit
from tacit.evaluation import follow, path_gains, respond

SMALL = {"prices": 2, "discount": 0.8}


def draw_policy(game, seed):
    rng = np.random.default_rng(seed)
    actions = [rng.integers(0, a, (1, game.states)) for a in game.actions]
    return tacit.MarkovPolicy.deterministic(actions, game.actions)


def add_up(game, policy, start, agent, forced=None):
    """Return an agent's discounted profits along 400 periods."""
    path = follow(game, policy, start=start, forced=forced, periods=400)
    return float((path.rewards[:, agent] * game.discount ** np.arange(400)).sum())


@pytest.mark.parametrize("seed", range(6))
def test_gains_are_those_of_all_policies_of_a_deviator(seed):
    game = tacit.make("pricing", costs=[1.0, 0.9], **SMALL)
    policy = draw_policy(game, seed)
    gains = path_gains(game, policy, follow(game, policy, start=seed % 4).cycle)
    for i in range(2):
        worth = np.array([add_up(game, policy, s, i) for s in range(4)])
        best = np.full(4, -np.inf)
        for response in itertools.product(range(2), repeat=4):
            probs = [np.eye(2)[[response]] if j == i else policy.probs[j] for j in range(2)]
            deviation = tacit.MarkovPolicy(probs)
            best = np.maximum(best, [add_up(game, deviation, s, i) for s in range(4)])
        np.testing.assert_allclose(gains.everywhere[i], best - worth, atol=1e-12)
        np.testing.assert_allclose(gains.best[i], (best - worth)[gains.states], atol=1e-12)
        for t, s in enumerate(gains.states):
            for a in range(2):
                once = add_up(game, policy, int(s), i, {i: a}) - worth[s]
                assert gains.one_shot[i, t, a] == pytest.approx(once, abs=1e-12)
        chosen = respond(game, policy, i, gains)
        np.testing.assert_allclose([add_up(game, chosen, s, i) for s in range(4)], best, atol=1e-12)
    assert gains.subgame_gap == pytest.approx(tacit.evaluate(game, policy).subgame_gap, abs=1e-12)


def test_share_of_one_shot_deviations_that_do_not_pay():
    game = tacit.make("pricing", prices=4, costs=[1.0, 0.9])
    policy = draw_policy(game, 3)
    cycle = follow(game, policy, start=5).cycle
    pays = []
    for i, s, a in itertools.product(range(2), cycle.states, range(4)):
        if a != policy.probs[i][0, s].argmax():
            pays.append(add_up(game, policy, int(s), i, {i: a}) > add_up(game, policy, int(s), i) + 1e-7)
    assert 0 < sum(pays) < len(pays)
    assert path_gains(game, policy, cycle).one_shot_unprofitable == pytest.approx(1 - np.mean(pays))


def grim(game, high, low):
    """Return the policy that charges `high` as long as everybody did, and `low` otherwise."""
    m = game.actions[0]
    rows = np.full((1, game.states), low)
    rows[0, high * m + high] = high
    return tacit.MarkovPolicy.deterministic([rows, rows], game.actions)


def test_grim_strategies_are_collusive_equilibria():
    game = tacit.make("pricing", start=[13, 13])
    profits = game.rewards[0, 0, 0]
    low = next(a for a in range(15) if profits[:, a].argmax() == a)  # the Nash equilibrium of one period
    policy = grim(game, 13, low)
    evaluation = tacit.evaluate(game, policy)
    assert evaluation.gap < 1e-9
    assert evaluation.subgame_gap < 1e-9
    cycle = follow(game, policy, start=13 * 15 + 13).cycle
    assert game.market.profit_gain(cycle.rewards) > 0.99
    assert path_gains(game, policy, cycle).one_shot_unprofitable == 1.0
    impatient = tacit.make("pricing", start=[13, 13], discount=0.1)
    assert tacit.evaluate(impatient, policy).gap > 0.01


def test_an_impulse_response():
    game = tacit.make("pricing", prices=3)
    path = follow(game, grim(game, 2, 0), start=8, forced={0: [1, 1], 1: 2}, periods=5)
    assert path.actions.tolist() == [[1, 2], [1, 0], [0, 0], [0, 0], [0, 0]]
    assert path.states.tolist() == [8, 5, 3, 0, 0]
    np.testing.assert_allclose(path.rewards[1], game.market.profits(game.market.grid[[0, 1], [1, 0]]))
    whole = follow(game, grim(game, 2, 0), start=8, forced={0: 1})
    assert (whole.states.tolist(), whole.repeats) == ([8, 5, 0], 2)


@pytest.mark.parametrize("kind", ["nash", "cce", "ce"])
def test_the_subgame_gap_of_a_finite_game_is_the_largest_of_all_its_tails(kind):
    game = tacit.make("random-general-sum", agents=2, states=3, actions=2, horizon=3, seed=4)
    rng = np.random.default_rng(1)
    probs = [rng.dirichlet(np.ones(2), (3, 3)) for _ in range(2)]
    policy = tacit.MarkovPolicy(probs)
    if kind != "nash":
        policy = tacit.MarkovPolicy(rng.dirichlet(np.ones(4), (3, 3)).reshape(3, 3, 2, 2))
    largest = 0.0
    for h, s in itertools.product(range(3), range(3)):
        moves = game.transitions[h:] if game.transition_steps > 1 else game.transitions
        rewards = game.rewards[:, h:] if game.rewards.shape[1] > 1 else game.rewards
        tail = tacit.TabularGame(moves, rewards, s, 3 - h)
        rest = tacit.MarkovPolicy([p[h:] for p in policy.probs] if policy.product else policy.probs[0][h:])
        largest = max(largest, tacit.evaluate(tail, rest, gap=kind).gap)
    found = tacit.evaluate(game, policy, gap=kind)
    assert found.subgame_gap == pytest.approx(largest, abs=1e-12)
    assert found.subgame_gap > found.gap


def test_bad_input_is_one_sentence():
    game = tacit.make("pricing", prices=3)
    policy = grim(game, 2, 0)
    bad = [
        (lambda: follow(game, tacit.MarkovPolicy.uniform(game), start=0), "one action in each state"),
        (lambda: follow(tacit.make("good-state", discount=0.9), policy, start=0), "does not fit|certain|states"),
        (lambda: follow(game, policy, start=9), "start must be"),
        (lambda: follow(game, policy, start=0, forced={2: 0}), "forced must be"),
        (lambda: follow(game, policy, start=0, forced={0: [3]}), "forced.0. must be"),
        (lambda: follow(game, policy, start=0, periods=0), "periods must be"),
        (lambda: follow(game, policy, start=0, periods=1).cycle, "has not come to its cycle"),
    ]
    for call, message in bad:
        with pytest.raises(tacit.TacitError, match=message):
            call()
