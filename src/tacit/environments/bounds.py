"""What is known of an environment: before learning the horizon and the range of rewards, afterwards a game.

What the user does not say and the environment does not state (as attributes `horizon` and `reward_range`) is looked for
by playing a few episodes evenly at random. That may miss the longest episode or the largest reward: a run that meets
one starts over with more room. An environment that always begins in the same state may say so, with `first_states = 1`:
bounds are then smaller.
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
from tacit.core.errors import TacitError, brief, one_line
from tacit.environments.adapters import Environment, floats, look_up, name_of
from tacit.environments.observations import Observations
from tacit.games.gymnasium import time_limit
from tacit.games.protocol import NamedGame, check_range

EPISODES = 20
STEPS = 10_000


@dataclass(frozen=True)
class Bounds:
    """The horizon and the range of rewards; `guessed_…` where they come from playing."""

    horizon: int
    reward_range: tuple[float, float]
    guessed_horizon: bool = False
    guessed_range: bool = False
    early: bool = False  # whether agents may be out before the horizon
    given_horizon: bool = False  # whether the user gave the horizon
    drawn: bool = True  # whether the first state may differ from episode to episode
    notes: tuple[str, ...] = ()  # for people: what was guessed, and how it turned out

    @property
    def uncertain(self) -> bool:
        """Whether anything was guessed."""
        return self.guessed_horizon or self.guessed_range


def describe_scouting(name: str, bounds: Bounds, *, rangeless: bool) -> str:
    """Return in one line what a few episodes have shown, and what happens if it turns out wrong."""
    low, high = bounds.reward_range
    horizon = f"horizon={bounds.horizon}" if bounds.guessed_horizon else ""
    rewards = f"reward_range=({low:g}, {high:g})" if bounds.guessed_range else ""
    found = " and ".join(part for part in (horizon, rewards) if part)
    harmless = rangeless and not bounds.guessed_horizon
    later = "this learner learns without it" if harmless else "if more is met, the run starts over; give what you know"
    return f"{name}: a few random episodes suggest {found}; {later}"


class Exceeded(Exception):
    """An episode or a reward beyond the bounds, and wider bounds to start over with.

    They are `stored` where a checkpoint has them: the run resumes from it.
    """

    def __init__(self, wider: Bounds, *, stored: bool = False) -> None:
        super().__init__(*wider.notes[-1:])
        self.wider, self.stored = wider, stored


class OutOfRange(TacitError):
    """A reward outside the range that the user has given: the run cannot mean what it was to mean."""


def episode_bounds(
    environment: Environment, *, horizon: int | None, reward_range: tuple[float, float] | None, seed: int
) -> Bounds:
    """Return the bounds: as given, as the environment states it, or as it is seen in a few episodes."""
    drawn, given = look_up(environment.source, "first_states") != 1, horizon is not None
    if horizon is None:
        horizon = stated_horizon(environment.source)
    found_range = (
        stated_range(environment.source) if reward_range is None else check.interval("reward_range", reward_range)
    )
    if horizon is not None:
        check.integer("horizon", horizon)
    if horizon is not None and found_range is not None:
        check_range(found_range, horizon)
        return Bounds(horizon, found_range, given_horizon=given, drawn=drawn)
    longest, low, high, early = scout(environment, horizon, seed)
    if early:
        low, high = min(low, 0.0), max(high, 0.0)  # who is out gets nothing
    notes = []
    if horizon is None:
        notes.append(f"the horizon is {longest}, the longest of a few episodes; it can be given (horizon)")
    if found_range is None:
        seen = f"[{low:g}, {high:g}]"
        notes.append(f"rewards are taken to lie in {seen}, as in a few episodes; the range can be given (reward_range)")
    found = found_range or (low, high)
    check_range(found, horizon or longest)
    guessed = (horizon is None, found_range is None)
    return Bounds(horizon or longest, found, *guessed, early, given, drawn, tuple(notes))


def stored_bounds(text: str) -> Bounds:
    """Return bounds from the text of a checkpoint, if they can be some."""
    try:
        found = json.loads(text)
        found |= {"reward_range": check.interval("reward_range", found["reward_range"]), "notes": tuple(found["notes"])}
        bounds = Bounds(**found)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TacitError(f"it has no bounds ({one_line(error, 100)})") from None
    check.integer("horizon", bounds.horizon, most=2**40)
    check_range(bounds.reward_range, bounds.horizon)
    flags = (bounds.guessed_horizon, bounds.guessed_range, bounds.early, bounds.given_horizon, bounds.drawn)
    if not all(isinstance(one, bool) for one in flags) or not all(isinstance(note, str) for note in bounds.notes):
        raise TacitError("it has no bounds")
    return bounds


def check_rewards(bounds: Bounds, rewards: Sequence[float]) -> None:
    """Raise where a reward lies outside the range: with a wider one where the range was a guess."""
    low, high = bounds.reward_range
    for reward in rewards:
        if not low <= reward <= high:
            if not (bounds.guessed_range or reward == 0) or not math.isfinite(reward):
                told = f"a reward of {reward:g} lies outside reward_range ({low:g}, {high:g}); give a wider one"
                raise OutOfRange(told)
            span = max(high - low, abs(reward)) if reward else 0.0  # as much again on that side
            wider = (min(reward, low - span), high) if reward < low else (low, max(reward, high + span))
            told = f"rewards are taken to lie in [{wider[0]:g}, {wider[1]:g}]: the run met {reward:g} and started over"
            raise Exceeded(replace(bounds, reward_range=wider, notes=(*bounds.notes, told)))


def check_over(bounds: Bounds, over: list[bool]) -> None:
    """Raise with room for "over" where an agent is out before the horizon and nobody thought of that."""
    if any(over) and not bounds.early:
        raise Exceeded(replace(bounds, early=True))


def check_ended(bounds: Bounds, over: list[bool] | None) -> Bounds:
    """Raise with a longer horizon where an episode goes on and the horizon was a guess; note it where it was given."""
    if over is not None and all(over):
        return bounds
    if bounds.given_horizon and describe_cut(bounds.horizon) not in bounds.notes:
        return replace(bounds, notes=(*bounds.notes, describe_cut(bounds.horizon)))
    if bounds.guessed_horizon:
        longer = 2 * bounds.horizon
        told = (
            f"the horizon is {longer}: an episode had not ended after {bounds.horizon} steps, and the run started over"
        )
        raise Exceeded(replace(bounds, horizon=longer, notes=(*bounds.notes, told)))
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
    found = look_up(env, "reward_range")
    if found is None or any(isinstance(end, float) and math.isinf(end) for end in np.ravel(np.array(found, object))):
        return None
    return check.interval("reward_range", found)


def scout(
    environment: Environment, horizon: int | None, seed: int, see: Callable[[Sequence[Any]], None] | None = None
) -> tuple[int, float, float, bool]:
    """Return the longest episode, the lowest and highest reward, and whether anybody was out before the end.

    `see` is called with what the agents observe.
    """
    draw = streams.stream(seed, streams.SCOUT).integers
    lengths: list[int] = []
    low, high, early = math.inf, -math.inf, False
    while len(lengths) < EPISODES and sum(lengths) < STEPS:
        shown = environment.reset(None if lengths else seed)
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
    return max(lengths), low, high, early or min(lengths) < (horizon or max(lengths))


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

    def __init__(self, environment: Environment, bounds: Bounds, observations: list[Observations]) -> None:
        self.name = name_of(environment.source)
        self.agent_names = list(environment.names)
        self.agents, self.actions = len(environment.actions), environment.actions
        self.horizon, self.reward_range = bounds.horizon, bounds.reward_range
        self.observations = observations
        self.notes: tuple[str, ...] = ()
        self.source: Any = environment.source  # None once the game was pickled or copied
        self.uncertain = bounds.uncertain

    def __getstate__(self) -> dict[str, Any]:
        """Leave the environment out: it is not ours to copy."""
        return {**self.__dict__, "source": None}

    @property
    def states(self) -> int:  # type: ignore[override]
        """Number of states that were met, or that the space has; the most of any agent."""
        return max(len(own.met) for own in self.observations)

    def kernels(self) -> NoReturn:
        """Raise: an environment is played by agents on their own, outside the compiled loop."""
        raise TacitError(f"{self!r} has no kernels; it can only be played")

    def state(self, observation: Any, *, agent: int = 0) -> int:
        """Return the number of the state that an agent takes an observation for, as policies count states."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        found = self.observations[i].known(observation)
        if found is None:
            raise TacitError(f"agent {i} never met the observation {brief(observation)} while it learned")
        return found

    def show(self, **options: Any) -> Document:
        """Show the sizes; an environment is known only by playing it."""
        from tacit.games.showing import show_sizes

        return show_sizes(self, "an environment: it is known only by playing it, so rewards are not listed")
