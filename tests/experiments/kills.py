"""Kill `tacit run` at random moments, as often as asked, and print what was met; run as a script.

Each run is a process of its own, forked from one that has imported and compiled everything, and dies by SIGKILL.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import tacit
import tacit.engine.checkpoint
from tacit.cli.main import main

EXPERIMENT = """
name = "killed"
episodes = 150
seeds = 2
points = 20

[[games]]
name = "good-state"
params = {horizon = 4}

[[learners]]
name = "stage-v-cce"
params = {bonus = 0.1}

[[learners]]
name = "pg-storm"

[[learners]]
name = "ucb-independent"

[[learners]]
name = "npg"
params = {eta = 1e-5}
"""


def spawn(arguments: list[str]) -> int:
    child = os.fork()
    if child == 0:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        os._exit(main(arguments))
    return child


def campaign(root: Path, kills: int, seed: int) -> dict[str, object]:
    file = root / "experiment.toml"
    file.write_text(EXPERIMENT)
    tacit.engine.checkpoint._SHARE = 1.0  # write all the time: kills are to fall into writing
    moments = random.Random(seed)
    met = {"killed": 0, "in the middle of writing": 0, "with a checkpoint": 0}
    began = time.perf_counter()  # how long a whole run takes here and now
    assert os.waitpid(spawn(["run", str(file), "--out", str(root / "timed"), "--checkpoint-every", "0"]), 0)[1] == 0
    whole = time.perf_counter() - began
    places = [root / "out0"]
    while met["killed"] < kills:
        out = places[-1]
        child = spawn(["run", str(file), "--out", str(out), "--checkpoint-every", "0"])
        time.sleep(moments.random() * whole)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            met["killed"] += 1
            met["in the middle of writing"] += any(out.glob("*/.*.part"))
            met["with a checkpoint"] += any(out.glob("*/checkpoint.npz"))
        else:
            assert os.WEXITSTATUS(status) == 0
            places.append(root / f"out{len(places)}")
    for out in places:
        _, status = os.waitpid(spawn(["run", str(file), "--out", str(out)]), 0)
        assert status == 0
    return {**met, "places": [str(place) for place in places]}


if __name__ == "__main__":
    game = tacit.make("good-state", horizon=4)
    tacit.learn(game, "stage-v-cce", episodes=1, bonus=0.1)
    for name in ("pg-storm", "ucb-independent"):
        tacit.learn(game, name, episodes=1)
    print(json.dumps(campaign(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
