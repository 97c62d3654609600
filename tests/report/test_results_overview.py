"""Curves and bands are those of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from stored_runs import GoingOn, look, rows_of

from tacit.report.policy import rows_to_show
from tacit.report.results import overview


def test_curves_are_those_of_the_files(results: Path) -> None:
    document = overview(look(results))
    assert [game["name"] for game in document["games"]] == ["good-state", "stag-hunt"]
    for game in document["games"]:
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


def test_a_run_that_goes_on_says_how_far_it_is(results: Path, tmp_path: Path) -> None:
    GoingOn(results, tmp_path / "all", 4)
    (run,) = overview(look(tmp_path / "all"))["games"][0]["groups"][0]["runs"]
    assert (run["status"], run["done"], run["of"]) == ("running", 4, 30)


def test_thinned_curves_keep_their_ends() -> None:
    rows = rows_to_show(10_000, 1000)
    assert (len(rows), rows[0], rows[-1]) == (1000, 0, 9999)
    assert (np.diff(rows) > 0).all()
    assert rows_to_show(5, 1000).tolist() == [0, 1, 2, 3, 4]
