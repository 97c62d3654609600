"""Optimistic, Q-ascending and two-timescale gradients against transcriptions, step by step, and what they reach."""

from __future__ import annotations

from typing import Any

import gradient_play as oracle
import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.learners import REGISTRY, Mixed, World
from tacit.learners.spec import Scale

ACTIONS, STATES, HORIZON, GAMMA = (3, 2), 3, 3, 0.8
PENNIES = np.array([[2.0, -1.0], [-1.0, 1.0]])

WORLDS = {
    "horizon": World(STATES, np.array(ACTIONS), HORIZON, (0.0, 1.0), Scale(2, STATES, 3, HORIZON, 100)),
    "endless": World(STATES, np.array(ACTIONS), 1, (0.0, 1.0), Scale(2, STATES, 3, 5, 100), discount=GAMMA),
}


def batches(make: Any, **more: Any) -> Any:
    def transcribe(i: int, kind: str) -> Any:
        length = {"gamma": GAMMA, "endless": True} if kind == "endless" else {}
        return make(ACTIONS[i], HORIZON if kind == "horizon" else 1, **more, **length)

    return transcribe


def reinforce(i: int, kind: str) -> Any:
    return oracle.Reinforce(ACTIONS[i], HORIZON, epsilon=0.2, eta=0.01 if i == 1 else 0.04)


CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "ogda": (
        {"gradient": "sampled", "eta": 0.3, "batch": 5, "exploration": 0.2},
        batches(oracle.Optimistic, batch=5, epsilon=0.2, eta=0.3),
    ),
    "pg-q": (
        {"gradient": "sampled", "eta": 0.2, "batch": 4, "exploration": 0.2},
        batches(oracle.Returns, batch=4, epsilon=0.2, eta=0.2),
    ),
    "pg-two-timescale": ({"eta": 0.01, "ratio": 4.0, "slow": 1, "exploration": 0.2}, reinforce),
}


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "horizon") for name in CASES), ("ogda", "endless")], ids=lambda word: word
)
def test_every_step_is_the_transcription_s(name: str, kind: str):
    params, transcribe = CASES[name]
    world, rng = WORLDS[kind], np.random.default_rng(7)
    state, agents = REGISTRY.make(name, **params).init(world), [transcribe(i, kind) for i in range(2)]
    out, s = np.zeros(4), 0
    for k in range(600):
        h, s_next = k % world.horizon, int(rng.integers(STATES))
        for i, agent in enumerate(agents):
            u, r = rng.random(), rng.random()
            a = int(generics.act(state, i, h, s, u))
            assert a == agent.act(h, s, u), k
            generics.learn(state, i, h, s, a, r, s_next)
            agent.learn(h, s, a, r, s_next)
            for there in range(STATES):
                generics.policy(state, i, h, there, out)
                np.testing.assert_allclose(out[: ACTIONS[i]], agent.policy(h, there), atol=1e-9, err_msg=f"{k}")
        s = s_next
    assert any(np.ptp(agent.policy(0, there)) > 0.2 for agent in agents for there in range(STATES))


def discounted(rng: np.random.Generator, S: int = 4, A: int = 3, B: int = 2) -> tuple[np.ndarray, np.ndarray]:
    r, p = rng.random((S, A, B)), rng.random((S, A, B, S))
    return r, p / p.sum(axis=3, keepdims=True)


def test_exact_iterates_are_those_of_the_published_recursion():
    rng = np.random.default_rng(5)
    r, p = discounted(rng)
    game = tacit.TabularGame(p[None], np.stack([-r, r])[:, None], np.ones(4) / 4, discount=0.9)
    start = [rng.dirichlet(np.ones(size), (1, 4)) for size in (3, 2)]
    eta = 0.3
    low, high = game.reward_range
    run = tacit.learn(game, "ogda", episodes=60, eta=eta * (high - low), start=tacit.MarkovPolicy(start))
    *_, (x, y) = oracle.optimistic(r, p, 0.9, start[0][0], start[1][0], 60, eta)
    np.testing.assert_allclose(run.last.probs[0][0], x, atol=1e-9)
    np.testing.assert_allclose(run.last.probs[1][0], y, atol=1e-9)


def test_the_theorem_s_step_and_horizon():
    """η = √((1 − γ)^5/S)/10⁴, H = 2/(1 − γ). [Wei et al. 2021, Alg. 1, Thm. 1]"""
    game = tacit.make("good-state", discount=0.9)
    run = tacit.learn(game, "ogda", episodes=2, preset="theory")
    assert run.params["eta"] == pytest.approx(1e-4 * np.sqrt(0.1**5 / game.states))
    step = tacit.learn(game, "pg-q", episodes=2, preset="theory").params["eta"]  # [Ding et al. 2022, Thm. 1]
    assert step == pytest.approx(0.1**4 / (8 * game.states**3 * 2 * 2) / np.ptp(game.reward_range))
    state = REGISTRY.make("ogda", eta="theory", gradient="sampled").init(WORLDS["horizon"])
    assert state.effective_horizon == 2 * HORIZON


