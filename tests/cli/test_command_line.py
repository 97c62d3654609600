"""The command line: one JSON document, one line for an error, and the exit codes it promises."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


WRONG = {
    "misspelt command": ["gamse"],
    "misspelt option": ["games", "--jsno"],
    "unknown option first": ["--bogus"],
    "missing argument": ["solve"],
    "extra argument": ["solve", "chicken", "ce", "more"],
    "extra argument with a newline": ["solve", "chicken", "ce", "a\nb"],
    "empty command": [""],
    "misspelt game": ["solve", "goodstate"],
    "empty game": ["solve", ""],
    "misspelt concept": ["solve", "chicken", "nahs"],
    "unknown parameter": ["solve", "good-state", "--game-set", "slipp=0.1"],
    "parameter that is a Python name": ["solve", "good-state", "--game-set", "name=x"],
    "parameter self": ["solve", "good-state", "--game-set", "self=x"],
    "no key": ["solve", "good-state", "--game-set", "=3"],
    "no value": ["solve", "good-state", "--game-set", "slip"],
    "empty value": ["solve", "good-state", "--game-set", "slip="],
    "twice": ["solve", "good-state", "--game-set", "slip=0.1", "--game-set", "slip=0.2"],
    "bad value": ["solve", "good-state", "--game-set", "slip=2"],
    "value of another type": ["solve", "good-state", "--game-set", "horizon=ten"],
    "value is a list": ["solve", "good-state", "--game-set", "horizon=[1]"],
    "value is an object": ["solve", "good-state", "--game-set", 'slip={"a": 1}'],
    "value is infinite": ["solve", "good-state", "--game-set", "slip=1e999"],
    "value is NaN": ["solve", "good-state", "--game-set", "slip=NaN"],
    "value too large for a float": ["solve", "good-state", "--game-set", f"slip={10**400}"],
    "value of five thousand digits": ["solve", "good-state", "--game-set", "horizon=1" + "0" * 5000],
    "too large a game": ["solve", "distancing", "--game-set", "agents=60"],
    "too long a game": ["solve", "good-state", "--game-set", f"horizon={10**15}"],
    "too many agents": ["solve", "random-team", "--game-set", "agents=70", "--game-set", "actions=1"],
    "missing option value": ["solve", "good-state", "--game-set"],
    "no such rule": ["solve", "chicken", "nash", "--objective", "best"],
    "no such file": ["solve", "missing.npz"],
    "no such file with a newline": ["solve", "miss\ning.npz"],
    "no such file with a null": ["solve", "miss\0ing.npz"],
    "unknown ending": ["solve", "game.xyz"],
    "bad file": ["solve", "bad.npz"],
    "policy instead of game": ["solve", "policy.npz"],
    "folder": ["solve", "folder.npz"],
    "parameter of a file": ["solve", "game.npz", "--game-set", "slip=0.1"],
    "bad horizon of a file": ["solve", "game.npz", "--game-set", "horizon=0"],
    "out in no folder": ["solve", "chicken", "--out", "no/such/place.npz"],
    "out is a folder": ["solve", "chicken", "--out", "folder.npz"],
}


@pytest.mark.parametrize("which", WRONG)
def test_a_wrong_command_line_exits_2_with_one_line(which: str, capsys: pytest.CaptureFixture[str]):
    Path("bad.npz").write_bytes(b"PK nothing")
    Path("folder.npz").mkdir()
    tacit.make("chicken").save("game.npz")
    tacit.MarkovPolicy.uniform(tacit.make("chicken")).save("policy.npz")
    assert main(WRONG[which]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in err


def test_what_a_command_does_not_take_is_told_with_its_own_help(capsys: pytest.CaptureFixture[str]):
    assert main(["evaluate", "runs", "policy.json"]) == 2
    assert capsys.readouterr().err == "tacit: unrecognized arguments: policy.json; see `tacit evaluate --help`\n"
    assert main(["--wrong"]) == 2
    assert capsys.readouterr().err == "tacit: unrecognized arguments: --wrong; see `tacit --help`\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gamse"], "did you mean 'games'"),
        (["solve", "goodstate"], "did you mean 'good-state'"),
        (["solve", "good-state", "--game-set", "horzon=3"], "did you mean 'horizon'"),
        (["solve", "chicken", "nahs"], "did you mean 'nash'"),
        (["solve"], "GAME"),
        (["solve", "chicken", "ce", "--objective", "mine"], "agent:K"),
        (["solve", "chicken", "--out", "policy.xyz"], "ends in .npz or .json"),
        (
            ["run", "chicken", "--episodes", "9", "--prefer", "riches"],
            "'welfare', 'egalitarian' or the number of an agent",
        ),
        (["run", "chicken", "--episodes", "9", "--prefer", "2"], "0 to 1; got 2"),
        (["evaluate", "x.toml"], "must be a directory of results"),
    ],
)
def test_the_line_helps(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    Path("x.toml").touch()
    main(arguments)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--help"], ["solve", "--help"], ["games", "--help"], ["--version"]])
def test_help_and_version_exit_0(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    try:
        code = main(arguments)
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 0
    assert "tacit" in out
    assert err == ""


def test_help_names_every_command_and_exit_code(capsys: pytest.CaptureFixture[str]):
    main([])
    out = capsys.readouterr().out
    for word in (
        "games",
        "solve",
        "0 done",
        "1 some runs of several failed",
        "2 wrong usage",
        "130 interrupted",
    ):
        assert word in out


def test_games_lists_every_name(capsys: pytest.CaptureFixture[str]):
    assert main(["games"]) == 0
    words = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line[:1].strip()]
    assert words == ["game", *tacit.games.REGISTRY]


def test_games_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["games", "--json"]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)["games"]
    assert [row["name"] for row in rows] == list(tacit.games.REGISTRY)
    assert err == ""
    box = next(row for row in rows if row["name"] == "box-pushing")
    assert (box["agents"], box["states"], box["actions"]) == (2, 100, [4, 4])
    assert box["parameters"] == {"horizon": 10, "published_file": False, "reset": True}


@pytest.mark.parametrize("concept", ["optimum", "cce", "ce"])
def test_solve_as_json(concept: str, capsys: pytest.CaptureFixture[str]):
    assert main(["solve", "chicken", concept, "--json", "--game-set", "horizon=2"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert err == ""
    assert (document["game"], document["concept"], document["horizon"], document["agents"]) == (
        "chicken",
        concept,
        2,
        2,
    )
    assert len(document["value"]) == len(document["gap"]["per_agent"]) == 2
    assert document["gap"]["max"] == max(document["gap"]["per_agent"])
    total = {"optimum": 24, "ce": 21, "cce": 21}[concept]
    assert sum(document["value"]) == pytest.approx(total, abs=1e-8)


def test_solve_for_people(capsys: pytest.CaptureFixture[str]):
    assert main(["solve", "good-state"]) == 0
    out = capsys.readouterr().out
    assert "45.500000" in out
    assert "nash gap" in out


def test_values_name_the_row_that_they_are_of(capsys: pytest.CaptureFixture[str]):
    assert main(["solve", "battle-of-the-sexes", "nash"]) == 0
    assert "equilibrium 1, selected by welfare (equally good: 3):" in capsys.readouterr().out
    assert main(["solve", "chicken", "nash", "--objective", "agent:0"]) == 0
    assert "equilibrium 3, selected by agent:0:\nagent 0: value 7.000000" in capsys.readouterr().out


def test_formulas_of_the_theory_give_their_numbers(capsys: pytest.CaptureFixture[str]):
    assert main(["theory", "chicken", "--epsilon", "1"]) == 0
    out = capsys.readouterr().out
    told = re.search(r"cce: K = S·A·H⁵·ι·span²/ε² = (\S+) episodes \(ι = (\S+)\)", out)
    assert told is not None
    assert float(told[1]) == pytest.approx(2 * float(told[2]) * 7**2, rel=0.01)
    assert "H³·S·A·span²/ε² = 98 episodes" in out


def test_solve_reads_a_file_and_writes_a_policy(capsys: pytest.CaptureFixture[str]):
    game = tacit.make("good-state")
    game.save("mine.npz")
    assert main(["solve", "mine.npz", "nash", "--game-set", "horizon=3", "--out", "policy.npz", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)["value"]
    policy = tacit.MarkovPolicy.load("policy.npz")
    shorter = tacit.load("mine.npz", horizon=3)
    assert tacit.evaluate(shorter, policy).values.tolist() == pytest.approx(value)


def test_a_word_a_number_a_flag_and_a_list_are_read_as_such(capsys: pytest.CaptureFixture[str]):
    words = ["actions=[2,3]", "stationary=true", "seed=4", "horizon=2"]
    assert main(["solve", "random-team", "--json", *[w for word in words for w in ("--game-set", word)]]) == 0
    game = tacit.make("random-team", actions=[2, 3], stationary=True, seed=4, horizon=2)
    assert json.loads(capsys.readouterr().out)["value"] == pytest.approx(tacit.solve(game).values.tolist())


def test_an_interrupt_exits_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def interrupted(*args: object, **kwargs: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tacit.cli.evaluate.solve", interrupted)
    assert main(["solve", "chicken"]) == 130
    assert capsys.readouterr().err == "tacit: interrupted\n"


def tacit_process(*arguments: str, **more: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tacit", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
    )


def test_as_a_module_an_interrupt_inside_exec_exits_130(tmp_path: Path):
    """As of numba, or where a dataclass is made: CPython would end the process by a signal."""
    (tmp_path / "own.py").write_text("exec('raise KeyboardInterrupt')")
    command = [sys.executable, "-m", "tacit", "run", "chicken", "--import", str(tmp_path / "own.py")]
    assert subprocess.run(command, capture_output=True).returncode == 130


def test_as_a_process_a_wrong_command_line_exits_2():
    process = tacit_process("solve", "goodstate")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (2, b"")
    assert err.startswith(b"tacit: no game 'goodstate'; did you mean 'good-state'?")
    assert err.count(b"\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="pipes break otherwise elsewhere")
@pytest.mark.parametrize("arguments", [["games"], ["games", "--json"], ["solve", "chicken"]], ids=" ".join)
def test_a_reader_that_leaves_is_no_error(arguments: list[str]):
    process = tacit_process(*arguments)
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert err == b""


def test_a_terminal_without_unicode_is_no_error():
    process = tacit_process("solve", "good-state", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"45.5" in out


def test_agents_with_values_of_their_own_have_them_printed(capsys: pytest.CaptureFixture[str]):
    line = ["battle-of-the-sexes", "stage-v-cce", "--episodes", "200"]
    assert main(["run", *line, "--json"]) == 0
    each = json.loads(capsys.readouterr().out)["value"]
    assert each[0] != each[1]
    assert main(["run", *line]) == 0
    assert f"  values     {each[0]:.4g}, {each[1]:.4g}   welfare" in capsys.readouterr().out
    assert main(["run", "matrix-team", "stage-v-cce", "--episodes", "2e2"]) == 0
    assert " each   welfare" in capsys.readouterr().out


def test_learning_is_called_run(capsys: pytest.CaptureFixture[str]):
    assert main(["learn", "chicken"]) == 2
    assert "did you mean 'run'?" in capsys.readouterr().err
