"""One style for all figures, and figures and animations on disk.

The first seven colours are colour-blind-safe (Okabe and Ito).
"""

from __future__ import annotations

import io
import os
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
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
    "wine": "#882255",
    "olive": "#8C8C1A",
    "teal": "#117A8B",
    "brown": "#7A4A1E",
    "indigo": "#4B3BB0",
    "rose": "#E0607E",
    "lime": "#6AA121",
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
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "ps.fonttype": 42,
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
    """Show texts of a figure as they are. A $ in a name begins no formula."""
    for text in texts:
        text.set_parse_math(False)


def title(ax: Any, text: str, **options: Any) -> None:
    """Give axes a title, which is shown as it is."""
    plain(ax.set_title(text, **options))


def legend(owner: Any, *entries: Any, **options: Any) -> None:
    """Draw the legend of axes or of a figure. There is none where nothing has a label.

    `entries` are lines and their labels, by default those of the axes; options are matplotlib's.
    """
    lines, labels = entries or owner.get_legend_handles_labels()
    if len(lines):
        box = owner.legend(lines, labels, **{"fontsize": 8, "frameon": False, **options})
        plain(*box.get_texts(), box.get_title())
        if "loc" not in options:
            box.set_in_layout(False)  # a wide one must not push the axes of a figure apart


def characters(figure: Any, setting: str) -> int:
    """Return about how many letters of a setting's size fit in a figure's width."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size=mpl.rcParams[setting]).get_size_in_points()
    return int(130 / size * figure.get_figwidth())


def fold(ax: Any, text: str, beside: int) -> str:
    """Return a title in lines as narrow as one of so many axes."""
    return textwrap.fill(text, max(8, characters(ax.figure, "axes.titlesize") * 4 // (5 * beside)))


#: A column of a paper, in inches, and what is smaller in it.
PAPER_WIDTH = 3.35
_PAPER: dict[str, Any] = {
    **{f"{part}.labelsize": 7 for part in ("xtick", "ytick")},
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "lines.linewidth": 1.2,
}
STYLES = ("screen", "paper")


@contextmanager
def styled(style: str = "screen") -> Iterator[None]:
    """Return a context in which figures have the project's style; nothing else is changed.

    Parameters
    ----------
    style : {"screen", "paper"}
        For a paper fonts are small, and from then on PDF files embed them as TrueType.

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

    check.choice("style", style, STYLES)
    settings: Any = {**_SETTINGS, **(_PAPER if style == "paper" else {})}
    if style == "paper":  # the figure is saved after this context
        mpl.rcParams.update({"pdf.fonttype": 42, "ps.fonttype": 42})
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


def check_size(size: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return a figure's width and height in inches, if they make sense."""
    if size is None:
        return None
    if not isinstance(size, tuple | list) or len(size) != 2:
        raise TacitError(f"size must be (width, height) in inches; got {brief(size)}")
    return (check.real("width", size[0], least=1, most=100), check.real("height", size[1], least=1, most=100))


def new_axes(
    rows: int = 1, columns: int = 1, *, size: tuple[float, float] | None = None, **options: Any
) -> npt.NDArray[Any]:
    """Return axes [rows, columns] of a new figure of pyplot, which notebooks show."""
    from matplotlib import pyplot

    inches = check_size(size) or (4.8 * columns, 3.4 * rows)
    _, axes = pyplot.subplots(rows, columns, figsize=inches, squeeze=False, layout="constrained", **options)
    return axes  # type: ignore[no-any-return]


def axes_for(ax: Any, count: int, size: tuple[float, float] | None, usual: tuple[float, float] | None = None) -> Any:
    """Return `count` axes: those of the caller, or new ones side by side."""
    if ax is None:
        return new_axes(1, count, size=size or usual)[0]
    axes = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
    if len(axes) != count:
        raise TacitError(f"ax must have {count} axes; got {len(axes)}")
    return axes


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
    with write_to(place) as stream, _any_letters():
        figure.savefig(stream, format=place.suffix[1:].lower())


@contextmanager
def _any_letters() -> Iterator[None]:
    """Say nothing of letters in a name that the font does not have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")
        yield


ENDINGS = (".gif", ".html")

#: Dots an inch of a GIF.
_GIF = 90


def animate(figure: Any, draw: Callable[[int], Any], frames: int, place: str | os.PathLike[str], *, fps: float) -> Path:
    """Write an animation as `.gif` or `.html`, and return its place. `draw(k)` draws frame k."""
    from matplotlib import pyplot
    from matplotlib.animation import FuncAnimation
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    path = files.path(place)
    if path.suffix not in ENDINGS:
        raise TacitError(f"the name of an animation must end in {' or '.join(ENDINGS)}; got {path}")
    fps = check.real("fps", fps, least=0.1, most=60)
    with _any_letters():
        if path.suffix == ".html":
            moving = FuncAnimation(figure, draw, frames=frames, interval=1000 / fps, blit=False)
            body = moving.to_jshtml(fps=max(1, round(fps)))
            content = f"<!doctype html><meta charset='utf-8'><title>tacit</title>{body}".encode()
        else:
            figure.set_dpi(_GIF)
            canvas, images, gif = FigureCanvasAgg(figure), [], io.BytesIO()
            for k in range(frames):
                draw(k)
                canvas.draw()
                images.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
            images[0].save(gif, "gif", save_all=True, append_images=images[1:], duration=1000 / fps, loop=0)
            content = gif.getvalue()
    files.write(path, content)
    pyplot.close(figure)
    return path
