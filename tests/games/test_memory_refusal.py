"""A game larger than memory is refused at once, with its size."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import numpy as np
import pytest

import tacit
from tacit.core import memory
from tacit.games import Successors

TOO_LARGE = [
    ("distancing", {"agents": 40, "form": "tables"}),
    ("distancing", {"agents": 500, "form": "tables"}),
    ("random-general-sum", {"agents": 30, "actions": 4}),
    ("random-team", {"states": 10**7}),
    ("random-potential", {"states": 10**6, "horizon": 10**4}),
    ("random-general-sum", {"agents": 50, "states": 1000, "actions": 1000}),
]


@pytest.mark.parametrize(("name", "params"), TOO_LARGE, ids=str)
def test_it_is_refused_with_its_size(name: str, params: dict[str, int]):
    begin = time.perf_counter()
    with pytest.raises(tacit.TacitError) as caught:
        tacit.make(name, **params)
    assert re.search(rf"the {name} game .*?would take .* of memory, and .* are free", str(caught.value))
    assert time.perf_counter() - begin < 1


def test_the_dense_form_of_a_large_sparse_game_is_refused():
    S = 200_000
    game = tacit.TabularGame(
        Successors(np.arange(S + 1), np.zeros(S, np.int32), np.ones(S)), np.zeros((1, 1, S, 1)), np.eye(1, S)[0], 2
    )
    with pytest.raises(tacit.TacitError, match=r"the dense transitions \(1, 200000, 1, 200000\) would take 320 GB"):
        _ = game.transitions
    assert tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap == 0


@pytest.mark.parametrize("concept", ["optimum", "cce", "ce", "nash"])
def test_a_solution_larger_than_memory_is_refused(concept: str):
    game = tacit.make("matching-pennies", horizon=10**14)
    with pytest.raises(tacit.TacitError, match="would take"):
        tacit.solve(game, concept)


def test_an_evaluation_larger_than_memory_is_refused():
    game = tacit.make("matching-pennies", horizon=10**14)
    with pytest.raises(tacit.TacitError, match="would take"):
        tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))


@pytest.mark.parametrize("name", ["random-general-sum", "random-team", "random-potential"])
def test_more_agents_than_numpy_has_axes_are_refused(name: str):
    with pytest.raises(tacit.TacitError, match="agents"):
        tacit.make(name, agents=70, actions=1)


def test_nothing_is_allocated_when_memory_is_said_to_be_full(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(tacit.TacitError, match=r"and 1 kB are free"):
        tacit.make("random-general-sum", states=10)


SWEEP = """
import resource
import sys
import tacit
from tacit.core import memory
from tacit.games import REGISTRY

memory.available = lambda: 10**9
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
for name in REGISTRY:
    for key, usual in REGISTRY.parameters(name).items():
        for size in (10**7, 10**8, 10**18, 10**40):
            if type(usual) is int:
                try:
                    tacit.make(name, **{key: size})
                except tacit.TacitError:
                    continue
                except BaseException as error:
                    sys.exit(f"{name} {key}={size}: {type(error).__name__} {error}")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on memory")
def test_no_size_is_used_before_it_is_checked():
    found = subprocess.run([sys.executable, "-c", SWEEP], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
