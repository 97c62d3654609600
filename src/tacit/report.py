"""The old name of `tacit.figures`, for one release."""

from __future__ import annotations

from tacit import figures
from tacit.figures import COLORS, save_figure, styled

__all__ = ["COLORS", "save_figure", "styled"]
__path__ = figures.__path__  # `tacit.report.pictures` is found there
