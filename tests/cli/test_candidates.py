"""`tacit evaluate --candidate`: the other way to begin is in the same file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tacit.cli.main import main


def test_another_candidate_of_a_stored_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", "chicken", "stage-v-cce", "--episodes", "300", "--out", str(tmp_path), "--json"]) == 0
    gaps = {name: one["max"] for name, one in json.loads(capsys.readouterr().out)["candidates"].items()}
    for name in ("average", "recent", "markov", "product"):
        assert main(["evaluate", str(tmp_path), "--candidate", name, "--json"]) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert row["candidate"] == name
        assert abs(row["gap"]["max"] - gaps[name]) < 1e-9
        assert row["largest_difference"] < 1e-9
