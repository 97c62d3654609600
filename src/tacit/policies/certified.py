"""The certified output policy of V-learning: non-Markov, correlated by a common seed. [Mao2022, Alg. 2 and Alg. 4]

The policy remembers, for every episode and step of learning, the state that was visited and the distributions that the
agents had there. Played, it draws an episode k, and at each step h in state s

1. draws the index j of an earlier visit of (h, s): one of the last stage that had ended before episode k, evenly; or,
   for V-learning with the rate α_t, one of the t visits before episode k, with probability α_t^j;
2. sets k to the episode of that visit, and
3. draws every agent's action from the distribution that the agent had at that visit.

All draws of step 1 come from the common seed, so each agent can play its part alone. Instead of drawing the first k,
play may begin with what the last episode left behind (`start = "latest"`): that leaves out the random play at first.

Deviations: [Mao2022, Alg. 2] acts before it draws j and lets j range over the running stage; the proof needs the order
and the range above: V^{π̄_h^k}(s) = (1/ň)·Σ_j D_{μ^{l_j}}(r + P·V^{π̄_{h+1}^{l_j}}). Where no stage has ended before
episode k the paper leaves the policy open; here all agents play evenly from there to the end of the episode.
"""

from __future__ import annotations

import bisect
import copy
import itertools
import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.core import archive, check, sampling, streams
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.ownership import Owned, frozen
from tacit.core.types import FloatArray, IntArray
from tacit.policies import document
from tacit.policies.fitting import check_game, times
from tacit.policies.part import Part, drawn
from tacit.policies.showable import Showable
from tacit.policies.stages import stage_lengths

if TYPE_CHECKING:
    from tacit.games.exact import ExactGame
    from tacit.policies.thinned import ThinnedPolicy

RULES, STARTS = ("stage", "rate"), ("average", "latest")

#: No state, action or step has a larger number.
MOST = 2**31 - 1


