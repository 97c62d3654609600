"""Observations as numbers of states: those of a space, or in order of appearance.

`Observations` are one agent's, `Numbering` those of all agents in one step, as an integer array.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections.abc import Callable, Hashable, Sequence
from importlib.util import find_spec
from operator import index
from typing import Any

import numpy as np

from tacit.core.errors import TacitError, brief, sentence
from tacit.core.registry import pip_command
from tacit.core.types import IntArray
from tacit.environments.adapters import Environment, count, ends, flatten, kind, leaves, unflatten
from tacit.policies import base

Encode = Callable[[Any], Hashable]

#: Integers in one observation up to which an array is taken as it is; larger ones are pictures, which want an `encode`.
LARGEST_ARRAY = 64

#: Up to this size a Discrete space is taken to be the states; in a larger one they are numbered as they are met.
LARGEST_SPACE = 100_000


#: States of a table that some thousand episodes can fill.
FEW_STATES = 1_000


class _Over:
    def __repr__(self) -> str:
        return "over"


#: What an agent that is out of the game observes until the horizon; nothing that an environment shows is the same.
OVER = _Over()


class Observations:
    """One agent's observations and their numbers.

    Parameters
    ----------
    space : gymnasium space
        What the agent may observe: Discrete, or Tuple, Dict, MultiDiscrete, MultiBinary and small arrays of integers.
    encode : callable, optional
        From an observation to something hashable, which is then what the agent sees, whatever its space.
    who : str
        The agent, for messages.
    numbered : bool
        Whether the numbers of a Discrete space are those of the states; otherwise they are numbered as they are met.
    wrapper : str
        The function that gives the environment an `encode`, for messages.

    Attributes
    ----------
    count : int or None
        How many there can be, where the space says it; "over" is not counted.
    met : list
        The observations as they were numbered.
    raw : dict or None
        The numbers of arrays of integers by their type and bytes; None of other observations.
    """

    def __init__(
        self, space: Any, encode: Encode | None, who: str, *, numbered: bool, wrapper: str = "from_pettingzoo"
    ) -> None:
        self._key: Encode = _plain(space, who, wrapper) if encode is None else encode
        self.count: int | None = None if encode is not None else count(space, integers=False)
        self._who, self._space, self._encoded, self._wrapper, self.numbered = who, space, encode, wrapper, numbered
        self.start = int(space.start) if numbered else 0
        arrays = encode is None and kind(space) in ("MultiDiscrete", "MultiBinary", "Box")
        self.raw: dict[tuple[int, bytes], int] | None = {} if arrays else None
        self.met: list[Hashable] = []
        self.restore(list(range(int(space.n))) if numbered else [])

    @property
    def plain(self) -> bool:
        """Whether an observation is the number of the state itself, and "over" is none."""
        return self.numbered and self.start == 0 and len(self.met) == self.count

    def at_most(self, steps: int) -> int:
        """Return how many states there can be after so many steps. A numbered space has all at once."""
        if self.count is None:
            return steps
        return self.count if self.numbered else min(self.count, steps)

    def key(self, observation: Any) -> Hashable:
        """Return an observation as something hashable."""
        try:
            key = self._key(observation)
            hash(key)
            return key
        except Exception as error:
            if self._encoded is None and isinstance(error, TacitError):
                raise
            must = f"must be in {brief(self._space)}" if self._encoded is None else "must be made hashable by encode"
            message = f"what {self._who} observed {must}; got {brief(observation)}: {sentence(error)}"
            raise TacitError(message) from error

    def reads_as(self, other: Observations) -> bool:
        """Return whether the other agent makes the same of an observation."""
        return self._encoded is other._encoded and (self._encoded is not None or self._space is other._space)

    def number(self, key: Hashable) -> int:
        """Return the state's number; one that is met for the first time gets the next."""
        s = self._numbers.get(key)
        if s is None:
            if _has_nan(key):
                raise TacitError(f"{self._who} observed {brief(key)}; nan is equal to nothing, so it is no state")
            s = self._numbers[key] = len(self.met)
            self.met.append(key)
        return s

    def copy(self) -> Observations:
        """Return the same numbering, to go on from."""
        copied = Observations(self._space, self._encoded, self._who, numbered=self.numbered)
        copied.restore(list(self.met))
        return copied

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made of the space."""
        return {key: value for key, value in self.__dict__.items() if key != "_key"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._key = self._encoded or _plain(self._space, self._who, self._wrapper)

    def restore(self, met: list[Hashable]) -> None:
        """Number observations as they were numbered before."""
        self.met[:] = met
        if self.raw:
            self.raw.clear()
        self._numbers = {key: s for s, key in enumerate(met)}

    def list_as(self, listed: Sequence[Any]) -> Observations:
        """Return a numbering as a list has it, of observations or of their encodings."""
        key_of = self.key if self._encoded is None else base.observation_key
        keys = [OVER if observation == base.OVER else key_of(observation) for observation in listed]
        if self.numbered and keys[: len(self.met)] == self.met[: len(keys)]:
            return self
        listed_anew = Observations(self._space, self._encoded, self._who, numbered=False)
        listed_anew.restore(keys)
        return listed_anew

    def masks(self) -> dict[int, Any]:
        """Return the action masks that are part of what was observed, by state."""
        if kind(self._space) != "Dict" or "action_mask" not in self._space.spaces or not self._restores:
            return {}
        shown = {s: self.restore_observation(s) for s, key in enumerate(self.met) if key is not OVER}
        masks = {s: np.ravel(observation["action_mask"]) for s, observation in shown.items()}
        return {s: mask for s, mask in masks.items() if mask.any()}

    @property
    def _restores(self) -> bool:
        """Whether keys can be turned back into observations."""
        return self._encoded is None or hasattr(self._encoded, "restore")

    def restore_observation(self, s: int) -> Any:
        """Return an observation that belongs to a state. With `Bins` it is the middle of its bins."""
        key: Any = self.met[s]
        if key is OVER or not self._restores:
            return key
        if self._encoded is not None:
            return self._encoded.restore(key)  # type: ignore[attr-defined]
        if kind(self._space) == "Discrete":
            return key + self._space.start
        return key if kind(self._space) == "Anything" else unflatten(self._space, iter(key))

    def name(self, s: int) -> str:
        """Return a state in words. It is a Discrete space's number, the bins of `Bins`, or what was observed."""
        key: Any = self.met[s]
        if key is OVER:
            return "over"
        if callable(getattr(self._encoded, "describe", None)):
            return str(self._encoded.describe(key))  # type: ignore[union-attr]
        shown = self.restore_observation(s)
        return str(shown if self._encoded is not None or kind(self._space) == "Anything" else base.plain(shown))

    def to_list(self) -> list[Any] | None:
        """Return what was observed, by number, for JSON; None where JSON cannot hold it.

        With `encode`, what that made of it; otherwise as the environment shows it.
        """
        every = enumerate(self.met)
        try:
            return [
                base.OVER if key is OVER else base.plain(key if self._encoded else self.restore_observation(s))
                for s, key in every
            ]
        except TacitError:
            return None

    @property
    def encoding(self) -> Encode | None:
        """What makes a key of an observation, where one is given: bins, or a function."""
        return self._encoded

    @property
    def stored_encode(self) -> Any:
        """What a file says of its encode: bins, that it is a function, or nothing."""
        return None if self._encoded is None else getattr(self._encoded, "stored", base.FUNCTION)

    @property
    def bins(self) -> Encode | None:
        """What makes bins of an observation, where `encode` is `Bins`."""
        return self._encoded if hasattr(self._encoded, "stored") else None

    def known(self, observation: Any) -> int | None:
        """Return an observation's number; None if never met, or not of its space."""
        try:
            return self._numbers.get(self.key(observation))
        except TacitError:
            if self._encoded is not None:
                raise
            return None


