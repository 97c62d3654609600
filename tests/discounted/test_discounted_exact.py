"""Discounted games, exactly: against value iteration written out here, long finite games and outside results."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.evaluation import logit, occupancy, policy_gradient, policy_values
from tacit.evaluation.gradient import gradients
from tacit.evaluation.potential import pairs, search
from tacit.evaluation.values import settle, tables
from tacit.games.exact import ExactGame

GAMMA = 0.9


def random_game(states=4, actions=(3, 2), seed=0, discount=GAMMA, initial=None, sparse=False):
    """Return a general-sum game of N agents with random rewards and transitions."""
    rng = np.random.default_rng(seed)
    rewards = rng.random((len(actions), states, *actions))
    transitions = rng.dirichlet(np.ones(states), (states, *actions))
    if sparse:
        transitions = np.where(transitions < np.sort(transitions, axis=-1)[..., -1:], 0.0, 1.0)
    start = rng.dirichlet(np.ones(states)) if initial is None else initial
    return tacit.TabularGame(transitions, rewards, start, discount=discount)


def stopping_game():
    """Return the game in which player 0 may stop in state 0 and player 1 in state 1; continuing pays nothing."""
    transitions, rewards = np.zeros((3, 2, 2, 3)), np.zeros((2, 3, 2, 2))
    transitions[0, 0, :, 1] = transitions[0, 1, :, 2] = transitions[1, :, 0, 0] = transitions[1, :, 1, 2] = 1
    transitions[2, :, :, 2] = 1
    rewards[:, 0, 1, :] = np.array([1 / 3, 2])[:, None]
    rewards[:, 1, :, 1] = np.array([1, 1 / 3])[:, None]
    return tacit.TabularGame(transitions, rewards, 0, discount=0.5)


def readme_game():
    """Return the game of sgamesolver's README: 64 states, 2 players, 4 actions each."""
    rng = np.random.default_rng(42)
    rewards = np.stack([rng.random((2, 4, 4)) for _ in range(64)], axis=1)
    weights = np.stack([rng.exponential(1, (4, 4, 64)) for _ in range(64)])
    return tacit.TabularGame(weights / weights.sum(axis=-1, keepdims=True), rewards, 0, discount=0.95)


def iterate(game, joint, deviate=None, agent=0):
    """Return agent i's values [S] of a joint policy [S, J], or of its best deviation, in 400 rounds."""
    S, J = game.states, game.joint_actions
    rewards, P = game.rewards[agent, 0].reshape(S, J), game.transitions[0].reshape(S, J, S)
    V = np.zeros(S)
    for _ in range(400):
        q = (rewards + game.discount * P @ V).reshape(S, *game.actions)
        if deviate is None:
            V = (joint * q.reshape(S, J)).sum(axis=1)
            continue
        q, told = np.moveaxis(q, 1 + agent, 1), np.moveaxis(joint.reshape(S, *game.actions), 1 + agent, 1)
        each = np.einsum("sbj,saj->sba", told.reshape(*told.shape[:2], -1), q.reshape(*q.shape[:2], -1))
        V = each.max(axis=2).sum(axis=1) if deviate == "ce" else each.sum(axis=1).max(axis=1)
    return V


@pytest.mark.parametrize(("correlated", "kind"), [(False, "nash"), (True, "cce"), (True, "ce")])
@pytest.mark.parametrize(("actions", "sparse"), [((3, 2), False), ((2, 3, 2), False), ((2, 2), True)])
def test_gaps_are_those_of_value_iteration(correlated, kind, actions, sparse):
    game = random_game(states=12 if sparse else 4, actions=actions, sparse=sparse)
    policy = tacit.MarkovPolicy.random(game, seed=3, correlated=correlated)
    joint = policy.joint(0).reshape(game.states, -1)
    found = tacit.evaluate(game, policy, gap=kind)
    for i in range(game.agents):
        value = iterate(game, joint, agent=i) @ game.initial
        best = iterate(game, joint, kind, agent=i) @ game.initial
        assert found.values[i] == pytest.approx(value, abs=1e-12)
        assert found.gaps[i] == pytest.approx(max(best - value, 0), abs=1e-12)


