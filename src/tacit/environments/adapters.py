"""Other libraries' environments through one interface: each agent's observation and reward.

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
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from tacit.core import check, generics, streams
from tacit.core.errors import TacitError, brief, sentence
from tacit.core.types import FloatArray
from tacit.games.gymnasium import PLAIN_WRAPPERS, layers
from tacit.games.protocol import Game, is_game
from tacit.policies.base import find_mask, stand_in

#: What a step gives each agent: its own observation, its own reward as the environment has it (see `floats`), and
#: whether it is out of the game; None where nobody is.
Moved: TypeAlias = tuple[Sequence[Any], Sequence[Any], list[bool] | None]

#: Where rewards or returns lie: the least and the most.
Range: TypeAlias = tuple[float, float]


class Environment:
    """An environment in which all agents act at once; actions count from 0.

    Attributes
    ----------
    source : object
        The library's own environment, or the game.
    names : list of N str
    spaces : list of N spaces
        Of observations.
    choices : list of N sequences
        Each agent's actions as the environment names them.
    actions : tuple of N ints
    seeded : bool
        Whether reset takes a seed.
    allowed : list
        Each agent's action mask of now, None for no mask; see `stand_in`.
    waits : list
        Whether it is not the agent's turn: its mask has no action.
    wrapper : str
        The function of `tacit` that gives it options.

    Masks are as PettingZoo has them: `action_mask` of an observation or of an info. A forbidden action stands for an
    allowed one, so whatever agents choose is allowed. To a learner that is a game in which some actions do the same:
    nothing that is proven changes, and responses are trained on what is allowed.
    """

    seeded = True
    wrapper = "from_pettingzoo"

    def __init__(self, source: Any, names: list[str], spaces: list[Any], choices: Sequence[Sequence[Any]]) -> None:
        self.source, self.names, self.spaces, self.choices = source, names, spaces, choices
        self.actions = tuple(map(len, choices))
        self.allowed: list[Any] = [None] * len(names)
        self.waits = [False] * len(names)
        self._plain = all(each == range(len(each)) for each in choices)
        self._masked = False
        self._over: list[bool] | None = None  # who is out; None for nobody

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode; return each agent's observation. With a seed, begin its random stream anew."""
        raise NotImplementedError

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action; those of agents that are out do not matter."""
        raise NotImplementedError

    def _settle(self, shown: Sequence[Any], paid: Sequence[Any], ended: Sequence[Any]) -> Moved:
        """Return what a step gave: who was out before gets nothing, and stays out."""
        before = self._over or [False] * len(self.names)
        paid = [0.0 if out else reward for reward, out in zip(paid, before, strict=True)]
        over = [bool(out or now) for out, now in zip(before, ended, strict=True)]
        self._over = over if True in over else None
        return shown, paid, self._over

    def _look(self, shown: Sequence[Any], infos: Sequence[Any]) -> None:
        """Read the masks. One without any action says that it is not the agent's turn: nothing it does matters."""
        if not (self._masked or any(isinstance(one, dict) and one for one in (*shown, *infos))):
            return
        acting = 0  # agents that can do something
        for i, (observation, info) in enumerate(zip(shown, infos, strict=True)):
            mask = find_mask(observation, info)
            if mask is not None:
                self._masked = True
                if mask.shape != (self.actions[i],):
                    must = f"must have one entry for each of {self.actions[i]} actions"
                    raise TacitError(f"the action mask of {self.names[i]} {must}; got {brief(mask)}")
            self.waits[i] = mask is not None and not mask.any()
            self.allowed[i] = None if self.waits[i] else mask
            acting += not self.waits[i] and (self._over is None or not self._over[i])
        if not acting and (self._over is None or not all(self._over)):
            raise TacitError("the action masks must allow some agent an action; got none")

    def _named(self, actions: Sequence[int]) -> Sequence[Any]:
        """Return the actions that were meant, as the environment names them."""
        if self._masked:
            pairs = zip(actions, self.allowed, strict=True)
            actions = [a if mask is None or mask[a] else stand_in(mask)[a] for a, mask in pairs]
        return actions if self._plain else [choices[a] for choices, a in zip(self.choices, actions, strict=True)]


