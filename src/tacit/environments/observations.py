"""Observations as numbers of states: those of a space, or in order of appearance.

`Observations` are one agent's, `Numbering` those of all agents in one step, as an integer array.
"""

from __future__ import annotations

import math
import operator
import pickle
import struct
from collections.abc import Callable, Hashable, Sequence
from operator import index
from typing import Any

import numpy as np

from tacit.core.errors import TacitError, brief, sentence
from tacit.core.registry import pip_command
from tacit.core.types import IntArray
from tacit.environments.adapters import Environment, count, ends, environment, kind, name_of, pairs, parts
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
    early : bool
        Whether the agent may be out before the horizon, and so "over" is a state to count with.

    Attributes
    ----------
    count : int or None
        How many there can be, where the space says it; "over" is not counted.
    met : list
        The observations as they were numbered.
    plain : bool
        Whether an observation is the number of the state itself.
    arrays : bool
        Whether observations are arrays of integers, taken as they are.
    raw : dict
        The numbers of arrays by their bytes, for who reads many of them.
    """

    def __init__(self, space: Any, encode: Encode | None, who: str, *, numbered: bool, early: bool = False) -> None:
        self._key: Encode = _plain(space, who) if encode is None else encode
        self.count: int | None = None if encode is not None else count(space, integers=False)
        self._who = who
        self.lost = False  # whether its encode did not pickle
        self._space, self._encoded = space, encode
        self.numbered = numbered
        self.start = int(space.start) if numbered else 0
        self.plain = numbered and not early and self.start == 0
        self.arrays = encode is None and kind(space) in ("MultiDiscrete", "MultiBinary", "Box")
        self.raw: dict[bytes, int] = {}
        self.met: list[Hashable] = list(range(int(space.n))) if self.numbered else []
        if self.numbered and early:
            self.met.append(OVER)
        self._numbers: dict[Hashable, int] = {key: s for s, key in enumerate(self.met)}

    def at_most(self, steps: int) -> int:
        """Return how many states there can be after so many steps; of a numbered space, all of them."""
        if self.count is None:
            return steps
        return self.count if self.numbered else min(self.count, steps)

    def key(self, observation: Any) -> Hashable:
        """Return an observation as something hashable."""
        try:
            key = self._key(observation)
        except TacitError as error:
            if self._encoded is None or self.lost:
                raise
            raise TacitError(f"encode failed on what {self._who} observed: {error}") from None
        except Exception as error:
            message, what = sentence(error), f"{self._who} observed, {brief(observation)}"
            if self._encoded is not None:
                raise TacitError(f"encode failed on what {what}: {message}") from error
            raise TacitError(f"what {what}, is not in its space {brief(self._space)}: {message}") from error
        try:
            hash(key)
        except TypeError:
            raise TacitError(f"encode made {brief(key)} of what {self._who} observed; it must be hashable") from None
        return key

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

    def copy(self, encode: Encode | None = None) -> Observations:
        """Return the same numbering, to go on from; with an `encode` in place of one that was lost."""
        encode = encode if self.lost and encode is not None else self._encoded
        copied = Observations(self._space, encode, self._who, numbered=self.numbered)
        copied.restore(list(self.met))
        return copied

    def __getstate__(self) -> dict[str, Any]:
        """Leave out an `encode` that does not pickle."""
        state = {key: value for key, value in self.__dict__.items() if key != "_key"} | {"raw": {}}
        try:
            pickle.dumps(self._encoded)
        except Exception:  # a function of the user's, such as a lambda
            state |= {"_encoded": None, "lost": True}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._key = _gone if self.lost else (self._encoded or _plain(self._space, self._who))

    def restore(self, met: list[Hashable]) -> None:
        """Number observations as they were numbered before."""
        self.met[:] = met
        self.raw.clear()
        self._numbers = {key: s for s, key in enumerate(met)}

    def list_as(self, listed: Sequence[Any], *, encoded: bool) -> Observations:
        """Return a numbering as a list of observations has it; with `encoded`, of what `encode` has made of them."""
        key_of = base.observation_key if encoded else self.key
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
        return not self.lost and (self._encoded is None or callable(getattr(self._encoded, "restore", None)))

    def restore_observation(self, s: int) -> Any:
        """Return what is observed in a state: an observation of the space; with `Bins`, the middle of its bins."""
        key: Any = self.met[s]
        if key is OVER or not self._restores:
            return key
        return _shown(self._space, key) if self._encoded is None else self._encoded.restore(key)  # type: ignore[attr-defined]

    def name(self, s: int) -> str:
        """Return a state in words: the number of a Discrete space, the bins of `Bins`, or what was observed."""
        key: Any = self.met[s]
        if key is OVER:
            return "over"
        if callable(getattr(self._encoded, "describe", None)):
            return str(self._encoded.describe(key))  # type: ignore[union-attr]
        shown = self.restore_observation(s)
        return key if isinstance(key, str) else str(shown.tolist() if isinstance(shown, np.ndarray) else shown)

    def to_list(self) -> list[Any] | None:
        """Return what was observed, by number and as JSON has it; None where JSON cannot hold it.

        With `encode`, what that made of it; otherwise as the environment shows it.
        """
        raw = self._encoded is not None or self.lost
        listed = (base.OVER if key is OVER else key if raw else _shown(self._space, key) for key in self.met)
        try:
            return [base.plain(one) for one in listed]
        except TacitError:
            return None

    @property
    def stored_encode(self) -> Any:
        """What a file says of its encode: bins, that it is a function, or nothing."""
        stored = getattr(self._encoded, "stored", None)
        return stored if stored is not None else base.FUNCTION if self._encoded is not None or self.lost else None

    def __repr__(self) -> str:
        return f"Observations({self._who}, {len(self.met)} met)"

    def known(self, observation: Any) -> int | None:
        """Return the number of an observation, None if it was never met, or is none of its space."""
        try:
            return self._numbers.get(self.key(observation))
        except TacitError:
            if self._encoded is not None:
                raise
            return None


def numberings(environment: Environment, encode: Sequence[Encode | None] | None, *, early: bool) -> list[Observations]:
    """Return each agent's observations, with an `encode` for each."""
    each = [None] * len(environment.spaces) if encode is None else encode
    small = [kind(space) == "Discrete" and int(space.n) <= LARGEST_SPACE for space in environment.spaces]
    numbered = not any(each) and all(small)
    trios = zip(environment.spaces, each, environment.names, strict=True)
    return [Observations(space, encoding, who, numbered=numbered, early=early) for space, encoding, who in trios]


