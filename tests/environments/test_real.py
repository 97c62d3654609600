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
    run = tacit.learn(tacit.from_pettingzoo(env, encode=signs, horizon=6), "adaptive-v-cce", episodes=25)
    assert run.game.agents == 2
    assert 2 < run.game.states < 300
    assert set(run.candidates) == {"average", "recent", "last"}
    found = tacit.exploit(env, run.last, agent=0, episodes=20, plays=10)
    assert "own observations" in str(found)


def test_a_butterfly_game():
    pong = module("pettingzoo.butterfly.cooperative_pong_v6")
    env = pong.parallel_env(max_cycles=8)
    run = tacit.learn(
        tacit.from_pettingzoo(env, horizon=8, encode=lambda view: int(view.mean()) // 8), "q-independent", episodes=2
    )
    assert run.episodes == 2


def test_taxi_is_a_game_of_one_agent_with_tables_and_is_played_without():
    name = next(name for name in ("Taxi-v4", "Taxi-v3") if name in gymnasium.registry)
    played = tacit.learn(
        tacit.from_gymnasium(gymnasium.make(name), horizon=30, encode=int), "q-independent", episodes=8
    )
    assert not isinstance(played.game, tacit.TabularGame)
    assert played.game.agents == 1
    assert played.reward[0] < 0


def test_connect_four_in_turns():
    four = module("pettingzoo.classic.connect_four_v3")

    def height(seen: Any) -> tuple[int, ...]:
        return tuple(seen["observation"].sum(axis=(0, 2)).tolist())

    run = tacit.learn(
        tacit.from_pettingzoo(four.env(), horizon=20, encode=height, reward_range=(-1, 1)),
        "adaptive-v-cce",
        episodes=10,
    )
    assert run.game.actions == (7, 7)


def foraging() -> Any:
    module("lbforaging")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gymnasium.make("Foraging-5x5-2p-1f-v3", disable_env_checker=True)


def test_level_based_foraging_is_a_team_of_two():
    """A Gymnasium environment whose Tuples have an entry for each agent; its floats are whole numbers."""
    run = tacit.learn(tacit.from_pettingzoo(foraging(), horizon=10), "adaptive-v-cce", episodes=20)
    again = tacit.learn(tacit.from_pettingzoo(foraging(), horizon=10), "adaptive-v-cce", episodes=20)
    assert run.game.actions == (6, 6)
    assert run.game.states > 20
    assert run.game.observations[0].name(0) == str([float(x) for x in run.game.observations[0].met[0]])
    np.testing.assert_array_equal(run.reward, again.reward)


@pytest.mark.slow
def test_foragers_learn_with_steps_in_common():
    """At random each gets 0.21 of 0.5, with a table for each step 0.25."""

    def relative(seen: Any) -> Any:
        food, own, other = seen[:3], seen[3:6], seen[6:9]
        return (food[0] < 0, *(food[:2] - own[:2]), food[2] > own[2], *(other[:2] - own[:2]))

    run = tacit.learn(
        tacit.from_pettingzoo(foraging(), encode=relative), "q-independent", episodes=1500, steps="shared"
    )
    assert tacit.evaluate(tacit.from_pettingzoo(foraging(), horizon=50), run, episodes=200).values.mean() > 0.4


def even(size: int) -> Any:
    return lambda seen: np.full(size, 1 / size)


def test_tictactoe_with_masks_is_played_better_than_at_random():
    """Agent 0 against an opponent at random: 0.26 if it plays so too, 0.7 after 1000 episodes of Q-learning."""
    env = module("pettingzoo.classic.tictactoe_v3").env()
    run = tacit.learn(env, "q-independent", episodes=1000, steps="shared")
    random = tacit.evaluate(env, [even(9)] * 2, episodes=200).values[0]
    found = tacit.evaluate(tacit.from_pettingzoo(env, horizon=run.game.horizon), [run, even(9)], episodes=200)
    assert random < 0.4
    assert found.values[0] > 0.55
    assert any("not in the policy's tables" in note for note in found.notes)  # a note, and no warning


@pytest.mark.slow
def test_frozen_lake_and_taxi_are_solved():
    """Their optima are 0.7443 within 100 steps, and 7.93 within 200; evenly drawn it is 0.015 and −771."""
    lake = tacit.learn(gymnasium.make("FrozenLake-v1"), episodes=2000)
    assert lake.values[0] > 0.73
    name = next(name for name in ("Taxi-v4", "Taxi-v3") if name in gymnasium.registry)
    taxi = tacit.learn(gymnasium.make(name), "model-central", episodes=1000)
    assert taxi.values[0] > 7.5


@pytest.mark.slow
def test_the_pole_is_held_up():
    """With 90 bins, 60 episodes; at random it falls after some 22 steps."""
    env = gymnasium.make("CartPole-v1")
    bins = tacit.Bins([1, [-0.5, 0.5], 6, [-1, -0.3, 0.3, 1]])
    small = tacit.from_pettingzoo(env, horizon=100, encode=bins)
    run = tacit.learn(small, "model-central", episodes=60)
    assert tacit.evaluate(tacit.from_pettingzoo(env, horizon=100), run, episodes=100).values[0] > 90


@pytest.mark.slow
def test_rock_paper_scissors_answers_with_a_mixture():
    env = module("pettingzoo.classic.rps_v2").parallel_env(max_cycles=5)
    run = tacit.learn(tacit.from_pettingzoo(env, horizon=5, reward_range=(-1, 1)), episodes=2000)
    assert run.chosen != "last"
    last, answer = (tacit.exploit(env, one, episodes=2000).gap for one in (run.last, run.policy))
    assert answer < 0.5 * last


@pytest.mark.slow
def test_rounding_is_not_enough_for_simple_spread_and_bins_are():
    """Rounded to one digit nearly every observation is new, and the run says so; 64 bins are better than chance."""
    try:
        spread = module("mpe2.simple_spread_v3")
    except pytest.skip.Exception:
        spread = module("pettingzoo.mpe.simple_spread_v3")
    env = spread.parallel_env(N=3, max_cycles=25)
    rounded = tacit.from_pettingzoo(env, encode=lambda seen: tuple(np.round(seen, 1).tolist()))
    with pytest.warns(UserWarning, match=r"were new.*encode=f"):
        tacit.learn(rounded, "q-independent", episodes=200)
    bins = tacit.Bins([1, 1, 1, 1, *[[0.0]] * 6, *[1] * 8])
    run = tacit.learn(tacit.from_pettingzoo(env, encode=bins), "pg-adaptive", episodes=2000, steps="shared")
    assert not any("were new" in note for note in run.notes)
    random = tacit.evaluate(tacit.from_pettingzoo(env, horizon=25), [even(5)] * 3, episodes=300).returns
    learned = tacit.evaluate(tacit.from_pettingzoo(env, horizon=25), run, episodes=300).returns
    assert learned.mean() > random.mean() + 1.5  # standard errors are 0.4 each
