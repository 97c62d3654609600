"""Centralized learners with stage games: formulas against dense transcriptions, solutions by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stage_games as oracle

import tacit
from tacit.core import generics
from tacit.learners import REGISTRY, World, stage_equilibrium
from tacit.learners.spec import Scale

ACTIONS, STATES, HORIZON = (3, 2), 3, 3
WORLD = World(STATES, np.array(ACTIONS), HORIZON, (0.0, 1.0), Scale(2, STATES, 3, HORIZON, 100))
PENNIES = np.array([[2.0, -1.0], [-1.0, 1.0]])


def solve(payoffs: np.ndarray, kind: str) -> np.ndarray:
    actions, joint = np.array(payoffs.shape[1:]), payoffs[0].size
    scratch = stage_equilibrium.make_scratch(actions, joint)
    scratch.values[:] = payoffs.reshape(len(actions), -1)
    stage_equilibrium.solve(scratch, actions, joint, stage_equilibrium.KINDS.index(kind))
    return scratch.joint.reshape(payoffs.shape[1:])


@pytest.mark.parametrize("kind", ["cce", "ce"])
@pytest.mark.parametrize("actions", [(2, 2), (3, 4), (2, 3, 2)])
def test_stage_games_are_solved_to_the_stated_tolerance(actions: tuple[int, ...], kind: str):
    rng = np.random.default_rng(3)
    for _ in range(3):
        payoffs = rng.normal(size=(len(actions), *actions))
        joint = solve(payoffs, kind)
        assert joint.sum() == pytest.approx(1)
        assert oracle.gain(payoffs, joint, kind) <= stage_equilibrium.TOLERANCE * np.ptp(payoffs) * (1 + 1e-9)


def test_a_product_solves_zero_sum_games_and_pure_equilibria_are_exact():
    rng = np.random.default_rng(1)
    for _ in range(3):
        first = rng.normal(size=(3, 4))
        payoffs = np.stack([first, -first])
        joint = solve(payoffs, "nash")
        np.testing.assert_allclose(joint, np.outer(joint.sum(axis=1), joint.sum(axis=0)), atol=1e-12)
        assert oracle.gain(payoffs, joint, "nash") <= 2 * stage_equilibrium.TOLERANCE * np.ptp(payoffs)
    stag = np.array([[4.0, 1.0], [3.0, 3.0]])
    np.testing.assert_array_equal(solve(np.stack([stag, stag.T]), "nash"), [[1, 0], [0, 0]])  # of largest welfare


@pytest.mark.parametrize("operator", ["nash", "friend", "correlated"])
def test_every_step_of_nash_q_is_the_transcription_s(operator: str):
    params = {"operator": operator, "exploration": 0.3}
    state, rng = REGISTRY.make("nash-q", **params).init(WORLD), np.random.default_rng(7)
    table = oracle.JointQ(ACTIONS, STATES, HORIZON, lambda n: (HORIZON + 1) / (HORIZON + n))
    s, worst = 0, 0.0
    for k in range(150):
        h, s_next = k % HORIZON, int(rng.integers(STATES))
        a = tuple(int(generics.act(state, i, h, s, rng.random())) for i in range(2))
        r = rng.random(2)
        for i in range(2):
            generics.learn(state, i, h, s, a[i], r[i], s_next)
        cell, size = state.cells[h, s, 0], int(np.prod(ACTIONS))
        joint = cell.joint[:size].reshape(ACTIONS)
        table.learn(h, s, a, r, s_next)
        table.revalue(h, s, joint, friend=operator == "friend")
        np.testing.assert_allclose(cell.Q[:, :size].reshape(2, *ACTIONS), table.Q[h, s], atol=1e-9)
        np.testing.assert_allclose(cell.value, table.V[h, s], atol=1e-9)
        if operator == "correlated":
            worst = max(worst, oracle.gain(table.Q[h, s], joint, "ce") / max(np.ptp(table.Q[h, s]), 1e-9))
        s = s_next
    assert worst <= stage_equilibrium.TOLERANCE * 1.01


@pytest.mark.parametrize("kind", ["cce", "ce"])
def test_plans_of_nash_vi_are_the_transcription_s(kind: str):
    params: dict[str, Any] = {"equilibrium": kind, "bonus": 0.1, "correction": 0.02, "iota": 1.5}
    state, rng = REGISTRY.make("nash-vi", **params).init(WORLD), np.random.default_rng(5)
    model = oracle.OptimisticModel(ACTIONS, STATES, HORIZON)
    size = int(np.prod(ACTIONS))
    for _ in range(19):  # plans after every episode, up to 20
        s = int(rng.integers(STATES))
        for h in range(HORIZON):
            s_next = int(rng.integers(STATES))
            a = tuple(int(generics.act(state, i, h, s, rng.random())) for i in range(2))
            r = rng.random(2)
            for i in range(2):
                generics.learn(state, i, h, s, a[i], r[i], s_next)
            model.learn(h, s, a, r, s_next)
            s = s_next
        joints = state.cells["joint"][:HORIZON, :, 0, :size].reshape(HORIZON, STATES, *ACTIONS)
        Q, upper, lower = model.values(joints, 0.1, 0.02, 1.5)
        np.testing.assert_allclose(state.cells["upper"][:, :, 0], upper, atol=1e-9)
        np.testing.assert_allclose(state.cells["lower"][:, :, 0], lower, atol=1e-9)
        for h, s in zip(*np.nonzero(model.seen.sum(axis=(2, 3))), strict=True):
            assert oracle.gain(Q[h, s], joints[h, s], kind) <= 1.01 * stage_equilibrium.TOLERANCE * np.ptp(Q[h, s])


def test_what_they_return_in_games():
    """Seeds are fixed."""
    game = tacit.matrix_game(PENNIES, -PENNIES)
    assert tacit.learn(game, "nash-q", operator="minimax", episodes=1000).gap < 0.05
    assert tacit.learn(game, "nash-vi", equilibrium="nash", episodes=1000).gap < 0.05
    chicken = tacit.make("chicken", horizon=2)
    run = tacit.learn(chicken, "nash-q", operator="correlated", episodes=1500)
    assert not run.candidates["planned"].policy.product
    assert run.gap < 0.1
    team = tacit.make("good-state", discount=0.8)
    best = tacit.solve(team, "optimum").values
    np.testing.assert_allclose(tacit.learn(team, "nash-q", operator="friend", episodes=1000).values, best)


def test_the_returned_policy_is_that_of_the_least_width():
    state, rng = REGISTRY.make("nash-vi", bonus=0.2).init(WORLD), np.random.default_rng(2)
    least, kept = np.inf, None
    for _ in range(15):
        for h in range(HORIZON):
            for i in range(2):
                a = int(generics.act(state, i, h, 0, rng.random()))
                generics.learn(state, i, h, 0, a, float(rng.random()), 0)
        width = (state.cells["upper"] - state.cells["lower"])[0, 0, 0].max()
        if width <= least:
            least, kept = width, state.cells["joint"].copy()
        assert state.clock["width"][0] == pytest.approx(least)
        np.testing.assert_array_equal(state.cells["best"][:HORIZON], kept[:HORIZON])


@pytest.mark.parametrize(
    ("learner", "params", "words"),
    [
        ("nash-q", {"operator": "minimax"}, "rewards sum to a constant"),
        ("nash-vi", {"equilibrium": "nash"}, "rewards sum to a constant"),
        ("nash-q", {"operator": "foe"}, "operator"),
        ("nash-q", {"step": 2.0}, "step"),
        ("nash-vi", {"bonus": -1.0}, "bonus"),
    ],
)
def test_what_they_refuse(learner: str, params: dict[str, Any], words: str):
    with pytest.raises(tacit.TacitError, match=words):
        tacit.learn(tacit.make("chicken"), learner, episodes=10, **params)
