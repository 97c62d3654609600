"""The distancing game against its rules, recomputed joint action by joint action in plain Python."""

from __future__ import annotations

import itertools

import pytest

import tacit


def by_the_rules(
    N: int, weights: list[float], penalty: float, s: int, joint: tuple[int, ...]
) -> tuple[int, list[float]]:
    """Return the next state (0 safe, 1 distancing) and the rewards."""
    crowd = [joint.count(j) for j in range(len(weights))]
    rewards = [weights[j] * crowd[j] - (penalty if s == 1 else 0) for j in joint]
    s_next = int(max(crowd) > N / 2) if s == 0 else int(max(crowd) > N / 4)
    return s_next, rewards


@pytest.mark.parametrize("N", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(("weights", "penalty"), [([1, 2, 4, 6], 100), ([3.5, -1], 7)])
def test_every_joint_action(N: int, weights: list[float], penalty: float):
    game = tacit.make("distancing", agents=N, weights=weights, penalty=penalty, horizon=2)
    for s in (0, 1):
        for joint in itertools.product(range(len(weights)), repeat=N):
            s_next, rewards = by_the_rules(N, weights, penalty, s, joint)
            found = game.step(1, s, joint, 0.5)
            assert found[0] == s_next
            assert found[1].tolist() == rewards
            assert game.transitions[(0, s, *joint, s_next)] == 1


def test_the_published_size():
    game = tacit.make("distancing")
    assert (game.agents, game.actions, game.states) == (8, (4,) * 8, 2)
    assert game.initial.tolist() == [0.5, 0.5]
    assert game.reward_range == (1 - 100, 6 * 8)
    # 4 at the best facility is not a crowd, 5 is; back to safety with two at each facility only
    assert game.step(0, 0, (3, 3, 3, 3, 0, 1, 2, 2), 0.5)[0] == 0
    assert game.step(0, 0, (3, 3, 3, 3, 3, 1, 2, 2), 0.5)[0] == 1
    assert game.step(0, 1, (0, 0, 1, 1, 2, 2, 3, 3), 0.5)[0] == 0
    assert game.step(0, 1, (0, 0, 0, 1, 2, 2, 3, 3), 0.5)[0] == 1


def test_many_facilities():
    """More facilities than fit into eight bits."""
    weights = list(range(1, 301))
    game = tacit.make("distancing", agents=1, weights=weights)
    assert game.rewards[0, 0, 0].tolist() == weights


@pytest.mark.parametrize(
    "wrong",
    [{"agents": 0}, {"weights": []}, {"weights": "ab"}, {"weights": 3}, {"weights": [1, None]}, {"penalty": "x"}],
    ids=str,
)
def test_wrong_parameters_are_named(wrong: dict[str, object]):
    with pytest.raises(tacit.TacitError, match=next(iter(wrong))):
        tacit.make("distancing", **wrong)