class ParallelAdapter(Environment):
    """A PettingZoo `ParallelEnv`."""

    def __init__(self, env: Any) -> None:
        names = ask(env, "possible_agents", lambda: list(getattr(env, "possible_agents", ())))
        if not names or len(set(names)) < len(names):
            raise TacitError(f"possible_agents of {name_of(env)} must be different names; got {brief(names)}")
        spaces = ask(env, "its spaces", lambda: [env.observation_space(name) for name in names])
        action_spaces = ask(env, "its spaces", lambda: [env.action_space(name) for name in names])
        super().__init__(env, names, spaces, _choices(action_spaces, names))
        self._last: Sequence[Any] = []  # what each agent observed last
        self._each = itemgetter(*names) if len(names) > 1 else lambda by_name: (by_name[names[0]],)
        self._nobody = dict.fromkeys(names, False)

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode."""
        returned = ask(self.source, "reset", self.source.reset, seed=seed)
        observations, infos = _tuple(self.source, "reset", returned, ["observations", "infos"])
        try:
            self._last = self._each(_dict(self.source, "observations", observations))
        except KeyError as error:
            raise TacitError(f"all possible_agents must observe something at reset; got none of {error}") from None
        self._over = None
        self._look(self._last, self._infos(infos))
        return self._last

    def _infos(self, infos: Any) -> list[Any]:
        """Return each agent's info, in which a mask may be."""
        return [infos.get(name) if isinstance(infos, dict) else None for name in self.names]

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        named = self._named(actions) if self._masked or not self._plain else actions
        chosen = dict(zip(self.names, named))  # noqa: B905  # strict takes as long again
        if self._over is not None:
            chosen = {name: a for (name, a), out in zip(chosen.items(), self._over, strict=True) if not out}
        try:  # as `ask`, which takes longer
            returned = self.source.step(chosen)
        except (Exception, SystemExit) as error:
            raise_failure(self.source, "step", error)
        if self._masked:
            moved = self._read(returned)
            self._look(moved[0], self._infos(returned[4]))
            return moved
        if self._over is None:
            try:  # most often everybody plays on, or the episode ends for all at once
                observations, rewards, terminated, truncated, _ = returned
                each = self._each
                self._last = shown = each(observations)
                if terminated == self._nobody == truncated and self.source.agents == self.names:
                    return shown, each(rewards), None
                if all(each(terminated)) or all(each(truncated)):
                    paid, self._over = each(rewards), [True] * len(shown)
                    return shown, paid, self._over
            except Exception:  # said by the careful way
                pass
        return self._read(returned)

    def _read(self, returned: Any) -> Moved:
        """Return what a step gave, looking at every agent and every part."""
        parts = ["observations", "rewards", "terminations", "truncations", "infos"]
        by_part = _tuple(self.source, "step", returned, parts)
        observations, rewards, *flags = (
            _dict(self.source, part, value) for part, value in zip(parts[:4], by_part[:4], strict=True)
        )
        left = ask(self.source, "its agents", lambda: set(self.source.agents))
        shown, paid, ended = [], [], []
        for i, name in enumerate(self.names):
            out = self._over is not None and self._over[i]
            ended.append(out or name not in left or any(ask(self.source, "step", bool, one.get(name)) for one in flags))
            paid.append(0.0 if out else self._find(rewards, "reward", name))
            last = observations.get(name, self._last[i])
            shown.append(last if ended[i] else self._find(observations, "observation", name))
        self._last = shown
        return self._settle(shown, paid, ended)

    def _find(self, by_name: Mapping[str, Any], what: str, name: str) -> Any:
        """Return what a step gave to an agent that plays on; nothing is no answer."""
        if name not in by_name:
            raise TacitError(f"step of {name_of(self.source)} must return a {what} for {name}, who plays on; got none")
        return by_name[name]