def test_a_resumed_exact_run_remembers_critic_and_points():
    from tacit.engine.exact import ExactEngine

    game = tacit.make("random-general-sum", states=3, horizon=3, seed=2)
    engines = [ExactEngine(game, REGISTRY.make("ogda"), episodes=20, seed=0) for _ in range(3)]
    engines[0].advance(20)
    engines[1].advance(11)
    engines[2].restore({key: array.copy() for key, array in engines[1].snapshot().items()})
    engines[2].advance(9)
    for one, other in zip(engines[0].iterate.probs, engines[2].iterate.probs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_last_iterate_converges_where_plain_gradients_circle():
    """A zero-sum game on a finite horizon without a deterministic equilibrium."""
    first = np.stack([PENNIES, -PENNIES])  # [S, 2, 2]
    rewards = np.stack([first, -first])[:, None]
    moves = np.random.default_rng(3).dirichlet(np.ones(2), (1, 2, 2, 2))
    game = tacit.TabularGame(moves, rewards, np.ones(2) / 2, horizon=3)
    gaps = {}
    for name, eta in (("ogda", 0.5), ("pg-exact", 0.05)):
        run = tacit.learn(game, name, episodes=800, eta=eta, start="random", certify=False)
        gaps[name] = tacit.evaluate(game, run.last).gap
    assert gaps["ogda"] < 1e-6
    assert gaps["pg-exact"] > 0.3


def test_averaged_q_climbs_where_no_play_leads():
    """Gradients weigh states by their visits; Q̄ does not: an unvisited state improves too."""
    moves = np.zeros((1, 2, 2, 2, 2))
    moves[..., 0] = 1.0
    rewards = np.zeros((2, 1, 2, 2, 2))
    rewards[:, :, 1, 1, 1] = 1.0
    game = tacit.TabularGame(moves, rewards, [1.0, 0.0], horizon=2)
    runs = {name: tacit.learn(game, name, episodes=10, eta=0.5).last for name in ("pg-q", "pg-exact")}
    assert runs["pg-q"].probs[0][0, 1, 1] > 0.9
    assert runs["pg-exact"].probs[0][0, 1, 1] == 0.5


def test_from_play_they_come_near_an_equilibrium():
    """Seeds are fixed; the first policy's gap is 0.9."""
    game, start = tacit.matrix_game(PENNIES, -PENNIES), tacit.MarkovPolicy([[[[0.9, 0.1]]], [[[0.2, 0.8]]]])
    play = {"gradient": "sampled", "batch": 1000, "eta": 0.4, "exploration": 0.02, "start": start, "points": 2}
    assert tacit.learn(game, "ogda", episodes=200_000, **play).gap < 0.1
    team = tacit.make("good-state")
    assert tacit.learn(team, "pg-q", gradient="sampled", episodes=5000).gap < 0.1


def test_the_slow_agent_descends_on_its_best_response():
    game = tacit.matrix_game(PENNIES, -PENNIES)
    run = tacit.learn(
        game, "pg-two-timescale", gradient="exact", eta=0.002, ratio=100, episodes=2000, start="random", points=2
    )
    assert tacit.evaluate(game, run.last).gaps[1] < 0.1  # what the fast agent could gain against the slow one


def test_each_agent_of_a_team_has_its_step():
    spec = REGISTRY.make("pg-two-timescale", eta=0.01, ratio=4.0)
    slow, fast = Mixed((spec, spec), ("slow", "fast")).init(WORLDS["horizon"])
    assert (slow.agents["eta"], fast.agents["eta"]) == (0.01, 0.04)


@pytest.mark.parametrize(
    ("learner", "params", "words"),
    [
        ("pg-two-timescale", {}, "rewards sum to a constant"),
        ("pg-two-timescale", {"ratio": 0.5}, "ratio"),
        ("pg-two-timescale", {"slow": 2}, "slow"),
        ("ogda", {"eta": -1}, "eta must be"),
        ("ogda", {"batch": 0}, "batch"),
        ("ogda", {"steps": "shared"}, "for sampled gradients"),
        ("pg-q", {"eta": "theory", "gradient": "sampled"}, "eta must be"),
        ("pg-q", {"gradient": "guessed"}, "gradient"),
    ],
)
def test_what_they_refuse(learner: str, params: dict[str, Any], words: str):
    with pytest.raises(tacit.TacitError, match=words):
        tacit.learn(tacit.make("chicken"), learner, episodes=10, **params)
