"""The examples of `tacit COMMAND --help` work: each is run as it stands, with fewer episodes and seeds."""

from __future__ import annotations

import argparse
import glob
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from tacit.cli.main import main, parser

#: What needs another machine, a browser, another library's games, or minutes.
LEFT_OUT = (
    r"ray:|SLURM|openspiel:|pettingzoo:|dectiger|atlas/|plot results/first$|"
    r"tacit (compare|atlas)"
)
EXPERIMENT = """name = "small"
episodes = 20
points = 4
[[games]]
name = "chicken"
[[learners]]
name = "npg"
"""
ROCK = 'NFG 1 R "rock" { "a" "b" } { 2 2 }\n\n1 -1 -1 1 -1 1 1 -1\n'


def commands() -> dict[str, argparse.ArgumentParser]:
    [found] = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(found.choices)


def examples() -> list[str]:
    held = [one.epilog or "" for one in (parser(), *commands().values())]
    found = [line for text in held for line in re.findall(r"^ +((?:printf .*\| )?tacit .*)$", text, flags=re.MULTILINE)]
    return list(dict.fromkeys(re.sub(r"   .*| &$|  (?=\S+ \S+ ).*", "", line).strip() for line in found))


def test_examples_are_found():
    assert "tacit draw chicken field adaptive-v-cce npg -o field.png" in examples()
    assert len(examples()) > 40


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("examples")
    (found / "experiment.toml").write_text(EXPERIMENT)
    (found / "rock.nfg").write_text(ROCK)
    line = "run good-state npg --episodes 20 --game-set horizon=3 --points 4 --out"
    assert main([*line.split(), str(found / "results" / "first")]) == 0
    return found


def quicken(words: list[str], place: Path) -> list[str]:
    """Return the words of a command with fewer episodes, seeds and frames, and a policy that there is."""
    options = {option for action in commands()[words[0]]._actions for option in action.option_strings}
    game = len(words) > 1 and not words[1].endswith((".toml", "first"))
    for option, value in (("--episodes", "30"), ("--frames", "2"), ("--seeds", "1"), ("--rounds", "1")):
        if option in words:
            words[words.index(option) + 1] = value
        elif option in options and game:
            words += [option, value]
    [policy, *_] = sorted((place / "results" / "first").glob("good-state_npg*/policy.npz"))
    words = [str(policy) if "…" in word else word for word in words]
    return [one for word in words for one in (sorted(glob.glob(word)) if "*" in word else [word])]  # as a shell does


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("line", [line for line in examples() if not re.search(LEFT_OUT, line)])
def test_an_example_runs(line: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "stdin", io.StringIO("0\n" * 20))
    words = quicken(shlex.split(line)[shlex.split(line).index("tacit") + 1 :], place)
    if words[0] in ("draw", "play") and "--policy" in words:
        words += ["--game-set", "horizon=3"]
    assert main(words) == 0, capsys.readouterr().err
