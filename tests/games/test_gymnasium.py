"""Tables of Gymnasium against value iteration written over `P`, and against episodes played in the environment."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import tacit
from tacit import from_gymnasium

gymnasium = pytest.importorskip("gymnasium")

CASES = [
    ("FrozenLake-v1", {}, 100),
    ("FrozenLake-v1", {"is_slippery": False}, 9),
    ("FrozenLake8x8-v1", {}, 50),
    ("CliffWalking-v1", {}, 20),
    ("CliffWalking-v1", {"is_slippery": True}, 40),
    ("Taxi-v4", {}, 25),
    ("Taxi-v4", {"is_rainy": True}, 12),
]


def optimal_value(env: Any, horizon: int) -> float:
    """Backward induction as in a textbook: a terminated transition is worth its reward."""
    P, V = env.unwrapped.P, dict.fromkeys(env.unwrapped.P, 0.0)
    for _ in range(horizon):
        V = {s: max(sum(p * (r + (0 if end else V[t])) for p, t, r, end in row) for row in P[s].values()) for s in P}
    return sum(p * V[s] for s, p in enumerate(env.unwrapped.initial_state_distrib))


@pytest.mark.parametrize(("name", "params", "horizon"), CASES)
def test_optimum(name: str, params: dict[str, object], horizon: int):
    env = gymnasium.make(name, **params)
    for game in (from_gymnasium(env, horizon=horizon), from_gymnasium(name, horizon=horizon, **params)):
        assert tacit.solve(game, "optimum").values == pytest.approx([optimal_value(env, horizon)], abs=1e-9)


@pytest.mark.parametrize(("name", "params", "episodes"), [("FrozenLake-v1", {}, 4000), ("Taxi-v4", {}, 400)])
def test_played_returns(name: str, params: dict[str, object], episodes: int):
    """The optimal policy earns its value: five standard errors, a false alarm of less than one in a million."""
    game = from_gymnasium(name, **params)
    solution = tacit.solve(game, "optimum")
    env = gymnasium.make(name, **params)
    returns = [episode(env, solution.policy, seed) for seed in range(episodes)]
    within = 5 * np.std(returns) / math.sqrt(episodes)
    assert np.mean(returns) == pytest.approx(solution.values[0], abs=within)


def episode(env: Any, policy: tacit.MarkovPolicy, seed: int) -> float:
    s, _ = env.reset(seed=seed)
    total, h, done = 0.0, 0, False
    while not done:
        s, reward, terminated, truncated, _ = env.step(int(policy.probs[0][h, s].argmax()))
        total, h, done = total + reward, h + 1, terminated or truncated
    return total


def test_shape_and_notes():
    game = from_gymnasium("Taxi-v4")
    assert (game.agents, game.states, game.actions, game.horizon) == (1, 501, (6,), 200)
    assert game.state_names[-1] == "over"
    assert game.notes == (
        "the horizon, 200, is the environment's time limit",
        "the environment's mask of actions is not used",
    )


def test_a_time_limit_of_ones_own():
    env = gymnasium.wrappers.TimeLimit(gymnasium.make("CliffWalking-v1"), 7)
    assert from_gymnasium(env).horizon == 7


def test_over_is_absorbing_and_pays_nothing():
    game = from_gymnasium("FrozenLake-v1", is_slippery=False)
    over = game.states - 1
    assert (game.transitions[0, over, :, over] == 1).all()
    assert (game.rewards[0, 0, over] == 0).all()
    right = game.transitions[0, 14, 2]  # beside the goal
    assert right[over] == 1
    assert game.rewards[0, 0, 14, 2] == 1


class Bare(gymnasium.Env):
    """An environment with a table and nothing else."""

    def __init__(self) -> None:
        self.P = {0: {0: [(1.0, 0, 1.0, False)]}}
        self.initial_state_distrib = [1.0]


def test_an_environment_without_a_spec():
    game = from_gymnasium(Bare(), horizon=3)
    assert game.name == "Bare"
    assert tacit.solve(game, "optimum").values == pytest.approx([3.0])
    with pytest.raises(tacit.TacitError, match="Bare has no time limit; give the horizon"):
        from_gymnasium(Bare())


def test_what_no_table_says_is_played():
    doubled = gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1", is_slippery=False), lambda r: 2 * r)
    played = [
        from_gymnasium("CartPole-v1", encode=tacit.Bins(2), horizon=20),
        from_gymnasium("Taxi-v4", fickle_passenger=True),
        from_gymnasium("FrozenLake-v1", encode=int),
        from_gymnasium(doubled),
    ]
    assert not any(hasattr(env, "kernels") for env in played)
    right_and_down = iter([2, 2, 1, 1, 1, 2] * 2)
    assert tacit.evaluate(played[-1], lambda seen: next(right_and_down), episodes=2).values == [2.0]
    with pytest.raises(tacit.TacitError, match="has no P"):
        tacit.games.from_name_or_file("gymnasium:CartPole-v1")


@pytest.mark.parametrize(
    ("env", "params", "message"),
    [
        ("FrozenLak-v1", {}, "Gymnasium cannot make 'FrozenLak-v1': .*Did you mean: `FrozenLake`"),
        ("FrozenLake-v1", {"slippery": False}, "Gymnasium cannot make 'FrozenLake-v1': .*slippery"),
        ("CliffWalking-v1", {}, "CliffWalking-v1 has no time limit; give the horizon"),
        ("CartPole-v1", {"discount": 0.9}, "discount must be left out"),
        ("FrozenLake-v1", {"reward_range": (0, 1)}, "reward_range must be left out"),
        ("FrozenLake-v1", {"horizon": 0}, "horizon must be"),
        (3, {}, "env must be a gymnasium.Env, or an id such as 'FrozenLake-v1'; got 3"),
        (Bare(), {"slip": 1}, "'slip' is given along with an environment; parameters go with an id"),
    ],
)
def test_errors(env: object, params: dict[str, Any], message: str):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(tacit.TacitError, match=message):
            from_gymnasium(env, **params)
