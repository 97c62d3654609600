"""Other libraries' environments as agents on their own meet them: observations and rewards, one for each agent.

What these environments do is not ours: whatever they raise or return that is not as their library has it is told as one
sentence, with their own error behind it.

A plain Python object with `reset` and `step` is an environment too: nothing to import, nothing to derive from.

    class Rounds:
        agents = 2               # how many; may be left out where `actions` lists them
        actions = 3              # of each agent, or a list with a number for each
        horizon = 5              # optional, as `reward_range`, `states` (observations are 0 to states − 1), `name`

        def reset(self, seed=None): ...   # return what is seen; `seed` may be left out
        def step(self, actions): ...      # a list with each agent's action; return (what is seen, rewards, over)

What is seen is a list with one entry for each agent, or anything else for all of them to see. Rewards and `over` are
lists with one entry for each agent, or one number and one truth for all.
"""

from __future__ import annotations

import inspect
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from tacit.core import check, generics, streams
from tacit.core.errors import TacitError, brief, one_line
from tacit.games.gymnasium import PLAIN_WRAPPERS, layers
from tacit.games.protocol import Game

#: What a step of a Gymnasium environment returns.
_PARTS = ["observation", "reward", "terminated", "truncated", "info"]

#: What a step gives each agent: its own observation, its own reward as the environment has it (see `floats`), and
#: whether it is out of the game; None where nobody is.
Moved: TypeAlias = tuple[Sequence[Any], Sequence[Any], list[bool] | None]


