"""Thinned runs from the command line and from files: stored, resumed, evaluated again."""

from __future__ import annotations

import json
from pathlib import Path

import numba
import pytest

import tacit
from tacit.cli.main import main
from tacit.experiments import Experiment
from tacit.experiments.spec import plan

LINE = [
    "run",
    "congestion",
    "stage-v-cce",
    "--game-set",
    "agents=3",
    "--game-set",
    "horizon=2",
    "--episodes",
    "40",
    "--points",
    "2",
]
FILE = """
name = "deployed"
episodes = 40
points = 2
visits_per_stage = 2

[[games]]
name = "congestion"
params = {agents = 3, horizon = 2}

[[learners]]
name = "stage-v-cce"
"""


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


@pytest.mark.usefixtures("interpreted")
def test_line_and_file_are_one_run_that_is_stored_and_evaluated(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "e.toml").write_text(FILE)
    out = str(tmp_path / "out")
    assert main([*LINE, "--visits-per-stage", "2", "--out", out, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main(["run", str(tmp_path / "e.toml"), "--out", out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["gap"] == first["gap"]
    (held,) = [place for place in Path(out).iterdir() if (place / "policy.npz").exists()]  # read again, not run again
    policy = tacit.policies.load(held / "policy.npz")
    assert isinstance(policy, tacit.policies.RecordedPolicy)
    game = tacit.make("congestion", agents=3, horizon=2)
    learned = tacit.learn(game, "stage-v-cce", episodes=40, points=2, visits_per_stage=2)
    assert first["gap"]["max"] == pytest.approx(learned.gap, abs=1e-12)
    assert tacit.evaluate(game, policy, gap="cce").gap == pytest.approx(learned.candidates[policy.start].gap, abs=1e-10)
    assert main(["evaluate", out]) == 0
    assert "congestion" in capsys.readouterr().out


def test_visits_per_stage_are_part_of_what_names_a_run(tmp_path: Path):
    (tmp_path / "e.toml").write_text(FILE)
    experiment = Experiment.load(tmp_path / "e.toml")
    assert experiment.options.visits_per_stage == 2
    experiment.save(tmp_path / "again.toml")
    assert Experiment.load(tmp_path / "again.toml") == experiment
    (tmp_path / "whole.toml").write_text(FILE.replace("visits_per_stage = 2\n", ""))
    (thinned,), (whole,) = plan(experiment, keep=True), plan(Experiment.load(tmp_path / "whole.toml"), keep=True)
    assert (thinned.options.visits_per_stage, whole.options.visits_per_stage) == (2, None)
    assert thinned.hash != whole.hash


@pytest.mark.parametrize("given", ["0", "1.5", "'two'"])
def test_wrong_numbers_are_told(given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "e.toml").write_text(FILE.replace("visits_per_stage = 2", f"visits_per_stage = {given}"))
    assert main(["run", str(tmp_path / "e.toml")]) == 2
    said = capsys.readouterr().err
    assert "visits_per_stage must be" in said
    assert "Traceback" not in said


def test_a_parameter_of_the_game_is_not_one_of_the_learner(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "spectrum", "--set", "agents=8"]) == 2
    assert "a learner must be named for agents" in capsys.readouterr().err
