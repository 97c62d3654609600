"""Games of the atlas that functions make. They have several states or steps, or are too large to write out."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from tacit.games.matrix import matrix_game
from tacit.games.showing import draw_soccer
from tacit.games.tabular import TabularGame
from tacit.games.tabulate import Against, Collect, Objective, PayAt, Reach, objective_game, tabulate_steps

#: Of a joint action: chances, next states, None where play ends, and what both get.
Outcomes = list[tuple[float, Any, Sequence[float]]]

NOTHING = (0.0, 0.0)


def _won(lead: int) -> tuple[float, float]:
    """Return what both get. The first wins by a positive lead and loses by a negative one."""
    return float((lead > 0) - (lead < 0)), float((lead < 0) - (lead > 0))


def chain_store(*, markets: int = 3) -> TabularGame:
    """In each market an entrant enters or stays out; the store yields or fights.

    Coming in pays 2 to both if the store yields, and 0 if it fights; staying out pays 1, and the store 5. The store is
    agent 0; it answers each entrant in the next step.
    """

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        (market, entered), paid = s, [0.0] * (markets + 1)
        if entered:
            paid[0] = paid[market + 1] = 0.0 if joint[0] else 2.0
        elif joint[market + 1]:
            return [(1.0, (market, True), paid)]
        else:
            paid[0], paid[market + 1] = 5.0, 1.0
        return [(1.0, (market + 1, False) if market < markets - 1 else None, paid)]

    return tabulate_steps(
        step,
        start=(0, False),
        actions=[2] * (markets + 1),
        horizon=2 * markets,
        name="chain-store",
        action_names=[["yield", "fight"], *[["stay out", "enter"]] * markets],
    )


def goofspiel(*, cards: int = 3) -> TabularGame:
    """Prizes 1 to `cards` come in a random order. Both bid a card for each, the higher one wins it, cards are used up.

    Who has more points in the end wins 1. The state is the prize, the prizes left, both hands, and the points so far.
    """
    every = tuple(range(1, cards + 1))

    def draw(left: tuple[int, ...]) -> list[tuple[float, int]]:
        return [(1 / len(left), prize) for prize in left]

    def play(hand: tuple[int, ...], a: int) -> tuple[int, tuple[int, ...]]:
        card = hand[min(a, len(hand) - 1)]
        return card, tuple(c for c in hand if c != card)

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        prize, left, one, two, lead = s
        (a, one), (b, two) = play(one, joint[0]), play(two, joint[1])
        lead += prize * ((a > b) - (a < b))
        if not left:
            return [(1.0, None, _won(lead))]
        return [(p, (drawn, tuple(c for c in left if c != drawn), one, two, lead), NOTHING) for p, drawn in draw(left)]

    start = {(prize, tuple(c for c in every if c != prize), every, every, 0): p for p, prize in draw(every)}
    return tabulate_steps(step, start=start, actions=[cards] * 2, horizon=cards, name=f"goofspiel-{cards}")


def oshi_zumo(*, coins: int = 5, size: int = 2, least: int = 1) -> TabularGame:
    """Both bid coins, which are gone. The higher bid pushes the wrestler a field towards the other.

    It starts in the middle of 2·size + 1 fields. Who pushes it off the board wins; when nobody can bid any more, who
    has it on the other's side.
    """

    def bid(purse: int, a: int) -> int:
        return min(purse, max(least, a))

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        one, two, place = s
        a, b = bid(one, joint[0]), bid(two, joint[1])
        one, two, place = one - a, two - b, place + (a > b) - (a < b)
        if abs(place) > size or one == two == 0:
            return [(1.0, None, _won(place))]
        return [(1.0, (one, two, place), NOTHING)]

    return tabulate_steps(
        step,
        start=(coins, coins, 0),
        actions=[coins + 1] * 2,
        horizon=2 * coins,
        name="oshi-zumo",
        action_names=[[f"bid {a}" for a in range(coins + 1)]] * 2,
    )


def soccer(*, horizon: int = 5, rows: int = 4, columns: int = 5) -> TabularGame:
    """Littman's soccer: two players, one ball, moves in random order. A goal wins and ends it.

    Moves are north, south, east, west and stand. Who moves onto the other gives it the ball and stays. The goals are
    the two middle rows behind the first and the last column. The ball is either's first, with the same chance.
    """
    steps = ((-1, 0), (1, 0), (0, 1), (0, -1), (0, 0))
    middle = (rows // 2 - 1, rows // 2)

    def move(s: Any, who: int, action: int) -> Any:
        if len(s) == 1:  # who has won
            return s
        places, ball = list(s[:2]), s[2]
        row, column = places[who][0] + steps[action][0], places[who][1] + steps[action][1]
        goal = columns if who == 0 else -1
        if ball == who and column == goal and row in middle:
            return (who,)
        if not (0 <= row < rows and 0 <= column < columns):
            return s
        if (row, column) == places[1 - who]:
            return (*places, 1 - who if ball == who else ball)
        places[who] = (row, column)
        return (*places, ball)

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        ends = [move(move(s, first, joint[first]), 1 - first, joint[1 - first]) for first in (0, 1)]
        return [(0.5, None, _won(1 - 2 * end[0])) if len(end) == 1 else (0.5, end, NOTHING) for end in ends]

    one, two = (rows // 2 - 1, 1), (rows // 2, columns - 2)
    start = {(one, two, 0): 0.5, (one, two, 1): 0.5}
    return tabulate_steps(
        step,
        start=start,
        actions=[5, 5],
        horizon=horizon,
        name="soccer",
        action_names=[["north", "south", "east", "west", "stand"]] * 2,
        picture=partial(draw_soccer, rows=rows, columns=columns),
    )


def big_match(*, horizon: int = 10) -> TabularGame:
    """The first guesses each day what the second does. Its first guess of "one" ends that: the day's win is for good.

    Each day that the guess is right pays 1.
    """

    def step(s: str, joint: tuple[int, ...]) -> Outcomes:
        paid = float(joint[0] == joint[1]) if s == "open" else float(s == "won")
        after = ("lost", "won")[joint[1]] if s == "open" and joint[0] else s
        return [(1.0, after, (paid, -paid))]

    return tabulate_steps(
        step,
        start="open",
        actions=[2, 2],
        horizon=horizon,
        name="big-match",
        action_names=[["guess zero", "guess one"], ["zero", "one"]],
    )


def discounted_big_match(*, discount: float = 0.9) -> TabularGame:
    """The big match without an end. What is paid a day later counts `discount` times as much."""
    return big_match().with_discount(discount)


def inspection(*, periods: int = 4, inspections: int = 2) -> TabularGame:
    """An inspector has some inspections for a number of periods. The other acts illegally at most once.

    Caught, it pays the inspector 1; not caught, it gets 1 and the game ends; an inspection without an act is used up.
    """

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        left, periods_left = s
        inspected = joint[0] == 1 and left > 0
        if joint[1] == 1:
            return [(1.0, None, _won(1 if inspected else -1))]
        return [(1.0, (left - inspected, periods_left - 1) if periods_left > 1 else None, NOTHING)]

    return tabulate_steps(
        step,
        start=(inspections, periods),
        actions=[2, 2],
        horizon=periods,
        name=f"inspection-{periods}-{inspections}",
        action_names=[["wait", "inspect"], ["comply", "violate"]],
    )


def piglet(*, goal: int = 2, horizon: int = 150) -> TabularGame:
    """Two flip a coin in turn for points. Heads adds one to the turn, tails ends it with nothing, holding scores it.

    Who has `goal` points wins 1.
    """

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        who, mine, other, turn = s
        if joint[who] == 1 and turn:  # hold
            return [(1.0, (1 - who, other, mine + turn, 0), NOTHING)]
        won = mine + turn + 1 >= goal
        paid = [float(won and who == i) for i in (0, 1)]
        return [(0.5, None if won else (who, mine, other, turn + 1), paid), (0.5, (1 - who, other, mine, 0), NOTHING)]

    return tabulate_steps(
        step,
        start=(0, 0, 0, 0),
        actions=[2, 2],
        horizon=horizon,
        name="piglet",
        action_names=[["flip", "hold"]] * 2,
    )


def _turns(name: str, start: Any, moves: Any, most: int, horizon: int) -> TabularGame:
    """Make a game of two who move in turn by `moves(position)`. Who cannot move loses 1 to the other."""
    choices = cache(moves)

    def step(s: Any, joint: tuple[int, ...]) -> Outcomes:
        who, position = s
        options = choices(position)
        after = options[joint[who]] if joint[who] < len(options) else options[0]
        return [(1.0, (1 - who, after), NOTHING) if choices(after) else (1.0, None, _won(1 - 2 * who))]

    return tabulate_steps(step, start=(0, start), actions=[most, most], horizon=horizon, name=name)


def nim(*, piles: Sequence[int] = (1, 2, 3)) -> TabularGame:
    """Two take in turn any number from one pile; who takes the last wins."""

    def moves(position: tuple[int, ...]) -> list[Any]:
        positions = {
            tuple(sorted((*position[:k], left, *position[k + 1 :])))
            for k, pile in enumerate(position)
            for left in range(pile)
        }
        return sorted(positions)

    first = tuple(sorted(piles))
    return _turns("nim-" + "-".join(map(str, first)), first, moves, sum(first), sum(first))


def wythoff(*, piles: tuple[int, int] = (3, 5)) -> TabularGame:
    """Two take in turn from one of two piles, or equally from both. Who takes the last wins."""

    def moves(position: tuple[int, int]) -> list[Any]:
        a, b = position
        positions = {(left, b) for left in range(a)} | {(a, left) for left in range(b)}
        positions |= {(a - k, b - k) for k in range(1, min(a, b) + 1)}
        return sorted({(min(one), max(one)) for one in positions})

    most = sum(piles) + min(piles)
    return _turns(f"wythoff-{piles[0]}-{piles[1]}", tuple(sorted(piles)), moves, most, sum(piles))


def chomp(*, rows: int = 2, columns: int = 3) -> TabularGame:
    """Two bite in turn a square of chocolate with all above and right of it. Who must eat the poisoned corner loses."""

    def moves(position: tuple[int, ...]) -> list[Any]:
        positions = set()
        for k, length in enumerate(position):
            for left in range(length):
                if (k, left) != (0, 0):
                    positions.add((*position[:k], *(min(one, left) for one in position[k:])))
        return sorted(positions)

    return _turns(f"chomp-{rows}-{columns}", (columns,) * rows, moves, rows * columns - 1, rows * columns)


def tree(root: Any, *, name: str) -> TabularGame:
    """Make a game of a tree with perfect information. A node is [mover, [branch, …]], an end a list of payoffs."""
    nodes: dict[str, tuple[int, list[Any]]] = {}  # by the branches taken before, as in "01"
    ends: list[list[float]] = []

    def walk(node: Any, path: str) -> None:
        if not isinstance(node[-1], list):
            ends.append(node)
            return
        nodes[path or "start"] = node
        for k, branch in enumerate(node[1]):
            walk(branch, f"{path}{k}")

    walk(root, "")
    agents = len(ends[0])

    def step(path: str, joint: tuple[int, ...]) -> Outcomes:
        mover, branches = nodes[path]
        k = joint[mover] if joint[mover] < len(branches) else 0
        if not isinstance(branches[k][-1], list):
            return [(1.0, None, branches[k])]
        return [(1.0, f"{path if path != 'start' else ''}{k}", [0.0] * agents)]

    return tabulate_steps(
        step,
        start="start",
        actions=[max([1, *(len(branches) for mover, branches in nodes.values() if mover == i)]) for i in range(agents)],
        horizon=1 + max(len(path) if path != "start" else 0 for path in nodes),
        name=name,
        notes=["an action that a node does not have does what its first does, and nothing out of turn"],
    )


# Games of PRISM-games' tests: rules, and an objective for each of two agents.


def rounds(*, want: str, name: str, horizon: int | None = None) -> TabularGame:
    """Rock, paper, scissors again and again. `want` is what the first agent is paid for, the second against it.

    The state is who won the last round: 1, 2, 0 for a draw, and -1 before the first.
    """

    def play(w: int, joint: tuple[int, ...]) -> list[tuple[float, int]]:
        return [(1.0, (joint[0] - joint[1]) % 3)]

    objectives: dict[str, Objective] = {
        "win of two": Reach(lambda w: w == 1, 2),
        "draw": Reach(lambda w: w == 0, 1),
        "first win": Reach(lambda w: w == 1, path=lambda w: w != 2),
        "wins": Collect(lambda w, joint: (0.0, 1.0, -1.0)[(joint[0] - joint[1]) % 3], 2),
    }
    objective = objectives[want]
    return objective_game(
        name,
        play,
        (objective, Against(objective)),
        initial=-1,
        actions=(3, 3),
        horizon=horizon,
        action_names=[["rock", "paper", "scissors"]] * 2,
    )


def stopping(*, horizon: int = 20) -> TabularGame:
    """Two agents in turn stop or go on. The other follows with probability 1/2.

    The first stops for (1/3, 2), the second for (1, 1/3). The state is whose turn it is, 2 after a stop.
    """
    stopped = 2

    def play(turn: int, joint: tuple[int, ...]) -> list[tuple[float, int]]:
        return [(1.0, stopped)] if joint[turn] == 1 else [(0.5, 0), (0.5, 1)]

    def pay(pays: tuple[float, float]) -> Collect:
        return Collect(lambda turn, joint: pays[turn] * (joint[turn] == 1), until=lambda turn: turn == stopped)

    return objective_game(
        "prism-stopping",
        play,
        (pay((1 / 3, 1.0)), pay((2.0, 1 / 3))),
        initial=0,
        actions=(2, 2),
        horizon=horizon,
        action_names=[["go", "stop"]] * 2,
    )


#: What a racer that has not succeeded is paid for at each place, and one that has, by name.
PLACES = {"steps": ({1: 1.0, 2: 1.0, 3: 1.0},) * 2, "place": ({1: 3.0, 2: 1.0}, {1: 3.0, 2: 8.0})}
SUCCESS = ({1: 1.0}, {2: 2.0})


def race(
    *,
    objectives: Sequence[Sequence[Any]],
    success: Sequence[float],
    apart: int,
    go: Sequence[float],
    fragile: bool,
    name: str,
    horizon: int | None = None,
) -> TabularGame:
    """Two race along places 1 to 4, each paid for an objective of its own.

    Both first choose one of two actions. If they choose the same, one of them may succeed: the first by action 0, the
    second by action 1. Then each goes on by itself, with a chance of its own at every step, whatever it plays. The
    state is, for each racer, whether it has succeeded, and its place: 0 at first, `apart` for both that choose
    differently, 5 for one that did not go on where racers are `fragile`.
    """
    out = 5

    def go_on(i: int, racer: tuple[int, int]) -> list[tuple[float, tuple[int, int]]]:
        won, place = racer
        if place == out:
            return [(1.0, racer)]
        return [(go[i], (won, min(4, place + 1))), (1 - go[i], (won, out if fragile else place))]

    def play(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        if s != ((0, 0), (0, 0)):
            return [(p * q, (one, two)) for p, one in go_on(0, s[0]) for q, two in go_on(1, s[1])]
        if joint[0] != joint[1]:
            return [(1.0, ((0, apart), (0, apart)))]
        winner = joint[0]
        return [(success[winner], ((1 - winner, 1), (winner, 1))), (1 - success[winner], ((0, 1), (0, 1)))]

    return objective_game(
        name,
        play,
        [_racer_objective(i, *spec) for i, spec in enumerate(objectives)],
        initial=((0, 0), (0, 0)),
        actions=(2, 2),
        horizon=horizon,
    )


def _racer_objective(i: int, kind: str, *spec: Any) -> Objective:
    """Return the objective of racer i. It has a kind, and a place, the name of rewards, or a number of steps."""

    def reward(rewards: str) -> Callable[..., float]:
        table, won = (SUCCESS[i], 1) if rewards == "success" else (PLACES[rewards][i], 0)
        return lambda s, joint=None: table.get(s[i][1], 0.0) if s[i][0] == won else 0.0

    match kind, spec:
        case "succeed", ():
            return Reach(lambda s: s[i][0] == 1)
        case "succeed", (place, steps):  # and be at the place
            return Reach(lambda s: s[i] == (1, place), steps)
        case "arrive", (place, steps):
            return Reach(lambda s: s[i][1] == place, steps)
        case "arrive unbeaten", (place, steps):  # the other has not succeeded before
            return Reach(lambda s: s[i][1] == place, steps, lambda s: s[1 - i][0] == 0)
        case "collect", (rewards, steps):
            return Collect(reward(rewards), steps)
        case "collect until 4", (rewards,):
            return Collect(reward(rewards), until=lambda s: s[i][1] == 4)
        case "paid at", (rewards, steps):
            return PayAt(reward(rewards), steps)
    raise ValueError(kind)


def jamming(*, slots: int = 5, count: bool = True) -> TabularGame:
    """A sender uses channel 1, 2 or 3, a jammer blocks 2, 3 or 4. A free channel that is not blocked carries a message.

    Each of four channels is busy first; from slot to slot it changes with chance 3/4. Counted are the messages, or else
    the chance of at least half of them.
    """

    def rules(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        busy, sent = s
        channels: list[tuple[float, Any]] = [(1.0, ())]
        for one in busy:
            channels = [(p * q, (*so_far, b)) for p, so_far in channels for q, b in ((0.75, 1 - one), (0.25, one))]
        blocked = joint[0] == joint[1] + 1
        return [(p, (after, sent + (not blocked and not after[joint[0]]))) for p, after in channels]

    def expected(s: Any, joint: tuple[int, ...]) -> float:
        return float(sum(p * (after[1] - s[1]) for p, after in rules(s, joint)))

    goal: Objective = Collect(expected, slots) if count else Reach(lambda s: 2 * s[1] >= slots, slots)

    def forget(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        return [(p, (after[0], 0)) for p, after in rules((s[0], 0), joint)]

    return objective_game(
        "prism-jamming" if count else "prism-jamming-half",
        forget if count else rules,
        (goal, Against(goal)),
        initial=((1,) * 4, 0),
        actions=(3, 3),
    )


def robots(*, size: int = 5, slip: float = 0.1, steps: int = 5) -> TabularGame:
    """Two robots cross a grid from opposite corners. The first is to arrive within some steps and without a crash.

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
    return objective_game(
        "prism-robots",
        rules,
        (goal, Against(goal)),
        initial=((0, 0), (top, top)),
        actions=(3, 3),
    )