def numberings(environment: Environment, encode: Sequence[Encode | None] | None) -> list[Observations]:
    """Return each agent's observations, with an `encode` for each."""
    each = [None] * len(environment.spaces) if encode is None else encode
    small = [kind(space) == "Discrete" and int(space.n) <= LARGEST_SPACE for space in environment.spaces]
    numbered = not any(each) and all(small)
    trios = zip(environment.spaces, each, environment.names, strict=True)
    return [
        Observations(space, encoding, who, numbered=numbered, wrapper=environment.wrapper)
        for space, encoding, who in trios
    ]


def can_number(environment: Environment) -> bool:
    """Return whether what agents observe can be numbered as it is, without an encode."""
    try:
        numberings(environment, None)
    except TacitError:
        return False
    return True


def _has_nan(key: Any) -> bool:
    return any(map(_has_nan, key)) if isinstance(key, tuple | frozenset) else bool(key != key)


def _plain(space: Any, who: str, wrapper: str) -> Encode:
    """Return how observations of a space become hashable: as their numbers, in order."""
    if kind(space) == "Anything":
        return _hashable
    each = list(leaves(space))
    for leaf in each:
        integers = np.dtype(getattr(leaf, "dtype", object)).kind in "iub" or count(leaf, integers=False) is not None
        if not integers or math.prod(leaf.shape if kind(leaf) != "Discrete" else ()) > LARGEST_ARRAY:
            raise _too_large(leaf, who, wrapper)
    low, high = (np.concatenate([end.ravel() for end in side]) for side in zip(*(ends(leaf)[:2] for leaf in each)))  # noqa: B905
    checked: set[Hashable] = set()

    def key(observation: Any) -> Hashable:
        numbers = tuple(flatten(space, observation))
        if numbers not in checked:  # an observation that was not met before
            if not all(float(number).is_integer() for number in numbers):  # of floats: so far they were whole numbers
                raise _too_large(space, who, wrapper)
            if not ((low <= numbers) & (numbers <= high)).all():
                raise ValueError("beyond its bounds")
            checked.add(numbers)
        return numbers

    if kind(space) == "Discrete":
        return lambda observation: key(observation)[0] - space.start  # type: ignore[index]
    return key


