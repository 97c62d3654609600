"""Steps that share what is played: against tables filled by hand, and with certificates that hold as ever."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.environments.exported import GameEnv
from tacit.learners import REGISTRY

H, S, A = 6, 3, 2


def alone(learner: str, **params: Any) -> tacit.Agent:
    return tacit.agent(learner, states=S, actions=A, horizon=H, reward_range=(0, 1), seed=5, **params)


def test_a_shared_table_by_hand():
    """Q-learning with one table for all steps."""
    agent, Q = alone("q-independent", steps="shared", step=0.5), np.zeros((S, A))
    rng = np.random.default_rng(0)
    for _ in range(60):
        s = int(rng.integers(S))
        for h in range(H):
            a, r, s_next = int(rng.integers(A)), float(rng.random()), int(rng.integers(S))
            agent.learn(h, s, a, r, s_next)
            Q[s, a] += 0.5 * (r + (0.0 if h == H - 1 else Q[s_next].max()) - Q[s, a])
            s = s_next
    greedy = (Q.max(axis=1, keepdims=True) == Q).astype(float)
    np.testing.assert_array_equal(agent.policy, np.broadcast_to(greedy, (H, S, A)))


def test_a_shared_gradient_is_the_sum_over_steps(interpreted):
    """One episode of the sampled natural gradient, and of STORM, that comes back to a state."""
    path = [(0, 1.0), (1, 0.0), (0, 0.5), (2, 0.0), (0, 0.25), (1, 1.0)]  # states and rewards
    natural, storm = (
        alone("npg", gradient="sampled", eta=0.1, steps="shared"),
        alone("pg-storm", eta=0.01, steps="shared"),
    )
    logits, direction, actions = np.zeros((S, A)), np.zeros((S, A)), []
    to_go, total = np.cumsum([r for _, r in path][::-1])[::-1], sum(r for _, r in path)
    for h, (s, r) in enumerate(path):
        s_next = path[h + 1][0] if h < H - 1 else None
        a = natural.act(h, s)
        natural.learn(h, s, a, r, s_next)
        actions.append(a)
        b = storm.act(h, s)
        storm.learn(h, s, b, r, s_next)
        direction[s, b] += total / 0.5
    earlier: list[list[float]] = [[] for _ in range(S)]  # returns of the visits so far, the last step first
    for (s, _), a, R in reversed(list(zip(path, actions, to_go, strict=True))):
        logits[s, a] += 0.1 * (R - np.mean(earlier[s])) / 0.5 if earlier[s] else 0.0
        earlier[s].append(R)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(natural.policy, np.broadcast_to(expected, (H, S, A)), atol=1e-12)
    moved = 0.5 + 0.01 * (direction - direction.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(storm.policy, np.broadcast_to(moved, (H, S, A)), atol=1e-12)
    assert np.abs(direction).max() > total / 0.5  # some state had an action twice


@pytest.mark.usefixtures("interpreted")
def test_certificates_and_exact_gaps_hold_where_steps_share():
    game = tacit.make("random-general-sum", actions=[2, 3], states=3, horizon=3, seed=4, stationary=True)
    run = tacit.learn(game, "adaptive-v-cce", episodes=300, steps="shared")
    assert run.params["steps"] == "shared"
    assert (run.last.probs[0] == run.last.probs[0][:1]).all()
    again = tacit.evaluate(game, run.candidates["average"].policy, gap="cce")
    np.testing.assert_allclose(run.candidates["average"].gaps.upper, again.gaps, atol=1e-9)
    assert run.candidates["last"].gap == pytest.approx(tacit.evaluate(game, run.last).gap)


def test_values_stay_by_step():
    """One state, one action, reward 1: V_h is what is left, though all steps share the bandit."""
    agent = tacit.agent(
        "adaptive-v-cce", states=1, actions=1, horizon=4, reward_range=(0, 1), steps="shared", optimism=0.0
    )
    for _ in range(20):
        for h in range(4):
            agent.learn(h, 0, agent.act(h, 0), 1.0, 0)
    assert agent.state.cells["value"][:, 0, 0].tolist() == [4.0, 3.0, 2.0, 1.0]


@pytest.mark.usefixtures("interpreted")
def test_an_environment_and_the_loop_give_the_same_bits_where_steps_share():
    game = tacit.make("good-state", horizon=4)
    inside = tacit.learn(game, "q-independent", episodes=100, seed=3, steps="shared")
    there = tacit.learn(GameEnv(game), "q-independent", episodes=100, seed=3, steps="shared")
    np.testing.assert_array_equal(inside.reward, there.reward)
    assert all((own == own[:1]).all() for own in there.last.probs)


@pytest.mark.parametrize(
    ("learner", "params", "told"),
    [
        ("adaptive-v-cce", {"steps": "all"}, "no steps 'all'; known: shared"),
        ("stage-v-cce", {"steps": "shared"}, "has no parameter .steps."),
        ("npg", {"steps": "shared"}, "sampled gradients"),
        ("model-independent", {"steps": "shared"}, "has no parameter 'steps'"),
    ],
)
def test_what_cannot_share_says_so(learner: str, params: dict[str, Any], told: str):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.learn(tacit.make("chicken"), learner, episodes=10, **params)


def test_runs_that_say_nothing_of_steps_are_named_as_before():
    """The hash of a run holds all parameters but those that are None."""
    having = [name for name in REGISTRY if "steps" in REGISTRY.parameters(name)]
    assert {"adaptive-v-cce", "v-learning", "pg-adaptive", "q-independent"} <= set(having)
    assert all(REGISTRY.make(name).steps is None for name in having if not name.startswith("model"))
