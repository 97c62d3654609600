"""`tacit run --import my.py`: games, learners and bandits of one's own, and files that never run code by themselves."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main
from tacit.experiments import GameSpec, LearnerSpec

SCRIPT = '''
"""A learner, a bandit and a game of one's own."""
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import tacit
from tacit.core import generics


class Params(NamedTuple):
    rate: float


@dataclass(frozen=True)
class Mine(tacit.bandits.Bandit):
    """Plays the first action ever more often."""

    rate: float = 0.1

    def fields(self, actions):
        return [("first", "f8")]

    def init(self, cells, setting):
        cells["first"] = 0.5
        return Params(self.rate)


@generics.restart.implement(Params)
def restart(bandit, cell, rounds): ...


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
    cell.first += 0.01 * (1.0 - cell.first)


class Stubborn:
    """Plays one action for ever."""

    def __init__(self, *, states, actions, horizon, reward_range, seed, index, action=0):
        self.action = action

    def act(self, h, s):
        return self.action

    def learn(self, h, s, a, reward, next_state): ...


def bet(*, prize: float = 3.0) -> tacit.TabularGame:
    """Two agents are paid for the same action."""
    table = np.array([[prize, 0.0], [0.0, 1.0]])
    return tacit.games.matrix_game(np.stack([table, table]), name="bet")


