"""What is played is what is certified: returns of play, together or by separate parts, against the exact values.

Four standard errors for each agent: a fresh seed would give a false alarm with probability 6e-5 for each of the means,
below 0.002 over this file.
"""

from __future__ import annotations

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit.core.streams import stream

GAMES = {
    "good-state": ("good-state", {"horizon": 4}),
    "box-pushing": ("box-pushing", {"horizon": 3}),
    "three agents": ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 2, "horizon": 3, "seed": 2}),
}


@pytest.fixture(scope="module", params=GAMES)
def run(request: pytest.FixtureRequest) -> tacit.Run:
    kind, params = GAMES[request.param]
    return learn_average(tacit.make(kind, **params), "stage-v-cce", episodes=2000, seed=6, bonus=0.02, loss="raw")


def assert_within_four_errors(returns: np.ndarray, values: np.ndarray) -> None:
    error = returns.std(axis=0, ddof=1) / np.sqrt(len(returns))
    assert (np.abs(returns.mean(axis=0) - values) <= 4 * error).all()


def play_apart(game: tacit.TabularGame, parts: list, episodes: int) -> np.ndarray:
    """Parts that share a seed for each episode and see the states; the world has its own stream."""
    world, returns = stream(77, 0), np.zeros((episodes, game.agents))
    for episode in range(episodes):
        for part in parts:
            part.begin(episode)
        s = game.start(world.random())
        for h in range(game.horizon):
            actions = [part.act(h, s) for part in parts]
            assert len({part.index for part in parts}) == 1  # the same hidden index, and no message
            s, rewards = game.step(h, s, actions, world.random())
            returns[episode] += rewards
    return returns


def returns_of(run: tacit.Run, *, episodes: int = 100_000, seed: int = 1) -> np.ndarray:
    return tacit.evaluate(run.game, run.policy, episodes=episodes, seed=seed).returns


def test_returns_of_all_parts_together(run: tacit.Run):
    assert_within_four_errors(returns_of(run), run.values)


def test_returns_of_separate_parts(run: tacit.Run):
    parts = [run.policy.part(i) for i in range(run.game.agents)]
    assert_within_four_errors(play_apart(run.game, parts, 1500), run.values)


def test_the_values_differ_from_even_play(run: tacit.Run):
    """Otherwise the comparisons above would say nothing about the hidden index."""
    even = tacit.evaluate(run.game, tacit.MarkovPolicy.uniform(run.game)).values
    returns = returns_of(run)
    error = returns.std(axis=0, ddof=1) / np.sqrt(len(returns))
    assert (np.abs(run.values - even) > 5 * error).any()


def test_rate_rule_is_played_as_certified():
    game = tacit.make("good-state", horizon=4)
    run = learn_average(game, "v-learning", episodes=2000, seed=6, bonus=0.02, loss="raw")
    assert run.policy.rule == "rate"
    assert_within_four_errors(returns_of(run, seed=2), run.values)


def test_same_seed_same_play_and_another_seed_another(run: tacit.Run):
    one, again, other = (returns_of(run, episodes=500, seed=seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def test_a_part_must_begin_first(run: tacit.Run):
    with pytest.raises(tacit.TacitError, match=r"begin\(seed\)"):
        run.policy.part(0).act(0, 0)
