"""From functions over states to tables: what is reached, numbered, merged, named and refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit


def walk(state: tuple[int, int], actions: tuple[int, ...]) -> list[tuple[float, tuple[int, int]]]:
    """Two walkers on a ring of four; the first slips and stays."""
    x, y = state
    moved = ((x + actions[0]) % 4, (y + actions[1]) % 4)
    return [(0.75, moved), (0.25, (x, moved[1]))]


def meets(state: tuple[int, int], actions: tuple[int, ...]) -> list[float]:
    return [float(state[0] == state[1]), -1.0 * actions[1]]


def test_every_row_is_the_function_s():
    game = tacit.tabulate(walk, meets, start={(0, 2): 0.5, (1, 1): 0.5}, actions=[2, 2], horizon=20)
    assert game.states == 16
    assert game.initial[:2].tolist() == [0.5, 0.5]
    states = [eval(name) for name in game.state_names]  # our own names
    for s, state in enumerate(states):
        for joint in np.ndindex(2, 2):
            expected = np.zeros(16)
            for p, after in walk(state, joint):
                expected[states.index(after)] += p
            assert game.transitions[(0, s, *joint)].tolist() == expected.tolist()
            assert game.rewards[(slice(None), 0, s, *joint)].tolist() == meets(state, joint)


def test_states_beyond_the_horizon_are_left_out():
    line = tacit.tabulate(lambda s, a: {s + a[0]: 1.0}, lambda s, a: s, start=0, actions=[2], horizon=5)
    assert line.states == 5  # 0 to 4: where the fifth step leads does not matter
    assert tacit.solve(line, "optimum").values.tolist() == [0 + 1 + 2 + 3 + 4]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"transition": lambda s, a: [(0.5, s)]}, r"transition\(0, \(0,\)\) must sum to 1; got 0.5"),
        ({"transition": lambda s, a: [(1.0, [s])]}, r"\[0\] is no state: states must be hashable"),
        ({"transition": lambda s, a: [(-1.0, s), (2.0, s)]}, "has the probability -1.0"),
        ({"transition": lambda s, a: 3}, r"transition\(0, \(0,\)\) must be pairs"),
        ({"transition": lambda s, a: [(1.0, s + 1)], "limit": 10}, "more than 10 states × joint actions"),
        ({"reward": lambda s, a: [1, 2]}, r"reward\(0, \(0,\)\) must be a number, or one for each of 1 agents"),
        ({"reward": None}, "reward must be"),
        ({"actions": []}, r"actions must be"),
        ({"start": {}}, "start must be"),
    ],
)
def test_wrong_functions_are_told(wrong: dict[str, Any], message: str):
    right: dict[str, Any] = {
        "transition": lambda s, a: [(1.0, s)],
        "reward": lambda s, a: 0.0,
        "start": 0,
        "actions": [2],
        "horizon": 30,
    }
    tacit.tabulate(**right)
    with pytest.raises(tacit.TacitError, match=message):
        tacit.tabulate(**{**right, **wrong})


def test_where_a_search_ended_is_kept_in_a_file(tmp_path):
    game = tacit.tabulate(lambda s, a: [(1.0, s + 1)], lambda s, a: 0.0, start=0, actions=[1], horizon=3)
    game.save(tmp_path / "walk.npz")
    again = tacit.load(tmp_path / "walk.npz")
    with pytest.raises(tacit.TacitError, match="nobody knows what follows 1 of its states"):
        again.with_discount(0.9)
    with pytest.raises(tacit.TacitError, match="nobody knows what follows 1 of its states"):
        tacit.load(tmp_path / "walk.npz", discount=0.9)
