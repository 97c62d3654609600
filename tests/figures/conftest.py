"""Figures of pyplot are closed after each test."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _close():
    yield
    from matplotlib import pyplot

    pyplot.close("all")
