"""A hundred runs of ten thousand points: a page stays small, and a browser stays quick."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.experiments import Experiment, GameSpec, LearnerSpec, store
from tacit.experiments.spec import plan
from tacit.report import write_report

RUNS, POINTS = 100, 10_000

#: Milliseconds; on an idle machine a tenth of it.
FRAME, REDRAW = 400, 6000

#: Moves the pointer over a chart, a step in each frame; returns what each frame took.
FRAMES = """async (chart) => {
    const over = document.querySelectorAll(".u-over")[chart];
    over.scrollIntoView({block: "center"});
    const box = over.getBoundingClientRect();
    const next = () => new Promise((done) => requestAnimationFrame(done));
    over.dispatchEvent(new MouseEvent("mouseenter", {clientX: box.left, clientY: box.top + 50, bubbles: true}));
    const took = [];
    let last = await next();
    for (let k = 1; k <= 60; k++) {
        const at = {clientX: box.left + (k / 61) * box.width, clientY: box.top + box.height / 2, bubbles: true};
        over.dispatchEvent(new MouseEvent("mousemove", at));
        const now = await next();
        took.push(now - last);
        last = now;
    }
    return took;
}"""

REDRAWN = """async () => {
    const began = performance.now();
    const lines = document.querySelector(".game > .toolbar select");
    lines.value = "seeds";
    lines.dispatchEvent(new Event("change"));
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    return performance.now() - began;
}"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that have begun, with long curves."""
    place = tmp_path_factory.mktemp("many")
    games, learners = (GameSpec("stag-hunt", {}),), (LearnerSpec("npg", {}),)
    experiment = Experiment(name="many", games=games, learners=learners, episodes=POINTS, seeds=RUNS, points=POINTS)
    rng = np.random.default_rng(0)
    for spec in plan(experiment, keep=False):
        run = place / spec.directory
        run.mkdir()
        store.begin(run, spec, sync=False)
        reward, gap = rng.normal(size=POINTS).tolist(), np.exp(rng.normal(size=POINTS)).tolist()
        rows = zip(range(1, POINTS + 1), reward, gap, strict=True)
        lines = (json.dumps({"episode": k, "reward": r, "value": None, "gap": g}) for k, r, g in rows)
        (run / store.CURVE).write_text("\n".join(lines) + "\n")
    return place


@pytest.mark.slow
def test_a_hundred_long_runs_stay_smooth(
    watched: Any, many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    began = time.perf_counter()
    file = write_report(many, tmp_path / "page.html")
    written = time.perf_counter() - began
    assert file.stat().st_size < 20_000_000
    watcher = watched()
    watcher.page.goto(file.as_uri())
    watcher.page.wait_for_selector(".u-over")
    drawn = time.perf_counter() - began - written
    assert f"{RUNS} runs" in watcher.page.inner_text("header")
    mean = watcher.page.evaluate(FRAMES, 1)
    redraw = watcher.page.evaluate(REDRAWN)
    seeds = watcher.page.evaluate(FRAMES, 1)
    assert watcher.complaints == []
    with capsys.disabled():
        size, late = file.stat().st_size / 1e6, np.quantile(seeds, 0.95)
        print(f"\nwritten in {written:.1f} s, drawn in {drawn:.1f} s, {size:.1f} MB; a frame while hovering:")
        print(f"mean and band {np.median(mean):.0f} ms, every seed {np.median(seeds):.0f} ms (95 %: {late:.0f});")
        print(f"all lines drawn in {redraw:.0f} ms")
    assert np.median(mean) < FRAME
    assert np.median(seeds) < FRAME
    assert redraw < REDRAW
