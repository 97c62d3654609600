"""What reproductions share: verdicts and their page, the command, and the page that counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import overview
from reproduction import Claim, Reproduction, log_times, shorten


def reproduction(folder: Path) -> Reproduction:
    def draw(results: dict[str, Any], path: Path) -> None:
        path.write_text(str(results["gap"]))

    return Reproduction(
        folder=folder,
        authors="Somebody (2020)",
        whole=3,
        quick=2,
        measure=lambda setting, note: {"gap": 1 / setting},
        judge=lambda results: [
            Claim("it falls", "p. 1", "0", f"{results['gap']:.2f}", "below 0.4", results["gap"] < 0.4)
        ],
        draw=draw,
        introduce=lambda setting: f"{setting} runs.",
        close="No more.",
    )


def test_quick_runs_leave_the_folder_alone_and_whole_ones_write_it(tmp_path: Path, capsys: Any):
    one, out = reproduction(tmp_path / "some2020"), tmp_path / "out"
    one.folder.mkdir()
    assert one.run(["--quick", "--out", str(out)]) == 0
    assert list(one.folder.iterdir()) == []
    assert "| it falls | p. 1 | 0 | 0.50 | below 0.4 | **does not hold** |" in (out / "claims.md").read_text()
    assert capsys.readouterr().out == "does not hold: it falls: 0.50\n"
    assert one.run(["--out", str(out)]) == 0
    assert sorted(path.name for path in one.folder.iterdir()) == ["claims.md", "figure.png", "results.json"]
    assert json.loads((one.folder / "results.json").read_text()) == {"gap": 0.333333}
    assert "3 runs. 1 of 1 rows hold." in (one.folder / "claims.md").read_text()


def test_verdicts_are_counted():
    claims = [
        Claim("a", "", "", "1", "", True),
        Claim("b", "", "", "1", "", True, weak=True),
        Claim("c", "", "", "", "", False),
    ]
    page = reproduction(Path("some2020")).page(1, claims)
    assert overview.count_verdicts(page) == {"holds": 1, "not contradicted": 1, "does not hold": 1}


def test_every_folder_is_on_the_page_and_the_page_is_current():
    folders = {path.parent.name for path in overview.PAPERS.glob("*/reproduce.py")}
    assert folders == set(overview.FOLDERS)
    assert overview.PAGE.read_text(encoding="utf-8") == overview.page(), "run python papers/overview.py"


def test_times_and_short_numbers():
    assert log_times(3) == [1, 2, 3]
    assert shorten({"a": [1.23456789, 2]}) == {"a": [1.23457, 2]}