def can_number(environment: Environment) -> bool:
    """Return whether what agents observe can be numbered as it is, without an encode."""
    try:
        numberings(environment, None, early=False)
    except TacitError:
        return False
    return True


def _has_nan(key: Any) -> bool:
    return any(map(_has_nan, key)) if isinstance(key, tuple | frozenset) else bool(key != key)


def _gone(observation: Any) -> Hashable:
    raise TacitError("how observations were read was not pickled; give encode= again")


def _plain(space: Any, who: str) -> Encode:
    """Return how observations of a space become hashable."""
    match kind(space):
        case "Discrete":
            return _within(int(space.start), int(space.n), who)
        case "Tuple" | "Dict":
            keys = [_plain(part, who) for part in parts(space).values()]
            return lambda observation: tuple(
                [key(share) for key, (_, share) in zip(keys, pairs(space, observation), strict=True)]
            )
        case "Anything":
            return _hashable
    integers = np.dtype(getattr(space, "dtype", object)).kind in "iub" or count(space, integers=False) is not None
    if integers and math.prod(space.shape) <= LARGEST_ARRAY:
        return _array_key(space, who)  # of floats, as long as they turn out to be whole numbers
    raise _too_large(space, who)


def _too_large(space: Any, who: str) -> TacitError:
    numbers = math.prod(getattr(space, "shape", None) or ())
    return TacitError(
        f"{who} observes {brief(space)}, which is not a small finite space; {suggest_encode(numbers, FEW_STATES)}"
    )


def suggest_encode(numbers: int, states: int) -> str:
    """Return in words what to do with observations of so many numbers, where tables should have so many states.

    >>> suggest_encode(4, 1_000)
    'give tacit.from_pettingzoo(env, encode=tacit.Bins(5)), 5 bins for each of 4 numbers'
    """
    bins = int(states ** (1 / max(numbers, 1)) + 1e-9)
    if numbers and bins >= 2:
        return f"give tacit.from_pettingzoo(env, encode=tacit.Bins({bins})), {bins} bins for each of {numbers} numbers"
    return (
        f"give tacit.from_pettingzoo(env, encode=f), with a function of yours that makes at most some {states:,} "
        f"different values of an observation, or learn with 'ppo', which has networks: {pip_command('networks')}"
    )


def _shown(space: Any, key: Any) -> Any:
    """Return the observation that has become this key."""
    match kind(space):
        case "Discrete":
            return key + int(space.start)
        case "Tuple":
            return [_shown(part, share) for part, share in pairs(space, key)]
        case "Dict":
            return {name: _shown(part, share) for (name, part), share in zip(parts(space).items(), key, strict=True)}
    return key if kind(space) == "Anything" else np.array(key, dtype=object).reshape(space.shape)


def _hashable(observation: Any) -> Hashable:
    """Return what a plain object shows as something hashable."""
    if isinstance(observation, np.ndarray):
        observation = observation.tolist()
    return tuple(_hashable(part) for part in observation) if isinstance(observation, list) else observation


def _within(start: int, count: int, who: str) -> Encode:
    """Return the number of an observation in a Discrete space; others are refused."""

    def key(observation: Any) -> int:
        s = operator.index(observation) - start
        if not 0 <= s < count:
            raise TacitError(f"{who} observed {brief(observation)}, which is not in Discrete({count}, start={start})")
        return s

    return key


