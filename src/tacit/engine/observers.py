"""What watches the loop: the record of visits, all or some of each stage, and the iterates; or nothing.

An observer is a struct with a kernel `observe`. Engines store and restore it by its declared fields, whatever it is:

- arrays that can be written to are its state;
- those named in `by_episode` have a row for each episode: what is stored are the rows that have been written, and
  capacity is made for them before they come back;
- `clock` counts the episodes that have begun, and every clock of a checkpoint must say how many were done;
- a struct that knows more about its numbers, at any depth, has a method `check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.engine.checkpoint import Arrays, check_alike, check_equal, check_names, pack, unpack
from tacit.evaluation.certificate import Schedule, is_kept, pass_by, schedule
from tacit.games.protocol import Game
from tacit.learners.several import is_own
from tacit.policies.recorded import STARTS, RecordedPolicy, check_stored


class Nothing(NamedTuple):
    """Watches nothing; the compiler removes it.

    Attributes
    ----------
    empty : int
        A struct needs a field.

    Examples
    --------
    >>> from tacit.kernels import Nothing
    >>> Nothing()
    Nothing(empty=0)
    """

    empty: int = 0


@generics.observe.implement(Nothing)
def observe_nothing(observer, learner, game, seats, h, s):
    """Do nothing."""


# the record of every visit -------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """Every visited state, and the distributions that the agents had there."""

    visited: npt.NDArray[np.uint32]  # [K, H]
    stored: npt.NDArray[np.float32]  # [K, H, Σ(A_i − 1)]
    clock: IntArray  # [1]  episodes that have begun
    room: FloatArray  # [A]

    @property
    def by_episode(self) -> tuple[str, ...]:
        """The arrays that have a row for each episode."""
        return "visited", "stored"

    def check(self, arrays: Arrays, name: str, game: Game, done: int) -> None:
        """Raise unless the arrays of a checkpoint can be a record of this game."""
        if arrays[f"{name}.visited"].max(initial=0) >= game.states:
            raise TacitError("its record has a state that the game does not have")
        check_stored(arrays[f"{name}.stored"], game.actions)

    def policies(self, game: Game, rule: str) -> dict[str, RecordedPolicy]:
        """Return the policies that the record describes, by where they begin; they share its arrays."""
        written = cut(self, int(self.clock[0]))
        visited, stored = Owned(written.visited), Owned(written.stored)  # the run has ended: nobody writes any more
        policy = RecordedPolicy(visited, stored, actions=game.actions, states=game.states, rule=rule)
        policy.observations = getattr(game, "observations", None)
        return {start: policy.with_start(start) for start in STARTS}

    def more(self, game: Game, done: int, episodes: int) -> Record:
        """Return a record with capacity for at least one of so many episodes after `done`, where memory has it."""
        if done < capacity(self):
            return self
        wanted = min(episodes, 2 * capacity(self), memory.available() // 2 // bytes_of(game, 1))
        found: Record = enlarge(self, wanted)
        return found


#: Bytes of a record that grows, at first; its capacity is doubled whenever it is full.
_FIRST = 1 << 28


def bytes_of(game: Game, episodes: int) -> int:
    """Return the bytes that the record of so many episodes takes."""
    return 4 * episodes * game.horizon * (sum(game.actions) - game.agents + 1)


def record(game: Game, episodes: int, *, grows: bool = False) -> Record:
    """Make a record for so many episodes; one that grows has capacity for the first of them."""
    if grows:
        episodes = min(episodes, max(1, _FIRST // bytes_of(game, 1)))
    what = "the record of all visits (keep=False leaves it and the recorded policy out)"
    memory.require(bytes_of(game, episodes), what)
    return Record(
        visited=np.zeros((episodes, game.horizon), dtype=np.uint32),
        stored=np.zeros((episodes, game.horizon, sum(game.actions) - game.agents), dtype=np.float32),
        clock=np.zeros(1, dtype=np.int64),
        room=np.zeros(max(game.actions)),
    )


@generics.jitable
def write_down(learner, i, h, s, size, room, row, column):
    """Write all but the last of agent i's probabilities into a row of a record, from a column on; return the next."""
    generics.weigh(learner, i, h, s, room)
    for a in range(size - 1):
        row[column + a] = room[a]
    return column + size - 1


