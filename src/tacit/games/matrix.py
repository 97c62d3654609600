"""Small games: the normal form, played once or repeated, the classics that every textbook has, and GoodState.

Sources: Fudenberg and Tirole, "Game Theory", 1991 (matching pennies, rock-paper-scissors, battle of the sexes,
prisoner's dilemma, stag hunt); Aumann, "Subjectivity and correlation in randomized strategies", 1974 (chicken);
Shapley, "Some topics in two-person games", 1964; Claus and Boutilier, "The dynamics of reinforcement learning in
cooperative multiagent systems", 1998 (climbing, penalty).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.games.tabular import TabularGame


def matrix_game(
    payoffs: npt.ArrayLike,
    *,
    horizon: int = 1,
    name: str | None = None,
    action_names: Sequence[Sequence[str]] | None = None,
) -> TabularGame:
    """Make a one-state game from a payoff tensor [N, A_1, …, A_N], played `horizon` times.

    Parameters
    ----------
    payoffs : array [N, A_1, …, A_N]
    horizon : int
        How many times it is played.
    name, action_names : optional
        For people: a name, and for each agent the names of its actions.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> tacit.matrix_game([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    TabularGame(2 agents, 1 state, 2×2 actions, horizon 1, rewards in [-1, 1])
    """
    tensor = check.array("payoffs", payoffs)
    if tensor.ndim < 2 or tensor.shape[0] != tensor.ndim - 1 or 0 in tensor.shape:
        raise TacitError(
            f"payoffs has shape {tensor.shape}; it must be [N, A_1, …, A_N], an action axis for each agent"
        )
    agents, *actions = tensor.shape
    flat = tensor.reshape(agents, -1)
    check.finite("payoffs", flat, ["i", ("joint", tuple(actions))])
    return TabularGame(
        Owned(np.ones((1, 1, *actions, 1))),
        Owned(tensor.reshape(agents, 1, 1, *actions)),
        [1.0],
        horizon,
        name=name,
        action_names=action_names,
    )


def MatrixTeam(*, horizon: int = 1) -> TabularGame:
    """The 3×3 team of the paper, with two optimal equilibria and a safe one between them. [Mao2022, tbl:1]

    It is the penalty game of Claus and Boutilier (1998) with penalty −10.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import MatrixTeam
    >>> MatrixTeam().reward_range
    (-10.0, 10.0)
    """
    team = [[10, 0, -10], [0, 2, 0], [-10, 0, 10]]
    return matrix_game(
        [team, team],
        horizon=horizon,
        name="matrix-team",
        action_names=[["a0", "a1", "a2"], ["b0", "b1", "b2"]],
    )


def GoodState(*, horizon: int = 10, slip: float = 0.1, start: str = "s0") -> TabularGame:
    """Two states, two agents: (a0, b1) leads to the good state, everything else to the bad one.

    Parameters
    ----------
    horizon : int
        Steps in an episode; the paper plays 10.
    slip : float
        Probability of going to the other state than intended (the paper's ε = 0.1).
    start : {"s0", "s1", "uniform"}
        First state; the paper does not give it.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import GoodState
    >>> GoodState()
    TabularGame('good-state': 2 agents, 2 states, 2×2 actions, horizon 10, rewards in [-2, 5])
    """
    slip = check.real("slip", slip, least=0, most=1)
    check.choice("start", start, ["s0", "s1", "uniform"])
    to_good = np.full((2, 2), slip)
    to_good[0, 1] = 1 - slip
    transitions = np.empty((1, 2, 2, 2, 2))
    transitions[..., 0] = to_good
    transitions[..., 1] = 1 - to_good
    team = np.array([[[-2, 5], [2, -2]], [[0, 0], [0, 0]]], dtype=float)
    initial = {"s0": [1.0, 0.0], "s1": [0.0, 1.0], "uniform": [0.5, 0.5]}[start]
    return TabularGame(
        transitions,
        np.stack([team, team])[:, None],
        initial,
        horizon,
        name="good-state",
        state_names=["s0", "s1"],
        action_names=[["a0", "a1"], ["b0", "b1"]],
    )


Table = list[list[float]]


def _two_player(name: str, row: Table, column: Table, actions: list[str], horizon: int) -> TabularGame:
    return matrix_game([row, column], horizon=horizon, name=name, action_names=[actions, actions])


def MatchingPennies(*, horizon: int = 1) -> TabularGame:
    """Zero-sum 2×2: one wants to match, the other to differ; value 0, both mix evenly.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import MatchingPennies
    >>> tacit.evaluate(MatchingPennies(), tacit.MarkovPolicy.uniform(MatchingPennies())).gap
    0.0
    """
    row = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return _two_player("matching-pennies", row.tolist(), (-row).tolist(), ["heads", "tails"], horizon)


def RockPaperScissors(*, horizon: int = 1) -> TabularGame:
    """Zero-sum 3×3 without a pure equilibrium; value 0, both mix evenly.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import RockPaperScissors
    >>> tacit.evaluate(RockPaperScissors(), tacit.MarkovPolicy.uniform(RockPaperScissors())).gap
    0.0
    """
    row = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    return _two_player("rock-paper-scissors", row.tolist(), (0 - row).tolist(), ["rock", "paper", "scissors"], horizon)


def Shapley(*, horizon: int = 1) -> TabularGame:
    """Shapley's 3×3 game, on which fictitious play cycles; unique Nash equilibrium: uniform, 1/3 each.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import Shapley
    >>> round(tacit.evaluate(Shapley(), tacit.MarkovPolicy.uniform(Shapley())).gap, 9)
    0.0
    """
    return _two_player(
        "shapley", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], ["0", "1", "2"], horizon
    )


def Chicken(*, horizon: int = 1) -> TabularGame:
    """Aumann's game of chicken: a correlated equilibrium beats every Nash equilibrium in welfare.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import Chicken
    >>> tacit.solve(Chicken(), "ce").values.round(9)
    array([5.25, 5.25])
    """
    return _two_player("chicken", [[6, 2], [7, 0]], [[6, 7], [2, 0]], ["yield", "dare"], horizon)


def BattleOfTheSexes(*, horizon: int = 1) -> TabularGame:
    """Both want to meet, each at a place of its own; two pure equilibria and a mixed one.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import BattleOfTheSexes
    >>> tacit.evaluate(BattleOfTheSexes(), tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])).gap
    0.0
    """
    return _two_player("battle-of-the-sexes", [[2, 0], [0, 1]], [[1, 0], [0, 2]], ["opera", "fight"], horizon)


def PrisonersDilemma(*, horizon: int = 1) -> TabularGame:
    """Defection dominates, cooperation would be better for both.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import PrisonersDilemma
    >>> game = PrisonersDilemma()
    >>> tacit.best_response(game, tacit.MarkovPolicy.uniform(game), 0).actions
    array([[1]])
    """
    return _two_player("prisoners-dilemma", [[3, 0], [5, 1]], [[3, 5], [0, 1]], ["cooperate", "defect"], horizon)


def StagHunt(*, horizon: int = 1) -> TabularGame:
    """A risky good equilibrium and a safe bad one.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import StagHunt
    >>> round(tacit.smoothness(StagHunt()).lam, 6)
    1.0
    """
    return _two_player("stag-hunt", [[4, 0], [3, 3]], [[4, 3], [0, 3]], ["stag", "hare"], horizon)


def Climbing(*, horizon: int = 1) -> TabularGame:
    """Team 3×3 whose optimum, 11, lies beside heavy losses.

    Parameters
    ----------
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import Climbing
    >>> tacit.solve(Climbing(), "optimum").values
    array([11., 11.])
    """
    team: Table = [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]
    return _two_player("climbing", team, team, ["0", "1", "2"], horizon)


def Penalty(*, penalty: float = -100, horizon: int = 1) -> TabularGame:
    """Team 3×3 with two optima, 10, and a penalty for missing each other.

    Parameters
    ----------
    penalty : float
        Both agents' reward where they miss each other.
    horizon : int
        How many times it is played.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import Penalty
    >>> Penalty(penalty=-5).reward_range
    (-5.0, 10.0)
    """
    k = check.real("penalty", penalty, most=0)
    team: Table = [[10, 0, k], [0, 2, 0], [k, 0, 10]]
    return _two_player("penalty", team, team, ["0", "1", "2"], horizon)