class Environment(Protocol):
    """An environment in which all agents act at once, an action being a number from 0."""

    source: Any  # the library's own object
    names: list[str]
    spaces: list[Any]  # of observations
    actions: tuple[int, ...]
    seeded: bool  # whether reset takes a seed
    allowed: list[Any]  # each agent's action mask of now, None for no mask; see `stand_in`

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode; return each agent's observation. With a seed, begin its random stream anew."""

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action; those of agents that are out do not matter."""


class Masks:
    """The agents' action masks of now, as PettingZoo has them: `action_mask` of an observation or of an info.

    A forbidden action stands for an allowed one, so whatever agents choose is allowed. To a learner that is a game in
    which some actions do the same: nothing that is proven changes, and responses are trained on what is allowed.
    """

    actions: tuple[int, ...]
    names: list[str]

    def __init__(self) -> None:
        self.allowed: list[Any] = [None] * len(self.actions)
        self._masked = False

    def _look(self, shown: Sequence[Any], infos: Sequence[Any]) -> None:
        """Read the masks."""
        for i, (seen, info) in enumerate(zip(shown, infos, strict=True)):
            holder = next((one for one in (seen, info) if isinstance(one, Mapping) and "action_mask" in one), None)
            mask = None if holder is None else np.asarray(holder["action_mask"])
            if mask is not None:
                self._masked = True
                if mask.shape != (self.actions[i],):
                    wanted = f"it must have one entry for each of {self.actions[i]} actions"
                    raise TacitError(f"the action mask of {self.names[i]} is {brief(mask)}; {wanted}")
            self.allowed[i] = mask if mask is not None and mask.any() else None  # none at all: it is not its turn

    def _allow(self, actions: list[int]) -> list[int]:
        """Return the actions that were meant."""
        pairs = zip(actions, self.allowed, strict=True)
        return [a if mask is None or mask[a] else stand_in(mask)[a] for a, mask in pairs]


def stand_in(mask: Any) -> list[int]:
    """Return for which allowed action each action stands: itself, or, forbidden, the allowed ones in turn.

    >>> stand_in([0, 1, 0, 0, 1])
    [1, 1, 4, 1, 4]
    """
    allowed = np.flatnonzero(mask).tolist()
    turns = itertools.cycle(allowed)
    return [a if free else next(turns) for a, free in enumerate(mask)]


class ParallelAdapter(Masks):
    """A PettingZoo `ParallelEnv`."""

    seeded = True

    def __init__(self, env: Any) -> None:
        self.source = env
        with theirs(env, "possible_agents and its spaces"):
            self.names = list(getattr(env, "possible_agents", ()))
            if not self.names:
                raise TacitError(f"{brief(env)} does not say who plays; it must have possible_agents")
            self.spaces = [env.observation_space(name) for name in self.names]
            own = [env.action_space(name) for name in self.names]
        self.choices = _choices(own, self.names)
        self.actions = tuple(map(len, self.choices))
        self._last: Sequence[Any] = []  # what each agent observed last
        self._over: list[bool] = []
        self._named = _name_actions(self.names, self.choices)
        self._each = itemgetter(*self.names) if len(self.names) > 1 else lambda found: (found[self.names[0]],)
        self._everybody = True  # whether nobody is out
        self._nobody = dict.fromkeys(self.names, False)
        self._sizes = list(self.actions)
        super().__init__()

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode."""
        try:
            given = self.source.reset() if seed is None else self.source.reset(seed=seed)
        except BaseException:
            with theirs(self.source, "reset"):
                raise
        observations, infos = _tuple(self.source, "reset", given, ["observations", "infos"])
        try:
            self._last = self._each(observations)
        except Exception:  # told by the careful way
            shown = _dict(self.source, "observations", observations)
            missing = next((name for name in self.names if name not in shown), "somebody")
            told = f"{missing} observes nothing when an episode begins; all possible_agents must be there"
            raise TacitError(told) from None
        self._check_actions()
        self._look(self._last, [infos.get(name) if isinstance(infos, Mapping) else None for name in self.names])
        self._over, self._everybody = [], True
        return self._last

    def _check_actions(self) -> None:
        """Raise where an agent has another number of actions than at first."""
        try:
            sizes = [_size(self.source.action_space(name)) for name in self.names]
        except BaseException:
            with theirs(self.source, "action_space"):
                raise
        if sizes != self._sizes:
            i = next(i for i, pair in enumerate(zip(sizes, self._sizes, strict=True)) if pair[0] != pair[1])
            raise TacitError(
                f"{self.names[i]} had {self.actions[i]} actions and now has {sizes[i]}; action spaces must not change"
            )

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        chosen = self._named(self._allow(actions) if self._masked else actions)
        if not self._everybody:
            chosen = {name: a for (name, a), out in zip(chosen.items(), self._over, strict=True) if not out}
        try:
            given = self.source.step(chosen)
        except BaseException:
            with theirs(self.source, "step"):
                raise
        if self._masked:
            moved = self._with_some(given)
            self._look(moved[0], [given[4].get(name) for name in self.names])
            return moved
        if self._everybody:
            try:  # all is as it most often is: everybody plays on, or the episode ends for all at once
                observations, rewards, terminated, truncated, _ = given
                each, nobody = self._each, self._nobody
                if (terminated == nobody and truncated == nobody) or not (
                    any(terminated.values()) or any(truncated.values())
                ):
                    if self.source.agents == self.names:
                        self._last = shown = each(observations)
                        return shown, each(rewards), None
                elif all(each(truncated)) or all(each(terminated)):
                    paid = each(rewards)
                    self._everybody, self._over = False, [True] * len(paid)
                    return each(observations), paid, self._over
            except Exception:  # told by the careful way
                pass
        return self._with_some(given)

    def _with_some(self, given: Any) -> Moved:
        """Return what a step gave, looking at every agent and every part."""
        parts = ["observations", "rewards", "terminations", "truncations", "infos"]
        found = _tuple(self.source, "step", given, parts)
        observations, rewards, terminated, truncated = (
            _dict(self.source, part, value) for part, value in zip(parts[:4], found[:4], strict=True)
        )
        before = self._over or [False] * len(self.names)
        paid = [
            0.0 if out else self._find(rewards, "reward", name) for name, out in zip(self.names, before, strict=True)
        ]
        with theirs(self.source, "its agents, terminations or truncations"):
            left = set(self.source.agents)
            self._over = [
                out or name not in left or bool(terminated.get(name)) or bool(truncated.get(name))
                for name, out in zip(self.names, before, strict=True)
            ]
        self._last = [
            observations.get(name, last) if out else self._find(observations, "observation", name)
            for name, last, out in zip(self.names, self._last, self._over, strict=True)
        ]
        self._everybody = True not in self._over
        return self._last, paid, None if self._everybody else self._over

    def _find(self, found: Mapping[str, Any], what: str, name: str) -> Any:
        """Return what a step gave to an agent that plays on; nothing is no answer."""
        if name not in found:
            raise TacitError(f"step of {name_of(self.source)} returned no {what} for {name}, who is still in the game")
        return found[name]


