"""The record of a large run: of each stage of each (h, s), M visits evenly spaced, written by the loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory
from tacit.core.errors import TacitError
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.engine.record import write_down
from tacit.engine.validation import Arrays
from tacit.evaluation.thinning import Schedule, is_kept, pass_by, schedule
from tacit.games.protocol import Game
from tacit.policies.recorded import STARTS, RecordedPolicy
from tacit.policies.visits import check_stored


class SampledRecord(NamedTuple):
    """What the agents had at the visits that are kept."""

    times: Schedule
    episode: IntArray  # [C, J, M]
    until: IntArray  # [C, J]  the episode in which the stage ended
    number: IntArray  # [C, J]  visits kept
    stored: npt.NDArray[np.float32]  # [C, J, M, Σ(A_i − 1)]
    clock: IntArray  # [1]  episodes that have begun
    room: FloatArray  # [A]


def sampled_record(game: Game, episodes: int, most: int) -> SampledRecord:
    """Make room for a run of so many episodes that keeps `most` visits of each stage."""
    times = schedule(game, episodes, most)
    C, J, width = game.horizon * game.states, len(times.length), sum(game.actions) - game.agents
    memory.require(
        C * J * most * (8 + 4 * width),
        f"the record of {most} visits of each stage (a smaller visits_per_stage= takes less)",
    )
    return SampledRecord(
        times=times,
        episode=np.zeros((C, J, most), dtype=np.int64),
        until=np.zeros((C, J), dtype=np.int64),
        number=np.zeros((C, J), dtype=np.int64),
        stored=np.zeros((C, J, most, width), dtype=np.float32),
        clock=np.zeros(1, dtype=np.int64),
        room=np.zeros(max(game.actions)),
    )


@generics.observe.implement(SampledRecord)
def observe_sampled(observer, learner, game, seats, h, s):
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


def sampled_policies(game: Game, kept: SampledRecord) -> dict[str, RecordedPolicy]:
    """Turn a record into the policies that it describes, by where they begin."""
    there = np.arange(kept.episode.shape[2]) < kept.number[:, :, None]  # [C, J, M]
    cell, stage, _ = np.nonzero(there)
    arrays: list[Any] = [cell, stage, kept.episode[there], kept.until[cell, stage], Owned(kept.stored[there])]
    sizes: dict[str, Any] = {"actions": game.actions, "states": game.states, "horizon": game.horizon}
    episodes = int(kept.clock[0])
    return {start: RecordedPolicy.of_stages(*arrays, **sizes, episodes=episodes, start=start) for start in STARTS}


def check_schedule(arrays: Arrays, name: str, times: Schedule) -> None:
    """Raise unless the stages of a checkpoint are some that the schedule has: they are indices in compiled code."""
    stage, passed, kept = (arrays[f"{name}.{field}"] for field in ("stage", "passed", "kept"))
    inside = (stage >= 0) & (stage < len(times.length))
    if not inside.all() or (passed >= times.length[stage]).any() or (kept > np.minimum(passed, times.most)).any():
        raise TacitError("its stages are none that this run can have come to")


def check_sampled(arrays: Arrays, name: str, kept: SampledRecord, game: Game, done: int) -> None:
    """Raise unless the record of a checkpoint can be of this run after `done` episodes."""
    check_schedule(arrays, f"{name}.times", kept.times)
    check_stored(arrays[f"{name}.stored"], game.actions)
    number, until, episode = (arrays[f"{name}.{field}"] for field in ("number", "until", "episode"))
    if (number > kept.times.most).any() or (until >= max(done, 1)).any() or (episode >= max(done, 1)).any():
        raise TacitError("its record has visits that this run cannot have made")
