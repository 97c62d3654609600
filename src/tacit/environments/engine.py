"""The environment engine: agents on their own in somebody else's environment.

Each agent gets its own observation and its own reward, nothing else, and numbers what it observes for itself. All of
them act in one compiled call and learn in another (`engine/team.py`), with the same bits as `tacit.agent` objects that
are on their own. An agent that is out before the horizon stays in a state "over", which pays nothing.
"""

from __future__ import annotations

import json
import math
import struct
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.compilation import announce_to
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned, lock
from tacit.core.types import FloatArray
from tacit.engine import outputs
from tacit.engine.checkpoint import Arrays, Checkpoint
from tacit.engine.drive import Engine, Nothing, conduct
from tacit.engine.events import Noted, Watcher, log
from tacit.engine.recorded import Record
from tacit.engine.run import Candidate, Gaps, Run
from tacit.engine.team import APART, BAD_REWARD, BAD_STATE, SAME, Fixed, team_of
from tacit.environments.adapters import Environment, WrappedEnv, environment, floats, name_of
from tacit.environments.choosing import Training, conclude
from tacit.environments.encoding import SCOUTED, fit, scouts, see_nothing
from tacit.environments.episodes import Bounds, EnvironmentGame, Exceeded, OutOfRange, Seeding, episode_bounds
from tacit.environments.external import policy_of
from tacit.environments.networks import join
from tacit.environments.observations import (
    Encode,
    Numbering,
    Observations,
    count_floats,
    dumps,
    loads,
    numberings,
    suggest_encode,
)
from tacit.games.protocol import Game
from tacit.learners import Learner, World, v_base
from tacit.learners.ppo import NetworkMember
from tacit.learners.several import is_resumable
from tacit.learners.spec import Scale
from tacit.options import Options
from tacit.policies import MarkovPolicy, NetworkPart, NetworkPolicy, RecordedPolicy
from tacit.policies.base import stand_in
from tacit.policies.recorded import STARTS, each_agents_own

DIFFERENT = (
    "the agents saw different observations; the guarantees ask for a state that all of them see, so there is no bound"
)
MARKOV = "the bound holds if what all agents see is the state of a Markov game, which nobody can check from outside"

#: Observations after which the share of new ones says something.
MANY = 2_000

#: Visits of a state, and of a step of it, from and below which sharing steps would help.
OFTEN, RARELY = 10, 2

#: What helps where memory is short.
FEWER = "encode= makes fewer states (rounds, bins, leaves out), keep=False leaves out the record"
#: Copies of the returned policy's table that are made at the end, and bytes that are left for all else.
COPIES, SPARE = 3, 1 << 27

