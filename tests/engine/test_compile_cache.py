"""Machine code on disk: used again when nothing changed, never when a source that takes part has changed.

Each check runs in processes of its own, on a copy of the package and a cache directory of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tacit

PLAY = """
import json
import tacit
{extra}
me = tacit.agent({learner}, states=1, actions=2, horizon=2, reward_range=(0, 1), seed=3{own})
for _ in range(3):
    a = me.act(0, 0)
    me.learn(0, 0, a, 0.25, 0)
print(json.dumps([*me.policy[0, 0].tolist(){told}]))
"""

PLUGIN = '''
"""A bandit of one's own: it plays the first action with a fixed probability."""
from dataclasses import dataclass
from typing import NamedTuple

from tacit.bandits import Bandit
from tacit.core import generics


class Params(NamedTuple):
    empty: int = 0


@dataclass(frozen=True)
class Stubborn(Bandit):
    def fields(self, actions):
        return [("first", "f8")]

    def init(self, cells, setting):
        cells["first"] = 0.5
        return Params()


@generics.restart.implement(Params)
def restart(bandit, cell, rounds):
    cell.first = 0.5


@generics.draw.implement(Params)
def draw(bandit, cell, u):
    return 0 if u < cell.first else 1


@generics.prob.implement(Params)
def prob(bandit, cell, a):
    return cell.first if a == 0 else 1.0 - cell.first


@generics.probs.implement(Params)
def probs(bandit, cell, out):
    out[0] = cell.first
    out[1] = 1.0 - cell.first


@generics.update.implement(Params)
def update(bandit, cell, a, loss, prob):
    cell.first = 0.75
'''


class Place:
    """A copy of the package, a cache, and a script."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "src" / "tacit"
        self.cache = folder / "cache"
        self.script = folder / "play.py"
        shutil.copytree(Path(tacit.__file__).parent, self.package, ignore=shutil.ignore_patterns("__pycache__"))

    def run(self) -> list[float]:
        env = {**os.environ, "TACIT_CACHE_DIR": str(self.cache), "PYTHONPATH": str(self.package.parent)}
        done = subprocess.run([sys.executable, str(self.script)], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def damage(self) -> None:
        """Exchange two files, cut one and flip a bit of it."""
        one, other, third, *_ = sorted(self.cache.rglob("*.kernel"))
        contents = one.read_bytes(), other.read_bytes(), bytearray(third.read_bytes())
        one.write_bytes(contents[1])
        other.write_bytes(contents[0][: len(contents[0]) // 2])
        contents[2][len(contents[2]) // 2] ^= 1
        third.write_bytes(contents[2])

    def files(self) -> dict[str, int]:
        return {str(place): place.stat().st_mtime_ns for place in sorted(self.cache.rglob("*.kernel"))}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_second_process_loads_and_a_changed_kernel_is_noticed(place: Place):
    place.script.write_text(
        PLAY.format(extra="", learner='"q-independent"', own="", told=", *me.state.cells[0, 0, 0].Q")
    )
    first = place.run()
    made = place.files()
    assert len(made) == 3  # act, learn, and what keeps the state unpacked
    assert place.run() == first
    assert place.files() == made  # nothing compiled, nothing written

    place.damage()
    assert place.run() == first
    assert set(place.files()) == set(made)  # compiled anew, each in its place
    assert place.run() == first

    kernel = place.package / "learners" / "q_independent.py"
    text = kernel.read_text()
    assert text.count("learner.step * (r + ahead") == 1
    kernel.write_text(text.replace("learner.step * (r + ahead", "0.5 * learner.step * (r + ahead"))
    assert place.run() != first
    assert set(made) < set(place.files())

    kernel.write_text(text)
    assert place.run() == first


@pytest.mark.parametrize("where", ["in the script", pytest.param("in a module beside it", marks=pytest.mark.slow)])
def test_a_bandit_of_ones_own_and_its_change(where: str, place: Place):
    learner = "tacit.learners.StageV(bandit=Stubborn(), iota=2.0)"
    apart = where == "in a module beside it"
    play = PLAY.format(extra="from stubborn import Stubborn" if apart else "", learner=learner, own="", told="")
    plugin = place.script.with_name("stubborn.py") if apart else place.script
    place.script.write_text(play if apart else PLUGIN + play)
    plugin.write_text(PLUGIN if apart else PLUGIN + play)
    assert place.run() == [0.75, 0.25]
    plugin.write_text(plugin.read_text().replace("= 0.75", "= 0.125"))
    assert place.run() == [0.125, 0.875]
