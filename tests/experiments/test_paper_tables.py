"""What a paper takes from results: LaTeX, rates, unique names of games."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from tacit.cli.options import Shown
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Results


@pytest.fixture(scope="module")
def results():
    learners = (LearnerSpec("npg"), LearnerSpec("q-independent", label="own_learner"))
    return Experiment("x", 40, (GameSpec("chicken"),), learners, seeds=3).run()


def test_latex_is_a_booktabs_table_with_every_row(results):
    text = results.to_latex()
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert len(rows) == 3
    assert r"own\_learner" in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == text.count(r"\end{tabular}") == 1
    assert not re.search(r"(?<!\\)[%_#]", "\n".join(rows))
    assert {row.count("&") for row in rows} == {len(results.table().parts[0].columns) - 1}


def test_the_rate_of_a_power_law_is_its_exponent(results):
    curve = np.zeros(20, dtype=[("episode", int), ("gap", float)])
    curve["episode"] = np.arange(1, 21) * 10
    laws = [-0.5, -0.4, -0.6]
    outcomes = []
    for one, law in zip(results.groups[0].outcomes, laws, strict=True):
        bent = curve.copy()
        bent["gap"] = 3 * bent["episode"] ** law
        outcomes.append(replace(one, curve=bent))
    [rate] = Results(outcomes, [], False).rate().data["rates"]
    assert rate["slope"]["mean"] == pytest.approx(-0.5)
    assert rate["slope"]["ci95"][0] < -0.5 < rate["slope"]["ci95"][1]


def test_few_seeds_are_said_to_be_few(results):
    assert "3 seeds: no pair can reach p < .05" in str(results.table())
    more = [
        replace(one, spec=replace(one.spec, options=replace(one.spec.options, seed=9 + k)))
        for k in range(2)
        for one in results.outcomes
    ]
    assert "no pair can reach" not in str(Results(results.outcomes + more, [], False).table())


def test_games_of_the_same_name_are_numbered(results):
    others = [replace(one, spec=replace(one.spec, tables="other")) for one in results.outcomes]
    both = Results([*results.outcomes, *others], [], False)
    assert set(both.frame()["game"]) == {"chicken #1", "chicken #2"}


def test_a_ranking_that_the_candidate_decides_is_marked(results):
    assert "the choice of candidate decides" not in str(results.table())
    turned = []
    for k, one in enumerate(results.outcomes):
        last, returned = (1.0, 0.1) if k < 3 else (0.5, 0.2)
        gap = replace(one.gap, upper=[returned, returned])
        turned.append(replace(one, gap=gap, candidates={"last": replace(gap, upper=[last, last])}))
    assert "npg is before own_learner, by last iterates it is behind" in str(Results(turned, [], False).table())


def test_an_experiment_shows_how_far_it_is_on_a_terminal(monkeypatch: pytest.MonkeyPatch):
    titles = []

    @contextmanager
    def bar(title: str):
        titles.append(title)
        yield Shown(lambda text, done, total: titles.append(text), titles.append)

    monkeypatch.setattr("tacit.cli.options.progress_on_stderr", bar)
    experiment = Experiment("far", 10, (GameSpec("chicken"),), (LearnerSpec("npg"),))
    experiment.run()
    assert not titles  # no terminal
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    experiment.run()
    assert titles[0] == "far"
    assert titles[-1] == "1/1 runs, 10 episodes"