def _name_actions(names: list[str], choices: Sequence[Sequence[Any]]) -> Callable[[list[int]], dict[str, Any]]:
    """Return what makes a dict of a list of actions; for few agents written out, in a third of the time."""
    if any(own != range(len(own)) for own in choices):
        return lambda own: {name: each[a] for name, each, a in zip(names, choices, own, strict=True)}
    match names:
        case [n0, n1]:
            return lambda own: {n0: own[0], n1: own[1]}
        case [n0, n1, n2]:
            return lambda own: {n0: own[0], n1: own[1], n2: own[2]}
        case [n0, n1, n2, n3]:
            return lambda own: {n0: own[0], n1: own[1], n2: own[2], n3: own[3]}
    return lambda own: dict(zip(names, own))  # noqa: B905  # strict takes as long again


class SingleAdapter(Masks):
    """A Gymnasium environment: one agent."""

    seeded = True

    def __init__(self, env: Any) -> None:
        self.source = env
        self.names = ["agent"]
        self.spaces = [env.observation_space]
        self.choices = _choices([env.action_space], self.names)
        self.actions = tuple(map(len, self.choices))
        super().__init__()

    def reset(self, seed: int | None) -> list[Any]:
        """Begin an episode."""
        try:
            given = self.source.reset(seed=seed)
        except BaseException:
            with theirs(self.source, "reset"):
                raise
        observation, info = _tuple(self.source, "reset", given, ["observation", "info"])
        self._look([observation], [info])
        return [observation]

    def step(self, actions: list[int]) -> Moved:
        """Take an action."""
        try:
            given = self.source.step(self.choices[0][(self._allow(actions) if self._masked else actions)[0]])
        except BaseException:
            with theirs(self.source, "step"):
                raise
        observation, reward, terminated, truncated, info = _tuple(self.source, "step", given, _PARTS)
        if self._masked:
            self._look([observation], [info])
        return (observation,), (reward,), [True] if terminated or truncated else None


class TeamAdapter(Masks):
    """A Gymnasium environment of several agents, as level-based foraging is: Tuples with an entry for each agent."""

    seeded = True

    def __init__(self, env: Any) -> None:
        self.source = env
        self.spaces = list(env.observation_space.spaces)
        self.names = [f"agent_{i}" for i in range(len(self.spaces))]
        self.choices = _choices(list(env.action_space.spaces), self.names)
        self.actions = tuple(map(len, self.choices))
        self._over: list[bool] = []
        super().__init__()

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode."""
        with theirs(self.source, "reset"):
            given = self.source.reset(seed=seed)
        observations, info = _tuple(self.source, "reset", given, ["observations", "info"])
        self._over = [False] * len(self.names)
        return self._read(observations, info)

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        chosen = self._allow(actions) if self._masked else actions
        with theirs(self.source, "step"):
            given = self.source.step(tuple([own[a] for own, a in zip(self.choices, chosen, strict=True)]))
        observations, rewards, terminated, truncated, info = _tuple(self.source, "step", given, _PARTS)
        paid, done, late = (self._each(one) for one in (rewards, terminated, truncated))
        paid = [0.0 if out else reward for reward, out in zip(paid, self._over, strict=True)]
        self._over = [bool(out or d or t) for out, d, t in zip(self._over, done, late, strict=True)]
        return self._read(observations, info), paid, self._over if True in self._over else None

    def _read(self, observations: Any, info: Any) -> Sequence[Any]:
        if not isinstance(observations, tuple | list) or len(observations) != len(self.names):
            told = f"{name_of(self.source)} showed {brief(observations)}"
            raise TacitError(f"{told}; it must show an observation to each of {len(self.names)} agents")
        self._look(observations, [info] * len(self.names))
        return observations

    def _each(self, given: Any) -> list[Any]:
        """Return what a step gave each agent, or all of them alike."""
        if np.ndim(given) == 0:
            return [given] * len(self.names)
        if len(given) != len(self.names):
            raise TacitError(f"step of {name_of(self.source)} gave {brief(given)} to {len(self.names)} agents")
        return list(given)


class Discrete(NamedTuple):
    """The space of the numbers 0 to n − 1, as Gymnasium's."""

    n: int
    start: int = 0


