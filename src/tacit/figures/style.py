"""One style for all figures: colour-blind-safe colours (Okabe and Ito), and the same colour for the same thing; and
figures and animations on disk.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy.typing as npt

from tacit.core import check, files
from tacit.core.display import printable
from tacit.core.errors import TacitError, brief
from tacit.core.files import write_to

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


@contextmanager
def styled() -> Iterator[None]:
    """Return a context in which figures have the project's style; nothing else is changed.

    Returns
    -------
    context manager

    Examples
    --------
    >>> import matplotlib
    >>> from tacit.figures import styled
    >>> before = matplotlib.rcParams["font.size"]
    >>> with styled():
    ...     pass
    >>> matplotlib.rcParams["font.size"] == before
    True
    """
    import matplotlib as mpl

    settings: Any = _SETTINGS
    with mpl.rc_context(settings):
        yield
        interactive = mpl.is_interactive()  # a notebook's backend that is loaded by the first figure sets it
    mpl.interactive(interactive)


#: Lines of the same colour differ in these.
LINES = ("-", "--", ":", "-.")


def look(k: int) -> dict[str, str]:
    """Return how the k-th line looks."""
    colors = list(COLORS.values())
    return {"color": colors[k % len(colors)], "linestyle": LINES[k // len(colors) % len(LINES)]}


def checked_size(size: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return a figure's width and height in inches, if they make sense."""
    if size is None:
        return None
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TacitError(f"size is {brief(size)}; it must be (width, height) in inches")
    return (check.real("width", size[0], least=1, most=100), check.real("height", size[1], least=1, most=100))


def new_axes(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, **options: Any
) -> npt.NDArray[Any]:
    """Return an array [rows, columns] of axes of a new figure of pyplot, which notebooks show by themselves."""
    from matplotlib import pyplot

    wanted = checked_size(size) or (4.8 * columns, 3.4 * rows)
    _, axes = pyplot.subplots(rows, columns, figsize=wanted, squeeze=False, layout="constrained", **options)
    return axes  # type: ignore[no-any-return]


def dress(axes: Any) -> None:
    """Give axes that are not ours the project's grid and spines, where they are plain."""
    axes.grid(True, alpha=0.3)
    for side in ("right", "top"):
        if side in axes.spines:
            axes.spines[side].set_visible(False)


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
    >>> from tacit.figures import save_figure
    >>> place = Path(tempfile.mkdtemp()) / "empty.svg"
    >>> save_figure(Figure(), place)
    >>> place.exists()
    True
    """
    with write_to(place) as stream:
        figure.savefig(stream, format=place.suffix[1:].lower())


ENDINGS = (".gif", ".html")


def animate(
    figure: Any, draw: Callable[[int], None], frames: int, place: str | os.PathLike[str], *, fps: float
) -> Path:
    """Write an animation of a figure, whose frame k `draw(k)` draws, as `.gif` or `.html`; return where it is."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    path = files.path(place)
    if path.suffix not in ENDINGS:
        raise TacitError(f"{path} has no ending of an animation; give one of {', '.join(ENDINGS)}")
    fps = check.real("fps", fps, least=0.1, most=60)

    def shown(k: int) -> list[Any]:
        draw(k)
        return []

    moving = FuncAnimation(figure, shown, frames=frames, interval=1000 / fps, blit=False)
    if path.suffix == ".html":
        page = f"<!doctype html><meta charset='utf-8'><title>tacit</title>{moving.to_jshtml(fps=max(1, round(fps)))}"
        files.write(path, page.encode())
        return path
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "moving.gif"
        moving.save(str(written), writer=PillowWriter(fps=max(1, round(fps))))
        files.write(path, written.read_bytes())
    return path
