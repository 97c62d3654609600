"""A report in a real browser: no complaints, true numbers, curves that grow, and nothing that reaches outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stored_runs import GoingOn

from tacit.cli.main import main
from tacit.evaluation import verify
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store
from tacit.report import write_report
from tacit.report.results import Report

HOVER = """([chart, share]) => {
    const over = document.querySelectorAll(".u-over")[chart];
    over.scrollIntoView({block: "center"});
    const box = over.getBoundingClientRect();
    const at = {clientX: box.left + share * box.width, clientY: box.top + box.height / 2, bubbles: true};
    over.dispatchEvent(new MouseEvent("mouseenter", at));
    over.dispatchEvent(new MouseEvent("mousemove", at));
}"""

READ = """([chart]) => [...document.querySelectorAll(".chart")[chart].querySelectorAll(".tip-row")].map((row) => ({
    line: row.dataset.line, episode: Number(row.dataset.episode), value: Number(row.dataset.value),
    text: row.querySelector(".tip-value").textContent}))"""


def hover(page: Any, chart: int, share: float) -> list[dict[str, Any]]:
    """Point at a chart; return what it says there."""
    page.evaluate(HOVER, [chart, share])
    page.wait_for_function("(k) => !document.querySelectorAll('.tip')[k].hidden", arg=chart)
    found: list[dict[str, Any]] = page.evaluate(READ, [chart])
    return found


def rows_of(run: Path) -> dict[int, dict[str, float]]:
    return {row["episode"]: row for row in map(json.loads, (run / store.CURVE).read_text().splitlines())}


def choose_seeds(page: Any) -> None:
    for select in page.query_selector_all(".game > .toolbar select"):
        select.select_option("seeds")


def test_a_report_opens_from_disk_with_the_network_off(watched: Any, results: Path, tmp_path: Path) -> None:
    file = write_report(results, tmp_path / "report.html")
    seen = watched(offline=True)
    seen.page.goto(file.as_uri())
    seen.page.wait_for_selector(".u-over")
    assert seen.page.inner_text("h1") == results.name
    assert seen.page.locator(".game").count() == 2
    assert seen.page.locator(".heatmap").count() == 3  # by step and state; and for each agent of a single state
    # the mean of the files' numbers, and each seed's own
    runs = [rows_of(run) for run in sorted(results.iterdir()) if run.name.startswith("good-state_pg-exact")]
    mean = next(one for one in hover(seen.page, 1, 0.5) if one["line"] == "pg-exact")
    assert mean["value"] == pytest.approx(np.mean([rows[mean["episode"]]["gap"] for rows in runs]))
    choose_seeds(seen.page)
    shown = [one for one in hover(seen.page, 1, 0.5) if one["line"].startswith("pg-exact")]
    assert len(shown) == 2
    for one in shown:
        seed = int(one["line"].rpartition(" ")[2])
        assert one["value"] == runs[seed][one["episode"]]["gap"]
        assert float(one["text"].split(" at ")[0]) == one["value"]
    # an episode, step by step
    forward = seen.page.locator(".episode button", has_text="forward").first
    for _ in range(5):
        forward.click()
    assert "the end" in seen.page.locator(".episode .where").first.inner_text()
    # a line is switched off by its name
    lines = len(hover(seen.page, 0, 0.5))
    seen.page.locator(".game .legend .chip").first.click()
    assert len(hover(seen.page, 0, 0.5)) < lines
    assert [address for address in seen.asked if not address.startswith(("file:", "data:"))] == []
    assert seen.complaints == []


def test_a_page_that_reloads_keeps_its_place(watched: Any, results: Path, tmp_path: Path) -> None:
    """Scroll position, lines and opened settings survive; curves grow; at the end the page stands still."""
    going_on = GoingOn(results, tmp_path / "all", 3)
    report = Report(tmp_path / "all", tmp_path / "page.html", named=(), seconds=60.0)
    assert report.look()
    report.write(refresh=0.3)
    watcher = watched(color_scheme="dark", offline=True)
    page = watcher.page
    page.goto(report.file.as_uri())
    page.wait_for_selector(".u-over")
    assert "1 running" in page.inner_text("header")
    page.locator(".chart select").select_option("linear")
    page.locator("details summary").last.click()
    page.evaluate("() => { scrollTo({top: 300, behavior: 'instant'}); window.before = true; }")
    going_on.grow(5)
    assert report.look()
    report.write(refresh=0.3)
    page.wait_for_function("() => !window.before && document.body.innerText.includes('5 of 30')")
    page.wait_for_function("() => Math.abs(scrollY - 300) < 2")
    assert page.locator(".chart select").input_value() == "linear"
    assert page.locator("details").last.get_attribute("open") is not None
    page.locator("header .chip").click()  # pause, which also survives
    last = hover(page, 0, 1.0)[0]
    assert (last["episode"], last["value"]) == (5, json.loads(going_on.lines[4])["reward_0"])
    assert float(last["text"]) == last["value"]
    page.locator("header .chip").click()
    going_on.finish()
    assert report.look()
    report.write()
    page.mouse.move(5, 5)
    page.wait_for_selector(".heatmap")
    assert hover(page, 0, 1.0)[0]["episode"] == json.loads(going_on.lines[-1])["episode"]
    assert page.locator("header .chip").count() == 0
    assert watcher.complaints == []
    assert all(address.startswith(("file:", "data:")) for address in watcher.asked)


WILD = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def test_hostile_results_do_nothing(watched: Any, tmp_path: Path) -> None:
    learners = (LearnerSpec("npg", {}, WILD),)
    experiment = Experiment(name="x", games=(GameSpec("stag-hunt", {}),), learners=learners, episodes=5)
    run_experiment(experiment, out=tmp_path / "<b>&amp;")
    file = write_report(tmp_path / "<b>&amp;", tmp_path / "report.html")
    seen = watched()
    seen.page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
    seen.page.goto(file.as_uri())
    seen.page.wait_for_selector(".u-over")
    assert seen.page.inner_text("h1") == seen.page.title().removesuffix(" · tacit") == "<b>&amp;"
    assert WILD in seen.page.locator(".game .legend").first.inner_text()
    assert hover(seen.page, 0, 0.5)[0]["line"] == WILD
    assert seen.page.locator("main img").count() == 0
    seen.page.locator(".plot").first.focus()
    seen.page.keyboard.press("End")  # numbers without a mouse
    assert seen.page.locator(".chart .unseen").first.inner_text().startswith("episode 5: ")
    assert seen.complaints == []


def test_a_button_saves_a_proof_that_the_checker_accepts(watched: Any, results: Path, tmp_path: Path) -> None:
    seen = watched(offline=True, accept_downloads=True)
    seen.page.goto(write_report(results, tmp_path / "report.html").as_uri())
    with seen.page.expect_download() as download:
        seen.page.get_by_role("button", name="save the proof").first.click()
    download.value.save_as(tmp_path / "proof.json")
    assert verify.main(str(tmp_path / "proof.json")) == 0


def test_a_market_is_drawn(watched: Any, tmp_path: Path) -> None:
    line = "run pricing q-independent --game-set prices=3 --periods 20000 --set exploration=1 --set decay=1e-3 --out"
    assert main([*line.split(), str(tmp_path / "runs")]) == 0
    seen = watched(offline=True)
    seen.page.goto(write_report(tmp_path / "runs", tmp_path / "report.html").as_uri())
    seen.page.wait_for_selector(".u-over")
    titles = seen.page.locator("figure.chart h3").all_inner_texts()
    assert sum("responds best for ever" in title for title in titles) == 2
    rows = hover(seen.page, 2, 0.5)
    assert [row["line"] for row in rows] == ["firm 0", "firm 1", "competition", "cartel"]
    assert "profit gain" in seen.page.inner_text(".policy")
