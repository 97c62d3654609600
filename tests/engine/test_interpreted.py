"""The kernels without a compiler give the same run, bit for bit: state, certificate, record and returns."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import conformance as table
import pytest

EPISODES = 40


@pytest.mark.parametrize("learner", table.LEARNERS)
def test_interpreted_equals_compiled(learner: str):
    done = subprocess.run(
        [sys.executable, table.__file__, learner, str(EPISODES)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == table.digests(learner, EPISODES)
