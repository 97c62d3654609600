"""Discounts in files, on the command line and in experiments."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tacit
from tacit.cli.main import main

COIN = """agents: 1
discount: {}
values: reward
states: heads tails
start: heads
actions:
wait flip
observations:
1
T: wait :
identity
T: flip :
uniform
O: * :
uniform
R: * : heads : * : * : 1
"""


def test_npz_keeps_the_discount(tmp_path):
    game = tacit.make("good-state", discount=0.9)
    game.save(tmp_path / "game.npz")
    again = tacit.load(tmp_path / "game.npz")
    assert (again.discount, again.horizon) == (0.9, 1)
    assert again.digest == game.digest != tacit.make("good-state", discount=0.8).digest
    assert tacit.load(tmp_path / "game.npz", horizon=3).discount is None
    assert tacit.load(tmp_path / "game.npz", discount=0.5).discount == 0.5


def test_npz_with_both_a_horizon_and_a_discount_or_with_neither_is_refused(tmp_path, capsys):
    path = tmp_path / "game.npz"
    tacit.make("good-state", discount=0.9).save(path)
    arrays = dict(np.load(path))
    np.savez(path, **arrays, horizon=4)
    assert main(["solve", str(path)]) == 2
    assert "not both; got 4 and 0.9" in capsys.readouterr().err
    assert tacit.load(path, horizon=3).horizon == 3
    assert tacit.load(path, discount=0.5).discount == 0.5
    del arrays["discount"]
    np.savez(path, **arrays)
    with pytest.raises(tacit.TacitError, match=r"it has no horizon or discount \(it has"):
        tacit.load(path)
    assert tacit.load(path, discount=0.5).discount == 0.5


def test_tables_that_change_with_the_step_take_no_discount(tmp_path):
    changing = tacit.make("random-general-sum", stationary=False)
    with pytest.raises(tacit.TacitError, match="steps with a discount"):
        tacit.TabularGame(changing.transitions, changing.rewards, changing.initial, discount=0.9)
    changing.save(tmp_path / "game.npz")
    with pytest.raises(tacit.TacitError, match="steps with a discount"):
        tacit.load(tmp_path / "game.npz", discount=0.9)


def test_npz_that_ends_where_a_search_did_takes_no_discount(tmp_path):
    game = tacit.tabulate(lambda s, a: {s + a[0]: 1.0}, lambda s, a: float(s), start=0, actions=[2], horizon=3)
    game.save(tmp_path / "game.npz")
    with pytest.raises(tacit.TacitError, match="was tabulated up to its horizon"):
        tacit.load(tmp_path / "game.npz", discount=0.9)


def test_dpomdp_keeps_its_discount_where_no_horizon_is_given(tmp_path):
    path = tmp_path / "coin.dpomdp"
    path.write_text(COIN.format(0.75))
    game = tacit.load(path)
    assert game.discount == 0.75
    assert tacit.solve(game).values[0] == pytest.approx(4)
    assert not any("not used: returns" in note for note in game.notes)
    finite = tacit.load(path, horizon=3)
    assert finite.discount is None
    assert any("discount 0.75 is not used" in note for note in finite.notes)
    game.save(tmp_path / "again.npz")
    assert tacit.load(tmp_path / "again.npz").digest == game.digest
    path.write_text(COIN.format(1))
    with pytest.raises(tacit.TacitError, match=r"horizon must be given.* its discount is 1"):
        tacit.load(path)
    with pytest.raises(tacit.TacitError, match="not both; got 3"):
        tacit.load(path, horizon=3, discount=0.9)


def test_gymnasium_tables_take_a_discount():
    pytest.importorskip("gymnasium")
    game = tacit.from_gymnasium("FrozenLake-v1", discount=0.99)
    assert game.discount == 0.99
    assert tacit.solve(game).values[0] == pytest.approx(0.542, abs=1e-3)  # as value iteration is known to give
    with pytest.raises(tacit.TacitError, match="not both"):
        tacit.from_gymnasium("FrozenLake-v1", discount=0.99, horizon=10)


def test_functions_are_tabulated_to_the_last_state():
    def walk(state, actions):
        return {min(state + actions[0], 6): 1.0}

    game = tacit.tabulate(walk, lambda state, actions: float(state == 6), start=0, actions=[2], discount=0.5)
    assert (game.states, game.discount) == (7, 0.5)
    assert tacit.solve(game).values[0] == pytest.approx(0.5**6 * 2)
    with pytest.raises(tacit.TacitError, match="must be a function of"):
        tacit.tabulate(lambda s, a, step: {s: 1.0}, lambda s, a: 0.0, start=0, actions=[2], discount=0.5)
    with pytest.raises(tacit.TacitError, match="horizon or discount must be given"):
        tacit.tabulate(walk, lambda s, a: 0.0, start=0, actions=[2])


def test_registered_games_take_a_discount():
    assert tacit.make("chicken", discount=0.5).discount == 0.5
    with pytest.raises(tacit.TacitError, match="changes with the step"):
        tacit.make("random-general-sum", stationary=False, discount=0.5)
    with pytest.raises(tacit.TacitError, match="no tables over joint actions"):
        tacit.make("congestion", discount=0.5)
    with pytest.raises(tacit.TacitError, match="not both"):
        tacit.make("good-state", discount=0.5, horizon=4)


def test_the_command_line_shows_solves_runs_and_evaluates(tmp_path, capsys):
    assert main(["show", "good-state", "--game-set", "discount=0.9"]) == 0
    assert "discount 0.9" in capsys.readouterr().out
    assert main(["solve", "good-state", "nash", "--game-set", "discount=0.9", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["discount"] == 0.9
    assert found["gap"]["max"] < 1e-9
    out = str(tmp_path / "run")
    line = ["run", "good-state", "pg-exact", "--game-set", "discount=0.9", "--episodes", "30"]
    assert main([*line, "--out", out, "--json"]) == 0
    ran = json.loads(capsys.readouterr().out)
    assert main(["evaluate", out, "--json"]) == 0
    capsys.readouterr()
    learned = str(tmp_path / "learned")
    line = ["run", "good-state", "adaptive-v-cce", "--game-set", "discount=0.8", "--episodes", "600", "--seed", "1"]
    assert main([*line, "--out", learned, "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)
    assert main(["evaluate", learned, "--json"]) == 0
    assert f"{stored['gap']['max']:.6g}"[:6] in capsys.readouterr().out
    best = tacit.solve(tacit.make("good-state", discount=0.9)).values
    np.testing.assert_allclose(ran["value"], best, atol=0.5)
    assert main(["show", "good-state", "--game-set", "discount=1"]) == 2
    assert "must be at least 0 and below 1" in capsys.readouterr().err
