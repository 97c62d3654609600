"""Ctrl-C ends a command even where Python does not get to hear of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

BUSY = """
import hashlib, signal, sys
from tacit.cli import entry, {module}

def busy(args):
    signal.signal(signal.SIGINT, lambda *_: None)  # it may come before the call below has begun
    print("begun", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # one call, of many minutes, which no signal ends
    return 0

{module}.{function} = busy
sys.exit(entry.main())
"""


HANGS = """
import time
from pathlib import Path

class Hangs:
    agents = actions = 2
    horizon, states, reward_range, episodes = 3, 2, (0, 1), 0
    def reset(self):
        self.episodes += 1
        return 0
    def step(self, actions):
        if self.episodes == 8:
            Path("hanging").touch()
            time.sleep(100)
        return 1, [float(a) for a in actions], False

import tacit
tacit.games.REGISTRY.add("hangs", Hangs)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
@pytest.mark.usefixtures("interpreted_everywhere")
def test_a_second_ctrl_c_in_an_environment_that_hangs_keeps_the_episodes_before(tmp_path: Path):
    (tmp_path / "hangs.py").write_text(HANGS)
    line = "run hangs q-independent --import hangs.py --episodes 50 --json"
    process = subprocess.Popen(
        [sys.executable, "-m", "tacit", *line.split()],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / "hanging").exists():
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.05)
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Ctrl-C within an episode" in err
    assert json.loads(out)["episodes_done"] == [7]


@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
@pytest.mark.parametrize(
    ("line", "module", "function", "times"),
    [("games", "listing", "run_games", 1), ("run chicken", "run", "run_run", 2)],
)
def test_a_long_call_is_ended(line: str, module: str, function: str, times: int):
    program = BUSY.format(module=module, function=function)
    process = subprocess.Popen(
        [sys.executable, "-c", program, *line.split()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background would ignore it
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "begun\n"
    if times == 2:
        process.send_signal(signal.SIGINT)
        assert "Ctrl-C again leaves it" in process.stderr.readline()
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    try:
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (130, "tacit: interrupted\n")
