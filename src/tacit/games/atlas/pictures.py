"""What the boards of the atlas look like: functions of a state, which is "over" where play has ended."""

from __future__ import annotations

from typing import Any

from tacit.games.boards import AGENTS, DARK, GOAL, LIGHT, Image, fill, make_board, put_disc

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
