"""BoxPushing: two robots, two small boxes and a large one that only both can push.

Source: S. Seuken and S. Zilberstein, "Improved memory-bounded dynamic programming for decentralized POMDPs",
UAI 2007; here the state is fully observed, as in [Mao2022, app:simulations].

The robots stand in a row of four cells, numbered 1 to 4 from west to east, robot 0 west of robot 1. North of cells
1 and 4 stands a small box, north of 2 and 3 the large one. Rewards are shared and paid on the attempt. The four
states in which a box is at its goal pay nothing and lead back to the start: a reset that costs one step.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from tacit.core import check
from tacit.games.exact import from_entries
from tacit.games.showing import AGENTS, CELL, DARK, GOAL, LIGHT, Colour, Image, field_of, fill, make_board
from tacit.games.tabular import TabularGame

SUCCESS = 0.9  # probability that a turn or a move works, independently for each robot
STEP, SMALL, LARGE, BUMP = -0.2, 10.0, 100.0, -5.0
LEFT, RIGHT, FORWARD, STAY = range(4)
NORTH, EAST, SOUTH, WEST = range(4)
LEFT_GOAL, RIGHT_GOAL, BOTH_GOAL, LARGE_GOAL = range(4)
GOALS = ["leftBoxAtGoal", "rightBoxAtGoal", "bothSmallAtGoal", "largeBoxAtGoal"]


class Robot(NamedTuple):
    """Where a robot stands (cell 1 to 4) and faces."""

    cell: int
    facing: int

    def ahead(self) -> int | None:
        """Cell in front, if the robot faces along the row and not its end."""
        cell = self.cell + {EAST: 1, WEST: -1}.get(self.facing, 9)
        return cell if 1 <= cell <= 4 else None


Pair = tuple[Robot, Robot]
PLACES: list[Pair] = [
    (Robot(p, o), Robot(q, r))
    for p, o, q, r in itertools.product(range(1, 5), range(4), range(1, 5), range(4))
    if p < q
]
INDEX = {pair: 4 + k for k, pair in enumerate(PLACES)}
START = INDEX[Robot(1, EAST), Robot(4, WEST)]


def box_pushing(*, horizon: int = 10, published_file: bool = False, reset: bool = True) -> TabularGame:
    """Two robots push small boxes alone or the large one together; 100 states. [Seuken & Zilberstein 2007]

    Parameters
    ----------
    horizon : int
        Steps in an episode.
    published_file : bool
        Follow the published problem file in the one place where it contradicts the rules: from s2E4W with both
        robots going forward, the outcome of probability 0.09 in which robot 0 alone moves ends in s3E4S.
    reset : bool
        Whether a box at its goal leads back to the start, as published; otherwise the episode has nothing more to give.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> tacit.make("box-pushing")
    TabularGame('box-pushing': 2 agents, 100 states, 4×4 actions, horizon 10, rewards in [-10.2, 99.8])
    """
    published_file = check.flag("published_file", published_file)
    reset = check.flag("reset", reset)
    reward = np.zeros((1, 1, 100, 4, 4))
    row, state, prob = [], [], []
    for s in range(100):
        for joint, (a, b) in enumerate(itertools.product(range(4), range(4))):
            outcomes = {START if reset else s: 1.0}
            if s >= 4:
                reward[0, 0, s, a, b] = _reward(PLACES[s - 4], (a, b))
                outcomes = _outcomes(PLACES[s - 4], (a, b))
            if published_file and s == INDEX[Robot(2, EAST), Robot(4, WEST)] and (a, b) == (FORWARD, FORWARD):
                outcomes[INDEX[Robot(3, EAST), Robot(4, SOUTH)]] = outcomes.pop(INDEX[Robot(3, EAST), Robot(4, WEST)])
            row += [16 * s + joint] * len(outcomes)
            state += list(outcomes)
            prob += list(outcomes.values())
    return TabularGame(
        from_entries(row, state, prob, 1600),
        np.repeat(reward, 2, axis=0),
        np.eye(100)[START],
        horizon,
        name="box-pushing",
        state_names=GOALS + [f"s{p.cell}{'NESW'[p.facing]}{q.cell}{'NESW'[q.facing]}" for p, q in PLACES],
        action_names=[["turn left", "turn right", "move forward", "stay"]] * 2,
        picture=picture,
    )


def _outcomes(robots: Pair, actions: tuple[int, int]) -> dict[int, float]:
    """Distribution of the next state. Each action but stay works with probability 0.9, or nothing happens."""
    outcomes: dict[int, float] = {}
    for works in itertools.product([True, False], repeat=2):
        prob = 1.0
        for action, success in zip(actions, works, strict=True):
            prob *= (1.0 if success else 0.0) if action == STAY else (SUCCESS if success else 1 - SUCCESS)
        if prob > 0:
            s_next = _move(robots, actions, works)
            outcomes[s_next] = outcomes.get(s_next, 0.0) + prob
    return outcomes


def _move(robots: Pair, actions: tuple[int, int], works: tuple[bool, ...]) -> int:
    """Next state when it is known whose action works."""
    if _joint_push(robots, actions):
        return LARGE_GOAL if all(works) else INDEX[robots]
    pushed = [works[i] and _pushes_small(robots[i], actions[i]) for i in (0, 1)]
    if any(pushed):
        return BOTH_GOAL if all(pushed) else (LEFT_GOAL if robots[pushed.index(True)].cell == 1 else RIGHT_GOAL)
    after = []
    for i in (0, 1):
        me, other = robots[i], robots[1 - i]
        if not works[i] or actions[i] == STAY:
            after.append(me)
        elif actions[i] == FORWARD:
            target = me.ahead()
            after.append(me if target is None or target == other.cell else Robot(target, me.facing))
        else:
            after.append(Robot(me.cell, (me.facing + (1 if actions[i] == RIGHT else -1)) % 4))
    if after[0].cell == after[1].cell:  # both moved into the same cell: neither gets there
        return INDEX[robots]
    return INDEX[after[0], after[1]]


def _reward(robots: Pair, actions: tuple[int, int]) -> float:
    """Shared reward, paid on the attempt."""
    if _joint_push(robots, actions):
        return STEP + LARGE
    total = STEP
    for i in (0, 1):
        if _pushes_small(robots[i], actions[i]):
            total += SMALL
        elif actions[i] == FORWARD and _bumps(robots, actions, i):
            total += BUMP
    return total


def _bumps(robots: Pair, actions: tuple[int, int], i: int) -> bool:
    """Whether robot i, going forward, hits a wall, the large box or the other robot."""
    target = robots[i].ahead()
    if target is None:
        return True
    other = robots[1 - i]
    return target == other.cell or (actions[1 - i] == FORWARD and other.ahead() == target)


def _pushes_small(robot: Robot, action: int) -> bool:
    return action == FORWARD and robot.facing == NORTH and robot.cell in (1, 4)


def _joint_push(robots: Pair, actions: tuple[int, int]) -> bool:
    return robots == (Robot(2, NORTH), Robot(3, NORTH)) and actions == (FORWARD, FORWARD)


GOAL_ROW, BOX_ROW, ROBOT_ROW = 0, 1, 2
BOXES = (("left", 0, 1, LIGHT), ("large", 1, 2, DARK), ("right", 3, 1, LIGHT))  # name, column, width


def picture(s: int) -> Image:
    """Draw state s.

    >>> picture(27).shape
    (144, 192, 3)
    """
    image = make_board(3, 4)
    for column in range(4):
        fill(image, GOAL_ROW, column, GOAL)
    moved = {LEFT_GOAL: "left", RIGHT_GOAL: "right", BOTH_GOAL: "left right", LARGE_GOAL: "large"}
    at_goal = moved.get(s, "").split()
    for name, column, width, colour in BOXES:
        row = GOAL_ROW if name in at_goal else BOX_ROW
        fill(image, row, column, colour, width=width, margin=CELL // 8)
    if s >= len(GOALS):  # where a box is at its goal, the state does not say where the robots are
        for robot, colour in zip(PLACES[s - len(GOALS)], AGENTS, strict=True):
            _robot(image, robot, colour)
    return image


def _robot(image: Image, robot: Robot, colour: Colour) -> None:
    """Draw a triangle that points where the robot faces."""
    margin, depth = CELL // 6, np.arange(CELL)
    across = np.abs(depth - CELL // 2)
    north = (depth[:, None] >= margin + 2 * across[None, :]) & (depth[:, None] < CELL - margin)
    shape = np.rot90(north, -robot.facing)  # facings run clockwise from north
    field_of(image, ROBOT_ROW, robot.cell - 1)[shape] = colour
