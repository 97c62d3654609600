"""The best that one agent can do by leaving a Markov policy while the others stay. [Mao2022, def:CCE and after]

- nash: the others play a product policy; the deviator faces an MDP.
- cce: the others play their marginal of a correlated policy; the deviator ignores its own part, again an MDP.
- ce: the deviator hears its own part b of the joint draw and plays ψ(b); the best swap is chosen for each
  (h, s, b) alone, because what it heard says nothing about later draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.contraction import own_payoffs, own_payoffs_correlated, swap_payoffs
from tacit.evaluation.crowd import crowd_deviations
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame, check_exact
from tacit.policies.markov import MarkovPolicy, check_policy

KINDS = ("nash", "cce", "ce")


@dataclass(frozen=True)
class Deviations:
    """The values of a policy beside those of each agent's best deviation from it.

    Attributes
    ----------
    kind : {"nash", "cce", "ce"}
    V : array [N, H + 1, S]
        Values of the policy.
    best : array [N, H + 1, S]
        Values of each agent's best deviation.
    choices : tuple of int arrays, one for each agent
        The deviation: an action [H, S], or for the ce gap of a correlated policy an action for each recommended one,
        [H, S, A_i].

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import deviations
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = deviations(game, tacit.MarkovPolicy.uniform(game), "nash")
    >>> found.choices[0].tolist()
    [[1]]
    """

    kind: str
    V: FloatArray
    best: FloatArray
    choices: tuple[IntArray, ...]


def deviations(game: ExactGame, policy: MarkovPolicy, kind: str) -> Deviations:
    """Compute values and best deviations of all agents in one backward pass.

    Both continuations are averaged over next states in one product with P, which is what costs.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    kind : {"nash", "cce", "ce"}
        Which deviations count.

    Returns
    -------
    Deviations

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import deviations
    >>> game = tacit.make("matching-pennies")
    >>> found = deviations(game, tacit.MarkovPolicy.uniform(game), "nash")
    >>> bool((found.best == found.V).all())
    True
    """
    check_policy(policy)
    policy.check_fits(game)
    check.choice("gap", kind, KINDS)
    if kind == "nash" and not policy.product:
        raise TacitError("a nash gap needs a product policy, and this one is correlated; use gap='cce' or gap='ce'")
    if isinstance(game, CountGame):
        if policy.product:
            return Deviations(kind, *crowd_deviations(game, policy))
        game = game.tabular()
    # the deviator learns nothing from its own independent draw, so for a product policy all three are the same
    swaps = kind == "ce" and not policy.product
    N, H, S = game.agents, game.horizon, game.states
    V = memory.zeros((N, H + 1, S), "the values of the policy")
    best = np.zeros_like(V)
    choices = tuple(np.zeros((H, S, a) if swaps else (H, S), dtype=np.int64) for a in game.actions)
    for h in reversed(range(H)):
        rows = policy.at(h)
        reward = game.step_rewards(h)
        ahead = game.expect(h, np.concatenate([V[:, h + 1], best[:, h + 1]])) if h + 1 < H else None
        for i in range(N):
            stay = reward[i] if ahead is None else reward[i] + ahead[i]
            leave = reward[i] if ahead is None else reward[i] + ahead[N + i]
            if policy.product:
                own = own_payoffs(stay, rows, i)
                V[i, h] = np.einsum("sa,sa->s", own, rows[i])
                gain = own if ahead is None else own_payoffs(leave, rows, i)
            else:
                V[i, h] = np.einsum("sj,sj->s", stay.reshape(S, -1), rows[0].reshape(S, -1))
                gain = (swap_payoffs if swaps else own_payoffs_correlated)(leave, rows[0], i)
            choices[i][h] = gain.argmax(axis=-1)
            top = gain.max(axis=-1)
            best[i, h] = top.sum(axis=-1) if swaps else top
    return Deviations(kind, V, best, choices)


@dataclass(frozen=True)
class BestResponse:
    """One agent's best response to the others' policies.

    Attributes
    ----------
    actions : int array [H, S]
    V : array [H + 1, S]
        Its value from step h on.
    value : float
        Its value from the initial distribution.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("stag-hunt")
    >>> tacit.best_response(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], game.actions), 0).value
    4.0
    """

    actions: IntArray
    V: FloatArray
    value: float


def best_response(game: ExactGame, policy: MarkovPolicy, agent: int) -> BestResponse:
    """Compute one agent's best response; to a correlated policy, one that ignores its own part of the draw.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    agent : int

    Returns
    -------
    BestResponse

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.best_response(game, tacit.MarkovPolicy.uniform(game), 0).actions
    array([[1]])
    """
    check_exact(game)
    i = check.integer("agent", agent, least=0, most=game.agents - 1)
    found = deviations(game, policy, "cce")
    return BestResponse(found.choices[i], found.best[i], float(dot(found.best[i, 0], game.initial)))