def coordination(*, sides: int = 3, horizon: int = 1) -> TabularGame:
    """Two get 1 each if they choose the same of `sides` actions."""
    same = np.eye(sides)
    return matrix_game([same, same], name=f"coordination-{sides}", horizon=horizon)


def travelers(*, most: int = 100, bonus: int = 2, horizon: int = 1) -> TabularGame:
    """Two claim 2 to `most` and get the smaller claim. Who claimed less gets `bonus` from the other."""
    claims = np.arange(2, most + 1)
    mine, other = claims[:, None], claims[None, :]
    row = np.minimum(mine, other) + bonus * np.sign(other - mine)
    return matrix_game([row, row.T], name="travelers-dilemma", horizon=horizon)


def morra(*, fingers: int = 3, horizon: int = 1) -> TabularGame:
    """Both show fingers and guess the sum; who alone is right wins the sum."""
    choices = [(show, guess) for show in range(1, fingers + 1) for guess in range(show + 1, show + fingers + 1)]
    pay = np.array([[_morra(*one, *two) for two in choices] for one in choices])
    return matrix_game([pay, 0.0 - pay], name="morra", horizon=horizon)


def _morra(show: int, guess: int, other: int, theirs: int) -> float:
    total = show + other
    return float(total * ((guess == total) - (theirs == total)))