@generics.observe.implement(Record)
def observe_record(observer, learner, game, seats, h, s):
    """Write down the state and all agents' distributions."""
    if h == 0:
        observer.clock[0] += 1
    k = max(observer.clock[0] - 1, 0)
    observer.visited[k, h] = s
    column = 0
    for i in range(len(seats)):
        column = write_down(learner, i, h, s, game.actions[i], observer.room, observer.stored[k, h], column)


# the record of some visits of each stage -----------------------------------------------------------------------------


class StageRecord(NamedTuple):
    """What the agents had at M visits of each stage of each (h, s), evenly spaced."""

    times: Schedule
    episode: IntArray  # [C, J, M]
    until: IntArray  # [C, J]  the episode in which the stage ended
    number: IntArray  # [C, J]  visits kept
    stored: npt.NDArray[np.float32]  # [C, J, M, Σ(A_i − 1)]
    clock: IntArray  # [1]  episodes that have begun
    room: FloatArray  # [A]

    def check(self, arrays: Arrays, name: str, game: Game, done: int) -> None:
        """Raise unless the arrays of a checkpoint can be a record of this run after `done` episodes."""
        check_stored(arrays[f"{name}.stored"], game.actions)
        number, until, episode = (arrays[f"{name}.{field}"] for field in ("number", "until", "episode"))
        if (number > self.times.most).any() or (until >= max(done, 1)).any() or (episode >= max(done, 1)).any():
            raise TacitError("its record has visits that this run cannot have made")

    def policies(self, game: Game, rule: str) -> dict[str, RecordedPolicy]:
        """Return the policies that the record describes, by where they begin."""
        there = np.arange(self.episode.shape[2]) < self.number[:, :, None]  # [C, J, M]
        cell, stage, _ = np.nonzero(there)
        arrays: list[Any] = [cell, stage, self.episode[there], self.until[cell, stage], Owned(self.stored[there])]
        sizes: dict[str, Any] = {"actions": game.actions, "states": game.states, "horizon": game.horizon}
        policy = RecordedPolicy.of_stages(*arrays, **sizes, episodes=int(self.clock[0]))
        return {start: policy.with_start(start) for start in STARTS}


def stage_record(game: Game, episodes: int, most: int) -> StageRecord:
    """Make the record of a run of so many episodes that keeps `most` visits of each stage."""
    times = schedule(game, episodes, most)
    C, J, width = game.horizon * game.states, len(times.length), sum(game.actions) - game.agents
    what = f"the record of {most} visits of each stage (fewer visits_per_stage= take less)"
    memory.require(C * J * most * (8 + 4 * width), what)
    return StageRecord(
        times=times,
        episode=np.zeros((C, J, most), dtype=np.int64),
        until=np.zeros((C, J), dtype=np.int64),
        number=np.zeros((C, J), dtype=np.int64),
        stored=np.zeros((C, J, most, width), dtype=np.float32),
        clock=np.zeros(1, dtype=np.int64),
        room=np.zeros(max(game.actions)),
    )


@generics.observe.implement(StageRecord)
def observe_stages(observer, learner, game, seats, h, s):
    """Write the visit down if it is kept."""
    if h == 0:
        observer.clock[0] += 1
    c = h * game.states + s
    j = observer.times.stage[c]
    keep = is_kept(observer.times, c)
    if keep:
        m = observer.times.kept[c]
        observer.episode[c, j, m] = observer.clock[0] - 1
        column = 0
        for i in range(len(seats)):
            column = write_down(learner, i, h, s, game.actions[i], observer.room, observer.stored[c, j, m], column)
    ends, kept = pass_by(observer.times, c, keep)
    if ends:
        observer.until[c, j] = observer.clock[0] - 1
        observer.number[c, j] = kept


# the iterates --------------------------------------------------------------------------------------------------------


class Trace(NamedTuple):
    """Every agent's distributions everywhere, at the beginning of each episode since the trace was last read."""

    table: FloatArray  # [episodes, N, H, S, A]
    rows: IntArray  # [1]  episodes written


def trace(game: Game, episodes: int) -> Trace:
    """Make a trace for the iterates of a chunk of episodes."""
    shape = (episodes, game.agents, game.horizon, game.states, max(game.actions))
    return Trace(memory.zeros(shape, "the iterates of a chunk"), np.zeros(1, dtype=np.int64))


@generics.observe.implement(Trace)
def observe_trace(observer, learner, game, seats, h, s):
    """Write down the iterate that is about to be played."""
    if h == 0:
        k = observer.rows[0]
        observer.rows[0] = k + 1
        for i in range(len(seats)):
            for step in range(observer.table.shape[2]):
                for state in range(observer.table.shape[3]):
                    generics.weigh(learner, i, step, state, observer.table[k, i, step, state])


