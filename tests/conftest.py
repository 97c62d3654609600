"""What every test shares: hypothesis draws the same examples each time, and has no clock; loops without a compiler."""

from __future__ import annotations

import math
import sys

import numba
import pytest
from hypothesis import settings

settings.register_profile("tacit", deadline=None, derandomize=True, database=None)
settings.load_profile("tacit")


@pytest.fixture(autouse=True)
def without_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let commands print no lines of progress now and then: how many there are depends on how busy the machine is."""
    if "tacit.cli.options" in sys.modules:
        monkeypatch.setattr("tacit.cli.options._EVERY_SECONDS", math.inf)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run loops as plain Python: the same bits, and for a few hundred steps faster than the compiler."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)


@pytest.fixture
def interpreted_everywhere(interpreted: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, in processes that the test starts too."""
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
