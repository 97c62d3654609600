"""Processes that need the same kernel at once: one compiles it, the others load it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

COMPILE = """
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import small_kernels
from tacit.core import compilation
place = Path(sys.argv[2])
save = compilation.KernelCache.save_overload

def slow(self, sig, cres):
    time.sleep(1.0)  # while the others come
    save(self, sig, cres)

compilation.KernelCache.save_overload = slow
(place / f"ready-{sys.argv[3]}").touch()
while not (place / "go").exists():
    time.sleep(0.005)
loop = small_kernels.dispatcher(small_kernels.scaled, place / "kernels")
assert loop(*small_kernels.CALLS[0]) == 15.0
print(sum(loop.stats.cache_misses.values()), sum(loop.stats.cache_hits.values()))
"""


def test_one_compiles_and_the_others_load(tmp_path: Path):
    (tmp_path / "kernels").mkdir(mode=0o700)
    arguments = [sys.executable, "-c", COMPILE, str(Path(__file__).parent), str(tmp_path)]
    started = [subprocess.Popen([*arguments, str(k)], stdout=subprocess.PIPE, text=True) for k in range(3)]
    while len(list(tmp_path.glob("ready-*"))) < 3:
        assert all(process.poll() is None for process in started)
        time.sleep(0.02)
    (tmp_path / "go").touch()
    told = sorted(process.communicate()[0].strip() for process in started)
    assert told == ["0 1", "0 1", "1 0"]
    assert len(list((tmp_path / "kernels").glob("*.kernel"))) == 1
    assert not [name for name in os.listdir(tmp_path / "kernels") if name.endswith(".lock")]
