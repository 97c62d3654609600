"""Results as data: the tidy table, ranking and tests, and sweeps by lists."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.cli.main import main
from tacit.experiments.spec import plan
from tacit.experiments.tables import COLUMNS, ranking, tidy

EXPERIMENT = tacit.Experiment(
    "x",
    40,
    (tacit.GameSpec("prisoners-dilemma"),),
    (
        tacit.LearnerSpec("npg", {"eta": [0.1, 0.5]}),
        tacit.LearnerSpec("pg-exact", {"eta": 0.5}),
    ),
    seeds=3,
    points=5,
)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("data") / "out"
    EXPERIMENT.run(out=place)
    return place


@pytest.fixture
def results(stored: Path) -> tacit.Results:
    return tacit.Results.load(stored)


def test_lists_sweep(results: tacit.Results, tmp_path: Path):
    assert len(plan(EXPERIMENT, keep=False)) == 9
    assert {group.learner for group in results.groups} == {"npg (eta=0.1)", "npg (eta=0.5)", "pg-exact"}
    file = tmp_path / "x.toml"
    file.write_text(
        'name = "x"\nepisodes = 2\n[[games]]\nname = "good-state"\nparams = {horizon = [2, 3]}\n'
        '[[learners]]\nname = "npg"\nparams = {eta = [0.1, 0.2]}\n'
    )
    runs = plan(tacit.Experiment.load(file), keep=False)
    assert [(run.game.params["horizon"], run.learner.params["eta"]) for run in runs] == [
        (2, 0.1), (2, 0.2), (3, 0.1), (3, 0.2)
    ]  # fmt: skip


def test_lists_that_a_parameter_takes_are_no_sweep():
    game = tacit.GameSpec("random-general-sum", {"actions": [2, 3], "horizon": 1, "states": 1})
    one = tacit.Experiment("x", 2, (game,), (tacit.LearnerSpec("npg", {"eta": 0.1}),))
    assert [run.game.params["actions"] for run in plan(one, keep=False)] == [[2, 3]]
    with pytest.raises(tacit.TacitError, match="empty"):
        plan(tacit.Experiment("x", 2, (game,), (tacit.LearnerSpec("npg", {"eta": []}),)), keep=False)


def test_the_table_has_what_the_curves_have(results: tacit.Results):
    rows = tidy(results.outcomes)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    assert tuple(columns) == COLUMNS
    assert len(columns["gap"]) == sum(2 * len(one.curve) for one in results.outcomes)
    for one in results.outcomes:
        held = (columns["seed"] == one.spec.seed) & (columns["agent"] == 1)
        held &= columns["parameters"] == json.dumps(dict(one.spec.learner.params), sort_keys=True)
        held &= columns["learner"] == one.spec.learner.name
        np.testing.assert_array_equal(columns["gap"][held], one.curve["gap_1"])
        np.testing.assert_array_equal(columns["reward"][held], one.curve["reward_1"])


def test_frame_and_files_agree(stored: Path, results: tacit.Results):
    pandas = pytest.importorskip("pandas")
    frame = results.frame()
    assert list(frame.columns) == list(COLUMNS)
    assert main(["export", str(stored)]) == 0
    read = pandas.read_csv(stored / "results.csv", keep_default_na=True)
    pandas.testing.assert_frame_equal(read, frame, check_dtype=False)
    with (stored / "results.csv").open() as stream:
        assert next(csv.reader(stream)) == list(COLUMNS)


def test_a_file_of_another_kind_is_refused(stored: Path, capsys: pytest.CaptureFixture[str]):
    for place in ("x.parquet", str(stored)):
        assert main(["export", str(stored), "-o", place]) == 2
        assert "must end in .csv; got" in capsys.readouterr().err


def test_without_pandas_its_pip_command_is_named(stored: Path):
    code = f"import sys; sys.modules['pandas'] = None\nimport tacit; tacit.Results.load({str(stored)!r}).frame()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'tacit-marl[pandas]'" in done.stderr


def welfare(results: tacit.Results, learner: str) -> float:
    (group,) = (group for group in results.groups if group.learner == learner)
    return float(np.mean([np.sum(one.value) for one in group.outcomes]))


def test_a_summary_has_values_of_each_seed_welfare_and_the_optimum(results: tacit.Results):
    for group in results.groups:
        told = group.summary()
        assert told["values"] == [one.value for one in group.outcomes]
        assert told["welfare"]["mean"] == pytest.approx(welfare(results, group.learner))
        game = tacit.make(group.game)
        assert told["optimum"] == pytest.approx(game.rewards.sum(axis=0).max())  # of a game that is played once


def test_ranking(results: tacit.Results):
    data = results.table().data["games"][0]
    gaps = [row["gap"]["mean"] for row in data["rows"]]
    assert gaps == sorted(gaps)
    assert [row["rank"] for row in data["rows"]] == [1, 2, 3]
    assert {row["kind"] for row in data["rows"]} == {"exact nash"}
    by = {group.learner: [max(one.gap.upper) for one in group.outcomes] for group in results.groups}
    raw = sorted(
        1.0 if len(set(by[a]) | set(by[b])) == 1 else stats.mannwhitneyu(by[a], by[b]).pvalue
        for a, b in (pair["pair"] for pair in data["pairs"])
    )
    holm = np.maximum.accumulate(np.minimum(1, np.array(raw) * [3, 2, 1]))
    assert sorted(pair["p"] for pair in data["pairs"]) == pytest.approx(holm)
    rewards = [row["reward"]["mean"] for row in results.table(by="reward").data["games"][0]["rows"]]
    assert rewards == sorted(rewards, reverse=True)
    rows = results.table(by="welfare").data["games"][0]["rows"]
    assert [row["learner"] for row in rows] == sorted(by, key=lambda name: -welfare(results, name))
    assert [row["welfare"]["mean"] for row in rows] == pytest.approx([welfare(results, row["learner"]) for row in rows])
    with pytest.raises(tacit.TacitError, match="no by"):
        results.table(by="luck")


def test_seconds_of_a_learner_leave_out_the_runs_of_others_in_between(results: tacit.Results):
    """The first run of each learner comes before all others, so a learner's runs do not follow each other."""
    group = results.groups[0]
    spans = [(0.0, 2.0), (7.0, 8.0), (7.5, 9.0)]
    pairs = list(zip(group.outcomes, spans, strict=True))
    runs = [replace(one, span=span, learned=one.episodes, seconds=span[1] - span[0]) for one, span in pairs]
    told = replace(group, outcomes=runs).summary()
    steps = sum(one.episodes for one in runs) * runs[0].horizon
    assert (told["wall_seconds"], told["steps_per_second"]) == (4.0, steps / 4.0)
    quick = [replace(one, seconds=0.25) for one in runs]  # the rest was compiling and measuring
    told = replace(group, outcomes=quick).summary()
    assert (told["wall_seconds"], told["steps_per_second"]) == (4.0, pytest.approx(steps / (4.0 * 0.75 / 4.5)))


