"""The script draws, judges, resumes nothing halfway, and takes its experiments from this directory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reproduce import PANELS, load_experiment, main
from tacit.experiments import worker
from tacit.experiments.spec import plan


def test_reproduce_draws_and_judges(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["matrix-team", "--quick", "--out", str(tmp_path / "paper")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Matrix team, 5 seeds, mean reward: PG ")
    assert (tmp_path / "paper" / "supplement-matrix-team.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "paper" / "figure1.png").read_bytes().startswith(b"\x89PNG")
    assert b"/FontFile2" in (tmp_path / "paper" / "figure1.pdf").read_bytes()
    claims = (tmp_path / "paper" / "claims.md").read_text(encoding="utf-8")
    summary = out.splitlines()[:-1]
    assert claims.splitlines()[2 : 2 + len(summary)] == [f"- {line}" for line in summary]
    assert claims.count("| Matrix team |") == claims.count("| Matrix team, PG with a larger step |") == 7
    assert '"Average" is the mean over all iterates' in claims
    assert "exploration=0.05" in claims
    numbers = (tmp_path / "paper" / "results.csv").read_text(encoding="utf-8")
    assert 'Matrix team,PG,"step 1e-4, exploration 0.05",5,5000,value,' in numbers


def test_every_panel_can_be_planned():
    """All experiments load; each game panel has both readings of Independent and bonus 1 among its constants."""
    for panel in PANELS:
        experiment = load_experiment(panel.file)
        groups = {learner.label.partition(": ")[0] for learner in experiment.learners}
        assert len(plan(experiment, keep=False)) == len(experiment.learners) * experiment.seeds
        assert experiment.options.seed >= 2000
        if panel.target != "matrix-team":
            assert groups >= {"V-Learning", "PG", "Centralized", "Independent, caption", "Independent, appendix"}
            constants = {one.params.get("bonus") for one in experiment.learners if one.name == "ucb-independent"}
            assert constants == {0.0, 0.02, 0.1, 1.0}


def test_seeds_and_episodes_can_be_changed():
    experiment = load_experiment("good-state", seeds=2, episodes=7)
    assert (experiment.seeds, experiment.options.episodes) == (2, 7)
    assert len(plan(experiment, keep=False)) == 2 * len(experiment.learners)


def test_quick_and_full_exclude_each_other(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        main(["--quick", "--full"])
    assert "not allowed with" in capsys.readouterr().err


def test_no_claim_is_judged_by_a_part_of_the_seeds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    learn = worker.run_learner

    def unlucky(game: Any, learner: Any, params: Any, options: Any, *watchers: Any, **more: Any) -> Any:
        if options.seed % 5 == 1:
            raise RuntimeError("not today")
        return learn(game, learner, params, replace(options, episodes=20), *watchers, **more)

    monkeypatch.setattr(worker, "run_learner", unlucky)
    assert main(["matrix-team", "--quick", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("reproduce: RuntimeError: not today\n")  # where it is slow, after progress
    assert not (tmp_path / "claims.md").exists()
    assert len(list(tmp_path.glob("runs/*/summary.json"))) > 0
