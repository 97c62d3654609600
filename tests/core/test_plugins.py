"""A plugin that cannot be used is left out and named once on stderr; everything else goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BROKEN = {
    "raises": ("broken_raises:thing", "raise RuntimeError('two\\nlines')"),
    "exits": ("broken_exits:thing", "raise SystemExit(3)"),
    "syntax": ("broken_syntax:thing", "def"),
    "nothing": ("broken_nothing:thing", ""),
    "number": ("broken_number:thing", "thing = 7"),
    "unsigned": ("broken_unsigned:thing", "thing = type"),
    "missing": ("no_such_module_at_all:thing", None),
    "colons": ("::", None),
}
GROUPS = ("games", "learners", "bandits")
FINE = """
import tacit

def mine(*, horizon=2):
    "A game of a plugin."
    return tacit.make("chicken", horizon=horizon)

def fails():
    raise OSError("only when it is made")

def no_game(*, horizon=2):
    return 7

def odd(*, start=float("nan"), made=object()):
    return tacit.make("chicken")
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of packages: broken plugins of every group, and one that works."""
    place = tmp_path_factory.mktemp("site")
    points = {group: [f"{name} = {value}" for name, (value, _) in BROKEN.items()] for group in GROUPS}
    points["games"] += ["mine = fine:mine", "chicken = fine:mine", "odd = fine:odd"]
    points["games"] += ["fails = fine:fails", "no-game = fine:no_game"]
    for value, source in BROKEN.values():
        if source is not None:
            (place / f"{value.partition(':')[0]}.py").write_text(source)
    (place / "fine.py").write_text(FINE)
    info = place / "plugins-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugins\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "\n".join(f"[tacit.{group}]\n" + "\n".join(lines) for group, lines in points.items())
    )
    return place


def run(site: Path, *line: str, code: str = "") -> subprocess.CompletedProcess[str]:
    source = Path(__file__).resolve().parents[2] / "src"
    env = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{site}", "PYTHONWARNINGS": "error"}
    call = ["-c", code] if code else ["-m", "tacit", *line]
    return subprocess.run([sys.executable, *call], env=env, capture_output=True, text=True, check=False)


def test_all_games_but_the_broken_ones_are_listed_and_each_of_these_is_named_once(site: Path):
    done = run(site, "games", "--json")
    assert done.returncode == 0, done.stderr
    assert '"good-state"' in done.stdout
    assert '"mine"' in done.stdout
    assert '"odd"' in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == len(BROKEN) + 2
    for name in [*BROKEN, "fails", "no-game"]:
        (told,) = [line for line in lines if line.startswith(f"tacit: the game plugin '{name}' cannot be used: ")]
        assert "Traceback" not in told
    assert any("RuntimeError: two lines" in line for line in lines)


def test_learners_and_bandits_are_listed(site: Path):
    done = run(site, "learners", "--json")
    assert done.returncode == 0, done.stderr
    assert '"stage-v-cce"' in done.stdout
    assert len(done.stderr.splitlines()) == 2 * len(BROKEN)


def test_commands_and_calls_go_on(site: Path):
    done = run(site, "solve", "mine", "--json")
    assert done.returncode == 0, done.stderr
    code = """
import logging, tacit
logging.getLogger("tacit").addHandler(logging.NullHandler())
print(tacit.make("mine", horizon=3).horizon, list(tacit.make("chicken").actions))
try:
    tacit.make("raises")
except tacit.TacitError as error:
    print("raises" in str(error).partition("known")[2])
"""
    done = run(site, code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n")[:2] == ["3 [2, 2]", "False"]
