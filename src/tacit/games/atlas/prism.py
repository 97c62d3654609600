"""Concurrent stochastic games of PRISM-games' tests, their rules rewritten.

PRISM-games solves bounded properties backwards and takes, of the equilibria of each stage, one of the best total: as
`tacit.solve(game, "nash")` does. Properties without a bound are played with a horizon beyond which nothing changes, or
changes less than the digits that are stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tacit.games.atlas.entry import Entry, Figure
from tacit.games.atlas.objectives import Against, At, Collect, Objective, Reach, game
from tacit.games.atlas.pictures import draw_robots
from tacit.games.tabular import TabularGame

SOURCE = "PRISM-games' tests (M. Kwiatkowska, G. Norman, D. Parker and G. Santos, PRISM-games 3.0, 2020)"

Chances = Sequence[tuple[float, Any]]

#: Both agents' objectives, what was stated of both or of their total, and the horizon.
Row = tuple[Sequence[Objective], float | Sequence[float], int]


def independent(one: Chances, two: Chances) -> list[tuple[float, Any]]:
    """Return the product of what happens to two agents."""
    return [(p * q, (s, t)) for p, s in one for q, t in two]


def _versus(objective: Objective) -> tuple[Objective, Objective]:
    return objective, Against(objective)


def winner(a: int, b: int) -> int:
    """Return who wins at rock (0), paper (1), scissors (2): 1 or 2, or 0 for a draw."""
    return (0, 1, 2)[(a - b) % 3]


def rounds(*, objective: Objective, horizon: int, name: str) -> TabularGame:
    """Rock, paper, scissors again and again; the state is who won the last round, −1 before the first."""
    return game(
        name, lambda s, joint: [(1.0, winner(*joint))], _versus(objective), start=-1, actions=(3, 3), horizon=horizon
    )


def stopping(*, horizon: int = 20) -> TabularGame:
    """Two agents in turn stop, or go on and are followed by the other with chance 1/2.

    The first stops for (1/3, 2), the second for (1, 1/3).
    """

    def rules(s: int, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        return [(1.0, 2)] if joint[s] else [(0.5, 0), (0.5, 1)]

    def reward(own: tuple[float, float]) -> Callable[[int, tuple[int, ...]], float]:
        return lambda s, joint: own[s] if joint[s] else 0.0

    goals = [Collect(reward(own), until=lambda s: s == 2) for own in ((1 / 3, 1.0), (2.0, 1 / 3))]
    return game("prism-stopping", rules, goals, start=0, actions=(2, 2), horizon=horizon)


#: Of each agent (r, s): r marks success in the first step, s counts the steps that went well.
_START = ((0, 0), (0, 0))


def _first(joint: tuple[int, ...], ones: float, twos: float, apart: int) -> list[tuple[float, Any]]:
    """The first step: both choose alike, and one of them may succeed, or they are apart."""
    if joint[0] != joint[1]:
        return [(1.0, ((0, apart), (0, apart)))]
    success = ((1, 1), (0, 1)) if joint[0] == 0 else ((0, 1), (1, 1))
    chance = ones if joint[0] == 0 else twos
    return [(chance, success), (1 - chance, ((0, 1), (0, 1)))]


def race(ones: float, twos: float, apart: int, one: Callable[[int], Chances], two: Callable[[int], Chances]) -> Any:
    """Return the rules of a race: a first step as `_first`, then each agent's own steps."""

    def rules(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        (r1, s1), (r2, s2) = s
        if s1 == 0:
            return _first(joint, ones, twos, apart)
        return independent([(p, (r1, n)) for p, n in one(s1)], [(p, (r2, n)) for p, n in two(s2)])

    return rules


def _steady(chance: float) -> Callable[[int], Chances]:
    return lambda s: [(chance, min(4, s + 1)), (1 - chance, s)]


def _fragile(s: int) -> Chances:
    """Go on with chance 1/2, else be out (5)."""
    return [(1.0, 5)] if s == 5 else [(0.5, min(4, s + 1)), (0.5, 5)]


#: The rules of all races.
_RACE = (
    "Both first choose one of two actions. If they choose the same, one of them may succeed: the first by action 0, "
    "the second by action 1. Then each goes on by itself, with a chance of its own at every step, whatever it plays."
)

REACH = race(0.5, 0.75, 1, _steady(0.5), _steady(0.75))
REWARDS = race(1.0, 1.0, 1, _steady(1.0), _steady(1.0))
MIXED = race(0.5, 0.25, 4, _steady(1.0), _steady(1.0))
UNTIL = race(0.5, 0.75, 5, _fragile, _fragile)


def _race(rules: Any, goals: Sequence[Objective], *, name: str, horizon: int) -> TabularGame:
    return game(name, rules, goals, start=_START, actions=(2, 2), horizon=horizon)


def _at(i: int, r: int | None = None, s: int | None = None) -> Callable[[Any], bool]:
    """Whether agent i is at (r, s), where None is any."""
    return lambda state: (r is None or state[i][0] == r) and (s is None or state[i][1] == s)


def _paid(i: int, table: dict[tuple[int, int], float]) -> Callable[..., float]:
    """The reward of a state by agent i's (r, s)."""
    return lambda state, joint=(): table.get(state[i], 0.0)


def _reach() -> list[Row]:
    """Reach r = 1 and s = n within k steps: (k, n) of both, what was stated, and the horizon."""
    rows = [
        ((1, 1), (1, 1), (0, 0.75)),
        ((2, 3), (2, 3), (0, 0)),
        ((3, 3), (2, 3), (0.125, 0)),
        ((2, 3), (3, 3), (0, 0.421875)),
        ((1, 1), (2, 3), (0.5, 0)),
        ((4, 3), (1, 1), (0, 0.75)),
        ((3, 3), (1, 1), (0, 0.75)),
        ((None, None), (1, 2), (0.5, 0)),
        ((None, None), (2, 2), (0, 0.5625)),
        ((None, None), (3, 2), (0, 0.703125)),
        ((None, None), (3, 3), (0.5, 0)),
        ((2, 2), (None, None), (0, 0.75)),
        ((None, None), (None, None), (0, 0.75)),
    ]
    return [
        ((Reach(_at(0, 1, m), k), Reach(_at(1, 1, n), j)), stated, max(k or 1, j or 1))
        for (k, m), (j, n), stated in rows
    ]


def _rewards() -> list[Row]:
    """1 for the first agent at (1, 1), 2 for the second at (1, 2), at one step or over some."""
    one, two = _paid(0, {(1, 1): 1.0}), _paid(1, {(1, 2): 2.0})
    at = [(1, 1, (1, 0)), (2, 2, (0, 2)), (3, 3, (0, 0)), (1, 2, (0, 2)), (2, 1, (0, 0))]
    over = [(1, 1, (0, 0)), (2, 2, (1, 0)), (3, 3, (0, 2)), (1, 2, (0, 0)), (2, 1, (1, 0))]
    return [
        *(((At(one, k), At(two, j)), stated, max(k, j)) for k, j, stated in at),
        *(((Collect(one, k), Collect(two, j)), stated, max(k, j)) for k, j, stated in over),
    ]


def _mixed() -> list[Row]:
    """Rewards over some steps, until s = 4, or at one step."""
    steps = {(0, 1): 1.0, (0, 2): 1.0, (0, 3): 1.0}
    one, two = _paid(0, steps), _paid(1, steps)
    one_at, two_at = _paid(0, {(0, 1): 3.0, (0, 2): 1.0}), _paid(1, {(0, 1): 3.0, (0, 2): 8.0})
    end = [Collect(own, until=_at(i, s=4)) for i, own in enumerate((one, two))]
    return [
        *(((end[0], Collect(two, k)), stated, 5) for k, stated in ((1, (3, 0)), (2, (3, 0.75)), (3, (3, 1.5)))),
        *(((Collect(one, k), end[1]), stated, 5) for k, stated in ((1, (0, 3)), (2, (0.5, 3)), (3, (2, 2.25)))),
        *(((end[0], At(two_at, k)), stated, 5) for k, stated in ((1, (3, 2.25)), (2, (1.5, 8)), (3, (3, 0)))),
        *(((At(one_at, k), end[1]), stated, 5) for k, stated in ((1, (3, 2.25)), (2, (0.5, 3)), (3, (0, 3)))),
        *(
            ((Collect(one, k), At(two_at, j)), stated, 3)
            for k, j, stated in (
                (2, 1, (0.5, 3)),
                (2, 2, (0.5, 8)),
                (2, 3, (1, 0)),
                (3, 1, (2, 2.25)),
                (3, 2, (1, 8)),
                (3, 3, (2, 0)),
            )
        ),
        *(
            ((At(one_at, k), Collect(two, j)), stated, 3)
            for k, j, stated in (
                (2, 1, (1, 0)),
                (2, 2, (1, 0.75)),
                (2, 3, 2.5),  # stated as 1 + 1.5; ours is 0.5 + 2, another equilibrium of the same total
                (3, 1, (0, 0)),
                (3, 2, (0, 1)),
                (3, 3, (0, 2)),
            )
        ),
    ]


def _until() -> list[Row]:
    """Come to s = n within k steps while the other's r is 0: (k, n) of both; "free" where the path does not matter."""
    rows = [
        ((1, 2), (1, 2), "", (0, 0)),
        ((2, 2), (2, 2), "", (0.5, 0.25)),
        ((3, 4), (3, 4), "", (0, 0)),
        ((4, 4), (4, 4), "", (0.125, 0.0625)),
        ((4, 4), (3, 4), "", (0.125, 0)),
        ((3, 4), (4, 4), "", (0, 0.125)),
        ((4, 4), (2, 2), "", (0.03125, 0.5)),
        ((2, 2), (4, 4), "", (0.5, 0.0625)),
        ((4, 4), (2, 2), "second", (0.125, 0.5)),
        ((2, 2), (4, 4), "second", (0.5, 0.125)),
        ((2, 2), (1, 1), "second", (0.5, 1)),
        ((4, 4), (1, 1), "second", (0.125, 1)),
        ((2, 2), (1, 2), "first", (0.5, 0)),
        ((2, 2), (2, 2), "first", (0.5, 0.5)),
    ]
    found: list[Row] = []
    for (k, m), (j, n), free, stated in rows:
        one = Reach(_at(0, s=m), k, None if free == "first" else _at(1, r=0))
        two = Reach(_at(1, s=n), j, None if free == "second" else _at(0, r=0))
        found.append(((one, two), stated, max(k, j)))
    return found


def public_good(*, horizon: int = 1) -> TabularGame:
    """Three have 5 each and invest 0, 2 or 5; the sum is tripled and shared evenly. Two of them are one agent."""
    from tacit.games.matrix import matrix_game

    invest = (0, 2, 5)
    pairs = [(b, c) for b in invest for c in invest]
    one = [[5 - a + (a + b + c) for b, c in pairs] for a in invest]
    two = [[10 - b - c + 2 * (a + b + c) for b, c in pairs] for a in invest]
    return matrix_game([one, two], name="prism-public-good", horizon=horizon)


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
        return game(name, rules, _versus(goal), start=((1,) * 4, 0), actions=(3, 3), horizon=slots)

    def forget(s: Any, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
        return [(p, (after[0], 0)) for p, after in rules((s[0], 0), joint)]

    return game(name, forget, _versus(goal), start=((1,) * 4, 0), actions=(3, 3), horizon=slots)


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
        return independent(move(s[0], 1, joint[0]), move(s[1], -1, joint[1]))

    goal = Reach(lambda s: s[0] == (top, top) and s[0] != s[1], steps, lambda s: s[0] != s[1])
    start, picture = ((0, 0), (top, top)), partial(draw_robots, size=size)
    return game("prism-robots", rules, _versus(goal), start=start, horizon=steps, actions=(3, 3), picture=picture)


def _family(name: str, about: str, rules: Any, rows: Sequence[Row]) -> list[Entry]:
    """Return an entry for each pair of objectives."""
    about = f"{about}\n\n{_RACE}"
    found = []
    for k, (goals, stated, horizon) in enumerate(rows, start=1):
        own = f"{name}-{k}"
        make = partial(_race, rules, goals, name=own, horizon=horizon)
        found.append(Entry(own, SOURCE, about, make, (Figure("nash", stated),)))
    return found


def _zero(name: str, about: str, make: Callable[..., TabularGame], value: float, **more: Any) -> Entry:
    tolerance = more.pop("tolerance", 1e-9)
    return Entry(name, SOURCE, about, make, (Figure("nash", (value, 0.0 - value), tolerance),), **more)


def _won(who: int) -> Callable[[Any], bool]:
    return lambda s: s == who


def _utility(s: int, joint: tuple[int, ...]) -> float:
    return (0.0, 1.0, -1.0)[winner(*joint)]


def _rps(name: str, about: str, objective: Objective, horizon: int, value: float) -> Entry:
    return _zero(name, about, partial(rounds, objective=objective, horizon=horizon, name=name), value)


ENTRIES = (
    _rps("prism-rps-win", "Win a round of rock, paper, scissors within 2.", Reach(_won(1), 2), 2, 5 / 9),
    _rps("prism-rps-draw", "The first round is a draw.", Reach(_won(0), 1), 1, 1 / 3),
    _rps("prism-rps-utility", "Wins minus losses of 2 rounds.", Collect(_utility, 2), 2, 0.0),
    _rps(
        "prism-rps-first",
        "Win before the other does; after 21 rounds what is left is below 1e-10.",
        Reach(_won(1), path=lambda s: s != 2),
        21,
        0.5,
    ),
    Entry(
        "prism-stopping",
        SOURCE,
        stopping.__doc__ or "",
        stopping,
        (
            Figure(
                "nash",
                (2 / 3, 7 / 6),
                note="of every horizon from 2 on, and the limit of value iteration; without a horizon nobody would "
                "ever stop, which pays nothing, so it is no equilibrium there",
            ),
        ),
    ),
    *_family("prism-reach", "Race: reach a goal each, within bounds.", REACH, _reach()),
    *_family("prism-rewards", "Race: rewards at one step, or over some.", REWARDS, _rewards()),
    *_family("prism-mixed", "Race: rewards of several kinds.", MIXED, _mixed()),
    *_family("prism-until", "Race: reach a goal each while the other has not succeeded.", UNTIL, _until()),
    Entry("prism-public-good", SOURCE, public_good.__doc__ or "", public_good, (Figure("nash", 45.0),)),
    _zero("prism-jamming", jamming.__doc__ or "", jamming, 2.726039886476, tolerance=1e-9, seconds=3.0),
    _zero(
        "prism-jamming-half",
        jamming.__doc__ or "",
        partial(jamming, count=False),
        0.632270470262,
        tolerance=1e-9,
        seconds=2.0,
    ),
    _zero("prism-robots", robots.__doc__ or "", robots, 0.7670817482829999, seconds=5.0),
)
