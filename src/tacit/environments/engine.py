"""The environment engine: agents on their own in somebody else's environment.

Each agent gets its own observation and its own reward, nothing else, and numbers what it observes for itself. All of
them act in one compiled call and learn in another (`engine/team.py`), with the same bits as `tacit.agent` objects that
are on their own. An agent that is out before the horizon stays in a state "over", which pays nothing.
"""

from __future__ import annotations

import copy
import json
import math
import struct
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.check import EPISODES
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned, lock
from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays, check_equal, check_names, check_seconds, take, whole_number
from tacit.engine.drive import Engine, Nothing
from tacit.engine.events import log
from tacit.engine.outputs.recorded import Record
from tacit.engine.run import Gaps
from tacit.engine.team import APART, BAD_REWARD, BAD_STATE, SAME, Fixed, team_of
from tacit.environments import resume
from tacit.environments.adapters import Environment, floats, stand_in
from tacit.environments.bounds import (
    Bounds,
    EnvironmentGame,
    Exceeded,
    OutOfRange,
    check_ended,
    check_over,
    check_rewards,
    stored_bounds,
)
from tacit.environments.observations import OVER, Encode, Numbering, Observations, numberings
from tacit.environments.resume import TOLD, Seeding
from tacit.games.protocol import Game
from tacit.learners import Learner, World, v_base
from tacit.learners.spec import Scale
from tacit.policies import MarkovPolicy, RecordedPolicy
from tacit.policies.recorded import STARTS, check_stored, each_agents_own

DIFFERENT = (
    "the agents saw different observations; the guarantees ask for a state that all of them see, so there is no bound"
)
NOT_COMMON = "the agents saw different observations, and those of this learner must all see the same state"
MARKOV = "the bound holds if what all agents see is the state of a Markov game, which nobody can check from outside"

#: Observations after which the share of new ones says something.
MANY = 2_000

#: Visits of a state, and of a step of it, from which on and below which steps are better shared.
OFTEN, RARELY = 10, 2

#: What helps where memory is short.
FEWER = "encode= makes fewer states (rounds, bins, leaves out), keep=False leaves out the record"
#: Copies of the answer's table that are made at the end, and bytes that are left for all else.
ANSWERS, SPARE = 3, 1 << 27

#: A state's number, where memory is made for what is met.
UNLIMITED = 2**31


class CutShort(TacitError):
    """Ctrl-C came within an episode, which does not count."""


