"""Frames that follow each other: as GIF, or as HTML with controls."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.core import archive, atomic, check
from tacit.core.errors import TacitError

ENDINGS = (".gif", ".html")


def animate(
    figure: Any, draw: Callable[[int], None], frames: int, place: str | os.PathLike[str], *, fps: float
) -> Path:
    """Write an animation of a figure, whose frame k `draw(k)` draws, as `.gif` or `.html`; return where it is."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    path = archive.path(place)
    if path.suffix not in ENDINGS:
        raise TacitError(f"{path} has no ending of an animation; give one of {', '.join(ENDINGS)}")
    fps = check.real("fps", fps, least=0.1, most=60)

    def shown(k: int) -> list[Any]:
        draw(k)
        return []

    moving = FuncAnimation(figure, shown, frames=frames, interval=1000 / fps, blit=False)
    if path.suffix == ".html":
        page = f"<!doctype html><meta charset='utf-8'><title>tacit</title>{moving.to_jshtml(fps=max(1, round(fps)))}"
        atomic.write(path, page.encode())
        return path
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "moving.gif"
        moving.save(str(written), writer=PillowWriter(fps=max(1, round(fps))))
        atomic.write(path, written.read_bytes())
    return path