def _too_large(space: Any, who: str, wrapper: str) -> TacitError:
    advice = suggest_encode(count_floats(space), FEW_STATES, wrapper)
    return TacitError(f"{who} must observe a small finite space; got {brief(space)}; {advice}")


def count_floats(space: Any) -> int:
    """Return how many numbers of an observation `Bins` would put into bins."""
    return sum(math.prod(leaf.shape) for leaf in leaves(space) if kind(leaf) == "Box")


def suggest_encode(numbers: int, states: int, wrapper: str = "from_pettingzoo") -> str:
    """Return in words how to encode observations of so many numbers as so many states, or do without tables.

    >>> suggest_encode(4, 1_000).partition(", or")[0]
    'give tacit.from_pettingzoo(env, encode=tacit.Bins(5)), 5 bins for each of 4 numbers (--game-set encode=bins=5)'
    """
    bins = int(states ** (1 / max(numbers, 1)) + 1e-9)
    missing = "" if all(map(find_spec, ("jax", "optax"))) else f": {pip_command('networks')}"
    networks = f"or learn with 'ppo', which has networks{missing}"
    if numbers and bins >= 2:
        option = f"{bins} bins for each of {numbers} numbers (--game-set encode=bins={bins})"
        return f"give tacit.{wrapper}(env, encode=tacit.Bins({bins})), {option}, {networks}"
    return (
        f"give tacit.{wrapper}(env, encode=f), with a function f of yours that makes at most some {states:,} "
        f"different values of an observation, {networks}"
    )


def _hashable(observation: Any) -> Hashable:
    """Return what a plain object shows as something hashable."""
    if isinstance(observation, np.ndarray):
        observation = observation.tolist()
    return tuple(_hashable(part) for part in observation) if isinstance(observation, list) else observation


