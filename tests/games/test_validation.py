"""A wrong input to TabularGame is refused in one sentence that names the place and shows the value."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tacit
from tacit.games import Successors

H, S, ACTIONS = 3, 2, (2, 3)


def whole() -> dict[str, object]:
    """Arguments of a correct game: 2 agents, 2 states, 2×3 actions, 3 steps."""
    rng = np.random.default_rng(0)
    return {
        "transitions": rng.dirichlet(np.ones(S), (H, S, *ACTIONS)),
        "rewards": rng.random((2, H, S, *ACTIONS)),
        "initial": np.array([0.25, 0.75]),
        "horizon": H,
    }


def refused(**changes: object) -> str:
    """Return the message with which the changed game is refused."""
    with pytest.raises(tacit.TacitError) as caught:
        tacit.TabularGame(**{**whole(), **changes})
    message = str(caught.value)
    assert "\n" not in message
    return message


def changed(name: str, index: tuple[int, ...], value: object) -> np.ndarray:
    array = np.array(whole()[name])
    array[index] = value
    return array


def test_the_error_is_a_value_error():
    assert issubclass(tacit.TacitError, ValueError)


def test_the_unchanged_game_is_accepted():
    assert tacit.TabularGame(**whole()).actions == ACTIONS


@pytest.mark.parametrize("wrong", [np.nan, -0.25, np.inf, -np.inf])
def test_a_wrong_transition_probability_is_named(wrong: float):
    message = refused(transitions=changed("transitions", (2, 1, 0, 2, 1), wrong))
    assert "transitions[h=2, s=1, joint=(0, 2), next=1]" in message
    assert f"{wrong:g}" in message


def test_opposite_infinities_in_one_row_are_refused_without_a_warning():
    message = refused(transitions=changed("transitions", (0, 1, 1, 0), [np.inf, -np.inf]))
    assert "transitions[h=0, s=1, joint=(1, 0), next=0] is inf" in message


@pytest.mark.parametrize("total", [0.98, 1.5, 1 + 3e-9])
def test_a_transition_row_with_another_sum_is_named(total: float):
    row = np.array([0.4, total - 0.4])
    message = refused(transitions=changed("transitions", (1, 0, 1, 2), row))
    assert "transitions[h=1, s=0, joint=(1, 2)] sums to " in message
    assert f"{total:.12g}" in message


def test_a_row_within_1e_9_of_one_is_accepted():
    tacit.TabularGame(**{**whole(), "transitions": changed("transitions", (1, 0, 1, 2), [0.4, 0.6 + 5e-10])})


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_not_finite_is_named(wrong: float):
    message = refused(rewards=changed("rewards", (1, 2, 0, 1, 2), wrong))
    assert f"rewards[i=1, h=2, s=0, joint=(1, 2)] is {wrong}" in message


@pytest.mark.parametrize(
    ("initial", "named"),
    [
        ([0.5, 0.4], "initial sums to 0.9"),
        ([1.5, -0.5], "initial[s=1] is -0.5"),
        ([np.nan, 1.0], "initial[s=0] is nan"),
        ([np.inf, 0.0], "initial[s=0] is inf"),
        ([1.0], "initial has shape (1,)"),
        ([0.2, 0.3, 0.5], "initial has shape (3,)"),
        ([[0.5, 0.5]], "initial has shape (1, 2)"),
        ("uniform", "'uniform'"),
        (None, "None"),
        ([0.5, "x"], "initial"),
        ([0.5, [0.5]], "initial"),
        ([0.5, 0.5j], "initial"),
    ],
)
def test_a_wrong_initial_is_named(initial: object, named: str):
    assert named in refused(initial=initial)


@pytest.mark.parametrize("horizon", [0, -1, 2.0, "3", True, np.float64(3), [3]])
def test_a_wrong_horizon_is_shown(horizon: object):
    message = refused(horizon=horizon)
    assert message.startswith("horizon is ")
    assert "whole number of at least 1" in message


@pytest.mark.parametrize(
    "shape",
    [
        (2, S, *ACTIONS, S),  # neither 1 nor H steps
        (H, S + 1, *ACTIONS, S + 1),  # states disagree with the rewards'
        (H, S, *ACTIONS, S + 1),  # next states disagree with the states
        (H, S, 3, 2, S),  # actions of the agents exchanged
        (H, S, 2, S),  # one agent's actions missing
        (H, S, *ACTIONS),  # no axis for the next state
        (),
    ],
)
def test_a_wrong_shape_of_transitions_is_shown(shape: tuple[int, ...]):
    message = refused(transitions=np.full(shape, 1 / S))
    assert f"transitions has shape {shape}" in message
    assert "(1 or 3, 2, 2, 3, 2)" in message


@pytest.mark.parametrize(
    "shape",
    [
        (4, H, S, *ACTIONS),
        (1, H, S, *ACTIONS),
        (H, S, *ACTIONS),
        (2, H, S),
        (3, H, S, 2),
        (2, 0, S, *ACTIONS),
        (5,),
        (),
    ],
)
def test_a_wrong_shape_of_rewards_is_shown(shape: tuple[int, ...]):
    assert f"rewards has shape {shape}" in refused(rewards=np.zeros(shape))


@pytest.mark.parametrize("shape", [(3, H, S, *ACTIONS), (2, H, S, 2)])
def test_rewards_of_another_game_without_an_axis_of_steps(shape: tuple[int, ...]):
    """They are [N, S, A_1, …, A_N] of a game with H states, which the other tables are not."""
    assert f"rewards speak of {H} states" in refused(rewards=np.zeros(shape))


def test_rewards_for_another_number_of_steps_are_refused():
    assert "rewards has 2 steps; with horizon 3 it must have 1 or 3" in refused(rewards=np.zeros((2, 2, S, *ACTIONS)))


@pytest.mark.parametrize("empty", [(2, H, 0, *ACTIONS), (2, H, S, 0, 3)])
def test_no_states_or_no_actions_are_refused(empty: tuple[int, ...]):
    assert re.search(r"rewards has shape .*at least one", refused(rewards=np.zeros(empty)))


@pytest.mark.parametrize("name", ["transitions", "rewards"])
@pytest.mark.parametrize("value", [None, "abc", [[1, 2], [3]], [1j], object(), {"a": 1}])
def test_what_is_no_array_of_numbers_is_refused_by_name(name: str, value: object):
    assert name in refused(**{name: value})


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["only one"], "state_names"),
        (["twice", "twice"], "'twice' more than once"),
        ("ab", "state_names is 'ab'"),
        ([1, 2], "state_names is [1, 2]"),
        (5, "state_names is 5"),
    ],
)
def test_wrong_state_names_are_shown(names: object, said: str):
    assert said in refused(state_names=names)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([["a", "b"]], "a list for each of 2 agents"),
        ([["a", "b"], ["a", "b"]], "action_names[1]"),
        ([["a", "b"], ["a", "b", "a"]], "action_names[1] has 'a' more than once"),
        ([["a", "b"], None], "action_names[1] is None"),
        (5, "action_names is 5"),
    ],
)
def test_wrong_action_names_are_shown(names: object, said: str):
    assert said in refused(action_names=names)


def lists(**changes: object) -> Successors:
    """Successors of the whole game, each state leading to state 0 for certain, with changes."""
    rows = S * 6
    given = {"first": np.arange(rows + 1), "state": np.zeros(rows, np.int32), "prob": np.ones(rows)}
    return Successors(**{**given, **changes})


def place(name: str, index: int, value: float) -> Successors:
    array = getattr(lists(), name).copy()
    array[index] = value
    return lists(**{name: array})


def test_correct_successors_are_accepted():
    assert tacit.TabularGame(**{**whole(), "transitions": lists()}).transition_steps == 1


@pytest.mark.parametrize(
    ("transitions", "said"),
    [
        (place("prob", 7, 0.5), "[h=0, s=1, joint=(0, 1)] sums to 0.5"),
        (place("prob", 7, np.nan), "[h=0, s=1, joint=(0, 1)] has probability nan"),
        (place("state", 3, 2), "has next state 2; states go from 0 to 1"),
        (place("state", 3, -1), "has next state -1"),
        (place("first", 0, 1), "first"),
        (place("first", -1, 99), "first"),
        (place("first", 4, 3), "first"),
        (lists(prob=np.ones(11)), "first"),
        (Successors(np.arange(5), np.zeros(4, np.int32), np.ones(4)), "4 rows"),
        (Successors(np.array([], np.int64), np.zeros(0, np.int32), np.ones(0)), "rows"),
        (Successors(np.arange(0, 25, 2), np.tile([0, 1], 12), np.tile([1.5, -0.5], 12)), "probability -0.5"),
        (Successors(np.arange(0, 25, 2), np.tile([0, 1], 12), np.tile([1.0, 0.0], 12)), "probability 0"),
    ],
)
def test_wrong_successors_are_named(transitions: Successors, said: str):
    assert said in refused(transitions=transitions)


def test_successors_that_name_a_next_state_twice_are_refused():
    twice = Successors(np.arange(0, 25, 2), np.zeros(24, np.int32), np.full(24, 0.5))
    assert "transitions" in refused(transitions=twice)


@pytest.mark.parametrize("field", ["first", "state", "prob"])
@pytest.mark.parametrize("value", [None, "abc", 3.5])
def test_successors_of_another_type_are_refused(field: str, value: object):
    assert "transitions" in refused(transitions=lists(**{field: value}))
