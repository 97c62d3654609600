"""Q-learners of the literature against transcriptions, step by step; what they refuse, and what they find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import q_learners as oracle

import tacit
from tacit.core import generics
from tacit.engine.fused import FusedEngine
from tacit.evaluation import uniform_gap
from tacit.learners import REGISTRY, World
from tacit.learners.q_phases import hash_uniform
from tacit.learners.spec import Scale

ACTIONS = (3, 2)
STATES, HORIZON, GAMMA = 3, 3, 0.8
REWARDS = (-1.0, 2.0)

#: What agents know: a finite horizon, play without resets, and stretches whose last state is "over".
WORLDS = {
    "horizon": World(STATES, np.array(ACTIONS), HORIZON, REWARDS, Scale(2, STATES, 3, HORIZON, 100)),
    "endless": World(STATES, np.array(ACTIONS), 1, REWARDS, Scale(2, STATES, 3, 1, 100), discount=GAMMA),
    "stretches": World(STATES, np.array(ACTIONS), HORIZON, REWARDS, Scale(2, STATES, 3, 3, 100), continues=GAMMA),
}


def distributed(A: int, kind: str) -> Any:
    more = {"low": REWARDS[0], "epsilon": 0.3, "over": STATES - 1 if kind == "stretches" else -1}
    return oracle.Distributed(A, HORIZON, 1.0 if kind == "horizon" else GAMMA, resets=kind == "horizon", **more)


def plain(make: Any, **more: Any) -> Any:
    def made(A: int, kind: str) -> Any:
        return make(A, HORIZON, GAMMA if kind == "endless" else 1.0, resets=kind != "endless", **more)

    return made


def smoothed(**more: Any) -> Any:
    def made(A: int, kind: str) -> Any:
        over = STATES - 1 if kind == "stretches" else -1
        return plain(oracle.Smoothed, over=over, tau=0.1 * (REWARDS[1] - REWARDS[0]), **more)(A, kind)

    return made


def phases(**more: Any) -> Any:
    return plain(oracle.Phases, S=STATES, T=5, rho=0.4, inertia=0.3, power=0.7, pick=hash_uniform, **more)


#: For each learner with parameters: its transcription, and the worlds in which they are compared.
CASES: dict[str, tuple[str, dict[str, Any], Any]] = {
    "q-independent decay": (
        "q-independent",
        {"step": 0.3, "exploration": 0.9, "decay": 0.01},
        plain(oracle.Independent, alpha=0.3, first=0.9, decay=0.01),
    ),
    "q-independent Boltzmann": (
        "q-independent",
        {"step": 0.3, "temperature": 2.0, "decay": 0.01},
        plain(oracle.Independent, alpha=0.3, first=2.0, decay=0.01, boltzmann=True),
    ),
    "q-distributed": ("q-distributed", {"exploration": 0.3}, distributed),
    "q-hysteretic": (
        "q-hysteretic",
        {"step": 0.4, "slow": 0.1, "exploration": 0.3},
        plain(oracle.Hysteretic, alpha=0.4, beta=0.1, temperature=0.0, epsilon=0.3),
    ),
    "q-hysteretic lenient": (
        "q-hysteretic",
        {"step": 0.4, "leniency": 1.5, "exploration": 0.3},
        plain(oracle.Hysteretic, alpha=0.4, beta=0.1, temperature=1.5, epsilon=0.3),
    ),
    "wolf-phc": (
        "wolf-phc",
        {"step": 0.3, "win": 0.05, "lose": 0.15, "exploration": 0.2},
        plain(oracle.WoLF, alpha=0.3, win=0.05, lose=0.15, epsilon=0.2),
    ),
    "wolf-phc falling rates": (
        "wolf-phc",
        {"step": 0.3, "win": 0.05, "lose": 0.15, "exploration": 0.2, "step_visits": 20.0, "policy_visits": 40.0},
        plain(oracle.WoLF, alpha=0.3, win=0.05, lose=0.15, epsilon=0.2, alpha_visits=20.0, delta_visits=40.0),
    ),
    "q-smoothed": (
        "q-smoothed",
        {"rule": "slow-values", "fast": 0.6, "slow": 0.8, "cooling": 0.0, "log_cooling": 0.2, "temperature": 0.1},
        smoothed(rule="slow-values", fast=0.6, slow=0.8, cooling=0.2),
    ),
    "q-smoothed inner loop": (
        "q-smoothed",
        {"rule": "inner-loop", "fast": 0.6, "ratio": 0.4, "inner": 7, "temperature": 0.1},
        smoothed(rule="inner-loop", fast=0.6, ratio=0.4, inner=7),
    ),
    "q-smoothed slow policy": (
        "q-smoothed",
        {"rule": "slow-policy", "fast": 0.5, "slow": 0.9, "temperature": 0.1, "cooling": 0.3},
        smoothed(rule="slow-policy", fast=0.5, slow=0.9, power=0.3),
    ),
    "q-phases": (
        "q-phases",
        {"phase": 5, "exploration": 0.4, "inertia": 0.3, "power": 0.7, "tolerance": 0.05},
        phases(delta=0.05 * (REWARDS[1] - REWARDS[0])),
    ),
    "q-phases aspiration": (
        "q-phases",
        {"phase": 5, "exploration": 0.4, "inertia": 0.3, "power": 0.7}
        | {"aspiration": 4, "slack": 0.1, "content": 0.1, "discontent": 0.6},
        phases(delta=0.0, memory=4, slack=0.1 * (REWARDS[1] - REWARDS[0]), happy=0.1, sad=0.6),
    ),
}


#: Independent learning without resets breaks ties otherwise, and has a test of its own (tests/engine/test_endless.py).
PAIRS = [(case, kind) for case in CASES for kind in WORLDS if (CASES[case][0], kind) != ("q-independent", "endless")]


@pytest.mark.parametrize(("case", "kind"), PAIRS)
def test_every_step_is_the_transcription_s(case: str, kind: str):
    """The transcriptions know stretches as a discounted game (q-distributed), or as a finite horizon."""
    name, params, transcribe = CASES[case]
    if kind == "stretches":
        params = {**params, "steps": "shared"} if case == "q-distributed" else params
    world, rng = WORLDS[kind], np.random.default_rng(7)
    state = REGISTRY.make(name, **params).init(world)
    agents = [transcribe(A, kind) for A in ACTIONS]
    out, s = np.zeros(4), 0
    for k in range(400):
        h, s_next = k % world.horizon, int(rng.integers(STATES))
        for i, agent in enumerate(agents):
            u, r = rng.random(), float(rng.choice([-1.0, 0.0, 0.5, 2.0]))
            a = int(generics.act(state, i, h, s, u))
            assert a == agent.act(0 if kind == "stretches" and case == "q-distributed" else h, s, u), k
            generics.learn(state, i, h, s, a, r, s_next)
            agent.learn(h, s, a, r, s_next, u)
            for there in range(STATES):
                generics.policy(state, i, h, there, out)
                step = 0 if kind == "stretches" and case == "q-distributed" else h
                np.testing.assert_allclose(out[: ACTIONS[i]], agent.policy(step, there), atol=1e-9, err_msg=f"{k}")
        s = s_next


def test_the_average_policy_is_the_mean_of_the_iterates():
    spec, rng = REGISTRY.make("wolf-phc", win=0.05, lose=0.1), np.random.default_rng(1)
    state, agent = (
        spec.init(WORLDS["horizon"]),
        plain(oracle.WoLF, alpha=0.1, win=0.05, lose=0.1, epsilon=0.05)(3, "horizon"),
    )
    out = np.zeros(4)
    for _ in range(300):
        u, r, s = rng.random(), rng.random(), int(rng.integers(STATES))
        a = int(generics.act(state, 0, 1, s, u))
        generics.learn(state, 0, 1, s, a, r, 0)
        agent.learn(1, s, a, r, 0, u)
    generics.average_policy(state, 0, 1, 2, out)
    np.testing.assert_allclose(out[:3], agent.mean[1, 2], atol=1e-9)


def test_distributed_agents_find_the_best_joint_action_of_a_climbing_team():
    """Around the optimum are the worst rewards; independent learners go elsewhere."""
    payoff = np.array([[11.0, -30.0, 0.0], [-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]])
    team = tacit.matrix_game(payoff, payoff)
    for seed in range(3):
        assert tacit.learn(team, "q-distributed", episodes=2000, seed=seed, exploration=0.5).values[0] == 11


def zero_sum(**length: Any) -> tacit.TabularGame:
    rng = np.random.default_rng(0)
    moves, rewards = rng.dirichlet(np.ones(3), (1, 3, 3, 3)), rng.random((1, 1, 3, 3, 3))
    return tacit.TabularGame(moves, np.concatenate([rewards, 1 - rewards]), 0, **length)


@pytest.mark.parametrize(
    ("params", "budget", "length"),
    [
        ({}, {"episodes": 20_000}, {"horizon": 3}),
        pytest.param({}, {"periods": 60_000}, {"discount": 0.8}, marks=pytest.mark.slow),
        ({"rule": "inner-loop"}, {"episodes": 20_000}, {"horizon": 3}),
        pytest.param({"rule": "inner-loop"}, {"periods": 60_000}, {"discount": 0.8}, marks=pytest.mark.slow),
        ({"rule": "slow-policy"}, {"episodes": 20_000}, {"horizon": 3}),
    ],
)
def test_smoothed_responses_come_near_an_equilibrium_of_a_zero_sum_game(
    params: dict[str, Any], budget: dict[str, Any], length: dict[str, Any]
):
    """Up to what their temperatures smooth away."""
    game = zero_sum(**length)
    run = tacit.learn(game, "q-smoothed", points=2, **params, **budget)
    assert run.gap < 0.25 * uniform_gap(game)


@pytest.mark.parametrize("temperature", [1.0, 0.3])
def test_a_fixed_temperature_ends_in_its_logit_equilibrium(temperature: float):
    """The gap that remains is that of the equilibrium, not of the learner: here it is found from the tables."""
    game = zero_sum(horizon=3)
    params = {"rule": "slow-values", "temperature": temperature, "cooling": 0.0}
    run = tacit.learn(game, "q-smoothed", episodes=100_000, points=2, certify=False, **params)
    low, high = game.reward_range
    exact = logit_equilibrium(game, temperature * (high - low))
    assert tacit.evaluate(game, run.last).gap == pytest.approx(tacit.evaluate(game, exact).gap, rel=0.05)
    for mine, probs in zip(run.last.probs, exact.probs, strict=True):
        np.testing.assert_allclose(mine[0, 0], probs[0, 0], atol=0.02)  # the one first state
        np.testing.assert_allclose(mine[1:], probs[1:], atol=0.02)


def logit_equilibrium(game: tacit.TabularGame, tau: float) -> tacit.MarkovPolicy:
    """Backward: at each step and state the fixed point of both softmax responses, by small steps towards them."""
    S, P, R = game.states, np.asarray(game.transitions), np.asarray(game.rewards)
    V, tables = np.zeros((2, S)), [np.zeros((game.horizon, S, A)) for A in game.actions]
    for h in reversed(range(game.horizon)):
        q = R[:, min(h, R.shape[1] - 1)] + np.einsum("sabt,it->isab", P[min(h, len(P) - 1)], V)
        x, y = (np.full((S, A), 1 / A) for A in game.actions)
        for _ in range(4000):
            toward = [softmax(np.einsum("sab,sb->sa", q[0], y), tau), softmax(np.einsum("sab,sa->sb", q[1], x), tau)]
            x, y = x + 0.02 * (toward[0] - x), y + 0.02 * (toward[1] - y)
        assert max(np.abs(toward[0] - x).max(), np.abs(toward[1] - y).max()) < 1e-9
        tables[0][h], tables[1][h] = x, y
        V = np.einsum("isab,sa,sb->is", q, x, y)
    return tacit.MarkovPolicy(tables)


def softmax(q: np.ndarray, tau: float) -> np.ndarray:
    weights = np.exp((q - q.max(axis=1, keepdims=True)) / tau)
    return weights / weights.sum(axis=1, keepdims=True)


def test_phases_end_in_a_pure_equilibrium_and_aspiration_in_the_best_of_a_team():
    game = tacit.make("stag-hunt")
    run = tacit.learn(game, "q-phases", episodes=5000, points=2)
    assert run.gap == 0
    climbing = np.array([[11.0, -30.0, 0.0], [-30.0, 7.0, 6.0], [0.0, 0.0, 5.0]])
    team = tacit.matrix_game(climbing, climbing)
    settings = {"aspiration": 50, "exploration": 0.02, "phase": 400, "discontent": 0.5}
    assert tacit.learn(team, "q-phases", episodes=60_000, points=2, **settings).values[0] == 11


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("name", ["q-phases", "q-smoothed", "wolf-phc"])
def test_agents_in_an_environment_do_the_same(name: str):
    game = tacit.make("good-state", horizon=3)
    params = {"phase": 5, "aspiration": 3} if name == "q-phases" else {}
    there = tacit.learn(tacit.to_pettingzoo(game), name, episodes=60, seed=5, certify=False, **params)
    here = tacit.learn(game, name, episodes=60, seed=5, certify=False, **params)
    np.testing.assert_array_equal(there.curve["reward"], here.curve["reward"])
    for mine, yours in zip(there.last.probs, here.last.probs, strict=True):
        np.testing.assert_array_equal(mine, yours)


@pytest.mark.usefixtures("interpreted")
def test_policies_stand_still_within_a_phase():
    engine = FusedEngine(tacit.make("good-state", horizon=3), REGISTRY.make("q-phases", phase=50), episodes=1, seed=3)
    policies = []
    for _ in range(20):
        for size in (1, 48, 1):
            policies.append([own.tobytes() for own in engine.distributions()])
            engine.advance(size)
    assert all(policies[k] == policies[k + 1] == policies[k + 2] for k in range(0, 60, 3))
    assert len({str(one) for one in policies}) > 1


def test_periods_and_stretches_find_the_optimum_of_a_discounted_team():
    game = tacit.make("good-state", discount=0.9)
    best = tacit.solve(game, "optimum").values
    for budget in ({"episodes": 1000}, {"periods": 30_000}):
        np.testing.assert_allclose(tacit.learn(game, "q-distributed", **budget).values, best)


@pytest.mark.parametrize(
    ("learner", "params", "words"),
    [
        ("q-distributed", {}, "equal rewards"),
        (["q-distributed", "q-independent"], {}, "equal rewards"),
        ("portfolio", {"members": "q-distributed,q-independent"}, "q-distributed is for teams"),
        ("q-hysteretic", {"step": 0.1, "slow": 0.2}, "slow"),
        ("wolf-phc", {"win": 0.1, "lose": 0.05}, "win"),
        ("q-hysteretic", {"preset": "theory"}, "no published constants"),
    ],
)
def test_what_they_refuse(learner: Any, params: dict[str, Any], words: str):
    with pytest.raises(tacit.TacitError, match=words):
        tacit.learn(tacit.make("chicken"), learner, episodes=10, **params)


def test_a_zero_sum_learner_is_refused_elsewhere(monkeypatch: pytest.MonkeyPatch):
    from tacit.learners import Info, QIndependent, check_suits

    monkeypatch.setattr(QIndependent, "info", Info(needs=frozenset({"zero-sum"})))
    check_suits("it", QIndependent(), tacit.matrix_game([[3.0, 0.0], [1.0, 2.0]], [[1.0, 4.0], [3.0, 2.0]]))
    three = tacit.make("random-general-sum", agents=3, states=2, horizon=2)
    for game in (tacit.make("chicken"), three):
        with pytest.raises(tacit.TacitError, match="sum to a constant"):
            check_suits("it", QIndependent(), game)


@pytest.mark.usefixtures("interpreted")
def test_the_theory_s_constants_are_the_source_s():
    run = tacit.learn(tacit.make("chicken"), "wolf-phc", episodes=10, preset="theory", win=1e-5)
    assert (run.params["step"], run.params["win"], run.params["lose"]) == (0.01, 1e-5, 1e-4)
