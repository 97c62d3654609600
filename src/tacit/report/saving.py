"""Figures on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.core.atomic import written


def save_figure(figure: Any, place: Path) -> None:
    """Write a matplotlib figure in the format of its ending atomically."""
    with written(place) as stream:
        figure.savefig(stream, format=place.suffix[1:].lower())
