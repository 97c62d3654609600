"""With one step there is nothing to learn about the hidden index: the upper bound is the exact gap of the mixture."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from answers import learn_average

import tacit

GAMES = {
    "chicken": ("chicken", {}),
    "shapley": ("shapley", {}),
    "matrix-team": ("matrix-team", {}),
    "three agents": ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 2, "horizon": 1, "seed": 3}),
}
LEARNERS = {
    "stage cce": ("stage-v-cce", {}),
    "stage ce": ("stage-v-ce", {}),
    "rate cce": ("v-learning", {}),
    "rate ce": ("v-learning", {"equilibrium": "ce"}),
}


def mixture(game: tacit.TabularGame, policy: tacit.policies.RecordedPolicy, s: int) -> np.ndarray:
    """The joint distribution [A_1, …, A_N] that π̄ plays in state s: the mean over k of what it plays for each k."""
    joints = np.zeros(game.actions)
    visits = np.flatnonzero(policy.visited[:, 0] == s)
    products = []
    for k in visits:
        rows = [policy.record.distributions(i, [k], 0)[0] for i in range(game.agents)]
        product = rows[0]
        for own in rows[1:]:
            product = np.multiply.outer(product, own)
        products.append(product)
    for k in range(policy.episodes):
        t = int((visits < k).sum())
        if policy.rule == "rate":
            weights = [2 / (1 + j) * np.prod([1 - 2 / (1 + m) for m in range(j + 1, t + 1)]) for j in range(1, t + 1)]
            chosen = list(zip(weights, products, strict=False))
        else:
            begin, length, chosen = 0, 1, []
            while begin + length <= t:  # for one step the stages double
                chosen = [(1 / length, product) for product in products[begin : begin + length]]
                begin, length = begin + length, 2 * length
        if not chosen:
            chosen = [(1.0, np.full(game.actions, 1 / game.joint_actions))]
        joints += sum(weight * product for weight, product in chosen)
    return joints / policy.episodes


def gain(game: tacit.TabularGame, joint: np.ndarray, s: int, i: int, kind: str) -> float:
    """Best gain of agent i, over all fixed actions or all swaps of its own."""
    R, size = game.rewards[i, 0, s], game.actions[i]
    stay = float((joint * R).sum())
    if kind == "cce":
        plans = [[a] * size for a in range(size)]
    else:
        plans = [list(plan) for plan in itertools.product(range(size), repeat=size)]
    return max(float((joint * np.take(R, plan, axis=i)).sum()) for plan in plans) - stay


CASES = [(learner, name) for name in GAMES for learner in LEARNERS if name != "three agents" or "stage" in learner]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(("learner", "name"), CASES)
def test_the_bound_is_exact(learner: str, name: str):
    kind, params = GAMES[name]
    game = tacit.make(kind, **params)
    which, settings = LEARNERS[learner]
    run = learn_average(game, which, episodes=70, seed=2, bonus=0.05, **settings)
    joints = [mixture(game, run.policy, s) for s in range(game.states)]
    assert all(abs(joint.sum() - 1) < 1e-12 for joint in joints)
    for i in range(game.agents):
        exact = sum(p * gain(game, joints[s], s, i, run.gaps.kind) for s, p in enumerate(game.initial))
        value = sum(p * (joints[s] * game.rewards[i, 0, s]).sum() for s, p in enumerate(game.initial))
        assert run.values[i] == pytest.approx(value, abs=1e-9)
        assert run.gaps.upper[i] == pytest.approx(exact, abs=1e-9)
    assert run.gaps.size == f"= {run.gap:.4g}"
    assert tacit.evaluate(game, run.policy, gap=run.gaps.kind).exact


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("kind", ["cce", "ce"])
def test_the_evaluation_of_the_mixture_agrees(kind: str):
    """The same through tacit's own exact evaluation of the correlated Markov policy."""
    game = tacit.make("chicken")
    run = learn_average(game, f"stage-v-{kind}", episodes=100, seed=1, bonus=0.05)
    markov = tacit.MarkovPolicy(mixture(game, run.policy, 0)[None, None])
    found = tacit.evaluate(game, markov, gap=kind)
    np.testing.assert_allclose(found.gaps, run.gaps.upper, atol=1e-9)
    np.testing.assert_allclose(found.values, run.values, atol=1e-9)
