"""The record that the certified policy is made of, written by the loop; and nothing, where nobody watches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.games.protocol import Game
from tacit.policies.recorded import STARTS, RecordedPolicy


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


class Record(NamedTuple):
    """Every visited state, and the distributions that the agents had there."""

    visited: npt.NDArray[np.uint32]  # [K, H]
    stored: npt.NDArray[np.float32]  # [K, H, Σ(A_i − 1)]
    clock: IntArray  # [1]  episodes that have begun
    room: FloatArray  # [A]


#: Bytes that a record has room for at first; it is made twice as large whenever it is full.
_FIRST = 1 << 28


def size_of(game: Game, episodes: int) -> int:
    """Return the bytes that the record of so many episodes takes."""
    return 4 * episodes * game.horizon * (sum(game.actions) - game.agents + 1)


def require(game: Game, episodes: int) -> None:
    """Raise if there is no memory for the record of so many episodes."""
    what = "the record of all visits (keep=False leaves it and the certified policy out)"
    memory.require(size_of(game, episodes), what)


def growing_record(game: Game, episodes: int) -> Record:
    """Make room for the first of so many episodes; `with_room` makes more."""
    return record(game, min(episodes, max(1, _FIRST // size_of(game, 1))))


def room_in(kept: Record) -> int:
    """Return how many episodes a record has room for."""
    return len(kept.visited)


def with_room(kept: Record, game: Game, done: int, episodes: int) -> Record:
    """Return a record of `done` out of so many episodes with room for at least one more, where memory has it."""
    if done < room_in(kept):
        return kept
    room = min(episodes, 2 * room_in(kept), memory.available() // 2 // size_of(game, 1))
    return enlarged(kept, room) if room > room_in(kept) else kept


def enlarged(kept: Record, episodes: int) -> Record:
    """Return a copy of a record that has room for at least so many episodes."""
    if episodes <= room_in(kept):
        return kept
    visited, stored = (np.zeros((episodes, *own.shape[1:]), dtype=own.dtype) for own in (kept.visited, kept.stored))
    visited[: room_in(kept)], stored[: room_in(kept)] = kept.visited, kept.stored
    return kept._replace(visited=visited, stored=stored)


def record(game: Game, episodes: int) -> Record:
    """Make room for the record of so many episodes."""
    width = sum(game.actions) - game.agents
    require(game, episodes)
    return Record(
        visited=np.zeros((episodes, game.horizon), dtype=np.uint32),
        stored=np.zeros((episodes, game.horizon, width), dtype=np.float32),
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


class Trace(NamedTuple):
    """Every agent's distributions everywhere, at the beginning of each episode since the trace was last read."""

    table: FloatArray  # [episodes, N, H, S, A]
    clock: IntArray  # [1]  episodes written


def trace(game: Game, episodes: int) -> Trace:
    """Make room for the iterates of a chunk of episodes."""
    shape = (episodes, game.agents, game.horizon, game.states, max(game.actions))
    return Trace(memory.zeros(shape, "the iterates of a chunk"), np.zeros(1, dtype=np.int64))


@generics.observe.implement(Trace)
def observe_trace(observer, learner, game, seats, h, s):
    """Write down the iterate that is about to be played."""
    if h == 0:
        k = observer.clock[0]
        observer.clock[0] = k + 1
        for i in range(len(seats)):
            for step in range(observer.table.shape[2]):
                for state in range(observer.table.shape[3]):
                    generics.weigh(learner, i, step, state, observer.table[k, i, step, state])


def so_far(kept: Record) -> Record:
    """Return the part of a record that has been written."""
    return up_to(kept, int(kept.clock[0]))


def up_to(kept: Record, episodes: int) -> Record:
    """Return the part of a record that so many episodes write."""
    return kept._replace(visited=kept.visited[:episodes], stored=kept.stored[:episodes])


def certified_policies(game: Game, kept: Record, rule: str) -> dict[str, RecordedPolicy]:
    """Turn a record into the policies that it describes, by where they begin; they share their arrays."""
    written = so_far(kept)
    visited, stored = Owned(written.visited), Owned(written.stored)  # the run has ended: nobody writes to them any more
    sizes: dict[str, Any] = {"actions": game.actions, "states": game.states, "rule": rule}
    policy = RecordedPolicy(visited, stored, **sizes)
    policy.observations = getattr(game, "observations", None)
    return {start: policy.with_start(start) for start in STARTS}
