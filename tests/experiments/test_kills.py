"""Killed at any moment, the same command goes on and ends with the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kills import EXPERIMENT
from stored import content

from tacit.cli.main import main


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("kills", [2, pytest.param(60, marks=pytest.mark.slow)])
def test_kills_leave_no_trace(kills: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    script = Path(__file__).with_name("kills.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), str(kills), "5"], capture_output=True, text=True, timeout=1500
    )
    assert done.returncode == 0, done.stderr
    met = json.loads(done.stdout)
    assert met["killed"] == kills
    if kills == 60:  # fewer may miss one of them by chance
        assert met["in the middle of writing"] > 0
        assert met["with a checkpoint"] > 0

    (tmp_path / "whole.toml").write_text(EXPERIMENT)
    assert main(["run", str(tmp_path / "whole.toml"), "--out", str(tmp_path / "whole")]) == 0
    whole = content(tmp_path / "whole")
    assert len(whole) == 8
    for place in met["places"]:
        assert content(Path(place)) == whole