class GameAdapter:
    """A game with kernels, for agents on their own: all observe the state, drawn from the environment's stream."""

    seeded = True

    def __init__(self, game: Game) -> None:
        self.source = game
        self.names = [f"agent {i}" for i in range(game.agents)]
        self.spaces: list[Any] = [Discrete(game.states)] * game.agents
        self.actions = game.actions
        self.allowed: list[Any] = [None] * game.agents
        self._kernels = game.kernels()
        self._stream = streams.stream(0, streams.ENVIRONMENT)
        self._h = self._s = 0

    def reset(self, seed: int | None) -> list[Any]:
        """Begin an episode."""
        if seed is not None:
            self._stream = streams.stream(seed, streams.ENVIRONMENT)
        self._h, self._s = 0, int(generics.start(self._kernels, self._stream.random()))
        return [self._s] * len(self.names)

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action; the last step draws nothing, as in the compiled loop."""
        last = self._h == self.source.horizon - 1
        token = generics.place(self._kernels, self._h, self._s, np.array(actions))
        if not last:
            self._s = int(generics.advance(self._kernels, token, self._stream.random()))
        rewards = [float(generics.reward(self._kernels, i, token)) for i in range(len(actions))]
        self._h += 1
        return [self._s] * len(actions), rewards, [True] * len(actions) if last else None

    def get_state(self) -> Any:
        """Return what lasts from one episode to the next: the random stream."""
        return self._stream.bit_generator.state

    def set_state(self, state: Any) -> None:
        """Take back what `get_state` returned."""
        self._stream.bit_generator.state = state


def is_environment(value: object) -> bool:
    """Return whether something looks like an environment of PettingZoo or Gymnasium."""
    return callable(getattr(value, "reset", None)) and callable(getattr(value, "step", None))


def missing(value: object) -> str:
    """Return in words which of `reset` and `step` an object lacks to be an environment, "" where it has neither."""
    lacks = [name for name in ("reset", "step") if not callable(getattr(value, name, None))]
    return f", which has no {lacks[0]}" if len(lacks) == 1 else ""


def look_up(env: Any, name: str) -> Any:
    """Return an attribute that an environment states; what it wraps counts only behind wrappers that change nothing."""
    for layer in layers(env):
        if name in getattr(layer, "__dict__", {}) or hasattr(type(layer), name):
            return getattr(layer, name)
        if type(layer).__name__ not in PLAIN_WRAPPERS:
            return None
    return None


def environment(env: Any) -> Environment:
    """Return an environment of PettingZoo or Gymnasium as agents on their own meet it."""
    if callable(getattr(env, "agent_iter", None)):
        return ParallelAdapter(_in_parallel(env))
    if hasattr(env, "single_action_space") and hasattr(env, "num_envs"):
        raise TacitError(
            f"{brief(env)} is a vector of {env.num_envs} environments; give one of them, as from gymnasium.make: "
            f"agents learn from every step before the next, and learn less from each of several episodes played at once"
        )
    if hasattr(env, "possible_agents") or callable(getattr(env, "observation_space", None)):
        return ParallelAdapter(env)
    if hasattr(env, "observation_space") and hasattr(env, "action_space"):
        spaces = (env.action_space, env.observation_space)
        tuples = all(type(space).__name__ == "Tuple" for space in spaces)
        return (TeamAdapter if tuples and len(spaces[0].spaces) == len(spaces[1].spaces) else SingleAdapter)(env)
    if hasattr(env, "actions") and is_environment(env):
        return BareAdapter(env)
    raise TacitError(
        f"{brief(env)} is neither a TabularGame nor an environment of PettingZoo or Gymnasium, nor an object with "
        f"reset, step and actions"
    )


def _in_parallel(env: Any) -> Any:
    """Return an environment in which agents act in turn as one in which all act, by PettingZoo's own converters.

    Where turns are strict, the actions of all but the agent whose turn it is do not matter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pettingzoo.utils import aec_to_parallel, turn_based_aec_to_parallel

    at_once = (getattr(env, "metadata", None) or {}).get("is_parallelizable", False)
    with theirs(env, "the conversion to a parallel environment"):
        return aec_to_parallel(env) if at_once else turn_based_aec_to_parallel(env)


