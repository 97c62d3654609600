"""The certificate of a stored policy, computed from its record alone.

The same quantities as the streaming certificate, by another way: step by step from the last to the first, over all
visits of a (step, state) pair at once, in NumPy. It knows nothing of learners, and serves as their check.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.contraction import own_payoffs
from tacit.evaluation.deviations import deviations
from tacit.evaluation.seats import expected, seats, table
from tacit.evaluation.seats import seconds_to_certify as certifying
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy
from tacit.policies.visits import Visits

_BLOCK = 4096  # visits that are worked on at once, at most
_NUMBERS = 8_000_000  # and numbers that they take


class History(NamedTuple):
    """What was in force at one (step, state) pair over the episodes: entry j from episode `since[j]` on."""

    since: IntArray  # [J]  ascending, since[0] = 0
    V: FloatArray  # [J, N]
    best: FloatArray  # [J, N]
    q: list[FloatArray]  # for each agent [J, B, A_i]
    told: list[FloatArray]  # for each agent [J, A_i], how often it is told each action; empty unless it is asked for

    def at(self, k: IntArray) -> IntArray:
        """Return the entries in force when the episodes k begin."""
        return np.searchsorted(self.since, k, side="right") - 1


def certified_bound(game: ExactGame, policy: RecordedPolicy, kind: str) -> tuple[FloatArray, FloatArray]:
    """Return the exact values [N] of a recorded policy, and upper bounds [N] on its cce or ce gaps."""
    policy.check_fits(game)
    if kind not in ("cce", "ce"):
        check.choice("gap", kind, ["nash", "cce", "ce"])
        raise TacitError("a nash gap needs a product policy, and a recorded one is correlated; use gap='cce' or 'ce'")
    after = histories(game, policy.record, kind)[0]
    episodes = np.array([policy.episodes]) if policy.start == "latest" else np.arange(policy.episodes)
    values, gaps = np.zeros(game.agents), np.zeros(game.agents)
    for s in np.flatnonzero(game.initial):
        held = after[s]
        share = np.bincount(held.at(episodes), minlength=len(held.since)) / len(episodes)
        value = dot(share, held.V)
        values += game.initial[s] * value
        for i in range(game.agents):
            mean = dot(share, held.q[i])  # averaged over the episodes before the maximum
            gaps[i] += game.initial[s] * (mean.max(axis=1).sum() - value[i])
    return values, gaps


def histories(game: ExactGame, record: Visits, kind: str, *, apart: bool = False) -> list[list[History]]:
    """Return what was in force at each step and state, [H][S]; of later steps only where it is taken `apart`."""
    even = deviations(game, MarkovPolicy.uniform(game), "nash")
    after: list[History] = []
    kept: list[list[History]] = []
    for h in reversed(range(game.horizon)):
        value, best = even.V[:, h], even.best
        after = [_history(game, record, kind, h, s, after, value[:, s], best, apart) for s in range(game.states)]
        kept = [after, *kept] if apart else [after]
    return kept


def _history(
    game: ExactGame,
    record: Visits,
    kind: str,
    h: int,
    s: int,
    after: list[History],
    even_value: FloatArray,
    even_best: FloatArray,
    apart: bool,
) -> History:
    """Compute what was in force at (h, s), from the same for the next step."""
    k = record.visits(h, s)
    each = kind == "ce" or apart  # whether deviations are kept for each action that the agent is told
    value, q = np.zeros((len(k), game.agents)), [np.zeros((len(k), a if each else 1, a)) for a in game.actions]
    chance = [np.zeros((len(k), a if apart else 0)) for a in game.actions]
    for part in _parts(game, h, s, k, after):
        if isinstance(game, CountGame):
            mu_all = _add_crowd(game, record, each, h, s, k[part], after, value[part], [own[part] for own in q])
            if apart:
                for i in range(game.agents):
                    chance[i][part] = mu_all[:, i]
            continue
        mu = [record.distributions(i, k[part], h) for i in range(game.agents)]
        stay, leave = _payoffs(game, h, s, k[part], after)
        for i in range(game.agents):
            value[part, i] = (own_payoffs(stay[i], mu, i) * mu[i]).sum(axis=1)
            gain = own_payoffs(leave[i], mu, i)[:, None, :]
            q[i][part] = mu[i][:, :, None] * gain if each else gain
            if apart:
                chance[i][part] = mu[i]
    since, means = averages(record, k, h, s)
    V = np.concatenate([even_value[None], means(value)])
    if isinstance(game, CountGame):
        rows = table(MarkovPolicy.uniform(game).at(0))[s : s + 1]
        gain, told = expected(seats(game, h, [s], rows), even_best[:, h + 1])[0], game.actions[0] if each else 1
        first = [np.repeat(own[None, None] / told, told, axis=1) for own in gain]
    else:
        first = [_even_q(game, each, h, s, i, even_best)[None] for i in range(game.agents)]
    averaged = [np.concatenate([first[i], means(q[i])]) for i in range(game.agents)]
    if kind == "ce":
        best = np.stack([own.max(axis=2).sum(axis=1) for own in averaged], axis=1)
    else:
        best = np.stack([own.sum(axis=1).max(axis=1) for own in averaged], axis=1)
    told_first = [np.full((1, a if apart else 0), 1 / a) for a in game.actions]
    spoken = [np.concatenate([one, means(own)]) for one, own in zip(told_first, chance, strict=True)]
    return History(since, V, best, averaged, spoken)


def _parts(game: ExactGame, h: int, s: int, k: IntArray, after: list[History]) -> list[slice]:
    """Return the visits in parts: what one takes stays small, and Ctrl-C is heard in between.

    Where games are large, parts end where another entry of a next state comes into force: payoffs are made once each.
    """
    if isinstance(game, CountGame):
        size = min(_NUMBERS // (game.agents * game.actions[0] * (game.states + 2)), int(0.5 / certifying(game, 1)))
    else:
        size = _NUMBERS // (4 * game.agents * game.joint_actions)
    size, cuts = max(1, min(_BLOCK, size)), [0, len(k)]
    if not isinstance(game, CountGame) and size < 64 and after:
        changes = [np.flatnonzero(np.diff(after[s_next].at(k))) + 1 for s_next in _following(game, h, s)]
        cuts = np.unique(np.concatenate([*changes, cuts])).tolist()
        size = max(1, min(_BLOCK, _NUMBERS // game.joint_actions))
    return [slice(x, min(x + size, end)) for begin, end in pairwise(cuts) for x in range(begin, end, size)]


def _following(game: TabularGame, h: int, s: int) -> IntArray:
    """Return the states that can come after (h, s)."""
    row = ((h if game.transition_steps > 1 else 0) * game.states + s) * game.joint_actions
    first, state, _ = game.successors
    found: IntArray = np.unique(state[first[row] : first[row + game.joint_actions]])
    return found


def _payoffs(
    game: TabularGame, h: int, s: int, k: IntArray, after: list[History]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return r_i + P·V and r_i + P·V† of every joint action, for each agent [n, A_1, …, A_N].

    n is 1 where the same is in force at all visits, otherwise len(k).
    """
    reward = game.step_rewards(h).reshape(game.agents, game.states, -1)[:, s, None]
    if not after:
        stay = [own.reshape(1, *game.actions) for own in reward]
        return stay, stay
    inside = [held.at(k) for held in after]
    n = 1 if all((at == at[0]).all() for at in inside) else len(k)
    V = np.stack([held.V[at[:n]] for held, at in zip(after, inside, strict=True)])  # [S, n, N]
    best = np.stack([held.best[at[:n]] for held, at in zip(after, inside, strict=True)])
    values = np.stack([V, best]).transpose(0, 3, 2, 1)  # [2, N, n, S]
    ahead = game.expect_in(h, s, values.reshape(-1, game.states)).reshape(2, game.agents, n, -1)
    grid = (n, *game.actions)
    stay, leave = ([(reward[i] + part[i]).reshape(grid) for i in range(game.agents)] for part in ahead)
    return stay, leave


