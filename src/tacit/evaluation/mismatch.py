"""The distribution mismatch coefficient D = max_{π,π'} max_{h,s} d_h^{π'}(s)/d_h^π(s). [Mao2022, Sec. 4]

Since both policies are free, D = max_{h,s} (max_π d_h^π(s))/(min_π d_h^π(s)): two dynamic programs over joint actions
for each (h, s). It is infinite where some (h, s) can be reached and can be avoided.

With `exploration` both policies are ε̃-greedy, π_i = (1 − ε̃)·θ_i + ε̃/A_i. The chance of being in s is affine in each
agent's θ at each (h, s), so deterministic θ attain the extremes, and each action of the dynamic programs is what comes
of it when every agent explores with ε̃. Every state that can be reached is then reached: D is finite.

In a discounted game d(s) is the expected number of visits of s, of which stationary policies attain the extremes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check, memory
from tacit.core.types import FloatArray
from tacit.evaluation.induction import iterate
from tacit.games.exact import with_tables
from tacit.games.tabular import TabularGame
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
        Policies that attain them: deterministic ones, mixed with the exploration.
    exploration : float
        ε̃ of the policies that count.
    deviating : float
        The same ratio where in the numerator one agent at a time need not explore. Gradient domination at an ε̃-greedy
        policy compares it with its best deviations, so this is what takes the place of D there; without exploration it
        is D. [Mao2022, lemma:gradient_domination]

    Examples
    --------
    >>> import tacit
    >>> found = tacit.mismatch(tacit.make("good-state"))
    >>> round(found.most, 3), round(found.least, 3)
    (0.9, 0.1)
    """

    D: float
    step: int
    state: int
    most: float
    least: float
    most_policy: MarkovPolicy
    least_policy: MarkovPolicy
    exploration: float
    deviating: float


def mismatch(game: TabularGame, *, exploration: float = 0.0) -> Mismatch:
    """Compute the mismatch coefficient D of a game, exactly.

    Parameters
    ----------
    game : TabularGame
    exploration : float
        ε̃: only policies that play every action of an agent with probability ε̃/A_i or more count.

    Returns
    -------
    Mismatch

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("good-state")
    >>> round(tacit.mismatch(game).D, 9), round(tacit.mismatch(game, exploration=0.1).D, 3)
    (9.0, 8.059)
    """
    game = with_tables(game)
    explore = check.real("exploration", exploration, least=0, most=1)
    everybody = [explore] * game.agents
    most, least = _reach(game, np.max, everybody), _reach(game, np.min, everybody)
    ratio = _ratio(most, least)
    if np.isinf(ratio.max()):  # of the places that can be avoided, the one that is reached most surely
        h, s = (int(k) for k in np.unravel_index(int(np.where(np.isinf(ratio), most, -1.0).argmax()), ratio.shape))
    else:
        h, s = (int(k) for k in np.unravel_index(int(ratio.argmax()), ratio.shape))
    deviating = ratio.max()
    for i in range(game.agents if explore > 0 else 0):
        alone = [0.0 if j == i else explore for j in range(game.agents)]
        deviating = max(deviating, _ratio(_reach(game, np.max, alone), least).max())
    return Mismatch(
        D=float(ratio[h, s]),
        step=h,
        state=s,
        most=float(most[h, s]),
        least=float(least[h, s]),
        most_policy=_policy(game, h, s, np.argmax, explore),
        least_policy=_policy(game, h, s, np.argmin, explore),
        exploration=explore,
        deviating=float(deviating),
    )


def _ratio(most: FloatArray, least: FloatArray) -> FloatArray:
    """Return most/least, infinite where only the least is 0; places that nobody reaches count as 1."""
    ratio: FloatArray = np.divide(most, least, out=np.where(most > 0, np.inf, 1.0), where=least > 0)
    return ratio


def _reach(game: TabularGame, best: Callable[..., Any], explore: Sequence[float]) -> FloatArray:
    """Return the best probability of being in s at step h, [H, S]; `best` is np.max or np.min."""
    H, S = game.horizon, game.states
    memory.require(memory.floats(2, S, S, game.joint_actions), "the table of all states to be reached")
    found = np.zeros((H, S))
    if game.discount is not None:
        return np.atleast_2d(_visits(game, np.eye(S), best, explore) @ game.initial)
    found[0] = game.initial
    same = game.transition_steps == 1
    chance = np.eye(S)  # [target, s]
    for h in range(1, H):
        if same:  # the chance of being there after h steps depends on h alone
            chance = best(_ahead(game, 0, chance, explore), axis=2)
        else:
            chance = np.eye(S)
            for g in reversed(range(h)):
                chance = best(_ahead(game, g, chance, explore), axis=2)
        found[h] = chance @ game.initial
    return found


def _visits(game: TabularGame, targets: FloatArray, best: Callable[..., Any], explore: Sequence[float]) -> FloatArray:
    """Return the best expected number of visits, discounted, from each state to each of the `targets` [T, S]."""
    return iterate(
        lambda visits: targets + best(_ahead(game, 0, visits, explore), axis=2), targets, 1e-13 / game.effective_horizon
    )


def _ahead(game: TabularGame, h: int, chance: FloatArray, explore: Sequence[float]) -> FloatArray:
    """Return the chances after each joint choice at step h, [targets, S, J], when agents explore with `explore`."""
    ahead = game.expect(h, chance)
    for i, share in enumerate(explore):
        if share > 0:
            ahead = (1 - share) * ahead + share * ahead.mean(axis=2 + i, keepdims=True)
    return ahead.reshape(len(chance), game.states, -1)


def _policy(game: TabularGame, step: int, state: int, choose: Callable[..., Any], explore: float) -> MarkovPolicy:
    """Return the policy that makes being in `state` at `step` most or least likely."""
    choices = np.zeros((game.horizon, game.states), dtype=np.int64)
    chance = np.eye(game.states)[state][None]
    every = np.arange(game.states)
    if game.discount is not None:
        best = np.max if choose is np.argmax else np.min
        chance = _visits(game, chance, best, [explore] * game.agents)
        choices[0] = choose(_ahead(game, 0, chance, [explore] * game.agents)[0], axis=1)
    for h in reversed(range(step)):
        ahead = _ahead(game, h, chance, [explore] * game.agents)[0]
        choices[h] = choose(ahead, axis=1)
        chance = ahead[every, choices[h]][None]
    greedy = MarkovPolicy.deterministic(np.unravel_index(choices, game.actions), game.actions)
    if explore == 0:
        return greedy
    return MarkovPolicy([(1 - explore) * own + explore / own.shape[2] for own in greedy.probs])
