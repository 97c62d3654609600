"""Numbers beyond reason, on the command line and in files: one sentence each, before anything is allocated."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.cli.main import main
from tacit.core import memory
from tacit.experiments import Experiment, GameSpec, LearnerSpec
from tacit.experiments.spec import plan

LINE = ["run", "chicken", "npg", "--episodes"]
TOO_MUCH = {
    "episodes": [*LINE, str(2**64)],
    "very many episodes": [*LINE, "1" + "0" * 4000],
    "episodes of 5000 digits": [*LINE, "9" * 5000],
    "points": [*LINE, "100", "--points", str(10**10)],
    "points that memory cannot hold": [*LINE, str(10**9), "--points", str(10**8)],
    "seeds": [*LINE, "100", "--seeds", str(10**9)],
    "seed": [*LINE, "100", "--seed", str(2**200)],
    "workers": [*LINE, "100", "--workers", str(10**9)],
    "a deep value": [*LINE, "100", "--set", "eta=" + "[" * 100_000],
    "a long value": [*LINE, "100", "--set", "eta=" + "9" * 5000],
    "a horizon": [*LINE, "100", "--game-set", f"horizon={10**30}"],
    "a horizon beyond floats": [*LINE, "100", "--game-set", f"horizon={10**400}"],
}


@pytest.mark.parametrize("which", TOO_MUCH)
def test_on_the_command_line(which: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 2 * 10**9)
    assert main(TOO_MUCH[which]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert len(err) < 6100


@pytest.mark.parametrize(
    "line",
    [
        f"episodes = {2**64}",
        f"episodes = {'9' * 5000}",
        f"episodes = 10\nseeds = {10**9}",
        f"episodes = 10\nfirst_seed = {2**200}",
        f"episodes = 10\npoints = {10**10}",
        "episodes = 1e400",
        "episodes = nan",
        "episodes = 10\nseeds = 1979-05-27",
        "episodes = 10\nx = " + "[" * 100_000,
        "episodes = 10\n" + "a." * 100_000 + "b = 1",
        "episodes = 10\n" + "#" * 5_000_000,
    ],
    ids=lambda line: line[:30],
)
def test_in_a_file(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "e.toml"
    path.write_text(f'name = "x"\n{line}\n[[games]]\nname = "chicken"\n[[learners]]\nname = "npg"\n')
    assert main(["run", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert str(path) in err


def test_in_python():
    game = tacit.make("chicken")
    with pytest.raises(tacit.TacitError, match="episodes must be at most"):
        tacit.learn(game, "npg", episodes=2**64)
    with pytest.raises(tacit.TacitError, match="points must be at most"):
        tacit.learn(game, "npg", episodes=2, points=10**10)


def test_more_runs_than_memory_holds(monkeypatch: pytest.MonkeyPatch):
    many = Experiment("x", 100, (GameSpec("chicken"),), (LearnerSpec("npg"),), seeds=10**6)
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    with pytest.raises(tacit.TacitError, match=r"an experiment of 1,000,000 runs would take 12\.4 GB of memory"):
        plan(many, keep=False)


def test_a_curve_that_memory_cannot_hold(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 10**9)
    with pytest.raises(tacit.TacitError, match=r"a curve of 1,000,000 points would take 1\.5 GB of memory"):
        tacit.learn(tacit.make("chicken"), "npg", episodes=10**6, points=10**6)


def test_more_points_than_episodes_are_as_many_as_episodes():
    assert len(tacit.learn(tacit.make("chicken"), "pg-exact", episodes=3, points=10**8, eta=0.01).curve) == 3