class CertifiedPolicy(Showable):
    """The output policy π̄ of V-learning.

    Parameters
    ----------
    visited : int array [K, H]
        State visited in each episode of learning, at each step.
    stored : float32 array [K, H, Σ_i (A_i − 1)]
        The distributions the agents had there: all but the last probability of each agent, agent after agent.
    actions : sequence of N ints
    states : int
    rule : {"stage", "rate"}
        How an earlier visit is drawn.
    start : {"average", "latest"}
        With which episode an episode of play begins: one drawn evenly from all, as in the paper, or what the last one
        left behind.

    Notes
    -----
    Memory is K·H·(4·Σ_i(A_i − 1) + 4) bytes for the arrays, and 8·K·H more once it is played. On disk states take one
    byte where there are at most 256 of them.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> tacit.CertifiedPolicy(np.zeros((4, 1), int), np.full((4, 1, 2), 0.5, np.float32), actions=[2, 2], states=1)
    CertifiedPolicy(...)
    """

    def __init__(
        self,
        visited: npt.NDArray[Any] | Owned[Any],
        stored: npt.NDArray[Any] | Owned[Any],
        *,
        actions: Sequence[int],
        states: int,
        rule: str = "stage",
        start: str = "average",
    ) -> None:
        self.rule = check.choice("rule", rule, RULES)
        self.start = check.choice("start", start, STARTS)
        if not isinstance(actions, Sequence) or isinstance(actions, str) or not len(actions):
            raise TacitError(f"actions is {brief(actions)}; it must be a list with one number for each agent")
        self.actions = tuple(check.integer(f"actions[{i}]", a, least=1, most=MOST) for i, a in enumerate(actions))
        self.states = check.integer("states", states, least=1, most=MOST)
        width = sum(self.actions) - len(self.actions)
        self.visited = visited = frozen("visited", visited)
        self.stored = stored = frozen("stored", stored)
        if visited.ndim != 2 or 0 in visited.shape or visited.dtype.kind not in "iu":
            raise TacitError(f"visited has shape {visited.shape} of {visited.dtype}; it must be whole numbers [K, H]")
        if stored.shape != (*visited.shape, width) or stored.dtype.kind != "f":
            raise TacitError(
                f"stored has shape {stored.shape} of {stored.dtype}; it must be floats of shape "
                f"{(*visited.shape, width)}: [K, H, Σ(A_i − 1)]"
            )
        least, most = 0 if visited.dtype.kind == "u" else int(visited.min()), int(visited.max())
        if least < 0 or most >= self.states:
            wrong = least if least < 0 else most
            raise TacitError(f"visited has a state {wrong}; states go from 0 to {self.states - 1}")
        check_stored(stored, self.actions)
        self.episodes: int = visited.shape[0]
        self.horizon: int = visited.shape[1]

    def starting(self, start: str) -> CertifiedPolicy:
        """Return the same record, played from another start; nothing is checked or copied again."""
        other = copy.copy(self)
        other.start = check.choice("start", start, STARTS)
        return other

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    @cached_property
    def _visits(self) -> IntArray:
        """For each step the visits sorted by state, then episode, as state·K + episode: [H, K]."""
        keys: IntArray = self.visited.T.astype(np.int64) * self.episodes + np.arange(self.episodes)
        keys.sort(axis=1)
        return keys

    @cached_property
    def _stages(self) -> tuple[IntArray, IntArray]:
        """First visit and length of each stage."""
        lengths = stage_lengths(self.horizon, self.episodes)
        return np.cumsum(lengths) - lengths, lengths

    def visits(self, h: int, s: int) -> IntArray:
        """Return the episodes in which (h, s) was visited."""
        return np.flatnonzero(self.visited[:, h] == s)

    def tables(self, k: IntArray, h: int) -> FloatArray:
        """Return all agents' distributions [len(k), N, A] at step h of the episodes k, if all have as many actions."""
        return restored(self.stored[k, h].reshape(len(k), self.agents, self.actions[0] - 1))

    def distributions(self, agent: int, k: npt.ArrayLike, h: int) -> FloatArray:
        """Return agent i's distributions [len(k), A_i] at step h of the episodes k of learning."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        return restored(self.stored[np.asarray(k), h, columns(self.actions)[i]])

    def first(self, u: FloatArray) -> IntArray:
        """Return the episodes with which episodes of play begin, drawn with the uniform numbers u."""
        if self.start == "latest":
            return np.full(u.shape, self.episodes)
        return (u * self.episodes).astype(np.int64)

    def earlier(self, h: int, k: IntArray, s: IntArray, u: FloatArray) -> IntArray:
        """Draw, for each index k in state s, the episode of an earlier visit of (h, s); −1 where there is none."""
        keys = self._visits[h]
        first = np.searchsorted(keys, s * self.episodes)
        before = np.searchsorted(keys, s * self.episodes + k) - first  # visits of (h, s) before episode k
        chosen, known = self._chosen(before, u)
        place = np.minimum(first + chosen, self.episodes - 1)
        return np.where(known & (k >= 0), keys[place] - s * self.episodes, -1)

    def _chosen(self, before: IntArray, u: FloatArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return which of the visits before k is drawn, and whether there is any to draw."""
        if self.rule == "rate":
            return drawn_by_rate(self.horizon, before, u), before > 0
        start, length = self._stages
        ended = np.searchsorted(start + length, before, side="right")  # stages that had ended
        last = np.maximum(ended - 1, 0)
        return start[last] + (u * length[last]).astype(np.int64), ended > 0

    def part(self, agent: int) -> CertifiedPart:
        """Return agent i's part, which acts alone from the common seed."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        return self._told(CertifiedPart(self, i), i)

    def simulate(self, game: ExactGame, *, episodes: int, seed: int = 0) -> FloatArray:
        """Play episodes and return the agents' returns, [episodes, N]."""
        self.check_fits(game)
        episodes = check.integer("episodes", episodes, least=1)
        seed = check.integer("seed", seed, least=0)
        common, world = streams.stream(seed, 0), streams.stream(seed, 1)
        own = [streams.stream(seed, 2 + i) for i in range(self.agents)]
        k = self.first(common.random(episodes))
        support = np.flatnonzero(game.initial)
        start = sampling.cumulate_rows(game.initial[support], np.array([0, len(support)]))
        s = support[np.searchsorted(start, world.random(episodes), side="right")]
        returns = np.zeros((episodes, self.agents))
        for h in range(self.horizon):
            k = self.earlier(h, k, s, common.random(episodes))
            drawn = [self._drawn(i, k, h, own[i].random(episodes)) for i in range(self.agents)]
            s, rewards = game.play(h, s, np.stack(drawn, axis=1), world.random(episodes))
            returns += rewards
        return returns

    def _drawn(self, agent: int, k: IntArray, h: int, u: FloatArray) -> IntArray:
        """Draw agent i's actions at step h from its distributions of the episodes k (evenly where k is −1)."""
        probs = self.distributions(agent, np.maximum(k, 0), h)
        probs[k < 0] = 1.0 / self.actions[agent]
        above = u[:, None] >= np.cumsum(probs, axis=1)[:, :-1]
        actions: IntArray = above.sum(axis=1)
        return actions

    def check_fits(self, game: ExactGame) -> None:
        """Raise unless the policy has the game's states, actions and horizon."""
        check_game(game)
        if (self.states, self.actions, self.horizon) != (game.states, game.actions, game.horizon):
            raise TacitError(f"the policy does not fit the game: {self!r} for {game!r}")

    def save(self, path: str | os.PathLike[str], *, agent: int | None = None) -> None:
        """Write the policy as `.npz`; parts are loaded from it (`Part.load`), and `agent` is refused."""
        document.whole_only(path, agent, "policy.thinned(200).save")
        if document.named(path):
            raise TacitError(
                f"{path} would be as large as the whole record; use policy.thinned(200).save({str(path)!r})"
            )
        document.checked_ending(path, ".npz")
        small = np.min_scalar_type(self.states - 1)
        archive.write(
            path,
            {
                "kind": np.array("certified"),
                "visited": self.visited.astype(small),
                "stored": self.stored.astype(np.float32),
                "actions": np.array(self.actions),
                "states": np.int64(self.states),
                "rule": np.array(self.rule),
                "start": np.array(self.start),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CertifiedPolicy:
        """Read a policy that `save` wrote."""
        arrays = archive.read(path)
        missing = [key for key in ("visited", "stored", "actions", "states", "rule", "start") if key not in arrays]
        if missing:
            raise TacitError(f"{path} is not a certified policy: it has no {' and no '.join(missing)}")
        try:
            return cls(
                Owned(arrays["visited"]),
                Owned(arrays["stored"]),
                actions=archive.integers("actions", arrays["actions"]),
                states=archive.single("states", arrays["states"]),
                rule=archive.single("rule", arrays["rule"]),
                start=archive.single("start", arrays["start"]),
            )
        except (TacitError, ValueError, TypeError) as error:
            raise TacitError(f"{path} is not a certified policy: {one_line(error, 300)}") from None

    def thinned(self, starts: int, *, seed: int = 0) -> ThinnedPolicy:
        """Return a small form for deployment: `starts` sampled runs of the hidden index, fixed in advance."""
        from tacit.policies.thinned import thin  # it builds on this file

        return thin(self, check.integer("starts", starts, least=1), check.integer("seed", seed, least=0))

    def __repr__(self) -> str:
        states = "1 state" if self.states == 1 else f"{self.states} states"
        return (
            f"CertifiedPolicy({self.agents} agents, {states}, {times(self.actions)} actions, "
            f"horizon {self.horizon}, from {self.episodes} episodes)"
        )


class CertifiedPart(Part):
    """One agent's part of a certified policy: it needs the common seed and the states, and no message.

    `number` is the agent's own, where the policy holds nobody else's distributions.

    Parameters
    ----------
    policy : CertifiedPolicy
    agent : int
    number : int, optional
        The agent's own, where the policy holds nobody else's distributions.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> played = np.full((4, 1, 2), 0.5, np.float32)
    >>> policy = tacit.CertifiedPolicy(np.zeros((4, 1), int), played, actions=[2, 2], states=1)
    >>> mine = policy.part(1)
    >>> mine.begin(seed=3)  # of the episode; the same for all agents
    >>> mine.act(0, 0) in (0, 1)
    True
    """

    def __init__(self, policy: CertifiedPolicy, agent: int, *, number: int | None = None) -> None:
        super().__init__(agent if number is None else number, policy.actions[agent], policy.horizon)
        self.policy = policy
        self.index = -1  # the hidden index, the same for all agents; −1 once it has been lost in a first stage
        self._columns = columns(policy.actions)[agent]
        self._visits = policy._visits
        self._first, self._length = (own.tolist() for own in policy._stages) if policy.rule == "stage" else ([], [])
        self._ends = [first + length for first, length in zip(self._first, self._length, strict=True)]

    def _begin(self) -> None:
        policy = self.policy
        assert self._common is not None
        self.index = policy.episodes if policy.start == "latest" else int(self._common[-1] * policy.episodes)

    def _lose(self) -> None:
        self.index = -1

    def act(self, h: int, s: int | None) -> int:
        """Return the action at step h in state s, evenly drawn with None; steps come in order."""
        if s is None:
            return self.stray(h)
        policy = self.policy
        if type(s) is not int or not 0 <= s < policy.states:
            s = check.integer("s", s, least=0, most=policy.states - 1)
        u = self._step(h)
        assert self._common is not None
        self.index = self._earlier(h, s, self._common[h])
        if self.index < 0:
            return int(u * self._size)
        return drawn(policy.stored[self.index, h, self._columns].tolist(), u)

    def _earlier(self, h: int, s: int, u: float) -> int:
        """Draw the episode of an earlier visit, as `CertifiedPolicy.earlier` does for many at once."""
        if self.index < 0:
            return -1
        keys, base = self._visits[h], s * self.policy.episodes
        first = int(keys.searchsorted(base))
        before = int(keys.searchsorted(base + self.index)) - first
        if self.policy.rule == "rate":
            return -1 if before == 0 else int(keys[first + rate_draw(self.policy.horizon, before, u)]) - base
        ended = bisect.bisect_right(self._ends, before)
        if ended == 0:
            return -1
        chosen = self._first[ended - 1] + int(u * self._length[ended - 1])
        return int(keys[first + chosen]) - base


def rate_draw(horizon: int, visits: int, u: float) -> int:
    """Draw as `drawn_by_rate` for a single number: from a guess of the inverse, in few steps."""
    low = [m + visits for m in range(horizon + 1)]

    def share(j: int) -> float:
        product = 1.0
        for m, below in enumerate(low):
            product *= (j + m) / below
        return product

    half = horizon / 2
    j = min(max(int((visits + half) * u ** (1 / (horizon + 1)) - half), 1), visits)
    while j > 1 and u < share(j - 1):
        j -= 1
    while j < visits and u >= share(j):
        j += 1
    return j - 1


def columns(actions: Sequence[int]) -> list[slice]:
    """Return where each agent's probabilities are stored.

    >>> columns([2, 3])
    [slice(0, 1, None), slice(1, 3, None)]
    """
    ends = itertools.accumulate(a - 1 for a in actions)
    return [slice(end - a + 1, end) for end, a in zip(ends, actions, strict=True)]


def check_stored(stored: npt.NDArray[Any], actions: Sequence[int]) -> None:
    """Raise unless `stored` [..., Σ_i (A_i − 1)] has the distributions of all agents."""
    if stored.size and not (stored.min() >= 0 and stored.max() <= 1):
        raise TacitError(f"stored has a probability outside [0, 1]: {float(stored.min())} or {float(stored.max())}")
    for i, own in enumerate(columns(actions)):
        if own.stop - own.start > 1 and stored[..., own].sum(axis=-1, dtype=np.float64).max(initial=0.0) > 1 + 1e-6:
            raise TacitError(f"stored has probabilities of agent {i} that sum to more than 1")


def restored(stored: npt.NDArray[Any]) -> FloatArray:
    """Return distributions [..., A] from all but their last probabilities, [..., A − 1].

    >>> restored(np.array([[0.25, 0.5]], dtype=np.float32))
    array([[0.25, 0.5 , 0.25]])
    """
    probs = np.zeros((*stored.shape[:-1], stored.shape[-1] + 1))
    probs[..., :-1] = stored
    total = np.zeros((*stored.shape[:-1], 1))
    for a in range(stored.shape[-1]):  # one by one, as the certificate's kernel adds them
        total += probs[..., a : a + 1]
    probs[..., -1:] = np.maximum(1.0 - total, 0.0)
    probs /= total + probs[..., -1:]
    return probs


def drawn_by_rate(horizon: int, visits: IntArray, u: FloatArray) -> IntArray:
    """Draw j − 1 for j in 1..t with probability α_t^j, α_t = (H+1)/(H+t), by inverting the distribution function.

    Σ_{i≤j} α_t^i = Π_{i=j+1..t}(1 − α_i) = Π_{m=0..H} (j + m)/(t + m).
    """
    t = np.maximum(visits, 1)
    low, high = np.ones_like(t), t.copy()
    offsets = np.arange(horizon + 1)
    while (low < high).any():
        middle = (low + high) // 2
        share = np.prod((middle[:, None] + offsets) / (t[:, None] + offsets), axis=1)
        inside = u < share
        high = np.where(inside, middle, high)
        low = np.where(inside, low, middle + 1)
        low = np.minimum(low, high)
    return low - 1
