"""What a run says of itself: its repr computes nothing, print computes what it shows."""

from __future__ import annotations

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.engine import run as module


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("learner", ["q-independent", "adaptive-v-cce"])
def test_a_repr_computes_nothing(learner: str, monkeypatch: pytest.MonkeyPatch):
    run = tacit.learn(tacit.make("chicken"), learner, episodes=20, points=2)
    with monkeypatch.context() as patch:
        for name in ("evaluate_returned", "useful_optimum", "uniform_gap", "deviation_table"):
            patch.setattr(module, name, None)
        texts = [repr(run), repr(run.candidates)]
    assert all("Run(" in text or "candidate " in text for text in texts)
    assert run.gap >= 0
    assert "gap =" in repr(run)


@pytest.mark.usefixtures("interpreted")
def test_print_says_one_fact_a_line():
    run = tacit.learn(tacit.make("stag-hunt"), "model-independent", episodes=200, seed=4)
    title, *facts = str(run).splitlines()
    assert title == "stag-hunt | model-independent | 200 episodes | seed 4"
    assert [fact[2:13].strip() for fact in facts] == ["Nash gap", "values", "policy", "selected", "time"]
    assert f"(uniform policy: {run.uniform_gap:.4g})" in facts[0]
    assert f"{100 * run.values.sum() / run.optimum:.3g} % of the optimum" in facts[1]


@pytest.mark.usefixtures("interpreted")
def test_the_command_line_prints_the_same(capsys: pytest.CaptureFixture[str]):
    for game, learner in (("chicken", "adaptive-v-cce"), ("matching-pennies", "q-independent")):
        run = tacit.learn(tacit.make(game), learner, episodes=40, seed=3)
        assert main(["run", game, learner, "--episodes", "40", "--seed", "3", "--on", "threads"]) == 0
        printed = capsys.readouterr().out.splitlines()
        assert [line for line in printed if "  time" not in line] == [
            line for line in str(run).splitlines() if "  time" not in line
        ]
        assert main(["run", game, learner, "--episodes", "40", "--seed", "3", "--on", "threads", "--verbose"]) == 0
        verbose = capsys.readouterr().out
        assert all(f"  {line}" in verbose for line in repr(run.candidates).splitlines())


def test_rounding_is_not_printed():
    third = np.array([[[1 / 3] * 3]])
    game = tacit.make("rock-paper-scissors")
    run = tacit.learn(game, "npg", episodes=1, start=tacit.MarkovPolicy([third, third]))
    assert "Nash gap   0 " in str(run)
    assert "e-1" not in str(run)


def test_another_name_of_a_candidate_is_answered_with_those_that_there_are():
    run = tacit.learn("chicken", "npg", episodes=10)
    assert run.candidates["last"].policy is run.last
    with pytest.raises(KeyError, match="no candidate 'lst'; this run has last"):
        run.candidates["lst"]


def test_the_curve_is_a_frame():
    run = tacit.learn("chicken", "npg", episodes=10, points=5)
    frame = run.to_frame()
    assert frame.index.tolist() == run.curve["episode"].tolist()
    assert frame["gap"].tolist() == run.curve["gap"].tolist()