#: Episodes at the beginning whose returns are kept.
EARLY = 10_000

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
    ) -> None:
        self.environment, self.learner, self.bounds, self.seed = environment, learner, bounds, seed
        self.observations = numberings(environment, encode)
        earlier = _numbered_before(learner, len(environment.actions))
        for observations, before in zip(self.observations, earlier, strict=False):
            observations.restore(list(before.met))
        source, names, actions = environment.source, list(environment.names), environment.actions
        own_game = EnvironmentGame(name_of(source), names, actions, bounds, self.observations, source)
        self.game: Any = own_game if game is None else game
        self.chunk = episodes
        self.seconds = 0.0
        self.visited: npt.NDArray[np.uint32] | None = None  # [K, H, N]  each agent's own states
        self._record: Any = Nothing()
        self.world = self._known(episodes)
        states = self._first_states()
        memory.require(memory.floats(12, bounds.horizon, states, sum(self.game.actions)), "what the agents learn")
        self.team = team_of(learner, self.world._replace(states=states), seed=seed)
        self._bounded = self.team.bound_sum() is not None  # whether the learner has bounds to lose
        self._numbering = Numbering(self.observations)
        self._numbered = all(observations.numbered for observations in self.observations)
        self.observing = [i for i in range(len(environment.actions)) if getattr(learner.seat(i), "observes", False)]
        if self.observing:
            length = episodes * bounds.horizon
            self.team.networks = join(learner, environment, self.team.agents, steps=length, episodes=episodes)
        self._limit_states()
        self._pack_rewards: Any = struct.Struct(f"{self.game.agents}d").pack_into
        self._episode = self._steps = 0
        self._early: list[FloatArray] = []  # returns [N] of the first episodes
        self._seeding = Seeding(environment, seed)
        self.tells_seeding = self._said_new = False
        self._tell()

    def _known(self, episodes: int) -> World:
        """Return what the agents know. The scale counts as many states as they may come to see."""
        horizon, actions = self.bounds.horizon, self.game.actions
        states = max(observations.at_most(episodes * horizon) for observations in self.observations)
        scale = Scale(self.game.agents, states, max(actions), horizon, episodes)
        return World(self.game.states, lock(np.array(actions)), horizon, self.bounds.reward_range, scale)

    def _limit_states(self) -> None:
        """Set how many states each agent can be in, by its space or by memory."""
        self.team.buffer.states[:] = self._states if self._numbered else self.team.capacity or UNLIMITED

    def _first_states(self) -> int:
        """Return how many states to begin with; with a random start, those of one episode."""
        random = any(self.learner.seat(i).start == "random" for i in range(self.game.agents))
        return max(states or (self.bounds.horizon if random else 1) for states in self._states)

    @property
    def _states(self) -> list[int]:
        """States that each agent has met; all of its space where that numbers them."""
        return [len(observations.met) for observations in self.observations]

    @property
    def common_state(self) -> bool:  # type: ignore[override]
        """Whether all agents saw the same at every step."""
        return self._numbering.same

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes for a tenth of a second; return the agents' returns [episodes, N]."""
        began, first = time.perf_counter(), self._episode
        returns: list[FloatArray] = []
        self._watch_memory()
        try:
            while not self.full and len(returns) < episodes and (not returns or time.perf_counter() - began < 0.1):
                returns.append(self._play())
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
        proven = not self.bounds.uncertain and v_base.is_bound(self.learner, self.world, self.world.scale)
        markov = [MARKOV] if proven and self.common_state else []
        new = self._count_new()
        if new and not self._said_new:  # early: the run may take long
            self._said_new = True
            log.warning("%s: %s", self.game.name, new)
        apart = DIFFERENT if self._bounded and not self.common_state else ""
        self.warnings = tuple(one for one in (apart, new) if one)
        seeding = self._seeding.notes if self.tells_seeding else ()
        self.notes = (*self.bounds.notes, *markov, *self.warnings, *self._compare_steps(), *seeding)

    def _watch_memory(self) -> None:
        """End the run while there is memory for the returned policy."""
        free, k = memory.available(), self._episode
        needed = COPIES * memory.floats(self.bounds.horizon, max(self._states), sum(self.game.actions)) + SPARE
        if k and free < needed:
            message = f"{memory.human(self.team.bytes)} are remembered, the policy takes {memory.human(needed)}"
            self.full = f"stopped after {k:,} episodes, while there is memory left: {message}; {FEWER}"

    def _compare_steps(self) -> list[str]:
        """Return a note where states are visited often, and their single steps rarely."""
        steps, met, cells = self._episode * self.bounds.horizon, max(self._states), self.team.cells
        if steps < MANY or self.learner.steps is not None or not cells:
            return []
        often, rarely = steps / met, steps / cells
        if often < OFTEN or rarely >= RARELY:
            return []
        message = f"a state was met {often:.0f} times, and {rarely:.1f} times at a step of it"
        return [f"{message}: steps='shared' learns from all steps of a state together"]

    def _count_new(self) -> str:
        """Return in words how many observations are new, where most are; "" otherwise."""
        steps, met = self._episode * self.bounds.horizon, max(self._states)
        if self._numbered or steps < MANY or met < steps / 2:
            return ""
        tried, states = steps / (met * max(self.game.actions)), max(steps // (10 * max(self.game.actions)), 2)
        return (
            f"of {steps:,} observations {met / steps:.0%} were new: a state was met {steps / met:.1f} times, and an "
            f"action tried {tried:.1g} times there, too rarely to learn from; "
            f"{suggest_encode(self._shown_numbers, states, self.environment.wrapper)}"
        )

    @property
    def _shown_numbers(self) -> int:
        """How many numbers of an observation could be put into bins, at most."""
        return max(count_floats(space) for space in self.environment.spaces)

    def _play(self) -> FloatArray:
        """Play one episode; return the agents' returns [N]."""
        environment, numbering, buffer = self.environment, self._numbering, self.team.buffer
        horizon, turn = self.bounds.horizon, self.team.begin(self._episode)
        chosen, paid, following, pack = buffer.chosen, buffer.rewards, buffer.next_states, self._pack_rewards
        over: list[bool] | None = None  # who is out; None for nobody
        observations = environment.reset(self._seeding.at(self._episode))
        for h in range(-1, horizon):
            if over is not None and all(over):
                paid[:] = 0.0
            elif h >= 0:
                observations, rewards, over = environment.step(chosen.tolist())
                self._steps += 1
                try:
                    pack(paid, 0, *rewards)  # the turn checks that they lie in the range
                except Exception:  # some are no numbers
                    paid[:] = floats(environment, rewards)
            if h + 1 < horizon and over is None:
                numbering.put(observations, following)
            elif h + 1 < horizon:
                following[:] = numbering.read(observations, over)
            if self.observing:  # who is out observes nothing
                out = over or [False] * len(observations)
                self.team.observations = [None if gone else one for one, gone in zip(observations, out, strict=True)]
            outcome = turn(h)
            if outcome != SAME:
                self._mend(outcome, turn, h, observations, over)
        self.bounds = self.bounds.check_ended(over)
        self._episode += 1
        if self.visited is not None:
            self._record.clock[0] = self._episode
        returns = buffer.returns.copy()
        if len(self._early) < EARLY:
            self._early.append(returns)
        return returns

    def summarize(self) -> Training:
        """Return what is known of the training so far."""
        early = np.array(self._early[: max(self._episode // 10, 1)])
        cells = self.team.cells if self.learner.steps is None else 0
        return Training(self._steps, early, max(self._states), cells, self._shown_numbers, self.environment.wrapper)

    def _mend(
        self, outcome: int, turn: Callable[[int], int], h: int, observations: Sequence[Any], over: list[bool] | None
    ) -> None:
        """Widen the range of rewards or take memory for states, and repeat the turn."""
        buffer = self.team.buffer
        if outcome == BAD_REWARD:
            buffer.reward_range[:] = self._widen(floats(self.environment, buffer.rewards.tolist()))
            outcome = turn(h)
        if outcome == BAD_STATE:
            buffer.next_states[:] = self._numbering.read(observations, over)  # raises where one is in no space
            if self.team.capacity:
                self.team.grow(max(*self._states, 0 if self._numbered else 2 * self.team.capacity))
            self._limit_states()
            outcome = turn(h)
        if outcome == APART:
            if "all agents" in self.learner.info.needs:
                message = "a central learner needs a state that all agents see, and they saw different things"
                raise TacitError(f"{message} in {self.game.name}; decentralized learners do without")
            self._numbering.same = False
        elif outcome != SAME:
            raise TacitError(f"{self.game.name} showed {brief(observations)}, which is not in its observation space")

    def _widen(self, paid: Sequence[float]) -> tuple[float, float]:
        """Return a range that holds these rewards; learners that depend on it start over."""
        if not (self.learner.info.reward_scale_free and self.bounds.guessed_range):
            self.bounds.check_rewards(paid)
        low, high = self.bounds.reward_range
        wider = (min(low, *paid), max(high, *paid))
        message = f"rewards were met in [{wider[0]:g}, {wider[1]:g}], beyond those of the first episodes"
        others = tuple(note for note in self.bounds.notes if not note.startswith("rewards were met"))
        self.bounds = replace(self.bounds, reward_range=wider, notes=(*others, message))
        self.game.reward_range = wider
        return wider

    @property
    def record(self) -> Any:
        """What the certified policy is made of, where it is kept."""
        return self._record

    @record.setter
    def record(self, observer: Any) -> None:
        if observer is self._record:
            return
        before, self._record = self.visited, observer
        if not isinstance(observer, Record):
            self.visited = None
        elif before is None or len(before) < observer.capacity:
            shape = (*observer.visited.shape, self.game.agents)
            memory.require(4 * math.prod(shape), "the record of all visits (keep=False leaves it out)")
            self.visited = np.zeros(shape, dtype=np.uint32)
            if before is not None:
                self.visited[: len(before)] = before
        if self.visited is not None:
            self.team.keep(self.visited, observer.stored)

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's distributions [H, S_i, A_i] at the states it has met."""
        met = self._states
        if not self.observing or not isinstance(self.game, EnvironmentGame):
            return self.team.distributions(met, recent=recent)
        return [  # what an object plays on observations is no table
            np.full((agent.horizon, n, agent.actions), 1 / agent.actions)
            if i in self.observing
            else agent.policy[:, :n]
            for i, (agent, n) in enumerate(zip(self.team.agents, met, strict=True))
        ]

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy, uniform at states that an agent had not visited."""
        probs = []
        for table, actions, observations in zip(distributions, self.game.actions, self.observations, strict=True):
            masks = observations.masks()
            padded = table
            if masks or table.shape[1] < self.game.states:
                padded = np.full((self.bounds.horizon, self.game.states, actions), 1 / actions)
                padded[:, : table.shape[1]] = table
            for s, mask in masks.items():  # what a forbidden action stands for gets its share
                share = padded[:, s].copy()
                padded[:, s] = 0.0
                np.add.at(padded[:, s].T, stand_in(mask), share.T)
            probs.append(Owned(padded))
        policy = MarkovPolicy(probs)
        if isinstance(self.game, EnvironmentGame):
            policy.observations = self.observations
        return policy

    def separate(self, rule: str) -> dict[str, Any]:
        """Return the mixtures of each agent's own record, where it is kept."""
        if self.visited is None or not self._episode:
            return {}
        visited, stored = self.visited[: self._episode], self.record.stored[: self._episode]
        sizes: dict[str, Any] = {"actions": self.game.actions, "states": self._states, "rule": rule}
        records = each_agents_own(visited, stored, **sizes)
        mixtures = {start: RecordedPolicy.of_records(records, start=start) for start in STARTS}
        for policy in mixtures.values():
            policy.observations = self.observations
        return mixtures

    @property
    def state(self) -> Any:
        """The agents' learned state, replaced as it grows; None for Python classes."""
        return self.team.buffer.learner

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return each agent's own bound; nothing where they saw different things."""
        total = self.team.bound_sum()
        low, high = self.bounds.reward_range
        unitless = self.world.largest_gap == 0 and high > low  # the first episodes had shown one reward only
        if not self.common_state or total is None or unitless:
            return Gaps.unknown("nash", self.game.agents)
        drawn = self.bounds.drawn and any(observations.count != 1 for observations in self.observations)
        upper, source = v_base.judge(
            self.learner, self.world, total, done, drawn=drawn, trusted=not self.bounds.uncertain
        )
        return Gaps(kind, upper, source, most=self.bounds.horizon * (high - low))

    def snapshot(self) -> Arrays:
        """Return the agents' states, observations and record, and the environment's state."""
        k = self._episode
        met = [] if self._numbered else [observations.met for observations in self.observations]
        record: Arrays = {}
        if self.visited is not None:
            record = {"visited": self.visited[:k], "stored": self.record.stored[:k]}
        return {
            **{f"team{key}": array for key, array in self.team.snapshot().items()},
            **record,
            "episode": np.array(k),
            "capacity": np.array(max(self.team.capacity, *self._states)),
            "same": np.array(int(self.common_state)),
            "met": np.array(dumps(met)),
            "bounds": np.array(json.dumps(asdict(self.bounds))),
            "environment": np.array(f"{self._seeding.how} {self._seeding.dump()}"),
            "seconds": np.array(self.seconds),
            "steps": np.array(self._steps),
            "early": np.array(self._early).reshape(len(self._early), self.game.agents),
        }

    def _check_bounds(self, bounds: Bounds) -> None:
        """Raise `Exceeded` where a checkpoint has wider bounds than these estimates."""
        if (bounds.horizon, bounds.reward_range) == (self.bounds.horizon, self.bounds.reward_range):
            return
        if not self.bounds.uncertain:
            raise TacitError("its horizon or its range of rewards is not the one that was given")
        if bounds.horizon != self.bounds.horizon or not self.learner.info.reward_scale_free:
            raise Exceeded(bounds, stored=True)

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot; one of wider bounds raises `Exceeded`."""
        bounds = Bounds.read(str(arrays["bounds"]))
        self._check_bounds(bounds)
        if str(arrays["environment"]).partition(" ")[0] != self._seeding.how:
            raise TacitError("its environment was resumed in another way")
        capacity, self._episode = int(arrays["capacity"]), int(arrays["episode"])
        for observations, met in zip(self.observations, loads(str(arrays["met"])), strict=False):
            observations.restore(met)
        team = {key.removeprefix("team"): array for key, array in arrays.items() if key.startswith("team")}
        self.team.restore(team, capacity)
        self._limit_states()
        self._numbering.same = bool(arrays["same"])
        if self.visited is not None:
            self.record = self.record.enlarge(self._episode)
            self.visited[: self._episode] = arrays["visited"]
            self.record.stored[: self._episode] = arrays["stored"]
            self.record.visited[: self._episode] = arrays["visited"][:, :, 0]
            self.record.clock[0] = self._episode
        self.seconds, self._steps, self._early = float(arrays["seconds"]), int(arrays["steps"]), [*arrays["early"]]
        self.bounds = bounds
        self.team.buffer.reward_range[:] = self.bounds.reward_range
        if bounds.guessed_range:
            self.game.reward_range = bounds.reward_range
        self._tell()
        self._seeding.load(str(arrays["environment"]).partition(" ")[2])


def _numbered_before(learner: Learner, agents: int) -> list[Observations]:
    """Return the observations of the policy to start from; none without one."""
    starts = [getattr(learner.seat(i).start, "observations", None) for i in range(agents)]
    return next((list(observations) for observations in starts if observations is not None), [])


def _as_function(inner: Any, named: Sequence[Any]) -> Callable[[Any, int], Any]:
    """Return what somebody's object plays: its probabilities, or its action by the environment's name."""

    def play(observation: Any, step: int) -> Any:
        asks = callable(getattr(inner, "probabilities", None))
        return inner.probabilities(step, observation) if asks else named[inner.act(step, observation)]

    play.__name__ = type(inner).__name__
    return play


def learn_in_environment(
    wrapped: WrappedEnv, name: str, learner: Learner, options: Options, *, watch: Watcher, checkpoint: Checkpoint | None
) -> Run:
    """Let agents learn from their own observations; start over where an episode exceeds the bounds."""
    env, adapter = wrapped.env, environment(wrapped.env)
    for option in ("certify", "visits_per_stage", "prefer"):
        given = getattr(options, option)
        if given is not None and given is not False:
            raise TacitError(f"{option} needs the tables of a game, and {name_of(env)} has none; leave it out")
    if "tables" in learner.info.needs:
        raise TacitError(f"{name} needs the game's tables; {name_of(env)} has none")
    observing = [getattr(learner.seat(i), "observes", False) for i in range(len(adapter.names))]
    if wrapped.encode is None:
        check_spaces(adapter, observing, options.seed)
    encodes = fit(wrapped.encode, adapter, horizon=wrapped.horizon, seed=options.seed)
    encodes = [see_nothing if one else encode for one, encode in zip(observing, encodes, strict=True)]
    bounds = episode_bounds(adapter, horizon=wrapped.horizon, reward_range=wrapped.reward_range, seed=options.seed)
    if scouts(wrapped.encode, adapter):
        bounds = replace(bounds, notes=(*bounds.notes, SCOUTED))
    for note in bounds.notes:
        watch(Noted(f"{name_of(env)}: {note}", urgent=True))
    early = bounds.notes
    while True:
        with announce_to(lambda text: watch(Noted(text))):
            engine = EnvironmentEngine(
                adapter, learner, bounds, episodes=options.most, seed=options.seed, encode=encodes
            )
        engine.tells_seeding, engine.told = checkpoint is not None, early
        output = outputs.REGISTRY.make(learner.info.returns, game=engine.game, learner=learner, options=options)
        if not engine.observing:
            engine.record = output.record
        try:
            run = conduct(engine, output, name, options, watch, checkpoint if is_resumable(learner) else None)
            break
        except Exceeded as exceeded:
            bounds = exceeded.wider
            if checkpoint is not None and not exceeded.stored:
                checkpoint.discard()
    if engine.observing:
        run = _return_objects(run, engine)
    measurable = not engine.observing or isinstance(run.last, NetworkPolicy)
    if options.certify is False or run.ended == "memory" or not measurable:
        return run
    training = engine.summarize()
    del engine, output  # what was learned takes more memory than the policy
    compared = conclude(run, training, watch)
    for note in compared.notes[len(run.notes) :]:
        watch(Noted(note))
    return compared


def check_spaces(adapter: Environment, observing: Sequence[bool], seed: int) -> None:
    """Raise before any episode where agents observe what no table can number."""
    each = numberings(adapter, [see_nothing if one else None for one in observing])
    if any(getattr(space, "dtype", None) in (np.float32, np.float64) for space in adapter.spaces):
        for observations, shown in zip(each, adapter.reset(seed), strict=True):
            observations.key(shown)  # floats that are no whole numbers


def _return_objects(run: Run, engine: EnvironmentEngine) -> Run:
    """Return a run whose policy is what the agents' objects play on observations."""
    parts: list[Any] = [run.last] * run.game.agents  # of agents with tables
    for i in engine.observing:
        inner = engine.team.agents[i].inner
        network = isinstance(inner, NetworkMember)
        parts[i] = inner.part() if network else _as_function(inner, engine.environment.choices[i])
    if all(isinstance(part, NetworkPart) for part in parts):
        policy: Any = NetworkPolicy.of_parts(parts)
    else:
        policy = policy_of(engine.environment.source, parts)
    candidate = Candidate.with_gaps(Gaps.unknown("nash", run.game.agents), policy=policy)
    return replace(run, last=policy, candidates={"last": candidate}, chosen="last", sampled=None)
