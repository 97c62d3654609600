"""A report is one file, written once or again and again while runs go on."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from stored_runs import GoingOn

from tacit.cli.main import main
from tacit.core.errors import TacitError
from tacit.experiments import Experiment
from tacit.report import results as module
from tacit.report import watch_report, write_report
from tacit.report.page import embed, render


def document_of(page: Path) -> dict[str, Any]:
    found = re.search(r'id="document">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def test_a_report_is_one_page(results: Path, tmp_path: Path) -> None:
    steps: list[str] = []
    file = write_report(results, tmp_path / "report.html", progress=lambda what, done, total: steps.append(what))
    text = file.read_text()
    assert steps
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert 'src="' not in text
    assert document_of(file)["refresh"] is None
    with pytest.raises(TacitError, match="must end in"):
        write_report(results, tmp_path / "report.pdf")
    with pytest.raises(TacitError, match="no directory"):
        write_report(tmp_path / "nowhere", tmp_path / "report.html")
    with pytest.raises(TacitError, match="holds no run"):
        write_report(tmp_path, tmp_path / "report.html")


def test_hostile_text_stays_text() -> None:
    wild = "</script><script>alert(1)</script><!--\u2028\x1b[31m&amp;"
    content = embed({"name": wild})
    assert "<" not in content
    assert json.loads(content)["name"] == wild
    page = render("report", wild, {"name": wild}).decode()
    assert page.count("</script>") == 2  # the document's and the script's
    assert "<title>&lt;/script&gt;" in page


def test_a_report_shows_game_and_seed(tmp_path: Path) -> None:
    Experiment("x", 50, ("chicken",), ("stage-v-cce",), seeds=2).run(out=tmp_path)
    [policy] = document_of(write_report(tmp_path, tmp_path / "report.html"))["details"].values()
    assert policy["game"]["cells"][0][0] == [6.0, 6.0]
    assert "smallest gap of 2 seeds" in policy["which"]
    assert "(" not in policy["policy"]


class Clock:
    """Time that passes while one waits, and what happens then."""

    time = staticmethod(time.time)

    def __init__(self, *events: Any) -> None:
        self.events, self.seconds = list(events), 0.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        if self.events:
            self.events.pop(0)()


def test_a_watched_report_follows_runs_to_their_end(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, page = tmp_path / "all", tmp_path / "report.html"
    place.mkdir()
    runs: list[GoingOn] = []
    seen: list[tuple[int, int, float | None]] = []

    def see() -> None:
        document = document_of(page)
        done = [run["done"] for game in document["games"] for group in game["groups"] for run in group["runs"]]
        seen.append((sum(done), len(document["details"]), document["refresh"]))

    def begin() -> None:
        see()
        runs.append(GoingOn(results, place, 3))

    def grow() -> None:
        see()
        runs[0].grow(5)

    def finish() -> None:
        see()
        runs[0].finish()

    clock = Clock(begin, grow, finish, see)
    monkeypatch.setattr(module, "time", clock)
    assert watch_report(place, page, every=2.0, settled=10.0) == page
    assert seen == [(0, 0, 2.0), (3, 0, 2.0), (5, 0, 2.0), (int(json.loads(runs[0].lines[-1])["episode"]), 1, 2.0)]
    assert document_of(page)["refresh"] is None
    assert clock.seconds >= 6 + 10


def test_ctrl_c_keeps_the_last_page(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    GoingOn(results, tmp_path / "all", 3)

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "time", Clock(interrupt))
    assert main(["report", str(tmp_path / "all"), "--watch", "-o", str(tmp_path / "page.html")]) == 130
    assert "page.html" in capsys.readouterr().out
    document = document_of(tmp_path / "page.html")
    assert document["refresh"] is None
    assert document["games"][0]["groups"][0]["runs"][0]["done"] == 3
