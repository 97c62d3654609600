"""The output policy of V-learning: non-Markov, correlated by a common seed. [Mao2022, Alg. 2 and Alg. 4]

The policy is made of recorded visits. Played, it draws an episode k, the hidden index, and at each step h in state s

1. draws an earlier visit of (h, s) from those whose average was in force before episode k: uniformly from the visits of
   the last stage that had ended or, for V-learning with the rate α_t, visit j of t with probability α_t^j;
2. sets k to the episode of that visit, and
3. draws every agent's action from the distribution that the agent had at that visit.

All draws of step 1 come from the common seed, so each agent can play its part alone. Instead of drawing the first k,
play may begin with what the last episode left behind (`start = "recent"`): that leaves out the random play at first.

A record holds every visit of every episode, or M visits of each stage. Either way the visits of a (step, state) pair
stand in the order of their episodes, and an average of some of them is in force at each moment: the visits of the last
stage that has ended or, for V-learning with the rate α_t, all visits so far, with the weights α_t^j. M visits of each
stage make a policy of its own, whose gap the certificate bounds exactly. Where agents saw different things each has a
record of its own. The indices are then drawn from the same common numbers, so that agents which see the same play as
with one record; no theorem bounds the gap, `tacit.exploit` measures it.

Deviations: [Mao2022, Alg. 2] acts before it draws j and lets j range over the running stage; the proof needs the order
and the range above: V^{π̄_h^k}(s) = (1/ň)·Σ_j D_{μ^{l_j}}(r + P·V^{π̄_{h+1}^{l_j}}). Where no stage has ended before
episode k the paper leaves the policy open; here all agents play uniformly from there to the end of the episode.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.core import check, files
from tacit.core.display import count, times
from tacit.core.errors import TacitError
from tacit.core.memory import Owned, Sealed, freeze, refuse_masked
from tacit.core.types import FloatArray, IntArray
from tacit.policies.base import Part, Policy, draw

if TYPE_CHECKING:
    from tacit.games.protocol import Game

RULES = ("stage", "rate")

#: No state, action or step has a larger number.
MOST = 2**31 - 1

#: Up to this many states, looking for each state's visits is quicker than sorting all visits.
FEW_STATES = 8


class Stages(NamedTuple):
    """All stages that have ended, ordered by cell, then by time."""

    begin: IntArray  # [J]  first visit
    end: IntArray  # [J]  the visit after the last
    key: IntArray  # [J]  cell·K + the episode in which it ended


class Visits(Sealed):
    """Visits of cells h·S + s: `everything`, or `chosen` ones of each stage."""

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
        """Hold every visit. The states [K, H] of K episodes, and the distributions [K, H, Σ(A_i − 1)] there."""
        visited = freeze("visited", visited)
        if visited.ndim != 2 or 0 in visited.shape or visited.dtype.kind not in "iu":
            raise TacitError(f"visited must be whole numbers [K, H]; got shape {visited.shape} of {visited.dtype}")
        visits = cls(stored, visited.shape, actions=actions, states=states, rule=rule)
        visits.visited = visited
        visits._check_stored(visited.shape, "[K, H, Σ(A_i − 1)]")
        least, most = 0 if visited.dtype.kind == "u" else int(visited.min()), int(visited.max())
        if least < 0 or most >= visits.states:
            wrong = least if least < 0 else most
            raise TacitError(f"visited must be states from 0 to {visits.states - 1}; got {wrong}")
        return visits

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
        """Hold some visits of each stage [V], ordered by cell and episode."""
        visits = cls(stored, (episodes, horizon), actions=actions, states=states, rule="stage")
        columns = {"cell": cell, "stage": stage, "episode": episode, "until": until}
        cell, stage, episode, until = (check_whole(name, array) for name, array in columns.items())
        visits._check_stored((len(cell),), "[V, Σ(A_i − 1)]")
        if not len(cell) == len(stage) == len(episode) == len(until):
            raise TacitError("cell, stage, episode and until must have an entry for each visit")
        if len(cell):
            visits._check_order(cell, stage, episode, until)
        visits.stage, visits.until = stage, until
        visits.__dict__["keys"] = freeze("keys", Owned(cell * visits.episodes + episode))
        return visits

    def _check_stored(self, grid: tuple[int, ...], said: str) -> None:
        shape, stored = (*grid, sum(self.actions) - len(self.actions)), self.stored
        if stored.shape != shape or stored.dtype.kind != "f":
            raise TacitError(f"stored must be floats of shape {shape}, {said}; got {stored.shape} of {stored.dtype}")
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

    @property
    def visit_count(self) -> int:
        """Number of recorded visits, V."""
        return len(self.keys) if self.visited is None else self.visited.size

    @cached_property
    def keys(self) -> IntArray:
        """cell·K + episode of each visit, ascending: [V]."""
        keys: IntArray = np.argsort(self._states, axis=1, kind="stable").ravel()  # small numbers are sorted by counting
        keys += np.repeat(np.arange(self.horizon * self.states) * self.episodes, np.diff(self.edges))
        return keys

    def keys_at(self, place: IntArray) -> IntArray:
        """Return `keys[place]` for places that ascend; of few states without sorting all visits."""
        if self.visited is None or self.states > FEW_STATES:
            return self.keys[place]
        keys, cuts = np.zeros_like(place), np.searchsorted(place, self.edges)
        for c in np.flatnonzero(np.diff(cuts)):
            inside = slice(cuts[c], cuts[c + 1])
            keys[inside] = c * self.episodes + self._episodes[c][place[inside] - self.edges[c]]
        return keys

    @cached_property
    def _states(self) -> npt.NDArray[Any]:
        """The states of all visits, step by step in memory: [H, K]."""
        assert self.visited is not None
        return np.ascontiguousarray(self.visited.astype(np.min_scalar_type(self.states - 1)).T)

    @cached_property
    def _episodes(self) -> list[IntArray]:
        """The episodes of each cell's visits, of a game with few states."""
        return [np.flatnonzero(states == s) for states in self._states for s in range(self.states)]

    @cached_property
    def edges(self) -> IntArray:
        """Where the visits of each cell begin in `keys`, and an end: [H·S + 1]."""
        if self.visited is None:
            return np.searchsorted(self.keys, np.arange(self.horizon * self.states + 1) * self.episodes)
        if self.states <= FEW_STATES:
            visits = np.array([len(episodes) for episodes in self._episodes])
        else:
            visits = np.concatenate([np.bincount(states, minlength=self.states) for states in self._states])
        return np.concatenate([[0], np.cumsum(visits)])

    @cached_property
    def stages(self) -> Stages:
        """The stages that have ended."""
        return self._stages_by_length() if self.visited is not None else self._stages_as_given()

    def _stages_by_length(self) -> Stages:
        """Cut the visits of each cell into stages of the theory's lengths."""
        number = np.diff(self.edges)
        lengths = stage_lengths(self.horizon, int(number.max()))
        ends = np.cumsum(lengths)
        which, j = np.nonzero(number[:, None] >= ends)
        end = self.edges[which] + ends[j]
        return Stages(end - lengths[j], end, self.keys_at(end - 1))

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
        """Return the visits up to each stage's end, and its episode."""
        base = (h * self.states + s) * self.episodes
        ended = slice(*np.searchsorted(self.stages.key, [base, base + self.episodes]))
        return self.stages.end[ended] - np.searchsorted(self.keys, base), self.stages.key[ended] - base

    def earlier(self, h: int, k: IntArray, s: IntArray, u: FloatArray) -> IntArray:
        """Draw an earlier visit's episode for each index k; −1 for none."""
        base = (h * self.states + s) * self.episodes
        if not len(self.keys):
            return np.full(k.shape, -1)
        if self.rule == "rate":
            first = np.searchsorted(self.keys, base)
            before = np.searchsorted(self.keys, base + k) - first  # visits of (h, s) before episode k
            place, exists = first + draw_by_rate(self.horizon, before, u), before > 0
        else:
            last = np.searchsorted(self.stages.key, base + k) - 1  # the last stage that had ended before episode k
            begin, end, key = (
                field[np.maximum(last, 0)] if len(field) else np.zeros_like(last) for field in self.stages
            )
            place, exists = begin + (u * (end - begin)).astype(np.int64), (last >= 0) & (key >= base) & (end > begin)
        place = np.minimum(place, len(self.keys) - 1)
        return np.where(exists & (k >= 0), self.keys[place] - base, -1)

    def earlier_one(self, h: int, k: int, s: int, u: float) -> int:
        """Draw as `earlier` for a single index: on plain numbers, which cost less than arrays."""
        base = (h * self.states + s) * self.episodes
        if k < 0:
            return -1
        if self.rule == "rate":
            first, until = self.keys.searchsorted((base, base + k)).tolist()
            if until == first:
                return -1
            return int(self.keys[first + draw_one_by_rate(self.horizon, until - first, u)]) - base
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
        """Return what is stored at step h of the episodes k."""
        rows: npt.NDArray[Any]
        if self.visited is not None:
            rows = self.stored[np.asarray(k), h]
        else:
            step, order = self._by_step
            rows = self.stored[order[np.searchsorted(step, h * self.episodes + np.asarray(k))]]
        return rows

    def distributions(self, agent: int, k: npt.ArrayLike, h: int) -> FloatArray:
        """Return agent i's distributions [len(k), A_i] at step h of the episodes k."""
        i = check.integer("agent", agent, least=0, most=len(self.actions) - 1)
        return restore(self.rows(k, h)[..., columns(self.actions)[i]])

    def draw(self, agent: int, k: IntArray, h: int, u: FloatArray) -> IntArray:
        """Draw agent i's actions from the episodes k, uniformly where k is −1."""
        probs = np.full((len(k), self.actions[agent]), 1.0 / self.actions[agent])
        probs[k >= 0] = self.distributions(agent, k[k >= 0], h)
        actions: IntArray = (u[:, None] >= np.cumsum(probs, axis=1)[:, :-1]).sum(axis=1)
        return actions


