"""One to four agents, each with its own number of actions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import tacit

SIZES = [(3,), (2, 3), (1, 2), (2, 1, 3), (3, 1, 2, 2)]


@pytest.mark.parametrize("actions", SIZES, ids=str)
def test_sizes_are_read_off_the_rewards(actions: tuple[int, ...]):
    game = tacit.make("random-general-sum", agents=len(actions), actions=actions, states=3, horizon=4)
    assert (game.agents, game.states, game.actions, game.horizon) == (len(actions), 3, actions, 4)
    assert game.joint_actions == np.prod(actions)
    assert game.reward_range == (game.rewards.min(), game.rewards.max())


@pytest.mark.parametrize("actions", SIZES, ids=str)
def test_step_pays_what_the_array_says(actions: tuple[int, ...]):
    game = tacit.make("random-general-sum", agents=len(actions), actions=actions, states=2, horizon=2)
    for h, s in itertools.product(range(2), range(2)):
        for joint in itertools.product(*map(range, actions)):
            _, rewards = game.step(h, s, joint, 0.5)
            assert rewards.tolist() == [game.rewards[(i, h, s, *joint)] for i in range(game.agents)]


@pytest.mark.parametrize("actions", SIZES, ids=str)
def test_expect_is_the_mean_over_next_states(actions: tuple[int, ...]):
    game = tacit.make("random-general-sum", agents=len(actions), actions=actions, states=3, horizon=2)
    v = np.array([[1.0, -2.0, 5.0]])
    for h in range(2):
        for index in np.ndindex(3, *actions):
            want = sum(game.transitions[(h, *index, t)] * v[0, t] for t in range(3))
            assert game.expect(h, v)[0][index] == pytest.approx(want, abs=1e-14)


@pytest.mark.parametrize(
    ("h", "s", "actions", "said"),
    [
        (2, 0, (0, 0), "h is 2"),
        (-1, 0, (0, 0), "h is -1"),
        (0, 2, (0, 0), "s is 2"),
        (0, -1, (0, 0), "s is -1"),
        (0, 0, (0, 3), "actions[1] is 3"),
        (0, 0, (-1, 0), "actions[0] is -1"),
        (0, 0, (0,), "actions is (0,)"),
        (0, 0, (0, 0, 0), "one for each of 2 agents"),
        (0, 0, (0.5, 0), "actions[0] is 0.5"),
        (None, 0, (0, 0), "h is None"),
        (0, "s0", (0, 0), "s is 's0'"),
        (0, 0, None, "actions is None"),
        (0, 0, 7, "actions is 7"),
    ],
)
def test_a_wrong_place_is_named(h: object, s: object, actions: object, said: str):
    game = tacit.make("random-general-sum", actions=(2, 3), horizon=2)
    with pytest.raises(tacit.TacitError) as caught:
        game.step(h, s, actions, 0.5)
    assert said in str(caught.value)
