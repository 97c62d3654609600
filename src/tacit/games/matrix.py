"""Games by name: the normal form, played once or repeated, textbook classics, GoodState, and random games.

Sources: Fudenberg and Tirole, "Game Theory", 1991 (matching pennies, rock-paper-scissors, battle of the sexes,
prisoner's dilemma, stag hunt); Aumann, "Subjectivity and correlation in randomized strategies", 1974 (chicken);
Shapley, "Some topics in two-person games", 1964; Claus and Boutilier, "The dynamics of reinforcement learning in
cooperative multiagent systems", 1998 (climbing, penalty).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.games.exact import Successors
from tacit.games.protocol import check_actions
from tacit.games.tabular import TabularGame, check_axes


def matrix_game(
    payoffs: npt.ArrayLike,
    *more: npt.ArrayLike,
    horizon: int = 1,
    name: str | None = None,
    action_names: Sequence[Sequence[str]] | None = None,
) -> TabularGame:
    """Make a one-state game from payoffs, played `horizon` times.

    Parameters
    ----------
    payoffs, *more : N arrays [A_1, …, A_N], or one array [N, A_1, …, A_N]
        The payoffs of each agent, as in `matrix_game(A, B)`, or of all agents in one array.
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
    >>> tacit.matrix_game([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
    TabularGame(2 agents, 1 state, 2×2 actions, horizon 1, rewards in [-1, 1])
    """
    tensor = _stack_payoffs(payoffs, *more) if more else check.array("payoffs", payoffs)
    if tensor.ndim < 2 or tensor.shape[0] != tensor.ndim - 1 or 0 in tensor.shape:
        raise TacitError(
            f"payoffs must be N arrays [A_1, …, A_N], or one array [N, A_1, …, A_N]; got shape {tensor.shape}"
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


def _stack_payoffs(*payoffs: npt.ArrayLike) -> FloatArray:
    """Return the payoffs of each agent as one array [N, A_1, …, A_N]."""
    arrays = [check.array(f"payoffs[{i}]", array) for i, array in enumerate(payoffs)]
    shapes = [array.shape for array in arrays]
    if len(set(shapes)) > 1 or len(shapes[0]) != len(arrays):
        raise TacitError(
            f"payoffs of {len(arrays)} agents must be arrays of one shape, with {len(arrays)} axes; got "
            f"{', '.join(map(str, shapes))}"
        )
    return np.stack(arrays)


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


Matrix = list[list[float]]


def _two_player(name: str, row: Matrix, column: Matrix, actions: list[str], horizon: int) -> TabularGame:
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
    >>> tacit.evaluation.best_response(game, tacit.MarkovPolicy.uniform(game), 0).actions
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
    team: Matrix = [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]
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
    team: Matrix = [[10, 0, k], [0, 2, 0], [k, 0, 10]]
    return _two_player("penalty", team, team, ["0", "1", "2"], horizon)


# Random games from a seed. Rewards are uniform in [0, 1]. Transitions are Dirichlet(1, …, 1) over all states, or over
# `successors` of them drawn without replacement, which makes games of many states possible.


def RandomGeneralSum(
    *,
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """Independent uniform rewards for each agent and Dirichlet transitions.

    Parameters
    ----------
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
        Next states that a state and joint action can lead to; all of them if not given.
    stationary : bool
        The same rewards and transitions at every step.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import RandomGeneralSum
    >>> RandomGeneralSum(agents=3, actions=[2, 3, 2], seed=7)
    TabularGame('random-general-sum': 3 agents, 2 states, 2×3×2 actions, horizon 5, rewards in [0.00373424, 0.996771])
    """
    shape = _Shape("random-general-sum", agents, states, actions, horizon, seed, successors, stationary)
    rewards = shape.rng.random((shape.agents, shape.steps, shape.states, *shape.actions))
    return shape.game(rewards, shape.transitions())


def RandomZeroSum(
    *,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """Two agents, one uniform reward that the other loses, and Dirichlet transitions; parameters as random-general-sum.

    Parameters
    ----------
    states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
    stationary : bool

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import RandomZeroSum
    >>> game = RandomZeroSum(seed=3)
    >>> bool((game.rewards[0] == -game.rewards[1]).all())
    True
    """
    shape = _Shape("random-zero-sum", 2, states, actions, horizon, seed, successors, stationary)
    won = shape.rng.random((1, shape.steps, shape.states, *shape.actions))
    return shape.game(np.concatenate([won, -won]), shape.transitions())


def RandomTeam(
    *,
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """One uniform reward that all agents share, and Dirichlet transitions; parameters as random-general-sum.

    Parameters
    ----------
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
    stationary : bool

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> from tacit.games import RandomTeam
    >>> game = RandomTeam(seed=3)
    >>> bool((game.rewards[0] == game.rewards[1]).all())
    True
    """
    shape = _Shape("random-team", agents, states, actions, horizon, seed, successors, stationary)
    shared = shape.rng.random((1, shape.steps, shape.states, *shape.actions))
    return shape.game(np.repeat(shared, shape.agents, axis=0), shape.transitions())


def RandomPotential(
    *,
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """A Markov potential game that is not a team; parameters as random-general-sum.

    r_i(s, a) = (φ(s, a) + u_i(s, a_-i)) / 2 with transitions that no action changes: then
    Φ(π) = Σ_h E_{s ~ d_h} E_{a ~ π}[φ_h(s, a)] / 2 is a potential, for u_i does not depend on agent i.

    Parameters
    ----------
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
    stationary : bool

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> from tacit.games import RandomPotential
    >>> tacit.potential(RandomPotential(horizon=2)).holds
    True
    """
    shape = _Shape("random-potential", agents, states, actions, horizon, seed, successors, stationary)
    grid = (shape.steps, shape.states, *shape.actions)
    shared = shape.rng.random(grid)
    rewards = np.empty((shape.agents, *grid))
    for i in range(shape.agents):
        others = list(grid)
        others[2 + i] = 1
        rewards[i] = (shared + shape.rng.random(others)) / 2
    return shape.game(rewards, shape.transitions(by_action=False))


class _Shape:
    """The checked sizes of a random game, its generator, and what all three kinds share."""

    def __init__(
        self,
        name: str,
        agents: int,
        states: int,
        actions: int | Sequence[int],
        horizon: int,
        seed: int,
        successors: int | None,
        stationary: bool,
    ) -> None:
        self.name = name
        self.agents = check.integer("agents", agents)
        check_axes(self.agents)
        self.states = check.integer("states", states)
        self.horizon = check.integer("horizon", horizon)
        self.steps = 1 if check.flag("stationary", stationary) else self.horizon
        self.actions = check_actions(actions, self.agents)
        self.successors = self.states
        if successors is not None:
            self.successors = check.integer("successors", successors, least=1, most=self.states)
        self.rng = np.random.default_rng(check.integer("seed", seed))
        rows = self.steps * self.states * math.prod(self.actions)
        memory.require(memory.floats(rows, self.agents + 4 + 3 * self.successors), f"the {name} game")

    def transitions(self, by_action: bool = True) -> FloatArray | Successors:
        """Draw Dirichlet rows, one for each (h, s) and, unless told otherwise, joint action."""
        joint = math.prod(self.actions)
        rows = self.steps * self.states * (joint if by_action else 1)
        prob = self.rng.dirichlet(np.ones(self.successors), size=rows)
        prob /= prob.sum(axis=1, keepdims=True)
        if self.successors == self.states:
            prob = prob.reshape(self.steps, self.states, -1, self.states)
            shape = (self.steps, self.states, *self.actions, self.states)
            return np.broadcast_to(prob, (self.steps, self.states, joint, self.states)).reshape(shape)
        state = np.empty((rows, self.successors), dtype=np.int32)
        for row in state:
            row[:] = np.sort(self.rng.choice(self.states, self.successors, replace=False))
        if not by_action:
            prob, state = np.repeat(prob, joint, axis=0), np.repeat(state, joint, axis=0)
        first = np.arange(len(prob) + 1, dtype=np.int64) * self.successors
        return Successors(first, state.ravel(), prob.ravel())

    def game(self, rewards: FloatArray, transitions: FloatArray | Successors) -> TabularGame:
        """Put the game together; the first state is uniform."""
        initial = np.full(self.states, 1 / self.states)
        return TabularGame(Owned(transitions), Owned(rewards), Owned(initial), self.horizon, name=self.name)