class EnvironmentEngine(Engine):
    """The agents, what each makes of its observations, and the record of where they were."""

    def __init__(
        self,
        environment: Environment,
        learner: Learner,
        bounds: Bounds,
        *,
        episodes: int,
        seed: int,
        encode: Sequence[Encode | None] | None = None,
        game: Game | None = None,
        seeding: Seeding | None = None,
    ) -> None:
        before = _numbered_before(learner, len(environment.actions))
        if any(OVER in own.met for own in before):
            bounds = replace(bounds, early=True)
        self.environment, self.learner, self.bounds, self.seed = environment, learner, bounds, seed
        self.observations = numberings(environment, encode, early=bounds.early)
        for own, known in zip(self.observations, before, strict=False):
            own.restore(list(known.met))
        self._own_game = EnvironmentGame(environment, bounds, self.observations) if game is None else None
        self.game: Game = self._own_game or game  # type: ignore[assignment]
        self.chunk = episodes
        self.seconds = 0.0
        self.visited: npt.NDArray[np.uint32] | None = None  # [K, H, N]  each agent's own states
        self._record: Any = Nothing()
        self.world = self._known(episodes)
        self.team = team_of(learner, self.world._replace(states=self._room()), seed=seed)
        self._seen = Numbering(self.observations)
        self._numbered = all(own.numbered for own in self.observations)
        self.observing = [i for i in range(len(environment.actions)) if learner.seat(i).observes]
        self._limit_states()
        self._hear: Any = struct.Struct(f"{self.game.agents}d{self.game.agents}q").pack_into
        self._heard = memoryview(self.team.buffer.rewards.base)  # type: ignore[arg-type]
        self._episode, self._episodes = 0, episodes
        self._taken = (0, 0)  # bytes, as of an episode
        self._seeding = Seeding(environment, seed) if seeding is None else seeding
        self.tells_seeding = self._said_new = self._said_short = False
        self._tell()

    def _known(self, episodes: int) -> World:
        """Return what the agents know; the scale counts as many states as they may come to see."""
        horizon, actions = self.bounds.horizon, self.game.actions
        states = max(own.at_most(episodes * horizon) for own in self.observations)
        scale = Scale(self.game.agents, states, max(actions), horizon, episodes)
        return World(self.game.states, lock(np.array(actions)), horizon, self.bounds.reward_range, scale)

    def _limit_states(self) -> None:
        """Tell the team which states each agent can be in: those of its own space, or those that there is room for."""
        room = self.team.room or UNLIMITED
        self.team.buffer.known[:] = [len(own.met) if self._numbered else room for own in self.observations]

    def _room(self) -> int:
        """Return how many states to begin with; a random start is for those of one episode, where nobody knows them."""
        random = any(self.learner.seat(i).start == "random" for i in range(self.game.agents))
        return max(known or (self.bounds.horizon if random else 1) for known in self._met)

    @property
    def _met(self) -> list[int]:
        """States that each agent has met; all of its space where that numbers them."""
        return [len(own.met) for own in self.observations]

    @property
    def _proven(self) -> bool:
        return not self.bounds.uncertain and v_base.is_bound(self.learner, self.world, self.world.scale)

    @property
    def common_state(self) -> bool:  # type: ignore[override]
        """Whether all agents saw the same at every step."""
        return self._seen.same

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes one by one for a tenth of a second, one at least; return the agents' returns [episodes, N]."""
        began, first = time.perf_counter(), self._episode
        returns: list[FloatArray] = []
        self._watch_memory()
        try:
            while not self.full and len(returns) < episodes and (not returns or time.perf_counter() - began < 0.1):
                returns.append(self._play())
                if self.learner.informed and not self.common_state:
                    raise TacitError(NOT_COMMON)
        except (memory.Full, MemoryError) as error:
            if self._episode == 0:
                raise
            self.full = f"stopped after {self._episode:,} episodes: {error or 'there is no memory left'}; {FEWER}"
        except TacitError as error:
            if self._episode == 0 or isinstance(error, OutOfRange | Fixed):
                raise
            self.failure = error
        except KeyboardInterrupt:  # the second, in an environment that hangs
            if self._episode == 0:
                raise
            self.failure = CutShort(f"Ctrl-C within an episode of {self.game.name}; the episodes before it are kept")
        self.seconds += time.perf_counter() - began
        if self.visited is not None:
            self.record.visited[first : self._episode] = self.visited[first : self._episode, :, 0]
        self._tell()
        return np.array(returns).reshape(len(returns), self.game.agents)

    def _tell(self) -> None:
        """Bring the notes up to date."""
        proven = [MARKOV] if self._proven and self.common_state else []
        new = self._count_new()
        if new and not self._said_new:  # early: the run may take long
            self._said_new = True
            log.warning("%s: %s", self.game.name, new)
        self.warnings = tuple(one for one in ("" if self.common_state else DIFFERENT, new) if one)
        told = [TOLD[self._seeding.how]] if self.tells_seeding else []
        self.notes = (*self.bounds.notes, *proven, *self.warnings, *self._compare_steps(), *told)

    def _watch_memory(self) -> None:
        """End the run while there is memory for its answer; say so early where that will be before its last episode."""
        free, k = memory.available(), self._episode
        answer = ANSWERS * memory.floats(self.bounds.horizon, max(self._met), sum(self.game.actions)) + SPARE
        if k and free < answer:
            told = f"{memory.human(self.team.bytes)} are remembered, the answer takes {memory.human(answer)}"
            self.full = f"stopped after {k:,} episodes, while there is memory left: {told}; {FEWER}"
        before, taken = self._taken, self.team.bytes + answer
        self._taken = (k, taken)
        if self._said_short or k == before[0] or self._episodes == EPISODES or taken < free // 10:
            return
        affords = int(k + (free - answer) * (k - before[0]) / max(taken - before[1], 1))
        if affords < self._episodes:
            self._said_short = True
            told = f"memory will do for about {affords:,} of {self._episodes:,} episodes, if states stay as new as now"
            log.warning("%s: %s; the run ends there with what it has; %s", self.game.name, told, FEWER)

    def _compare_steps(self) -> list[str]:
        """Return what to note where states are met often, and single steps of them too rarely to learn from."""
        steps, met, cells = self._episode * self.bounds.horizon, max(self._met), self.team.buffer.cells
        if steps < MANY or self.learner.steps not in (None, "each") or not len(cells.keys):
            return []
        often, rarely = steps / met, steps / max(int(cells.filled.max()) - 1, 1)
        if often < OFTEN or rarely >= RARELY:
            return []
        told = f"a state was met {often:.0f} times, and {rarely:.1f} times at a step of it"
        return [f"{told}: steps='shared' learns from all steps of a state together"]

    def _count_new(self) -> str:
        """Return in words how many observations are new, where most are; "" otherwise."""
        steps, met = self._episode * self.bounds.horizon, max(self._met)
        if self._numbered or steps < MANY or met < steps / 2:
            return ""
        places = self.bounds.horizon * met * max(self.game.actions)
        return (
            f"of {steps:,} observations {met / steps:.0%} were new: a state was met {steps / met:.1f} times, and an "
            f"action tried {steps / places:.1g} times at a step of it, too rarely to learn from; give encode=, such as "
            f"tacit.Bins(4) with 4 bins for each number, or Bins([4, 1, …]), where 1 leaves a number out"
        )

    def _play(self) -> FloatArray:
        """Play one episode; return the agents' returns [N]."""
        k, last, step, seen = self._episode, self.bounds.horizon - 1, self.environment.step, self._seen
        buffer, turn = self.team.buffer, self.team.begin(k)
        actions, heard, hear, plain, known = buffer.chosen.tolist, self._heard, self._hear, seen.plain, seen.known
        over: list[bool] | None = None  # nobody is out yet
        shown = self.environment.reset(self._seeding.at(k, self.learner.rota))
        seen.put(shown, buffer.nexts)
        if self.observing:
            self._show(shown, None)
        found = turn(-1)
        if found != SAME:
            self._settle(turn, found, -1, shown)
        for h in range(last + 1):
            if over is None or not all(over):
                shown, paid, over = step(actions())
                if over is None and (plain or h < last):
                    try:
                        hear(heard, 0, *paid, *(shown if plain else known(shown)))  # the turn looks at what is written
                    except Exception:  # no numbers, or a state that is met for the first time
                        self._take(h, shown, paid, over)
                else:
                    self._take(h, shown, paid, over)
            else:
                buffer.rewards[:] = 0.0
                if h < last:
                    seen.read(shown, over, buffer.nexts)
            if self.observing:
                self._show(shown, over)
            found = turn(h)
            if found != SAME:
                self._settle(turn, found, h, shown)
        self.bounds = check_ended(self.bounds, over)
        self._episode += 1
        if self.visited is not None:
            self._record.clock[0] = self._episode
        return buffer.returns.copy()

    def _show(self, shown: Sequence[Any], over: list[bool] | None) -> None:
        """Show agents what they observe, those that are out nothing."""
        flags = over or [False] * len(shown)
        self.team.shown = [None if out else seen for seen, out in zip(shown, flags, strict=True)]

    def answers(self) -> list[Callable[[Any, int], Any] | None]:
        """Return what each agent that observes plays, as a function of observation and step; None for the others."""
        named = getattr(self.environment, "choices", [range(size) for size in self.environment.actions])
        return [
            _answer(self.team.agents[i].inner, named[i]) if i in self.observing else None for i in range(len(named))
        ]

    def _take(self, h: int, shown: Sequence[Any], paid: Sequence[Any], over: list[bool] | None) -> None:
        """Write down rewards and states, looking at each; what is none is told."""
        buffer = self.team.buffer
        buffer.rewards[:] = floats(self.environment, paid)
        if h < self.bounds.horizon - 1:
            if over is not None:
                check_over(self.bounds, over)
            self._seen.read(shown, over, buffer.nexts)

    def _settle(self, turn: Callable[[int], int], seen: int, h: int, shown: Sequence[Any]) -> None:
        """See to what a turn found: that agents saw different things, or what is out of bounds and so was not done."""
        buffer = self.team.buffer
        if seen == BAD_REWARD:
            buffer.span[:] = self._widen(floats(self.environment, buffer.rewards.tolist()))
            seen = turn(h)
        if seen == BAD_STATE and not self._numbered:
            self.team.grow(max(*self._met, 2 * self.team.room))
            seen = turn(h)
        elif seen == BAD_STATE:
            self._seen.read(shown, None, buffer.nexts)  # tells which
            seen = turn(h)
        if seen == APART:
            if self.learner.central:
                told = "a central learner needs a state that all agents see, and they saw different things"
                raise TacitError(f"{told} in {self.game.name}; learners that each agent runs alone do without")
            self._seen.differ()
        elif seen != SAME:
            raise TacitError(f"{self.game.name} showed {brief(shown)}, which is not in its space of observations")

    def _widen(self, paid: Sequence[float]) -> tuple[float, float]:
        """Return a range with these rewards in it; learners that depend on the range start over with a wider one."""
        if not (self.learner.rangeless and self.bounds.guessed_range):
            check_rewards(self.bounds, paid)
        low, high = self.bounds.reward_range
        wider = (min(low, *paid), max(high, *paid))
        told = f"rewards were met in [{wider[0]:g}, {wider[1]:g}], beyond those of the first episodes"
        kept = tuple(note for note in self.bounds.notes if not note.startswith("rewards were met"))
        self.bounds = replace(self.bounds, reward_range=wider, notes=(*kept, told))
        if self._own_game is not None:
            self._own_game.reward_range = wider
        return wider

    @property
    def record(self) -> Any:
        """What the certified policy is made of, where it is kept."""
        return self._record

    @record.setter
    def record(self, kept: Any) -> None:
        if kept is self._record:
            return
        before, self._record = self.visited, kept
        if not isinstance(kept, Record):
            self.visited = None
        elif before is None or len(before) < kept.capacity:
            shape = (*kept.visited.shape, self.game.agents)
            memory.require(4 * math.prod(shape), "the record of all visits (keep=False leaves it out)")
            self.visited = np.zeros(shape, dtype=np.uint32)
            if before is not None:
                self.visited[: len(before)] = before
        if self.visited is not None:
            self.team.keep(self.visited, kept.stored)

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with at the states it has met, [H, S_i, A_i]."""
        met = self._met
        if not self.observing or self._own_game is None:
            return self.team.distributions(met, recent=recent)
        return [  # what an object plays on observations is no table
            np.full((own.horizon, n, own.actions), 1 / own.actions) if i in self.observing else own.policy[:, :n]
            for i, (own, n) in enumerate(zip(self.team.agents, met, strict=True))
        ]

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy; even ones at states that an agent had not met by then."""
        probs = []
        for table, actions, own in zip(distributions, self.game.actions, self.observations, strict=True):
            masks = own.masks()
            padded = table
            if masks or table.shape[1] < self.game.states:
                padded = np.full((self.bounds.horizon, self.game.states, actions), 1 / actions)
                padded[:, : table.shape[1]] = table
            for s, mask in masks.items():  # what a forbidden action stands for gets its share
                share = padded[:, s].copy()
                padded[:, s] = 0.0
                np.add.at(padded[:, s].T, stand_in(mask), share.T)
            probs.append(Owned(padded))
        found = MarkovPolicy(probs)
        if self._own_game is not None:
            found.observations = self.observations
        return found

    def separate(self, rule: str) -> dict[str, Any]:
        """Return the mixtures of each agent's own record, where it is kept."""
        if self.visited is None or not self._episode:
            return {}
        visited, stored = self.visited[: self._episode], self.record.stored[: self._episode]
        sizes: dict[str, Any] = {
            "actions": self.game.actions,
            "states": self._met,
            "rule": rule,
        }
        records = each_agents_own(visited, stored, **sizes)
        found = {start: RecordedPolicy.of_records(records, start=start) for start in STARTS}
        for policy in found.values():
            policy.observations = self.observations
        return found

    @property
    def state(self) -> Any:
        """The agents' states, which new ones replace as there is room for more states; None of Python classes."""
        return self.team.buffer.learner

    def view(self, learner: Learner, pick: Callable[[Any], Any]) -> Engine:
        """Return this engine as a member of its learner sees it; of its episodes no record is kept."""
        found = copy.copy(self)
        found.learner, found.team, found.visited, found._record = (
            learner,
            self.team.view(learner, pick),
            None,
            Nothing(),
        )
        return found

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return each agent's own bound; nothing where they saw different things."""
        total = self.team.bound_sum()
        low, high = self.bounds.reward_range
        unitless = self.world.largest_gap == 0 and high > low  # the first episodes had shown one reward only
        if not self.common_state or total is None or unitless:
            return Gaps.unknown("nash", self.game.agents)
        drawn = self.bounds.drawn and any(own.count != 1 for own in self.observations)
        upper, source = v_base.judge(
            self.learner, self.world, total, done, drawn=drawn, trusted=not self.bounds.uncertain
        )
        return Gaps(kind, upper, source, most=self.bounds.horizon * (high - low))

    def model_bounds(self, policy: MarkovPolicy, *, states: float | None = None, noisy: bool = False) -> Gaps:
        """Return what a shared model says of a policy's gaps, where neither horizon nor range of rewards were guessed.

        Rewards may vary, and there are fewer than 2³² states.
        """
        if not self.common_state or self.bounds.uncertain:
            return Gaps.unknown(self.learner.equilibrium, self.game.agents)
        return super().model_bounds(policy, states=2.0**32, noisy=True)

    def snapshot(self) -> Arrays:
        """Return the agents' states, what they saw, the record, and what the environment has to remember."""
        k = self._episode
        met = [] if self._numbered else [own.met for own in self.observations]
        kept: Arrays = {}
        if self.visited is not None:
            kept = {"visited": self.visited[:k], "stored": self.record.stored[:k]}
        return {
            **{f"team{key}": array for key, array in self.team.snapshot().items()},
            **kept,
            "episode": np.array(k),
            "room": np.array(max(self.team.room, *self._met)),
            "same": np.array(int(self.common_state)),
            "met": np.array(resume.dumps(met)),
            "bounds": np.array(json.dumps(asdict(self.bounds))),
            "environment": np.array(f"{self._seeding.how} {self._seeding.dump()}"),
            "seconds": np.array(self.seconds),
        }

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this engine after that many episodes; `Exceeded` for one of wider bounds.

        The bounds may have been widened after what scouting shows; the caller then makes an engine with them.
        """
        words = {"met", "bounds", "environment"}
        for name in words & set(arrays):
            if arrays[name].dtype.kind != "U" or arrays[name].ndim:
                raise TacitError(f"its array {name!r} is no text")
        own = {key: array for key, array in arrays.items() if not key.startswith("team")}
        kept = set() if self.visited is None else {"visited", "stored"}
        check_names(own, {"episode", "room", "same", "seconds", *words, *kept})
        check_equal(arrays, "episode", done)
        bounds = stored_bounds(str(arrays["bounds"]))
        if bounds != self.bounds:
            if (bounds.horizon, bounds.reward_range) != (self.bounds.horizon, self.bounds.reward_range) and not (
                self.bounds.uncertain
            ):
                raise TacitError("its horizon or its range of rewards is not the one that was given")
            if not (
                self.learner.rangeless
                and replace(bounds, reward_range=(0, 0), notes=())
                == replace(self.bounds, reward_range=(0, 0), notes=())
            ):
                raise Exceeded(bounds, stored=True)
        horizon, N = self.bounds.horizon, self.game.agents
        most = max(self.team.room, 2 * (done + 1) * horizon + 2 * horizon)
        room = whole_number(arrays, "room", most=most)
        whole_number(arrays, "same", most=1)
        check_seconds(arrays, "seconds")
        met = self._read_met(str(arrays["met"]), room)
        team = {key.removeprefix("team"): array for key, array in arrays.items() if key.startswith("team")}
        counts = [len(own) for own in met] or self._met
        self.team.check(team, room, counts, done)
        if self.visited is not None:
            visited = take(arrays, "visited", np.uint32, (done, horizon, N))
            if (visited.max(axis=(0, 1), initial=0) >= np.maximum(counts, 1)).any():
                raise TacitError("its record has a state that nobody has met")
            check_stored(
                take(arrays, "stored", np.float32, (done, horizon, self.record.stored.shape[2])), self.game.actions
            )
        if str(arrays["environment"]).partition(" ")[0] != self._seeding.how:
            raise TacitError("its environment was resumed in another way")

    def _read_met(self, text: str, room: int) -> list[list[Hashable]]:
        """Return what each agent has met, by a checkpoint."""
        found = resume.loads(text)
        if not isinstance(found, list) or len(found) != (0 if self._numbered else len(self.observations)):
            raise TacitError("it does not say what each agent has met")
        return [resume.load_keys(resume.dumps(own), most=room) for own in found]

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        room, self._episode = int(arrays["room"]), int(arrays["episode"])
        for own, met in zip(self.observations, self._read_met(str(arrays["met"]), room), strict=False):
            own.restore(met)
        team = {key.removeprefix("team"): array for key, array in arrays.items() if key.startswith("team")}
        self.team.restore(team, room)
        self._limit_states()
        self._seen.same = bool(arrays["same"])
        if self.visited is not None:
            self.record = self.record.enlarge(self._episode)
            self.visited[: self._episode] = arrays["visited"]
            self.record.stored[: self._episode] = arrays["stored"]
            self.record.visited[: self._episode] = arrays["visited"][:, :, 0]
            self.record.clock[0] = self._episode
        self.seconds = float(arrays["seconds"])
        self.bounds = stored_bounds(str(arrays["bounds"]))
        self.team.buffer.span[:] = self.bounds.reward_range
        if self._own_game is not None:
            self._own_game.reward_range = self.bounds.reward_range
        self._tell()
        self._seeding.load(str(arrays["environment"]).partition(" ")[2])


def _numbered_before(learner: Learner, agents: int) -> list[Observations]:
    """Return how the agents of a starting policy numbered what they saw; nothing where there is none."""
    for i in range(agents):
        start = learner.seat(i).start
        known = getattr(start, "observations", None)
        if known is not None:
            return list(known)
    return []


def _answer(inner: Any, named: Sequence[Any]) -> Callable[[Any, int], Any]:
    """Return what somebody's object plays: its probabilities, or its action by the environment's name."""

    def play(observation: Any, step: int) -> Any:
        if callable(getattr(inner, "probabilities", None)):
            return inner.probabilities(step, observation)
        return named[inner.act(step, observation)]

    play.__name__ = type(inner).__name__
    return play
