"""Functions of users read what holds when a game or learner is made, in this process and the next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import cloudpickle
import numpy as np
import pytest

import tacit
from tacit.core.snapshots import copy_functions, describe

GAME = """
import tacit

def start(u): return 0
def advance(h, s, actions, u): return 0

def play(reward):
    sizes = dict(agents=2, actions=2, states=1, horizon=2, reward_range=(0, 100))
    game = tacit.FunctionGame(start, advance, reward, **sizes)
    return float(tacit.learn(game, "q-independent", episodes=2_000).reward[0])
"""


def run(directory: Path, script: str, **env: str) -> list[float]:
    """Run a script beside the files of a directory, in a process of its own; return the numbers it prints."""
    (directory / "rules.py").write_text(GAME)
    (directory / "script.py").write_text(dedent(script))
    env = {**os.environ, "TACIT_CACHE_DIR": str(directory / "cache"), "PYTHONDONTWRITEBYTECODE": "1", **env}
    done = subprocess.run([sys.executable, "script.py"], cwd=directory, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [float(line) for line in done.stdout.split()]


READS_A_GLOBAL = """
import sys
from rules import play

def reward(i, h, s, actions): return X

for text in {values}:
    X = float(text)
    print(play(reward))
"""


def test_a_new_game_reads_the_value_of_now(tmp_path: Path):
    assert run(tmp_path, READS_A_GLOBAL.format(values=[1, 7])) == [2.0, 14.0]


READS_A_MODULE = """
import helper
from rules import play

def reward(i, h, s, actions): return helper.PAY * helper.twice(1.0)

print(play(reward))
"""


def test_an_edited_module_is_read_anew(tmp_path: Path):
    text = "import tacit\nPAY = {}\n@tacit.kernels.jitable\ndef twice(x): return {} * x\n"
    for pay, factor in ((1.0, 1.0), (10.0, 2.0)):
        (tmp_path / "helper.py").write_text(text.format(pay, factor))
        assert run(tmp_path, READS_A_MODULE) == [2 * pay * factor]


@pytest.mark.parametrize("jit", ["0", "1"])
def test_a_changed_or_reloaded_module_is_read_anew(tmp_path: Path, jit: str):
    script = """
        import importlib, pathlib
        import helper, tacit
        from rules import advance, play, start

        def reward(i, h, s, actions): return helper.PAY * helper.twice(1.0)

        print(play(reward))
        sizes = dict(agents=2, actions=2, states=1, horizon=2, reward_range=(0, 100))
        before = tacit.FunctionGame(start, advance, reward, **sizes)
        helper.PAY = 10.0
        print(play(reward))
        text = "import tacit\\nPAY = 5.0\\n@tacit.kernels.jitable\\ndef twice(x): return 3.0 * x\\n"
        pathlib.Path("helper.py").write_text(text)
        importlib.reload(helper)
        print(play(reward))
        helper.PAY = 1.0
        learned = tacit.learn(before, "q-independent", episodes=2_000)
        print(learned.reward[0] / before.functions["reward"](0, 0, 0, None))
    """
    (tmp_path / "helper.py").write_text(
        "import tacit\nPAY = 1.0\n@tacit.kernels.jitable\ndef twice(x): return 2.0 * x\n"
    )
    assert run(tmp_path, script, NUMBA_DISABLE_JIT=jit) == [4.0, 40.0, 30.0, 2.0]


def test_a_helper_reads_the_value_of_now(tmp_path: Path):
    """A helper that is called through its module or by its name, marked for the compiler or not."""
    for name, mark in {"own": "@tacit.kernels.jitable", "numba_s": "@numba.njit", "plain": ""}.items():
        text = f"import numba, tacit\nPAY = 1.0\n{mark}\ndef pay(): return PAY\n{mark}\ndef twice(): return 2 * pay()\n"
        (tmp_path / f"{name}.py").write_text(text)
    script = """
        import own, numba_s, plain
        from rules import play

        for helper in (own, numba_s, plain):
            pay = helper.pay

            def reward(i, h, s, actions): return helper.twice() + pay()

            for helper.PAY in (1.0, 7.0):
                print(play(reward))
    """
    assert run(tmp_path, script) == 3 * [6.0, 42.0]


def test_a_game_goes_to_another_process_with_its_values_or_not_at_all():
    pay = np.ones(1)

    def reward(i, h, s, actions):
        return pay[0]

    sizes: dict[str, Any] = {"agents": 2, "actions": 2, "states": 1, "horizon": 2, "reward_range": (0, 100)}
    game = tacit.FunctionGame(lambda u: 0, lambda h, s, actions, u: 0, reward, **sizes)
    sent = cloudpickle.loads(cloudpickle.dumps(game))
    assert sent.digest == game.digest
    assert sent.functions["reward"](0, 0, 0, None) == 1.0
    pay[0] = 7.0
    with pytest.raises(tacit.TacitError, match="make the game anew"):
        cloudpickle.loads(cloudpickle.dumps(game))


cost = 5.0


def test_attributes_are_no_globals():
    """What is only named like an attribute is not read: another process, which has none, finds the same digest."""

    def read(params):
        return params.cost

    (copy,), _ = copy_functions([read])
    assert "cost" not in copy.__globals__


def test_values_of_packages_that_import_each_other():
    package, module = ModuleType("package"), ModuleType("package.module")
    vars(package).update(module=module)
    vars(module).update(package=package, pay=np.ones(1))

    def read():
        return package.module.package.module.pay[0]

    (copy,), _ = copy_functions([read])
    assert describe([copy]) == describe(copy_functions([read])[0])
    module.pay[0] = 7.0
    assert (read(), copy()) == (7.0, 1.0)
    assert describe([copy]) != describe(copy_functions([read])[0])


LEARNER = """
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import tacit
from helper import choose
from tacit import kernels

