"""The certified policy of a large run: M visits of each stage instead of all. [Mao2022, Alg. 2]

Played, it draws an episode k, and at each step h in state s one of the visits that were kept of the last stage of
(h, s) that had ended before episode k, evenly; sets k to the episode of that visit; and draws every agent's action from
the distribution that the agent had there. Where no stage had ended, all play evenly to the end of the episode. All but
the actions comes from the common seed. It is the policy of `CertifiedPolicy` with the rule "stage", made of fewer
visits: a policy of its own, whose gap the certificate bounds exactly.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.core import archive, check
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.ownership import Owned, frozen
from tacit.core.types import FloatArray, IntArray
from tacit.policies import document, observed
from tacit.policies.certified import MOST, STARTS, check_stored, columns, restored
from tacit.policies.fitting import times
from tacit.policies.part import Part
from tacit.policies.showable import Showable

if TYPE_CHECKING:
    from tacit.games.protocol import Game

#: What a `.npz` holds: arrays, in the order of the parameters, and sizes.
KEYS = ("cell", "stage", "episode", "until", "stored", "actions", "states", "horizon", "episodes", "start")


class SampledPolicy(Showable):
    """M visits of each stage of a run of learning.

    Parameters
    ----------
    cell : int array [V]
        h·S + s of each visit, ascending; visits of one cell are ordered by episode.
    stage, episode, until : int arrays [V]
        The visit's stage, its episode, and the episode in which its stage ended.
    stored : float32 array [V, Σ_i (A_i − 1)]
        All but the last probability of each agent, agent after agent.
    actions : sequence of N ints
    states, horizon : int
    episodes : int
        Episodes of learning, K.
    start : {"average", "latest"}
        With which episode an episode of play begins, as for `CertifiedPolicy`.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> one = np.zeros(1, np.int64)
    >>> policy = tacit.SampledPolicy(
    ...     one, one, one, one + 1, np.full((1, 2), 0.5, np.float32), actions=[2, 2], states=1, horizon=1, episodes=2
    ... )
    >>> policy.agents
    2
    """

    def __init__(
        self,
        cell: npt.NDArray[Any],
        stage: npt.NDArray[Any],
        episode: npt.NDArray[Any],
        until: npt.NDArray[Any],
        stored: npt.NDArray[Any] | Owned[Any],
        *,
        actions: Sequence[int],
        states: int,
        horizon: int,
        episodes: int,
        start: str = "average",
    ) -> None:
        self.start = check.choice("start", start, STARTS)
        if not isinstance(actions, Sequence) or isinstance(actions, str) or not len(actions):
            raise TacitError(f"actions is {brief(actions)}; it must be a list with one number for each agent")
        self.actions = tuple(check.integer(f"actions[{i}]", a, least=1, most=MOST) for i, a in enumerate(actions))
        self.states = check.integer("states", states, least=1, most=MOST)
        self.horizon = check.integer("horizon", horizon, least=1, most=MOST)
        self.episodes = check.integer("episodes", episodes, least=1)
        self.cell, self.stage, self.episode, self.until = (
            _whole(name, array)
            for name, array in (("cell", cell), ("stage", stage), ("episode", episode), ("until", until))
        )
        self.stored = frozen("stored", stored)
        visits, width = len(self.cell), sum(self.actions) - len(self.actions)
        if self.stored.shape != (visits, width) or self.stored.dtype.kind != "f":
            raise TacitError(f"stored has shape {self.stored.shape}; it must be floats [{visits}, {width}]")
        check_stored(self.stored, self.actions)
        self._check_order()

    def _check_order(self) -> None:
        for name in ("stage", "episode", "until"):
            if getattr(self, name).shape != self.cell.shape:
                raise TacitError(f"{name} has {len(getattr(self, name))} entries, and cell has {len(self.cell)}")
        if not len(self.cell):
            return
        if self.cell.max() >= self.horizon * self.states or self.until.max() >= self.episodes:
            raise TacitError(
                f"a visit is outside of {self.horizon} steps, {self.states} states and {self.episodes} episodes"
            )
        same = self.cell[1:] == self.cell[:-1]
        ascending = (np.diff(self.episode) > 0) & (np.diff(self.stage) >= 0) & (np.diff(self.until) >= 0)
        together = (np.diff(self.stage) > 0) == (np.diff(self.until) > 0)
        if not (((np.diff(self.cell) > 0) | same) & (~same | (ascending & together))).all():
            raise TacitError("the visits of a sampled policy must ascend by cell, then episode, stage by stage")
        if (self.episode > self.until).any():
            raise TacitError("a sampled policy has a visit after the end of its stage")

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    def visits(self, h: int, s: int) -> IntArray:
        """Return the episodes of the visits of (h, s) that were kept."""
        return self.episode[self._of(h * self.states + s)]

    def stage_ends(self, h: int, s: int) -> tuple[IntArray, IntArray]:
        """Return for each stage of (h, s) how many visits were kept up to its end, and in which episode it ended."""
        own = self._of(h * self.states + s)
        last = np.flatnonzero(np.diff(self.stage[own], append=-1))
        return last + 1, self.until[own][last]

    def _of(self, c: int) -> slice:
        return slice(*np.searchsorted(self.cell, [c, c + 1]))

    def distributions(self, agent: int, k: npt.ArrayLike, h: int) -> FloatArray:
        """Return agent i's distributions [len(k), A_i] at step h of the episodes k of visits that were kept."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        return restored(self.stored[self._places(np.asarray(k), h), columns(self.actions)[i]])

    def tables(self, k: IntArray, h: int) -> FloatArray:
        """Return all agents' distributions [len(k), N, A] at step h of the episodes k, if all have as many actions."""
        rows = self.stored[self._places(k, h)]
        return restored(rows.reshape(len(rows), self.agents, self.actions[0] - 1))

    def _places(self, k: IntArray, h: int) -> IntArray:
        """Return where the visits at step h of the episodes k stand."""
        low, high = np.searchsorted(self.cell, [h * self.states, (h + 1) * self.states])
        order = np.argsort(self.episode[low:high])
        found = low + order[np.searchsorted(self.episode[low:high], k, sorter=order)]
        return np.asarray(found, dtype=np.int64)

    def first(self, u: FloatArray) -> IntArray:
        """Return the episodes with which episodes of play begin, drawn with the uniform numbers u."""
        if self.start == "latest":
            return np.full(u.shape, self.episodes)
        return (u * self.episodes).astype(np.int64)

    def earlier(self, h: int, k: IntArray, s: IntArray, u: FloatArray) -> IntArray:
        """Draw, for each index k in state s, the episode of an earlier visit of (h, s); −1 where there is none."""
        found = np.full(k.shape, -1)
        for state in np.unique(s):
            own = self._of(h * self.states + int(state))
            ends, until = self.stage_ends(h, int(state))
            mine = np.flatnonzero((s == state) & (k >= 0))
            ended = np.searchsorted(until, k[mine], side="left")  # stages that had ended before episode k
            known = mine[ended > 0]
            last = ended[ended > 0] - 1
            begin = np.where(last > 0, ends[np.maximum(last - 1, 0)], 0)
            chosen = begin + (u[known] * (ends[last] - begin)).astype(np.int64)
            found[known] = self.episode[own][chosen]
        return found

    def part(self, agent: int) -> SampledPart:
        """Return agent i's part, which acts alone from the common seed."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        return self._told(SampledPart(self, i), i)

    def _drawn(self, agent: int, k: IntArray, h: int, u: FloatArray) -> IntArray:
        """Draw agent i's actions at step h from its distributions of the episodes k (evenly where k is −1)."""
        probs = np.full((len(k), self.actions[agent]), 1.0 / self.actions[agent])
        if (k >= 0).any():
            probs[k >= 0] = self.distributions(agent, k[k >= 0], h)
        actions: IntArray = (u[:, None] >= np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
        return actions

    def check_fits(self, game: Game) -> None:
        """Raise unless the policy has the game's states, actions and horizon."""
        if (self.states, self.actions, self.horizon) != (game.states, game.actions, game.horizon):
            raise TacitError(f"the policy does not fit the game: {self!r} for {game!r}")

    def save(self, path: str | os.PathLike[str], *, agent: int | None = None) -> None:
        """Write the policy as `.npz`; parts are loaded from it (`Part.load`), and `agent` is refused."""
        document.whole_only(path, agent, "")
        if document.named(path):
            raise TacitError(f"{path} is JSON, in which sampled policies are not written; use a name that ends in .npz")
        document.checked_ending(path, ".npz")
        arrays = {key: np.asarray(getattr(self, key)) for key in KEYS}
        archive.write(path, {"kind": np.array("sampled"), **arrays, **observed.arrays(self)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SampledPolicy:
        """Read a policy that `save` wrote."""
        found = archive.read(path)
        try:
            missing = [key for key in KEYS if key not in found]
            if missing:
                raise TacitError(f"it has no {' and no '.join(missing)}")
            sizes = {key: archive.single(key, found[key]) for key in ("states", "horizon", "episodes", "start")}
            arrays = [found[key] for key in KEYS[:5]]
            return cls(*arrays, actions=archive.integers("actions", found["actions"]), **sizes)._observing(found)
        except (TacitError, ValueError, TypeError) as error:
            raise TacitError(f"{path} is not a sampled policy: {one_line(error, 300)}") from None

    def __repr__(self) -> str:
        states = "1 state" if self.states == 1 else f"{self.states} states"
        return (
            f"SampledPolicy({self.agents} agents, {states}, {times(self.actions)} actions, horizon {self.horizon}, "
            f"{len(self.cell)} visits of {self.episodes} episodes)"
        )


def _whole(name: str, given: npt.NDArray[Any]) -> IntArray:
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() >= 2**62)):
        raise TacitError(f"{name} has shape {array.shape} of {array.dtype}; it must be whole numbers [V] from 0")
    return frozen(name, array, np.int64)


class SampledPart(Part):
    """One agent's part of a sampled policy: it needs the common seed and the states, and no message."""

    def __init__(self, policy: SampledPolicy, agent: int) -> None:
        super().__init__(agent, policy.actions[agent], policy.horizon)
        self.policy = policy
        self._index = np.array([-1])

    @property
    def index(self) -> int:
        """The hidden index, the same for all agents; −1 once it has been lost in a first stage."""
        return int(self._index[0])

    def _begin(self) -> None:
        assert self._common is not None
        self._index = self.policy.first(np.array(self._common[-1:]))

    def _lose(self) -> None:
        self._index = np.array([-1])

    def act(self, h: int, s: int | None) -> int:
        """Return the action at step h in state s, evenly drawn with None; steps come in order."""
        if s is None:
            return self.stray(h)
        state = np.array([check.integer("s", s, least=0, most=self.policy.states - 1)])
        u = self._step(h)
        assert self._common is not None
        self._index = self.policy.earlier(h, self._index, state, np.array(self._common[h : h + 1]))
        return int(self.policy._drawn(self.agent, self._index, h, np.array([u]))[0])