def blotto(*, coins: int = 10, fields: int = 3, horizon: int = 1) -> TabularGame:
    """Both spread `coins` over `fields`; who wins more fields than the other wins 1."""
    ways = np.array([way for way in itertools.product(range(coins + 1), repeat=fields) if sum(way) == coins])
    won = np.sign(ways[:, None, :] - ways[None, :, :]).sum(axis=2)
    return matrix_game([np.sign(won), -np.sign(won)], name="blotto", horizon=horizon)


def kuhn(*, horizon: int = 1) -> TabularGame:
    """Kuhn's poker with three cards as a matrix of plans. A plan says what to do with each card, by the other's bet.

    Each pays 1 and gets one of three cards. The first checks or bets 1; after a check the second checks or bets 1; who
    faces a bet folds or calls. The higher card wins. The first plans for each card check-fold, check-call or bet, the
    second for each card what it does after a check (check, bet) and after a bet (fold, call).
    """
    first = list(itertools.product(("check-fold", "check-call", "bet"), repeat=3))
    replies = [(bet, call) for bet in (False, True) for call in (False, True)]
    second = list(itertools.product(replies, repeat=3))
    deals = list(itertools.permutations(range(3), 2))
    pay = np.array([[sum(_kuhn(a, b, one[a], two[b]) for a, b in deals) / 6 for two in second] for one in first])
    return matrix_game([pay, 0.0 - pay], name="kuhn-poker", horizon=horizon)


