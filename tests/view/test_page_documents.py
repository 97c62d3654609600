"""Documents say what the files say, within bounds, whatever is in the directory."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.core.errors import TacitError
from tacit.experiments import store
from tacit.view import documents as curves
from tacit.view import server as page
from tacit.view.details import _joint, details, policy_document
from tacit.view.documents import overview
from tacit.view.folder import Folder, GrowingCurve
from tacit.view.results import report_document, write_report


def looked(place: Path) -> Folder:
    folder = Folder(place)
    folder.look()
    return folder


def rows_of(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / store.CURVE).read_text().splitlines()]


def test_curves_are_those_of_the_files(results: Path) -> None:
    found = overview(looked(results))
    assert [game["name"] for game in found["games"]] == ["good-state", "stag-hunt"]
    for game in found["games"]:
        for group in game["groups"]:
            files = {run["name"]: rows_of(results / run["name"]) for run in group["runs"]}
            for run in group["runs"]:
                assert run["curve"]["x"] == [row["episode"] for row in files[run["name"]]]
                for name, column in run["curve"]["y"].items():
                    assert column == [row[name] for row in files[run["name"]]]
            both = np.array([[row["gap"] for row in rows] for rows in files.values()])
            band = group["bands"]["gap"]
            np.testing.assert_allclose(band["mean"], both.mean(axis=0))
            np.testing.assert_allclose(band["sd"], both.std(axis=0, ddof=1), rtol=1e-5)
            np.testing.assert_allclose(band["low"], both.min(axis=0), rtol=1e-5)


def test_long_curves_are_thinned_to_real_rows_and_keep_their_peaks() -> None:
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=10_000), rng.normal(size=10_000)]
    columns[0][4321], columns[1][1234] = 50, -50
    kept = curves.rows_to_show(columns, 1000)
    assert len(kept) <= 1000
    assert {0, 4321, 1234, 9999} <= set(kept.tolist())
    assert (np.diff(kept) > 0).all()


def test_a_growing_curve_is_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "curve.jsonl"
    line = '{"episode": %d, "reward": 1.5, "value": 2.0, "gap": null}\n'
    curve = GrowingCurve(file)
    assert not curve.look()
    file.write_text(line % 1 + '{"episode": 2, "rew')
    assert curve.look()
    assert curve.curve is not None
    assert curve.curve["episode"].tolist() == [1]
    assert np.isnan(curve.curve["gap"][0])
    file.write_text(line % 1 + line % 2 + "[[[[\n" + line % 2 + '{"episode": 3}\n' + line % 4)
    nameless = GrowingCurve(
        _written(tmp_path / "nameless", '{"episode": 1, "reward": 1, "value": 1, "gap": 1, "": 2}\n')
    )
    nameless.look()
    assert nameless.curve is None
    assert curve.look()
    assert curve.curve["episode"].tolist() == [1, 2, 4]  # neither nonsense nor a row that goes back
    os.replace(_written(tmp_path / "new", line % 9), file)  # a run that resumes writes its curve anew
    assert curve.look()
    assert curve.curve["episode"].tolist() == [9]


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_a_run_that_goes_on_is_shown_and_becomes_finished(results: Path, tmp_path: Path) -> None:
    source = max(results.iterdir(), key=lambda run: len(rows_of(run)))
    run = tmp_path / "experiment" / source.name  # one level deeper
    shutil.copytree(source, run)
    (run / store.SUMMARY).rename(tmp_path / "kept.json")
    lines = (run / store.CURVE).read_text().splitlines(keepends=True)
    (run / store.CURVE).write_text("".join(lines[:4]))
    folder = looked(tmp_path)
    (shown,) = overview(folder)["games"][0]["groups"][0]["runs"]
    assert (shown["status"], shown["done"], shown["of"]) == ("running", 4, 30)
    assert not folder.look()
    with open(run / store.CURVE, "a") as curve:
        curve.writelines(lines[4:])
    assert folder.look()
    (tmp_path / "kept.json").rename(run / store.SUMMARY)
    assert folder.look()
    (shown,) = overview(folder)["games"][0]["groups"][0]["runs"]
    assert (shown["status"], shown["done"]) == ("finished", rows_of(run)[-1]["episode"])
    shutil.rmtree(run)
    assert folder.look()
    assert not folder.runs


def test_runs_are_read_where_listing_the_directory_takes_longer_than_reading_may(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list(Folder(results)._directories())

    def slow(folder: Folder) -> list[tuple[str, Path]]:
        time.sleep(0.05)
        return found

    monkeypatch.setattr(Folder, "_directories", slow)
    folder = Folder(results)
    while len(folder.runs) < len(found):
        assert folder.look(seconds=0.0)


def test_damaged_runs_are_told_and_links_are_not_followed(results: Path, tmp_path: Path) -> None:
    runs = sorted(results.iterdir())
    for k, damage in enumerate(("{", "x" * 100)):
        shutil.copytree(runs[k], tmp_path / f"run{k}")
        (tmp_path / f"run{k}" / (store.SPEC if k else store.SUMMARY)).write_text(damage)
    (tmp_path / "link").symlink_to(runs[0], target_is_directory=True)
    (tmp_path / "inside").mkdir()
    for file in runs[0].iterdir():
        (tmp_path / "inside" / file.name).symlink_to(file)
    shutil.copytree(runs[0], tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / store.MACHINE).unlink(missing_ok=True)
    (tmp_path / "elsewhere" / store.MACHINE).symlink_to(runs[0] / store.MACHINE)
    shutil.copytree(runs[0], tmp_path / "run2")
    spec = (runs[0] / store.SPEC).read_text()
    assert "horizon = 5" in spec
    (tmp_path / "run2" / store.SPEC).write_text(spec.replace("horizon = 5", f"horizon = 0x{'f' * 5000}"))
    folder = looked(tmp_path)
    assert not folder.runs
    assert sorted(folder.problems) == ["run0", "run1", "run2"]
    assert "altered" in folder.problems["run0"]
    with pytest.raises(TacitError, match="altered"):
        report_document(tmp_path)


def test_details_agree_with_the_oracle(results: Path) -> None:
    from tacit.evaluation import evaluate
    from tacit.experiments.spec import game_of

    folder = looked(results)
    for run in folder.runs.values():
        found = details(run)
        game, policy = game_of(run.spec), store.load_policy(run.place)
        exact = evaluate(game, policy, gap=found["kind"])
        np.testing.assert_allclose(found["gaps"]["upper"], exact.gaps)
        np.testing.assert_allclose(found["gaps"]["lower"], exact.gaps)  # a Markov policy: known exactly
        for i, own in enumerate(found["maps"]):
            for s, row in enumerate(own["cells"]):
                for h, cell in enumerate(row):
                    if cell is not None:
                        state = game.state_names.index(found["states"][s]) if game.state_names else s
                        np.testing.assert_allclose(
                            cell, policy.marginal(i)[h if policy.steps > 1 else 0, state], atol=1e-6
                        )
        for episode in found["episodes"]:
            total = np.sum([step["rewards"] for step in episode["steps"]], axis=0)
            np.testing.assert_allclose(total, episode["returns"])


def test_episodes_end_where_play_does() -> None:
    """Inspected and violated at once, one of four periods is played, and the last picture is of the end."""
    game = tacit.make("atlas/inspection-4-2")
    ends = tacit.MarkovPolicy([np.eye(2)[[[1] * game.states] * 4]] * 2)
    for episode in policy_document(game, ends)["episodes"]:
        assert [step["state"] for step in episode["steps"]] == ["(2, 4)"]
        assert (episode["end"]["state"], episode["cut"], episode["returns"]) == ("over", False, [1.0, -1.0])


def test_a_run_without_a_policy_says_so(results: Path, tmp_path: Path) -> None:
    folder = looked(results)
    run = next(iter(folder.runs.values()))
    run.outcome = None
    assert "not finished" in details(run)["sentence"]


def test_hostile_text_stays_text(results: Path) -> None:
    wild = "</script><script>alert(1)</script><!--\u2028\x1b[31m&amp;"
    held = page.embed({"name": wild})
    assert "<" not in held
    assert json.loads(held)["name"] == wild
    whole = page.whole_page("report", wild, {"name": wild})
    assert whole.count("</script>") == 2  # the document's own and the script's
    assert "<title>&lt;/script&gt;" in whole


def test_a_report_is_one_page(results: Path, tmp_path: Path) -> None:
    said: list[str] = []
    file = write_report(results, tmp_path / "report.html", progress=lambda what, done, total: said.append(what))
    text = file.read_text()
    assert said
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert 'src="' not in text
    with pytest.raises(TacitError, match="no ending of a page"):
        write_report(results, tmp_path / "report.pdf")
    with pytest.raises(TacitError, match="no directory"):
        write_report(tmp_path / "nowhere", tmp_path / "report.html")
    with pytest.raises(TacitError, match="holds no run"):
        write_report(tmp_path, tmp_path / "report.html")


def test_a_report_shows_the_game_its_equilibria_and_of_which_seed_the_policy_is(tmp_path) -> None:
    from tacit.experiments import Experiment
    from tacit.view.results import report_document

    Experiment("x", 50, ("chicken",), ("stage-v-cce",), seeds=2).run(out=tmp_path)
    [shown] = report_document(tmp_path)["details"].values()
    assert shown["game"]["cells"][0][0] == [6.0, 6.0]
    assert len(shown["game"]["equilibria"]) == 3
    assert "agent 0: dare; agent 1: yield" in shown["game"]["equilibria"]
    assert "smallest gap of 2 seeds" in shown["which"]
    assert "(" not in shown["policy"]


def test_joint_actions_of_three_agents_are_listed() -> None:
    joint = np.zeros((1, 1, 2, 2, 2))
    joint[..., 0, 0, 0], joint[..., 1, 1, 1] = 0.75, 0.25
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 2, 1)), np.zeros((3, 1, 1, 2, 2, 2)), 0, 1)
    (found,) = _joint(game, tacit.behaviour(game, tacit.MarkovPolicy(joint)), [0], [0])
    assert [(row["actions"], row["chance"]) for row in found["listed"]] == [(["0"] * 3, 0.75), (["1"] * 3, 0.25)]
