"""What an evaluation costs is told before it begins, and it does not depend on how it is cut into parts."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.evaluate import evaluate_run
from tacit.evaluation import certified
from tacit.evaluation.gaps import seconds_to_evaluate
from tacit.experiments import store


@pytest.mark.parametrize("learner", ["stage-v-cce", "v-learning"])
def test_parts_of_a_large_game_give_the_same(learner: str, monkeypatch: pytest.MonkeyPatch):
    game = tacit.make("good-state", horizon=3)
    policy = tacit.learn(game, learner, episodes=200, certify=False).candidates["average"].policy
    whole = tacit.evaluate(game, policy)
    monkeypatch.setattr(certified, "_NUMBERS", 20)
    parts = tacit.evaluate(game, policy)
    np.testing.assert_allclose(parts.gaps, whole.gaps, rtol=1e-12)
    np.testing.assert_allclose(parts.values, whole.values, rtol=1e-12)


def test_what_takes_too_long_is_left_out(tmp_path: Path):
    experiment = tacit.Experiment("cost", 50, ("good-state",), ("stage-v-cce",))
    results = experiment.run(out=tmp_path)
    place = next(path.parent for path in tmp_path.rglob("policy.npz"))
    assert results.failures == []
    with pytest.raises(tacit.TacitError, match=r"exact evaluation takes about a second; --seconds \d+ allows it"):
        evaluate_run(place, seconds=1e-6)
    cost = seconds_to_evaluate(tacit.make("good-state"), store.load_policy(place))
    row, shown = evaluate_run(place, show=True, seconds=2 * cost)
    assert row["gap"]["max"] > 0
    assert "policy" not in row
    assert shown[0].title.startswith("what the policy plays, and who gains by deviating, takes about")


def test_progress_of_an_exact_solution(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.import_module("tacit.evaluation.solve"), "_EVERY_SECONDS", 0.0)
    lines: list[str] = []
    tacit.solve(tacit.make("random-general-sum", horizon=2), "cce", progress=lines.append)
    assert lines[-1] == "4 of 4 stage games are solved"
