"""The visits that a run of learning recorded, and what the agents played there. [Mao2022, Alg. 2 and Sec. 3.1]

A record holds every visit of every episode, or M visits of each stage. Either way the visits of a (step, state) pair
stand in the order of their episodes, and an average of some of them is in force at each moment: the visits of the last
stage that has ended or, for V-learning with the rate α_t, all visits so far, with the weights α_t^j.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.core.memory import Owned, Sealed, freeze, refuse_masked
from tacit.core.types import FloatArray, IntArray

RULES = ("stage", "rate")

#: No state, action or step has a larger number.
MOST = 2**31 - 1


class Stages(NamedTuple):
    """All stages that have ended, ordered by cell, then by time."""

    begin: IntArray  # [J]  first visit
    end: IntArray  # [J]  the visit after the last
    key: IntArray  # [J]  cell·K + the episode in which it ended


class Visits(Sealed):
    """Visits of cells h·S + s in K episodes: `everything`, or `chosen` ones of each stage."""

    visited: npt.NDArray[Any] | None = None  # [K, H], where every visit is held
    stage: IntArray  # [V], where some are: the stage of each,
    until: IntArray  # and the episode in which it ended

    def __init__(self, stored: Any, sizes: Sequence[int], *, actions: Sequence[int], states: int, rule: str) -> None:
        self.rule = check.choice("rule", rule, RULES)
        self.actions = check_actions(actions)
        self.states = check.integer("states", states, least=1, most=MOST)
        self.episodes = check.integer("episodes", sizes[0], least=1)
        self.horizon = check.integer("horizon", sizes[1], least=1, most=MOST)
        if self.horizon * self.states * self.episodes >= 2**62:
            raise TacitError(f"{self.horizon} steps, {self.states} states and {self.episodes} episodes are too many")
        self.stored = freeze("stored", stored)

    @classmethod
    def everything(cls, visited: Any, stored: Any, *, actions: Sequence[int], states: int, rule: str) -> Visits:
        """Hold every visit: the states [K, H] of K episodes, and the distributions [K, H, Σ(A_i − 1)] there."""
        visited = freeze("visited", visited)
        if visited.ndim != 2 or 0 in visited.shape or visited.dtype.kind not in "iu":
            raise TacitError(f"visited has shape {visited.shape} of {visited.dtype}; it must be whole numbers [K, H]")
        made = cls(stored, visited.shape, actions=actions, states=states, rule=rule)
        made.visited = visited
        made._check_stored(visited.shape, "[K, H, Σ(A_i − 1)]")
        least, most = 0 if visited.dtype.kind == "u" else int(visited.min()), int(visited.max())
        if least < 0 or most >= made.states:
            wrong = least if least < 0 else most
            raise TacitError(f"visited has a state {wrong}; states go from 0 to {made.states - 1}")
        return made

    @classmethod
    def chosen(
        cls,
        cell: Any,
        stage: Any,
        episode: Any,
        until: Any,
        stored: Any,
        *,
        actions: Sequence[int],
        states: int,
        horizon: int,
        episodes: int,
    ) -> Visits:
        """Hold some visits of each stage [V], ordered by cell, then by episode, and their distributions."""
        made = cls(stored, (episodes, horizon), actions=actions, states=states, rule="stage")
        cell, stage, episode, until = (
            check_whole(name, array)
            for name, array in (("cell", cell), ("stage", stage), ("episode", episode), ("until", until))
        )
        made._check_stored((len(cell),), "[V, Σ(A_i − 1)]")
        for name, array in (("stage", stage), ("episode", episode), ("until", until)):
            if array.shape != cell.shape:
                raise TacitError(f"{name} has {len(array)} entries, and cell has {len(cell)}")
        if len(cell):
            made._check_order(cell, stage, episode, until)
        made.stage, made.until = stage, until
        made.__dict__["keys"] = freeze("keys", Owned(cell * made.episodes + episode))
        return made

    def _check_stored(self, grid: tuple[int, ...], said: str) -> None:
        shape, found = (*grid, sum(self.actions) - len(self.actions)), self.stored
        if found.shape != shape or found.dtype.kind != "f":
            raise TacitError(
                f"stored has shape {found.shape} of {found.dtype}; it must be floats of shape {shape}: {said}"
            )
        check_stored(self.stored, self.actions)

    def _check_order(self, cell: IntArray, stage: IntArray, episode: IntArray, until: IntArray) -> None:
        if cell.max() >= self.horizon * self.states or until.max() >= self.episodes:
            raise TacitError(
                f"a visit is outside of {self.horizon} steps, {self.states} states and {self.episodes} episodes"
            )
        same = cell[1:] == cell[:-1]
        ascending = (np.diff(episode) > 0) & (np.diff(stage) >= 0) & (np.diff(until) >= 0)
        together = (np.diff(stage) > 0) == (np.diff(until) > 0)
        if not (((np.diff(cell) > 0) | same) & (~same | (ascending & together))).all():
            raise TacitError("recorded visits must ascend by cell, then by episode, stage by stage")
        if (episode > until).any():
            raise TacitError("a recorded visit is after the end of its stage")

    # the order of visits ---------------------------------------------------------------------------------------------

    @cached_property
    def keys(self) -> IntArray:
        """cell·K + episode of each visit, ascending: [V]."""
        assert self.visited is not None
        keys: IntArray = self.visited.T.astype(np.int64) * self.episodes + np.arange(self.episodes)
        keys += (np.arange(self.horizon) * self.states * self.episodes)[:, None]
        keys.sort(axis=1)
        return keys.ravel()

    @cached_property
    def stages(self) -> Stages:
        """The stages that have ended."""
        return self._stages_by_length() if self.visited is not None else self._stages_as_given()

    def _stages_by_length(self) -> Stages:
        """Cut the visits of each cell into stages of the theory's lengths."""
        _, first, number = np.unique(self.keys // self.episodes, return_index=True, return_counts=True)
        lengths = stage_lengths(self.horizon, int(number.max()))
        ends = np.cumsum(lengths)
        which, j = np.nonzero(number[:, None] >= ends)
        end = first[which] + ends[j]
        return Stages(end - lengths[j], end, self.keys[end - 1])

    def _stages_as_given(self) -> Stages:
        cell = self.keys // self.episodes
        end = np.flatnonzero(np.append((np.diff(cell) != 0) | (np.diff(self.stage) != 0), True)[: len(cell)]) + 1
        begin = np.concatenate([[0], end[:-1]])[: len(end)]
        return Stages(begin, end, cell[end - 1] * self.episodes + self.until[end - 1])

    def visits(self, h: int, s: int) -> IntArray:
        """Return the episodes of the visits of (h, s)."""
        base = (h * self.states + s) * self.episodes
        return self.keys[slice(*np.searchsorted(self.keys, [base, base + self.episodes]))] - base

    def stage_ends(self, h: int, s: int) -> tuple[IntArray, IntArray]:
        """Return for each stage of (h, s) how many visits there are up to its end, and in which episode it ended."""
        base = (h * self.states + s) * self.episodes
        own = slice(*np.searchsorted(self.stages.key, [base, base + self.episodes]))
        return self.stages.end[own] - np.searchsorted(self.keys, base), self.stages.key[own] - base

    def earlier(self, h: int, k: IntArray, s: IntArray, u: FloatArray) -> IntArray:
        """Draw, for each index k in state s, the episode of an earlier visit of (h, s); −1 where there is none."""
        base = (h * self.states + s) * self.episodes
        if not len(self.keys):
            return np.full(k.shape, -1)
        if self.rule == "rate":
            first = np.searchsorted(self.keys, base)
            before = np.searchsorted(self.keys, base + k) - first  # visits of (h, s) before episode k
            place, known = first + draw_by_rate(self.horizon, before, u), before > 0
        else:
            last = np.searchsorted(self.stages.key, base + k) - 1  # the last stage that had ended before episode k
            begin, end, key = (own[np.maximum(last, 0)] if len(own) else np.zeros_like(last) for own in self.stages)
            place, known = begin + (u * (end - begin)).astype(np.int64), (last >= 0) & (key >= base) & (end > begin)
        place = np.minimum(place, len(self.keys) - 1)
        return np.where(known & (k >= 0), self.keys[place] - base, -1)

    def earlier_one(self, h: int, k: int, s: int, u: float) -> int:
        """Draw as `earlier` for a single index: on plain numbers, which cost less than arrays."""
        base = (h * self.states + s) * self.episodes
        if k < 0:
            return -1
        if self.rule == "rate":
            first, until = self.keys.searchsorted((base, base + k)).tolist()
            return (
                -1
                if until == first
                else int(self.keys[first + draw_one_by_rate(self.horizon, until - first, u)]) - base
            )
        begin, end, key = self.stages
        last = int(key.searchsorted(base + k)) - 1
        if last < 0 or key[last] < base:
            return -1
        return int(self.keys[int(begin[last]) + int(u * int(end[last] - begin[last]))]) - base

    # what was played -------------------------------------------------------------------------------------------------

    @cached_property
    def _by_step(self) -> tuple[IntArray, IntArray]:
        """h·K + episode of each visit, ascending, and where the visit stands."""
        step = self.keys // self.episodes // self.states * self.episodes + self.keys % self.episodes
        order = np.argsort(step)
        return step[order], order

    def rows(self, k: npt.ArrayLike, h: int) -> npt.NDArray[Any]:
        """Return what is stored of the visits at step h of the episodes k, [len(k), Σ(A_i − 1)]."""
        if self.visited is not None:
            every: npt.NDArray[Any] = self.stored[np.asarray(k), h]
            return every
        step, order = self._by_step
        found: npt.NDArray[Any] = self.stored[order[np.searchsorted(step, h * self.episodes + np.asarray(k))]]
        return found

    def distributions(self, agent: int, k: npt.ArrayLike, h: int) -> FloatArray:
        """Return agent i's distributions [len(k), A_i] at step h of the episodes k."""
        i = check.integer("agent", agent, least=0, most=len(self.actions) - 1)
        return restore(self.rows(k, h)[..., columns(self.actions)[i]])

    def draw(self, agent: int, k: IntArray, h: int, u: FloatArray) -> IntArray:
        """Draw agent i's actions at step h from its distributions of the episodes k (evenly where k is −1)."""
        probs = np.full((len(k), self.actions[agent]), 1.0 / self.actions[agent])
        probs[k >= 0] = self.distributions(agent, k[k >= 0], h)
        actions: IntArray = (u[:, None] >= np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
        return actions


def check_actions(actions: object) -> tuple[int, ...]:
    """Return the agents' numbers of actions."""
    each = check.list_of("actions", actions, "numbers of actions, one for each agent")
    if not each:
        raise TacitError("actions is empty; it must be a list of numbers of actions, one for each agent")
    return tuple([check.integer(f"actions[{i}]", a, least=1, most=MOST) for i, a in enumerate(each)])


def check_whole(name: str, given: Any) -> IntArray:
    """Return whole numbers [V] from 0 on as an array that nobody can write to."""
    refuse_masked(name, given)
    array = np.asarray(given)
    whole = array.dtype.kind in "iu" or (array.dtype.kind == "f" and (array == np.floor(array)).all())
    if array.ndim != 1 or not whole or (array.size and (array.min() < 0 or array.max() >= 2**62)):
        raise TacitError(f"{name} has shape {array.shape} of {array.dtype}; it must be whole numbers [V] from 0")
    return freeze(name, array, np.int64)


def stage_lengths(horizon: int, visits: int) -> IntArray:
    """Return e_1 = H, e_{j+1} = ⌊(1 + 1/H)·e_j⌋ up to the stage in which visit number `visits` falls.

    >>> stage_lengths(2, 12)
    array([2, 3, 4, 6])
    """
    lengths = [horizon]
    total = horizon
    while total < visits:
        lengths.append(lengths[-1] + lengths[-1] // horizon)  # integers: (1 + 1/H)·e may fall just below one
        total += lengths[-1]
    return np.array(lengths)


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


def restore(stored: npt.NDArray[Any]) -> FloatArray:
    """Return distributions [..., A] from all but their last probabilities, [..., A − 1].

    >>> restore(np.array([[0.25, 0.5]], dtype=np.float32))
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


def restore_agents(rows: npt.NDArray[Any], actions: Sequence[int]) -> list[FloatArray]:
    """Return every agent's distributions [n, A_i] from rows [n, Σ(A_i − 1)] of what is stored."""
    if len(set(actions)) == 1:  # all at once
        return list(np.moveaxis(restore(rows.reshape(len(rows), len(actions), actions[0] - 1)), 1, 0))
    return [restore(rows[:, own]) for own in columns(actions)]


def draw_by_rate(horizon: int, visits: IntArray, u: FloatArray) -> IntArray:
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


def draw_one_by_rate(horizon: int, visits: int, u: float) -> int:
    """Draw as `draw_by_rate` for a single number: from a guess of the inverse, in few steps."""
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
