"""`tacit evaluate --candidate`: the other way to begin is in the same file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main
from tacit.experiments import store


def test_another_candidate_of_a_stored_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "chicken", "stage-v-cce", "--episodes", "300", "--out", str(tmp_path), "--json"]) == 0
    gaps = {name: one["max"] for name, one in json.loads(capsys.readouterr().out)["candidates"].items()}
    for name in ("average", "recent", "markov", "product"):
        assert main(["evaluate", str(tmp_path), "--candidate", name, "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert row["candidate"] == name
        assert abs(row["gap"]["max"] - gaps[name]) < 1e-9
        assert row["largest_difference"] < 1e-9
    assert main(["evaluate", str(tmp_path), "--candidate", "recent", "--json"]) == 0  # as "recent" was called before
    assert json.loads(capsys.readouterr().out)["runs"][0]["candidate"] == "recent"


def test_what_is_stored_under_the_old_name_is_read():
    row = b'{"episode": 1, "reward": 0.5, "value": 0.5, "gap": 0.1, "gap_average": 0.3, "gap_latest": 0.2}'
    assert store.read_row(row)["gap_recent"] == 0.2
    run = tacit.learn(tacit.make("chicken"), "stage-v-cce", episodes=20)
    assert run.candidates["recent"] is run.candidates["recent"]
    assert run.candidates["average"].policy.with_start("recent").start == "recent"
    with pytest.raises(KeyError, match="newest"):
        run.candidates["newest"]
