"""Every registered game as a PettingZoo environment, by PettingZoo's own conformance tests."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test
    from pettingzoo.utils import aec_to_parallel, parallel_to_aec

GAMES = list(tacit.games.REGISTRY)

#: PettingZoo would rather have arrays than numbers as observations; numbers are what its own spaces draw.
pytestmark = pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")


def played(env, actions: list[dict[str, int]], seed: int) -> list[object]:
    """What an environment gives for these actions."""
    return [env.reset(seed=seed)[0], *(env.step(chosen)[:4] for chosen in actions)]


def drawn(game: tacit.TabularGame, seed: int) -> list[dict[str, int]]:
    rng = np.random.default_rng(seed)
    return [{f"agent_{i}": int(rng.integers(a)) for i, a in enumerate(game.actions)} for _ in range(game.horizon)]


@pytest.mark.parametrize("name", GAMES)
def test_pettingzoos_own_tests(name: str):
    game = tacit.make(name)
    parallel_api_test(tacit.to_pettingzoo(game), num_cycles=100)
    parallel_seed_test(lambda: tacit.to_pettingzoo(game))
    api_test(parallel_to_aec(tacit.to_pettingzoo(game)), num_cycles=50)


@pytest.mark.parametrize("name", GAMES)
def test_there_and_back_through_turns(name: str):
    game = tacit.make(name)
    actions = drawn(game, 1)
    straight = tacit.to_pettingzoo(game)
    turned = aec_to_parallel(parallel_to_aec(tacit.to_pettingzoo(game)))
    assert played(straight, actions, 3) == played(turned, actions, 3)


@pytest.mark.parametrize("name", ["good-state", "random-general-sum", "distancing"])
def test_it_is_the_game(name: str):
    """States and rewards follow the tables, and draws the environment's stream."""
    game = tacit.make(name)
    env = tacit.to_pettingzoo(game)
    u = np.random.Generator(np.random.PCG64(np.random.SeedSequence(5, spawn_key=(0,)))).random(3 * game.horizon)
    for k in range(3):
        observations, infos = env.reset(seed=5) if k == 0 else env.reset()
        own = u[k * game.horizon :]
        s = game.start(own[0])
        assert set(observations.values()) == {s}
        assert observations["agent_0"] == s
        assert infos["agent_0"] == {"step": 0}
        for h, chosen in enumerate(drawn(game, k)):
            last = h + 1 == game.horizon
            s_next, rewards = game.step(h, s, list(chosen.values()), 0.5 if last else own[h + 1])
            observations, paid, terminations, truncations, infos = env.step(chosen)
            assert list(paid.values()) == rewards.tolist()
            assert not any(terminations.values())
            assert set(truncations.values()) == {last}
            if not last:
                assert set(observations.values()) == {s_next}
            s = s_next
        assert env.agents == []


def test_the_state_after_the_end_is_drawn_from_the_tables_too():
    game = tacit.make("good-state", horizon=1)
    env = tacit.to_pettingzoo(game)
    env.reset(seed=0)
    counts = np.zeros(2)
    for _ in range(2000):
        s = int(env.reset()[0]["agent_0"])
        counts[int(env.step({"agent_0": 0, "agent_1": 0})[0]["agent_0"])] += 1
    exact = game.transitions[0, :, 0, 0]
    assert (exact[0] == exact[s]).all() or counts.sum() == 2000
    expected = game.initial @ exact
    assert counts[1] / 2000 == pytest.approx(expected[1], abs=4 * np.sqrt(expected[1] * expected[0] / 2000) + 1e-12)


def test_states_are_shown_as_text():
    env = tacit.to_pettingzoo(tacit.make("box-pushing"))
    env.reset(seed=0)
    assert env.render() == "step 0 of 10, state s1E4W"
    env.step({"agent_0": 3, "agent_1": 3})
    assert env.render() == "step 1 of 10, state s1E4W"


def test_every_state_of_box_pushing_has_a_picture_of_its_own():
    game = tacit.make("box-pushing")
    assert game.picture is not None
    assert len({game.picture(s).tobytes() for s in range(game.states)}) == game.states


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda env: env.step({}), "no episode is running"),
        (lambda env: (env.reset(seed=0), env.step({"agent_0": 0})), "actions must be a dict with one for each"),
        (lambda env: (env.reset(seed=0), env.step({"agent_0": 0, "agent_1": 7})), r"actions\[1\] must be"),
        (
            lambda env: (env.reset(seed=0), env.step({"agent_0": 0, "agent_1": 0, "x": 0})),
            "actions must be a dict with one for each",
        ),
        (lambda env: env.reset(seed=-1), "seed must be"),
        (lambda env: env.render(), "no episode has begun"),
        (lambda env: tacit.to_pettingzoo(env), "must be a TabularGame"),
    ],
)
def test_wrong_calls_are_told(call, told: str):
    with pytest.raises(tacit.TacitError, match=told):
        call(tacit.to_pettingzoo(tacit.make("chicken")))


def test_without_a_seed_two_environments_differ():
    game = tacit.make("random-general-sum", states=50, horizon=20)
    first, second = tacit.to_pettingzoo(game), tacit.to_pettingzoo(game)
    seen = []
    for env in (first, second):
        seen.append([int(env.reset()[0]["agent_0"]) for _ in range(20)])
    assert seen[0] != seen[1]  # equal by chance once in 50^20


def test_a_wrong_action_draws_nothing():
    game = tacit.make("random-general-sum", states=20, horizon=10)
    env, other = tacit.to_pettingzoo(game), tacit.to_pettingzoo(game)
    env.reset(seed=1)
    other.reset(seed=1)
    for chosen in drawn(game, 0):
        with pytest.raises(tacit.TacitError):
            env.step({**chosen, "agent_0": 99})
        assert env.step(chosen)[:2] == other.step(chosen)[:2]
