"""Figures from results: functions that take axes and return them."""

from __future__ import annotations

from tacit.drawing.style import COLORS, styled
from tacit.report.saving import save_figure

__all__ = ["COLORS", "save_figure", "styled"]
