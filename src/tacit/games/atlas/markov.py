"""Games of the atlas with several states or steps whose values are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tacit.games.boards import Image, draw_chocolate, draw_piles, draw_robots, draw_soccer, draw_wrestler
from tacit.games.prism.property import Against, Collect, Objective, Reach, make_game
from tacit.games.tabular import TabularGame
from tacit.games.tabulate import tabulate


def chain_store(*, markets: int = 3) -> TabularGame:
    """In each market another entrant comes in (2 for both if the store yields, 0 if it fights) or stays out (1, and 5).

    The store is agent 0; it answers each entrant in the next step.
    """

    def transition(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        market, entered = s
        if not entered and joint[market + 1] and market < markets:
            return [(1.0, (market, True))]
        return [(1.0, (min(market + 1, markets - 1), False) if market < markets - 1 else "over")]

    def step(s: Any, joint: tuple[int, ...]) -> Any:
        return [(1.0, "over")] if s == "over" else transition(s, joint)

    def reward(s: Any, joint: tuple[int, ...]) -> list[float]:
        paid = [0.0] * (markets + 1)
        if s != "over":
            market, entered = s
            if entered:
                paid[0] = paid[market + 1] = 0.0 if joint[0] else 2.0
            elif not joint[market + 1]:
                paid[0], paid[market + 1] = 5.0, 1.0
        return paid

    actions = [2] * (markets + 1)
    return tabulate(
        step, reward, start=(0, False), actions=actions, horizon=2 * markets, progress=False, name="chain-store"
    )


def goofspiel(*, cards: int = 3) -> TabularGame:
    """Prizes 1 to `cards` come in a random order; both bid a card for each, the higher one wins it, cards are used up.

    Who has more points in the end wins 1. The state is the prize, the prizes left, both hands, and the points so far.
    """
    every = tuple(range(1, cards + 1))

    def drawn(left: tuple[int, ...]) -> list[tuple[float, int]]:
        return [(1 / len(left), prize) for prize in left]

    def play(hand: tuple[int, ...], a: int) -> tuple[int, tuple[int, ...]]:
        card = hand[min(a, len(hand) - 1)]
        return card, tuple(c for c in hand if c != card)

    def after(s: Any, joint: tuple[int, ...]) -> Any:
        prize, left, one, two, lead = s
        (a, one), (b, two) = play(one, joint[0]), play(two, joint[1])
        return left, one, two, lead + prize * ((a > b) - (a < b))

    def transition(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s == "over":
            return [(1.0, "over")]
        left, *rest = after(s, joint)
        if not left:
            return [(1.0, "over")]
        return [(p, (prize, tuple(c for c in left if c != prize), *rest)) for p, prize in drawn(left)]

    def reward(s: Any, joint: tuple[int, ...]) -> tuple[float, float]:
        if s == "over" or s[1]:
            return 0.0, 0.0
        lead = after(s, joint)[3]
        return float((lead > 0) - (lead < 0)), float((lead < 0) - (lead > 0))

    start = {(prize, tuple(c for c in every if c != prize), every, every, 0): p for p, prize in drawn(every)}
    return tabulate(
        transition, reward, start=start, actions=[cards] * 2, horizon=cards, progress=False, name=f"goofspiel-{cards}"
    )


def oshi_zumo(*, coins: int = 5, size: int = 2, least: int = 1) -> TabularGame:
    """Both bid coins, which are gone; the higher bid pushes the wrestler a field towards the other.

    It starts in the middle of 2·size + 1 fields. Who pushes it off the board wins; when nobody can bid any more, who
    has it on the other's side.
    """

    def bid(purse: int, a: int) -> int:
        return min(purse, max(least, a))

    def after(s: Any, joint: tuple[int, ...]) -> tuple[int, int, int]:
        one, two, place = s
        a, b = bid(one, joint[0]), bid(two, joint[1])
        return one - a, two - b, place + (a > b) - (a < b)

    def is_over(s: tuple[int, int, int]) -> bool:
        return abs(s[2]) > size or (s[0] == 0 and s[1] == 0)

    def transition(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        then = "over" if s == "over" else after(s, joint)
        return [(1.0, "over" if then == "over" or is_over(then) else then)]  # type: ignore[arg-type]

    def reward(s: Any, joint: tuple[int, ...]) -> tuple[float, float]:
        if s == "over" or not is_over(then := after(s, joint)):
            return 0.0, 0.0
        return float((then[2] > 0) - (then[2] < 0)), float((then[2] < 0) - (then[2] > 0))

    return tabulate(
        transition,
        reward,
        start=(coins, coins, 0),
        actions=[coins + 1] * 2,
        horizon=2 * coins,
        progress=False,
        name="oshi-zumo",
        action_names=[[f"bid {a}" for a in range(coins + 1)]] * 2,
        picture=partial(draw_wrestler, coins=coins, size=size),
    )


def soccer(*, horizon: int = 5, rows: int = 4, columns: int = 5) -> TabularGame:
    """Littman's soccer: two on a field, one of them with the ball, moves in random order; a goal wins and ends it.

    Moves are north, south, east, west and stand. Who moves onto the other gives it the ball and stays. The goals are
    the two middle rows behind the first and the last column. The ball is either's first, with the same chance.
    """
    steps = ((-1, 0), (1, 0), (0, 1), (0, -1), (0, 0))
    middle = (rows // 2 - 1, rows // 2)

    def move(s: Any, who: int, action: int) -> Any:
        if isinstance(s, int):
            return s
        places, ball = list(s[:2]), s[2]
        row, column = places[who][0] + steps[action][0], places[who][1] + steps[action][1]
        goal = columns if who == 0 else -1
        if ball == who and column == goal and row in middle:
            return who
        if not (0 <= row < rows and 0 <= column < columns):
            return s
        if (row, column) == places[1 - who]:
            return (*places, 1 - who if ball == who else ball)
        places[who] = (row, column)
        return (*places, ball)

    def ends(s: Any, joint: tuple[int, ...]) -> list[Any]:
        return [move(move(s, first, joint[first]), 1 - first, joint[1 - first]) for first in (0, 1)]

    def transition(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s == "over":
            return [(1.0, "over")]
        return [(0.5, "over" if isinstance(end, int) else end) for end in ends(s, joint)]

    def reward(s: Any, joint: tuple[int, ...]) -> tuple[float, float]:
        if s == "over":
            return 0.0, 0.0
        won = sum(0.5 - end for end in ends(s, joint) if isinstance(end, int))
        return won, 0.0 - won

    one, two = (rows // 2 - 1, 1), (rows // 2, columns - 2)
    start = {(one, two, 0): 0.5, (one, two, 1): 0.5}
    return tabulate(
        transition,
        reward,
        start=start,
        actions=[5, 5],
        horizon=horizon,
        progress=False,
        name="soccer",
        action_names=[["north", "south", "east", "west", "stand"]] * 2,
        picture=partial(draw_soccer, rows=rows, columns=columns),
    )


def big_match(*, horizon: int = 10) -> TabularGame:
    """The first guesses each day what the second does; its first guess of "one" ends that: the day's win is for good.

    Each day that the guess is right pays 1.
    """

    def transition(s: str, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s != "open" or joint[0] == 0:
            return [(1.0, s)]
        return [(1.0, "won" if joint[1] == 1 else "lost")]

    def reward(s: str, joint: tuple[int, ...]) -> tuple[float, float]:
        paid = float(joint[0] == joint[1]) if s == "open" else float(s == "won")
        return paid, 0.0 - paid

    return tabulate(
        transition,
        reward,
        start="open",
        actions=[2, 2],
        horizon=horizon,
        progress=False,
        name="big-match",
        action_names=[["guess zero", "guess one"], ["zero", "one"]],
    )


def discounted_big_match(*, discount: float = 0.9) -> TabularGame:
    """The big match without an end: what is paid a day later counts `discount` times as much."""
    return big_match().with_discount(discount)


def inspection(*, periods: int = 4, inspections: int = 2) -> TabularGame:
    """An inspector has some inspections for a number of periods; the other acts illegally at most once.

    Caught, it pays the inspector 1; not caught, it gets 1 and the game ends; an inspection without an act is used up.
    """

    def transition(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s == "over" or joint[1] == 1:
            return [(1.0, "over")]
        left, periods_left = s
        return [(1.0, (left - (joint[0] == 1 and left > 0), periods_left - 1) if periods_left > 1 else "over")]

    def reward(s: Any, joint: tuple[int, ...]) -> tuple[float, float]:
        if s == "over" or joint[1] == 0:
            return 0.0, 0.0
        caught = 1.0 if joint[0] == 1 and s[0] > 0 else -1.0
        return caught, 0.0 - caught

    name = f"inspection-{periods}-{inspections}"
    return tabulate(
        transition, reward, start=(inspections, periods), actions=[2, 2], horizon=periods, progress=False, name=name
    )


def piglet(*, goal: int = 2, horizon: int = 150) -> TabularGame:
    """Two flip a coin in turn for points: heads adds one to the turn, tails ends it with nothing, holding scores it.

    Who has `goal` points wins 1.
    """

    def steps(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s == "over":
            return [(1.0, "over")]
        who, mine, other, turn = s
        if joint[who] == 1 and turn:  # hold
            return [(1.0, (1 - who, other, mine + turn, 0))]
        more = (who, mine, other, turn + 1)
        return [(0.5, "over" if mine + turn + 1 >= goal else more), (0.5, (1 - who, other, mine, 0))]

    def reward(s: Any, joint: tuple[int, ...]) -> tuple[float, float]:
        if s == "over":
            return 0.0, 0.0
        who = s[0]
        won = sum(p for p, after in steps(s, joint) if after == "over")
        return (won, 0.0) if who == 0 else (0.0, won)

    return tabulate(
        steps,
        reward,
        start=(0, 0, 0, 0),
        actions=[2, 2],
        horizon=horizon,
        progress=False,
        name="piglet",
        action_names=[["flip", "hold"]] * 2,
    )


def _turns(name: str, start: Any, moves: Any, most: int, horizon: int, picture: Callable[[Any], Image]) -> TabularGame:
    """Make a game of two who move in turn by `moves(position)`; who cannot move loses 1 to the other."""
    known: dict[Any, list[Any]] = {}

    def choices(position: Any) -> list[Any]:
        if position not in known:
            known[position] = moves(position)
        return known[position]

    def taken(s: Any, joint: tuple[int, ...]) -> Any:
        who, position = s
        options = choices(position)
        return options[joint[who]] if joint[who] < len(options) else options[0]

    def transition(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s == "over":
            return [(1.0, "over")]
        after = taken(s, joint)
        return [(1.0, (1 - s[0], after) if choices(after) else "over")]

    def reward(s: Any, joint: tuple[int, ...]) -> tuple[float, float]:
        if s == "over" or choices(taken(s, joint)):
            return 0.0, 0.0
        return (1.0, -1.0) if s[0] == 0 else (-1.0, 1.0)

    return tabulate(
        transition,
        reward,
        start=(0, start),
        actions=[most, most],
        horizon=horizon,
        progress=False,
        name=name,
        picture=picture,
    )


def nim(*, piles: Sequence[int] = (1, 2, 3)) -> TabularGame:
    """Two take in turn any number from one pile; who takes the last wins."""

    def moves(position: tuple[int, ...]) -> list[Any]:
        found = {
            tuple(sorted((*position[:k], left, *position[k + 1 :])))
            for k, pile in enumerate(position)
            for left in range(pile)
        }
        return sorted(found)

    first = tuple(sorted(piles))
    return _turns(
        "nim-" + "-".join(map(str, first)), first, moves, sum(first), sum(first), partial(draw_piles, piles=first)
    )


def wythoff(*, piles: tuple[int, int] = (3, 5)) -> TabularGame:
    """Two take in turn any number from one of two piles, or the same from both; who takes the last wins."""

    def moves(position: tuple[int, int]) -> list[Any]:
        a, b = position
        found = {(left, b) for left in range(a)} | {(a, left) for left in range(b)}
        found |= {(a - k, b - k) for k in range(1, min(a, b) + 1)}
        return sorted({(min(one), max(one)) for one in found})

    most = sum(piles) + min(piles)
    first = tuple(sorted(piles))
    picture = partial(draw_piles, piles=first)
    return _turns(f"wythoff-{piles[0]}-{piles[1]}", first, moves, most, sum(piles), picture)


def chomp(*, rows: int = 2, columns: int = 3) -> TabularGame:
    """Two bite in turn a square of chocolate with all above and right of it; who must eat the poisoned corner loses."""

    def moves(position: tuple[int, ...]) -> list[Any]:
        found = set()
        for k, length in enumerate(position):
            for left in range(length):
                if (k, left) != (0, 0):
                    found.add((*position[:k], *(min(one, left) for one in position[k:])))
        return sorted(found)

    picture = partial(draw_chocolate, rows=rows, columns=columns)
    return _turns(f"chomp-{rows}-{columns}", (columns,) * rows, moves, rows * columns - 1, rows * columns, picture)


def jamming(*, slots: int = 5, count: bool = True) -> TabularGame:
    """A sender uses channel 1, 2 or 3, a jammer blocks 2, 3 or 4; a free channel that is not blocked carries a message.

    Each of four channels is busy first; from slot to slot it changes with chance 3/4. Counted are the messages, or else
    the chance of at least half of them.
    """

    def rules(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        busy, sent = s
        found: list[tuple[float, Any]] = [(1.0, ())]
        for one in busy:
            found = [(p * q, (*so_far, b)) for p, so_far in found for q, b in ((0.75, 1 - one), (0.25, one))]
        blocked = joint[0] == joint[1] + 1
        return [(p, (after, sent + (not blocked and not after[joint[0]]))) for p, after in found]

    def expected(s: Any, joint: tuple[int, ...]) -> float:
        return float(sum(p * (after[1] - s[1]) for p, after in rules(s, joint)))

    goal: Objective = Collect(expected, slots) if count else Reach(lambda s: 2 * s[1] >= slots, slots)
    name = "prism-jamming" if count else "prism-jamming-half"
    if not count:
        return make_game(name, rules, (goal, Against(goal)), start=((1,) * 4, 0), actions=(3, 3), horizon=slots)

    def forget(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        return [(p, (after[0], 0)) for p, after in rules((s[0], 0), joint)]

    return make_game(name, forget, (goal, Against(goal)), start=((1,) * 4, 0), actions=(3, 3), horizon=slots)


def robots(*, size: int = 5, slip: float = 0.1, steps: int = 5) -> TabularGame:
    """Two robots cross a grid from opposite corners; the first is to arrive within some steps and without a crash.

    A robot goes along x, along y or both, towards its goal. A straight move ends a field beside with chance `slip`,
    half to each side and inside the grid; a move along both loses one of them with chance `slip`.
    """
    top = size - 1

    def move(place: tuple[int, int], sign: int, action: int) -> list[tuple[float, Any]]:
        goal = top if sign > 0 else 0
        x, y = place
        free = [y != goal, x != goal, x != goal and y != goal]
        if not any(free):
            return [(1.0, place)]
        action = action if free[action] else free.index(True)
        half = slip / 2
        if action == 0:
            sides = (min(top, x + 1), max(0, x - 1))
            return [(1 - slip, (x, y + sign)), *((half, (side, y + sign)) for side in sides)]
        if action == 1:
            sides = (min(top, y + 1), max(0, y - 1))
            return [(1 - slip, (x + sign, y)), *((half, (x + sign, side)) for side in sides)]
        return [(1 - slip, (x + sign, y + sign)), (half, (x, y + sign)), (half, (x + sign, y))]

    def rules(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        return [(p * q, (one, two)) for p, one in move(s[0], 1, joint[0]) for q, two in move(s[1], -1, joint[1])]

    goal = Reach(lambda s: s[0] == (top, top) and s[0] != s[1], steps, lambda s: s[0] != s[1])
    start, picture = ((0, 0), (top, top)), partial(draw_robots, size=size)
    return make_game(
        "prism-robots", rules, (goal, Against(goal)), start=start, horizon=steps, actions=(3, 3), picture=picture
    )