def test_runs_side_by_side_are_as_fast_together_as_their_seconds_say(results: tacit.Results):
    """Two threads learn for 0.1 s each and measure for the rest; that one ends earlier says nothing about its speed."""
    group = results.groups[0]
    pairs = zip(group.outcomes, [(0.0, 1.5), (0.0, 1.0), (1.0, 1.5)], strict=True)
    runs = [replace(one, span=span, learned=one.episodes, seconds=0.1) for one, span in pairs]
    told = replace(group, outcomes=runs).summary()
    steps = sum(one.episodes for one in runs) * runs[0].horizon
    each = steps / sum(one.seconds for one in runs)  # of one thread
    assert told["steps_per_second"] == pytest.approx(2 * each)


def test_a_game_has_the_name_of_the_table(tmp_path: Path):
    tacit.matrix_game([[[1, 0], [0, 1]]] * 2, name="public goods").save(tmp_path / "pg.npz")
    game = tacit.GameSpec(str(tmp_path / "pg.npz"))
    results = tacit.Experiment("x", 2, (game,), (tacit.LearnerSpec("npg"),)).run()
    assert results.table().data["games"][0]["game"] == "public goods"
    assert {row["game"] for row in tidy(results.outcomes)} == {"public goods"}
    assert results.table().title == "1 group of runs"


def test_a_mean_lies_in_its_interval_as_printed(results: tacit.Results):
    group = results.groups[0]
    runs = [
        replace(one, reward=[reward, 0.0]) for one, reward in zip(group.outcomes, (22.981, 22.987, 22.995), strict=True)
    ]
    told = str(ranking([replace(group, outcomes=runs)]))
    mean, low, high = re.findall(r"(\d\S+) \[(\S+), (\S+)\]", told)[0]
    assert float(low) < float(mean) < float(high)


def test_short_reprs(results: tacit.Results, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("scipy.stats.bootstrap", lambda *_, **__: pytest.fail("a repr computed something"))
    title, _, columns, *rows = repr(results).splitlines()
    assert title == "Results of 9 runs"
    assert columns.split()[:3] == ["game", "learner", "seeds"]
    assert len([row for row in rows if row.startswith("prisoners-dilemma")]) == 3
    assert len(repr(results.outcomes[0])) < 150
    assert len(repr(results.groups[0])) < 100


def test_evaluate_shows_rows_and_failures(stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["evaluate", str(stored), "--show", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert len(rows) == 9
    assert rows[0]["policy"]["places"][0]["agents"][0].keys() == {"cooperate", "defect"}
    assert sum(t["share"] for t in rows[0]["deviations"]["terms"] if t["agent"] == 0) == pytest.approx(
        rows[0]["gap"]["per_agent"][0], abs=1e-9
    )
    assert main(["evaluate", str(stored)]) == 0
    assert capsys.readouterr().out.count("nash") == 9
