"""The style of all figures; see `drawing/style.py`."""

from __future__ import annotations

from tacit.drawing.style import COLORS, look, name, plain, styled

__all__ = ["COLORS", "look", "name", "plain", "styled"]
