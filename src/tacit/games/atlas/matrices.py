"""Games of the atlas with one state, most of them of two players."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from tacit.games.atlas.entry import Entry, Figure
from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame

Matrix = Sequence[Sequence[float]]

STENGEL = "B. von Stengel, Equilibrium computation for two-player games, in: Algorithmic Game Theory, 2007, ch. 3"
FERGUSON = "T. S. Ferguson, Game Theory, part II: two-person zero-sum games"
AUMANN = "R. Aumann, Subjectivity and correlation in randomized strategies, 1974"
NAU = "R. Nau, S. Gomez Canovas and P. Hansen, On the geometry of Nash equilibria and correlated equilibria, 2004"
PAPOUDAKIS = "G. Papoudakis et al., Benchmarking multi-agent deep reinforcement learning algorithms, 2021"
CLAUS = "C. Claus and C. Boutilier, The dynamics of reinforcement learning in cooperative multiagent systems, 1998"
GAMBIT, NASHPY = "Gambit's tests and catalog", "Nashpy's tests"
OPENSPIEL, QUANTECON, PRISM = "OpenSpiel's tests", "QuantEcon.py's tests", "PRISM-games' tests"


def bimatrix(row: Matrix, column: Matrix, *, name: str, horizon: int = 1) -> TabularGame:
    """Make a two-player game of the matrices of the row and the column player."""
    return matrix_game([row, column], name=name, horizon=horizon)


def zero_sum(row: Matrix, *, name: str, horizon: int = 1) -> TabularGame:
    """Make a two-player game in which one wins what the other loses."""
    return matrix_game([np.array(row), 0.0 - np.array(row)], name=name, horizon=horizon)


def tensor(payoffs: Any, *, name: str, horizon: int = 1) -> TabularGame:
    """Make a game of payoffs [N, A_1, …, A_N]."""
    return matrix_game(payoffs, name=name, horizon=horizon)


def _two(name: str, source: str, about: str, row: Matrix, column: Matrix, *figures: Figure, **more: Any) -> Entry:
    return Entry(name, source, about, partial(bimatrix, row, column, name=name), figures, **more)


def _zero(name: str, source: str, about: str, row: Matrix, *figures: Figure, **more: Any) -> Entry:
    return Entry(name, source, about, partial(zero_sum, row, name=name), figures, **more)


def _value(value: float, tolerance: float = 1e-9) -> Figure:
    """The value of a zero-sum game."""
    return Figure("nash", (value, 0.0 - value), tolerance)


def _fractions(text: str) -> tuple[float, ...]:
    return tuple(float(Fraction(word)) for word in text.split())


#: A 6×6 game with 75 equilibria; with other rows first it has one.
_STENGEL_75 = (
    (-81, 36, -126, 126, -36, 90),
    (-180, 72, -333, 297, -153, 270),
    (20, -3, 42, -33, 17, -30),
    (-30, 17, -33, 42, -3, 20),
    (270, -153, 297, -333, 72, -180),
    (90, -36, 126, -126, 36, -81),
)
_STENGEL_75_COLUMN = (
    (72, 36, 17, -3, -36, -153),
    (-180, -81, -30, 20, 90, 270),
    (297, 126, 42, -33, -126, -333),
    (-333, -126, -33, 42, 126, 297),
    (270, 90, 20, -30, -81, -180),
    (-153, -36, -3, 17, 36, 72),
)

_BARGAIN_9 = (
    (0.0, 0.5, 1, 1, 1, 1, 1, 1, 1),
    (0.711, 0, 0, 0.5, 1, 1, 1, 1, 1),
    (1, 0.672, 0, 0, 0.5, 1, 1, 1, 1),
    (1, 1, 0.667, 0, 0, 0.5, 1, 1, 1),
    (1, 1, 1, 0.579, 0, 0, 0.5, 1, 1),
    (1, 1, 1, 1, 0.5, 0, 0, 0.5, 1),
    (1, 1, 1, 1, 1, 0.5, 0, 0, 1),
    (1, 1, 1, 1, 1, 1, 0.333, 0, 0.5),
    (1, 1, 1, 1, 1, 1, 1, 1, 0),
)


def coordination(*, sides: int = 3, horizon: int = 1) -> TabularGame:
    """Two get 1 each if they choose the same of `sides` actions."""
    same = np.eye(sides)
    return matrix_game([same, same], name=f"coordination-{sides}", horizon=horizon)


def travelers(*, most: int = 100, bonus: int = 2, horizon: int = 1) -> TabularGame:
    """Two claim 2 to `most` and get the smaller claim; who claimed less gets `bonus` from the other."""
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
    """Kuhn's poker with three cards as a matrix of plans: what to do with each card, by the other's bet.

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
    """Each gets 1 for the safe action, and for the other one `gain` if all others are safe, otherwise 0."""
    shape = (2,) * agents
    pay = np.zeros((agents, *shape))
    for joint in itertools.product(range(2), repeat=agents):
        for i in range(agents):
            alone = joint[i] == 1 and sum(joint) == 1
            pay[(i, *joint)] = 1.0 if joint[i] == 0 else gain * alone
    return matrix_game(pay, name="volunteer", horizon=horizon)


