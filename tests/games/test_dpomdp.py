"""Team games as .dpomdp: against tables by hand and a dense reader; errors, round trips, memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from dpomdp_writer import write_dpomdp
from format_samples import EVERY_CONSTRUCT, ONE_AGENT, PREAMBLE, THREE_AGENTS, WHOLE, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tacit
from tacit.core import memory
from tacit.games import dpomdp
from tacit.games.tabular import TabularGame

# Each construct and dialect of the .dpomdp format, against tables written by hand.


def load_text(folder: Path, text: str | bytes, horizon: int = 3) -> TabularGame:
    return dpomdp.load_dpomdp(write(folder, text, "game.dpomdp"), horizon=horizon)


def transitions(folder: Path, statements: str) -> np.ndarray:
    """The transitions [S, A_1, A_2, S] after the statements."""
    return load_text(folder, PREAMBLE + WHOLE + statements).transitions[0]


def rewards(folder: Path, statements: str) -> np.ndarray:
    """The rewards [S, A_1, A_2] after the statements."""
    return load_text(folder, PREAMBLE + WHOLE + statements).rewards[0, 0]


def test_preamble(tmp_path: Path):
    game = load_text(tmp_path, PREAMBLE + WHOLE, horizon=7)
    assert game.name == "game"
    assert game.horizon == 7
    assert game.state_names == ("dry", "wet", "flooded")
    assert game.action_names == (("dig", "wait"), ("pump", "dig", "wait"))
    assert game.initial.tolist() == [1, 0, 0]
    assert any("not used: play is fully observed" in note for note in game.notes)
    assert any("discount 0.9" in note for note in game.notes)


def test_the_team_reward_goes_to_every_agent(tmp_path: Path):
    game = load_text(tmp_path, PREAMBLE + WHOLE + "R: dig dig : wet : * : * : 5\n")
    assert game.rewards.shape == (2, 1, 3, 2, 3)
    assert np.array_equal(game.rewards[0], game.rewards[1])
    assert game.rewards[1, 0, 1, 0, 1] == 5
    assert np.count_nonzero(game.rewards) == 2


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("start: wet", [0, 1, 0]),
        ("start: 2", [0, 0, 1]),
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
    game = load_text(tmp_path, before + (start + "\n" if after else "") + WHOLE)
    assert game.initial == pytest.approx(expected, abs=1e-15)


def test_whole_matrices(tmp_path: Path):
    matrix = [[0.5, 0.25, 0.25], [0, 1, 0], [0.125, 0.125, 0.75]]
    rows = "\n".join(" ".join(str(p) for p in row) for row in matrix)
    found = transitions(tmp_path, f"T: dig wait :\n{rows}\nT: wait * :\nidentity\n")
    assert found[:, 0, 2] == pytest.approx(np.array(matrix))
    assert found[:, 1] == pytest.approx(np.broadcast_to(np.eye(3)[:, None], (3, 3, 3)))
    assert found[:, 0, 0] == pytest.approx(np.full((3, 3), 1 / 3))


@pytest.mark.parametrize("joint", ["dig wait", "0 2", "dig 2", "0 wait", "2"])
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
    game = load_text(tmp_path, PREAMBLE + WHOLE + "T: 0 : dry :\n0.33333 0.33333 0.33333\n")
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
    game = load_text(tmp_path, THREE_AGENTS)
    assert game.rewards[2, 0, :, 1].ravel().tolist() == [-3] * 4
    assert not game.rewards[2, 0, :, 0].any()
    assert any("cost" in note for note in game.notes)


def test_agents_by_name_and_counts(tmp_path: Path):
    game = load_text(tmp_path, THREE_AGENTS)
    assert (game.agents, game.actions, game.states) == (3, (2, 1, 2), 2)
    assert game.state_names is None
    assert game.action_names is None
    assert game.transitions[0, 1, 0, 0, 1].tolist() == [0.5, 0.5]
    assert load_text(tmp_path, ONE_AGENT).agents == 1


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
    plain, changed = load_text(tmp_path, EVERY_CONSTRUCT), load_text(tmp_path, change(EVERY_CONSTRUCT))
    assert np.array_equal(plain.transitions, changed.transitions)
    assert np.array_equal(plain.rewards, changed.rewards)
    assert np.array_equal(plain.initial, changed.initial)


def test_very_long_lines(tmp_path: Path):
    states = 20_000
    names = " ".join(f"s{k}" for k in range(states))
    row = " ".join(["0.00005"] * states)
    text = f"agents: 1\ndiscount: 1\nvalues: reward\nstates: {names}\nstart:\n{row}\nactions:\n1\nobservations:\n1\n"
    game = load_text(tmp_path, f"{text}T: 0 :\nidentity\nT: 0 : s7 :\n{row}\nO: * : * : 0 : 1\nR: 0 : s19999 : 1\n")
    first, state, prob = game.successors
    assert np.diff(first).tolist() == [states if s == 7 else 1 for s in range(states)]
    assert state[first[9]] == 9
    assert prob[first[7] : first[8]] == pytest.approx(1 / states)
    assert game.rewards[0, 0, -1, 0] == 1


def test_a_file_without_observations_is_read(tmp_path: Path):
    game = load_text(tmp_path, PREAMBLE + "T: * :\nidentity\nR: * : dry : wet : * : 1\n")
    assert not game.rewards.any()


def test_the_optimum_of_a_small_file(tmp_path: Path):
    """Digging leads on with certainty and pays in the last state; three steps from the first reach one payment."""
    text = PREAMBLE + WHOLE + "T: * :\nidentity\nT: dig dig :\n0 1 0\n0 0 1\n0 0 1\nR: dig dig : flooded : 10\n"
    assert tacit.solve(load_text(tmp_path, text), "optimum").values[0] == pytest.approx(10)


# Random files against a reader that knows nothing but loops over dense arrays.


STATES = 3


class Dense:
    """T, O and R as arrays, and the text that says the same."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.actions = tuple(rng.integers(1, 4, size=rng.integers(1, 4)))
        self.observations = tuple(rng.integers(1, 3, size=len(self.actions)))
        self.joints, self.made = int(np.prod(self.actions)), int(np.prod(self.observations))
        self.T = np.zeros((STATES, self.joints, STATES))
        self.O = np.zeros((STATES, self.joints, self.made))
        self.R = np.zeros((STATES, self.joints))
        self.later: list[tuple] = []
        self.lines = [f"agents: {len(self.actions)}", "discount: 1", "values: reward", f"states: {STATES}"]
        self.lines += ["start: 0", "actions:", *map(str, self.actions), "observations:", *map(str, self.observations)]

    def pick(self, sizes: tuple[int, ...]) -> tuple[str, list[int]]:
        """Words for one, some or all of the tuples, and their joint indices."""
        way = self.rng.integers(4)
        everything = list(itertools.product(*(range(size) for size in sizes)))
        if way == 0:
            return "*", list(range(len(everything)))
        if way == 1:
            joint = int(self.rng.integers(len(everything)))
            return str(joint), [joint]
        parts = ["*" if self.rng.random() < 0.3 else str(self.rng.integers(size)) for size in sizes]
        fits = [all(p in ("*", str(k)) for p, k in zip(parts, each, strict=True)) for each in everything]
        return " ".join(parts), [j for j, fit in enumerate(fits) if fit]

    def state(self) -> tuple[str, list[int]]:
        return self.pick((STATES,))

    def probabilities(self, name: str, table: np.ndarray) -> None:
        (action, joints), (state, states) = self.pick(self.actions), self.state()
        columns = table.shape[-1]
        form = self.rng.integers(5)
        if form == 0:
            word, chosen = self.state() if name == "T" else self.pick(self.observations)
            p = self.rng.integers(5) / 4
            self.lines.append(f"{name}: {action} : {state} : {word} : {p}")
            table[np.ix_(states, joints, chosen)] = p
        elif form == 1:
            row = self.rng.dirichlet(np.ones(columns)) * (self.rng.random(columns) < 0.7)
            self.lines += [f"{name}: {action} : {state} :", " ".join(map(repr, row.tolist()))]
            table[np.ix_(states, joints)] = row
        elif form == 2:
            matrix = self.rng.dirichlet(np.ones(columns), size=STATES)
            self.lines += [f"{name}: {action} :", *(" ".join(map(repr, row)) for row in matrix.tolist())]
            table[:, joints] = matrix[:, None]
        else:
            identity = name == "T" and form == 3
            self.lines += [f"{name}: {action} :", "identity" if identity else "uniform"]
            table[:, joints] = np.eye(STATES)[:, None] if identity else 1 / columns

    def rewards(self) -> None:
        (action, joints), (state, states) = self.pick(self.actions), self.state()
        form = self.rng.integers(5)
        if form == 0:
            self.lines.append(f"R: {action} : {state} : * : * : 2.5")
            self.later.append(("set", states, joints, 2.5))
        elif form <= 2:
            (word, nexts), (seen, made) = self.state(), self.pick(self.observations)
            r = np.zeros((STATES, self.made))
            r[np.ix_(nexts, made)] = value = float(self.rng.normal())
            self.lines.append(f"R: {action} : {state} : {word} : {seen} : {value!r}")
            everything = word == "*" and set(seen.split()) == {"*"}
            self.later.append(("set", states, joints, value) if everything else ("add", states, joints, r))
        elif form == 3:
            word, nexts = self.state()
            row = self.rng.normal(size=self.made)
            r = np.zeros((STATES, self.made))
            r[nexts] = row
            self.lines += [f"R: {action} : {state} : {word} :", " ".join(map(repr, row.tolist()))]
            self.later.append(("add", states, joints, r))
        else:
            r = self.rng.normal(size=(STATES, self.made))
            self.lines += [f"R: {action} : {state} :", *(" ".join(map(repr, row)) for row in r.tolist())]
            self.later.append(("add", states, joints, r))

    def mend(self, name: str, table: np.ndarray) -> None:
        """Raise one entry of each row that sums to less than 1, and replace each row that sums to more."""
        for s, joint in itertools.product(range(STATES), range(self.joints)):
            row, missing = table[s, joint], 1 - table[s, joint].sum()
            if missing > 1e-12:
                column = int(self.rng.integers(len(row)))
                row[column] += missing
                self.lines.append(f"{name}: {joint} : {s} : {column} : {min(float(row[column]), 1.0)!r}")
            elif missing < -1e-12:
                row[:] = np.eye(len(row))[0]
                self.lines += [f"{name}: {joint} : {s} :", " ".join(map(repr, row.tolist()))]

    def expected(self) -> np.ndarray:
        for kind, states, joints, value in self.later:
            for s, joint in itertools.product(states, joints):
                if kind == "set":
                    self.R[s, joint] = value
                else:
                    weights = self.T[s, joint][:, None] * self.O[:, joint]
                    self.R[s, joint] += (weights * value).sum()
        return self.R


