"""An environment's episodes: horizon, range of rewards, seeds, and how a run resumes.

What the user does not say and the environment does not state (as attributes `horizon` and `reward_range`) is looked for
by playing a few episodes evenly at random. That may miss the longest episode or the largest reward: a run that meets
one starts over with more room. An environment that always begins in the same state may say so, with `first_states = 1`:
bounds are then smaller.

An environment with `get_state()` and `set_state(state)` is seeded once, and its state between two episodes, its random
generators included, goes into the checkpoint. Any other is seeded anew at every episode, by the episode's number. What
agents saw and what environments say of their own state is stored as JSON: plain values only, nothing that is called.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np

from tacit.core import check, streams
from tacit.core.display import Document
from tacit.core.errors import TacitError, blame, brief
from tacit.environments.adapters import Environment, WrappedEnv, floats, look_up, name_of
from tacit.environments.observations import dumps, loads
from tacit.games.gymnasium import time_limit
from tacit.games.protocol import NamedGame, check_range

#: Episodes and steps that are played to find horizon and range of rewards.
EPISODES, STEPS = 20, 10_000


@dataclass(frozen=True)
class Bounds:
    """The horizon and the range of rewards; `guessed_…` where they come from playing."""

    horizon: int
    reward_range: tuple[float, float]
    guessed_horizon: bool = False
    guessed_range: bool = False
    given_horizon: bool = False  # whether the user gave the horizon
    drawn: bool = True  # whether the first state may differ from episode to episode
    notes: tuple[str, ...] = ()  # for people: what was guessed, and how it turned out

    @property
    def uncertain(self) -> bool:
        """Whether anything was guessed."""
        return self.guessed_horizon or self.guessed_range

    @classmethod
    def read(cls, text: str) -> Bounds:
        """Return bounds from the text of a checkpoint."""
        fields = json.loads(text)
        return cls(**{**fields, "reward_range": tuple(fields["reward_range"]), "notes": tuple(fields["notes"])})

    def check_rewards(self, rewards: Sequence[float]) -> None:
        """Raise where a reward lies outside the range. Where that was a guess, the error has a wider one."""
        low, high = self.reward_range
        for reward in rewards:
            if low <= reward <= high:
                continue
            if not (self.guessed_range or reward == 0) or not math.isfinite(reward):
                raise OutOfRange(f"rewards must lie in reward_range ({low:g}, {high:g}); got {reward:g}")
            span = max(high - low, abs(reward)) if reward else 0.0  # as much again on that side
            wider = (min(reward, low - span), high) if reward < low else (low, max(reward, high + span))
            taken = f"rewards are taken to lie in [{wider[0]:g}, {wider[1]:g}]"
            note = f"{taken}: the run met {reward:g} and started over"
            raise Exceeded(replace(self, reward_range=wider, notes=(*self.notes, note)))

    def check_ended(self, over: list[bool] | None) -> Bounds:
        """Raise with a longer horizon where an episode exceeds an estimate; note a given one."""
        if over is not None and all(over):
            return self
        if self.guessed_horizon:
            longer = 2 * self.horizon
            note = f"an episode had not ended after {self.horizon} steps, and the run started over"
            raise Exceeded(replace(self, horizon=longer, notes=(*self.notes, f"the horizon is {longer}: {note}")))
        cut = describe_cut(self.horizon)
        return replace(self, notes=(*self.notes, cut)) if self.given_horizon and cut not in self.notes else self


class Exceeded(Exception):
    """An episode or a reward beyond the bounds, and wider bounds to start over with.

    They are `stored` where a checkpoint has them: the run resumes from it.
    """

    def __init__(self, wider: Bounds, *, stored: bool = False) -> None:
        super().__init__(*wider.notes[-1:])
        self.wider, self.stored = wider, stored


class OutOfRange(TacitError):
    """A reward outside the range that the user has given."""


def episode_bounds(
    environment: Environment, *, horizon: int | None, reward_range: tuple[float, float] | None, seed: int
) -> Bounds:
    """Return the bounds: as given, as stated, or as seen in a few episodes."""
    drawn, given_horizon = look_up(environment.source, "first_states") != 1, horizon is not None
    horizon = stated_horizon(environment.source) if horizon is None else check.integer("horizon", horizon)
    if reward_range is None:
        reward_range = stated_range(environment.source)
    else:
        reward_range = check.interval("reward_range", reward_range)
    if horizon is not None and reward_range is not None:
        check_range(reward_range, horizon)
        return Bounds(horizon, reward_range, given_horizon=given_horizon, drawn=drawn)
    longest, met = scout(environment, horizon, seed)
    guesses = [f"horizon={longest}"] if horizon is None else []
    guesses += [f"reward_range=({met[0]:g}, {met[1]:g})"] if reward_range is None else []
    more = "if more is met, the run may start over: give what you know"
    note = f"a few random episodes suggest {' and '.join(guesses)}; {more}"
    guessed = (horizon is None, reward_range is None)
    bounds = Bounds(horizon or longest, reward_range or met, *guessed, given_horizon, drawn, (note,))
    check_range(bounds.reward_range, bounds.horizon)
    return bounds


def describe_cut(horizon: int) -> str:
    """Return in words that the horizon that was given ends episodes."""
    return f"horizon={horizon} cuts episodes that the environment had not ended: later rewards do not count"


def stated_horizon(env: Any) -> int | None:
    """Return the horizon that an environment states, or its time limit."""
    for length in (look_up(env, "horizon"), time_limit(env)):
        if isinstance(length, int | np.integer) and length > 0:
            return int(length)
    return None


def stated_range(env: Any) -> tuple[float, float] | None:
    """Return the range that an environment states; an infinite one says nothing."""
    stated = look_up(env, "reward_range")
    if stated is None or any(isinstance(end, float) and math.isinf(end) for end in np.ravel(np.array(stated, object))):
        return None
    return check.interval("reward_range", stated)


def scout(
    environment: Environment, horizon: int | None, seed: int, see: Callable[[Sequence[Any]], None] | None = None
) -> tuple[int, tuple[float, float]]:
    """Return the longest episode, and the range of rewards; who is out early gets 0.

    `see` is called with what the agents observe.
    """
    draw = streams.stream(seed, streams.SCOUT).integers
    lengths: list[int] = []
    low, high, early = math.inf, -math.inf, False
    while len(lengths) < EPISODES and sum(lengths) < STEPS:
        again = not lengths or getattr(environment, "forgets", False)
        shown = environment.reset(episode_seed(seed, len(lengths)) if again else None)
        if see is not None:
            see(shown)
        over, h = [False], 0
        while not all(over) and (horizon is None or h < horizon):
            shown, rewards, gone = environment.step([int(draw(size)) for size in environment.actions])
            if see is not None:
                see(shown)
            paid = floats(environment, rewards)
            low, high = min(low, *paid), max(high, *paid)
            over, h = gone or [False], h + 1
            early = early or (any(over) and not all(over))
            if h >= STEPS and horizon is None and not all(over):
                raise TacitError(f"an episode has not ended after {STEPS} steps; give the horizon, the steps to play")
        lengths.append(h)
    if early or min(lengths) < (horizon or max(lengths)):
        low, high = min(low, 0.0), max(high, 0.0)
    return max(lengths), (low, high)


class ListedObservations:
    """One agent's observations as a policy's file lists them."""

    def __init__(self, part: Any, states: int) -> None:
        self.met = part.observations or list(range(states))
        self.known = part.number

    def name(self, s: int) -> str:
        """Return a state in words."""
        return str(self.met[s])


class EnvironmentGame(NamedGame):
    """What a run has learned about an environment: `run.game` where there are no tables.

    Attributes
    ----------
    name : str
    agent_names : list of N str
    actions : tuple of N ints
    horizon : int
    reward_range : (float, float)
    observations : list of N Observations
        Each agent's own numbering of what it has met.
    notes : tuple of str
        None: what was found or decided while learning is in `run.notes`.
    """

    notes: tuple[str, ...] = ()

    def __init__(
        self, name: str, names: list[str], actions: tuple[int, ...], bounds: Bounds, observations: Any, source: Any
    ) -> None:
        self.name, self.agent_names, self.agents, self.actions = name, names, len(actions), actions
        self.horizon, self.reward_range, self.uncertain = bounds.horizon, bounds.reward_range, bounds.uncertain
        self.observations = observations
        self.source: Any = source  # None once the game was pickled or copied

    @classmethod
    def of_policy(cls, policy: Any, sizes: Any) -> EnvironmentGame:
        """Return what a file knows of an environment: its sizes, and the policy's observations."""
        horizon, span = (
            check.integer("horizon", sizes["horizon"]),
            check.interval("reward_range", sizes["reward_range"]),
        )
        states = getattr(policy, "states", 0)  # networks number none
        observations = [ListedObservations(policy.part(i), states) for i in range(policy.agents)]
        names, bounds = [f"agent {i}" for i in range(policy.agents)], Bounds(horizon, span, guessed_range=True)
        return cls(check.text("name", sizes["name"]), names, tuple(policy.actions), bounds, observations, None)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the environment out: it is not ours to copy."""
        return {**self.__dict__, "source": None}

    @property
    def states(self) -> int:  # type: ignore[override]
        """Number of states visited, or of the space; the most of any agent."""
        return max(len(observations.met) for observations in self.observations)

    def kernels(self) -> NoReturn:
        """Raise: an environment is played by agents on their own, outside the compiled loop."""
        raise TacitError(f"{self!r} has no kernels; it can only be played")

    def wrap(self) -> WrappedEnv:
        """Return the environment with its horizon, and the range of rewards where known."""
        if self.source is None:
            raise TacitError(
                f"{self!r} does not hold its environment any more; give the environment itself, as to "
                "tacit.exploit(env, run.policy)"
            )
        return WrappedEnv(self.source, self.horizon, None if self.uncertain else self.reward_range)

    def state(self, observation: Any, *, agent: int = 0) -> int:
        """Return the number of the state in which an agent observes this."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        number: int | None = self.observations[i].known(observation)
        if number is None:
            raise TacitError(f"agent {i} never met the observation {brief(observation)} while it learned")
        return number

    def show(self, **options: Any) -> Document:
        """Show the sizes; an environment is known only by playing it."""
        from tacit.games.showing import show_sizes

        return show_sizes(self, "an environment: it is known only by playing it, so rewards are not listed")


