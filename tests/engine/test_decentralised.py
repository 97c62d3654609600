"""An agent's state depends on what the agent itself sees, and on nothing else."""

from __future__ import annotations

from typing import Any

import conformance as table
import numpy as np
import pytest

import tacit
from tacit.core import generics
from tacit.learners.facts import FACTS, INFORMATION, information
from tacit.learners.spec import world_of
from tacit.testing.checks import copy, own_records, scramble


def practised(game: tacit.TabularGame, learner: str, rng: np.random.Generator) -> Any:
    """A state in which every agent has learned something, in the interpreted mode."""
    spec = table.make_learner(learner)
    state = spec.init(world_of(spec, game, episodes=100, seed=0))
    for _ in range(50):
        for i in range(game.agents):
            for h in range(game.horizon):
                s, s_next = (int(rng.integers(game.states)) for _ in range(2))
                a = generics.act(state, i, h, s, rng.random())
                generics.learn(state, i, h, s, a, rng.random(), s_next)
    return state


@pytest.mark.parametrize("learner", table.LEARNERS)
def test_scrambling_the_others_changes_nothing(learner: str):
    game, rng = table.make_game("three agents"), np.random.default_rng(3)
    state = practised(game, learner, rng)
    for i, size in enumerate(game.actions):
        calm, noisy = copy(state), copy(state)
        for _ in range(40):
            scramble(noisy, i, rng)
            h, s, u = int(rng.integers(game.horizon)), int(rng.integers(game.states)), rng.random()
            a = generics.act(calm, i, h, s, u)
            assert a == generics.act(noisy, i, h, s, u)
            r, s_next = rng.random(), int(rng.integers(game.states))
            generics.learn(calm, i, h, s, a, r, s_next)
            generics.learn(noisy, i, h, s, a, r, s_next)
        before, after = own_records(calm, i, size), own_records(noisy, i, size)
        assert any((before[key] != value).any() for key, value in own_records(state, i, size).items())
        for key, value in before.items():
            assert value.tobytes() == after[key].tobytes(), (i, key)


def test_every_learner_that_says_so_is_scrambled():
    """A common clock or seed is an agent's own, too. Networks are no records: ppo's agents are separate objects."""
    said = {name for name in FACTS if information(name) in INFORMATION[:2]} | {"npg", "ogda", "pg-q"}
    assert said - {kind for kind, _ in table.LEARNERS.values()} == {"ppo"}


@pytest.mark.parametrize(
    "learner",
    [
        "adaptive-v-cce",
        "adaptive-v-ce",
        "stage-v-cce",
        "stage-v-ce",
        "v-learning",
        "model-independent",
        "pg-adaptive",
        "pg-storm",
        "npg sampled",
    ],
)
def test_a_kernel_touches_only_its_own_records(learner: str):
    game, rng = table.make_game("three agents"), np.random.default_rng(3)
    state = practised(game, learner, rng)
    before = copy(state)
    for _ in range(200):
        h, s = int(rng.integers(game.horizon)), int(rng.integers(game.states))
        a = generics.act(state, 1, h, s, rng.random())
        generics.learn(state, 1, h, s, a, rng.random(), int(rng.integers(game.states)))
    for j in (0, 2):
        old, new = own_records(before, j, 2), own_records(state, j, 2)
        for key, value in old.items():
            assert value.tobytes() == new[key].tobytes(), (j, key)


def own_business(others: np.ndarray) -> tacit.TabularGame:
    """One state; agent 0 is paid for its own action alone, agent 1 as `others` [2, 2] says."""
    rewards = np.zeros((2, 1, 1, 2, 2))
    rewards[0, 0, 0] = [[0.2, 0.2], [0.7, 0.7]]
    rewards[1, 0, 0] = others
    return tacit.TabularGame(np.ones((1, 1, 2, 2, 1)), rewards, [1.0], 3)


def test_the_others_rewards_are_not_seen():
    spec = table.make_learner("stage-v-cce")
    one = own_business(np.array([[0.0, 1.0], [0.5, 0.5]]))
    two = own_business(np.array([[1.0, 0.0], [0.0, 0.3]]))
    first, second = (table.fused(game, spec, 100)[0].state for game in (one, two))
    for key, value in own_records(first, 0, 2).items():
        assert value.tobytes() == own_records(second, 0, 2)[key].tobytes(), key
    assert (own_records(first, 1, 2)["cells.bandit.loss"] != own_records(second, 1, 2)["cells.bandit.loss"]).any()


def with_an_onlooker(game: tacit.TabularGame) -> tacit.TabularGame:
    """Add an agent whose actions change nothing, and who is paid the least there is."""
    P = np.repeat(game.transitions[:, :, :, :, None], 2, axis=4)
    R = np.repeat(game.rewards[..., None], 2, axis=-1)
    R = np.concatenate([R, np.full_like(R[:1], game.reward_range[0])])
    return tacit.TabularGame(P, R, game.initial, game.horizon)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize(
    ("learner", "params"),
    [
        ("adaptive-v-cce", {}),
        ("stage-v-cce", {"iota": 9.0}),
        ("v-learning", {"iota": 9.0}),
        ("pg-storm random start", {}),
        ("pg-adaptive", {}),
        ("npg sampled", {}),
    ],
)
def test_one_more_agent_shifts_nobodys_draws(learner: str, params: dict[str, Any]):
    game, spec = table.make_game("good-state"), table.make_learner(learner, **params)
    wider = with_an_onlooker(game)
    assert wider.reward_range == game.reward_range
    runs = [table.session(one, spec, 80, seed=5, watched=False, kept=False) for one in (game, wider)]
    returns = [run.advance(80) for run in runs]
    assert (returns[0] == returns[1][:, :2]).all()
    for i in range(2):
        few, many = (own_records(run.state, i, 2) for run in runs)
        for key, value in few.items():
            assert value.tobytes() == many[key].tobytes(), (i, key)
