"""Approximate equilibria of large games, by sweeps of predictive regret matching⁺ with full information.

A sweep is one backward pass over what all agents play, at every (h, s). It gives each agent the advantage
D(a) = Q(a) − V of every own action, after which the agent moves:

    R ← max(R + D, 0),    π ∝ max(R + D, 0), where the second D foretells the next one

[Farina, Kroer, Sandholm, "Faster game solving via predictive Blackwell approachability", 2021]. For ce there is one
such learner for each recommended action, and all play the stationary distribution of their advice [Blum,
Mansour, "From external to internal regret", 2007].

The sweeps yield Markov policies whose gaps are exact: what is played last, its average over the sweeps (the t-th weighs
about t²), and where the joint actions are few, the average of joint play, which for cce and ce needs no convergence at
the last step. No joint action is listed otherwise, so a sweep costs what the evaluation of a policy does.
"""

from __future__ import annotations

import numpy as np

from tacit.core import memory
from tacit.core.types import FloatArray
from tacit.evaluation.values import Step, backward
from tacit.games.exact import ExactGame, joint_draw
from tacit.policies.markov import MarkovPolicy

#: Numbers of the table of joint play up to which it is kept: 160 MB.
JOINT_NUMBERS = 20_000_000

#: How much of the advice for ce is uniform, so that it has one stationary distribution.
_UNIFORM = 1e-7


class Sweeps:
    """All agents' policies and regrets; `advance` is one sweep.

    >>> import tacit
    >>> from tacit.evaluation import evaluate
    >>> game = tacit.make("rock-paper-scissors")
    >>> sweeps = Sweeps(game, "nash")
    >>> for _ in range(10):
    ...     sweeps.advance()
    >>> evaluate(game, sweeps.policies()["average"]).gap
    0.0
    """

    def __init__(self, game: ExactGame, concept: str) -> None:
        N, H, S, A = game.agents, game.horizon, game.states, max(game.actions)
        self.done = 0
        self._game, self._swap = game, concept == "ce"
        self._has = np.arange(A) < np.array(game.actions)[:, None, None]  # [N, 1, A]  actions there are
        self._even = self._has / self._has.sum(axis=-1, keepdims=True)
        swaps = (A,) if self._swap else ()
        memory.require(memory.floats(H, N, S, A, 2 + 2 * (A if self._swap else 1)), "the regrets of all agents")
        self._play = np.broadcast_to(self._even, (H, N, S, A)).copy()
        self._average = self._play.copy()
        self._regret = np.zeros((H, N, S, *swaps, A))
        self._advice = np.broadcast_to(self._even[:, :, None, :], (H, N, S, A, A)).copy() if self._swap else None
        joint = concept != "nash" and 0 < H * S * game.joint_rows <= JOINT_NUMBERS
        self._joint = np.full((H, S, game.joint_actions), 1 / game.joint_actions) if joint else None

    def advance(self) -> None:
        """Sweep backwards over all steps: evaluate the policies and let every agent move."""
        self.done += 1
        weight = 3 / (self.done + 2)
        for step in backward(self._game, self._rows):
            self._average[step.h] += weight * (self._play[step.h] - self._average[step.h])
            if self._joint is not None:
                self._joint[step.h] += weight * (joint_draw(self._rows(step.h)) - self._joint[step.h])
            self._move(step)

    def policies(self) -> dict[str, MarkovPolicy]:
        """Return what the sweeps led to so far, by name."""
        policies = {"last": self._policy(self._play), "average": self._policy(self._average)}
        if self._joint is not None:
            policies["joint average"] = MarkovPolicy(self._joint.reshape(*self._joint.shape[:2], *self._game.actions))
        return policies

    def _rows(self, h: int) -> list[FloatArray]:
        return [self._play[h, i, :, :a] for i, a in enumerate(self._game.actions)]

    def _policy(self, play: FloatArray) -> MarkovPolicy:
        return MarkovPolicy([play[:, i, :, :a] for i, a in enumerate(self._game.actions)])

    def _move(self, step: Step) -> None:
        """Move all agents at one step."""
        h, payoffs = step.h, step.payoffs
        if self._advice is None:
            self._play[h] = self._match(h, payoffs - step.V[..., None], self._even)
            return
        followed = np.einsum("nsba,nsa->nsb", self._advice[h], payoffs)
        advantage = self._play[h][..., None] * (payoffs[..., None, :] - followed[..., None])
        self._advice[h] = self._match(h, advantage, self._even[:, :, None, :])
        self._play[h] = _stationary((1 - _UNIFORM) * self._advice[h] + _UNIFORM * self._even[:, :, None, :]) * self._has
        self._play[h] /= self._play[h].sum(axis=-1, keepdims=True)

    def _match(self, h: int, advantage: FloatArray, even: FloatArray) -> FloatArray:
        """Add advantages to the regrets, and return play in proportion to what they will be if these come again."""
        if not self._has.all():
            advantage = np.where(even > 0, advantage, 0.0)
        regret = self._regret[h]
        regret += advantage
        np.maximum(regret, 0.0, out=regret)
        predicted = np.maximum(regret + advantage, 0.0)
        total = predicted.sum(axis=-1, keepdims=True)
        positive = total > 0
        if positive.all():  # as in most sweeps of most games
            matched: FloatArray = predicted / total
        else:
            matched = np.where(positive, predicted / np.where(positive, total, 1.0), even)
        return matched


def _stationary(advice: FloatArray) -> FloatArray:
    """Return p with p = p·advice for advice [..., A, A], whose rows are distributions."""
    A = advice.shape[-1]
    left = np.swapaxes(advice, -1, -2) - np.eye(A)
    left[..., -1, :] = 1.0  # the equations are dependent: one gives way to Σ p = 1
    right = np.zeros((*advice.shape[:-1], 1))
    right[..., -1, :] = 1.0
    p: FloatArray = np.maximum(np.linalg.solve(left, right)[..., 0], 0.0)
    return p
