"""GAME on the command line: files, and games of other libraries; what is missing is one sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from dpomdp_writer import write_dpomdp

import tacit
from tacit.cli.main import main

OWN_ENV = """
import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv

class Coin(ParallelEnv):
    metadata = {"name": "coin"}
    possible_agents = ["a", "b"]
    def __init__(self, prize=1.0): self.prize = prize
    def observation_space(self, agent): return Discrete(2)
    def action_space(self, agent): return Discrete(2)
    def reset(self, seed=None, options=None):
        if seed is not None: self.rng = np.random.default_rng(seed)
        self.coin, self.agents = int(self.rng.integers(2)), ["a", "b"]
        return dict.fromkeys(self.agents, self.coin), {"a": {}, "b": {}}
    def step(self, actions):
        paid = {name: self.prize * (a == self.coin) for name, a in actions.items()}
        live, self.agents = self.agents, []
        no, yes = dict.fromkeys(live, False), dict.fromkeys(live, True)
        return dict.fromkeys(live, self.coin), paid, no, yes, {"a": {}, "b": {}}

def parallel_env(**params):
    return Coin(**params)
"""


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    found = capsys.readouterr()
    return code, found.out, found.err


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_dpomdp(tacit.make("random-team", horizon=3, stationary=True), tmp_path / "team.dpomdp")
    tacit.make("chicken").save("chicken.nfg")
    tacit.make("good-state", horizon=3).save("good.npz")
    return tmp_path


@pytest.mark.parametrize(
    ("game", "twin", "more"),
    [
        ("team.dpomdp", ("random-team", {"horizon": 3, "stationary": True}), ["--game-set", "horizon=3"]),
        ("chicken.nfg", ("chicken", {}), []),
        ("good.npz", ("good-state", {"horizon": 3}), []),
    ],
)
def test_files_are_games(files: Path, capsys: pytest.CaptureFixture[str], game: str, twin, more: list[str]):
    name, params = twin
    code, out, _ = printed(capsys, "run", game, "stage-v-cce", "--episodes", "50", "--json", *more)
    assert code == 0
    told = json.loads(out)
    here = tacit.learn(tacit.make(name, **params), "stage-v-cce", episodes=50)
    assert told["gap"]["per_agent"] == pytest.approx(here.gaps.upper.tolist(), rel=1e-12)
    code, out, _ = printed(capsys, "solve", game, "--json", *more)
    assert code == 0
    solved = tacit.solve(tacit.make(name, **params), "optimum")
    assert json.loads(out)["value"] == pytest.approx(solved.values.tolist())


def test_a_dpomdp_says_what_is_left_out_and_needs_a_horizon(files: Path, capsys: pytest.CaptureFixture[str]):
    code, _, err = printed(capsys, "solve", "team.dpomdp", "--game-set", "horizon=2")
    assert code == 0
    assert "observations" in err
    code, _, err = printed(capsys, "run", "team.dpomdp", "stage-v-cce", "--episodes", "5")
    assert code == 2
    assert "horizon" in err
    assert err.count("\n") == 1


def test_openspiel_games(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("pyspiel")
    code, out, _ = printed(capsys, "solve", "openspiel:matrix_pd", "ce", "--json")
    assert code == 0
    assert len(json.loads(out)["value"]) == 2
    code, _, err = printed(capsys, "solve", "openspiel:no_such_game")
    assert code == 2
    assert err.count("\n") == 1
    code, _, err = printed(capsys, "solve", "openspiel:kuhn_poker")
    assert code == 2
    assert "imperfect" in err


def test_gymnasium_tables(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("gymnasium")
    code, out, _ = printed(
        capsys,
        "solve",
        "gymnasium:FrozenLake-v1",
        "--json",
        "--game-set",
        "horizon=20",
        "--game-set",
        "is_slippery=false",
    )
    assert code == 0
    assert json.loads(out)["value"] == pytest.approx([1.0])


@pytest.mark.usefixtures("interpreted_everywhere")
def test_an_environment_of_ones_own(files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("pettingzoo")
    (files / "coin_env_for_test.py").write_text(OWN_ENV)
    arguments = ["run", "pettingzoo:coin_env_for_test", "stage-v-cce", "--episodes", "300", "--set", "bonus=0.1"]
    code, out, err = printed(capsys, *arguments, "--json", "--game-set", "prize=2", "--game-set", "reward_range=[0,2]")
    assert code == 0
    told = json.loads(out)
    assert (told["agents"], told["horizon"], told["value"]) == (2, 1, None)
    assert told["gap"]["source"] == "estimate"
    assert "suggest horizon=1" in err
    assert printed(capsys, "run", "pettingzoo:coin_env_for_test.Coin", *arguments[2:])[0] == 0
    twice = ["--seeds", "2", "--workers", "1", "--out", "kept"]
    first = printed(capsys, *arguments, *twice)
    again = printed(capsys, *arguments, *twice)
    assert first[0] == again[0] == 0
    assert "suggest horizon=1" in first[2]
    assert "suggest horizon=1" in again[2]  # what is read from disk says it too
    stored = set(files.glob("kept/*"))
    (files / "coin_env_for_test.py").write_text(OWN_ENV + "# changed\n")
    assert printed(capsys, *arguments, *twice)[0] == 0
    assert len(set(files.glob("kept/*")) - stored) == 2  # another environment: run again
    assert printed(capsys, "plot", "kept")[0] == 0
    code, _, err = printed(capsys, "evaluate", "kept")
    assert (code, err.count("\n")) == (2, 1)
    assert "no tables" in err
    (files / "experiment.toml").write_text(
        'name = "x"\nepisodes = 20\n[[games]]\nname = "pettingzoo:coin_env_for_test"\n'
        '[[learners]]\nname = "v-learning"\n'
    )
    assert printed(capsys, "run", "experiment.toml")[0] == 0
    assert printed(capsys, "run", "chicken", "stage-v-cce", "--episodes", "20", "--out", "kept")[0] == 0
    code, out, err = printed(capsys, "evaluate", "kept", "--json")
    assert code == 0
    assert [row["game"] for row in json.loads(out)["runs"]] == ["chicken"]
    assert "pettingzoo:coin_env_for_test has no tables" in err
    (files / "elsewhere").mkdir()
    monkeypatch.chdir(files / "elsewhere")
    assert printed(capsys, "run", "../experiment.toml")[0] == 0


@pytest.mark.slow
def test_learners_with_a_markov_policy_number_states_as_well(files: Path, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("pettingzoo")
    pairs = OWN_ENV.replace("return Discrete(2)\n    def action", "return MultiDiscrete([2, 3])\n    def action", 1)
    pairs = pairs.replace("import Discrete", "import Discrete, MultiDiscrete")
    pairs = pairs.replace("fromkeys(self.agents, self.coin)", "fromkeys(self.agents, np.array([self.coin, 1]))")
    pairs = pairs.replace("fromkeys(live, self.coin)", "fromkeys(live, np.array([self.coin, 2]))")
    (files / "pair_env_for_test.py").write_text(pairs)
    for learner in ("q-independent", "ucb-independent", "pg-sgd"):
        assert printed(capsys, "run", "pettingzoo:pair_env_for_test", learner, "--episodes", "50")[0] == 0


def test_an_environment_that_prints_or_fails(files: Path, capfd: pytest.CaptureFixture[str]):
    pytest.importorskip("pettingzoo")
    loud = OWN_ENV.replace("def step(self, actions):", "def step(self, actions):\n        print('hello')")
    (files / "loud_env_for_test.py").write_text(loud)
    code, out, err = printed(capfd, "run", "pettingzoo:loud_env_for_test", "v-learning", "--episodes", "3", "--json")
    assert code == 0
    assert json.loads(out)["episodes"] == 3
    assert "hello" in err
    (files / "bad_env_for_test.py").write_text(OWN_ENV.replace("live, self.agents", "1 / 0; live, self.agents"))
    code, out, err = printed(capfd, "run", "pettingzoo:bad_env_for_test", "v-learning", "--episodes", "3")
    said = [line for line in err.splitlines() if line.startswith("tacit:") and "compil" not in line]
    assert (code, out, len(said)) == (2, "", 1)  # a busy machine says too how far it is, and why it takes long
    assert "Traceback" not in err
    assert "coin failed in step: ZeroDivisionError" in err
    late = OWN_ENV.replace(
        "live, self.agents", "self.done = getattr(self, 'done', 0) + 1; 1 / (self.done < 60); live, self.agents"
    )
    (files / "late_env_for_test.py").write_text(late)
    code, out, err = printed(capfd, "run", "pettingzoo:late_env_for_test", "v-learning", "--episodes", "90")
    assert (code, err.count("ZeroDivisionError")) == (1, 1)
    assert "interrupted" in out  # with what was learned before
    (files / "no_env_for_test.py").write_text("def parallel_env(): return 3\n")
    for game in ("no_env_for_test", "no_env_for_test.parallel_env"):
        code, _, err = printed(capfd, "run", f"pettingzoo:{game}", "v-learning", "--episodes", "3")
        assert code == 2
        assert "must make an environment" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["solve", "pettingzoo:pettingzoo.classic.rps_v2"], "no tables"),
        (
            ["run", "pettingzoo:no_such_module_here", "v-learning", "--episodes", "5"],
            "must be a module with",
        ),
        (["run", "pettingzoo:json", "v-learning", "--episodes", "5"], "must be a module with"),
        (["run", "no_such.nfg", "v-learning", "--episodes", "5"], "no file"),
        (["run", "game.xyz", "v-learning", "--episodes", "5"], "a game file ends in .npz or .dpomdp or .nfg"),
        (["run", "openspiel:matrix_pd", "v-learning", "--episodes", "5", "--game-set", "x=1"], "no parameter 'x'"),
    ],
)
def test_wrong_games_are_one_sentence(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]):
    code, out, err = printed(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert told in err


def test_extras_that_are_missing_are_named_with_their_pip_commands():
    """In a fresh process where none of their modules can be imported."""
    extras = {
        "openspiel:matrix_pd": ("pyspiel", "openspiel"),
        "gymnasium:FrozenLake-v1": ("gymnasium", "gymnasium"),
        "pettingzoo:coin": ("pettingzoo", "pettingzoo"),
    }
    script = (
        f"import sys; sys.modules |= dict.fromkeys({[module for module, _ in extras.values()]})\n"
        "from tacit.cli.main import main\n"
        f"for game in {list(extras)}:\n"
        "    assert main(['run', game, 'v-learning', '--episodes', '5']) == 2\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(extras)
    for line, (_, extra) in zip(lines, extras.values(), strict=True):
        assert f"pip install 'tacit-marl[{extra}]'" in line
