"""What a worker is prepared with, where it shares no disk with the process that sends it."""

from __future__ import annotations

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.experiments.worker import WorkerSetup

CHECK = """
import pickle, sys
pickle.load(open(sys.argv[1], "rb"))()
import carried_for_test
print(carried_for_test.ANSWER)
"""


def test_a_script_that_is_not_there_travels_as_text(tmp_path: Path):
    script = tmp_path / "carried_for_test.py"
    script.write_text("ANSWER = 42\n")
    (tmp_path / "sent").write_bytes(pickle.dumps(WorkerSetup.pack([str(script)])))
    script.write_text("ANSWER = 'another file of that name'\n")
    done = subprocess.run([sys.executable, "-c", CHECK, tmp_path / "sent"], capture_output=True, text=True, cwd="/")
    assert (done.stdout, done.returncode) == ("42\n", 0), done.stderr


def test_other_code_is_refused():
    with pytest.raises(tacit.TacitError, match="has another version of tacit, Python, numpy or numba"):
        replace(WorkerSetup.pack(()), code="another")()
