"""Pictures of boards: fields in rows and columns, filled or with a disc on them, as images [height, width, 3].

Those of games of the atlas are functions of a state, which is "over" where play has ended.
"""

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


BALL, POISON = (30, 30, 30), (140, 30, 60)


def draw_soccer(state: Any, *, rows: int, columns: int) -> Image:
    """Draw the field between its goals, the players, and the ball at the one who has it."""
    board = make_board(rows, columns + 2)
    for row in (rows // 2 - 1, rows // 2):
        for column in (0, columns + 1):
            fill(board, row, column, GOAL)
    if state != "over":
        for who, (row, column) in enumerate(state[:2]):
            put_disc(board, row, column + 1, AGENTS[who])
            if state[2] == who:
                put_disc(board, row, column + 1, BALL, share=0.25)
    return board


def draw_wrestler(state: Any, *, coins: int, size: int) -> Image:
    """Draw the fields of oshi-zumo, the wrestler, and both agents' coins above and below."""
    fields = 2 * size + 1
    board = make_board(3, max(fields, coins))
    if state != "over":
        put_disc(board, 1, state[2] + size, DARK)
        for row, who in ((0, 0), (2, 1)):
            for k in range(state[who]):
                put_disc(board, row, k, AGENTS[who], share=0.4)
    return board


def draw_chocolate(state: Any, *, rows: int, columns: int) -> Image:
    """Draw what is left of the chocolate, with the poisoned corner at the bottom left."""
    board = make_board(rows, columns)
    if state != "over":
        for row, left in enumerate(state[1]):
            for column in range(left):
                fill(board, rows - 1 - row, column, POISON if (row, column) == (0, 0) else DARK, margin=4)
    return board


def draw_piles(state: Any, *, piles: tuple[int, ...]) -> Image:
    """Draw a row of discs for each pile, in the colour of who moves."""
    board = make_board(len(piles), max(piles))
    if state != "over":
        for row, pile in enumerate(state[1]):
            for k in range(pile):
                put_disc(board, row, k, AGENTS[state[0]], share=0.5)
    return board


def draw_robots(state: Any, *, size: int) -> Image:
    """Draw two robots on a grid, and the corner that the first is to reach."""
    board = make_board(size, size)
    fill(board, 0, size - 1, GOAL)
    if state != "over":
        places = state[1]
        for who, (x, y) in enumerate(places):
            put_disc(board, size - 1 - y, x, LIGHT if places[0] == places[1] else AGENTS[who])
    return board