def check_actions(actions: object) -> tuple[int, ...]:
    """Return the agents' numbers of actions."""
    each = check.list_of("actions", actions, "numbers of actions, one for each agent")
    if not each:
        raise TacitError("actions must be a list of numbers of actions, one for each agent; got an empty one")
    return tuple([check.integer(f"actions[{i}]", a, least=1, most=MOST) for i, a in enumerate(each)])


def check_whole(name: str, numbers: Any) -> IntArray:
    """Return whole numbers [V] from 0 on as an array that nobody can write to."""
    refuse_masked(name, numbers)
    array = np.asarray(numbers)
    integral = array.dtype.kind in "iu" or (array.dtype.kind == "f" and (array == np.floor(array)).all())
    if array.ndim != 1 or not integral or (array.size and (array.min() < 0 or float(array.max()) >= 2**62)):
        raise TacitError(f"{name} must be whole numbers [V] from 0; got shape {array.shape} of {array.dtype}")
    return freeze(name, array, np.int64)


def stage_lengths(horizon: int, visits: int) -> IntArray:
    """Return the lengths of stages up to so many visits. e_1 = H, e_{j+1} = ⌊(1 + 1/H)·e_j⌋.

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
        raise TacitError(f"stored must be probabilities; got {float(stored.min())} to {float(stored.max())}")
    for i, (agent_columns, size) in enumerate(zip(columns(actions), actions, strict=True)):
        if size > 2 and stored[..., agent_columns].sum(axis=-1, dtype=np.float64).max(initial=0.0) > 1 + 1e-6:
            raise TacitError(f"stored must have probabilities of agent {i} that sum to at most 1; got more")


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
    """Return every agent's distributions [n, A_i] from stored rows."""
    if len(set(actions)) == 1:  # all at once
        return list(np.moveaxis(restore(rows.reshape(len(rows), len(actions), actions[0] - 1)), 1, 0))
    return [restore(rows[:, agent_columns]) for agent_columns in columns(actions)]


