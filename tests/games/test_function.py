"""Games as functions: compiled into the loop, checked, and refused in words where they do not compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.games.kernels import in_words


def half(x):
    return 0.5 * x


def start(u):
    return 0 if u < half(1.0) else 1


def advance(h, s, actions, u):
    return 0 if u < (0.2 if actions[0] == actions[1] else 0.8) else 1


def reward(i, h, s, actions):
    return 1.0 if (actions[0] == actions[1]) == (i == 0) else -1.0


SIZES: dict[str, Any] = {"agents": 2, "actions": 2, "states": 2, "horizon": 2, "reward_range": (-1, 1)}


def tables() -> tacit.TabularGame:
    """The same game as tables."""
    same = np.eye(2)
    P = np.where(same[..., None] == 1, [0.2, 0.8], [0.8, 0.2])
    pays = 2 * same - 1
    R = np.stack([pays, -pays])[:, None, None].repeat(2, axis=2)
    return tacit.TabularGame(P[None, None].repeat(2, axis=1), R, [0.5, 0.5], 2)


def test_functions_and_tables_give_the_same_run():
    game = tacit.FunctionGame(start, advance, reward, **SIZES)
    tacit.testing.check_game(game)
    run = tacit.learn(game, "adaptive-v-cce", episodes=200, seed=3)
    same = tacit.learn(tables(), "adaptive-v-cce", episodes=200, seed=3, certify=False)
    for one, other in zip(run.last.probs, same.last.probs, strict=True):
        assert one.tobytes() == other.tobytes()
    assert (run.reward == same.reward).all()


def begin_with(u, params):
    return params.first


def stay(h, s, actions, u, params):
    return s


def paid(i, h, s, actions, params):
    return params.table[s] * params.scale


def test_parameters():
    given = {"first": 1, "table": [0.0, 2.0], "scale": 0.5}
    sizes = {**SIZES, "reward_range": (0, 1)}
    game = tacit.FunctionGame(begin_with, stay, paid, params=given, **sizes)
    assert tacit.learn(game, "q-independent", episodes=5).reward.tolist() == [2, 2]
    other = tacit.FunctionGame(begin_with, stay, paid, params={**given, "scale": 0.25}, **sizes)
    assert type(other.kernels()) is type(game.kernels())  # compiled once
    assert other.digest != game.digest


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"reward": lambda i, h: 1.0},
            r"reward \(.*test_function.py:\d+\) must take \(i, h, s, actions\); it takes \(i, h\)",
        ),
        ({"reward": lambda i, h, s, actions: "x"}, "reward .* must return a number; got 'x'"),
        ({"reward": lambda i, h, s, actions: actions[7]}, "reward .* failed: IndexError"),
        ({"start": lambda u: u}, "start .* must return a whole number from 0 to 1; got 0.5"),
        ({"start": 3}, r"start must be a Python function of \(u\); got 3"),
        ({"actions": [2]}, r"actions must be"),
        ({"params": {}}, "params is {}"),
        ({"params": {"a b": 1}}, "params has the name 'a b'"),
        ({"params": {"a": "x"}}, r"params\['a'\] is 'x'"),
    ],
)
def test_wrong_games_are_told(wrong: dict[str, Any], message: str):
    right = {"start": start, "advance": advance, "reward": reward, **SIZES}
    with pytest.raises(tacit.TacitError, match=message):
        tacit.FunctionGame(**{**right, **wrong})


def no_such_attribute(i, h, s, actions):
    known = {"a": 1.0}
    return known.setdefault("b", object() is None)


def test_what_does_not_compile_is_told_by_file_and_line():
    game = tacit.FunctionGame(start, advance, no_such_attribute, **SIZES)
    line = no_such_attribute.__code__.co_firstlineno
    with pytest.raises(tacit.TacitError, match=rf"test_function.py:({line}|{line + 1}|{line + 2}): reward does not"):
        tacit.learn(game, "adaptive-v-cce", episodes=5)


def allocates(i, h, s, actions):
    return 1.0 * (actions == actions[i]).sum()


def test_what_allocates_is_told():
    game = tacit.FunctionGame(start, advance, allocates, **SIZES)
    with pytest.raises(tacit.TacitError, match=r"test_function.py:\d+: reward does not compile: it allocates memory"):
        game.kernels()


def test_a_state_that_is_not_there():
    game = tacit.FunctionGame(start, lambda h, s, actions, u: 2, reward, **SIZES)
    with pytest.raises(tacit.TacitError, match="must return a whole number from 0 to 1; got 2"):
        tacit.learn(game, "adaptive-v-cce", episodes=5)


def test_numba_s_dump_in_words():
    dump = "Failed in nopython mode pipeline (step: nopython frontend)\n\x1b[1mUntyped global name 'f'\x1b[0m\n\nFile x"
    assert in_words(dump) == "Untyped global name 'f'"
