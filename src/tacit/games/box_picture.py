"""BoxPushing as a picture: from south to north the robots' row, the boxes, and the goals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tacit.games import box_pushing as box

Image = npt.NDArray[np.uint8]  # [height, width, 3]

CELL = 48  # pixels
FLOOR, LINE, GOAL = (250, 248, 242), (214, 210, 200), (228, 240, 224)
SMALL_BOX, LARGE_BOX = (230, 159, 0), (166, 108, 42)
ROBOTS = ((0, 114, 178), (213, 94, 0))  # colours that the colour-blind tell apart
GOAL_ROW, BOX_ROW, ROBOT_ROW = 0, 1, 2
BOXES = (("left", 0, 1, SMALL_BOX), ("large", 1, 2, LARGE_BOX), ("right", 3, 1, SMALL_BOX))  # name, column, width


def picture(s: int) -> Image:
    """Draw state s.

    >>> picture(27).shape
    (144, 192, 3)
    """
    image: Image = np.empty((3 * CELL, 4 * CELL, 3), dtype=np.uint8)
    image[:] = FLOOR
    image[:CELL] = GOAL
    image[::CELL] = image[-1] = LINE
    image[:, ::CELL] = image[:, -1] = LINE
    moved = {box.LEFT_GOAL: "left", box.RIGHT_GOAL: "right", box.BOTH_GOAL: "left right", box.LARGE_GOAL: "large"}
    at_goal = moved.get(s, "").split()
    for name, column, width, colour in BOXES:
        _box(image, GOAL_ROW if name in at_goal else BOX_ROW, column, width, colour)
    if s >= len(box.GOALS):  # where a box is at its goal, the state does not say where the robots are
        for robot, colour in zip(box.PLACES[s - len(box.GOALS)], ROBOTS, strict=True):
            _robot(image, robot, colour)
    return image


def _box(image: Image, row: int, column: int, width: int, colour: tuple[int, int, int]) -> None:
    margin = CELL // 8
    rows = slice(row * CELL + margin, (row + 1) * CELL - margin)
    columns = slice(column * CELL + margin, (column + width) * CELL - margin)
    image[rows, columns] = colour


def _robot(image: Image, robot: box.Robot, colour: tuple[int, int, int]) -> None:
    """Draw a triangle that points where the robot faces."""
    margin, depth = CELL // 6, np.arange(CELL)
    across = np.abs(depth - CELL // 2)
    north = (depth[:, None] >= margin + 2 * across[None, :]) & (depth[:, None] < CELL - margin)
    shape = np.rot90(north, -robot.facing)  # facings run clockwise from north
    cell = image[ROBOT_ROW * CELL : (ROBOT_ROW + 1) * CELL, (robot.cell - 1) * CELL : robot.cell * CELL]
    cell[shape] = colour
