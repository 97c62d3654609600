"""Equilibria of large games by optimistic learning and value iteration, with full information.

From the last step to the first, at each state, all agents play T rounds of the stage game whose payoffs are rewards
plus the values of what follows. Each follows optimistic Hedge with the exact expected payoff of every action against
what the others play, x_t ∝ exp(η·(Σ_{s<t} u_s + u_{t−1})) [Syrgkanis, Agarwal, Luo, Schapire, "Fast convergence of
regularized learning in games", 2015]; for ce, one copy of it for each action that could be told, and the stationary
distribution of their advice [Blum, Mansour, "From external to internal regret", 2007]. The rounds, drawn evenly, are
the policy at (h, s), and its values are theirs, as in value iteration. No joint action is ever listed, so the cost is
that of T expected payoffs for each (h, s).

The result is a `RecordedPolicy`: its record holds the rounds of the last step as the first episodes, those of the step
before as the next, and so on. Played, and evaluated, it draws one of the T rounds of each (h, s) it comes to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.elementary import exp_each, log
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray
from tacit.games.exact import ExactGame
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy
from tacit.policies.visits import columns


class Learned(NamedTuple):
    """What the rounds led to."""

    policy: RecordedPolicy
    V: FloatArray  # [N, H + 1, S]
    marginals: MarkovPolicy  # what each agent plays on average, independently: a candidate for nash
    last: MarkovPolicy  # the last rounds


def learned(
    game: ExactGame, concept: str, *, rounds: int = 200, told: Callable[[int, int], None] | None = None
) -> Learned:
    """Learn a cce or a ce; `told` is called with the steps that are done and their number."""
    N, H, S, width = game.agents, game.horizon, game.states, sum(game.actions) - game.agents
    memory.require(2 * memory.floats(H * S * rounds, max(width, 1)), f"{rounds} rounds at each step and state")
    stored = np.zeros((H, S, rounds, width), dtype=np.float32)
    V = memory.zeros((N, H + 1, S), "the values of the equilibrium")
    average = [np.zeros((H, S, a)) for a in game.actions]
    last = [np.zeros((H, S, a)) for a in game.actions]
    places = columns(game.actions)
    for h in reversed(range(H)):
        payoff = game.stage(h, V[:, h + 1] if h + 1 < H else None)
        play = _Hedge(game, concept)
        for t in range(rounds):
            mu = play.rows()
            for i, own in enumerate(mu):
                stored[h, :, t, places[i]] = own[:, :-1]
                average[i][h] += own / rounds
            found = payoff(mu)  # [N, S, A]
            u = [found[i, :, :a] for i, a in enumerate(game.actions)]
            for i, own in enumerate(mu):
                V[i, h] += (own * u[i]).sum(axis=1) / rounds
            play.learn(u)
        for i, own in enumerate(play.rows()):
            last[i][h] = own
        if told is not None:
            told(H - h, H)
    return Learned(
        _recorded(game, stored),
        V,
        MarkovPolicy([Owned(_whole(own)) for own in average]),
        MarkovPolicy([Owned(_whole(own)) for own in last]),
    )


class _Hedge:
    """Optimistic Hedge of all agents at all states; for ce a copy for each action that could be told."""

    def __init__(self, game: ExactGame, concept: str) -> None:
        self._swap = concept == "ce"
        shapes = [(game.states, a, a) if self._swap else (game.states, a) for a in game.actions]
        self._sum = [np.zeros(shape) for shape in shapes]  # of payoffs
        self._recent = [np.zeros(shape) for shape in shapes]
        self._moved = [np.zeros(shape[:-1]) for shape in shapes]  # Σ of squared changes, which sets the step
        self._rows = [np.full((game.states, a), 1 / a) for a in game.actions]
        # identical agents that start alike would move in step for ever: a little of each one's own breaks the tie
        rng = np.random.default_rng(0)
        self._first = [1e-3 * rng.random(shape) for shape in shapes]

    def rows(self) -> list[FloatArray]:
        """Return what everybody plays, [S, A_i]."""
        return self._rows

    def learn(self, u: list[FloatArray]) -> None:
        """Take the payoffs of a round, and move."""
        for i, payoff in enumerate(u):
            seen = payoff[:, None, :] * self._rows[i][:, :, None] if self._swap else payoff
            seen = seen - seen.max(axis=-1, keepdims=True)  # a constant does not matter to Hedge
            self._moved[i] += np.abs(seen - self._recent[i]).max(axis=-1) ** 2
            self._sum[i] += seen
            self._recent[i] = seen
            eta = (float(log(payoff.shape[-1])) / np.maximum(self._moved[i], 1e-300)) ** 0.5
            score = eta[..., None] * (self._sum[i] + seen) + self._first[i]
            weight = exp_each(score - score.max(axis=-1, keepdims=True))
            weight /= weight.sum(axis=-1, keepdims=True)
            self._rows[i] = _stationary(weight) if self._swap else weight


def _stationary(advice: FloatArray) -> FloatArray:
    """Return p with p = p·advice for advice [S, A, A], whose rows are distributions."""
    S, A, _ = advice.shape
    left = np.swapaxes(advice, 1, 2) - np.eye(A)
    left[:, -1, :] = 1.0  # the equations are dependent: one gives way to Σ p = 1
    right = np.zeros((S, A, 1))
    right[:, -1] = 1.0
    return _whole(np.asarray(np.linalg.solve(left, right)[..., 0], dtype=np.float64))


def _whole(rows: FloatArray) -> FloatArray:
    rows = np.maximum(rows, 0.0)
    total: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return total


def _recorded(game: ExactGame, stored: np.ndarray) -> RecordedPolicy:
    """Write the rounds [H, S, T, width] as the record of a run whose last step came first."""
    H, S, T, width = stored.shape
    h, s, t = np.meshgrid(np.arange(H), np.arange(S), np.arange(T), indexing="ij")
    episode = (H - 1 - h) * S * T + s * T + t
    policy = RecordedPolicy.of_stages(
        (h * S + s).ravel(),
        np.zeros(H * S * T, dtype=np.int64),
        episode.ravel(),
        ((H - 1 - h) * S * T + (s + 1) * T - 1).ravel(),
        Owned(stored.reshape(-1, width)),
        actions=game.actions,
        states=S,
        horizon=H,
        episodes=H * S * T,
        start="latest",
    )
    policy.game = game
    return policy
