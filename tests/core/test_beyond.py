"""Without what numba does not document, everything works, more slowly, with the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json
import tacit
from tacit.core import beyond

run = tacit.learn(tacit.make("chicken", horizon=2), "stage-v-cce", episodes=50, seed=1, bonus=0.1, certify=False)
me = tacit.agent("stage-v-cce", states=2, actions=3, horizon=2, reward_range=(0, 1), seed=3)
for k in range(20):
    for h in range(2):
        me.learn(h, k % 2, me.act(h, k % 2), 0.5, (k + 1) % 2)
me.grow(3)
missing = [beyond.event is None, beyond.cpu_target is None, not beyond.can_store()]
found = [run.gap, *run.last.probs[0].ravel().tolist(), *me.policy.ravel().tolist(), me.act(1, 2)]
print(json.dumps([sum(missing), len(beyond.OPTIONS), found]))
"""


def answers(cache: Path, plain: str) -> tuple[int, int, list[float]]:
    env = {**os.environ, "TACIT_PLAIN_NUMBA": plain, "TACIT_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    missing, options, found = json.loads(done.stdout)
    return missing, options, found


def test_the_fallbacks_give_the_same_bits(tmp_path: Path):
    full, plain = tmp_path / "full", tmp_path / "plain"
    missing, options, found = answers(full, "0")
    left_out, none, same = answers(plain, "1")
    assert (left_out, none) == (3, 0)
    assert (missing, options) == (0, 3), "this numba has not all that core/beyond.py uses: it runs, more slowly"
    assert same == found
    assert list(full.rglob("*.kernel"))
    assert not list(plain.rglob("*.kernel"))


KERNELS = """
import sys
import numpy as np
from tacit.core import compilation, generics

@generics.apart
def count(here, sign):  # long enough to stay a function of its own
    found = 0.0
    for k in range(len(here.values)):
LINES
    return found

def loop(rows):
    found = 0.0
    for row in range(len(rows)):
        found += count(rows[row], 1.0)
        found -= count(rows[row], -1.0)
    return found + count(rows[0], 2.0)

for size in map(int, sys.argv[1:]):
    rows = np.ones(1, dtype=[("values", "f8", size), ("last", "f8")])
    print(compilation.dispatcher(loop, compilation.kernel_directory(compilation.cache_root()))(rows))
"""
LINE = "        if sign * here.values[k] > {}:\n            found += here.last\n"
LINES = "".join(LINE.format(bound) for bound in (0.5, *range(9, 69)))


def test_kernels_of_two_processes_do_not_answer_for_each_other(tmp_path: Path):
    """Each process meets one record first, and a third one loads what both have compiled."""
    script = tmp_path / "kernels.py"
    script.write_text(KERNELS.replace("LINES", LINES))
    env = {**os.environ, "TACIT_CACHE_DIR": str(tmp_path / "cache"), "TACIT_PLAIN_NUMBA": "0"}
    for sizes in (["300"], ["500"], ["300", "500"], ["500", "300"]):
        done = subprocess.run([sys.executable, script, *sizes], env=env, capture_output=True, text=True, check=False)
        assert [float(line) for line in done.stdout.split()] == [2.0 * float(size) for size in sizes], done.stderr
    assert len(list(tmp_path.rglob("*.kernel"))) == 2
