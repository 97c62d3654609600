"""A run that fails among several: the others are stored, it is told, and a restart tries it alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store

#: A learner that cannot start with an odd seed as long as a file is there.
SCRIPT = '''
import pathlib
import tacit

class Moody:
    """Fails while there is a file "moody"."""

    def __init__(self, *, states, actions, horizon, reward_range, seed, index, mood=1):
        self.seed, self.mood = seed, mood

    def act(self, h, s):
        if pathlib.Path("furious").exists():
            raise RuntimeError(f"not {self.seed}")
        if self.seed % 2 == self.mood and pathlib.Path("moody").exists():
            raise RuntimeError("not\\n today")
        return 0

    def learn(self, h, s, a, reward, next_state): ...

tacit.learners.REGISTRY.add("moody", Moody)
'''


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tacit.learners.REGISTRY, "_factories", dict(tacit.learners.REGISTRY._factories))
    Path("moody_script_for_test.py").write_text(SCRIPT)
    yield
    import sys

    sys.modules.pop("moody_script_for_test", None)


LINE = ["run", "chicken", "moody", "--import", "moody_script_for_test.py", "--episodes", "20", "--out", "out"]


@pytest.mark.parametrize("on", ["threads", "processes"])
def test_the_others_are_stored_and_a_restart_tries_it_again(on: str, capsys: pytest.CaptureFixture[str]):
    Path("moody").touch()
    assert main([*LINE, "--seeds", "3", "--on", on, "--json"]) == 1
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (document["seeds"], document["episodes_done"]) == (2, [20, 20])
    assert "tacit: chicken with moody, seed 1, failed: RuntimeError: not today\n" in err
    assert "Traceback" not in err
    places = {path.name.split("_")[2]: path for path in Path("out").iterdir()}
    assert {seed: store.is_finished(place) for seed, place in places.items()} == {
        "seed0": True,
        "seed1": False,
        "seed2": True,
    }
    before = {path: path.stat().st_mtime_ns for seed in ("seed0", "seed2") for path in places[seed].iterdir()}
    Path("moody").unlink()
    assert main([*LINE, "--seeds", "3", "--on", on, "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["seeds"] == 3
    assert "failed" not in err
    assert store.is_finished(places["seed1"])
    assert before == {path: path.stat().st_mtime_ns for path in before}  # nothing else was run


def test_for_people_too(capsys: pytest.CaptureFixture[str]):
    Path("moody").touch()
    assert main([*LINE, "--seeds", "2"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("chicken | moody | 20 episodes | seed 0\n")
    assert err.count("failed") == 1


def test_if_all_fail_each_in_its_own_way_all_are_listed(capsys: pytest.CaptureFixture[str]):
    Path("furious").touch()
    assert main([*LINE, "--seeds", "2"]) == 1
    said = capsys.readouterr().err
    assert all(f"seed {seed}, failed: RuntimeError: not {seed}\n" in said for seed in range(2))


def test_if_all_fail_it_is_bad_input_and_one_sentence(capsys: pytest.CaptureFixture[str]):
    Path("moody").touch()
    assert main([*LINE, "--seed", "1"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "tacit: RuntimeError: not today\n")


def test_if_all_seeds_fail_in_the_same_way_each_is_listed(capsys: pytest.CaptureFixture[str]):
    Path("moody").touch()
    assert main([*LINE, "--seeds", "2", "--set", "mood=1", "--seed", "1"]) == 1  # the second seed is even
    capsys.readouterr()
    Path("many.toml").write_text(
        'name = "many"\nepisodes = 20\nfirst_seed = 1\nscripts = ["moody_script_for_test.py"]\n'
        '[[games]]\nname = "chicken"\n[[games]]\nname = "stag-hunt"\n[[learners]]\nname = "moody"\n'
    )
    assert main(["run", "many.toml", "--import", "moody_script_for_test.py", "--out", "out"]) == 2
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if line.startswith("tacit:")] == [  # a busy machine tells how far it is too
        "tacit: chicken with moody, seed 1, failed: RuntimeError: not today",
        "tacit: stag-hunt with moody, seed 1, failed: RuntimeError: not today",
        "tacit: all 2 runs failed: RuntimeError: not today",
    ]


def test_results_list_what_failed_in_order():
    from tacit.experiments.worker import import_scripts

    import_scripts(["moody_script_for_test.py"])
    Path("moody").touch()
    both = Experiment("both", 10, (GameSpec("chicken"),), (LearnerSpec("moody"), LearnerSpec("npg")), seeds=2)
    found = run_experiment(both)
    assert [(one.label, one.spec.seed) for one in found.outcomes] == [("moody", 0), ("npg", 0), ("npg", 1)]
    assert [(one.spec.label, one.spec.seed, one.sentence) for one in found.failures] == [
        ("moody", 1, "RuntimeError: not today")
    ]
    assert not found.interrupted
    assert [(group.learner, len(group.outcomes)) for group in found.groups] == [("moody", 1), ("npg", 2)]
