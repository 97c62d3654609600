"""Learners give the same bits on a processor that can do less, compiled for any, and with other threads of BLAS."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import machines
import numpy as np
import pytest


def lesser_machine() -> dict[str, str]:
    """Return the environment of a process in which no library knows what this processor can do."""
    core = np._core if hasattr(np, "_core") else np.core  # before NumPy 2
    known = core._multiarray_umath
    features = [name for name in known.__cpu_dispatch__ if known.__cpu_features__.get(name)]
    return {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": " ".join(features),
        "NUMBA_CPU_NAME": "generic",
        "OPENBLAS_CORETYPE": "Prescott",
        "OMP_NUM_THREADS": "1",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable",  # names of newer and older versions
    }


@pytest.mark.parametrize("learners", ["short", pytest.param("long", marks=pytest.mark.slow)])
def test_the_same_bits_on_a_lesser_machine(interpreted: None, learners: str):
    """Compiled there, interpreted here."""
    script = [sys.executable, "-W", "error", machines.__file__, learners]
    done = subprocess.run(script, env=lesser_machine(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    there, here = json.loads(done.stdout), machines.digests(learners == "long")
    assert [name for name in here if here[name] != there[name]] == []
