"""The certificate of a stored policy, computed from its record alone.

The same quantities as the streaming certificate, by another way: step by step from the last to the first, over all
visits of a (step, state) pair at once, in NumPy. It knows nothing of learners, and serves as their check.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.contraction import own_payoffs
from tacit.evaluation.deviations import deviations
from tacit.evaluation.seats import expected, seats, table
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame
from tacit.games.tabular import TabularGame
from tacit.policies.certified import CertifiedPolicy
from tacit.policies.markov import MarkovPolicy
from tacit.policies.sampled import SampledPolicy
from tacit.policies.stages import stage_lengths

_BLOCK = 4096  # visits that are worked on at once, at most
_NUMBERS = 8_000_000  # and numbers that they take in a counting game

Recorded = CertifiedPolicy | SampledPolicy


class History(NamedTuple):
    """What was in force at one (step, state) pair over the episodes: entry j from episode `since[j]` on."""

    since: IntArray  # [J]  ascending, since[0] = 0
    V: FloatArray  # [J, N]
    best: FloatArray  # [J, N]
    q: list[FloatArray]  # for each agent [J, B, A_i]

    def at(self, k: IntArray) -> IntArray:
        """Return the entries in force when the episodes k begin."""
        return np.searchsorted(self.since, k, side="right") - 1


def certified_bound(game: ExactGame, policy: Recorded, kind: str) -> tuple[FloatArray, FloatArray]:
    """Return the exact values [N] of a certified policy, and upper bounds [N] on its cce or ce gaps."""
    policy.check_fits(game)
    if kind not in ("cce", "ce"):
        check.choice("gap", kind, ["nash", "cce", "ce"])
        raise TacitError("a nash gap needs a product policy, and a certified one is correlated; use gap='cce' or 'ce'")
    even = deviations(game, MarkovPolicy.uniform(game), "nash")
    after: list[History] = []
    for h in reversed(range(game.horizon)):
        after = [_history(game, policy, kind, h, s, after, even.V[:, h, s], even.best) for s in range(game.states)]
    episodes = np.array([policy.episodes]) if policy.start == "latest" else np.arange(policy.episodes)
    values, gaps = np.zeros(game.agents), np.zeros(game.agents)
    for s in np.flatnonzero(game.initial):
        held = after[s]
        share = np.bincount(held.at(episodes), minlength=len(held.since)) / len(episodes)
        value = share @ held.V
        values += game.initial[s] * value
        for i in range(game.agents):
            mean = np.tensordot(share, held.q[i], axes=1)  # averaged over the episodes before the maximum
            gaps[i] += game.initial[s] * (mean.max(axis=1).sum() - value[i])
    return values, gaps


def _history(
    game: ExactGame,
    policy: Recorded,
    kind: str,
    h: int,
    s: int,
    after: list[History],
    even_value: FloatArray,
    even_best: FloatArray,
) -> History:
    """Compute what was in force at (h, s), from the same for the next step."""
    k = policy.visits(h, s)
    value, q = np.zeros((len(k), game.agents)), [np.zeros((len(k), _told(kind, a), a)) for a in game.actions]
    block = _BLOCK
    if isinstance(game, CountGame):
        block = max(1, min(_BLOCK, _NUMBERS // (game.agents * game.actions[0] * (game.states + 2))))
    for begin in range(0, len(k), block):
        part = slice(begin, begin + block)
        if isinstance(game, CountGame):
            _add_crowd(game, policy, kind, h, s, k[part], after, value[part], [own[part] for own in q])
            continue
        mu = [policy.distributions(i, k[part], h) for i in range(game.agents)]
        stay, leave = _payoffs(game, h, s, k[part], after)
        for i in range(game.agents):
            value[part, i] = (own_payoffs(stay[i], mu, i) * mu[i]).sum(axis=1)
            gain = own_payoffs(leave[i], mu, i)[:, None, :]
            q[i][part] = mu[i][:, :, None] * gain if kind == "ce" else gain
    since, means = _averages(policy, k, h, s)
    V = np.concatenate([even_value[None], means(value)])
    if isinstance(game, CountGame):
        rows = table(MarkovPolicy.uniform(game).at(0))[s : s + 1]
        gain, told = expected(seats(game, h, [s], rows), even_best[:, h + 1])[0], _told(kind, game.actions[0])
        first = [np.repeat(own[None, None] / told, told, axis=1) for own in gain]
    else:
        first = [_even_q(game, kind, h, s, i, even_best)[None] for i in range(game.agents)]
    averaged = [np.concatenate([first[i], means(q[i])]) for i in range(game.agents)]
    best = np.stack([own.max(axis=2).sum(axis=1) for own in averaged], axis=1)
    return History(since, V, best, averaged)


def _payoffs(
    game: TabularGame, h: int, s: int, k: IntArray, after: list[History]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return r_i + P·V and r_i + P·V† of every joint action, [len(k), A_1, …, A_N] for each agent."""
    shape = (len(k), game.joint_actions)
    ahead = np.zeros((2, game.agents, *shape))
    if after:
        row = ((h if game.transition_steps > 1 else 0) * game.states + s) * game.joint_actions
        first, state, prob = game.successors
        for joint in range(game.joint_actions):
            for entry in range(first[row + joint], first[row + joint + 1]):
                held = after[state[entry]]
                inside = held.at(k)
                ahead[0, :, :, joint] += prob[entry] * held.V[inside].T
                ahead[1, :, :, joint] += prob[entry] * held.best[inside].T
    reward = game.step_rewards(h).reshape(game.agents, game.states, -1)[:, s, None]
    grid = (len(k), *game.actions)
    stay, leave = ([(reward[i] + part[i]).reshape(grid) for i in range(game.agents)] for part in ahead)
    return stay, leave


