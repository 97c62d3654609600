"""Games by name. The normal form, played once or repeated, textbook classics, GoodState, and random games.

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
        raise TacitError(f"payoffs must be N arrays [A_1, …, A_N], or [N, A_1, …, A_N]; got shape {tensor.shape}")
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
        wanted = f"payoffs of {len(arrays)} agents must be arrays of one shape, with {len(arrays)} axes"
        raise TacitError(f"{wanted}; got {', '.join(map(str, shapes))}")
    return np.stack(arrays)


def matrix_team(*, horizon: int = 1) -> TabularGame:
    """The paper's 3×3 team, with two optimal equilibria and a safe one between. [Mao2022, tbl:1]

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
    >>> import tacit
    >>> tacit.make("matrix-team").reward_range
    (-10.0, 10.0)
    """
    team = [[10, 0, -10], [0, 2, 0], [-10, 0, 10]]
    return matrix_game(
        [team, team],
        horizon=horizon,
        name="matrix-team",
        action_names=[["a0", "a1", "a2"], ["b0", "b1", "b2"]],
    )


def good_state(*, horizon: int = 10, slip: float = 0.1, start: str = "s0") -> TabularGame:
    """Two states, two agents: (a0, b1) leads to the good state, else the bad one.

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
    >>> import tacit
    >>> tacit.make("good-state")
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


def matching_pennies(*, horizon: int = 1) -> TabularGame:
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
    >>> tacit.evaluate(tacit.make("matching-pennies"), tacit.MarkovPolicy.uniform(tacit.make("matching-pennies"))).gap
    0.0
    """
    row = np.array([[1.0, -1.0], [-1.0, 1.0]])
    return _two_player("matching-pennies", row.tolist(), (-row).tolist(), ["heads", "tails"], horizon)


def rock_paper_scissors(*, horizon: int = 1) -> TabularGame:
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
    >>> game = tacit.make("rock-paper-scissors")
    >>> tacit.evaluate(game, tacit.MarkovPolicy.uniform(game)).gap
    0.0
    """
    row = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    return _two_player("rock-paper-scissors", row.tolist(), (0 - row).tolist(), ["rock", "paper", "scissors"], horizon)


def shapley(*, horizon: int = 1) -> TabularGame:
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
    >>> round(tacit.evaluate(tacit.make("shapley"), tacit.MarkovPolicy.uniform(tacit.make("shapley"))).gap, 9)
    0.0
    """
    return _two_player(
        "shapley", [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 0], [0, 0, 1], [1, 0, 0]], ["0", "1", "2"], horizon
    )


def chicken(*, horizon: int = 1) -> TabularGame:
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
    >>> tacit.solve(tacit.make("chicken"), "ce").values.round(9)
    array([5.25, 5.25])
    """
    return _two_player("chicken", [[6, 2], [7, 0]], [[6, 7], [2, 0]], ["yield", "dare"], horizon)


def battle_of_the_sexes(*, horizon: int = 1) -> TabularGame:
    """Both want to meet, each at a place of its own. Two pure equilibria and a mixed one.

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
    >>> tacit.evaluate(tacit.make("battle-of-the-sexes"), tacit.MarkovPolicy.deterministic([[[0]], [[0]]], [2, 2])).gap
    0.0
    """
    return _two_player("battle-of-the-sexes", [[2, 0], [0, 1]], [[1, 0], [0, 2]], ["opera", "fight"], horizon)


def prisoners_dilemma(*, horizon: int = 1) -> TabularGame:
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
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.evaluation.best_response(game, tacit.MarkovPolicy.uniform(game), 0).actions
    array([[1]])
    """
    return _two_player("prisoners-dilemma", [[3, 0], [5, 1]], [[3, 5], [0, 1]], ["cooperate", "defect"], horizon)


def stag_hunt(*, horizon: int = 1) -> TabularGame:
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
    >>> round(tacit.smoothness(tacit.make("stag-hunt")).lam, 6)
    1.0
    """
    return _two_player("stag-hunt", [[4, 0], [3, 3]], [[4, 3], [0, 3]], ["stag", "hare"], horizon)


