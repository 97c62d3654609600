"""Figures on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.core.atomic import written


def save_figure(figure: Any, place: Path) -> None:
    """Write a matplotlib figure in the format of its ending atomically.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    place : path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from matplotlib.figure import Figure
    >>> from tacit.report import save_figure
    >>> place = Path(tempfile.mkdtemp()) / "empty.svg"
    >>> save_figure(Figure(), place)
    >>> place.exists()
    True
    """
    with written(place) as stream:
        figure.savefig(stream, format=place.suffix[1:].lower())
