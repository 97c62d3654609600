"""What is wrong in a .dpomdp file is told with the file, the line and a reason; nothing is taken for something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from format_samples import PREAMBLE, WHOLE, write

import tacit
from tacit.core import memory
from tacit.games import dpomdp

GOOD = PREAMBLE + WHOLE
LINES = len(GOOD.splitlines())


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(tacit.TacitError) as caught:
        dpomdp.load(path, **({"horizon": 3} | options))
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
    ("start:\n1.5 -0.5 0", 6, "'1.5', which is not from 0 to 1"),
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
    ("T: dig pump : dry wet : dry : 1", 1, "one of the states must"),
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
    ("T: 0 0 : dry :\n2 -1 0", 2, "'2', which is not from 0 to 1"),
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
    dpomdp.load(write(tmp_path, GOOD, "good.dpomdp"), horizon=3)


def test_no_horizon(tmp_path: Path):
    path = write(tmp_path, GOOD.replace("discount: 0.9", "discount: 1"), "good.dpomdp")
    assert "does not say how many steps" in refusal(path, horizon=None)
    assert "horizon is 0" in refusal(path, horizon=0)


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


def test_states_and_joint_actions_are_counted_before_the_tables_are_made(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 64_000_000)
    text = PREAMBLE.replace("dry wet flooded", "1000000").replace("start: dry", "start: 0")
    message = refusal(write(tmp_path, text, "claims.dpomdp"))
    assert ":11: a game with 1000000 states and 6 joint actions would take" in message