# one for each member of a portfolio ----------------------------------------------------------------------------------


class Watch(NamedTuple):
    """What watches the episodes of one member, and of those after it: a chain, or what watches the last."""

    own: Any
    others: Any
    left: int  # members from this one on

    def split(self, done: int) -> tuple[int, int]:
        """Return how many of `done` episodes are this member's, and how many the others'."""
        own = -(-done // self.left)
        return own, done - own


def watch_members(watching: Sequence[Any]) -> Any:
    """Return one observer that shows each of these the episodes of its own member."""
    chain = watching[-1]
    for k, own in enumerate(reversed(watching[:-1])):
        chain = Watch(own, chain, k + 2)
    return chain


@generics.observe.implement(Watch)
def observe_member(observer, learner, game, seats, h, s):
    """Let the observer see the visit whose member's turn it is."""
    if is_own(learner, 0):
        generics.observe(observer.own, learner.own, game, seats, h, s)
    else:
        generics.observe(observer.others, learner.others, game, seats, h, s)


# storing and restoring any of them -----------------------------------------------------------------------------------


def capacity(observer: Any) -> int:
    """Return how many episodes an observer with rows by episode can hold."""
    return len(getattr(observer, observer.by_episode[0]))


def enlarge(observer: Any, episodes: int) -> Any:
    """Return an observer with capacity for at least so many episodes: itself, or a copy."""
    if episodes <= capacity(observer):
        return observer
    wider = {}
    for name in observer.by_episode:
        own = getattr(observer, name)
        wider[name] = np.zeros((episodes, *own.shape[1:]), dtype=own.dtype)
        wider[name][: len(own)] = own
    return observer._replace(**wider)


def cut(observer: Any, episodes: int) -> Any:
    """Return what so many episodes write of an observer: rows by episode are views of the first so many."""
    return observer._replace(**{name: getattr(observer, name)[:episodes] for name in _rows(observer)})


def snapshot(observer: Any, name: str) -> Arrays:
    """Return the arrays that an observer has written so far."""
    if hasattr(observer, "split"):
        return {**snapshot(observer.own, f"{name}.own"), **snapshot(observer.others, f"{name}.others")}
    return pack(cut(observer, int(observer.clock[0])) if _rows(observer) else observer, name)


def check(observer: Any, arrays: Arrays, name: str, game: Game, done: int, *, most: int) -> None:
    """Raise unless arrays can be a snapshot of this observer after `done` episodes."""
    if hasattr(observer, "split"):
        for part, own in zip(("own", "others"), observer.split(done), strict=True):
            check(getattr(observer, part), arrays, f"{name}.{part}", game, own, most=most)
        return
    for field in _rows(observer):
        written = arrays.get(f"{name}.{field}")
        if written is None or written.shape[:1] != (done,):  # before capacity is made for them
            raise TacitError(f"its record is not of {done} episodes")
    fresh = pack(cut(enlarge(observer, done), done) if _rows(observer) else observer, name)
    check_names({key: array for key, array in arrays.items() if key.startswith(f"{name}.")}, set(fresh))
    check_alike(arrays, fresh, most=most)
    for key in fresh:
        if key.endswith(".clock"):
            check_equal(arrays, key, done, (1,))
    _check_structs(observer, arrays, name, game, done)


def restore(observer: Any, arrays: Arrays, name: str) -> Any:
    """Return the observer with a snapshot that was checked: itself, or one of larger capacity."""
    if hasattr(observer, "split"):
        held = {part: restore(getattr(observer, part), arrays, f"{name}.{part}") for part in ("own", "others")}
        return observer._replace(**held)
    if _rows(observer):
        done = int(arrays[f"{name}.clock"][0])
        observer = enlarge(observer, done)
        unpack(cut(observer, done), arrays, name)
    else:
        unpack(observer, arrays, name)
    return observer


def _rows(observer: Any) -> tuple[str, ...]:
    return getattr(observer, "by_episode", ())


def _check_structs(struct: Any, arrays: Arrays, name: str, game: Game, done: int) -> None:
    """Let every struct check what it knows of its own numbers, nested ones first."""
    for field, value in zip(getattr(struct, "_fields", ()), struct, strict=False):
        if hasattr(value, "_fields"):
            _check_structs(value, arrays, f"{name}.{field}", game, done)
    if hasattr(struct, "check"):
        struct.check(arrays, name, game, done)
