"""Results to look at, and a browser to look with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment

#: No sandbox (tests may run as root), and nothing that talks to anybody.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

#: Milliseconds that a page may take on a busy machine.
PATIENCE = 120_000


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of a learner with exact gradients on two games: policies, curves, gaps, in a second."""
    place = tmp_path_factory.mktemp("results") / "first"
    games = (GameSpec("good-state", {"horizon": 5}), GameSpec("stag-hunt", {}))
    learners = (LearnerSpec("npg", {}), LearnerSpec("pg-exact", {}))
    experiment = Experiment(name="first", games=games, learners=learners, episodes=30, seeds=2, points=30)
    assert not run_experiment(experiment, out=place, on="threads").failures
    return place


def found_browser() -> str | None:
    given = os.environ.get("TACIT_BROWSER")
    return given or next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser of this machine; without one the test is skipped with a sentence."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed; pip install playwright")
    executable = found_browser()
    if executable is None:
        pytest.skip(f"no browser is installed (none of {', '.join(NAMES)}); apt-get install chromium, say")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS, timeout=PATIENCE)
        yield opened
        opened.close()


class Watched:
    """A page, and what it complained of."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))


@pytest.fixture
def watched(browser: Any) -> Iterator[Any]:
    """Make pages that are closed when the test ends."""
    made: list[Watched] = []

    def make(**options: Any) -> Watched:
        made.append(Watched(browser, **options))
        return made[-1]

    yield make
    for one in made:
        one.context.close()