def draw_by_rate(horizon: int, visits: IntArray, u: FloatArray) -> IntArray:
    """Draw j − 1 with probability α_t^j by inverting the distribution function.

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
    """Draw as `draw_by_rate` for one number, from a guess of the inverse."""
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


# the policy ----------------------------------------------------------------------------------------------------------

STARTS = ("average", "recent")


#: What a `.npz` holds of every visit, or of some of each stage; the first five of these are arrays [V, …].
_GRID = ("visited", "stored", "actions", "states", "rule", "start")
_VISITS = ("cell", "stage", "episode", "until", "stored", "actions", "states", "horizon", "episodes", "start")


class RecordedPolicy(Policy):
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
    start : {"average", "recent"}
        The hidden index that play begins with: drawn uniformly from all episodes, as in the paper, or the last one.

    Attributes
    ----------
    records : tuple of Visits
        One that all agents share, or one for each agent.

    Notes
    -----
    Memory is K·H·(4·Σ_i(A_i − 1) + 4) bytes for the arrays, and 8·K·H more once it is played. On disk states take one
    byte where there are at most 256 of them.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> visited, stored = np.zeros((4, 1), int), np.full((4, 1, 2), 0.5, np.float32)
    >>> tacit.policies.RecordedPolicy(visited, stored, actions=[2, 2], states=1)
    RecordedPolicy(2 agents, 1 state, 2×2 actions, horizon 1, from 4 episodes)
    """

    said, kinds = "a recorded policy", ("recorded",)
    horizon: int
    records: tuple[Visits, ...]
    visited: npt.NDArray[Any] | None  # [K, H] of a shared record; None where some visits of each stage were kept
    stored: npt.NDArray[Any]  # of a shared record: all but the last probability of each agent at each visit

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
        self._hold([Visits.everything(visited, stored, actions=actions, states=states, rule=rule)], start)

    @classmethod
    def of_records(cls, records: Sequence[Visits], *, start: str = "average") -> RecordedPolicy:
        """Make a policy of one shared record, or of one for each agent.

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> from tacit.policies.recorded import Visits
        >>> played = np.full((4, 1, 1), 0.5, np.float32)
        >>> own = Visits.everything(np.zeros((4, 1), int), played, actions=[2], states=1, rule="stage")
        >>> tacit.policies.RecordedPolicy.of_records([own, own]).agents
        2
        """
        policy = cls.__new__(cls)
        policy._hold(records, start)
        return policy

    def _hold(self, records: Sequence[Visits], start: str) -> None:
        self.records = tuple(check.list_of("records", records, "records"))
        self.start = check.choice("start", start, STARTS)
        if not self.records or any(not isinstance(record, Visits) for record in self.records):
            raise TacitError("a recorded policy must have a record for all agents, or one for each")
        if len(self.records) > 1 and any(len(record.actions) != 1 for record in self.records):
            raise TacitError("of several records each must be of one agent")
        sizes = {(record.episodes, record.horizon, record.rule) for record in self.records}
        if len(sizes) > 1:
            raise TacitError("the records of a policy must have the same episodes, horizon and rule")
        self.episodes, self.horizon, self.rule = sizes.pop()
        self.actions = tuple(a for record in self.records for a in record.actions)
        if len(self.records) == 1:
            self.visited, self.stored = self.records[0].visited, self.records[0].stored
        self.agents, self.states = len(self.actions), max(record.states for record in self.records)

    @property
    def record(self) -> Visits:
        """The record that all agents share."""
        if len(self.records) > 1:
            raise TacitError(
                f"{self!r} has a record for each agent, which saw different things: what is played has no "
                f"distribution by state, and no exact gap; tacit.exploit measures it by play"
            )
        return self.records[0]

    def known_states(self, agent: int) -> int:
        """Return how many states agent i's record has."""
        return self.records[agent if len(self.records) > 1 else 0].states

    def with_start(self, start: str) -> RecordedPolicy:
        """Return the same policy, beginning with "average" or "recent"; nothing is checked or copied again."""
        other = copy.copy(self)
        other.start = check.choice("start", start, STARTS)
        return other

    def starts(self) -> IntArray:
        """Return the equally likely episodes with which play begins."""
        return np.array([self.episodes]) if self.start == "recent" else np.arange(self.episodes)

    def first(self, u: FloatArray) -> IntArray:
        """Return the episodes with which episodes of play begin, drawn with the uniform numbers u."""
        starts = self.starts()
        return starts[(u * len(starts)).astype(np.int64)]

    def _part(self, agent: int) -> RecordedPart:
        return RecordedPart(self, agent)

    def check_fits(self, game: Game) -> None:
        """Raise unless all agents share a record, of the game's states, actions and horizon."""
        _ = self.record
        super().check_fits(game)

    def _content(self, path: object, shown: Sequence[int]) -> NoReturn:
        raise TacitError(
            f"cannot write {path}: a recorded policy is a .npz, of which Part.load(…, agent=0) reads a part; a Markov "
            "policy, such as run.candidates['markov'].policy, is written as .json too"
        )

    def _arrays(self) -> dict[str, Any]:
        record = self.records[0]
        shared = {"kind": np.array("recorded"), "actions": np.array(self.actions), "start": np.array(self.start)}
        if record.visited is None:
            sizes = {name: np.asarray(getattr(record, name)) for name in ("states", "horizon", "episodes")}
            cell, episode = np.divmod(record.keys, record.episodes)
            visits = {"cell": cell, "stage": record.stage, "episode": episode, "until": record.until}
            return {**shared, **visits, "stored": record.stored, **sizes}
        if len(self.records) == 1:
            visited, states = record.visited.astype(np.min_scalar_type(self.states - 1)), np.asarray(self.states)
            stored = record.stored
        else:
            visited = np.stack([each.visited for each in self.records], axis=2)  # type: ignore[misc]
            stored = np.concatenate([each.stored for each in self.records], axis=2)
            states = np.array([each.states for each in self.records])
        rule, stored = np.array(self.rule), stored.astype(np.float32)
        return {**shared, "rule": rule, "visited": visited, "stored": stored, "states": states}

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> RecordedPolicy:
        kind = files.single("kind", arrays["kind"]) if "kind" in arrays else None
        if kind not in cls.kinds:
            raise TacitError(f"it holds a policy of the kind {kind!r}")
        check_keys(arrays, _VISITS if "cell" in arrays else _GRID)
        start, actions = files.single("start", arrays["start"]), files.integers("actions", arrays["actions"])
        if "cell" in arrays:  # some visits of each stage
            sizes = {key: files.single(key, arrays[key]) for key in ("states", "horizon", "episodes")}
            visits = Visits.chosen(*(arrays[key] for key in _VISITS[:5]), actions=actions, **sizes)
            return cls.of_records([visits], start=start)
        visited, stored, rule = arrays["visited"], arrays["stored"], files.single("rule", arrays["rule"])
        if visited.ndim != 3:  # one record for all agents
            states = files.single("states", arrays["states"])
            return cls(Owned(visited), Owned(stored), actions=actions, states=states, rule=rule, start=start)
        each = files.integers("states", arrays["states"])
        if visited.shape[2] != len(actions) or len(each) != len(actions):
            raise TacitError(f"visited must be [K, H, {len(actions)}]; got {visited.shape}")
        shape = (*visited.shape[:2], sum(actions) - len(actions))
        if stored.shape != shape:
            raise TacitError(f"stored must be {shape}; got {stored.shape}")
        return cls.of_records(each_agents_own(visited, stored, actions=actions, states=each, rule=rule), start=start)

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> NoReturn:
        raise TacitError("a recorded policy is a .npz")

    def __repr__(self) -> str:
        sizes = f"{self.agents} agents, {count(self.states, 'state')}, {times(self.actions)} actions"
        record = self.records[0]
        number = "" if record.visited is not None else f"{count(len(record.keys), 'visit')} "
        apart = ", a record for each agent" if len(self.records) > 1 else ""
        return f"RecordedPolicy({sizes}, horizon {self.horizon}, {number}from {self.episodes} episodes{apart})"


