"""Figures from results: functions that take axes and return them."""

from __future__ import annotations

from tacit.report.style import COLORS, styled

__all__ = ["COLORS", "styled"]
