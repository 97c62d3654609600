"""Environments that nobody here wrote: PettingZoo's, Gymnasium's and others', with an encoding where they need one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    gymnasium = pytest.importorskip("gymnasium")

pytestmark = [
    pytest.mark.filterwarnings("ignore:the agents saw different"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:pkg_resources"),
    pytest.mark.filterwarnings("ignore:.*render method"),
]


def module(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} or something that it needs is not installed")


def signs(view: np.ndarray) -> tuple[int, ...]:
    """Where the first landmark or agent lies, roughly."""
    return tuple(int(np.digitize(x, [-0.5, 0.0, 0.5])) for x in np.ravel(view)[2:6])


def test_a_particle_game_with_an_encoding():
    """MPE, by its own package or PettingZoo's: observations are floats, an encoding makes them some hundred states."""
    try:
        spread = module("mpe2.simple_spread_v3")
    except pytest.skip.Exception:
        spread = module("pettingzoo.mpe.simple_spread_v3")
    env = spread.parallel_env(N=2, max_cycles=6)
    run = tacit.learn(env, "adaptive-v-cce", episodes=25, encode=signs, horizon=6)
    assert run.game.agents == 2
    assert 2 < run.game.states < 300
    assert set(run.candidates) == {"average", "recent", "last"}
    found = tacit.exploit(env, run.last, agent=0, episodes=20, plays=10)
    assert "own observations" in str(found)


def test_a_butterfly_game():
    pong = module("pettingzoo.butterfly.cooperative_pong_v6")
    env = pong.parallel_env(max_cycles=8)
    run = tacit.learn(env, "q-independent", episodes=2, horizon=8, encode=lambda view: int(view.mean()) // 8)
    assert run.episodes == 2


def test_taxi_is_a_game_of_one_agent_with_tables_and_is_played_without():
    name = next(name for name in ("Taxi-v4", "Taxi-v3") if name in gymnasium.registry)
    played = tacit.learn(gymnasium.make(name), "q-independent", episodes=8, horizon=30, encode=int)
    assert not isinstance(played.game, tacit.TabularGame)
    assert played.game.agents == 1
    assert played.reward[0] < 0


def test_connect_four_in_turns():
    four = module("pettingzoo.classic.connect_four_v3")

    def height(seen: Any) -> tuple[int, ...]:
        return tuple(seen["observation"].sum(axis=(0, 2)).tolist())

    run = tacit.learn(four.env(), "adaptive-v-cce", episodes=10, horizon=20, encode=height, reward_range=(-1, 1))
    assert run.game.actions == (7, 7)


def test_level_based_foraging_as_a_plain_object():
    """A Gymnasium environment of several agents, whose actions come as one tuple: ten lines make it a plain object."""
    module("lbforaging")

    class Foraging:
        agents, actions, horizon, reward_range = 2, 6, 10, (0.0, 1.0)

        def __init__(self) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.env = gymnasium.make("Foraging-5x5-2p-1f-v3", disable_env_checker=True)

        def reset(self, seed: int | None = None) -> list[Any]:
            return [tuple(own.tolist()) for own in self.env.reset(seed=seed)[0]]

        def step(self, actions: list[int]) -> Any:
            seen, rewards, done, late, _ = self.env.step(tuple(actions))
            return [tuple(own.tolist()) for own in seen], rewards, bool(np.all(done) or late)

    run = tacit.learn(Foraging(), "adaptive-v-cce", episodes=20)
    again = tacit.learn(Foraging(), "adaptive-v-cce", episodes=20)
    assert run.game.states > 20
    np.testing.assert_array_equal(run.reward, again.reward)
