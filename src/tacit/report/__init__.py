"""Figures from results: functions that take axes and return them."""

from __future__ import annotations

from tacit.report.saving import save_figure
from tacit.report.style import COLORS, styled

__all__ = ["COLORS", "save_figure", "styled"]
