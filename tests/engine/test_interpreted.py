"""The kernels without a compiler give the same run, bit for bit: state, certificate, record and returns."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import conformance as table
import pytest

EPISODES = 40

#: Learners that share a process: most of its time it would import. Swap regret over another bandit takes the compiler
#: as long as four of the others, and is compared in the long run; the two are compared apart from each other.
LONG = "stage-v-ce tsallis-inf"
GROUPS = {
    "v-learning": [name for name in table.CERTIFIED if name != LONG],
    "gradients": list(table.GRADIENTS),
    "benchmarks": list(table.BENCHMARKS),
    "published": list(table.PUBLISHED),
    LONG: [LONG],
}


def test_every_learner_is_compared():
    assert {name for group in GROUPS.values() for name in group} == set(table.LEARNERS)


@pytest.mark.parametrize(
    "group", [pytest.param(name, marks=pytest.mark.slow if name == LONG else []) for name in GROUPS]
)
def test_interpreted_equals_compiled(group: str):
    done = subprocess.run(
        [sys.executable, table.__file__, str(EPISODES), *GROUPS[group]],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    interpreted = json.loads(done.stdout)
    assert set(interpreted) == set(GROUPS[group])
    for learner, found in interpreted.items():
        assert found == table.digests(learner, EPISODES), learner
