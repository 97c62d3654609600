"""What a person's choices are worth against a policy, exactly: the oracle of a game that a person plays.

Against a Markov policy of the others a player faces an MDP, so the best response, its value V† and the value Q† of each
action followed by the best response are known exactly. The regret of an action is V† − Q† there: what it costs on
average, whatever comes of it. Regrets of an episode add up to what better choices would have earned on average; the
rest is luck. Against a certified policy, which depends on more than step and state, the certificate bounds what any
strategy gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.evaluation import deviations, evaluate
from tacit.evaluation.contraction import own_payoffs, own_payoffs_correlated
from tacit.evaluation.crowd import crowd_gains
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame
from tacit.games.tabular import TabularGame
from tacit.policies import CertifiedPolicy, MarkovPolicy, SampledPolicy

#: Numbers that a table of Q† may have.
_MOST = 20_000_000


@dataclass(frozen=True)
class Judge:
    """What is known of a player's prospects.

    Attributes
    ----------
    value : float or None
        What the policy's own part gets in the player's place, on average.
    best : float or None
        What the best response gets on average: exactly, or at most.
    exact : bool
        Whether `best` is exact.
    q : array [H, S, A] or None
        Q†: what each action is worth if the best response follows; known where `best` is exact.
    """

    value: float | None
    best: float | None
    exact: bool
    q: FloatArray | None = None

    def regret(self, h: int, s: int, a: int) -> float | None:
        """Return what action a costs at (h, s) on average."""
        if self.q is None:
            return None
        return max(0.0, float(self.q[h, s].max() - self.q[h, s, a]))

    def choice(self, h: int, s: int) -> int | None:
        """Return the best response's action at (h, s)."""
        return None if self.q is None else int(self.q[h, s].argmax())


def judge(game: ExactGame, policy: Any, agent: int) -> Judge:
    """Ask the oracle about the place of one agent in a policy.

    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = judge(game, MarkovPolicy.uniform(game), 0)
    >>> found.best - found.value, found.regret(0, 0, 0) > 0, found.choice(0, 0)
    (0.75, True, 1)
    """
    if isinstance(policy, MarkovPolicy):
        found = deviations(game, policy, "cce")
        q = _q(game, policy, found.best, agent)
        value, best = (float(table[agent, 0] @ game.initial) for table in (found.V, found.best))
        return Judge(value, best, True, q)
    if isinstance(policy, CertifiedPolicy | SampledPolicy):
        bound = evaluate(game, policy, gap="cce")
        value = float(bound.values[agent])
        return Judge(value, value + float(bound.gaps[agent]), False)
    if not hasattr(policy, "part"):
        raise TacitError(f"policy is {brief(policy)}; it has no parts that could be played")
    return Judge(None, None, False)


def _q(game: ExactGame, policy: MarkovPolicy, best: FloatArray, agent: int) -> FloatArray | None:
    """Return Q† [H, S, A] of one agent against a Markov policy of the others."""
    shape = (game.horizon, game.states, game.actions[agent])
    if np.prod(shape, dtype=float) > _MOST:
        raise TacitError(f"the game has {shape[0]:,} steps × {shape[1]:,} states, too many to be played here")
    q = memory.zeros(shape, "what the player's actions are worth")
    if isinstance(game, CountGame) and policy.product:
        for h, gains in enumerate(crowd_gains(game, policy, best)):
            q[h] = gains[:, agent]
        return q
    tables = game.tabular() if isinstance(game, CountGame) else game
    assert isinstance(tables, TabularGame)
    for h in range(game.horizon):
        payoff = tables.step_rewards(h)[agent] + tables.expect(h, best[agent, h + 1][None])[0]
        rows = policy.at(h)
        q[h] = own_payoffs(payoff, rows, agent) if policy.product else own_payoffs_correlated(payoff, rows[0], agent)
    return q
