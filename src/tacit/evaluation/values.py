"""What a Markov policy is worth: V, Q and the occupancy d_h, by recursion over the steps. [Mao2022, eqn:value]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.types import FloatArray
from tacit.evaluation.contraction import own_payoffs
from tacit.evaluation.crowd import crowd_values
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame, with_tables
from tacit.policies.markov import MarkovPolicy, check_policy


@dataclass(frozen=True)
class PolicyValues:
    """Values of a policy in a game.

    Attributes
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    V : array [N, H + 1, S]
        Expected reward from step h on; zero at the end.

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
        game = with_tables(self.game)
        q: FloatArray = game.step_rewards(h)[i] + game.expect(h, self.V[i, h + 1][None])[0]
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
    check_policy(policy)
    policy.check_fits(game)
    if isinstance(game, CountGame):
        if policy.product:
            return PolicyValues(game, policy, crowd_values(game, policy)[0])
        game = game.tabular()
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the policy")
    for h in reversed(range(game.horizon)):
        V[:, h] = expected(game.step_rewards(h) + game.expect(h, V[:, h + 1]), policy, h)
    return PolicyValues(game, policy, V)


def expected(payoffs: FloatArray, policy: MarkovPolicy, h: int) -> FloatArray:
    """Return E_{a ~ π_h}[payoff_i] for each agent, [N, S], of payoffs [N, S, A_1, …, A_N]."""
    rows = policy.at(h)
    if policy.product:
        last = len(rows) - 1
        return np.stack([np.einsum("sa,sa->s", own_payoffs(q, rows, last), rows[last]) for q in payoffs])
    joint = rows[0].reshape(len(rows[0]), -1)
    flat = payoffs.reshape(*payoffs.shape[:2], -1)
    mean: FloatArray = np.einsum("nsj,sj->ns", flat, joint)
    return mean


def occupancy(game: ExactGame, policy: MarkovPolicy) -> FloatArray:
    """Return the probability d_h(s) of being in s at step h, [H, S].

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
    check_policy(policy)
    policy.check_fits(game)
    if isinstance(game, CountGame):
        if policy.product:
            return crowd_values(game, policy)[2]
        game = game.tabular()
    d = memory.zeros((game.horizon, game.states), "the occupancy of the policy")
    d[0] = game.initial
    for h in range(game.horizon - 1):
        weights = d[h][:, None] * policy.joint(h).reshape(game.states, -1)
        d[h + 1] = game.push(h, weights.ravel())
    return d