def braess(*, drivers: int = 8, horizon: int = 1) -> TabularGame:
    """Drivers choose of three ways; two links cost 1 + load/drivers, two cost 2, the short cut between costs 1/4.

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


def team(table: Any, *, name: str, horizon: int = 25) -> TabularGame:
    """A common payoff for two, `horizon` times."""
    return matrix_game([table, table], name=name, horizon=horizon)


def seeded_team(*, seed: int = 10, horizon: int = 1) -> TabularGame:
    """Three agents with 3, 4 and 5 actions get the same reward, drawn evenly from [0, 1] by NumPy's old generator."""
    common = np.random.RandomState(seed).uniform(0, 1, size=(3, 4, 5))
    return matrix_game([common] * 3, name="seeded-team", horizon=horizon)


_CLIMBING = ((11, -30, 0), (-30, 7, 6), (0, 0, 5))
_THIRD = (1 / 3, 1 / 3, 1 / 3)
_NAU_IRRATIONAL = (
    (((3, 1), (0, 0)), ((0, 0), (1, 2))),
    (((0, 0), (2, 1)), ((1, 3), (0, 0))),
    (((2, 0), (0, 0)), ((0, 0), (0, 3))),
)
_ROOT = (math.sqrt(601) - 13) / 24  # the second player's chance of its first action
_NAU_ROOTS = tuple((p, 1 - p) for p in (3 * (1 - _ROOT) / (3 - _ROOT), _ROOT, (math.sqrt(601) - 23) / 4))
_NAU_CONTINUUM = (
    (((0, 1), (0, 0)), ((3, 0), (0, 0))),
    (((0, 1), (3, 0)), ((0, 0), (0, 0))),
    (((2, 0), (0, 0)), ((0, 0), (0, 3))),
)
_NAU_PURE = (((1, 0), (0, 1), (1, 0)), ((0, 1), (1, 0), (1, 0)), ((0, 1), (0, 1), (0, 1)))
_BRAESS = (((1, 0, 0),) * 2, ((0, 1, 0),) * 2, ((0, 0, 1),) * 4)


def _penalty(k: float, best: float) -> Entry:
    table = ((k, 0, 10), (0, 2, 0), (10, 0, k))
    said = f"{PAPOUDAKIS} (learners: 250 ± 0 at k = 0, 50 ± 0 at k ≤ −25); {CLAUS}"
    name = f"penalty-{-k:g}" if k else "penalty-0"
    about = f"The penalty game with k = {k:g}, played 25 times: of both diagonals one pays 10, one k, the middle 2."
    middle = ((0, 1, 0), (0, 1, 0))
    safe = (Figure("values", (50, 50), policy=middle), Figure("gap", 0, policy=middle))
    return Entry(name, said, about, partial(team, table, name=name), (Figure("optimum", (best, best)), *safe), "game")


