"""`tacit run` from a file, `tacit evaluate` and `tacit plot`."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main

FILE = """
name = "two by two"
episodes = 200
seeds = 2
points = 5

[[games]]
name = "chicken"

[[games]]
name = "good-state"
params = {horizon = 2}

[[learners]]
name = "stage-v-ce"
label = "V-learning"

[[learners]]
name = "pg-storm"
"""
KEYS = [
    "game",
    "learner",
    "episodes",
    "horizon",
    "agents",
    "seeds",
    "seed_list",
    "reward",
    "rewards",
    "value",
    "values",
    "welfare",
    "optimum",
    "gap",
    "returns",
    "advice",
    "candidates",
    "chosen",
    "steps_per_second",
]
KEYS += ["wall_seconds", "params", "interrupted", "episodes_done", "ended", "limits"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("run")
    (place / "e.toml").write_text(FILE)
    assert main(["run", str(place / "e.toml"), "--out", str(place / "out")]) == 0
    return place


def test_a_file_prints_one_document_with_all_its_cells(place: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["run", str(place / "e.toml"), "--json", "--workers", "1"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["name"] == "two by two"
    runs = document["runs"]
    assert [(run["game"], run["learner"]) for run in runs] == [
        ("chicken", "stage-v-ce"),
        ("chicken", "pg-storm"),
        ("good-state", "stage-v-ce"),
        ("good-state", "pg-storm"),
    ]
    assert all(list(run) == KEYS for run in runs)


def test_the_one_line_form_is_the_same_run(place: Path, capsys: pytest.CaptureFixture[str]):
    line = ["good-state", "pg-storm", "--episodes", "200", "--seeds", "2", "--points", "5", "--game-set", "horizon=2"]
    assert main(["run", *line, "--json"]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert main(["run", str(place / "e.toml"), "--out", str(place / "out"), "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)["runs"][3]
    assert alone.pop("failures") == []
    for document in (alone, stored):
        assert list(document) == KEYS
        del document["steps_per_second"], document["wall_seconds"]
    assert alone == stored
    before = sorted((place / "out").iterdir())
    assert main(["run", *line, "--out", str(place / "out")]) == 0
    assert sorted((place / "out").iterdir()) == before


def test_evaluate_agrees_with_what_was_stored(place: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["evaluate", str(place / "out"), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert len(rows) == 8
    assert {(row["learner"], row["gap"]["kind"]) for row in rows} == {("stage-v-ce", "ce"), ("pg-storm", "nash")}
    assert max(row["largest_difference"] for row in rows) < 1e-9
    assert main(["evaluate", rows[0]["run"]]) == 0
    assert Path(rows[0]["run"]).name[:20] in capsys.readouterr().out


def test_evaluate_notices_another_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    game = tmp_path / "game.npz"
    tacit.make("chicken").save(game)
    out = str(tmp_path / "out")
    assert main(["run", str(game), "npg", "--episodes", "5", "--out", out]) == 0
    tacit.make("stag-hunt").save(game)
    capsys.readouterr()
    assert main(["evaluate", out]) == 2
    assert "is not what it was when the run was made" in capsys.readouterr().err


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
@pytest.mark.parametrize("band", ["sd", "ci95"])
def test_plot(ending: str, band: str, place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    figure = tmp_path / f"figure.{ending}"
    assert main(["plot", str(place / "out"), "--out", str(figure), "--band", band]) == 0
    assert str(figure) in capsys.readouterr().out
    head = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert figure.read_bytes().startswith(head)
    if ending == "svg":
        ET.parse(figure)


def test_the_legend_says_what_the_band_is_and_of_how_many_seeds(place: Path):
    from tacit.experiments.results import Results
    from tacit.figures.curves import plot_groups

    groups = Results.load(*[str(place / "out"), str(place / "out" / "..") + "/out"]).groups
    assert [(group.game, group.learner, len(group.outcomes)) for group in groups] == [
        ("chicken", "V-learning", 2),
        ("chicken", "pg-storm", 2),
        ("good-state", "V-learning", 2),
        ("good-state", "pg-storm", 2),
    ]
    figure = plot_groups(groups).flat[0].figure
    legend = figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["V-learning", "pg-storm"]
    assert legend.get_title().get_text() == "mean over 2 seeds ± standard deviation"
    colors = [[line.get_color() for line in ax.lines] for ax in figure.axes]
    both = colors[0]
    assert len(set(both)) == 2
    assert colors == [both, both] * 2  # reward; bounds on the cce gap and exact nash gaps


def test_plot_of_one_run_beside_it(place: Path):
    run = sorted((place / "out").glob("chicken_pg-storm_seed1*"))[0]
    assert main(["plot", str(run)]) == 0
    (run / "curves.png").unlink()


@pytest.mark.parametrize("learner", ["stage-v-cce", "pg-storm"])
@pytest.mark.parametrize("bonus", [None, "bonus=0.1"])
@pytest.mark.parametrize("certify", ["yes", "no"])
@pytest.mark.usefixtures("interpreted")
def test_every_kind_of_gap_is_told(learner: str, bonus: str | None, certify: str, capsys: pytest.CaptureFixture[str]):
    more = ["--set", bonus] if bonus is not None and learner == "stage-v-cce" else []
    assert main(["run", "chicken", learner, "--episodes", "20", "--certify", certify, *more]) == 0
    told = capsys.readouterr().out
    assert ("gap        not known" not in told) == (certify == "yes" or learner == "stage-v-cce")


WRONG = {
    "episodes beside a file": ["run", "e.toml", "--episodes", "3"],
    "a learner beside a file": ["run", "e.toml", "npg"],
    "no such file": ["run", "missing.toml"],
    "a folder": ["run", "folder.toml"],
    "no seeds": ["run", "chicken", "npg", "--episodes", "3", "--seeds", "0"],
    "no workers": ["run", "chicken", "npg", "--episodes", "3", "--workers", "0"],
    "a parameter that is none of a learner": ["run", "chicken", "npg", "--episodes", "3", "--set", "seed=3"],
    "a parameter that is an object": ["run", "chicken", "npg", "--episodes", "3", "--set", 'eta={"a": 1}'],
    "a negative interval": ["run", "chicken", "npg", "--episodes", "3", "--checkpoint-every", "-1"],
    "no such run": ["evaluate", "missing"],
    "no runs": ["evaluate", "folder.toml"],
    "no runs to plot": ["plot", "folder.toml"],
    "no such ending": ["plot", "folder.toml", "--out", "figure.doc"],
    "nothing to plot": ["plot"],
}


@pytest.mark.parametrize("which", WRONG)
def test_what_is_wrong_is_told_in_one_line(
    which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("e.toml").write_text(FILE)
    Path("folder.toml").mkdir()
    assert main(WRONG[which]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "evaluate", "plot"])
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert f"  tacit {command} " in capsys.readouterr().out