def name_of(env: Any) -> str:
    """Return what people call an environment."""
    source = getattr(env, "unwrapped", env)
    about = getattr(source, "metadata", None)
    named = about.get("name") if isinstance(about, Mapping) else getattr(source, "name", None)
    return str(named or getattr(getattr(env, "spec", None), "id", None) or type(source).__name__)


#: Actions up to which the parts of an agent's action are numbered together.
LARGEST_CHOICE = 1024


def _choices(spaces: list[Any], names: list[str]) -> list[Sequence[Any]]:
    """Return each agent's actions as the environment calls them, by number; those of several parts are listed."""
    for space, name in zip(spaces, names, strict=True):
        size = _size(space)
        if size is None:
            what = "Discrete, MultiDiscrete and MultiBinary actions, and Tuples of them,"
            raise TacitError(f"{name} acts in {brief(space)}; only {what} can be learned")
        if size > LARGEST_CHOICE and type(space).__name__ != "Discrete":
            told = f"{name} acts in {brief(space)}, {size:,} actions"
            raise TacitError(f"{told}; at most {LARGEST_CHOICE:,} are numbered, so leave some out in a wrapper")
    return [_list_actions(space) for space in spaces]


def _size(space: Any) -> int | None:
    """Return how many actions a space has, None where they cannot be numbered."""
    match type(space).__name__:
        case "Discrete":
            return int(space.n)
        case "MultiDiscrete":
            return math.prod(int(side) for side in space.nvec.ravel())
        case "MultiBinary":
            return int(2 ** math.prod(space.shape))
        case "Tuple":
            sizes = [_size(part) for part in space.spaces]
            return None if None in sizes else math.prod(sizes)  # type: ignore[arg-type]
    return None


def _list_actions(space: Any) -> Sequence[Any]:
    """Return the actions of a space as the environment calls them, in the order of their numbers."""
    match type(space).__name__:
        case "Discrete":
            return range(int(space.start), int(space.start) + int(space.n))
        case "Tuple":
            return list(itertools.product(*map(_list_actions, space.spaces)))
        case "MultiBinary":
            sides, first = np.full(space.shape, 2), np.zeros(space.shape, np.int64)
        case _:
            sides, first = space.nvec, getattr(space, "start", np.zeros_like(space.nvec))
    places = np.ndindex(*sides.ravel().tolist())
    return [(np.reshape(place, sides.shape) + first).astype(space.dtype) for place in places]