def _add_crowd(
    game: CountGame,
    record: Visits,
    each: bool,
    h: int,
    s: int,
    k: IntArray,
    after: list[History],
    value: FloatArray,
    q: list[FloatArray],
) -> FloatArray:
    """Return the distributions [n, N, A] of the visits in episodes k.

    The values [n, N] and the deviations' values, for each agent [n, B, A], are written.
    """
    mu = record.tables(k, h)  # [n, N, A]
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
        own[:] = mu[:, i, :, None] * leave[:, i, None, :] if each else leave[:, i, None, :]
    return mu


def averages(record: Visits, k: IntArray, h: int, s: int) -> tuple[IntArray, Means]:
    """Return from when each average of the visits of (h, s) in episodes k is in force, and how to average."""
    if record.rule == "rate":
        return np.concatenate([[0], k + 1]), Means(None, record.horizon)
    ends, until = record.stage_ends(h, s)
    return np.concatenate([[0], until + 1]), Means(ends, record.horizon)


class Means(NamedTuple):
    """Averages over stages that end before the visits `ends`, or with the rate α_t."""

    ends: IntArray | None
    horizon: int

    def spread(self, share: FloatArray, visits: int) -> FloatArray:
        """Return what each of the visits counts where the averages count `share`."""
        weight = np.zeros(visits)
        if self.ends is not None:
            if len(self.ends):
                lengths = np.diff(self.ends, prepend=0)
                weight[: self.ends[-1]] = np.repeat(share / lengths, lengths)
            return weight
        ahead = 0.0
        for t in reversed(range(visits)):
            alpha = (self.horizon + 1) / (self.horizon + t + 1)
            ahead += share[t]
            weight[t] = alpha * ahead
            ahead *= 1 - alpha
        return weight

    def __call__(self, x: FloatArray) -> FloatArray:
        """Return the averages of what the visits have."""
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


def _even_q(game: TabularGame, each: bool, h: int, s: int, i: int, best: FloatArray) -> FloatArray:
    """Return the deviations' values [B, A_i] at (h, s) where all play evenly."""
    payoff = game.step_rewards(h)[i] + game.expect(h, best[i, h + 1][None])[0]
    rows = [np.full((1, a), 1 / a) for a in game.actions]
    gain = own_payoffs(payoff[s][None], rows, i)
    told = game.actions[i] if each else 1
    return np.repeat(gain / told, told, axis=0)