def test_a_long_finite_game_has_the_same_values():
    game, steps = random_game(), 300
    weights = game.discount ** np.arange(steps)
    long = tacit.TabularGame(
        game.transitions, game.rewards * weights[None, :, None, None, None], game.initial, horizon=steps
    )
    policy = tacit.MarkovPolicy.random(game, seed=1)
    one, other = tacit.evaluate(game, policy), tacit.evaluate(long, policy)
    np.testing.assert_allclose(one.values, other.values, atol=1e-10)
    np.testing.assert_allclose(one.gaps, other.gaps, atol=1e-10)


def test_iteration_alone_gives_what_elimination_does(monkeypatch):
    game = random_game(seed=2)
    policy = tacit.MarkovPolicy.random(game, seed=2, correlated=True)
    exact, d = tacit.evaluate(game, policy, gap="ce"), occupancy(game, policy)
    monkeypatch.setattr("tacit.evaluation.values.MOST", 0)
    found = tacit.evaluate(game, policy, gap="ce")
    np.testing.assert_allclose(found.gaps, exact.gaps, atol=1e-11)
    np.testing.assert_allclose(occupancy(game, policy), d, atol=1e-11)


@pytest.mark.parametrize("sparse", [False, True])
def test_transitions_between_states_are_what_push_makes_of_each(sparse):
    game = random_game(states=12, actions=(2, 3), sparse=sparse)
    product, joint = (tacit.MarkovPolicy.random(game, seed=1, correlated=flag) for flag in (False, True))
    many = [np.stack([own[0], own[0][::-1]]) for own in product.probs]
    for rows in (product.at(0), joint.at(0)[0], many):
        np.testing.assert_allclose(game.walk(rows), ExactGame.walk(game, rows), atol=1e-15)


def test_many_policies_at_once_are_evaluated_like_each():
    game = random_game(actions=(2, 2))
    policies = [tacit.MarkovPolicy.random(game, seed=seed) for seed in range(3)]
    table = np.stack([np.stack(policy.probs) for policy in policies])  # [n, N, 1, S, A]
    found = tacit.evaluation.evaluate_iterates(game, table)
    for k, policy in enumerate(policies):
        np.testing.assert_allclose(found.gaps[k], tacit.evaluate(game, policy).gaps, atol=1e-12)
        assert found.l2_gaps[k] == pytest.approx(tacit.evaluation.l2_gap(game, policy), abs=1e-12)


def test_visits_add_up_and_gaps_are_made_of_their_terms():
    game = random_game()
    policy = tacit.MarkovPolicy.random(game, seed=1)
    d = occupancy(game, policy)
    assert d.shape == (1, 4)
    assert d.sum() == pytest.approx(1 / (1 - GAMMA))
    played = np.einsum("sab,nsab->ns", policy.joint(0), game.rewards[:, 0])
    np.testing.assert_allclose(played @ d[0], tacit.evaluate(game, policy).values)
    table = tacit.evaluation.deviation_table(game, policy)
    np.testing.assert_allclose(table.sums, table.gaps)
    assert policy_values(game, policy).Q(1, 0).shape == (4, 3, 2)
    followed = np.einsum("sab,sab->s", policy.joint(0), policy_values(game, policy).Q(1, 0))
    np.testing.assert_allclose(followed, policy_values(game, policy).V[1, 0])


def test_gradients_are_derivatives():
    game = random_game()
    policy = tacit.MarkovPolicy.random(game, seed=1)
    slopes = policy_gradient(game, policy).gradients
    for i, own in enumerate(slopes):
        for s, a in np.ndindex(own.shape[1:]):
            moved = [probs.astype(complex) for probs in policy.probs]
            moved[i][0, s, a] += 1e-30j  # the complex step
            V = settle(game, [probs[0] for probs in moved], None)
            assert (V[i] @ game.initial).imag / 1e-30 == pytest.approx(own[0, s, a], rel=1e-10)
    assert gradients(game, tables(policy.probs), game.initial).V.shape == (2, 2, 4)


def test_mismatch_is_attained():
    game = random_game()
    found = tacit.mismatch(game)
    visits = [occupancy(game, one)[0, found.state] for one in (found.most_policy, found.least_policy)]
    np.testing.assert_allclose(visits, [found.most, found.least], rtol=1e-11)
    for seed in range(20):  # nobody goes beyond
        d = occupancy(game, tacit.MarkovPolicy.random(game, seed=seed))[0, found.state]
        assert found.least <= d <= found.most
    assert tacit.mismatch(game, exploration=0.2).D < found.D == found.most / found.least