def _add_crowd(
    game: CountGame,
    policy: Recorded,
    kind: str,
    h: int,
    s: int,
    k: IntArray,
    after: list[History],
    value: FloatArray,
    q: list[FloatArray],
) -> None:
    """Write the values [n, N] and the deviations' values, for each agent [n, B, A], of the visits in episodes k."""
    mu = policy.tables(k, h)  # [n, N, A]
    seat = seats(game, h, np.full(len(k), s), mu)
    stay, leave = seat.reward, seat.reward
    if after:
        inside = [held.at(k) for held in after]
        V = np.stack([held.V[at] for held, at in zip(after, inside, strict=True)], axis=1)  # [n, S, N]
        best = np.stack([held.best[at] for held, at in zip(after, inside, strict=True)], axis=1)
        stay = stay + np.einsum("knat,ktn->kna", seat.next, V)
        leave = leave + np.einsum("knat,ktn->kna", seat.next, best)
    value[:] = (mu * stay).sum(axis=2)
    for i, own in enumerate(q):
        own[:] = mu[:, i, :, None] * leave[:, i, None, :] if kind == "ce" else leave[:, i, None, :]


def _averages(policy: Recorded, k: IntArray, h: int, s: int) -> tuple[IntArray, _Means]:
    """Return from when each average of the visits of (h, s) in episodes k is in force, and how to average."""
    if isinstance(policy, SampledPolicy):
        ends, until = policy.stage_ends(h, s)
        return np.concatenate([[0], until + 1]), _Means(ends, policy.horizon)
    if policy.rule == "rate":
        return np.concatenate([[0], k + 1]), _Means(None, policy.horizon)
    lengths = stage_lengths(policy.horizon, max(len(k), 1))
    ends = np.cumsum(lengths)
    ends = ends[ends <= len(k)]
    return np.concatenate([[0], k[ends - 1] + 1]), _Means(ends, policy.horizon)


class _Means(NamedTuple):
    """Averages over stages that end before the visits `ends`, or with the rate α_t."""

    ends: IntArray | None
    horizon: int

    def __call__(self, x: FloatArray) -> FloatArray:
        if self.ends is not None:
            if not len(self.ends):
                return x[:0]
            starts = np.concatenate([[0], self.ends[:-1]])
            lengths = (self.ends - starts).reshape(-1, *[1] * (x.ndim - 1))
            sums: FloatArray = np.add.reduceat(x[: self.ends[-1]], starts, axis=0) / lengths
            return sums
        mean = np.zeros_like(x)
        for t in range(len(x)):
            alpha = (self.horizon + 1) / (self.horizon + t + 1)
            mean[t] = alpha * x[t] + ((1 - alpha) * mean[t - 1] if t else 0)
        return mean


def _even_q(game: TabularGame, kind: str, h: int, s: int, i: int, best: FloatArray) -> FloatArray:
    """Return the deviations' values [B, A_i] at (h, s) where all play evenly."""
    payoff = game.step_rewards(h)[i] + game.expect(h, best[i, h + 1][None])[0]
    rows = [np.full((1, a), 1 / a) for a in game.actions]
    gain = own_payoffs(payoff[s][None], rows, i)
    told = _told(kind, game.actions[i])
    return np.repeat(gain / told, told, axis=0)


def _told(kind: str, actions: int) -> int:
    return actions if kind == "ce" else 1
