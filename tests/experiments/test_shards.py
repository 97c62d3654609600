"""Parts of an experiment for job arrays: together they are the whole, and none overlap."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stored import content

import tacit
from tacit.cli.main import main
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment
from tacit.experiments.runner import take_shard

SMALL = Experiment("small", 50, (GameSpec("chicken"), GameSpec("stag-hunt")), (LearnerSpec("npg"),), seeds=3, points=2)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_parts_are_a_partition(count: int):
    parts = [take_shard(f"{index}/{count}", range(23)) for index in range(1, count + 1)]
    assert sorted(run for part in parts for run in part) == list(range(23))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize(
    "wrong", ["0/3", "4/3", "1/0", "0/0", "1", "1/2/3", "-1/3", "a/b", "", 3, None, "1/ 2", "٣/٣x"]
)
def test_wrong_parts_are_told(wrong: object):
    with pytest.raises(tacit.TacitError, match="shard is"):
        take_shard(wrong, [])


def test_parts_make_the_same_directory_as_the_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "e.toml"
    SMALL.save(file)
    for index in range(1, 5):
        assert main(["run", str(file), "--out", str(tmp_path / "parts"), "--shard", f"{index}/4", "--json"]) == 0
        document = json.loads(capsys.readouterr()[0])
        assert sum(run["seeds"] for run in document["runs"]) == (2 if index <= 2 else 1)
    run_experiment(SMALL, out=tmp_path / "whole")
    assert content(tmp_path / "parts") == content(tmp_path / "whole")


def test_a_part_without_a_run_is_no_failure(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "chicken", "npg", "--episodes", "5", "--shard", "2/2", "--json"]) == 0
    assert json.loads(capsys.readouterr()[0])["runs"] == []
    assert main(["run", "chicken", "npg", "--episodes", "5", "--shard", "2/1"]) == 2
    assert capsys.readouterr()[1] == "tacit: shard is 2/1; it must be from 1/1 to 1/1\n"
