"""What kernels may do in loops: compiled, loaded from the cache, and in anybody's function."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np
import pytest

from tacit.core.compilation import dispatcher
from tacit.core.generics import apart, jitable


@jitable
def halves(k):
    count = 0
    while k > 1:
        k //= 2
        count += 1
    return count


@apart
def report(pair, k):
    print("cell", k, pair[1])  # numbers are printed by Python, which the compiled code has to find
    if k > 50:
        raise IndexError("far too large")
    return pair[0][k] * pair[1]


@jitable
def both(pair, k):
    return report(pair, k) + halves(8)


def loop(pair, k):
    return both(pair, k) + halves(k)


PAIR = (np.array([2.0, 3.0, 4.0]), 5.0)


@pytest.mark.parametrize("times", ["compiled", "loaded"])
def test_kernels_print_and_raise(
    times: str, tmp_path_factory: pytest.TempPathFactory, capfd: pytest.CaptureFixture[str]
):
    directory = _directory(tmp_path_factory)
    compiled = dispatcher(loop, directory)
    assert compiled(PAIR, 2) == loop(PAIR, 2) == 24.0
    loaded = sum(compiled.stats.cache_hits.values())  # type: ignore[attr-defined]
    assert loaded == (times == "loaded")
    assert capfd.readouterr().out.splitlines() == ["cell 2 5.0"] * 2
    with pytest.raises(IndexError, match="far too large"):
        compiled(PAIR, 60)


def _directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the same directory for all tests of this file."""
    directory = tmp_path_factory.getbasetemp() / "generics"
    directory.mkdir(mode=0o700, exist_ok=True)
    return directory


def test_anybodys_compiled_function_calls_them():
    @numba.njit
    def mine(k):
        return halves(k) + 1

    assert mine(8) == 4
    assert halves(8) == 3
