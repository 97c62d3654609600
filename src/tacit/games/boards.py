"""Pictures of boards: fields in rows and columns, filled or with a disc on them, as images [height, width, 3]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Image = npt.NDArray[np.uint8]  # [height, width, 3]
Colour = tuple[int, int, int]

CELL = 48  # pixels
FLOOR, LINE, GOAL = (250, 248, 242), (214, 210, 200), (228, 240, 224)
LIGHT, DARK = (230, 159, 0), (166, 108, 42)
AGENTS = ((0, 114, 178), (213, 94, 0))  # colours that the colour-blind tell apart


@dataclass(frozen=True)
class StatePicture:
    """Draws state s of a game by what the state is.

    >>> StatePicture(["first", "second"], lambda state: make_board(1, len(state)))(1).shape
    (48, 288, 3)
    """

    states: Sequence[Any]
    draw: Callable[[Any], Image]

    def __call__(self, s: int) -> Image:
        """Draw state s."""
        return self.draw(self.states[s])


def make_board(rows: int, columns: int) -> Image:
    """Return empty fields with lines between them.

    >>> make_board(3, 4).shape
    (144, 192, 3)
    """
    board: Image = np.empty((rows * CELL, columns * CELL, 3), dtype=np.uint8)
    board[:] = FLOOR
    board[::CELL] = board[-1] = LINE
    board[:, ::CELL] = board[:, -1] = LINE
    return board


def field_of(board: Image, row: int, column: int, width: int = 1) -> Image:
    """Return the part of a board that one field takes, or several side by side, to draw on."""
    return board[row * CELL : (row + 1) * CELL, column * CELL : (column + width) * CELL]


def fill(board: Image, row: int, column: int, colour: Colour, *, width: int = 1, margin: int = 1) -> None:
    """Fill a field, or several side by side."""
    field_of(board, row, column, width)[margin:-margin, margin:-margin] = colour


def put_disc(board: Image, row: int, column: int, colour: Colour, *, share: float = 0.7) -> None:
    """Put a disc on a field; its diameter is a share of the field's side."""
    away = np.arange(CELL) - (CELL - 1) / 2
    inside = away[:, None] ** 2 + away[None, :] ** 2 <= (share * CELL / 2) ** 2
    field_of(board, row, column)[inside] = colour
