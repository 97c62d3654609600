"""Standard streams that are closed or full: the right exit code, and at most one sentence."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LOST = "tacit: cannot write to standard output: "


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full")
@pytest.mark.parametrize(
    ("line", "code", "out", "err"),
    [
        ("games >&-", 2, "", LOST),
        ("games >/dev/full", 2, "", LOST),
        ("--help >/dev/full", 2, "", LOST),
        ("--version 2>&-", 0, "tacit", ""),
        ("nonsense <&- >&- 2>&-", 2, "", ""),
    ],
)
def test_closed_and_full_streams(line: str, code: int, out: str, err: str):
    command = f'"{sys.executable}" -m tacit {line}'
    found = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert found.returncode == code
    assert found.stdout.startswith(out)
    assert found.stderr.startswith(err)
    assert len(found.stderr.splitlines()) == bool(err)
