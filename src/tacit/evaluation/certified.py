"""The certificate of a stored policy, computed from its record alone.

The same quantities as the streaming certificate, by another way: step by step from the last to the first, over all
visits of a (step, state) pair at once, in NumPy. It knows nothing of learners, and serves as their check.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tacit.core.elementary import dot
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.values import Step, backward, best_when_recommended, check_kind
from tacit.games.exact import ExactGame, check_finite, stack_rows
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy, Visits, restore_agents

_BLOCK = 4096  # visits that are worked on at once, at most
_NUMBERS = 8_000_000  # and numbers that they take


class History(NamedTuple):
    """What was in force at one (step, state) pair over the episodes. Entry j holds from episode `since[j]` on."""

    since: IntArray  # [J]  ascending, since[0] = 0
    V: FloatArray  # [J, N]
    best: FloatArray  # [J, N]
    q: FloatArray  # [J, N, B, A]

    def at(self, k: IntArray) -> IntArray:
        """Return the entries in force when the episodes k begin."""
        return np.searchsorted(self.since, k, side="right") - 1


def certified_bound(
    game: ExactGame, policy: RecordedPolicy, kind: str, *, fixed: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return exact values [N] of a recorded policy, and upper bounds [N] on its gaps.

    With `fixed` [N, H, S], what each agent gains that plays these actions instead, exactly: lower bounds.
    """
    check_finite(game, "a recorded policy")
    policy.check_fits(game)
    check_kind(policy, kind)
    first = histories(game, policy.record, kind, fixed=fixed)
    episodes = policy.starts()
    values, gaps = np.zeros(game.agents), np.zeros(game.agents)
    for s in np.flatnonzero(game.initial):
        history = first[s]
        share = np.bincount(history.at(episodes), minlength=len(history.since)) / len(episodes)
        value = dot(share, history.V)
        mean = dot(share, history.q)  # [N, B, A]: averaged over the episodes before the maximum
        values += game.initial[s] * value
        gaps += game.initial[s] * (_deviate(kind, mean, None if fixed is None else fixed[:, 0, s]) - value)
    return values, gaps


def _deviate(kind: str, q: FloatArray, fixed: IntArray | None) -> FloatArray:
    """Return values [..., N] of the best deviations, or of fixed actions [N]."""
    if fixed is None:
        return best_when_recommended(q, kind)
    taken: FloatArray = q.sum(axis=-2)[..., np.arange(len(fixed)), fixed]
    return taken


def histories(game: ExactGame, record: Visits, kind: str, *, fixed: IntArray | None = None) -> list[History]:
    """Return what was in force in each state at the first step."""
    even = MarkovPolicy.uniform(game)
    after: list[History] = []
    for step in backward(game, even.at, "nash", fixed=None if fixed is None else fixed[..., None]):
        chosen = [None if fixed is None else fixed[:, step.h, s] for s in range(game.states)]
        after = [_history(game, record, kind, step, s, after, actions) for s, actions in enumerate(chosen)]
    return after


def _history(
    game: ExactGame,
    record: Visits,
    kind: str,
    at_uniform: Step,
    s: int,
    after: list[History],
    fixed: IntArray | None,
) -> History:
    """Compute a state's history at a step from the histories of the next step."""
    h, N, A = at_uniform.h, game.agents, max(game.actions)
    k = record.visits(h, s)
    each = kind == "ce"  # whether deviations are kept for each recommended action
    value, q = np.zeros((len(k), N)), np.zeros((len(k), N, A if each else 1, A))
    uniform = [np.full(a, 1 / a) for a in game.actions]
    following = np.flatnonzero(game.push(h, uniform, np.ones(()), s)) if after else np.zeros(0, dtype=np.int64)
    for part in _parts(game, k, after, following):
        rows = restore_agents(record.rows(k[part], h), record.actions)
        mu = np.swapaxes(stack_rows(rows), 0, 1)  # [n, N, A]
        payoffs = game.payoffs(h, rows, _in_force(after, following, k[part]) if after else None, s)
        staying, deviating = payoffs if after else (payoffs, payoffs)
        value[part] = np.einsum("kna,kna->kn", staying, mu)
        q[part] = mu[..., None] * deviating[:, :, None] if each else deviating[:, :, None]
    since, means = averages(record, k, h, s)
    prob = stack_rows([probs[None] for probs in uniform])[:, 0]  # [N, A]  of recommending each action
    gains = prob[:, :, None] * at_uniform.gains[:, s, None] if each else at_uniform.gains[:, s, None]
    averaged = np.concatenate([gains[None], means(q)])
    best = _deviate(kind, averaged, fixed)
    return History(since, np.concatenate([at_uniform.V[None, :, s], means(value)]), best, averaged)


def _parts(game: ExactGame, k: IntArray, after: list[History], following: IntArray) -> list[slice]:
    """Return the visits in parts. What one takes stays small, and Ctrl-C is heard in between.

    Where games are large, parts end where another entry of a next state comes into force: payoffs are made once each.
    """
    most = min(_BLOCK, int(0.5 / game.seconds_to_answer(1)))
    size, cuts = max(1, min(most, _NUMBERS // game.numbers())), [0, len(k)]
    if size < 64:
        changes = [np.flatnonzero(np.diff(after[s].at(k))) + 1 for s in following]
        cuts = np.unique(np.concatenate([*changes, cuts])).tolist()
        size = max(1, min(most, _NUMBERS // game.numbers(same=True)))
    return [slice(x, min(x + size, end)) for begin, end in pairwise(cuts) for x in range(begin, end, size)]


def _in_force(after: list[History], following: IntArray, k: IntArray) -> FloatArray:
    """Return V and V† of next states in the episodes k, [2, n, N, S]. They are 0 where none can follow.

    n is 1 where the same is in force in all of them, otherwise len(k).
    """
    inside = [after[s].at(k) for s in following]
    n = 1 if all((at == at[0]).all() for at in inside) else len(k)
    values = np.zeros((2, n, after[0].V.shape[1], len(after)))
    for s, at in zip(following, inside, strict=True):
        values[0, ..., s], values[1, ..., s] = after[s].V[at[:n]], after[s].best[at[:n]]
    return values


def averages(record: Visits, k: IntArray, h: int, s: int) -> tuple[IntArray, Means]:
    """Return from which episode each average of visits is in force, and how to average."""
    if record.rule == "rate":
        return np.concatenate([[0], k + 1]), Means(None, record.horizon)
    ends, until = record.stage_ends(h, s)
    return np.concatenate([[0], until + 1]), Means(ends, record.horizon)


class Means(NamedTuple):
    """Averages over stages that end before the visits `ends`, or with the rate α_t."""

    ends: IntArray | None
    horizon: int

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