def _array_key(space: Any, who: str) -> Encode:
    """Return how an array becomes hashable; a new one is checked against its space."""
    low, high, _ = ends(space)
    checked: set[Hashable] = set()

    def key(observation: Any) -> Hashable:
        array = np.asarray(observation)
        numbers = tuple(array.ravel().tolist())
        if numbers not in checked:
            inside = array.shape == tuple(space.shape) and bool(((array >= low) & (array <= high)).all())
            if not inside:
                raise TacitError(f"{who} observed {brief(observation)}, which is not in {brief(space)}")
            if not all(float(value).is_integer() for value in numbers):
                raise _too_large(space, who)
            checked.add(numbers)
        return numbers

    return key


def number_as_stored(
    env: Any, met: list[list[Any]], encode: Callable[[Environment], Sequence[Encode | None]]
) -> list[Observations]:
    """Return each agent's observations, numbered as they were when the run was stored."""
    adapter = environment(env)
    numbered = numberings(adapter, encode(adapter), early=False)
    if len(numbered) != len(met):
        raise TacitError(f"{name_of(env)} has {len(numbered)} agents, and the run had {len(met)}")
    for observations, before in zip(numbered, met, strict=True):
        if observations.numbered and before[: len(observations.met)] != observations.met:
            raise TacitError(f"{name_of(env)} shows other states than when the run was made")
        observations.restore(before)
    return numbered


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
        self.plain = all(observations.plain for observations in each)
        numbered = all(observations.numbered for observations in each)
        self._least = min(observations.count or 0 for observations in each) if numbered else 0
        self._pack: Any = struct.Struct(f"{len(self._each)}q").pack_into
        self._form: Any = None  # type and shape of the arrays that are shown
        self.same = True

    def put(self, shown: Sequence[Any], out: IntArray) -> None:
        """Write the state of each agent into `out` [N]; numbers that are states as they are, unread."""
        try:
            self._pack(out, 0, *(shown if self.plain else self.known(shown)))
        except Exception:  # met for the first time, or told below
            self.read(shown, None, out)

    def write(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> list[int]:
        """Write the state of each agent into `out` [N], and return it; `over` says who is out, None for nobody."""
        if over is None:
            self.put(shown, out)
            states: list[int] = out.tolist()
            if not self.plain:
                return states
            low, high = min(states), max(states)
            if low >= 0 and high < self._least:
                self.same = self.same and low == high
                return states
        self.read(shown, over, out)
        return out.tolist()  # type: ignore[no-any-return]

    def known(self, shown: Sequence[Any]) -> list[int]:
        """Return the states of observations that were read before; raise LookupError otherwise.

        Arrays are known by their bytes; what agents see for the first time, or no longer all of them, wants that look.
        """
        if self._least:
            states = [index(one) - observations.start for one, observations in zip(shown, self._each, strict=True)]
            if min(states) < 0 or max(states) >= self._least:
                raise LookupError
            if self.same and states.count(states[0]) != len(states):
                raise LookupError
            return states
        dtype, shape = self._form
        raw = []
        for array in shown:
            if array.dtype is not dtype or array.shape != shape:
                raise LookupError
            raw.append(array.tobytes())
        if self.same and raw.count(raw[0]) != len(raw):
            raise LookupError
        return [observations.raw[content] for observations, content in zip(self._each, raw, strict=True)]

    def _keep(self, shown: Sequence[Any], states: IntArray) -> None:
        """Keep the bytes of arrays whose states were just read."""
        for observations, array, s in zip(self._each, shown, states.tolist(), strict=True):
            if observations.arrays and isinstance(array, np.ndarray):
                if self._form is None:
                    self._form = (array.dtype, array.shape)
                if (array.dtype, array.shape) == self._form:
                    observations.raw[array.tobytes()] = s

    def differ(self) -> None:
        """Note that two agents are in states of different numbers."""
        self.same = self.same and not self.plain

    def read(self, shown: Sequence[Any], over: Sequence[bool] | None, out: IntArray) -> None:
        """Write the state of each agent; raise where an observation is in no space."""
        keys: list[Hashable] = []
        before: Any = None  # agents are often shown the very same object
        for i, observations in enumerate(self._each):
            if over is not None and over[i]:
                keys.append(OVER)
                continue
            if i and keys[-1] is not OVER and shown[i] is before and observations.reads_as(self._each[i - 1]):
                keys.append(keys[-1])
            else:
                keys.append(observations.key(shown[i]))
            before = shown[i]
        for i, (observations, key) in enumerate(zip(self._each, keys, strict=True)):
            out[i] = observations.number(key)
        if over is None:
            self._keep(shown, out)
        if self.same:
            self.same = all(key == keys[0] for key in keys[1:])