tacit.bandits.REGISTRY.add("mine", Mine)
tacit.learners.REGISTRY.add("stubborn", Stubborn)
tacit.games.REGISTRY.add("bet", bet)
'''
NAME = "own_script_for_test"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the script; what it registers is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    for registry in (tacit.bandits.REGISTRY, tacit.learners.REGISTRY, tacit.games.REGISTRY):
        monkeypatch.setattr(registry, "_factories", dict(registry._factories))
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / f"{NAME}.py").write_text(SCRIPT)
    yield tmp_path  # type: ignore[misc]
    for name in [name for name in sys.modules if name.startswith(NAME)]:
        del sys.modules[name]


IMPORT = ["--import", f"{NAME}.py"]


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main(["run", *arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


@pytest.mark.parametrize("on", ["threads", "processes"])
@pytest.mark.usefixtures("place")
def test_a_learner_a_bandit_and_a_game_of_ones_own(
    on: str, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
):
    if on == "processes":  # compiled in processes in the long run
        request.getfixturevalue("interpreted_everywhere")
    more = ["--episodes", "200", "--seeds", "2", "--on", on, "--workers", "2"]
    plain = document(capsys, "bet", "stubborn", *IMPORT, *more, "--set", "action=1", "--game-set", "prize=5")
    assert plain["reward"]["mean"] == 1.0  # type: ignore[index]
    assert plain["params"] == {"action": 1}
    assert plain["gap"]["mean"] == 0.0  # type: ignore[index]
    bandit = document(capsys, "chicken", "stage-v-cce", *IMPORT, *more, "--set", "bandit=mine", "--set", "bonus=0.1")
    assert bandit["params"]["bandit"] == "Mine(rate=0.1)"  # type: ignore[index]
    if on == "threads":
        first = document(capsys, "bet", "stubborn", *IMPORT, *more, "--game-set", "prize=5")
        assert first["reward"]["mean"] == 5.0  # type: ignore[index]
        usual = document(capsys, "chicken", "stage-v-cce", *more, "--set", "bonus=0.1")
        assert usual["reward"] != bandit["reward"]


@pytest.mark.usefixtures("place")
@pytest.mark.slow
def test_processes_and_threads_store_the_same_bytes(capsys: pytest.CaptureFixture[str]):
    line = ["bet", "stage-v-cce", *IMPORT, "--episodes", "200", "--seeds", "2", "--set", "bandit=mine"]
    for on in ("threads", "processes"):
        document(capsys, *line, "--on", on, "--out", on)
    runs = [sorted(path.name for path in Path(on).iterdir()) for on in ("threads", "processes")]
    assert runs[0] == runs[1]
    assert len(runs[0]) == 2
    for run in runs[0]:
        for file in ("curve.jsonl", "policy.npz", "spec.toml"):
            assert Path("threads", run, file).read_bytes() == Path("processes", run, file).read_bytes()


def test_a_changed_script_makes_other_runs(place: Path, capsys: pytest.CaptureFixture[str]):
    line = ["bet", "stubborn", *IMPORT, "--episodes", "10", "--out", "out"]
    document(capsys, *line)
    document(capsys, *line)
    assert len(list(Path("out").iterdir())) == 1
    with open(place / f"{NAME}.py", "a") as script:
        script.write("# changed\n")
    document(capsys, *line)
    assert len(list(Path("out").iterdir())) == 2


TOML = f"""
name = "own"
episodes = 50
scripts = ["{NAME}.py"]

[[games]]
name = "bet"

[[learners]]
name = "stubborn"
"""


def test_a_file_alone_never_runs_code(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    with open(place / f"{NAME}.py", "a") as script:
        script.write("import pathlib; pathlib.Path('run').touch()\n")
    (place / "e.toml").write_text(TOML)
    for on in ("threads", "processes"):
        assert main(["run", "e.toml", "--on", on]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert f"e.toml needs {NAME}.py, which is code; to run it, say --import {NAME}.py too" in err
        assert not Path("run").exists()
    assert main(["run", "e.toml", "--import", "other.py"]) == 2
    assert not Path("run").exists()
    capsys.readouterr()
    document(capsys, "e.toml", *IMPORT)
    assert Path("run").exists()
    elsewhere = place / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)  # the script is looked for beside the file
    document(capsys, "../e.toml", "--import", f"../{NAME}.py", "--on", "processes")
    assert (elsewhere / "run").exists()  # in the worker: here it had been imported before


def test_in_python_a_file_alone_runs_no_code_either(place: Path, monkeypatch: pytest.MonkeyPatch):
    """`Experiment.load` reads; what it names is not known, and nothing is imported."""
    (place / "e.toml").write_text(TOML)
    experiment = tacit.experiments.Experiment.load("e.toml")
    with pytest.raises(tacit.TacitError, match=f"own needs {NAME}.py, which is code"):
        experiment.run()
    known = replace(experiment, games=(GameSpec("chicken"),), learners=(LearnerSpec("npg"),))
    for on in ("threads", "processes"):
        with pytest.raises(tacit.TacitError, match="which is code"):
            known.run(on=on)
    assert NAME not in sys.modules
    monkeypatch.syspath_prepend(place)
    importlib.import_module(NAME)  # as a user's own import does
    assert [one.reward[0] for one in experiment.run(on="processes").outcomes] == [3.0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "it must be a Python file"),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "cannot be imported: SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "cannot be imported: ValueError: two lines"),
        ("def f(:", "cannot be imported: SyntaxError"),
        ("import tacit; tacit.games.REGISTRY.add('chicken', len)", "game 'chicken' is registered already"),
    ],
)
def test_what_is_wrong_with_a_script_is_one_sentence(
    content: str | None, told: str, place: Path, capsys: pytest.CaptureFixture[str]
):
    if content is not None:
        (place / f"{NAME}_bad.py").write_text(content)
    assert main(["run", "chicken", "npg", "--episodes", "3", "--import", f"{NAME}_bad.py"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"tacit: {NAME}_bad.py cannot be imported")
    assert told in err
    assert f"{NAME}_bad" not in sys.modules


def test_a_script_named_as_a_module_is_told(place: Path, capsys: pytest.CaptureFixture[str]):
    (place / "json.py").write_text("")
    assert main(["run", "chicken", "npg", "--episodes", "3", "--import", "json.py"]) == 2
    assert "a module 'json' is there already; rename the file" in capsys.readouterr().err


@pytest.mark.usefixtures("place")
def test_as_a_process_of_its_own():
    """The console script with worker processes, which have to import the script themselves."""
    command = ["run", "bet", "stubborn", *IMPORT, "--episodes", "20", "--seeds", "2", "--on", "processes", "--json"]
    done = subprocess.run([sys.executable, "-m", "tacit", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["reward"]["mean"] == 3.0
    assert "Traceback" not in done.stderr