def check_keys(arrays: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raise unless a file has all of these arrays."""
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise TacitError(f"it has no {' and no '.join(missing)}")


def each_agents_own(
    visited: npt.NDArray[Any], stored: npt.NDArray[Any], *, actions: Sequence[int], states: Sequence[int], rule: str
) -> list[Visits]:
    """Split states [K, H, N] and distributions into a record for each agent."""
    return [
        Visits.everything(
            Owned(np.ascontiguousarray(visited[:, :, i])),
            Owned(np.ascontiguousarray(stored[:, :, agent_columns])),
            actions=[actions[i]],
            states=states[i],
            rule=rule,
        )
        for i, agent_columns in enumerate(columns(actions))
    ]


class RecordedPart(Part):
    """One agent's part of a recorded policy. It needs the common seed and the states, and no message.

    Parameters
    ----------
    policy : RecordedPolicy
    agent : int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> played = np.full((4, 1, 2), 0.5, np.float32)
    >>> policy = tacit.policies.RecordedPolicy(np.zeros((4, 1), int), played, actions=[2, 2], states=1)
    >>> mine = policy.part(1)
    >>> mine.begin(seed=3)  # of the episode; the same for all agents
    >>> mine.act(0, 0) in (0, 1)
    True
    """

    def __init__(self, policy: RecordedPolicy, agent: int) -> None:
        super().__init__(agent, policy.actions[agent], policy.horizon)
        self.policy = policy
        self.index = -1  # the hidden index, the same for all agents; −1 once it has been lost in a first stage
        apart = len(policy.records) > 1
        self._record = policy.records[agent if apart else 0]
        self._columns = columns(self._record.actions)[0 if apart else agent]

    def _begin(self) -> None:
        assert self._common is not None
        policy = self.policy
        self.index = policy.episodes if policy.start == "recent" else int(self._common[-1] * policy.episodes)

    def _lose(self) -> None:
        self.index = -1

    def _act(self, h: int, s: int | None) -> int:
        if s is None:
            return self.stray(h)
        if type(s) is not int or not 0 <= s < self._record.states:
            s = check.integer("s", s, least=0, most=self._record.states - 1)
        u = self._step(h)
        assert self._common is not None
        self.index = self._record.earlier_one(h, self.index, s, self._common[h])
        if self.index < 0:
            return int(u * self._size)
        return draw(self._record.rows(self.index, h)[self._columns].tolist(), u)