class GymnasiumAdapter(Environment):
    """A Gymnasium environment of one agent, or of several whose spaces are Tuples."""

    wrapper = "from_gymnasium"

    def __init__(self, env: Any) -> None:
        spaces = env.observation_space, env.action_space
        tuples = all(kind(space) == "Tuple" for space in spaces)
        self._team = tuples and len(spaces[0].spaces) == len(spaces[1].spaces)
        shown, action_spaces = ([*space.spaces] if self._team else [space] for space in spaces)
        names = [f"agent_{i}" for i in range(len(action_spaces))] if self._team else ["agent"]
        super().__init__(env, names, shown, _choices(action_spaces, names))

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode."""
        returned = ask(self.source, "reset", self.source.reset, seed=seed)
        observations, info = _tuple(self.source, "reset", returned, ["observation", "info"])
        self._over = None
        shown = self._show(observations)
        self._look(shown, [info] * len(self.names))
        return shown

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        named = self._named(actions)
        returned = ask(self.source, "step", self.source.step, tuple(named) if self._team else named[0])
        parts = ["observation", "reward", "terminated", "truncated", "info"]
        observations, rewards, terminated, truncated, info = _tuple(self.source, "step", returned, parts)
        paid, done, late = (_list(self, "step", one) for one in (rewards, terminated, truncated))
        moved = self._settle(self._show(observations), paid, [d or t for d, t in zip(done, late, strict=True)])
        if self._masked:
            self._look(moved[0], [info] * len(self.names))
        return moved

    def _show(self, observations: Any) -> Sequence[Any]:
        if not self._team:
            return (observations,)
        if not isinstance(observations, tuple | list):
            raise TacitError(f"observations of {name_of(self.source)} must be a tuple; got {brief(observations)}")
        return _list(self, "step", observations)


def _list(adapter: Any, what: str, entries: Any) -> list[Any]:
    """Return what an environment gave each agent, or all of them alike."""
    N = len(adapter.names)
    entries = entries.tolist() if isinstance(entries, np.ndarray) else entries
    if not isinstance(entries, list | tuple):
        return [entries] * N
    if len(entries) != N:
        must = f"must be one for each of {N} agents"
        raise TacitError(f"{what} of {name_of(adapter.source)} {must}; got {brief(entries)}")
    return list(entries)


class GameAdapter(Environment):
    """A game with kernels as an environment; all agents observe the state."""

    def __init__(self, game: Game) -> None:
        N = game.agents
        choices = [range(size) for size in game.actions]
        super().__init__(game, [f"agent {i}" for i in range(N)], [Discrete(game.states)] * N, choices)
        self._kernels = generics.seal(game.kernels())
        self._stream = streams.stream(0, streams.ENVIRONMENT)
        self._h = self._s = 0

    def reset(self, seed: int | None) -> list[Any]:
        """Begin an episode."""
        if seed is not None:
            self._stream = streams.stream(seed, streams.ENVIRONMENT)
        self._h, self._s = 0, int(generics.initial_state(self._kernels, self._stream.random()))
        return [self._s] * len(self.names)

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action; the last step draws nothing, as in the compiled loop."""
        last = self._h == self.source.horizon - 1
        token = generics.joint_action(self._kernels, self._h, self._s, np.array(actions))
        if not last:
            self._s = int(generics.next_state(self._kernels, token, self._stream.random()))
        rewards = [float(generics.reward(self._kernels, i, token)) for i in range(len(actions))]
        self._h += 1
        return [self._s] * len(actions), rewards, [True] * len(actions) if last else None

    def get_state(self) -> Any:
        """Return what lasts from one episode to the next: the random stream."""
        return self._stream.bit_generator.state

    def set_state(self, state: Any) -> None:
        """Take back what `get_state` returned."""
        self._stream.bit_generator.state = state


@dataclass(frozen=True, eq=False)
class WrappedEnv:
    """An environment with its options, as `tacit.from_pettingzoo` and `tacit.from_gymnasium` return it.

    Attributes
    ----------
    env : environment
        Somebody else's, as it was given.
    horizon : int or None
        Steps in an episode; None for what the environment states or what a few episodes show.
    reward_range : (low, high) or None
    encode : callable, Bins or None
    """

    env: Any
    horizon: int | None = None
    reward_range: Range | None = None
    encode: Any = None

    def __post_init__(self) -> None:
        if is_game(self.env):
            raise TacitError(f"env must be an environment; got {brief(self.env)}, a game, which has no options")
        environment(self.env)  # raises where it is none
        for name, test in (("horizon", check.integer), ("reward_range", check.interval)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, test(name, getattr(self, name)))