ENTRIES = (
    _two(
        "fair-or-social",
        PRISM,
        "A 2×2 game whose fairest equilibrium is not its best.",
        ((5, 2), (6, 0)),
        ((5, 6), (2, 1)),
        Figure("nash", 8.0),
        Figure("nash egalitarian", 7.5),
        Figure("ce", 44 / 5),
        Figure("ce egalitarian", 26 / 3),
    ),
    _two(
        "prisoners",
        PRISM,
        "The prisoner's dilemma with years in prison.",
        ((-1, -4), (0, -3)),
        ((-1, 0), (-4, -3)),
        Figure("nash", (-3, -3)),
    ),
    _two(
        "chicken",
        f"after {AUMANN}; {OPENSPIEL}",
        "Chicken: yield or dare.",
        ((6, 2), (7, 0)),
        ((6, 7), (2, 0)),
        Figure("nash egalitarian", (14 / 3, 14 / 3)),
        Figure("ce", (5.25, 5.25), note="derived: half of the time both yield, otherwise one of them dares"),
        Figure("equilibria", 3),
    ),
    _two(
        "battle-of-the-sexes",
        f"{NAU}, sec. 3; {GAMBIT}",
        "Both want to meet, each at a place of its own.",
        ((3, 0), (0, 2)),
        ((2, 0), (0, 3)),
        Figure("equilibria", 3),
        Figure("nash egalitarian", (3, 2)),
    ),
    _two(
        "three-by-two",
        f"{STENGEL}; {QUANTECON}",
        "A 3×2 game with three equilibria.",
        ((3, 3), (2, 5), (0, 6)),
        ((3, 2), (2, 6), (3, 1)),
        Figure("equilibria", 3),
        Figure("gap", 0, policy=((4 / 5, 1 / 5, 0), (2 / 3, 1 / 3))),
        Figure("gap", 0, policy=((0, 1 / 3, 2 / 3), (1 / 3, 2 / 3))),
    ),
    _two(
        "three-by-two-degenerate",
        f"{STENGEL}; {QUANTECON}",
        "The same with a tie: infinitely many equilibria.",
        ((3, 3), (2, 5), (0, 6)),
        ((3, 3), (2, 6), (3, 1)),
        Figure("equilibria", 3),
        Figure("sets", 2),
    ),
    _two(
        "quantecon-degenerate",
        QUANTECON,
        "A game in which support enumeration misses a line of equilibria.",
        ((1, -1), (-1, 1), (0, 0)),
        ((1, 0), (0, 0), (0, 0)),
        Figure("gap", 0, policy=((1, 0, 0), (1, 0))),
        Figure("gap", 0, policy=((0, 0.3, 0.7), (0.5, 0.5))),
    ),
    _two(
        "lemke-cycling",
        QUANTECON,
        "A game on which Lemke–Howson cycles with careless ties.",
        ((0, 0, 0), (0, 1, 1), (1, 1, 0)),
        ((1, 0, 1), (1, 1, 0), (0, 0, 2)),
        Figure("gap", 0, policy=((0, 2 / 3, 1 / 3), (0, 1, 0))),
    ),
    _two(
        "stengel-75",
        "B. von Stengel, New maximal numbers of equilibria in bimatrix games, 1999; R. Savani and "
        f"B. von Stengel, Hard-to-solve bimatrix games, 2006 (these payoffs); {GAMBIT}",
        "A 6×6 game with more equilibria than 2⁶ − 1.",
        _STENGEL_75,
        _STENGEL_75_COLUMN,
        Figure("equilibria", 75),
    ),
    _two(
        "long-paths",
        f"{GAMBIT}; R. Savani and B. von Stengel, Hard-to-solve bimatrix games, 2006",
        "A 6×6 game with long Lemke–Howson paths and one equilibrium.",
        tuple(_STENGEL_75[k] for k in (1, 3, 0, 5, 2, 4)),
        _STENGEL_75_COLUMN,
        Figure("equilibria", 1),
        Figure("play:0", _fractions("1/30 1/6 3/10 3/10 1/6 1/30")),
        Figure("play:1", _fractions("1/6 1/30 3/10 3/10 1/30 1/6")),
    ),
    _two(
        "shapley-1974",
        f"L. Shapley, A note on the Lemke–Howson algorithm, 1974, fig. 3; {GAMBIT}",
        "A 3×3 game with two equilibria that Lemke–Howson paths do not reach.",
        ((0, 3, 0), (2, 2, 0), (3, 0, 1)),
        ((0, 2, 3), (3, 2, 0), (0, 0, 1)),
        Figure("equilibria", 3, note="a pair that the paths do not reach, and the one that they do"),
    ),
    _two(
        "nashpy-82",
        NASHPY,
        "A 3×5 game whose vertices a floating-point enumeration misses.",
        ((0, 0, -6, 0, 0), (0, 0, -3, -2, -1), (-4, -3, 0, 0, -1)),
        ((-3, 0, -2, -1, 0), (0, -2, 0, 0, -4), (-4, 0, -2, -4, -4)),
        Figure("equilibria", 8),
    ),
    _two(
        "nashpy-4x3",
        NASHPY,
        "A 4×3 game with one equilibrium.",
        ((160, 205, 44), (175, 180, 45), (201, 204, 50), (120, 207, 49)),
        ((2, 2, 2), (1, 0, 0), (3, 4, 1), (4, 1, 2)),
        Figure("equilibria", 1),
        Figure("play:0", (0, 0, 3 / 4, 1 / 4)),
        Figure("play:1", (1 / 28, 27 / 28, 0)),
    ),
    _two(
        "nashpy-2x2",
        NASHPY,
        "A 2×2 game with three equilibria.",
        ((1, 0), (-2, 3)),
        ((3, 2), (-1, 0)),
        Figure("equilibria", 3),
        Figure("gap", 0, policy=((0.5, 0.5), (0.5, 0.5))),
    ),
    _two(
        "nashpy-degenerate",
        NASHPY,
        "A 2×2 game in which the row player does not care.",
        ((-1, 0), (-1, 1)),
        ((1, 0), (1, -1)),
        Figure("equilibria", 2),
    ),
    _two(
        "nashpy-indifferent",
        NASHPY,
        "All payoffs are 0: every play is an equilibrium.",
        ((0, 0), (0, 0)),
        ((0, 0), (0, 0)),
        Figure("equilibria", 4),
    ),
    _two(
        "nashpy-lexicographic",
        NASHPY,
        "A degenerate 3×3 game.",
        ((1, 3, 3), (3, 1, 3), (1, 3, 3)),
        ((3, 3, 1), (1, 1, 3), (3, 1, 3)),
        Figure("gap", 0, policy=((0.5, 0.5, 0), (0, 0, 1))),
    ),
    _two(
        "nashpy-67",
        NASHPY,
        "A 4×4 game with rounded payoffs and one equilibrium.",
        (
            (52.46337, 69.47196, 0, 54.14372),
            (77, 88, 84.85714, 92.4),
            (77.78571, 87.35294, 93.5, 91.38462),
            (66.37101, 43.45304, 0, 60.36192),
        ),
        (
            (23.52691, 17.35459, 88.209, 20.80217),
            (16.17165, 0, 14.00143, 6.46866),
            (0, 5.76529, 0, 0),
            (15.68327, 40.68156, 84.00857, 11.06597),
        ),
        Figure("equilibria", 1),
        Figure("play:0", (0, 0.262812089, 0.737187911, 0), 1e-5),
        Figure("play:1", (0.4516129, 0.5483871, 0, 0), 1e-5),
    ),
    Entry("coordination-3", GAMBIT, coordination.__doc__ or "", coordination, (Figure("equilibria", 7),)),
    Entry(
        "coordination-4",
        "T. Quint and M. Shubik, A theorem on the number of Nash equilibria, 1997: at most 2ⁿ − 1 for n ≤ 4",
        coordination.__doc__ or "",
        partial(coordination, sides=4),
        (Figure("equilibria", 15),),
    ),
    Entry(
        "travelers-dilemma",
        "K. Basu, The traveler's dilemma, 1994",
        travelers.__doc__ or "",
        travelers,
        (Figure("nash", (2, 2)),),
        read="game",
    ),
    _two(
        "stackelberg",
        f"V. Conitzer and T. Sandholm, Computing the optimal strategy to commit to, 2006; {OPENSPIEL}",
        "A game in which committing first pays 3.5, and the only equilibrium pays 2.",
        ((2, 4), (1, 3)),
        ((1, 0), (0, 1)),
        Figure("nash", (2, 1)),
        Figure("equilibria", 1),
    ),
    _two(
        "dominance",
        OPENSPIEL,
        "The first row dominates, for both.",
        ((2, 1, 0), (0, -1, -2)),
        ((2, 1, 0), (0, -1, -2)),
        Figure("nash", (2, 2)),
        Figure("play:0", (1, 0)),
    ),
    _two(
        "matching-shapley",
        f"L. Shapley, Some topics in two-person games, 1964; {OPENSPIEL}",
        "Fictitious play cycles on it.",
        ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
        Figure("equilibria", 1),
        Figure("nash", (1 / 3, 1 / 3)),
        Figure("play:0", _THIRD),
    ),
    _two(
        "nash-1951",
        "after J. Nash, Non-cooperative games, 1951; derived",
        "A prisoner's dilemma: ends badly for both.",
        ((1, -10), (10, -1)),
        ((1, 10), (-10, -1)),
        Figure("nash", (-1, -1)),
        Figure("equilibria", 1),
        read="",
    ),
    _zero(
        "rock-paper-scissors",
        OPENSPIEL,
        "Rock, paper, scissors.",
        ((0, -1, 1), (1, 0, -1), (-1, 1, 0)),
        _value(0),
        Figure("play:0", _THIRD),
    ),
    _zero(
        "biased-rock-paper-scissors",
        f"B. Bosansky et al., Algorithms for computing strategies in two-player "
        f"simultaneous move games, 2016; {OPENSPIEL}",
        "Wins of different worth.",
        ((0, -0.25, 0.5), (0.25, 0, -0.05), (-0.5, 0.05, 0)),
        _value(0),
        Figure("play:0", (1 / 16, 10 / 16, 5 / 16)),
        Figure("play:1", (1 / 16, 10 / 16, 5 / 16)),
    ),
    _zero(
        "modified-rock-paper-scissors",
        f"{NASHPY} and handbook",
        "The first has a fourth action.",
        ((0, 1, -1), (-1, 0, 1), (1, -1, 0), (1, -1, 1)),
        Figure("play:0", (4 / 9, 2 / 9, 0, 3 / 9)),
        Figure("play:1", (2 / 9, 4 / 9, 3 / 9)),
    ),
    _zero(
        "pure-saddle",
        OPENSPIEL,
        "A 2×3 game with a saddle point.",
        ((2, 1, 5), (-3, -4, -2)),
        _value(1),
        Figure("play:0", (1, 0)),
        Figure("play:1", (0, 1, 0)),
    ),
    _zero(
        "odd-or-even",
        f"after {FERGUSON}; derived",
        "Both show one or two fingers; the first wins the sum if it is odd.",
        ((-2, 3), (3, -4)),
        _value(1 / 12),
        Figure("play:0", (7 / 12, 5 / 12)),
        read="",
    ),
    _zero(
        "magic-square",
        "a magic square of any size: the mean, by uniform play (textbooks)",
        "The payoffs are a magic square.",
        ((8, 1, 6), (3, 5, 7), (4, 9, 2)),
        _value(5),
        Figure("play:0", _THIRD),
        Figure("play:1", _THIRD),
    ),
    _zero(
        "mendelsohn",
        f"after {FERGUSON}; derived",
        "Both name a number from 1 to 3; one above the other loses 1 to it, two above wins 2.",
        ((0, -1, 2), (1, 0, -1), (-2, 1, 0)),
        _value(0),
        Figure("play:0", (1 / 4, 1 / 2, 1 / 4)),
        read="",
    ),
    _zero(
        "matching-pennies",
        "derived; known to all textbooks",
        "Match or differ.",
        ((1, -1), (-1, 1)),
        _value(0),
        Figure("play:0", (0.5, 0.5)),
        read="",
    ),
    _two(
        "bargain-9",
        NASHPY,
        "A 9×9 game of constant sum 1 on which Lemke–Howson loops.",
        _BARGAIN_9,
        tuple(tuple(1 - v for v in row) for row in _BARGAIN_9),
        Figure(
            "nash",
            (0.75872890672, 1 - 0.75872890672),
            1e-7,
            note="stated to 1e-7; exact arithmetic gives 0.758728907865",
        ),
    ),
    Entry("morra", "symmetric, so 0; derived", morra.__doc__ or "", morra, (_value(0),), read=""),
    Entry("blotto", f"{OPENSPIEL}; symmetric, so 0", blotto.__doc__ or "", blotto, (_value(0),), read="game"),
    Entry(
        "kuhn-poker",
        f"H. Kuhn, A simplified two-person poker, 1950; {OPENSPIEL}",
        kuhn.__doc__ or "",
        kuhn,
        (_value(-1 / 18),),
    ),
    _zero(
        "stripped-down-poker",
        f"D. Reiley et al., Stripped-down poker, 2008; {GAMBIT}",
        "The first has a king or a queen and bets or folds, by a plan for each; the second calls or folds. "
        "Rows: always bet; bet a king only; bet a queen only; never.",
        ((0, 1), (0.5, 0), (-1.5, 0), (-1, -1)),
        _value(1 / 3),
        Figure("play:0", (1 / 3, 2 / 3, 0, 0)),
        Figure("play:1", (2 / 3, 1 / 3)),
    ),
    Entry(
        "nau-irrational",
        f"{NAU}, sec. 4; {GAMBIT}",
        "Three players with one equilibrium, in irrational chances.",
        partial(tensor, _NAU_IRRATIONAL, name="nau-irrational"),
        (
            Figure(
                "gap",
                0,
                note="stated is that it is irrational; these chances are the roots of the three equations",
                policy=_NAU_ROOTS,
            ),
        ),
        read="game",
    ),
    Entry(
        "nau-continuum",
        f"{NAU}, sec. 5; {GAMBIT}",
        "Three players with three pure equilibria and a continuum of mixed ones.",
        partial(tensor, _NAU_CONTINUUM, name="nau-continuum"),
        tuple(Figure("gap", 0, policy=policy) for policy in _NAU_PURE),
    ),
    Entry(
        "volunteer-2",
        QUANTECON,
        volunteer.__doc__ or "",
        partial(volunteer, agents=2),
        (Figure("gap", 0, policy=((0.5, 0.5),) * 2), Figure("equilibria", 3)),
    ),
    Entry(
        "volunteer-3",
        f"{QUANTECON}; each is safe with chance 1/√2",
        volunteer.__doc__ or "",
        volunteer,
        (Figure("gap", 0, policy=((math.sqrt(0.5), 1 - math.sqrt(0.5)),) * 3),),
    ),
    Entry(
        "volunteer-4",
        f"{QUANTECON}; each is safe with chance 2^(−1/3)",
        volunteer.__doc__ or "",
        partial(volunteer, agents=4),
        (Figure("gap", 0, policy=((2 ** (-1 / 3), 1 - 2 ** (-1 / 3)),) * 4),),
    ),
    Entry(
        "braess",
        f"{OPENSPIEL}; D. Braess, Über ein Paradoxon aus der Verkehrsplanung, 1968",
        braess.__doc__ or "",
        braess,
        (
            Figure("optimum", 8 * -3.5),
            Figure("values", (-3.75,) * 8, policy=sum(_BRAESS, ())),
            Figure(
                "gap",
                0,
                note="not the only equilibrium of 8 drivers: there are better ones, of 3.5 to 3.625",
                policy=sum(_BRAESS, ()),
            ),
        ),
        seconds=5.0,
    ),
    Entry(
        "climbing-25",
        f"{PAPOUDAKIS} (learners: 195 ± 68 for IQL, 170 to 185 for others); {CLAUS}",
        "The climbing game 25 times; the best joint action is the riskiest.",
        partial(team, _CLIMBING, name="climbing-25"),
        (Figure("optimum", (275, 275)),),
        read="game",
    ),
    *(_penalty(k, 250.0) for k in (0, -25, -50, -75, -100)),
    Entry(
        "seeded-team",
        "Y. Sun et al., Provably fast convergence of independent natural policy gradient for Markov "
        "potential games, 2023, code of fig. 1: no value, but gaps that go to 0",
        seeded_team.__doc__ or "",
        seeded_team,
        (Figure("gap", 0, policy=((0, 0, 1), (0, 0, 0, 1), (0, 1, 0, 0, 0))),),
        read="game",
    ),
)