def test_potential_games_are_recognised_and_their_potential_is_every_agents_gain():
    rng = np.random.default_rng(0)
    game = random_game(actions=(2, 2))
    team = tacit.TabularGame(game.transitions, np.stack([game.rewards[0]] * 2), game.initial, discount=GAMMA)
    chance = np.broadcast_to(game.transitions[0][:, :1, :1], (4, 2, 2, 4))  # nobody moves the state
    common, first, second = rng.random((4, 2, 2)), rng.random((4, 1, 2)), rng.random((4, 2, 1))
    apart = tacit.TabularGame(chance, np.stack([common + first, common + second]), game.initial, discount=GAMMA)
    moved = tacit.TabularGame(game.transitions, apart.rewards, game.initial, discount=GAMMA)  # now all move it
    assert not tacit.potential(game).holds
    assert not tacit.potential(moved).holds
    one, other = (tacit.MarkovPolicy.random(game, seed=seed) for seed in (1, 2))
    third = tacit.MarkovPolicy([one.probs[0], other.probs[1]])
    for here in (team, apart):
        found = tacit.potential(here)
        assert found.holds
        gain = tacit.evaluate(here, third).values[1] - tacit.evaluate(here, one).values[1]
        assert found.value(third) - found.value(one) == pytest.approx(gain, abs=1e-10)


def test_asymmetries_in_a_state_are_cross_derivatives_over_its_visits():
    game = random_game(actions=(2, 2))
    rows = [own[0] for own in tacit.MarkovPolicy.random(game, seed=4).probs]
    found = search(game, [own[None] for own in rows], among=pairs(game), tolerance=0.0)
    amounts = {one.states[0]: one.amount for one in found.failures if one.states[0] == one.states[1]}
    visits = np.linalg.inv(np.eye(4) - game.walk(rows))
    way = np.array([-1.0, 1.0])

    def bend(s, length):  # the derivative along the first agent's move, beside a move of the second
        moved = [own.astype(complex) for own in rows]
        moved[0][s] += 1e-30j * way
        moved[1][s] += length * way
        V = settle(game, moved, None)
        return (V[0] - V[1])[s].imag / 1e-30

    for s in range(4):
        cross = (bend(s, 1e-4) - bend(s, -1e-4)) / 2e-4
        assert amounts[s] == pytest.approx(abs(cross) / visits[s, s], rel=1e-5)


def test_the_optimum_is_that_of_value_iteration():
    game = random_game(seed=5)
    total, V = game.rewards[:, 0].sum(axis=0), np.zeros(4)
    for _ in range(400):
        V = (total + GAMMA * game.transitions[0] @ V).reshape(4, -1).max(axis=1)
    found = tacit.solve(game, "optimum")
    assert found.values.sum() == pytest.approx(V @ game.initial, abs=1e-11)
    np.testing.assert_allclose(found.V[:, 0].sum(axis=0), V, atol=1e-11)
    assert found.policy.horizon is None


def test_zero_sum_games_have_shapleys_value():
    game = random_game(actions=(2, 2), seed=1)
    game = tacit.TabularGame(game.transitions, np.stack([game.rewards[0], -game.rewards[0]]), 0, discount=GAMMA)
    V = np.zeros(4)
    for _ in range(400):  # Shapley's iteration, with the value of a 2×2 matrix written out
        q = game.rewards[0, 0] + GAMMA * game.transitions[0] @ V
        low, high = q.min(axis=2).max(axis=1), q.max(axis=1).min(axis=1)
        a, b, c, d = q.reshape(4, 4).T
        with np.errstate(divide="ignore", invalid="ignore"):
            V = np.where(low >= high, low, (a * d - b * c) / (a + d - b - c))
    found = tacit.solve(game, "nash")
    np.testing.assert_allclose(found.V[0, 0], V, atol=1e-8)
    assert found.gap < 1e-8
    assert "zero-sum" in found.method


@pytest.mark.parametrize("concept", ["nash", "cce", "ce"])
def test_equilibria_of_general_games_have_no_gap(concept):
    for seed in (0, 2):
        found = tacit.solve(random_game(seed=seed), concept)
        assert found.gap < 1e-8
        assert found.evaluation.kind == concept
    stopping = tacit.solve(stopping_game(), concept)  # backward induction never settles there
    assert stopping.gap < 1e-9


