"""The pages in a real browser: no complaints, true numbers, curves that grow, and nothing that reaches outside."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store
from tacit.view import player as play
from tacit.view import results as live
from tacit.view import write_report
from tacit.view.server import Server

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


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    thread = server.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(30)


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


def test_curves_grow_while_a_run_goes_on(watched: Any, results: Path, tmp_path: Path) -> None:
    source = max(results.iterdir(), key=lambda run: len(rows_of(run)))
    run = tmp_path / source.name
    shutil.copytree(source, run)
    (run / store.SUMMARY).rename(tmp_path / "kept.json")
    lines = (run / store.CURVE).read_text().splitlines(keepends=True)
    (run / store.CURVE).write_text("".join(lines[:3]))
    server, _ = live.serve(tmp_path)
    with serving(server):
        seen = watched(color_scheme="dark")
        seen.page.goto(server.url)
        seen.page.wait_for_selector(".u-over")
        assert hover(seen.page, 0, 1.0)[0]["episode"] == 3
        assert "1 running" in seen.page.inner_text("header")
        with open(run / store.CURVE, "a") as curve:
            curve.writelines(lines[3:5])
        seen.page.wait_for_function("() => document.body.innerText.includes('5 of 30')")
        last = hover(seen.page, 0, 1.0)[0]
        assert last["episode"] == 5
        assert last["value"] == json.loads(lines[4])["reward_0"]
        assert float(last["text"]) == last["value"]
        with open(run / store.CURVE, "a") as curve:
            curve.writelines(lines[5:])
        (tmp_path / "kept.json").rename(run / store.SUMMARY)
        seen.page.wait_for_selector(".heatmap")
        assert hover(seen.page, 0, 1.0)[0]["episode"] == json.loads(lines[-1])["episode"]
        assert seen.complaints == []
        assert all(address.startswith((server.url, "data:")) for address in seen.asked)


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


def test_hostile_names_do_nothing(watched: Any, tmp_path: Path) -> None:
    wild = WILD
    game = tacit.make("stag-hunt")
    hostile = tacit.TabularGame(
        game.transitions,
        game.rewards,
        game.initial,
        1,
        name=wild,
        state_names=[wild],
        action_names=[[wild, "b"], ["a", wild]],
    )
    server, _ = play.serve(hostile, tacit.MarkovPolicy.uniform(hostile), about=wild)
    with serving(server):
        seen = watched()
        seen.page.on("dialog", lambda dialog: seen.complaints.append(dialog.message))
        seen.page.goto(server.url)
        seen.page.wait_for_selector(".action")
        assert seen.page.inner_text("h1") == wild
        seen.page.locator(".action").first.click()
        seen.page.wait_for_selector(".again")
        assert seen.page.locator("main img[src=x]").count() == 0
        assert seen.complaints == []


def test_a_game_is_played_with_the_keyboard_on_a_phone(watched: Any) -> None:
    game = tacit.make("good-state", horizon=3)
    server, plays = play.serve(game, tacit.MarkovPolicy.uniform(game), about="Against uniform play.")
    with serving(server):
        seen = watched(color_scheme="dark")
        seen.page.set_viewport_size({"width": 390, "height": 800})
        seen.page.goto(server.url)
        seen.page.wait_for_selector(".action")
        assert seen.page.evaluate("document.documentElement.scrollWidth") == 390
        (player,) = plays._players.values()
        for step in range(3):
            worst = int(player.judge.q[player.h, player.state].argmin())
            seen.page.keyboard.press(str(worst))
            played = "(n) => document.querySelectorAll('main > section tbody tr').length === n"
            seen.page.wait_for_function(played, arg=step + 1)
        seen.page.wait_for_selector(".again")
        assert seen.page.evaluate("document.activeElement.textContent") == "play again"
        assert player.over
        assert f"{player.regret:.4g}" in seen.page.inner_text(".result")
        seen.page.keyboard.press("Enter")
        seen.page.wait_for_function("() => document.querySelector('.result').hidden")
        assert seen.page.evaluate("document.activeElement.className") == "action"
        assert seen.page.get_attribute(".news", "aria-live") == "polite"
        assert seen.complaints == []
