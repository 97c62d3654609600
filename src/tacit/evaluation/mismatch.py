"""The distribution mismatch coefficient D = max_{π,π'} max_{h,s} d_h^{π'}(s)/d_h^π(s). [Mao2022, Sec. 4]

Since both policies are free, D = max_{h,s} (max_π d_h^π(s))/(min_π d_h^π(s)): two dynamic programs over joint actions
for each (h, s). It is infinite where some (h, s) can be reached and can be avoided.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray
from tacit.games.tabular import TabularGame, check_game
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True)
class Mismatch:
    """The mismatch coefficient and what attains it.

    Attributes
    ----------
    D : float
        The coefficient; infinite where a reachable (step, state) can be avoided.
    step, state : int
        Where it is attained.
    most, least : float
        The largest and the smallest probability of being there.
    most_policy, least_policy : MarkovPolicy
        Deterministic policies that attain them.
    """

    D: float
    step: int
    state: int
    most: float
    least: float
    most_policy: MarkovPolicy
    least_policy: MarkovPolicy


def mismatch(game: TabularGame) -> Mismatch:
    """Compute the mismatch coefficient D of a game, exactly.

    >>> import tacit
    >>> round(mismatch(tacit.make("good-state")).D, 9)
    9.0
    """
    check_game(game)
    most, least = _reach(game, np.max), _reach(game, np.min)
    reachable = most > 0
    ratio = np.where(reachable, most, 1.0) / np.where(reachable, least, 1.0) if (least[reachable] > 0).all() else None
    if ratio is None:
        avoidable = reachable & (least <= 0)
        h, s = (int(k) for k in np.argwhere(avoidable)[np.argmax(most[avoidable])])
        D = float("inf")
    else:
        h, s = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
        D = float(ratio[h, s])
    policies = [_policy(game, h, s, choose) for choose in (np.argmax, np.argmin)]
    return Mismatch(D, h, s, float(most[h, s]), float(least[h, s]), policies[0], policies[1])


def _reach(game: TabularGame, best: object) -> FloatArray:
    """Return the best probability of being in s at step h, [H, S]; `best` is np.max or np.min."""
    H, S = game.horizon, game.states
    memory.require(memory.floats(S, S, game.joint_actions), "the table of all states to be reached")
    found = np.zeros((H, S))
    found[0] = game.initial
    same = game.transition_steps == 1
    chance = np.eye(S)  # [target, s]
    for h in range(1, H):
        if same:  # the chance of being there after h steps depends on h alone
            chance = _back(game, 0, chance, best)
        else:
            chance = np.eye(S)
            for g in reversed(range(h)):
                chance = _back(game, g, chance, best)
        found[h] = chance @ game.initial
    return found


def _back(game: TabularGame, h: int, chance: FloatArray, best: object) -> FloatArray:
    ahead = game.expect(h, chance).reshape(len(chance), game.states, -1)
    stepped: FloatArray = best(ahead, axis=2)  # type: ignore[operator]
    return stepped


def _policy(game: TabularGame, step: int, state: int, choose: object) -> MarkovPolicy:
    """Return the deterministic policy that makes being in `state` at `step` most or least likely."""
    choices = np.zeros((game.horizon, game.states), dtype=np.int64)
    chance = np.eye(game.states)[state][None]
    every = np.arange(game.states)
    for h in reversed(range(step)):
        ahead = game.expect(h, chance).reshape(game.states, -1)
        choices[h] = choose(ahead, axis=1)  # type: ignore[operator]
        chance = ahead[every, choices[h]][None]
    return MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