@pytest.mark.parametrize("seed", [102, 216, 217])
def test_a_cce_is_worth_no_less_than_a_ce(seed):
    """Every ce is a cce. In these games the stages of one of them, or of both, do not settle."""
    rng = np.random.default_rng(seed)
    S, actions = int(rng.integers(1, 4)), [int(rng.integers(2, 4)) for _ in range(2)]
    transitions, rewards = rng.dirichlet(np.full(S, 0.5), size=(S, *actions)), rng.random((2, S, *actions)).round(1)
    game = tacit.TabularGame(transitions, rewards, 0, discount=float(rng.choice([0.5, 0.8, 0.95])))
    coarse, fine = tacit.solve(game, "cce"), tacit.solve(game, "ce")
    assert coarse.values.sum() >= fine.values.sum() - 1e-9
    assert tacit.evaluate(game, coarse.policy, gap="cce").gap < 1e-8


def test_the_stopping_games_pure_equilibria():
    """Whoever expects the other to stop continues, and the other way round: hand-solved."""
    game = stopping_game()
    for choices, values in (([[1, 0, 0]], [0, 0, 0]), [1 / 3, 2]), (([[0, 0, 0]], [0, 1, 0]), [0.5, 1 / 6]):
        policy = tacit.MarkovPolicy.deterministic([choices[0], [choices[1]]], [2, 2])
        found = tacit.evaluate(game, policy)
        np.testing.assert_allclose(found.values, values)
        assert found.gap == pytest.approx(0, abs=1e-15)
    both_stop = tacit.MarkovPolicy.deterministic([[[1, 0, 0]], [[0, 1, 0]]], [2, 2])
    np.testing.assert_allclose(tacit.evaluate(game, both_stop).gaps, [1 / 6, 0])


def test_what_leaving_once_brings_has_the_derivatives_that_newton_uses():
    payoffs = logit._Stationary(random_game(actions=(2, 3, 2)))
    rng = np.random.default_rng(0)
    p, way = rng.random(28), rng.normal(size=28)
    slope = (payoffs(p + 1e-6 * way)[1] - payoffs(p - 1e-6 * way)[1]) / 2e-6
    np.testing.assert_allclose(payoffs(p)[0] @ way, slope, atol=1e-6)


@pytest.mark.slow
def test_the_readmes_equilibrium():
    """64 states: values 15.09 and 15.63 in state 0, as sgamesolver's README has them."""
    found = tacit.solve(readme_game(), "nash")
    assert found.gap < 1e-6
    np.testing.assert_allclose(found.values, [15.09, 15.63], atol=0.005)


@pytest.mark.parametrize("learner", ["pg-exact", "npg"])
def test_exact_ascent_finds_the_optimum_of_a_team(learner):
    game = random_game(states=2, actions=(2, 2), initial=np.array([0.5, 0.5]))
    team = tacit.TabularGame(game.transitions, np.stack([game.rewards[0]] * 2), game.initial, discount=GAMMA)
    run = tacit.learn(team, learner, episodes=60)
    assert run.gap < 1e-3
    assert run.policy.horizon is None
    assert run.values[0] <= tacit.solve(team).values[0] + 1e-9
    assert (np.diff(run.curve["value"]) > -1e-9).all()


def bad(**given):
    game = random_game()
    return tacit.TabularGame(**{"transitions": game.transitions, "rewards": game.rewards, "initial": 0, **given})


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "horizon or discount must be given"),
        ({"horizon": 3, "discount": 0.9}, "not both; got 3 and 0.9"),
        ({"discount": 1}, "discount must be at least 0 and below 1"),
        ({"discount": -0.1}, "discount must be at least 0 and below 1"),
        ({"discount": float("nan")}, "discount must be"),
        ({"discount": "0.9"}, "discount must be"),
        ({"discount": 0.9, "rewards": np.zeros((2, 5, 4, 3, 2))}, "rewards must have 1 steps"),
    ],
)
def test_wrong_lengths_are_told(given, told):
    with pytest.raises(tacit.TacitError, match=told):
        bad(**given)


def test_what_needs_a_horizon_says_so():
    game = random_game()
    for ask in (tacit.theory, tacit.smoothness):
        with pytest.raises(tacit.TacitError, match="must have a horizon"):
            ask(game)
    with pytest.raises(tacit.TacitError, match="objective must be"):
        tacit.solve(game, "nash", objective="first")
    with pytest.raises(tacit.TacitError, match="does not fit"):
        tacit.evaluate(game, tacit.MarkovPolicy([np.full((2, 4, a), 1 / a) for a in (3, 2)]))
