"""Each construct and dialect of the .dpomdp format, against tables written by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from format_samples import EVERY_CONSTRUCT, ONE_AGENT, PREAMBLE, THREE_AGENTS, WHOLE, write

import tacit
from tacit.games import dpomdp
from tacit.games.tabular import TabularGame


def load(folder: Path, text: str | bytes, horizon: int = 3) -> TabularGame:
    return dpomdp.load(write(folder, text, "game.dpomdp"), horizon=horizon)


def transitions(folder: Path, statements: str) -> np.ndarray:
    """The transitions [S, A_1, A_2, S] after the statements."""
    return load(folder, PREAMBLE + WHOLE + statements).transitions[0]


def rewards(folder: Path, statements: str) -> np.ndarray:
    """The rewards [S, A_1, A_2] after the statements."""
    return load(folder, PREAMBLE + WHOLE + statements).rewards[0, 0]


def test_preamble(tmp_path: Path):
    game = load(tmp_path, PREAMBLE + WHOLE, horizon=7)
    assert game.name == "game"
    assert game.horizon == 7
    assert game.state_names == ("dry", "wet", "flooded")
    assert game.action_names == (("dig", "wait"), ("pump", "dig", "wait"))
    assert game.observation_names == (("sun", "rain"), ())
    assert game.initial.tolist() == [1, 0, 0]
    assert any("not used: play is fully observed" in note for note in game.notes)
    assert any("discount 0.9" in note for note in game.notes)


def test_the_team_reward_goes_to_every_agent(tmp_path: Path):
    game = load(tmp_path, PREAMBLE + WHOLE + "R: dig dig : wet : * : * : 5\n")
    assert game.rewards.shape == (2, 1, 3, 2, 3)
    assert np.array_equal(game.rewards[0], game.rewards[1])
    assert game.rewards[1, 0, 1, 0, 1] == 5
    assert np.count_nonzero(game.rewards) == 2


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("start: wet", [0, 1, 0]),
        ("start: 2", [0, 0, 1]),
        ('start: "wet"', [0, 1, 0]),
        ("start:\nuniform", [1 / 3, 1 / 3, 1 / 3]),
        ("start: uniform", [1 / 3, 1 / 3, 1 / 3]),
        ("start:\n0.5 0.25 0.25", [0.5, 0.25, 0.25]),
        ("start: 0.5 0.25 0.25", [0.5, 0.25, 0.25]),
        ("start include: dry 2", [0.5, 0, 0.5]),
        ("start exclude: wet", [0.5, 0, 0.5]),
        ("start:\n0.33333 0.33333 0.33333", [1 / 3, 1 / 3, 1 / 3]),
    ],
)
@pytest.mark.parametrize("after", [False, True], ids=["before-actions", "after-observations"])
def test_start(tmp_path: Path, start: str, expected: list[float], after: bool):
    before = PREAMBLE.replace("start: dry\n", "" if after else start + "\n")
    game = load(tmp_path, before + (start + "\n" if after else "") + WHOLE)
    assert game.initial == pytest.approx(expected, abs=1e-15)


def test_whole_matrices(tmp_path: Path):
    matrix = [[0.5, 0.25, 0.25], [0, 1, 0], [0.125, 0.125, 0.75]]
    rows = "\n".join(" ".join(str(p) for p in row) for row in matrix)
    found = transitions(tmp_path, f"T: dig wait :\n{rows}\nT: wait * :\nidentity\n")
    assert found[:, 0, 2] == pytest.approx(np.array(matrix))
    assert found[:, 1] == pytest.approx(np.broadcast_to(np.eye(3)[:, None], (3, 3, 3)))
    assert found[:, 0, 0] == pytest.approx(np.full((3, 3), 1 / 3))


@pytest.mark.parametrize("joint", ["dig wait", "0 2", "dig 2", "0 wait", "2", '"dig" "wait"'])
def test_ways_to_tell_a_joint_action(tmp_path: Path, joint: str):
    found = transitions(tmp_path, f"T: {joint} : wet :\n0 0 1\n")
    changed = np.argwhere(np.abs(found[..., 2] - 1) < 1e-12)
    assert changed.tolist() == [[1, 0, 2]]


def test_wildcards(tmp_path: Path):
    found = transitions(tmp_path, "T: * wait : wet :\n0 0 1\nT: dig * : * :\n1 0 0\n")
    assert found[1, 1, 2].tolist() == [0, 0, 1]
    assert found[:, 0].tolist() == np.broadcast_to([1, 0, 0], (3, 3, 3)).tolist()
    assert found[0, 1] == pytest.approx(np.full((3, 3), 1 / 3))


def test_later_entries_overwrite_one_by_one(tmp_path: Path):
    statements = "T: 0 : dry :\n0.5 0.5 0\nT: 0 : dry : dry : 0\nT: 0 : dry : flooded : 0.25\nT: 0 : dry : wet : 0.75\n"
    assert transitions(tmp_path, statements)[0, 0, 0].tolist() == [0, 0.75, 0.25]


def test_a_row_overwrites_what_was_there(tmp_path: Path):
    statements = "T: 0 : dry : wet : 0.9\nT: 0 : dry :\n0 0 1\n"
    assert transitions(tmp_path, statements)[0, 0, 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("before", ["T: 0 : dry :\n1 0 0\n", "T: 0 : dry : wet : 0.9\n", "T: * : dry : wet : 0.9\n"])
def test_an_entry_for_all_next_states(tmp_path: Path, before: str):
    statements = before + "T: * : dry : * : 0.333333333333\n"
    assert transitions(tmp_path, statements)[0, 0, 0] == pytest.approx(1 / 3, abs=1e-11)


def test_roughly_one_is_rescaled_and_told(tmp_path: Path):
    game = load(tmp_path, PREAMBLE + WHOLE + "T: 0 : dry :\n0.33333 0.33333 0.33333\n")
    assert game.transitions[0, 0, 0, 0] == pytest.approx(np.full(3, 1 / 3), abs=1e-15)
    assert "1 of 18 rows of T sum to 1 only roughly: rescaled" in game.notes


def test_setting_rewards(tmp_path: Path):
    found = rewards(tmp_path, "R: * : * : * : * : 1\nR: dig * : wet : * : * * : +20\nR: dig pump : wet : -3e0\n")
    assert found[1, 0].tolist() == [-3, 20, 20]
    assert found[1, 1].tolist() == [1, 1, 1]
    assert found[0].tolist() == np.ones((2, 3)).tolist()


MOVES = "T: * : * :\n0.5 0.25 0.25\nO: * : * :\n0.4 0.3 0.2 0.1\nO: * : wet :\n0.1 0.2 0.3 0.4\n"


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("R: 0 : dry : wet : * : 8", 0.25 * 8),
        ("R: 0 : dry : wet : * * : 8", 0.25 * 8),
        ("R: 0 : dry : wet : rain 1 : 8", 0.25 * 0.4 * 8),
        ("R: 0 : dry : wet : 3 : 8", 0.25 * 0.4 * 8),
        ("R: 0 : dry : wet : rain * : 8", 0.25 * 0.7 * 8),
        ("R: 0 : dry : * : rain 1 : 8", (0.75 * 0.1 + 0.25 * 0.4) * 8),
        ("R: 0 : dry : wet :\n1 2 3 4", 0.25 * (0.1 + 0.4 + 0.9 + 1.6)),
        ("R: 0 : dry : * :\n1 2 3 4", 0.75 * (0.4 + 0.6 + 0.6 + 0.4) + 0.25 * (0.1 + 0.4 + 0.9 + 1.6)),
        ("R: 0 : dry :\n1 0 0 0\n0 0 0 2\n0 0 0 -1", 0.5 * 0.4 + 0.25 * 0.8 - 0.25 * 0.1),
        ("R: 0 : dry : 7\nR: 0 : dry : wet : * : 8", 7 + 0.25 * 8),
        ("R: 0 : dry : wet : * : 8\nR: 0 : dry : 7", 7),
        ("R: 0 : dry : wet : 0 0 : 8\nR: 0 : dry : * :\n1 2 3 4\nR: 0 : dry : * : * : 7", 7),
        ("R: 0 : dry : wet : * : 8\nR: 0 : dry : wet : * : 4", 0.25 * 12),
        ("R: * : * : wet : * : 8", 0.25 * 8),
        ("R: 0 : * : wet : * : 8\nR: 1 : dry : wet : * : 100\nR: 0 : wet : wet : * : 100", 0.25 * 8),
    ],
)
def test_rewards_that_depend_on_what_follows(tmp_path: Path, statements: str, expected: float):
    assert rewards(tmp_path, MOVES + statements + "\n")[0, 0, 0] == pytest.approx(expected, abs=1e-14)
    late = rewards(tmp_path, statements + "\n" + MOVES)  # expectations wait for the last T and O
    assert late[0, 0, 0] == pytest.approx(expected, abs=1e-14)


def test_costs_are_negated(tmp_path: Path):
    game = load(tmp_path, THREE_AGENTS)
    assert game.rewards[2, 0, :, 1].ravel().tolist() == [-3] * 4
    assert not game.rewards[2, 0, :, 0].any()
    assert any("cost" in note for note in game.notes)


def test_agents_by_name_and_counts(tmp_path: Path):
    game = load(tmp_path, THREE_AGENTS)
    assert (game.agents, game.actions, game.states) == (3, (2, 1, 2), 2)
    assert game.state_names is None
    assert game.action_names is None
    assert game.transitions[0, 1, 0, 0, 1].tolist() == [0.5, 0.5]
    assert load(tmp_path, ONE_AGENT).agents == 1


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace("\n", "  \n\n# comment\n\n"),
        lambda text: "﻿" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("dry", '"dry"').replace("rain", '"rain"'),
        lambda text: text.replace("dry", '"bone dry: #1"'.replace("#", "no ")),
        lambda text: text.replace(" : ", ":"),
        lambda text: text.replace("start: dry\n", "").replace("T: * :\nid", "start: dry\nT: * :\nid"),
    ],
    ids=["crlf", "tabs", "blanks", "bom", "no-last-newline", "quotes", "spaces-in-quotes", "tight", "late-start"],
)
def test_dialects_change_nothing(tmp_path: Path, change):
    plain, changed = load(tmp_path, EVERY_CONSTRUCT), load(tmp_path, change(EVERY_CONSTRUCT))
    assert np.array_equal(plain.transitions, changed.transitions)
    assert np.array_equal(plain.rewards, changed.rewards)
    assert np.array_equal(plain.initial, changed.initial)


def test_very_long_lines(tmp_path: Path):
    states = 20_000
    names = " ".join(f"s{k}" for k in range(states))
    row = " ".join(["0.00005"] * states)
    text = f"agents: 1\ndiscount: 1\nvalues: reward\nstates: {names}\nstart:\n{row}\nactions:\n1\nobservations:\n1\n"
    game = load(tmp_path, f"{text}T: 0 :\nidentity\nT: 0 : s7 :\n{row}\nO: * : * : 0 : 1\nR: 0 : s19999 : 1\n")
    first, state, prob = game.successors
    assert np.diff(first).tolist() == [states if s == 7 else 1 for s in range(states)]
    assert state[first[9]] == 9
    assert prob[first[7] : first[8]] == pytest.approx(1 / states)
    assert game.rewards[0, 0, -1, 0] == 1


def test_a_file_without_observations_is_read(tmp_path: Path):
    game = load(tmp_path, PREAMBLE + "T: * :\nidentity\nR: * : dry : wet : * : 1\n")
    assert not game.rewards.any()


def test_the_optimum_of_a_small_file(tmp_path: Path):
    """Digging leads on with certainty and pays in the last state; three steps from the first reach one payment."""
    text = PREAMBLE + WHOLE + "T: * :\nidentity\nT: dig dig :\n0 1 0\n0 0 1\n0 0 1\nR: dig dig : flooded : 10\n"
    assert tacit.solve(load(tmp_path, text), "optimum").values[0] == pytest.approx(10)
