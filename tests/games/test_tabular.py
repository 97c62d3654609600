"""Tabular games: shapes, checks, sampling, isolation, dense and sparse alike."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.core import memory
from tacit.core.errors import TacitError
from tacit.games import Successors

# A stationary game without the axis of steps, and a first state instead of a distribution.


@pytest.mark.parametrize("actions", [(2,), (2, 3), (1, 1), (2, 2, 2)])
@pytest.mark.parametrize("states", [1, 2, 3])
def test_short_tables_are_long_ones(actions, states):
    rng, N = np.random.default_rng(0), len(actions)
    transitions = rng.dirichlet(np.ones(states), size=(states, *actions))
    rewards = rng.random((N, states, *actions))
    long = tacit.TabularGame(transitions[None], rewards[:, None], np.eye(states)[states - 1], 3)
    short = tacit.TabularGame(transitions, rewards, states - 1, 3)
    mixed = tacit.TabularGame(transitions[None], rewards, np.int64(states - 1), 3)
    assert long.digest == short.digest == mixed.digest
    assert short.rewards.shape == (N, 1, states, *actions)


@pytest.mark.parametrize("start", [2, -1, True, 0.0, "0"])
def test_a_wrong_first_state(start):
    with pytest.raises(TacitError, match="initial"):
        tacit.TabularGame(np.ones((2, 2, 2, 2)) / 2, np.zeros((2, 2, 2, 2)), start, 3)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2, 2, 2), (4, 2, 2, 2), (2,)])
def test_wrong_shapes_are_still_told(shape):
    with pytest.raises(TacitError, match="rewards must be"):
        tacit.TabularGame(np.ones((2, 2, 2, 2)) / 2, np.zeros(shape), 0, 3)


@pytest.mark.parametrize("what", ["transition", "reward"])
def test_functions_of_other_parameters_are_told(what):
    given = {"transition": lambda s, actions: {s: 1.0}, "reward": lambda s, actions: 0.0}
    given |= {what: lambda s, actions, s_next: 0.0}
    with pytest.raises(tacit.TacitError, match=rf"{what} must be a function of .*got one of '\(s, actions, s_next\)'"):
        tacit.tabulate(**given, start=0, actions=[2], horizon=2)


# One to four agents, each with its own number of actions.


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
        (2, 0, (0, 0), "h must be"),
        (-1, 0, (0, 0), "h must be"),
        (0, 2, (0, 0), "s must be"),
        (0, -1, (0, 0), "s must be"),
        (0, 0, (0, 3), "actions[1] must be"),
        (0, 0, (-1, 0), "actions[0] must be"),
        (0, 0, (0,), "actions must be"),
        (0, 0, (0, 0, 0), "one for each of 2 agents"),
        (0, 0, (0.5, 0), "actions[0] must be"),
        (None, 0, (0, 0), "h must be"),
        (0, "s0", (0, 0), "s must be"),
        (0, 0, None, "actions must be"),
        (0, 0, 7, "actions must be"),
    ],
)
def test_a_wrong_place_is_named(h: object, s: object, actions: object, said: str):
    game = tacit.make("random-general-sum", actions=(2, 3), horizon=2)
    with pytest.raises(tacit.TacitError) as caught:
        game.step(h, s, actions, 0.5)
    assert said in str(caught.value)


# A wrong input to TabularGame is refused in one sentence that names the place and shows the value.


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


def test_opposite_infinities_are_refused_without_a_warning():
    message = refused(transitions=changed("transitions", (0, 1, 1, 0), [np.inf, -np.inf]))
    assert "transitions[h=0, s=1, joint=(1, 0), next=0] must be" in message


@pytest.mark.parametrize("total", [0.98, 1.5, 1 + 3e-9])
def test_a_transition_row_with_another_sum_is_named(total: float):
    row = np.array([0.4, total - 0.4])
    message = refused(transitions=changed("transitions", (1, 0, 1, 2), row))
    assert "transitions[h=1, s=0, joint=(1, 2)] must sum to 1" in message
    assert f"{total:.12g}" in message


def test_a_row_within_1e_9_of_one_is_accepted():
    tacit.TabularGame(**{**whole(), "transitions": changed("transitions", (1, 0, 1, 2), [0.4, 0.6 + 5e-10])})


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_reward_that_is_not_finite_is_named(wrong: float):
    message = refused(rewards=changed("rewards", (1, 2, 0, 1, 2), wrong))
    assert "rewards[i=1, h=2, s=0, joint=(1, 2)] must be" in message


@pytest.mark.parametrize(
    ("initial", "named"),
    [
        ([0.5, 0.4], "initial must sum to 1"),
        ([1.5, -0.5], "initial[s=1] must be"),
        ([np.nan, 1.0], "initial[s=0] must be"),
        ([np.inf, 0.0], "initial[s=0] must be"),
        ([1.0], "got (1,)"),
        ([0.2, 0.3, 0.5], "got (3,)"),
        ([[0.5, 0.5]], "got (1, 2)"),
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
    assert message.startswith("horizon must be")
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
    assert f"got shape {shape}" in message
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
    assert str(shape) in refused(rewards=np.zeros(shape))


@pytest.mark.parametrize("shape", [(3, H, S, *ACTIONS), (2, H, S, 2)])
def test_rewards_of_another_game_without_an_axis_of_steps(shape: tuple[int, ...]):
    """They are [N, S, A_1, …, A_N] of a game with H states, which the other tables are not."""
    assert "by the states" in refused(rewards=np.zeros(shape))


def test_rewards_for_another_number_of_steps_are_refused():
    assert "rewards must have 1 or 3 steps with horizon 3; got 2" in refused(rewards=np.zeros((2, 2, S, *ACTIONS)))


@pytest.mark.parametrize("empty", [(2, H, 0, *ACTIONS), (2, H, S, 0, 3)])
def test_no_states_or_no_actions_are_refused(empty: tuple[int, ...]):
    assert re.search("rewards must have at least one agent", refused(rewards=np.zeros(empty)))


@pytest.mark.parametrize("name", ["transitions", "rewards"])
@pytest.mark.parametrize("value", [None, "abc", [[1, 2], [3]], [1j], object(), {"a": 1}])
def test_what_is_no_array_of_numbers_is_refused_by_name(name: str, value: object):
    assert name in refused(**{name: value})


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["only one"], "state_names"),
        (["twice", "twice"], "'twice' more than once"),
        ("ab", "state_names must be"),
        ([1, 2], "state_names must be"),
        (5, "state_names must be"),
    ],
)
def test_wrong_state_names_are_shown(names: object, said: str):
    assert said in refused(state_names=names)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([["a", "b"]], "a list for each of 2 agents"),
        ([["a", "b"], ["a", "b"]], "action_names[1]"),
        ([["a", "b"], ["a", "b", "a"]], "action_names[1] must differ"),
        ([["a", "b"], None], "action_names[1] must be"),
        (5, "action_names must be"),
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
        (place("prob", 7, 0.5), "[h=0, s=1, joint=(0, 1)] must sum to 1"),
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


# A leading 1 means "the same at every step" and is never copied H times.


@pytest.fixture
def game() -> tacit.TabularGame:
    rng = np.random.default_rng(3)
    return tacit.TabularGame(
        rng.dirichlet(np.ones(4), (1, 4, 2, 3)), rng.random((2, 1, 4, 2, 3)), np.full(4, 0.25), 1000
    )


def test_the_arrays_keep_their_single_step(game: tacit.TabularGame):
    assert game.transitions.shape == (1, 4, 2, 3, 4)
    assert game.rewards.shape == (2, 1, 4, 2, 3)
    assert game.transition_steps == 1
    assert game.successors.rows == 4 * 6


def test_every_step_shows_the_same_memory(game: tacit.TabularGame):
    assert np.shares_memory(game.step_rewards(0), game.step_rewards(999))
    assert np.shares_memory(game.step_rewards(500), game.rewards)


def test_evaluation_leaves_no_copy_for_each_step_behind(game: tacit.TabularGame):
    tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))
    held = [value for value in vars(game).values() if isinstance(value, np.ndarray)]
    assert sum(array.nbytes for array in held) <= 4 * game.transitions.nbytes
    assert len(game._step_matrices) == 1


@pytest.mark.parametrize("which", ["transitions", "rewards"])
def test_one_array_may_change_with_the_step_and_the_other_not(which: str):
    rng = np.random.default_rng(4)
    arrays = {"transitions": rng.dirichlet(np.ones(2), (1, 2, 2)), "rewards": rng.random((1, 1, 2, 2))}
    axis = 0 if which == "transitions" else 1
    stacked = {**arrays, which: np.repeat(arrays[which], 5, axis=axis)}
    one, many = (tacit.TabularGame(**a, initial=[1, 0], horizon=5) for a in (arrays, stacked))
    policy = tacit.MarkovPolicy.uniform(one)
    assert np.allclose(tacit.evaluate(one, policy).values, tacit.evaluate(many, policy).values, atol=1e-13)


# What a game says of itself.


@pytest.mark.parametrize(
    ("game", "text"),
    [
        (
            tacit.make("good-state"),
            "TabularGame('good-state': 2 agents, 2 states, 2×2 actions, horizon 10, rewards in [-2, 5])",
        ),
        (
            tacit.make("distancing", agents=6, weights=[1, 2], horizon=3),
            "TabularGame('distancing': 6 agents, 2 states, 2^6 actions, horizon 3, rewards in [-99, 12])",
        ),
        (
            tacit.TabularGame(np.ones((1, 1, 3, 1)), [[[[1, 2, 3]]]], [1], 1),
            "TabularGame(1 agent, 1 state, 3 actions, horizon 1, rewards in [1, 3])",
        ),
    ],
)
def test_repr(game: tacit.TabularGame, text: str):
    assert repr(game) == text


# Draws follow the probabilities and never reach a next state of probability zero.


BELOW_ONE = np.nextafter(1.0, 0.0)
ROW = np.array([0.0, 0.1, 0.0, 0.6, 0.0, 0.3, 0.0])


def lottery(row: np.ndarray) -> tacit.TabularGame:
    """One agent, one action: every state leads on by the same row, which is also the first distribution."""
    S = len(row)
    return tacit.TabularGame(np.tile(row, (1, S, 1, 1)), np.zeros((1, 1, S, 1)), row, 2)


@pytest.mark.parametrize("u", [0.0, np.nextafter(0.0, 1.0), 0.1, 0.5, 0.7, BELOW_ONE, *np.linspace(0, BELOW_ONE, 500)])
def test_only_states_of_positive_probability_are_drawn(u: float):
    game = lottery(ROW)
    assert ROW[game.start(u)] > 0
    assert ROW[game.step(0, 0, [0], u)[0]] > 0


def test_ends_of_the_unit_interval_draw_the_first_and_last_state():
    game = lottery(ROW)
    assert (game.start(0.0), game.start(BELOW_ONE)) == (1, 5)
    assert (game.step(1, 6, [0], 0.0)[0], game.step(1, 6, [0], BELOW_ONE)[0]) == (1, 5)


def test_each_interval_has_the_length_of_its_probability():
    game = lottery(ROW)
    assert [game.start(u) for u in (0.0999, 0.1001, 0.6999, 0.7001)] == [1, 3, 3, 5]


def test_a_row_slightly_below_one_still_draws_its_last_state():
    row = np.array([0.5, 0.5 - 9e-10, 0.0])
    assert lottery(row).start(BELOW_ONE) == 1


def test_many_equal_probabilities_do_not_drift():
    S = 1000
    game = lottery(np.full(S, 1 / S))
    assert [game.start((k + 0.5) / S) for k in range(S)] == list(range(S))


@pytest.mark.parametrize("seed", [1, 2])
def test_frequencies_follow_the_probabilities(seed: int):
    """Chi-square at level 1e-6 for each of four fixed-seed samples: a correct sampler fails with chance 4e-6 in all."""
    game = lottery(ROW)
    draws = np.random.default_rng(seed).random((2, 20_000))
    support = np.flatnonzero(ROW)
    for drawn in ([game.start(u) for u in draws[0]], [game.step(0, 2, [0], u)[0] for u in draws[1]]):
        counts = np.bincount(drawn, minlength=len(ROW))
        assert counts[ROW == 0].sum() == 0
        assert stats.chisquare(counts[support], 20_000 * ROW[support]).pvalue > 1e-6


def test_each_step_state_and_joint_action_uses_its_own_row():
    game = tacit.make("random-general-sum", agents=2, actions=(2, 3), states=3, horizon=2, seed=5)
    for h, s, a, b in np.ndindex(2, 3, 2, 3):
        edges = np.cumsum(game.transitions[h, s, a, b])
        for u in np.linspace(0.01, 0.99, 37):
            assert game.step(h, s, (a, b), u)[0] == np.searchsorted(edges, u, side="right")


@pytest.mark.parametrize("u", [-0.1, 1.0, 1.5, np.nan, None, "0.5"])
def test_a_number_outside_the_unit_interval_is_refused(u: object):
    game = lottery(ROW)
    with pytest.raises(tacit.TacitError):
        game.start(u)
    with pytest.raises(tacit.TacitError):
        game.step(0, 0, [0], u)


# A game is its own: nobody can write to it, and what the caller does to his arrays later does not reach it.


def arrays() -> dict[str, np.ndarray]:
    return {
        "transitions": np.full((1, 2, 2, 2), 0.5),
        "rewards": np.arange(4.0).reshape(1, 1, 2, 2),
        "initial": np.array([0.5, 0.5]),
    }


@pytest.mark.parametrize("name", ["transitions", "rewards", "initial"])
def test_arrays_of_a_game_are_read_only(name: str):
    game = tacit.TabularGame(**arrays(), horizon=2)
    with pytest.raises(ValueError, match="read-only"):
        getattr(game, name)[0] = 0


@pytest.mark.parametrize("name", ["transitions", "rewards", "initial"])
def test_a_later_change_by_the_caller_does_not_reach_the_game(name: str):
    given = arrays()
    game = tacit.TabularGame(**given, horizon=2)
    given[name][:] = -1
    assert (getattr(game, name) == arrays()[name]).all()


def test_the_callers_array_stays_writable():
    given = arrays()
    tacit.TabularGame(**given, horizon=2)
    assert all(array.flags.writeable for array in given.values())


def test_a_read_only_view_of_a_writable_array_does_not_leak():
    given = arrays()
    view = given["rewards"].view()
    view.flags.writeable = False
    game = tacit.TabularGame(given["transitions"], view, given["initial"], 2)
    given["rewards"][:] = -1
    assert (game.rewards == arrays()["rewards"]).all()


def test_successors_are_isolated_and_read_only_too():
    lists = Successors(np.arange(5), np.zeros(4, np.int32), np.ones(4))
    game = tacit.TabularGame(lists, np.zeros((1, 1, 2, 2)), [1, 0], 2)
    lists.state[:] = 1
    assert (game.successors.state == 0).all()
    assert not any(array.flags.writeable for array in game.successors)


@pytest.mark.parametrize("made", ["box-pushing", "good-state"])
def test_what_is_made_on_first_use_is_read_only(made: str):
    game = tacit.make(made)
    assert not game.transitions.flags.writeable
    assert not any(array.flags.writeable for array in game.successors)


def test_policies_are_isolated_and_read_only():
    table = np.full((1, 2, 2), 0.5)
    policy = tacit.MarkovPolicy([table])
    table[:] = -1
    assert (policy.probs[0] == 0.5).all()
    assert not policy.probs[0].flags.writeable


# The same game given as an array and as lists of successors is the same in everything it does.


def sparse_array(steps: int, seed: int) -> np.ndarray:
    """Transitions [steps, 5, 2, 3, 5] with about half of their entries zero."""
    rng = np.random.default_rng(seed)
    dense = rng.random((steps, 5, 2, 3, 5)) * (rng.random((steps, 5, 2, 3, 5)) < 0.5)
    dense[..., 2] += 0.1
    return dense / dense.sum(axis=-1, keepdims=True)


def both(steps: int = 4, seed: int = 0) -> tuple[tacit.TabularGame, tacit.TabularGame]:
    dense = sparse_array(steps, seed)
    first, state, prob = [0], [], []
    for row in dense.reshape(-1, 5):
        for s, p in enumerate(row):
            if p > 0:
                state.append(s)
                prob.append(p)
        first.append(len(state))
    lists = Successors(np.array(first), np.array(state, np.int32), np.array(prob))
    rewards = np.random.default_rng(seed + 1).normal(size=(2, steps, 5, 2, 3))
    rest = (rewards, [0, 0.5, 0.25, 0.25, 0], 4)
    return tacit.TabularGame(dense, *rest), tacit.TabularGame(lists, *rest)


@pytest.mark.parametrize("steps", [1, 4])
def test_each_form_is_made_from_the_other(steps: int):
    dense, lists = both(steps)
    assert (dense.transitions == lists.transitions).all()
    assert all((a == b).all() for a, b in zip(dense.successors, lists.successors, strict=True))
    assert dense.transition_steps == lists.transition_steps == steps


@pytest.mark.parametrize("steps", [1, 4])
def test_draws_are_identical(steps: int):
    dense, lists = both(steps)
    for u in np.linspace(0, 0.999, 40):
        assert dense.start(u) == lists.start(u)
        for place in [(0, 1, (0, 2)), (3, 4, (1, 1))]:
            one, other = dense.step(*place, u), lists.step(*place, u)
            assert one[0] == other[0]
            assert (one[1] == other[1]).all()


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("correlated", [False, True])
def test_evaluation_agrees(steps: int, correlated: bool):
    dense, lists = both(steps)
    policy = tacit.MarkovPolicy.random(dense, seed=9, correlated=correlated)
    for kind in ("cce", "ce"):
        one, other = (tacit.evaluate(game, policy, gap=kind) for game in (dense, lists))
        assert np.allclose(one.values, other.values, atol=1e-13)
        assert np.allclose(one.gaps, other.gaps, atol=1e-13)
    one, other = (tacit.evaluation.occupancy(game, policy) for game in (dense, lists))
    assert np.allclose(one, other, atol=1e-15)


@pytest.mark.parametrize("concept", ["optimum", "cce", "ce"])
def test_solutions_agree(concept: str):
    dense, lists = both()
    assert np.allclose(tacit.solve(dense, concept).V, tacit.solve(lists, concept).V, atol=1e-9)


def test_the_forced_sparse_product_equals_the_dense_one():
    """BoxPushing is evaluated through its lists; through its dense array it must come out the same."""
    lists = tacit.make("box-pushing", horizon=5)
    dense = tacit.TabularGame(lists.transitions, lists.rewards, lists.initial, 5)
    dense.__dict__["_step_matrices"] = list(dense.transitions.reshape(1, -1, 100))
    policy = tacit.MarkovPolicy.random(lists, seed=1)
    one, other = tacit.evaluate(lists, policy), tacit.evaluate(dense, policy)
    assert np.allclose(one.values, other.values, atol=1e-12)
    assert np.allclose(one.gaps, other.gaps, atol=1e-12)


# A game larger than memory is refused at once, with its size.


TOO_LARGE = [
    ("distancing", {"agents": 40, "form": "tables"}),
    ("distancing", {"agents": 500, "form": "tables"}),
    ("random-general-sum", {"agents": 30, "actions": 4}),
    ("random-team", {"states": 10**7}),
    ("random-potential", {"states": 10**6, "horizon": 10**4}),
    ("random-general-sum", {"agents": 50, "states": 1000, "actions": 1000}),
]


@pytest.mark.parametrize(("name", "params"), TOO_LARGE, ids=str)
def test_it_is_refused_with_its_size(name: str, params: dict[str, int]):
    begin = time.perf_counter()
    with pytest.raises(tacit.TacitError) as caught:
        tacit.make(name, **params)
    assert re.search(rf"the {name} game .*?would take .* of memory, and .* are free", str(caught.value))
    assert time.perf_counter() - begin < 1


def test_the_dense_form_of_a_large_sparse_game_is_refused():
    S = 200_000
    game = tacit.TabularGame(
        Successors(np.arange(S + 1), np.zeros(S, np.int32), np.ones(S)), np.zeros((1, 1, S, 1)), np.eye(1, S)[0], 2
    )
    with pytest.raises(tacit.TacitError, match=r"the dense transitions \(1, 200000, 1, 200000\) would take 320 GB"):
        _ = game.transitions
    assert tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap == 0


@pytest.mark.parametrize("concept", ["optimum", "cce", "ce", "nash"])
def test_a_solution_larger_than_memory_is_refused(concept: str):
    game = tacit.make("matching-pennies", horizon=10**14)
    with pytest.raises(tacit.TacitError, match="would take"):
        tacit.solve(game, concept)


def test_an_evaluation_larger_than_memory_is_refused():
    game = tacit.make("matching-pennies", horizon=10**14)
    with pytest.raises(tacit.TacitError, match="would take"):
        tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))


@pytest.mark.parametrize("name", ["random-general-sum", "random-team", "random-potential"])
def test_more_agents_than_numpy_has_axes_are_refused(name: str):
    with pytest.raises(tacit.TacitError, match="agents"):
        tacit.make(name, agents=70, actions=1)


def test_nothing_is_allocated_when_memory_is_said_to_be_full(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(tacit.TacitError, match=r"and 1 kB are free"):
        tacit.make("random-general-sum", states=10)


SWEEP = """
import resource
import sys
import tacit
from tacit.core import memory
from tacit.games import REGISTRY

memory.available = lambda: 10**9
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
for name in REGISTRY:
    for key, usual in REGISTRY.parameters(name).items():
        for size in (10**7, 10**8, 10**18, 10**40):
            if type(usual) is int:
                try:
                    tacit.make(name, **{key: size})
                except tacit.TacitError:
                    continue
                except BaseException as error:
                    sys.exit(f"{name} {key}={size}: {type(error).__name__} {error}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on memory")
def test_no_size_is_used_before_it_is_checked():
    found = subprocess.run([sys.executable, "-c", SWEEP], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
