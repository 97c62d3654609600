"""Stationarity against SciPy's optimiser, and what it implies. [Mao2022, lemma:stationarity_implies_nash]"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

import tacit
from tacit.evaluation import policy_gradient
from tacit.evaluation.gradient import gradients, smoothness_constant
from tacit.evaluation.values import tables


def by_slsqp(game: tacit.TabularGame, policy: tacit.MarkovPolicy) -> float:
    """Maximise Σ δ·∇V over π + δ on the simplices and ‖δ‖ ≤ 1, from a few starts."""
    slopes = policy_gradient(game, policy).gradients
    here = np.concatenate([np.broadcast_to(x, g.shape).ravel() for x, g in zip(policy.probs, slopes, strict=True)])
    slope = np.concatenate([g.ravel() for g in slopes])
    rows, begin = [], 0
    for g in slopes:
        for _ in range(g.shape[0] * g.shape[1]):
            row = np.zeros(len(here))
            row[begin : begin + g.shape[2]] = 1
            rows.append(row)
            begin += g.shape[2]
    flat = np.array(rows)
    constraints = [
        {"type": "eq", "fun": lambda x: flat @ x, "jac": lambda x: flat},
        {"type": "ineq", "fun": lambda x: 1 - x @ x, "jac": lambda x: -2 * x},
    ]
    best = 0.0
    for scale in (0.0, 0.1):
        start = scale * (slope - flat.T @ (flat @ slope) / flat.sum(axis=1)[0])
        found = minimize(
            lambda x: -slope @ x,
            start,
            jac=lambda x: -slope,
            bounds=[(-p, 1 - p) for p in here],
            constraints=constraints,
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-14},
        )
        # At this tolerance it may end without calling it a success, depending on rounding: what counts is a valid δ.
        x = found.x
        valid = (
            np.abs(flat @ x).max() < 1e-7
            and x @ x < 1 + 1e-7
            and (-here - 1e-7 < x).all()
            and (x < 1 - here + 1e-7).all()
        )
        if valid:
            best = max(best, float(-found.fun))
    return best


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_epsilon_against_an_optimiser(seed: int, horizon: int):
    """One and two cells lie within the ball, more cells reach its surface: both branches are met."""
    game = tacit.make("random-potential", states=1 if horizon == 1 else 2, actions=2, horizon=horizon, seed=seed)
    policy = tacit.MarkovPolicy.random(game, seed=seed)
    assert tacit.stationarity(game, policy).epsilon == pytest.approx(by_slsqp(game, policy), abs=1e-6)


def test_epsilon_by_hand():
    """One agent, two actions worth 0 and 1, at probability p of the first: δ = (−p, p) while √2·p ≤ 1."""
    game = tacit.games.matrix.matrix_game([[0.0, 1.0]])
    for p in (0.0, 0.3, 0.7):
        found = tacit.stationarity(game, tacit.MarkovPolicy([[[[p, 1 - p]]]]))
        assert found.epsilon == pytest.approx(p)
    for p in (0.8, 1.0):
        found = tacit.stationarity(game, tacit.MarkovPolicy([[[[p, 1 - p]]]]))
        assert found.epsilon == pytest.approx(math.sqrt(0.5))


def test_mapping_by_hand():
    """‖Proj(π + η∇V) − π‖/η with η = 1/(4·1·2·1·1): within the simplex the centred gradient (−½, ½)."""
    game = tacit.games.matrix.matrix_game([[0.0, 1.0]])
    found = tacit.stationarity(game, tacit.MarkovPolicy([[[[0.5, 0.5]]]]))
    assert found.smoothness == 8
    assert found.mapping == pytest.approx(math.sqrt(0.5))


@pytest.mark.parametrize(
    ("name", "profile"),
    [("stag-hunt", (0, 0)), ("stag-hunt", (1, 1)), ("prisoners-dilemma", (1, 1)), ("chicken", (0, 1))],
)
def test_zero_at_strict_equilibria(name: str, profile: tuple[int, int]):
    game = tacit.make(name, horizon=2)
    plans = [np.full((2, 1), a) for a in profile]
    found = tacit.stationarity(game, tacit.MarkovPolicy.deterministic(plans, game.actions))
    assert (found.epsilon, found.mapping) == (0, 0)


def test_zero_at_a_mixed_equilibrium():
    game = tacit.make("rock-paper-scissors")
    assert tacit.stationarity(game, tacit.MarkovPolicy.uniform(game)).epsilon < 1e-15


@pytest.mark.parametrize("kind", ["random-potential", "random-team"])
@pytest.mark.parametrize("seed", range(8))
def test_stationarity_implies_nash(kind: str, seed: int):
    """Nash gap ≤ D·√(SH)·ε on random potential games with finite D. [Mao2022, lemma:stationarity_implies_nash]

    Sampled: eight games of each kind; a random policy, and iterates on the way to an equilibrium, where ε is small.
    """
    game = tacit.make(kind, agents=2 + seed % 2, states=2, horizon=3, seed=seed)
    D = tacit.mismatch(game).D
    assert math.inf > D
    policy = tacit.MarkovPolicy.random(game, seed=seed)
    for _ in range(4):
        epsilon = tacit.stationarity(game, policy).epsilon
        assert tacit.evaluate(game, policy).gap <= D * math.sqrt(game.states * game.horizon) * epsilon + 1e-9
        for _ in range(20):
            policy, _ = tacit.learners.PGExact().ascend(policy, policy_gradient(game, policy), 0.05)


def test_small_mapping_implies_small_epsilon():
    """‖G(π)‖ ≤ ε gives an ε(ηβ + 1) = 2ε-stationary π⁺. [Mao2022, lemma:gradient_map]"""
    game = tacit.make("random-potential", horizon=3, seed=3)
    policy, eta = tacit.MarkovPolicy.random(game, seed=0), 1 / smoothness_constant(game)
    for _ in range(12):
        moved, mapping = tacit.learners.PGExact().ascend(policy, policy_gradient(game, policy), eta)
        assert mapping == pytest.approx(tacit.stationarity(game, policy).mapping)
        assert tacit.stationarity(game, moved).epsilon <= 2 * mapping + 1e-12
        policy = moved


@pytest.mark.parametrize("kind", ["random-potential", "random-team"])
@pytest.mark.parametrize("sizes", [{"horizon": 1}, {"horizon": 3}, {"agents": 3, "actions": [2, 3, 2], "horizon": 2}])
def test_smoothness_of_the_potential(kind: str, sizes: dict):
    """The Hessian of Φ has norm at most 4·N·A_max·H³ (rewards within [0, 1]). [Mao2022, lemma:smoothness]

    Sampled: two random interior policies for each of two games; the Hessian itself is exact (complex step), column by
    column, and symmetric, as that of a potential is along feasible directions.
    """
    for seed in range(2):
        game = tacit.make(kind, states=2, seed=seed, **sizes)
        bound = 4 * game.agents * max(game.actions) * game.horizon**3
        policy = tacit.MarkovPolicy.random(game, seed=seed)
        probs = [np.array(x) for x in policy.probs]
        columns = []
        for j, own in enumerate(probs):
            for place in np.ndindex(own.shape):
                unit = np.zeros_like(own)
                unit[place] = 1.0
                unit[place[:2]] -= 1 / own.shape[2]  # along the simplex
                moved = [p + 1e-30j * unit if k == j else p for k, p in enumerate(probs)]  # the complex step
                slopes = [g.imag / 1e-30 for g in gradients(game, tables(moved), game.initial).gradients]
                columns.append(np.concatenate([(g - g.mean(axis=2, keepdims=True)).ravel() for g in slopes]))
        hessian = np.array(columns)
        np.testing.assert_allclose(hessian, hessian.T, atol=1e-10)
        norm = float(np.linalg.norm(hessian, 2))
        assert 0 < norm <= bound
        assert smoothness_constant(game) <= bound


def test_the_constant_itself():
    """4·N·A_max·H³, times the span of the rewards: 2 agents, 2 actions, 10 steps, rewards from −2 to 5."""
    game = tacit.make("good-state", horizon=10)
    assert tacit.stationarity(game, tacit.MarkovPolicy.uniform(game)).smoothness == 4 * 2 * 2 * 10**3 * 7


def test_correlated_policies_are_refused():
    with pytest.raises(tacit.TacitError, match="product"):
        tacit.stationarity(tacit.make("stag-hunt"), tacit.MarkovPolicy(np.full((1, 1, 2, 2), 0.25)))