BASE = 0

class Tables(NamedTuple):
    cells: np.ndarray

@dataclass(frozen=True)
class Fixed(kernels.Learner):
    def params(self, world): return {}
    def init(self, world):
        return Tables(kernels.records((world.horizon, world.states, world.agents), [("visits", "i8")]))

@kernels.act.implement(Tables)
def act(learner, i, h, s, u): return choose(BASE)

@kernels.learn.implement(Tables)
def learn(learner, i, h, s, a, r, s_next): learner.cells[h, s, i].visits += 1

@kernels.policy.implement(Tables)
def policy(learner, i, h, s, out):
    out[:] = 0.0
    out[choose(BASE)] = 1.0

def play():
    game = tacit.matrix_game([np.array([[0.0, 1.0], [2.0, 3.0]])] * 2)
    return float(tacit.learn(game, Fixed(), episodes=20_000, keep=False).reward[0])
"""
HELPER = "from tacit import kernels\n@kernels.jitable\ndef choose(base): return base + {}\n"


def test_a_learner_runs_its_edited_helper(tmp_path: Path):
    (tmp_path / "mine.py").write_text(LEARNER)
    for action, reward in ((0, 0.0), (1, 3.0)):
        (tmp_path / "helper.py").write_text(HELPER.format(action))
        assert run(tmp_path, "import mine\nprint(mine.play())") == [reward]
    assert not [place.name for place in tmp_path.rglob("*.kernel") if place.name.startswith("episodes")]


def test_a_new_learner_reads_the_value_of_now(tmp_path: Path):
    (tmp_path / "mine.py").write_text(LEARNER)
    (tmp_path / "helper.py").write_text(HELPER.format(0))
    script = """
        import mine
        for mine.BASE in (0, 1, 0):
            print(mine.play())
        mine.choose = lambda base: 1 - base
        print(mine.play())
    """
    assert run(tmp_path, script) == [0.0, 3.0, 0.0, 3.0]


def test_a_helper_can_be_defined_again(tmp_path: Path):
    script = """
        from rules import play
        def reward(i, h, s, actions): return pay(s)
        def pay(s): return 1.0
        print(play(reward))
        def pay(s): return 7.0
        print(play(reward))
    """
    assert run(tmp_path, script) == [2.0, 14.0]


def test_copies_keep_arrays_closures_and_recursion():
    weights, factor = np.array([1.0, 2.0]), 3.0

    def fall(k, *, by=1):
        return 0.0 if k < 0 else factor * weights[k] + fall(k - by)

    (copy,), copies = copy_functions([fall])
    assert copies == [copy]
    weights[:], factor = 0.0, 0.0
    assert (fall(1), copy(1), copy(1, by=2)) == (0.0, 9.0, 6.0)


def test_what_functions_read_tells_them_apart():
    def reader(value: object) -> object:
        return lambda: value

    same = [1, 1.0, True, np.array([1]), np.array([1.0]), (1, 2), [1, 2], reader(1), reader(2), np, dict, len]
    texts = [describe([reader(value)]) for value in same]  # type: ignore[list-item]
    assert len(set(texts)) == len(same)
    assert texts == [describe([reader(value)]) for value in same]  # type: ignore[list-item]
    assert describe([reader(np.ones(2))]) == describe([reader(np.ones(2))])  # type: ignore[list-item]


def test_kernels_of_tacit_s_own_types_cannot_be_replaced():
    kind = type(tacit.make("chicken").kernels())
    with pytest.raises(tacit.TacitError, match="a type of your own"):
        tacit.kernels.reward.implement(kind)(lambda game, i, token: 0.0)
