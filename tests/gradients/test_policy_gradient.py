"""The gradient formula and the lemmas around it, on random small games. [Mao2022, app:mpg]

Sampled in each: the games and random interior product policies named by seeds below; nothing is Monte-Carlo.
"""

from __future__ import annotations

import numpy as np
import pytest
from enumeration import centred, full, trajectories, value

import tacit
from tacit.evaluation import occupancy, policy_gradient, policy_values

SIZES = [
    {"agents": 2, "states": 2, "actions": [2, 3], "horizon": 3},
    {"agents": 3, "states": 2, "actions": [2, 2, 2], "horizon": 2},
    {"agents": 2, "states": 3, "actions": [3, 2], "horizon": 2, "stationary": True},
]


def case(params: dict, seed: int) -> tuple[tacit.TabularGame, tacit.MarkovPolicy]:
    game = tacit.make("random-general-sum", seed=seed, **params)
    return game, tacit.MarkovPolicy.random(game, seed=seed)


@pytest.mark.parametrize("params", SIZES)
def test_central_differences(params: dict):
    """∂V_i along random feasible directions; V_i has degree H in agent i's policy, so the step is small."""
    game, policy = case(params, 1)
    found, rng, step = policy_gradient(game, policy), np.random.default_rng(0), 1e-4
    for i in range(game.agents):
        for _ in range(4):
            u = centred(rng.standard_normal(found.gradients[i].shape)) * policy.probs[i].min()
            ends = []
            for sign in (1, -1):
                probs = full(game, policy)
                probs[i] += sign * step * u
                ends.append(policy_values(game, tacit.MarkovPolicy(probs)).initial[i])
            slope = (ends[0] - ends[1]) / (2 * step)
            assert slope == pytest.approx(float((found.gradients[i] * u).sum()), abs=1e-8)


@pytest.mark.parametrize("params", SIZES)
def test_enumeration(params: dict):
    """d_h(s)·E[Q_i(s, a, ·)] is the sum over trajectories through (h, s, a) of what is earned from step h on."""
    game, policy = case(params, 2)
    probs, found = full(game, policy), policy_gradient(game, policy)
    for i in range(game.agents):
        through = np.zeros_like(found.gradients[i])
        for path in trajectories(game, probs):
            for h, (s, joint) in enumerate(zip(path.states, path.actions, strict=True)):
                ahead = sum(r[i] for r in path.rewards[h:])
                through[h, s, joint[i]] += path.chance * ahead / probs[i][h, s, joint[i]]
        np.testing.assert_allclose(found.gradients[i], through, atol=1e-12)
        assert found.V[i, 0] @ game.initial == pytest.approx(value(game, probs, i))


def test_an_unreached_state_has_no_gradient():
    game = tacit.make("good-state", horizon=3, slip=0.0)
    stay = tacit.MarkovPolicy.deterministic([np.zeros((3, 2), int), np.ones((3, 2), int)], game.actions)
    found = policy_gradient(game, stay)
    assert (found.occupancy[:, 1] == 0).all()
    assert all((own[:, 1] == 0).all() for own in found.gradients)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("params", SIZES)
def test_performance_difference(params: dict, seed: int):
    """V_i(π) − V_i(π') = Σ_h E_{s ~ d^π} E_{a ~ π}[A_i^{π'}(s, a)] for π, π' that differ in agent i alone.

    [Mao2022, lemma:performance_diff]
    """
    game, policy = case(params, seed)
    other = full(game, tacit.MarkovPolicy.random(game, seed=seed + 50))
    for i in range(game.agents):
        probs = full(game, policy)
        probs[i] = other[i]
        moved = tacit.MarkovPolicy(probs)
        base = policy_values(game, policy)
        d = occupancy(game, moved)
        gain = 0.0
        for h in range(game.horizon):
            advantage = base.Q(i, h) - base.V[i, h].reshape(-1, *[1] * game.agents)
            gain += float((d[h].reshape(-1, *[1] * game.agents) * moved.joint(h) * advantage).sum())
        difference = policy_values(game, moved).initial[i] - base.initial[i]
        assert gain == pytest.approx(difference, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("params", SIZES)
def test_gradient_domination(params: dict, seed: int):
    """V_i(π*) − V_i(π) ≤ ‖d^{π*}/d^π‖_∞·max_π̄ (π̄ − π)·∇_i V_i(π), π* with agent i's best response.

    [Mao2022, lemma:gradient_domination]; it needs no potential.
    """
    game, policy = case(params, seed)
    found, d = policy_gradient(game, policy), occupancy(game, policy)
    for i in range(game.agents):
        probs = full(game, policy)
        probs[i] = np.eye(game.actions[i])[tacit.evaluation.best_response(game, policy, i).actions]
        moved = tacit.MarkovPolicy(probs)
        ratio = float((occupancy(game, moved) / d).max())
        slope = found.gradients[i]
        linear = float((slope.max(axis=2) - (slope * policy.probs[i]).sum(axis=2)).sum())
        gain = policy_values(game, moved).initial[i] - policy_values(game, policy).initial[i]
        assert gain == pytest.approx(tacit.evaluate(game, policy).gaps[i], abs=1e-12)
        assert 0 <= gain <= ratio * linear + 1e-12
