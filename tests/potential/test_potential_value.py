"""The potential's values: differences are the deviator's gains, whatever the path, and its gradient the agents' own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tacit
from tacit.core.elementary import project_each
from tacit.evaluation import policy_gradient, policy_values

GAMES = [
    ("random-potential", {"agents": 2, "states": 2, "actions": [2, 3], "horizon": 4, "seed": 0}),
    ("random-potential", {"agents": 3, "states": 2, "actions": [2, 2, 3], "horizon": 3, "seed": 1}),
    ("random-team", {"agents": 2, "states": 3, "actions": [3, 2], "horizon": 4, "seed": 2}),
    ("random-team", {"agents": 3, "states": 2, "actions": [2, 3, 2], "horizon": 2, "seed": 3}),
    ("chicken", {}),
]


@pytest.fixture(scope="module", params=range(len(GAMES)))
def found(request) -> tacit.evaluation.Potential:
    kind, params = GAMES[request.param]
    return tacit.potential(tacit.make(kind, **params))


def test_differences_are_the_deviators(found):
    """Φ(π'_i, π_-i) − Φ(π) = V_i(π'_i, π_-i) − V_i(π), for random product policies (six for each agent)."""
    game = found.game
    for seed, i in itertools.product(range(6), range(game.agents)):
        policy, other = (tacit.MarkovPolicy.random(game, seed=seed + k) for k in (0, 100))
        moved = tacit.MarkovPolicy([(other if j == i else policy).probs[j] for j in range(game.agents)])
        gain = policy_values(game, moved).initial[i] - policy_values(game, policy).initial[i]
        assert abs(gain) > 1e-6
        assert found.value(moved) - found.value(policy) == pytest.approx(gain, abs=1e-9)


def test_path_independence(found):
    """From one policy to another, agents changing one after the other in any order: the gains add up to the same."""
    game = found.game
    policy, goal = (tacit.MarkovPolicy.random(game, seed=seed) for seed in (7, 8))
    whole = found.value(goal) - found.value(policy)
    for order in itertools.permutations(range(game.agents)):
        total, now = 0.0, list(policy.probs)
        for i in order:
            before = policy_values(game, tacit.MarkovPolicy(now)).initial[i]
            now[i] = goal.probs[i]
            total += policy_values(game, tacit.MarkovPolicy(now)).initial[i] - before
        assert total == pytest.approx(whole, abs=1e-9)


def test_uniform_is_zero(found):
    assert found.value(tacit.MarkovPolicy.uniform(found.game)) == 0


def test_teams_have_the_value_as_potential():
    game = tacit.make("good-state", horizon=5)
    found = tacit.potential(game)
    zero = policy_values(game, tacit.MarkovPolicy.uniform(game)).initial[0]
    for seed in range(5):
        policy = tacit.MarkovPolicy.random(game, seed=seed)
        assert found.value(policy) == pytest.approx(policy_values(game, policy).initial[0] - zero, abs=1e-9)


def test_by_hand():
    """The prisoner's dilemma: defecting pays 2 more against a cooperator, 1 more against a defector."""
    game = tacit.make("prisoners-dilemma")
    found = tacit.potential(game)
    phi = {
        (a, b): found.value(tacit.MarkovPolicy.deterministic([[[a]], [[b]]], game.actions))
        for a, b in itertools.product(range(2), repeat=2)
    }
    assert phi[1, 0] - phi[0, 0] == pytest.approx(2)
    assert phi[1, 1] - phi[0, 0] == pytest.approx(3)
    assert phi[0, 1] == pytest.approx(phi[1, 0])
    assert sum(phi.values()) == pytest.approx(0)  # Φ is affine in each agent's policy, and zero at uniform


def test_independent_ascent_is_ascent_on_the_potential(found):
    """The step of all agents on their own values is the projected step on Φ. [Mao2022, lemma:centralized]

    Sampled: one random interior policy; Φ's gradient along every feasible unit direction e_a − 1/A by differences.
    """
    game = found.game
    policy = tacit.MarkovPolicy.random(game, seed=11)
    own = policy_gradient(game, policy).gradients
    step, eta = 1e-5, 0.3
    slopes = []
    for i in range(game.agents):
        slope = np.zeros_like(own[i])
        for place in np.ndindex(own[i].shape):
            direction = np.zeros(game.actions[i])
            direction[place[2]] = 1.0
            direction -= policy.probs[i][place[:2]]  # towards the vertex, and away from it: feasible both ways
            ends = []
            for sign in (1, -1):
                probs = [x.copy() for x in policy.probs]
                probs[i][place[:2]] += sign * step * direction
                ends.append(found.value(tacit.MarkovPolicy(probs)))
            slope[place] = (ends[0] - ends[1]) / (2 * step)
        slopes.append(slope)
        mean = (own[i] * policy.probs[i]).sum(axis=2, keepdims=True)
        np.testing.assert_allclose(slope, own[i] - mean, atol=1e-8)
    together = [project_each(x + eta * slope) for x, slope in zip(policy.probs, slopes, strict=True)]
    alone, _ = tacit.learners.PGExact().ascend(policy, policy_gradient(game, policy), eta)
    for one, other in zip(together, alone.probs, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-7)