def wrap(env: Any) -> WrappedEnv:
    """Return an environment with its options: as it was wrapped, or without any."""
    return env if isinstance(env, WrappedEnv) else WrappedEnv(env)


def is_environment(value: object) -> bool:
    """Return whether something has `reset` and `step`, or is such an environment with options."""
    if isinstance(value, WrappedEnv):
        return True
    return callable(getattr(value, "reset", None)) and callable(getattr(value, "step", None))


def missing(value: object) -> str:
    """Return which of `reset` and `step` an object lacks, in words; "" for both."""
    lacks = [name for name in ("reset", "step") if not callable(getattr(value, name, None))]
    return f", which has no {lacks[0]}" if len(lacks) == 1 else ""


def look_up(env: Any, name: str) -> Any:
    """Return an attribute that an environment states, itself or behind wrappers that change nothing."""
    for layer in layers(env):
        if name in getattr(layer, "__dict__", {}) or hasattr(type(layer), name):
            return getattr(layer, name)
        if type(layer).__name__ not in PLAIN_WRAPPERS:
            return None
    return None


def environment(env: Any) -> Environment:
    """Return an environment of PettingZoo or Gymnasium, or a plain object, through the one interface."""
    if isinstance(env, WrappedEnv):
        env = env.env
    if inspect.isclass(env):
        raise TacitError(f"an environment must be an object, {env.__name__}(…); got the class {env.__name__}")
    if callable(getattr(env, "agent_iter", None)):
        return ParallelAdapter(_in_parallel(env))
    if hasattr(env, "single_action_space") and hasattr(env, "num_envs"):
        raise TacitError(f"there must be one environment, as from gymnasium.make; got a vector of {env.num_envs}")
    if hasattr(env, "possible_agents") or callable(getattr(env, "observation_space", None)):
        return ParallelAdapter(env)
    if hasattr(env, "observation_space") and hasattr(env, "action_space"):
        return GymnasiumAdapter(env)
    if hasattr(env, "actions") and is_environment(env):
        return BareAdapter(env)
    must = "must be of PettingZoo or Gymnasium, or an object with reset, step and actions"
    raise TacitError(f"an environment {must}; got {brief(env)}")


def _in_parallel(env: Any) -> Any:
    """Return a turn-based environment as a parallel one, by PettingZoo's own converters.

    Where turns are strict, the actions of all but the agent whose turn it is do not matter.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pettingzoo.utils import aec_to_parallel, turn_based_aec_to_parallel

    at_once = (getattr(env, "metadata", None) or {}).get("is_parallelizable", False)
    convert = aec_to_parallel if at_once else turn_based_aec_to_parallel
    return ask(env, "the conversion to a parallel environment", convert, env)


def name_of(env: Any) -> str:
    """Return what people call an environment."""
    source = getattr(env, "unwrapped", env)
    about = getattr(source, "metadata", None)
    named = about.get("name") if isinstance(about, Mapping) else getattr(source, "name", None)
    return str(named or getattr(getattr(env, "spec", None), "id", None) or type(source).__name__)


#: Actions up to which the parts of an agent's action are numbered together.
LARGEST_CHOICE = 1024


def _choices(spaces: list[Any], names: list[str]) -> list[Sequence[Any]]:
    """Return each agent's actions as the environment names them, by number."""
    for space, name in zip(spaces, names, strict=True):
        size, most = count(space), check.ACTIONS if kind(space) == "Discrete" else LARGEST_CHOICE
        if size is None or size > most:
            must = f"must be Discrete, MultiDiscrete, MultiBinary or a Tuple of them, at most {most:,} in all"
            raise TacitError(f"the actions of {name} {must}; got {brief(space)}")
    return [list_elements(space) for space in spaces]