def climbing(*, horizon: int = 1) -> TabularGame:
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
    >>> tacit.solve(tacit.make("climbing"), "optimum").values
    array([11., 11.])
    """
    team: Matrix = [[11, -30, 0], [-30, 7, 6], [0, 0, 5]]
    return _two_player("climbing", team, team, ["0", "1", "2"], horizon)


def penalty(*, penalty: float = -100, horizon: int = 1) -> TabularGame:
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
    >>> import tacit
    >>> tacit.make("penalty", penalty=-5).reward_range
    (-5.0, 10.0)
    """
    k = check.real("penalty", penalty, most=0)
    team: Matrix = [[10, 0, k], [0, 2, 0], [k, 0, 10]]
    return _two_player("penalty", team, team, ["0", "1", "2"], horizon)


def random_game(
    *,
    kind: str = "general-sum",
    agents: int = 2,
    states: int = 2,
    actions: int | Sequence[int] = 2,
    horizon: int = 5,
    seed: int = 0,
    successors: int | None = None,
    stationary: bool = False,
) -> TabularGame:
    """A game from a seed. Uniform rewards in [0, 1], Dirichlet(1, …, 1) transitions, a uniform first state.

    A potential game that is no team has r_i(s, a) = (φ(s, a) + u_i(s, a_-i)) / 2 and transitions that no action
    changes: then Φ(π) = Σ_h E_{s ~ d_h} E_{a ~ π}[φ_h(s, a)] / 2 is a potential, for u_i does not depend on agent i.

    Parameters
    ----------
    kind : {"general-sum", "zero-sum", "team", "potential"}
        Whose rewards are drawn: each agent's; one that the other loses, of two agents; one that all share; φ and u_i.
    agents, states, horizon, seed : int
    actions : int or one int for each agent
    successors : int, optional
        Next states that a state and joint action can lead to, drawn without replacement; all if not given.
    stationary : bool
        The same rewards and transitions at every step.

    Returns
    -------
    TabularGame

    Examples
    --------
    >>> import tacit
    >>> tacit.make("random-general-sum", agents=3, actions=[2, 3, 2], seed=7)
    TabularGame('random-general-sum': 3 agents, 2 states, 2×3×2 actions, horizon 5, rewards in [0.00373424, 0.996771])
    >>> tacit.potential(tacit.make("random-potential", horizon=2)).holds
    True
    """
    N, S, H = (check.integer(k, n) for k, n in (("agents", agents), ("states", states), ("horizon", horizon)))
    check_axes(N)
    sizes = check_actions(actions, N)
    joint, H_or_1 = math.prod(sizes), 1 if check.flag("stationary", stationary) else H
    width = S if successors is None else check.integer("successors", successors, least=1, most=S)
    rng = np.random.default_rng(check.integer("seed", seed))
    memory.require(memory.floats(H_or_1 * S * joint, N + 4 + 3 * width), f"the random-{kind} game")
    grid = (H_or_1, S, *sizes)
    if kind == "potential":
        shared = rng.random(grid)
        without = [tuple(1 if axis == 2 + i else n for axis, n in enumerate(grid)) for i in range(N)]
        rewards = np.stack([(shared + rng.random(others)) / 2 for others in without])
    else:
        rewards = rng.random((N if kind == "general-sum" else 1, *grid))
        if kind != "general-sum":
            rewards = np.concatenate([rewards, -rewards]) if kind == "zero-sum" else np.repeat(rewards, N, axis=0)
    transitions = _draw_transitions(rng, grid, width, by_action=kind != "potential")
    initial = np.full(S, 1 / S)
    return TabularGame(Owned(transitions), Owned(rewards), Owned(initial), H, name=f"random-{kind}")


def _draw_transitions(
    rng: np.random.Generator, grid: tuple[int, ...], width: int, *, by_action: bool
) -> FloatArray | Successors:
    """Draw rows over `width` next states. There is one for each (h, s), and each joint action where actions matter."""
    S, joint = grid[1], math.prod(grid[2:])
    rows = grid[0] * S * (joint if by_action else 1)
    prob = rng.dirichlet(np.ones(width), size=rows)
    prob /= prob.sum(axis=1, keepdims=True)
    if width == S:
        prob = np.broadcast_to(prob.reshape(grid[0], S, -1, S), (grid[0], S, joint, S))
        return prob.reshape(*grid, S)
    state = np.empty((rows, width), dtype=np.int32)
    for row in state:
        row[:] = np.sort(rng.choice(S, width, replace=False))
    if not by_action:
        prob, state = np.repeat(prob, joint, axis=0), np.repeat(state, joint, axis=0)
    return Successors(np.arange(len(prob) + 1, dtype=np.int64) * width, state.ravel(), prob.ravel())
