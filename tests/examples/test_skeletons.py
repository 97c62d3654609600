"""The skeletons in examples/skeletons/: each runs as it is, is one idea, and fits on a page."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tacit
from tacit.engine.fused import FusedEngine
from tacit.testing import check_game, check_learner

SKELETONS = Path(__file__).parents[2] / "examples" / "skeletons"
TOLD = {
    "own_game": "CCE gap    ≈",
    "own_bandit": "CCE gap",
    "own_learner": "Nash gap",
    "own_output": "5000 episodes: the worse off gets",
    "own_watcher": "done, 100000 episodes",
    "own_executor": "q-independent: 2 runs, reward",
}


def test_all_skeletons_are_run():
    assert {path.stem for path in SKELETONS.glob("*.py")} == set(TOLD)


@pytest.mark.parametrize("name", TOLD)
def test_a_skeleton(name: str, tmp_path: Path):
    path = SKELETONS / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
    script = [sys.executable, "-W", "error", str(path)]
    done = subprocess.run(script, cwd=tmp_path, capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert TOLD[name] in done.stdout
    assert done.stderr == ""


@pytest.fixture(scope="module")
def own_game() -> ModuleType:
    spec = importlib.util.spec_from_file_location("own_game", SKELETONS / "own_game.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["own_game"] = module  # so that the compiler's cache knows its file
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "agents", [21, pytest.param(2, marks=pytest.mark.slow), pytest.param(30, marks=pytest.mark.slow)]
)
def test_joint_actions_beyond_an_integer(own_game: ModuleType, agents: int):
    """21 agents of 8 actions have 2^63 joint actions, one more than an int64 can count; nobody counts them."""
    game = own_game.Traffic(agents=agents)
    check_game(game)
    check_learner("stage-v-cce", game, episodes=20)


@pytest.mark.slow
def test_ten_thousand_agents(own_game: ModuleType):
    game = own_game.Traffic(agents=10_000)
    run = tacit.learn(game, "q-independent", episodes=4, points=2)
    assert run.gaps.source == "none"
    assert len(run.last.probs) == 10_000
    engine = FusedEngine(game, tacit.learners.StageV(bonus=0.1), episodes=3, seed=0)
    returns = np.concatenate([engine.advance(n) for n in (1, 2)])
    assert returns.shape == (3, 10_000)
    played = [agent.sum() for agent in returns]
    assert all(-10_000 * game.horizon <= total < 0 for total in played)
    assert engine.chunk * game.horizon * game.agents * 8 <= 1 << 26  # draws of a chunk stay small