def _kuhn(mine: int, theirs: int, plan: str, reply: tuple[bool, bool]) -> float:
    sign = 1.0 if mine > theirs else -1.0
    if plan == "bet":
        return 2.0 * sign if reply[1] else 1.0
    if not reply[0]:
        return sign
    return -1.0 if plan == "check-fold" else 2.0 * sign


def volunteer(*, agents: int = 3, gain: float = 2.0, horizon: int = 1) -> TabularGame:
    """The safe action pays 1. The other pays `gain` if all others are safe, otherwise 0."""
    shape = (2,) * agents
    pay = np.zeros((agents, *shape))
    for joint in itertools.product(range(2), repeat=agents):
        for i in range(agents):
            alone = joint[i] == 1 and sum(joint) == 1
            pay[(i, *joint)] = 1.0 if joint[i] == 0 else gain * alone
    return matrix_game(pay, name="volunteer", horizon=horizon)


def braess(*, drivers: int = 8, horizon: int = 1) -> TabularGame:
    """Drivers choose of three ways. Two links cost 1 + load/drivers, two cost 2, the short cut between costs 1/4.

    The ways are A–B–D, A–C–D and A–B–C–D; A–B and C–D fill up, A–C and B–D do not, B–C is the short cut. The drivers'
    rewards are minus the time on the way.
    """
    ways = ((True, False, 2.0), (False, True, 2.0), (True, True, 0.25))
    pay = np.zeros((drivers, *(3,) * drivers))
    for joint in itertools.product(range(3), repeat=drivers):
        loads = [sum(ways[a][k] for a in joint) / drivers for k in (0, 1)]
        times = [fixed + sum((1 + loads[k]) * uses for k, uses in enumerate(links)) for *links, fixed in ways]
        for i, a in enumerate(joint):
            pay[(i, *joint)] = -times[a]
    return matrix_game(pay, name="braess", horizon=horizon)


def seeded_team(*, seed: int = 10, horizon: int = 1) -> TabularGame:
    """A team of three with 3, 4 and 5 actions. NumPy's old generator draws rewards, uniform on [0, 1]."""
    common = np.random.RandomState(seed).uniform(0, 1, size=(3, 4, 5))
    return matrix_game([common] * 3, name="seeded-team", horizon=horizon)