@pytest.mark.parametrize("seed", range(200))
def test_random_file(tmp_path: Path, seed: int):
    rng = np.random.default_rng(seed)
    dense = Dense(rng)
    for _ in range(rng.integers(1, 25)):
        rng.choice(
            [
                lambda: dense.probabilities("T", dense.T),
                lambda: dense.probabilities("O", dense.O),
                dense.rewards,
            ]
        )()
    dense.mend("T", dense.T)
    dense.mend("O", dense.O)
    dense.lines.append(f"R: 0 : 0 : {rng.integers(3)} : * : 1")
    only = np.zeros((STATES, dense.made))
    only[int(dense.lines[-1].split()[5])] = 1
    dense.later.append(("add", [0], [0], only))
    game = dpomdp.load_dpomdp(write(tmp_path, "\n".join(dense.lines) + "\n", "random.dpomdp"), horizon=2)
    assert game.transitions.reshape(dense.T.shape) == pytest.approx(dense.T, abs=1e-12)
    expected = dense.expected()
    for own in game.rewards:
        assert own.reshape(expected.shape) == pytest.approx(expected, abs=1e-12)


# A game that a test writes as .dpomdp is read back to the last bit.


def assert_comes_back(game: TabularGame, folder: Path) -> TabularGame:
    path = folder / "game.dpomdp"
    write_dpomdp(game, path)
    back = dpomdp.load_dpomdp(path, horizon=game.horizon)
    assert np.array_equal(back.transitions, game.transitions)
    assert np.array_equal(back.rewards, game.rewards)
    assert np.array_equal(back.initial, game.initial)
    return back


