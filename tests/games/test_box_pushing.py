"""BoxPushing: golden checksums of arrays that were compared with the published file, and its rules in words."""

from __future__ import annotations

import numpy as np
import pytest
from checksum import checksum

import tacit

REWARDS = "23b4c4acad357cb7e25842fd594968472000897fb3277531de1ff6630534cc2f"
TRANSITIONS = {
    False: "943804f42863db880ff509fa87bf850a2902e7a8fac2980541e39e3514fc5f42",
    True: "1cc81a3de057256e628b2b69990bc83f0b9f6c34eea5665ecf7c8a571dc52182",
}
LEFT, RIGHT, FORWARD, STAY = range(4)


@pytest.fixture(scope="module")
def game() -> tacit.TabularGame:
    return tacit.make("box-pushing")


@pytest.mark.parametrize("published", [False, True])
def test_golden(published: bool):
    game = tacit.make("box-pushing", published_file=published)
    assert checksum(game.transitions) == TRANSITIONS[published]
    assert checksum(game.rewards) == REWARDS
    assert np.flatnonzero(game.initial).tolist() == [27]


def test_the_published_file_differs_in_one_row_only(game: tacit.TabularGame):
    published = tacit.make("box-pushing", published_file=True)
    rows = np.argwhere((game.transitions != published.transitions).any(axis=-1))
    s = game.state_names.index("s2E4W")
    assert rows.tolist() == [[0, s, FORWARD, FORWARD]]
    moved = published.transitions[0, s, FORWARD, FORWARD]
    assert moved[game.state_names.index("s3E4S")] == pytest.approx(0.09)
    assert moved[game.state_names.index("s3E4W")] == 0


def test_names_and_start(game: tacit.TabularGame):
    assert game.state_names[:4] == ("leftBoxAtGoal", "rightBoxAtGoal", "bothSmallAtGoal", "largeBoxAtGoal")
    assert game.state_names[4] == "s1N2N"
    assert game.state_names[99] == "s3W4W"
    assert game.state_names[game.start(0.5)] == "s1E4W"
    assert (game.agents, game.states, game.actions) == (2, 100, (4, 4))


def test_reward_values(game: tacit.TabularGame):
    values = np.unique(game.rewards.round(9))
    assert values.tolist() == [-10.2, -5.2, -0.2, 0, 4.8, 9.8, 19.8, 99.8]
    assert (game.rewards[0] == game.rewards[1]).all()


def test_goal_states_pay_nothing_and_lead_to_the_start(game: tacit.TabularGame):
    assert (game.rewards[:, 0, :4] == 0).all()
    assert (game.transitions[0, :4, :, :, 27] == 1).all()


@pytest.mark.parametrize(
    ("state", "actions", "reward", "outcomes"),
    [
        ("s1E4W", (STAY, STAY), -0.2, {"s1E4W": 1}),
        ("s1E4W", (LEFT, STAY), -0.2, {"s1N4W": 0.9, "s1E4W": 0.1}),
        ("s1E4W", (STAY, LEFT), -0.2, {"s1E4S": 0.9, "s1E4W": 0.1}),
        ("s1E4W", (RIGHT, RIGHT), -0.2, {"s1S4N": 0.81, "s1S4W": 0.09, "s1E4N": 0.09, "s1E4W": 0.01}),
        ("s1E4W", (FORWARD, FORWARD), -0.2, {"s2E3W": 0.81, "s2E4W": 0.09, "s1E3W": 0.09, "s1E4W": 0.01}),
        # into the cell that the other stands in, even if it leaves
        ("s2E3E", (FORWARD, FORWARD), -5.2, {"s2E4E": 0.9, "s2E3E": 0.1}),
        # both into the same cell: two bumps, and the one that succeeds alone gets there
        ("s2E4W", (FORWARD, FORWARD), -10.2, {"s2E4W": 0.82, "s3E4W": 0.09, "s2E3W": 0.09}),
        ("s1W4E", (FORWARD, FORWARD), -10.2, {"s1W4E": 1}),
        ("s1S4W", (FORWARD, STAY), -5.2, {"s1S4W": 1}),
        ("s2N4W", (FORWARD, STAY), -5.2, {"s2N4W": 1}),
        ("s2N3N", (FORWARD, STAY), -5.2, {"s2N3N": 1}),
        ("s2N3N", (FORWARD, FORWARD), 99.8, {"largeBoxAtGoal": 0.81, "s2N3N": 0.19}),
        ("s1N4W", (FORWARD, STAY), 9.8, {"leftBoxAtGoal": 0.9, "s1N4W": 0.1}),
        ("s1E4N", (STAY, FORWARD), 9.8, {"rightBoxAtGoal": 0.9, "s1E4N": 0.1}),
        (
            "s1N4N",
            (FORWARD, FORWARD),
            19.8,
            {"bothSmallAtGoal": 0.81, "leftBoxAtGoal": 0.09, "rightBoxAtGoal": 0.09, "s1N4N": 0.01},
        ),
        ("s1N4E", (FORWARD, FORWARD), 4.8, {"leftBoxAtGoal": 0.9, "s1N4E": 0.1}),
    ],
)
def test_rules(
    game: tacit.TabularGame, state: str, actions: tuple[int, int], reward: float, outcomes: dict[str, float]
):
    row = game.transitions[(0, game.state_names.index(state), *actions)]
    found = {game.state_names[s]: p for s, p in enumerate(row) if p > 0}
    assert found == pytest.approx(outcomes)
    assert game.rewards[(0, 0, game.state_names.index(state), *actions)] == pytest.approx(reward)


@pytest.mark.parametrize("wrong", [1, "true", None])
def test_published_file_is_yes_or_no(wrong: object):
    with pytest.raises(tacit.TacitError, match="published_file must be"):
        tacit.make("box-pushing", published_file=wrong)
