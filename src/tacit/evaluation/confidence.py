"""Bounds on gaps from counts of joint actions, for games without tables: they hold with a stated probability.

What followed n visits of a step, state and joint action with the frequencies p̂ is likely to come from a distribution p
with n·KL(p̂‖p) ≤ B, where B is computed from the counts (`radius`). Over all of these the mean of values V is at most

    ν − exp(−B/n + Σ_s p̂(s)·log(ν − V(s)))    for every ν ≥ max V,

and the least of some ν is taken. Backward induction with such upper bounds says what a deviation may be worth at most,
and with lower bounds what the policy is worth at least. docs/theory/certificates.md has the theorem and its proof.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import own_first
from tacit.policies import MarkovPolicy

#: Where ν is looked for: above the largest value by so many times the range of values.
GRID = (0.0, *(2.0**k for k in range(-6, 11)))


class Counts(NamedTuple):
    """What was met at each step: visits, rewards and next states of every joint action, the last agent's fastest.

    Attributes
    ----------
    starts : array [S]
        How often an episode began in each state.
    seen : array [H, S, J]
        Visits.
    rewards : array [H, S, J, N]
        Each agent's sum of rewards.
    onward, moved : arrays [H, S, J, K]
        Next states, and how often each followed; 0 where there is none.
    order : array [S]
        1 for the state that was met first, 2 for the next, …, S + 1 for one that was not met.
    """

    starts: FloatArray
    seen: FloatArray
    rewards: FloatArray
    onward: IntArray
    moved: FloatArray
    order: IntArray


def bound_gaps(
    counts: Counts,
    policy: MarkovPolicy,
    kind: str,
    *,
    reward_range: tuple[float, float],
    states: float,
    noisy: bool,
    failure: float = 0.01,
) -> FloatArray:
    """Return upper bounds on a policy's gaps that hold together, for all policies at once, unless chance fails.

    Parameters
    ----------
    counts : Counts
    policy : MarkovPolicy
        A product policy, or a correlated one for a cce or ce.
    kind : {"nash", "cce", "ce"}
    reward_range : (float, float)
        In which all rewards lie.
    states : float
        No joint action leads to more states than this.
    noisy : bool
        Whether rewards vary; otherwise one visit shows what a joint action pays.
    failure : float
        The probability with which some bound fails.

    Returns
    -------
    array [N]

    Examples
    --------
    >>> import numpy as np
    >>> from tacit import MarkovPolicy
    >>> from tacit.evaluation.confidence import Counts, bound_gaps
    >>> visits = np.full((1, 1, 2), 50.0)  # one state, one agent: the second action pays 1
    >>> paid = np.array([0.0, 50.0]).reshape(1, 1, 2, 1)
    >>> none = np.zeros((1, 1, 2, 1))
    >>> counts = Counts(np.array([100.0]), visits, paid, none.astype(int), none, np.array([1]))
    >>> even = MarkovPolicy([np.full((1, 1, 2), 0.5)])
    >>> bound_gaps(counts, even, "nash", reward_range=(0, 1), states=1, noisy=False)
    array([0.52772083])
    >>> bound_gaps(counts, even, "nash", reward_range=(0, 1), states=1, noisy=True)  # both may pay something else
    array([0.60943347])
    """
    (H, S, J, N), (low, high) = counts.rewards.shape, reward_range
    even = failure / (1 + H * J * (1 + N * noisy))  # of starts, moves and rewards
    own = even * 6.0 / (math.pi * counts.order[:, None]) ** 2  # of the k-th state that was met: these sum to one
    moves = radius(counts.moved, own, 1.0 / states)
    visits, mean = counts.seen, counts.rewards / np.maximum(counts.seen, 1.0)[..., None]
    paid = np.stack([mean, mean])  # at least and at most
    if noisy:
        share = np.clip((mean - low) / (high - low or 1.0), 0.0, 1.0)
        chances = np.stack([share, 1.0 - share], axis=-1)
        near = radius(chances * visits[..., None, None], own[..., None], 0.5)
        paid[0] = -largest_mean(chances, np.array([-high, -low]), -high, -low, near)
        paid[1] = largest_mean(chances, np.array([high, low]), low, high, near)
    unknown = visits == 0
    paid[0][unknown], paid[1][unknown] = low, high
    chance = counts.moved / np.maximum(counts.moved.sum(axis=-1), 1.0)[..., None]
    begun, first = counts.starts / max(counts.starts.sum(), 1.0), radius(counts.starts, np.array(even), 1.0 / states)
    found = np.zeros(N)
    for i in range(N):
        least, most = np.zeros(S), np.zeros(S)  # what follows the last step
        for h in range(H - 1, -1, -1):
            left = H - 1 - h
            q = np.stack([paid[0][h, ..., i], paid[1][h, ..., i]])  # [2, S, J]
            if left:
                p, onward, c = chance[h], counts.onward[h], moves[h]
                q[0] -= largest_mean(p, -least[onward], -high * left, -low * left, c)
                q[1] += largest_mean(p, most[onward], low * left, high * left, c)
            w = policy.joint(h).reshape(S, J)
            least = np.clip((w * q[0]).sum(axis=1), low * (left + 1), high * (left + 1))
            most = np.clip(_deviate(w, q[1], i, policy.actions, kind), low * (left + 1), high * (left + 1))
        found[i] = largest_mean(begun, most - least, 0.0, H * (high - low), first)
    return np.maximum(found, 0.0)  # following a cce may be better than any deviation


def radius(counts: FloatArray, failure: FloatArray, prior: float) -> FloatArray:
    """Return B/n for counts [..., K], infinite where there are none: KL(p̂‖p) exceeds it with probability `failure`.

    It is what a Dirichlet mixture with this parameter for each of 1/prior outcomes loses against the best distribution
    in hindsight, plus log(1/failure), by Ville's inequality; so it may be read at any time.
    """
    from scipy.special import gammaln  # imported where it is used: learning hardly ever does

    n = counts.sum(axis=-1)
    some = counts > 0
    best = np.where(some, counts * np.log(np.where(some, counts, 1.0) / np.maximum(n, 1e-300)[..., None]), 0.0)
    mixture = np.where(some, gammaln(counts + prior) - gammaln(prior), 0.0).sum(axis=-1) - gammaln(n + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0, (np.log(1.0 / failure) + best.sum(axis=-1) - mixture) / n, np.inf)


def largest_mean(chance: FloatArray, values: FloatArray, low: float, high: float, radius: FloatArray) -> FloatArray:
    """Return a bound on the mean of values in [low, high] for frequencies [..., K] that are this far from the truth."""
    found = np.full(radius.shape, float(high))
    for more in GRID:
        nu = high + more * (high - low)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(chance > 0, np.maximum(nu - values, 0.0), 1.0))  # −∞ at ν, where it says nothing
            found = np.minimum(found, nu - np.exp((chance * np.maximum(logs, -1e300)).sum(axis=-1) - radius))
    return found


def _deviate(w: FloatArray, q: FloatArray, i: int, actions: tuple[int, ...], kind: str) -> FloatArray:
    """Return what agent i gets for the best deviation at one step [S], where joint actions are worth q."""
    w, q = (own_first(x.reshape(-1, *actions), i, len(actions)) for x in (w, q))
    instead: FloatArray = np.einsum("sar,sbr->sab" if kind == "ce" else "sar,sbr->sb", w, q).max(axis=-1)
    return instead.sum(axis=1) if kind == "ce" else instead
