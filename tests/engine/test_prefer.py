"""`prefer`: which of the candidates close to the smallest gap a run returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.engine.run import Candidate, Gaps, choose


def test_a_preference_decides_among_close_candidates():
    def known(gap: float, *values: float) -> Candidate:
        return Candidate.with_gaps(Gaps("cce", np.full(2, gap), "exact"), np.array(values))

    candidates = {
        "a": known(0.0, 5.0, 5.0),
        "b": known(0.05, 9.0, 2.0),
        "c": known(0.01, 3.0, 6.5),
        "far": known(1.0, 20.0, 20.0),
        "regret": known(0.1, 5.05, 5.05),  # values less gaps are smaller
    }
    asked = (None, "welfare", "egalitarian", 0, 1)
    answers = {prefer: choose(candidates, lambda: 1.0, prefer=prefer) for prefer in asked}
    assert answers == {None: "a", "welfare": "b", "egalitarian": "a", 0: "b", 1: "c"}
    assert choose(candidates, lambda: 1.0, prefer="welfare", target=0.005) == "a"
    assert choose(candidates, lambda: 20.0, prefer="welfare") == "far"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"prefer": "wealth"}, "prefer must be .* got 'wealth'"),
        ({"prefer": 2}, "0 to 1; got 2"),
        ({"prefer": -1}, "prefer must be .* got -1"),
        ({"prefer": [1]}, "or the number of an agent, from 0"),
        ({"starts": 2}, "starts"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], sentence: str):
    with pytest.raises(tacit.TacitError, match=sentence):
        tacit.learn(tacit.make("chicken"), **{"episodes": 10, "learner": "q-independent", **given})


def test_a_run_says_what_its_answer_is_worth_beside_the_optimum():
    dilemma = tacit.learn(tacit.make("prisoners-dilemma"), "npg", episodes=50)
    assert dilemma.values.sum() / dilemma.optimum == pytest.approx(1 / 3)
    assert "33.3 % of the optimum" in str(dilemma)
    pennies = tacit.learn(tacit.make("matching-pennies"), "npg", episodes=5)  # nobody can win for all
    assert pennies.optimum is None
    assert "optimum" not in str(pennies)
    rewards = np.multiply.outer([0.1, 0.2, -0.3], np.ones((1, 2, 2, 2)))  # they sum to 0 up to rounding
    alike = tacit.TabularGame(np.ones((1, 2, 2, 2, 1)), rewards, 0, horizon=1)
    assert tacit.solve(alike, "optimum").values.sum() != 0
    assert tacit.learn(alike, "npg", episodes=2).optimum is None


@pytest.mark.parametrize("option", [{"prefer": "welfare"}, {"prefer": 0}, {"certify": True}, {"visits_per_stage": 2}])
def test_what_needs_tables_is_refused_in_an_environment(option: dict[str, object]):
    env = tacit.to_pettingzoo(tacit.make("chicken"))
    with pytest.raises(tacit.TacitError, match="needs the tables of a game"):
        tacit.learn(env, "q-independent", episodes=3, **option)


def test_a_preference_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "stag-hunt", "q-independent", "--episodes", "80", "--prefer", "welfare"]) == 0
    assert "gap" in capsys.readouterr().out
