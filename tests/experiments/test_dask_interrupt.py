"""Ctrl-C in a terminal goes to the whole process group; on Dask only the driver heeds it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups")

TOML = """
name = "long"
episodes = 60000000
seeds = 2
keep = false
[[games]]
name = "good-state"
[[learners]]
name = "stage-v-cce"
"""


@pytest.mark.slow
@pytest.mark.parametrize("begun", [False, True], ids=["while the cluster starts", "in the middle of runs"])
def test_control_c_ends_all_of_it_without_a_traceback(tmp_path: Path, begun: bool):
    pytest.importorskip("distributed")
    (tmp_path / "long.toml").write_text(TOML, encoding="utf-8")
    command = [sys.executable, "-m", "tacit", "run", "long.toml", "--out", "out", "--on", "dask"]
    process = subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        if begun:
            while not any(path.stat().st_size for path in (tmp_path / "out").glob("*/curve.jsonl")):
                assert process.poll() is None
                time.sleep(0.1)
        else:
            time.sleep(2.0)
        os.killpg(process.pid, signal.SIGINT)
        _, told = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "Traceback" not in told
    if begun:
        assert list((tmp_path / "out").glob("*/checkpoint*"))
