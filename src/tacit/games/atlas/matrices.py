"""Games of the atlas with one state that are too large to be written out, or come in several sizes."""

from __future__ import annotations

import itertools

import numpy as np

from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame


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


def seeded_team(*, seed: int = 10, horizon: int = 1) -> TabularGame:
    """Three agents with 3, 4 and 5 actions get the same reward, drawn evenly from [0, 1] by NumPy's old generator."""
    common = np.random.RandomState(seed).uniform(0, 1, size=(3, 4, 5))
    return matrix_game([common] * 3, name="seeded-team", horizon=horizon)
