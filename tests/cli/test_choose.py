"""`tacit run --gap --seconds` and `tacit compare` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main

RECIPE = ["--set", "bonus=0.1", "--set", "iota=1.0", "--set", "step=1.0", "--set", "loss=raw"]
RUN = ["run", "good-state", "stage-v-cce", "--game-set", "horizon=3", *RECIPE]


def test_run_until_the_gap_is_small(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([*RUN, "--gap", "1", "--seeds", "2", "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["gap"]["max"] <= 1
    assert told["ended"] == ["gap", "gap"]
    assert told["limits"] == {"gap": 1.0, "seconds": None}
    assert told["episodes"] == max(told["episodes_done"])
    assert main([*RUN, "--gap", "1", "--seeds", "2", "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "stopped    the gap was reached" in shown
    lines = next(tmp_path.glob("*/curve.jsonl")).read_text().splitlines()
    assert [json.loads(line)["ended"] for line in lines] == [""] * (len(lines) - 1) + ["gap"]
    assert main(["plot", str(tmp_path)]) == 0
    assert main(["evaluate", str(tmp_path), "--json"]) == 0


def test_run_by_the_clock_says_that_it_depends_on_the_machine(capsys: pytest.CaptureFixture[str]):
    assert main([*RUN, "--seconds", "0.2"]) == 0
    shown = capsys.readouterr()
    assert "time was up: results depend on the machine" in shown.out
    assert "depends on the machine" in shown.err


def test_run_without_a_certificate_says_that_a_gap_does_not_stop_it(capsys: pytest.CaptureFixture[str]):
    assert main([*RUN, "--gap", "100", "--episodes", "20", "--certify", "no"]) == 0
    assert "this run has neither: certify is False; it goes on to its other limits" in capsys.readouterr().err
    assert main([*RUN, "--gap", "100", "--certify", "no"]) == 2
    assert "give episodes or seconds too" in capsys.readouterr().err


def test_a_file_may_say_when_to_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    lines = ['name = "a"', "gap = 0.5", "seconds = 60", '[[games]]\nname = "chicken"', '[[learners]]\nname = "npg"']
    (tmp_path / "a.toml").write_text("\n".join([*lines, "params = {eta = 1.0}"]))
    assert main(["run", str(tmp_path / "a.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["ended"] == ["gap"]
    assert main(["run", str(tmp_path / "a.toml"), "--gap", "1"]) == 2
    assert "--gap is given beside" in capsys.readouterr().err


def test_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    line = ["compare", "chicken", "--learners", "pg-exact", "npg", "--episodes", "40", "--seeds", "2"]
    assert main([*line, "--out", str(tmp_path / "found"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    gaps = [row["gap"]["mean"] for row in told["rows"]]
    assert gaps == sorted(gaps)
    assert [row["rank"] for row in told["rows"]] == [1, 2]
    assert told["uniform_gap"] == pytest.approx(0.25)
    assert len(tacit.Results.load(tmp_path / "found").outcomes) == 4
    assert main(line) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [shown[k].split()[1] for k in (3, 4)] == [row["learner"] for row in told["rows"]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("compare chicken --learners npgg", "no learner 'npgg'; did you mean 'npg'?"),
        ("compare chicken --seconds 0", "--seconds must be"),
        ("compare chicken --seeds -1", "--seeds must be"),
        ("compare chicken --seconds 1 --episodes 1", "got both"),
        ("compare nowhere", "no game 'nowhere'"),
        ("run chicken npg --gap nan", "--gap must be"),
        ("run chicken npg --seconds 0", "--seconds must be"),
    ],
)
def test_bad_input_is_one_sentence(line: str, told: str, capsys: pytest.CaptureFixture[str]):
    assert main(line.split()) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out