#: Seeds that are drawn ahead.
_AHEAD = 1024

STATE, SEED, NONE = "state", "seed", "none"


def episode_seed(seed: int, episode: int) -> int:
    """Return the seed of an episode, where every episode is seeded.

    >>> episode_seed(7, 0), episode_seed(7, 1) == episode_seed(7, 1)
    (7, True)
    """
    return seed if episode == 0 else int(streams.seeds(seed, streams.EPISODES, range(episode, episode + 1))[0])


class Seeding:
    """Gives each episode its seed, and keeps what an environment has to remember between episodes.

    Attributes
    ----------
    how : {"state", "seed", "none"}
    notes : tuple of str
        What is said where a resumed run does not end with the same bits.
    """

    def __init__(self, environment: Environment, seed: int) -> None:
        self._environment, self._seed = environment, seed
        self._source: Any = None  # who has both
        for owner in (environment, environment.source):
            if self._source is None and hasattr(owner, "get_state") and hasattr(owner, "set_state"):
                self._source = owner
        self.how = STATE if self._source is not None else SEED if environment.seeded else NONE
        unseeded = "the environment takes no seed and has no get_state and set_state: a resumed run draws differently"
        self.notes = (unseeded,) if self.how == NONE else ()
        self._block, self._seeds = -1, np.zeros(0, dtype=np.int64)

    def at(self, episode: int) -> int | None:
        """Return the seed with which an episode begins, None for none."""
        if episode == 0:
            return self._seed
        if self.how != SEED:
            return None
        block, place = divmod(episode, _AHEAD)
        if block != self._block:
            numbers = range(block * _AHEAD, (block + 1) * _AHEAD)
            self._block, self._seeds = block, streams.seeds(self._seed, streams.EPISODES, numbers)
        return int(self._seeds[place])

    def dump(self) -> str:
        """Return what an environment has to remember, as the next episode begins; "" for nothing."""
        if self._source is None:
            return ""
        name = name_of(self._environment.source)
        try:
            with blame(f"{name} failed to tell it"):
                return dumps(self._source.get_state())
        except TacitError as error:
            raise TacitError(f"the state of {name} cannot be stored: {error}") from error

    def load(self, text: str) -> None:
        """Bring the environment to what it had to remember."""
        if self._source is not None:
            with blame(f"{name_of(self._environment.source)} failed to take its state back"):
                self._source.set_state(loads(text))
