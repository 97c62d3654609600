"""What a Markov policy is worth: V, Q and the occupancy d_h, by recursion over the steps. [Mao2022, eqn:value]"""

from __future__ import annotations

from dataclasses import dataclass

from tacit.core import check, memory
from tacit.core.elementary import dot
from tacit.core.types import FloatArray
from tacit.evaluation.induction import backward, forward, play
from tacit.games.exact import ExactGame
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
    check_policy(policy)
    policy.check_fits(game)
    V = memory.zeros((game.agents, game.horizon + 1, game.states), "the values of the policy")
    for step in backward(game if policy.product else game.tabular(), play(policy)):
        V[:, step.h] = step.V
    return PolicyValues(game, policy, V)


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
    return forward(game if policy.product else game.tabular(), play(policy))
