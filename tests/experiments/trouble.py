"""A learner that gets into trouble of a kind that its seed says, as long as a file is there; and the same as jobs."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

import tacit


class Trouble:
    """Seed 1 raises, 2 hangs, 3 dies, 4 runs out of memory; the others are well."""

    def __init__(self, *, states, actions, horizon, reward_range, seed, index, file="", dies=True):
        self.kind = seed if file and Path(file).exists() else 0
        self.dies = dies

    def act(self, h, s):
        if self.kind == 1:
            raise RuntimeError("not\n today")
        if self.kind == 2:
            time.sleep(1000)
        if self.kind == 3 and self.dies:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == 4:
            np.ones(10**15)
        return 0

    def learn(self, h, s, a, reward, next_state): ...


tacit.learners.REGISTRY.add("trouble", Trouble)
# Compile and import all that a run needs: this is no part of its time, so that a short timeout hits none that is well.
tacit.learn(tacit.make("chicken"), "trouble", episodes=5)
