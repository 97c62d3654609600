"""Waiting until a state is visited again changes nothing: it is Alg. 3 with every cell updated every episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from storm_dense import Dense

import tacit
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY

EPISODES = 5_000
SEED = 5
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "good-state": ("good-state", {"horizon": 10}),
    "three agents": ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 3, "horizon": 3, "seed": 4}),
}
STEP = {"good-state": 1e-4, "three agents": 2e-3}


def compare(
    game: tacit.TabularGame,
    dense: Dense,
    spec: Any,
    *,
    episodes: int = EPISODES,
    tolerance: float = 1e-10,
    least: float = 0.1,
) -> tuple[FusedEngine, np.ndarray]:
    """Run both on the same draws; policies must agree at every thousandth episode and all returns must."""
    session = FusedEngine(game, spec, episodes=episodes, seed=SEED)
    farthest = 0.0
    for begin in range(0, episodes, 1000):
        count = min(1000, episodes - begin)
        lazy = session.advance(count)
        plain = np.array([dense.episode() for _ in range(count)])
        np.testing.assert_allclose(lazy, plain, atol=1e-9, err_msg=f"returns after episode {begin}")
        probs = session.policy(session.distributions()).probs
        for own, other in zip(probs, dense.probs(), strict=True):
            np.testing.assert_allclose(own, other, atol=tolerance, rtol=0, err_msg=f"episode {begin + count}")
            farthest = max(farthest, float(np.abs(own - 1 / own.shape[2]).max()))
    assert farthest > least  # it has learned something: the comparison is not one of two still pictures
    return session, lazy


def constant(value: float) -> Callable[[int], float]:
    return lambda t: value


LONG = pytest.mark.slow  # the same with another game or constant: the plain form takes seconds


@pytest.mark.parametrize(
    ("name", "momentum"),
    [
        ("good-state", 0.5),
        ("three agents", 0.0),
        ("three agents", 1.0),
        pytest.param("good-state", 0.0, marks=LONG),
        pytest.param("good-state", 0.1, marks=LONG),
        pytest.param("good-state", 1.0, marks=LONG),
        pytest.param("three agents", 0.1, marks=LONG),
        pytest.param("three agents", 0.5, marks=LONG),
    ],
)
def test_constants(name: str, momentum: float):
    kind, params = GAMES[name]
    game, eta = tacit.make(kind, **params), STEP[name]
    dense = Dense(game, eta=constant(eta), a=constant(momentum), exploration=0.05, seed=SEED)
    compare(game, dense, REGISTRY.make("pg-storm", eta=eta, momentum=momentum, exploration=0.05))


@pytest.mark.parametrize("name", ["three agents", pytest.param("good-state", marks=LONG)])
def test_own_ratio(name: str):
    """With the agent's own importance ratio, the product over the steps of the trajectory."""
    kind, params = GAMES[name]
    game, eta = tacit.make(kind, **params), STEP[name]
    dense = Dense(game, eta=constant(eta), a=constant(0.5), exploration=0.05, own_ratio=True, seed=SEED)
    compare(game, dense, REGISTRY.make("pg-storm", eta=eta, momentum=0.5, exploration=0.05, own_ratio=True))


def test_own_ratio_in_one_step_games():
    """With a single step the trajectory's ratio is the step's: the agent's own estimates are averaged."""
    game = tacit.make("matrix-team")
    dense = Dense(game, eta=constant(1e-3), a=constant(0.1), exploration=0.05, own_ratio=True, seed=SEED)
    compare(game, dense, REGISTRY.make("pg-storm", eta=1e-3, momentum=0.1, exploration=0.05, own_ratio=True))


@pytest.mark.parametrize("name", ["good-state", pytest.param("three agents", marks=LONG)])
def test_theorems_schedule(name: str):
    """η_t = k/(w + σ²t)^{1/3} and a_{t+1} = c·η_t², with the constants written out here once more."""
    kind, params = GAMES[name]
    game, b, explore = tacit.make(kind, **params), 1.0, 0.5
    N, A, H = game.agents, max(game.actions), game.horizon
    sigma2, L2 = N * A**2 * H**4 / explore, max(N**2 * A**3 * H**3 / explore**3, (4 * N * A * H**3) ** 2)
    k = b * sigma2 ** (1 / 3) / L2**0.5
    w = sigma2 * max((4 * b) ** 3, 2, (32 * b + 1 / (7 * b**2)) ** 3 / 64)
    c = L2 * (32 + 1 / (7 * b**3))
    low, high = game.reward_range

    def eta(t: int) -> float:
        return k / (w + sigma2 * t) ** (1 / 3)

    assert 0 < c * eta(1) ** 2 < 1  # a momentum in between, or the schedule would not be seen
    dense = Dense(
        game,
        eta=eta,
        a=lambda t: c * eta(t - 1) ** 2,
        exploration=explore,
        low=low,
        scale=1 / (high - low),
        seed=SEED,
    )
    compare(game, dense, REGISTRY.make("pg-storm", eta="theory", momentum="theory", exploration=explore), least=1e-3)


@pytest.mark.parametrize(("kind", "eta", "momentum"), [("good-state", 1e-4, 0.5), ("matching-pennies", 0.2, 0.3)])
def test_without_exploration(kind: str, eta: float, momentum: float):
    """The deviation that the learner documents: no old estimate where the old policy gave the action no chance.

    In matching pennies a policy that has reached a vertex loses there, moves away, and may then play at once what the
    episode before excluded; on good-state this does not happen.
    """
    game = tacit.make(kind)
    dense = Dense(game, eta=constant(eta), a=constant(momentum), exploration=0.0, seed=SEED)
    compare(game, dense, REGISTRY.make("pg-storm", eta=eta, momentum=momentum))
    assert (dense.no_chance > 0) == (kind == "matching-pennies")
