"""Ctrl-C ends a command even where Python does not get to hear of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

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
