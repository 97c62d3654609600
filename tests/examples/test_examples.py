"""The scripts in examples/, run as a reader would run them, in an empty folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
TOLD = {
    "own_game": "by leaving",
    "separate_processes": "the same as with all agents in one process, bit for bit: True",
    "dpomdp_file": "best the team can do in 10 steps: 31.0",
    "deploy_parts": "exact value of the full policy",
    "new_bandit": "stage-v-ce: ce gap ≤",
}


def test_all_examples_are_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(TOLD)


#: It compiles a bandit into two learners, as examples/skeletons/own_bandit.py does into one.
LONG = "new_bandit"


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name == LONG else []) for name in TOLD])
def test_an_example(name: str, tmp_path: Path):
    if name == "separate_processes":
        pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    script = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert TOLD[name] in done.stdout
    assert done.stderr == ""
