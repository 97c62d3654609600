"""Figures: functions that take matplotlib axes and return them, or make them.

matplotlib is imported when one of them is called. One place draws curves, for `run.plot()`, `results.plot()`,
`tacit plot` and reports alike.
"""

from __future__ import annotations

from tacit.figures.style import COLORS, save_figure, styled

__all__ = ["COLORS", "save_figure", "styled"]
