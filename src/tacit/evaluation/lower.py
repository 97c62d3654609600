"""Lower bounds on the gaps of a certified policy, from its record: what one fixed deviation gains, exactly.

The deviation is each agent's best response to what the others play on average at each step and state. Played against
the certified policy itself, whatever the hidden index is, it gains something that is computed exactly by following the
distribution of (state, index) forwards. Any deviation's gain is a lower bound on the cce gap; and on the ce gap too,
since who may swap what it is told may also ignore it.
"""

from __future__ import annotations

import numpy as np

from tacit.core.elementary import dot
from tacit.core.types import FloatArray
from tacit.evaluation.behaviour import Deviation, behaviour, deviated, distributions, even_play, followed, products
from tacit.evaluation.deviations import deviations
from tacit.evaluation.seats import seats
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy

_BLOCK = 4096  # visits that are worked on at once


def lower_bounds(game: ExactGame, policy: RecordedPolicy, values: FloatArray) -> FloatArray:
    """Return lower bounds [N] on the cce and ce gaps of a certified policy with these values [N].

    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> policy = tacit.learn(game, episodes=500).candidates["average"].policy
    >>> found = tacit.evaluate(game, policy)
    >>> bool((lower_bounds(game, policy, found.values) <= found.gaps + 1e-12).all())
    True
    """
    does = behaviour(game, policy)
    mean = MarkovPolicy(does.joint) if does.joint is not None else MarkovPolicy(list(does.marginals))
    choices = deviations(game, mean, "cce").choices
    gains = np.array([deviation_value(game, policy, (i, choices[i])) for i in range(game.agents)]) - values
    lower: FloatArray = np.maximum(gains, 0.0)
    return lower


def deviation_value(game: ExactGame, policy: RecordedPolicy, deviation: Deviation) -> float:
    """Return what an agent gets that plays fixed actions [H, S] while the others play a certified policy, exactly."""
    total = 0.0
    for place in followed(game, policy, deviation):
        h, s = place.h, place.s
        lost = deviated(even_play(game), deviation, h, s)
        total += float(place.share[0] * _rewards(game, h, s, lost, deviation[0])[0])
        for begin in range(0, len(place.k), _BLOCK):
            part = slice(begin, begin + _BLOCK)
            mu = deviated(distributions(policy.record, place.k[part], h), deviation, h, s)
            total += float(dot(place.weight[part], _rewards(game, h, s, mu, deviation[0])))
    return total


def _rewards(game: ExactGame, h: int, s: int, mu: list[FloatArray], agent: int) -> FloatArray:
    """Return agent i's expected rewards [n] under independent distributions [n, A_i]."""
    if isinstance(game, CountGame):
        table = np.stack(mu, axis=1)
        reward = seats(game, h, np.full(len(table), s), table).reward[:, agent]
        own: FloatArray = (reward * mu[agent]).sum(axis=1)
        return own
    joint: FloatArray = dot(products(mu), game.step_rewards(h)[agent][s].ravel())
    return joint