@pytest.mark.parametrize(
    "game",
    [
        tacit.make("random-team", horizon=4, agents=3, actions=[2, 3, 4], states=5, stationary=True),
        tacit.make("random-team", horizon=4, states=40, successors=3, stationary=True),
        tacit.make("box-pushing", horizon=5),
        tacit.make("matrix-team", horizon=2),
        tacit.make("climbing"),
    ],
    ids=lambda game: game.name,
)
def test_registered_games(game: TabularGame, tmp_path: Path):
    assert_comes_back(game, tmp_path)


@st.composite
def team_games(draw: st.DrawFn) -> TabularGame:
    """Team games of 1 to 3 agents with different numbers of actions, sparse rows and rewards of any size."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    actions = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    states = draw(st.integers(1, 6))
    rows = rng.dirichlet(np.full(states, 0.3), size=(1, states, *actions))
    rewards = rng.normal(size=(1, 1, states, *actions)) * 10.0 ** rng.integers(-9, 9, size=(1, 1, states, *actions))
    rewards[rng.random(rewards.shape) < 0.3] = 0
    shared = np.repeat(rewards, len(actions), axis=0)
    return TabularGame(rows, shared, rng.dirichlet(np.ones(states)), 3)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(game=team_games())
def test_random_games(game: TabularGame, tmp_path: Path):
    assert_comes_back(game, tmp_path)


def test_a_row_that_misses_one_by_less_than_the_game_allows(tmp_path: Path):
    rows = np.array([[[[0.5, 0.5 + 9e-10]], [[0.25 - 9e-10, 0.75]]]]).reshape(1, 2, 1, 2)
    assert_comes_back(TabularGame(rows, np.zeros((1, 1, 2, 1)), [0.5, 0.5 - 9e-10], 1), tmp_path)


def test_a_file_comes_back(tmp_path: Path):
    assert_comes_back(dpomdp.load_dpomdp(write(tmp_path, EVERY_CONSTRUCT, "all.dpomdp"), horizon=3), tmp_path)


def test_names(tmp_path: Path):
    names = ("north-1", "south_2")
    tables = np.full((1, 2, 2, 2), 0.5), np.zeros((1, 1, 2, 2)), [1, 0], 1
    back = assert_comes_back(TabularGame(*tables, state_names=names, action_names=[names]), tmp_path)
    assert (back.state_names, back.action_names) == (names, (names,))


def test_not_written(tmp_path: Path):
    with pytest.raises(tacit.TacitError, match=r"ends in \.npz or \.nfg"):
        tacit.make("matrix-team").save(tmp_path / "game.dpomdp")


# What is wrong in a .dpomdp file is told with the file, the line and a reason; nothing is taken for something else.


GOOD = PREAMBLE + WHOLE
LINES = len(GOOD.splitlines())


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(tacit.TacitError) as caught:
        dpomdp.load_dpomdp(path, **({"horizon": 3} | options))
    message = str(caught.value)
    assert "\n" not in message
    return message


def swap(text: str, a: int, b: int) -> str:
    lines = text.splitlines()
    lines[a - 1], lines[b - 1] = lines[b - 1], lines[a - 1]
    return "\n".join(lines)


PREAMBLES = [
    (swap(GOOD, 1, 2), 1, '"agents:" must'),
    (swap(GOOD, 2, 3), 2, '"discount:" must'),
    (swap(GOOD, 4, 5), 4, '"states:" must'),
    (GOOD.replace("discount: 0.9\n", ""), 2, '"discount:" must'),
    (GOOD.replace("start: dry\n", ""), 11, '"start:" must'),
    (GOOD.replace("start: dry\n", "start: dry\nstart: wet\n"), 6, '"actions:" must'),
    (GOOD.replace("start: dry\n", "states: 3\nstart: dry\n"), 5, '"actions:" must'),
    (GOOD + "agents: 2\n", 17, '"T:", "O:" or "R:" must'),
    (GOOD.replace("dig wait\npump dig wait\n", "dig wait\n"), 8, "actions of agent 1"),
    (GOOD.replace("dig wait\npump dig wait\n", "dig wait\npump dig wait\n2\n"), 9, '"observations:" must'),
    (GOOD.replace("sun rain\n2\n", "sun rain\n"), 11, "observations of agent 1"),
    (GOOD.replace("agents: 2", "agents: 0"), 1, "number of agents"),
    (GOOD.replace("agents: 2", "agents:"), 1, "there are no agents"),
    (GOOD.replace("agents: 2", "agents: 61"), 1, "61 agents are too many"),
    (GOOD.replace("agents: 2", "agents: 2.0"), 1, "begins with a letter"),
    (GOOD.replace("agents: 2", "agents: -2"), 1, "begins with a letter"),
    (GOOD.replace("0.9", "1.5"), 2, "'1.5' is not from 0 to 1"),
    (GOOD.replace("0.9", "nan"), 2, "'nan' stands where a finite number must"),
    (GOOD.replace("0.9", "0.9 0.9"), 2, "it must have one word"),
    (GOOD.replace("values: reward", "values: rewards"), 3, "did you mean 'reward'"),
    (GOOD.replace("values: reward", "values: Reward"), 3, "no values 'Reward'"),
    (GOOD.replace("dry wet flooded", "dry wet dry"), 4, "the name 'dry' twice"),
    (GOOD.replace("dry wet flooded", "dry 1wet"), 4, "'1wet' is no name"),
    (GOOD.replace("dry wet flooded", "0"), 4, "number of states is '0'"),
    (GOOD.replace("dry wet flooded", ""), 4, "there are no states"),
    (GOOD.replace("dry wet flooded", "9" * 5000), 4, "number of states"),
    (GOOD.replace("dry wet flooded", "dry : wet"), 4, '"states:" must'),
    (GOOD.replace("dry wet flooded", 'dry "wet'), 4, "a quote is not closed"),
    (GOOD.replace("pump dig wait", "pump dig pump"), 8, "the name 'pump' twice"),
    (GOOD.replace("actions:", "actions: 2"), 6, "a line for each agent"),
]

STARTS = [
    ("start: foggy", 5, "'foggy' is none of the states"),
    ("start: 3", 5, "'3' is out of range"),
    ("start: *", 5, "'*' is none of the states"),
    ("start:\n0.5 0.5", 6, "has 2 numbers; it must have 3"),
    ("start:\n0.5 0.5 0.5", 6, "sums to 1.5"),
    ("start:\n1.5 -0.5 0", 6, "'1.5' is not from 0 to 1"),
    ("start:\n1 nan 0", 6, "'nan' stands where a finite number must"),
    ("start: 0.5 0.5", 5, "has 2 numbers; it must have 3"),
    ("start:\nactions:", 6, "is 'actions:'; it must have 3"),
    ("start exclude: dry wet flooded", 5, "no state is left"),
    ("start include:", 5, "no state is left"),
    ("start include: dry 0", 5, "has a state twice"),
    ("start somewhere: dry", 5, '"start:" must'),
]

STATEMENTS = [
    ("T: dig : dry : dry : 1", 1, "'dig' is none of the joint actions"),
    ("T: dig dig dig : dry : dry : 1", 1, "none of the joint actions"),
    ("T: dig pump : foggy : dry : 1", 1, "'foggy' is none of the states"),
    ("T: dig pump : dry wet : dry : 1", 1, "'dry wet' is none of the states"),
    ("T: DIG pump : dry : dry : 1", 1, "'DIG' is none of the actions of agent 0"),
    ("T: pump pump : dry : dry : 1", 1, "'pump' is none of the actions of agent 0"),
    ("T: 2 0 : dry : dry : 1", 1, "'2' is out of range: the actions of agent 0 go from 0 to 1"),
    ("T: 0 3 : dry : dry : 1", 1, "'3' is out of range: the actions of agent 1 go from 0 to 2"),
    ("T: 6 : dry : dry : 1", 1, "'6' is out of range: the joint actions go from 0 to 5"),
    ("T: -1 0 : dry : dry : 1", 1, "'-1' is none of the actions"),
    ("T: 0 0 : 3 : dry : 1", 1, "'3' is out of range: the states go from 0 to 2"),
    ("T: 0 0 : dry : 3 : 1", 1, "'3' is out of range"),
    ("T: 0 0 : ² : 1 : 1", 1, "'²' is none of the states"),
    ("T: 0 0 : dry : dry 1", 1, 'followed by "joint action'),
    ("T: 0 0 : dry : dry : 1 : 1", 1, 'followed by "joint action'),
    ("T: 0 0 : dry : dry :", 1, 'followed by "joint action'),
    ("T: 0 0", 1, 'followed by "joint action'),
    ("T", 1, 'followed by "joint action'),
    ("T: 0 0 : dry : dry : 1.5", 1, "'1.5' is not from 0 to 1"),
    ("T: 0 0 : dry : dry : -0.1", 1, "'-0.1' is not from 0 to 1"),
    ("T: 0 0 : dry : dry : nan", 1, "'nan' stands where a finite number must"),
    ("T: 0 0 : dry : dry : 1_0", 1, "'1_0' stands where a finite number must"),
    ("T: 0 0 : dry : dry : x", 1, "'x' stands where a finite number must"),
    ("T: 0 0 : dry : dry : 0.5", 1, "T[s=0, joint=(0, 0)] sums to 1.16666666667 after this entry"),
    ("T: 0 0 : dry :\n0.5 0.4 0\n# end", 2, "T[s=0, joint=(0, 0)] sums to 0.9 after this entry"),
    ("T: 0 0 : dry :\n0 0 0", 2, "T[s=0, joint=(0, 0)] sums to 0 after"),
    ("T: 0 1 :\n1 0 0\n1 0 0.1\n1 0 0", 3, "T[s=1, joint=(0, 1)] sums to 1.1 after this entry"),
    ("T: 0 0 : dry :\n0.5 0.5", 2, "has 2 numbers; it must have 3"),
    ("T: 0 0 : dry :\n0.5 0.5 0 0", 2, "has 4 numbers; it must have 3"),
    ("T: 0 0 : dry :\n0.5 0.5 x", 2, "'x' stands where a finite number must"),
    ("T: 0 0 : dry :\n0.5 0.5 inf", 2, "'inf' stands where a finite number must"),
    ("T: 0 0 : dry :\n2 -1 0", 2, "'2' is not from 0 to 1"),
    ("T: 0 0 : dry :\nidentity", 2, "is 'identity'; it must have 3"),
    ("T: 0 0 : dry :\nR: 0 : 0 : 1", 2, "stands where a row of 3 probabilities must"),
    ("T: 0 0 : dry :", 1, "the file ends where a row of 3 probabilities must follow; it seems to be cut short"),
    ("T: 0 0 :\n1 0 0\n1 0 0", 3, "the file ends where row 3 of 3"),
    ("T: 0 0 :", 1, "the file ends where a matrix"),
    ("O: 0 0 : dry : sun 2 : 1", 1, "'2' is out of range: the observations of agent 1 go from 0 to 1"),
    ("O: 0 0 : dry : 4 : 1", 1, "'4' is out of range: the joint observations go from 0 to 3"),
    ("O: 0 0 :\nidentity", 2, "is 'identity'; it must have 4"),
    ("O: 0 0 : dry :\n0.5 0.5 0.5 0.5", 2, "O[s=0, joint=(0, 0)] sums to 2 after"),
    ("R: 0 0 : dry : * : * : x", 1, "'x' stands where a finite number must"),
    ("R: 0 0 : dry : * : * : inf", 1, "'inf' stands where a finite number must"),
    ("R: 0 0 : dry : * : * 5", 1, '"R:" is followed by'),
    ("R: 0 0 : dry : * : * * * : 5", 1, "none of the joint observations"),
    ("R: 0 0 : dry : wet :\n1 2 3", 2, "has 3 numbers; it must have 4"),
    ("R: 0 9 : dry : wet :\n1 2 3 4", 1, "'9' is out of range"),
    ("R: 0 0 : dry : foggy :\n1 2 3 4", 1, "'foggy' is none of the states"),
    ("R: 0 0 : dry : foggy : * : 1", 1, "'foggy' is none of the states"),
    ("R: 0 0 : dry :\n1 2 3 4\n1 2 3 4", 3, "the file ends where a row of 4 rewards"),
    ("Q: 0 0 : dry : 1", 1, '"T:", "O:" or "R:" must'),
    ("t: 0 0 : dry : dry : 1", 1, '"T:", "O:" or "R:" must'),
    ("0.5 0.5", 1, '"T:", "O:" or "R:" must'),
    (": : :", 1, '"T:", "O:" or "R:" must'),
]

WHOLE_FILES = [
    (PREAMBLE, 11, "without any T"),
    (PREAMBLE + "T: * :\nuniform\nO: * :\nuniform\n", 15, "without any R"),
    (PREAMBLE + "T: 0 :\nidentity\nR: * : * : 1\n", 14, "T[s=0, joint=(0, 1)] is given nowhere"),
    (PREAMBLE + "T: * :\nuniform\nO: 0 :\nuniform\nR: * : * : 1\n", 16, "O[s=0, joint=(0, 1)] is given nowhere"),
    (PREAMBLE + "T: * :\nuniform\nR: * : * : 1\nR: 0 : 0 : 0 : 0 : 1\n", 15, "the file has no O"),
    (PREAMBLE + "T: * :\nuniform\nR: * : * : 1\nR: 0 : 0 :\n1 1 1 1\n1 1 1 1\n1 1 1 1\n", 18, "the file has no O"),
    ("\n# nothing else\n", 2, 'the file ends where "agents:" must follow'),
    (GOOD[: GOOD.index("states")], 3, "the file ends where"),
    (GOOD[: GOOD.index("uniform")], 12, "cut short"),
    (b"agents: 2\ndiscount: \xff\n", 2, "byte 0xff is not UTF-8"),
    (b"agents: 2\ndisc\0ount: 1\n", 2, "null character"),
    (b"\x7fELF\x02\x01\x01\0\0\0", 1, "not a text file"),
]

CASES = [
    *PREAMBLES,
    *((GOOD.replace("start: dry", start), line, told) for start, line, told in STARTS),
    *((GOOD + statement + "\n", LINES + line, told) for statement, line, told in STATEMENTS),
    *WHOLE_FILES,
]


@pytest.mark.parametrize(
    ("text", "line", "told"), CASES, ids=[f"{told[:40]}-{k}" for k, (*_, told) in enumerate(CASES)]
)
def test_told_with_file_and_line(tmp_path: Path, text: str | bytes, line: int, told: str):
    path = write(tmp_path, text, "wrong.dpomdp")
    message = refusal(path)
    assert message.startswith(f"{path}:{line}: ")
    assert told in message


def test_the_good_file_is_good(tmp_path: Path):
    dpomdp.load_dpomdp(write(tmp_path, GOOD, "good.dpomdp"), horizon=3)


def test_no_horizon(tmp_path: Path):
    path = write(tmp_path, GOOD.replace("discount: 0.9", "discount: 1"), "good.dpomdp")
    assert "does not say how many steps" in refusal(path, horizon=None)
    assert "horizon must be" in refusal(path, horizon=0)


def test_no_text_file(tmp_path: Path):
    assert refusal(tmp_path / "none.dpomdp") == f"no file {tmp_path / 'none.dpomdp'}"
    assert "is a directory" in refusal(tmp_path)
    assert "is empty" in refusal(write(tmp_path, "", "empty.dpomdp"))
    assert "not a file" in refusal(Path("/dev/null"))


def test_rewards_beyond_floats(tmp_path: Path):
    path = write(tmp_path, GOOD + "R: 0 : 0 : * : 0 0 : 1e308\n" * 9, "huge.dpomdp")
    assert refusal(path).startswith(f"{path}: rewards")


CLAIMS = [
    GOOD.replace("dry wet flooded", "1000000000"),
    GOOD.replace("dry wet flooded", "1000000000").replace("start: dry", "start: 0"),
    GOOD.replace("dry wet flooded", "1000000").replace("start: dry", "start: 0"),
    GOOD.replace("pump dig wait", "999999999999999999"),
    GOOD.replace("sun rain\n2\n", "10000000000\n10000000000\n"),
    GOOD.replace("sun rain\n2\n", "1000000\n1000000\n"),
    GOOD.replace("dry wet flooded", "5000").replace("start: dry", "start: 0"),
    GOOD.replace("sun rain\n2\n", "1000000\n1000000\n") + "R: 0 : 0 : 0 : 0 * : 1\n",
]


@pytest.mark.parametrize("text", CLAIMS, ids=range(len(CLAIMS)))
def test_large_claims_are_refused_before_anything_is_allocated(tmp_path, monkeypatch, text):
    monkeypatch.setattr(memory, "available", lambda: 64_000_000)
    path = write(tmp_path, text, "claims.dpomdp")
    message = refusal(path)
    assert message.startswith(f"{path}:")
    assert "would take" in message or "is the most" in message


def test_sizes_are_refused_before_tables_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 64_000_000)
    text = PREAMBLE.replace("dry wet flooded", "1000000").replace("start: dry", "start: 0")
    message = refusal(write(tmp_path, text, "claims.dpomdp"))
    assert ":11: a game with 1000000 states and 6 joint actions would take" in message