def ask(env: Any, what: str, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call something of an environment; what it raises is told as one sentence."""
    try:
        return function(*args, **named)
    except (Exception, SystemExit) as error:
        raise_failure(env, what, error)


def raise_failure(env: Any, what: str, error: BaseException) -> NoReturn:
    """Raise what an environment raised, as one sentence."""
    if isinstance(error, TacitError):
        raise error
    raise TacitError(f"{name_of(env)} failed in {what}: {sentence(error)}") from error


def _tuple(env: Any, what: str, value: Any, parts: list[str]) -> Any:
    if not isinstance(value, tuple) or len(value) != len(parts):
        raise TacitError(f"{what} of {name_of(env)} must return ({', '.join(parts)}); got {brief(value)}")
    return value


def _dict(env: Any, what: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TacitError(f"the {what} of {name_of(env)} must be a dict, by agent; got {brief(value)}")
    return value


def floats(environment: Environment, rewards: Sequence[Any]) -> list[float]:
    """Return the rewards of a step as finite floats; what is none is told."""
    return [
        reward if type(reward) is float and reward - reward == 0.0 else reward_of(name, reward)
        for name, reward in zip(environment.names, rewards, strict=True)
    ]


def reward_of(name: str, value: Any) -> float:
    """Return a reward as a float; what is no finite number is told."""
    if isinstance(value, bool | np.bool_):
        return float(value)
    return check.real(f"the reward of {name}", value.item() if getattr(value, "shape", None) == () else value)


class BareAdapter(Environment):
    """An object with `reset`, `step` and `actions`."""

    def __init__(self, env: Any) -> None:
        sizes = _sizes(env)
        N = len(sizes)
        states = getattr(env, "states", None)
        numbered = states is not None and not callable(states)
        space: Any = Discrete(check.integer("states", states)) if numbered else Anything()
        super().__init__(env, [f"agent {i}" for i in range(N)], [space] * N, [range(size) for size in sizes])
        try:
            self.seeded = "seed" in inspect.signature(env.reset).parameters
        except (TypeError, ValueError):
            self.seeded = False
        self.forgets = self.seeded  # without a seed, many draw one from the system

    def reset(self, seed: int | None) -> Sequence[Any]:
        """Begin an episode."""
        shown = ask(self.source, "reset", self.source.reset, **({"seed": seed} if self.seeded else {}))
        self._over = None
        return self._each(shown)

    def step(self, actions: list[int]) -> Moved:
        """Take a joint action."""
        returned = ask(self.source, "step", self.source.step, [*actions])  # which it may change
        shown, rewards, over = _tuple(self.source, "step", returned, ["observations", "rewards", "over"])
        return self._settle(self._each(shown), _list(self, "rewards", rewards), _list(self, "over", over))

    def _each(self, shown: Any) -> Sequence[Any]:
        return shown if isinstance(shown, list) and len(shown) == len(self.actions) else [shown] * len(self.actions)


def _sizes(env: Any) -> tuple[int, ...]:
    """Return each agent's number of actions."""
    actions, agents = env.actions, getattr(env, "agents", None)
    if np.ndim(actions) == 1:
        sizes = tuple(check.integer(f"actions[{i}]", size, of="actions") for i, size in enumerate(actions))
        if not sizes or (agents is not None and agents != len(sizes)):
            raise TacitError(f"actions of {name_of(env)} must be a number for each agent; got {brief(actions)}")
        return sizes
    count = 1 if agents is None else check.integer("agents", agents)
    return (check.integer("actions", actions),) * count


# Spaces of observations and actions, as Gymnasium has them. A space is identified by the name of its class, so that
# nothing has to be imported. `Discrete`, `Numbers` and `Anything` stand for spaces where an environment has none.


class Discrete(NamedTuple):
    """The space of the numbers 0 to n − 1, as Gymnasium's."""

    n: int
    start: int = 0


class Numbers(NamedTuple):
    """The space of arrays of numbers that a plain object shows."""

    shape: tuple[int, ...]
    dtype: Any = np.float64
    low: float = -math.inf
    high: float = math.inf


class Anything:
    """The space of whatever can be hashed, and of lists and arrays of it."""

    def __repr__(self) -> str:
        return "anything"


def kind(space: Any) -> str:
    """Return the name of a space's class."""
    return type(space).__name__


def parts(space: Any) -> dict[str, Any]:
    """Return the parts of a Dict or Tuple by name; none of another space."""
    if kind(space) not in ("Dict", "Tuple"):
        return {}
    inner = space.spaces
    return dict(inner) if isinstance(inner, Mapping) else {str(i): part for i, part in enumerate(inner)}


def pairs(space: Any, observation: Any) -> list[tuple[Any, Any]]:
    """Return the parts of a Dict or Tuple, each with its share of an observation."""
    if kind(space) == "Dict":
        return [(part, observation[name]) for name, part in space.spaces.items()]
    return list(zip(space.spaces, observation, strict=True))


def ends(space: Any) -> tuple[FloatArray, FloatArray, bool]:
    """Return the bounds of a space without parts, and whether it holds integers."""
    match kind(space):
        case "Discrete":
            return np.array(float(space.start)), np.array(float(space.start + space.n - 1)), True
        case "MultiDiscrete":
            first = np.asarray(getattr(space, "start", np.zeros_like(space.nvec)), dtype=np.float64)
            return first, first + space.nvec - 1, True
        case "MultiBinary":
            return np.zeros(space.shape), np.ones(space.shape), True
        case "Box" | "Numbers":
            low, high = (np.broadcast_to(np.float64(end), space.shape) for end in (space.low, space.high))
            return low, high, np.dtype(space.dtype).kind in "iub"
    raise TacitError(f"{brief(space)} has no numbers to put into bins; give a function as encode")


def count(space: Any, *, integers: bool = True) -> int | None:
    """Return how many elements a space of integers has; None for other spaces.

    Without `integers`, a Box of floats between whole numbers counts as if it had only these.
    """
    if kind(space) in ("Dict", "Tuple"):
        each = [count(part, integers=integers) for part in parts(space).values()]
        return None if None in each else math.prod(each)  # type: ignore[arg-type]
    if kind(space) not in ("Discrete", "MultiDiscrete", "MultiBinary", "Box"):
        return None
    low, high, exact = ends(space)
    bounds = np.stack([low.ravel(), high.ravel()])
    if (integers and not exact) or not np.isfinite(bounds).all() or (bounds != np.round(bounds)).any():
        return None
    return math.prod(int(side) for side in (bounds[1] - bounds[0] + 1).tolist())


def list_elements(space: Any) -> Sequence[Any]:
    """List the elements of a space of integers, the last number changing fastest."""
    if kind(space) == "Discrete":
        return range(int(space.start), int(space.start) + int(space.n))
    sides = [
        range(int(low), int(high) + 1)
        for leaf in leaves(space)
        for low, high in zip(*(end.ravel() for end in ends(leaf)[:2]), strict=True)
    ]
    return [unflatten(space, iter(row)) for row in itertools.product(*sides)]


def leaves(space: Any) -> Iterator[Any]:
    """Return the parts of a space that have no parts themselves."""
    if kind(space) not in ("Dict", "Tuple"):
        yield space
    for part in parts(space).values():
        yield from leaves(part)


def flatten(space: Any, observation: Any) -> list[Any]:
    """Return the numbers of an observation in their order; ValueError where it has another structure."""
    if kind(space) in ("Dict", "Tuple"):
        return [value for part, share in pairs(space, observation) for value in flatten(part, share)]
    if kind(space) == "Discrete":
        return [operator.index(observation)]
    array = np.asarray(observation)
    if array.shape != tuple(space.shape):
        raise ValueError(f"an array of shape {array.shape}")
    return array.ravel().tolist()


def unflatten(space: Any, values: Iterator[Any]) -> Any:
    """Return an observation of a space from its numbers."""
    match kind(space):
        case "Dict":
            return {key: unflatten(part, values) for key, part in space.spaces.items()}
        case "Tuple":
            return tuple(unflatten(part, values) for part in space.spaces)
        case "Discrete":
            return next(values)
    taken = [next(values) for _ in range(math.prod(space.shape))]
    return np.array(taken, dtype=space.dtype).reshape(space.shape)