@contextmanager
def theirs(env: Any, what: str) -> Iterator[None]:
    """Tell as one sentence what an environment raises."""
    try:
        yield
    except TacitError:
        raise
    except (Exception, SystemExit) as error:
        told = one_line(f"{type(error).__name__}: {error}", 200)
        raise TacitError(f"{name_of(env)} failed in {what}: {told}") from error


def _tuple(env: Any, what: str, value: Any, parts: list[str]) -> Any:
    if not isinstance(value, tuple) or len(value) != len(parts):
        raise TacitError(f"{what} of {name_of(env)} returned {brief(value)}; it must return ({', '.join(parts)})")
    return value


def _dict(env: Any, what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TacitError(f"the {what} of {name_of(env)} are {brief(value)}; they must be a dict, by agent")
    return value


def floats(environment: Environment, rewards: Sequence[Any]) -> list[float]:
    """Return the rewards of a step as finite floats; what is none is told."""
    return [reward_of(name, reward) for name, reward in zip(environment.names, rewards, strict=True)]


def reward_of(name: str, value: Any) -> float:
    """Return a reward as a float; what is no finite number is told."""
    if isinstance(value, bool | np.bool_):
        return float(value)
    return check.real(f"the reward of {name}", value.item() if getattr(value, "shape", None) == () else value)


class Anything:
    """The space of whatever can be hashed, and of lists and arrays of it."""

    def __repr__(self) -> str:
        return "anything"


class BareAdapter:
    """An object with `reset`, `step` and `actions`."""

    def __init__(self, env: Any) -> None:
        self.source = env
        self.actions = _sizes(env)
        N = len(self.actions)
        self.names = [f"agent {i}" for i in range(N)]
        states = getattr(env, "states", None)
        known = states is not None and not callable(states)
        self.spaces: list[Any] = [Discrete(check.integer("states", states)) if known else Anything()] * N
        try:
            self.seeded = "seed" in inspect.signature(env.reset).parameters
        except (TypeError, ValueError):
            self.seeded = False
        self._over = [False] * N
        self.allowed: list[Any] = [None] * N

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode."""
        with theirs(self.source, "reset"):
            shown = self.source.reset(seed=seed) if self.seeded else self.source.reset()
        self._over = [False] * len(self.actions)
        return self._each(shown)

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        with theirs(self.source, "step"):
            given = self.source.step(actions)
        if not isinstance(given, tuple) or len(given) != 3:
            told = f"step of {name_of(self.source)} returned {brief(given)}"
            raise TacitError(f"{told}; it must return (observations, rewards, over)")
        shown, rewards, over = given
        paid = [0.0 if out else reward for reward, out in zip(self._list("rewards", rewards), self._over, strict=True)]
        flags = [bool(one) for one in self._list("over", over)]
        self._over = [out or now for out, now in zip(self._over, flags, strict=True)]
        return self._each(shown), paid, self._over if True in self._over else None

    def _each(self, shown: Any) -> Sequence[Any]:
        return shown if isinstance(shown, list) and len(shown) == len(self.actions) else [shown] * len(self.actions)

    def _list(self, what: str, given: Any) -> Sequence[Any]:
        if np.ndim(given) == 1:
            if len(given) != len(self.actions):
                told = f"the {what} of {name_of(self.source)} are {brief(given)}"
                raise TacitError(f"{told}; there must be one for each of {len(self.actions)} agents")
            return list(given)
        return [given] * len(self.actions)


def _sizes(env: Any) -> tuple[int, ...]:
    """Return each agent's number of actions."""
    given, agents = env.actions, getattr(env, "agents", None)
    if np.ndim(given) == 1:
        found = tuple(check.integer(f"actions[{i}]", own, least=1) for i, own in enumerate(given))
        if not found or (agents is not None and agents != len(found)):
            raise TacitError(f"{name_of(env)} has actions {brief(given)} and agents {brief(agents)}, which differ")
        return found
    count = 1 if agents is None else check.integer("agents", agents)
    return (check.integer("actions", given),) * count
