"""Each way in which a game can be wrong is found, and told in one sentence."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pytest

from tacit import kernels
from tacit.testing import Violation, check_game


class Rules(NamedTuple):
    horizon: int
    states: int
    actions: np.ndarray
    room: np.ndarray


@dataclass(frozen=True)
class Sum:
    """Three agents; the state follows the sum of the actions."""

    name: Any = "sum"
    agents: Any = 3
    states: Any = 4
    actions: Any = (2, 3, 2)
    horizon: Any = 3
    reward_range: Any = (0.0, 1.0)
    notes: Any = ()
    kind: Any = Rules

    def kernels(self) -> Any:
        return self.kind(self.horizon, self.states, np.array(self.actions), np.zeros(1))


def initial_state(game, u):
    return int(u * game.states)


def joint_action(game, h, s, actions):
    total = s
    for a in actions:
        total += a
    return total


def next_state(game, token, u):
    return (token + int(u * 2)) % game.states


def reward(game, i, token):
    return ((token + i) % 4) / 3


RIGHT = {"initial_state": initial_state, "joint_action": joint_action, "next_state": next_state, "reward": reward}


@pytest.fixture(autouse=True)
def right_kernels():
    for name, kernel in RIGHT.items():
        getattr(kernels, name).implement(Rules)(kernel)


def refused(game: Any, message: str) -> None:
    with pytest.raises(Violation, match=message) as caught:
        check_game(game)
    assert "\n" not in str(caught.value)


def test_the_right_one_passes():
    check_game(Sum())


def start_beyond(game, u):
    return int(u * (game.states + 1))


def half_a_state(game, token, u):
    return 0.5


def counting_start(game, u):
    game.room[0] += 1.0
    return int(game.room[0]) % game.states


def tired(game, i, token):
    game.room[0] += 0.001
    return max(0.0, 1.0 - game.room[0])


def generous(game, i, token):
    return token / 3


def missing(game, i, token):
    return np.nan


def greedy_place(game, h, s, actions):
    actions[0] = 0
    return s


#: A type for each, since compiled code is kept for as long as the process lives.
KINDS = [NamedTuple(f"Rules{k}", list(Rules.__annotations__.items())) for k in range(7)]  # type: ignore[misc]
BROKEN: list[tuple[str, Callable[..., Any], str]] = [
    ("initial_state", start_beyond, "initial_state of sum returned 4; states are whole numbers to 3"),
    ("next_state", half_a_state, "next_state of sum returned 0.5"),
    ("initial_state", counting_start, "initial_state of sum depends on what was played before"),
    ("reward", tired, "reward of sum depends on what was played before"),
    ("reward", generous, r"agent . of sum is paid .*reward_range is \[0, 1\]"),
    ("reward", missing, "agent 0 of sum is paid nan"),
    ("joint_action", greedy_place, "joint_action of sum changes the actions"),
]


@pytest.mark.parametrize("k", range(len(BROKEN)), ids=[kernel.__name__ for _, kernel, _ in BROKEN])
def test_a_broken_kernel(k: int):
    name, broken, message = BROKEN[k]
    for word, kernel in {**RIGHT, name: broken}.items():
        getattr(kernels, word).implement(KINDS[k])(kernel)
    refused(Sum(kind=KINDS[k]), message)


def other_in_python(game, i, token):
    return operator.length_hint(ONE) * ((token + i) % 4) / 3  # functions of the standard library are not copied


ONE = (0,)


@pytest.fixture
def two_faced():
    """A function that does one thing compiled and another interpreted."""
    from numba.extending import overload

    overload(operator.length_hint)(lambda obj: lambda obj: 0.5)


Faces = NamedTuple("Faces", list(Rules.__annotations__.items()))  # type: ignore[misc]


def test_compiled_and_interpreted_differ(two_faced: None):
    for word, kernel in {**RIGHT, "reward": other_in_python}.items():
        getattr(kernels, word).implement(Faces)(kernel)
    refused(Sum(kind=Faces), "reward of sum is not the same compiled and interpreted$")


def nearly_other_in_python(game, i, token):
    return operator.countOf(ONE, 0) * ((token + i) % 4) / 3


Rounded = NamedTuple("Rounded", list(Rules.__annotations__.items()))  # type: ignore[misc]


def test_only_the_last_digits_differ():
    """As with np.exp on a processor for which NumPy has its own."""
    from numba.extending import overload

    overload(operator.countOf)(lambda a, b: lambda a, b: 1.0 - 2.0**-53)
    for word, kernel in {**RIGHT, "reward": nearly_other_in_python}.items():
        getattr(kernels, word).implement(Rounded)(kernel)
    refused(Sum(kind=Rounded), "the last digits differ, as those of np.exp.* use exp, log and pow of tacit.kernels")
    check_game(Sum(kind=Rounded), tolerance=1e-9)


class Short(NamedTuple):
    horizon: int
    states: int
    actions: np.ndarray


class Nameless(NamedTuple):
    horizon: int
    states: int
    moves: np.ndarray
    room: np.ndarray


@pytest.mark.parametrize(
    ("game", "message"),
    [
        (replace(Sum(), agents=2), "actions must be"),
        (replace(Sum(), horizon=0), "horizon must be"),
        (
            replace(Sum(), kind=lambda *_: Short(3, 4, np.array([2, 3, 2]))),
            "initial_state and joint_action and next_state and reward",
        ),
        (replace(Sum(), kind=lambda *_: (1, 2)), "is a tuple; it must be a NamedTuple"),
        (replace(Sum(), kind=lambda h, *rest: Rules(h + 1, *rest)), "horizon of Rules is 4, and the game's is 3"),
        (replace(Sum(), kind=lambda h, s, a, r: Rules(h, s, a[:2], r)), "actions of Rules is"),
    ],
)
def test_what_the_game_says(game: Any, message: str):
    refused(game, message)


def test_a_field_that_the_loop_reads():
    for word, kernel in RIGHT.items():
        getattr(kernels, word).implement(Nameless)(kernel)
    refused(Sum(kind=Nameless), "Nameless has no field actions")
