"""What a Markov policy is worth, and the best that one agent can do by leaving it while the others stay.

V, Q and the occupancy d_h come by recursion over the steps. [Mao2022, eqn:value] Of deviations there are three kinds.
[Mao2022, def:CCE and after]

- nash: the others play a product policy; the deviator faces an MDP.
- cce: the others play their marginal of a correlated policy; the deviator ignores its own part, again an MDP.
- ce: the deviator hears its own part b of the joint draw and plays ψ(b); the best swap is chosen for each
  (h, s, b) alone, because what it heard says nothing about later draws.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.induction import Step, backward, choose, forward, prepare
from tacit.games.exact import ExactGame, check_exact
from tacit.policies.base import Policy
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True)
class PolicyValues:
    """Values of a policy in a game.

    Attributes
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    V : array [N, H + 1, S]
        Expected reward from step h on; at the end zero, or in a discounted game, which has one step, the same again.

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import policy_values
    >>> game = tacit.make("stag-hunt", horizon=2)
    >>> policy_values(game, tacit.MarkovPolicy.deterministic([[[0]], [[0]]], game.actions)).V[0].tolist()
    [[8.0], [4.0], [0.0]]
    """

    game: ExactGame
    policy: MarkovPolicy
    V: FloatArray

    @property
    def initial(self) -> FloatArray:
        """Value of each agent from the initial distribution, [N]."""
        start: FloatArray = dot(self.V[:, 0], self.game.initial)
        return start

    def Q(self, agent: int, h: int) -> FloatArray:
        """Return agent i's value of each joint action at step h, [S, A_1, …, A_N]."""
        i = check.integer("agent", agent, least=0, most=self.game.agents - 1)
        h = check.integer("h", h, least=0, most=self.game.horizon - 1)
        q: FloatArray = self.game.tabular().joint_payoffs(h, self.V[[i], h + 1], agents=[i])[0]
        return q


def policy_values(game: ExactGame, policy: MarkovPolicy) -> PolicyValues:
    """Compute the values of a policy by backward induction.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy

    Returns
    -------
    PolicyValues

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import policy_values
    >>> game = tacit.make("matching-pennies")
    >>> policy_values(game, tacit.MarkovPolicy.uniform(game)).initial
    array([0., 0.])
    """
    backwards = backward(*prepare(game, policy))
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the policy")
    for step in backwards:
        V[:, step.h] = step.V
    return PolicyValues(game, policy, follow_on(game, V))


def follow_on(game: ExactGame, V: FloatArray) -> FloatArray:
    """Write into values [N, H + 1, S] what follows the last step, which is nothing but in a discounted game."""
    if game.discount is not None:
        V[:, 1] = V[:, 0]
    return V


def occupancy(game: ExactGame, policy: MarkovPolicy) -> FloatArray:
    """Return the probability d_h(s) of being in s at step h, [H, S].

    In a discounted game it is [1, S], the expected number of visits Σ_t γ^t·P(s_t = s): they add up to 1/(1 − γ).

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy

    Returns
    -------
    array [H, S]

    Examples
    --------
    >>> import tacit
    >>> from tacit.evaluation import occupancy
    >>> game = tacit.make("good-state", horizon=2)
    >>> occupancy(game, tacit.MarkovPolicy.uniform(game)).round(2).tolist()
    [[1.0, 0.0], [0.3, 0.7]]
    """
    return forward(*prepare(game, policy))


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
    backwards = steps(game, policy, kind)
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the policy")
    best = np.zeros_like(V)
    found = []
    for step in backwards:
        V[:, step.h], best[:, step.h] = step.V, step.best
        found.append(choose(step.rows, step.gains, kind))
    choices = np.stack(found[::-1], axis=1)  # [N, H, S], or [N, H, S, A]
    told = choices.ndim == 4
    return Deviations(
        kind,
        follow_on(game, V),
        follow_on(game, best),
        tuple(own[..., :a] if told else own for own, a in zip(choices, game.actions, strict=True)),
    )


def steps(game: ExactGame, policy: MarkovPolicy, kind: str) -> Iterator[Step]:
    """Yield the steps of the backward pass over a policy and each agent's best deviation of a kind."""
    prepared = prepare(game, policy)
    check_kind(policy, kind)
    return backward(*prepared, kind)


def check_kind(policy: Policy, kind: str) -> None:
    """Raise unless a policy has a gap of this kind."""
    check.choice("gap", kind, KINDS)
    if kind == "nash" and not policy.product:
        raise TacitError("a nash gap needs a product policy, and this one is correlated; use gap='cce' or gap='ce'")


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
