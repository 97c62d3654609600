"""What a person's choices are worth against a policy, exactly: the oracle of a game that a person plays.

Against a Markov policy of the others a player faces an MDP, so the best response, its value V† and the value Q† of each
action followed by the best response are known exactly. The regret of an action is V† − Q† there: what it costs on
average, whatever comes of it. Regrets of an episode add up to what better choices would have earned on average; the
rest is luck. A player who is told its part of a correlated policy is compared with two: the best response that ignores
what it is told, whose lead over the policy is the cce gap, and the one that sees it, whose lead is the ce gap. Against
a certified policy, which depends on more than step and state, the certificate bounds what any strategy gets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.evaluation import evaluate
from tacit.evaluation.values import steps
from tacit.games.exact import ExactGame
from tacit.policies import MarkovPolicy, RecordedPolicy

#: Numbers that a table of Q† may have.
_MOST = 20_000_000


@dataclass(frozen=True)
class Signal:
    """What actions are worth to a player who is told its part of a correlated policy.

    Attributes
    ----------
    best : float
        What the best response that sees the signal gets on average.
    ignoring, seeing : arrays [H, S, A, A]
        What each action is worth, told each, if the best response that ignores or sees the signal follows.
    """

    best: float
    ignoring: FloatArray
    seeing: FloatArray

    def regret(self, h: int, s: int, told: int, a: int) -> float:
        """Return what action a costs on average, against the best response that sees the signal."""
        return max(0.0, float(self.seeing[h, s, told].max() - self.seeing[h, s, told, a]))

    def choice(self, h: int, s: int, told: int) -> int:
        """Return the action of the best response that sees the signal."""
        return int(self.seeing[h, s, told].argmax())


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
    signal : Signal or None
        Where the player is told its part of a correlated policy.
    """

    value: float | None
    best: float | None
    exact: bool
    q: FloatArray | None = None
    signal: Signal | None = None

    def regret(self, h: int, s: int, a: int, told: int | None = None) -> float | None:
        """Return what action a costs at (h, s) on average; where the player was told, it may gain: less than 0."""
        if self.q is None:
            return None
        if self.signal is not None and told is not None:
            worth = self.signal.ignoring[h, s, told]
            return float(worth[self.q[h, s].argmax()] - worth[a])
        return max(0.0, float(self.q[h, s].max() - self.q[h, s, a]))

    def choice(self, h: int, s: int) -> int | None:
        """Return the best response's action at (h, s)."""
        return None if self.q is None else int(self.q[h, s].argmax())


def judge(game: ExactGame, policy: Any, agent: int, *, blind: bool = False) -> Judge:
    """Ask the oracle about the place of one agent in a policy, which is told its part of a correlated one unless blind.

    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = judge(game, MarkovPolicy.uniform(game), 0)
    >>> found.best - found.value, found.regret(0, 0, 0) > 0, found.choice(0, 0)
    (0.75, True, 1)
    """
    if isinstance(policy, MarkovPolicy):
        q, told, value, best = _worth(game, policy, agent, "cce")
        signal = None
        if not blind and not policy.product:
            _, seeing, _, with_signal = _worth(game, policy, agent, "ce")
            signal = Signal(with_signal, told, seeing)
        return Judge(value, best, True, q, signal)
    if isinstance(policy, RecordedPolicy):
        bound = evaluate(game, policy, gap="cce")
        value = float(bound.values[agent])
        return Judge(value, value + float(bound.gaps[agent]), False)
    if not hasattr(policy, "part"):
        raise TacitError(f"policy is {brief(policy)}; it has no parts that could be played")
    return Judge(None, None, False)


def _worth(game: ExactGame, policy: MarkovPolicy, agent: int, kind: str) -> tuple[FloatArray, FloatArray, float, float]:
    """Return Q† [H, S, A] of one agent, the same told each action [H, S, A, A], its value and that of deviating.

    Told b and playing a it is E[r + V†(s') | b, a]; 0 where b is never told. A product policy tells nothing.
    """
    H, S, A = game.horizon, game.states, game.actions[agent]
    shape = (H, S, A) if policy.product else (H, S, A, A)
    if np.prod(shape, dtype=float) > _MOST:
        raise TacitError(f"the game has {H:,} steps × {S:,} states, too many to be played here")
    q = memory.zeros((H, S, A), "what the player's actions are worth")
    told = memory.zeros((0,) if policy.product else shape, "what the player's actions are worth")
    chance = policy.marginal(agent)
    for step in steps(game, policy, kind):
        if policy.product:
            q[step.h] = step.gains[agent, :, :A]
            continue
        together = step.gains[agent, :, :A, :A]
        q[step.h] = together.sum(axis=1)
        own = chance[step.h if policy.steps > 1 else 0][:, :, None]
        np.divide(together, own, out=told[step.h], where=own > 0)
    return q, told, float(dot(step.V[agent], game.initial)), float(dot(step.best[agent], game.initial))
