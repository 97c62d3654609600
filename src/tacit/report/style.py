"""One style for all figures: colour-blind-safe colours (Okabe and Ito), and the same colour for the same thing."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl

from tacit.core.display import printable

COLORS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "black": "#000000",
}

_SETTINGS: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "font.size": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "savefig.dpi": 160,
    "svg.hashsalt": "tacit",  # the same figure gives the same file
}


#: Characters of a name in a figure.
_LONGEST = 120


def name(text: str) -> str:
    """Return a name as a figure shows it."""
    return printable(text, _LONGEST)


def plain(*texts: Any) -> None:
    """Let texts of a figure be shown as they are: a $ in the name of a game or a learner begins no formula."""
    for text in texts:
        text.set_parse_math(False)


def styled() -> AbstractContextManager[None]:
    """Return a context in which figures have the project's style; nothing else is changed.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import matplotlib
    >>> before = matplotlib.rcParams["font.size"]
    >>> with styled():
    ...     pass
    >>> matplotlib.rcParams["font.size"] == before
    True
    """
    settings: Any = _SETTINGS
    return mpl.rc_context(settings)
