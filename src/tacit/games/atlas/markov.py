"""Games of the atlas with several states or steps whose values are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tacit.games.atlas.entry import Entry, Figure
from tacit.games.atlas.pictures import draw_chocolate, draw_piles, draw_soccer, draw_wrestler
from tacit.games.boards import Image
from tacit.games.tabular import TabularGame
from tacit.games.tabulate import tabulate
from tacit.games.tree import Node, tree_game

OPENSPIEL, GAMBIT = "OpenSpiel's tests", "Gambit's catalog"
LEYTON = "Y. Shoham and K. Leyton-Brown, Multiagent Systems, 2008"


def tree(root: Any, *, name: str, agents: int = 2) -> TabularGame:
    """Make a game of a tree with perfect information: a node is (mover, (branch, …)), an end a list of payoffs."""
    return tree_game(_node(root, agents, ""), agents, name=name)


def _node(given: Any, agents: int, path: str) -> Node:
    if isinstance(given, list):
        return Node(given, name=path)
    mover, branches = given
    below = [_node(branch, agents, f"{path}{k}") for k, branch in enumerate(branches)]
    return Node([0.0] * agents, mover, branches=below, name=path or "start")


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

    return tabulate(transition, reward, start="open", actions=[2, 2], horizon=horizon, progress=False, name="big-match")


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


def _dresher(n: int, m: int) -> float:
    return -math.comb(n - 1, m) / sum(math.comb(n, i) for i in range(m + 1))


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

    return tabulate(steps, reward, start=(0, 0, 0, 0), actions=[2, 2], horizon=horizon, progress=False, name="piglet")


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


def _tree(name: str, source: str, about: str, root: Any, *figures: Figure, agents: int = 2) -> Entry:
    return Entry(name, source, about, partial(tree, root, name=name, agents=agents), figures, "game")


def _centipede() -> Any:
    root: Any = [3, 5]
    for mover, stop in ((0, [4, 3]), (1, [2, 4]), (0, [3, 1]), (1, [0, 2]), (0, [1, 0])):
        root = (mover, (root, stop))
    return root


def _wins(value: float) -> tuple[Figure]:
    return (Figure("nash", (value, 0.0 - value)),)


_SHARING = (0, ((1, ([0, 0], [2, 0])), (1, ([0, 0], [1, 1])), (1, ([0, 0], [0, 2]))))
_FIG_5_2 = (0, ((1, ([3, 8], [8, 3])), (1, ([5, 5], (0, ([2, 10], [1, 0]))))))
_ZERO = [0, 0, 0]
_THREE = (0, ((1, ((2, ((1, ([1, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1])), *[_ZERO] * 4)), [0, 1, 0])), [1, 0, 0]))
_TWO = (0, ((1, ((0, ([1, 0], [0, 1], [0, 1], [0, 1], [0, 1])), [0, 1])), [1, 0]))

ENTRIES = (
    _tree(
        "sharing",
        f"{LEYTON}, fig. 5.1; {GAMBIT}",
        "One proposes 2–0, 1–1 or 0–2, the other accepts or neither gets anything.",
        _SHARING,
        Figure("nash agent:0", (2, 0)),
    ),
    _tree(
        "tree-5-2",
        f"{LEYTON}, fig. 5.2; {GAMBIT}",
        "A small tree whose subgame-perfect equilibrium pays (3, 8).",
        _FIG_5_2,
        Figure("nash", (3, 8)),
    ),
    _tree(
        "centipede",
        f"{LEYTON}, fig. 5.9; {GAMBIT}",
        "In turn: stop, or pass on a growing pile.",
        _centipede(),
        Figure("nash", (1, 0)),
    ),
    _tree(
        "three-movers", GAMBIT, "Three move once each, the second twice.", _THREE, Figure("nash", (1, 1, 1)), agents=3
    ),
    _tree("stop-at-once", GAMBIT, "Two movers and a constant sum.", _TWO, Figure("nash", (1, 0))),
    Entry(
        "chain-store",
        "R. Selten, The chain store paradox, 1978: all enter, the store always yields",
        chain_store.__doc__ or "",
        chain_store,
        (Figure("nash", (6, 2, 2, 2)),),
    ),
    Entry("goofspiel-3", f"{OPENSPIEL}; symmetric, so 0", goofspiel.__doc__ or "", goofspiel, _wins(0.0), read="game"),
    Entry(
        "goofspiel-4",
        "symmetric, so 0; M. Lanctot et al., OpenSpiel, 2019",
        goofspiel.__doc__ or "",
        partial(goofspiel, cards=4),
        _wins(0.0),
        seconds=0.8,
        read="game",
    ),
    Entry(
        "oshi-zumo",
        f"{OPENSPIEL}; M. Buro, Solving the Oshi-Zumo game, 2003; symmetric, so 0",
        oshi_zumo.__doc__ or "",
        oshi_zumo,
        _wins(0.0),
        seconds=2.0,
        read="game",
    ),
    Entry(
        "soccer",
        "M. Littman, Markov games as a framework for multi-agent reinforcement learning, 1994; OpenSpiel's "
        "markov_soccer; symmetric, so 0",
        soccer.__doc__ or "",
        soccer,
        _wins(0.0),
        seconds=2.0,
        read="game",
    ),
    Entry(
        "big-match",
        "D. Blackwell and T. Ferguson, The big match, 1968: 1/2 a day for every number of days",
        big_match.__doc__ or "",
        big_match,
        _wins(5.0),
        read="game",
    ),
    Entry(
        "big-match-discounted",
        "D. Blackwell and T. Ferguson, The big match, 1968: 1/2 a day for every discount",
        discounted_big_match.__doc__ or "",
        discounted_big_match,
        _wins(0.5 / (1 - 0.9)),
        read="game",
    ),
    *(
        Entry(
            f"inspection-{n}-{m}",
            "M. Dresher, A sampling inspection problem in arms control agreements, 1962, solved "
            "in closed form; see B. von Stengel, Recursive inspection games, 2016",
            inspection.__doc__ or "",
            partial(inspection, periods=n, inspections=m),
            _wins(_dresher(n, m)),
            "game",
            seconds=0.1 * n / 4 * m,
        )
        for n, m in ((3, 1), (4, 2), (6, 2), (8, 3))
    ),
    Entry(
        "piglet",
        "T. Neller and C. Presser, Optimal play of the dice game Pig, 2004",
        piglet.__doc__ or "",
        piglet,
        (Figure("nash", (4 / 7, 3 / 7)),),
        seconds=4.0,
        read="game",
    ),
    Entry(
        "nim-1-2-3",
        "C. Bouton, Nim, a game with a complete mathematical theory, 1901",
        nim.__doc__ or "",
        nim,
        _wins(-1.0),
        read="game",
    ),
    Entry(
        "nim-1-3-4",
        "C. Bouton, Nim, a game with a complete mathematical theory, 1901",
        nim.__doc__ or "",
        partial(nim, piles=(1, 3, 4)),
        _wins(1.0),
        read="game",
    ),
    Entry(
        "wythoff-3-5",
        "W. Wythoff, A modification of the game of Nim, 1907",
        wythoff.__doc__ or "",
        wythoff,
        _wins(-1.0),
    ),
    Entry(
        "wythoff-3-4",
        "W. Wythoff, A modification of the game of Nim, 1907",
        wythoff.__doc__ or "",
        partial(wythoff, piles=(3, 4)),
        _wins(1.0),
        read="game",
    ),
    Entry(
        "chomp-2-3",
        "after D. Gale, A curious Nim-type game, 1974: the first wins; derived",
        chomp.__doc__ or "",
        chomp,
        _wins(1.0),
        read="",
    ),
    Entry(
        "chomp-3-3",
        "after D. Gale, A curious Nim-type game, 1974: the first wins; derived",
        chomp.__doc__ or "",
        partial(chomp, rows=3, columns=3),
        _wins(1.0),
        read="",
    ),
)