class Numbering:
    """All agents' observations, numbered by each for itself.

    Attributes
    ----------
    plain : bool
        Whether observations are the numbers of the states.
    same : bool
        Whether all have seen the same at every step so far.
    """

    def __init__(self, each: Sequence[Observations]) -> None:
        self._each = list(each)
        self._numbered = all(observations.numbered for observations in each)
        self._least = min(observations.count or 0 for observations in each)
        self._pack: Any = struct.Struct(f"{len(self._each)}q").pack_into
        self.plain = all(observations.plain for observations in each)
        self.same = True

    def known(self, shown: Sequence[Any]) -> Sequence[int]:
        """Return the states of observations that were met before. Those that are `plain` are not read.

        Raises LookupError, or something else, where an agent's observation is new or of no space.
        """
        if self.plain:
            return shown
        pairs = zip(shown, self._each, strict=True)
        if not self._numbered:  # arrays
            return [observations.raw[one.dtype.num, one.tobytes()] for one, observations in pairs]  # type: ignore[index]
        states = [index(one) - observations.start for one, observations in pairs]
        if min(states) < 0 or max(states) >= self._least:
            raise LookupError
        return states

    def put(self, shown: Sequence[Any], out: IntArray) -> None:
        """Write each agent's state into `out` [N]. Where they are `plain`, bounds are not checked."""
        try:
            self._pack(out, 0, *(shown if self.plain else self.known(shown)))
        except Exception:  # met for the first time, or of no space
            out[:] = self.read(shown, None)

    def states(self, shown: Sequence[Any], over: Sequence[bool] | None) -> list[int]:
        """Return the state of each agent; `over` says who is out, None for nobody."""
        try:
            states = [] if over is not None else list(map(index, self.known(shown)))
            if not states or (self.plain and (min(states) < 0 or max(states) >= self._least)):
                raise LookupError
        except Exception:  # met for the first time, or of no space
            states = self.read(shown, over)
        self.same = self.same and states.count(states[0]) == len(states)
        return states

    def read(self, shown: Sequence[Any], over: Sequence[bool] | None) -> list[int]:
        """Return each agent's state, perhaps a new one. Raise where an observation is in no space."""
        keys: list[Hashable] = []
        for i, observations in enumerate(self._each):
            if over is not None and over[i]:
                keys.append(OVER)
            elif i and keys[-1] is not OVER and shown[i] is shown[i - 1] and observations.reads_as(self._each[i - 1]):
                keys.append(keys[-1])  # agents are often shown the very same object
            else:
                keys.append(observations.key(shown[i]))
        states = [observations.number(key) for observations, key in zip(self._each, keys, strict=True)]
        for observations, key, one, s in zip(self._each, keys, shown, states, strict=True):
            if observations.raw is not None and key is not OVER and isinstance(one, np.ndarray):
                observations.raw[one.dtype.num, one.tobytes()] = s
        self.plain = all(observations.plain for observations in self._each)  # not where "over" is a state
        self.same = self.same and all(key == keys[0] for key in keys[1:])
        return states


# What agents saw, and what environments say of their own state, as JSON: plain values, nothing that is called.

#: Types of arrays that are taken back, by NumPy's letters.
_KINDS = "biuf"


def dumps(value: Any) -> str:
    """Return a value as text.

    >>> loads(dumps((1, ("a", None), frozenset({2}))))
    (1, ('a', None), frozenset({2}))
    """
    return json.dumps(_to_json(value))


def loads(text: str) -> Any:
    """Return what `dumps` made text of; raise TacitError where it cannot have been that."""
    try:
        return _from_json(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TacitError(f"it holds something that is no state ({brief(error)})") from None


def _to_json(value: Any) -> Any:
    if value is OVER:
        return {"over": True}
    match value:
        case np.generic():
            return _to_json(value.item())
        case None | bool() | int() | float() | str():
            return value
        case tuple() if type(value) is tuple:
            return {"tuple": [_to_json(part) for part in value]}
        case list() if type(value) is list:
            return [_to_json(part) for part in value]
        case frozenset():
            return {"set": [_to_json(part) for part in value]}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case dict():
            return {"dict": [[_to_json(key), _to_json(part)] for key, part in value.items()]}
        case np.ndarray() if value.dtype.kind in _KINDS:
            content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
            return {"array": [value.dtype.str, list(value.shape), content]}
    raise TacitError(f"{brief(value)} cannot be stored; only numbers, text, tuples, lists, dicts and arrays can")


def _from_json(document: Any) -> Any:
    if isinstance(document, list):
        return [_from_json(part) for part in document]
    if not isinstance(document, dict):
        return document
    ((kind, content),) = document.items()
    if kind == "array":
        dtype, shape, raw = content
        if np.dtype(dtype).kind not in _KINDS:
            raise TypeError(dtype)
        return np.frombuffer(base64.b64decode(raw), dtype=dtype).reshape(shape).copy()
    return _READERS[kind](content)


_READERS: dict[str, Callable[[Any], Any]] = {
    "over": lambda content: OVER,
    "tuple": lambda content: tuple(map(_from_json, content)),
    "set": lambda content: frozenset(map(_from_json, content)),
    "bytes": base64.b64decode,
    "dict": lambda content: {_from_json(key): _from_json(part) for key, part in content},
}
