"""How an environment begins its episodes, such that a run that was stopped can go on with the same bits.

An environment that offers `get_state()` and `set_state(state)` is seeded once, and its state between two episodes, its
random generators included, goes into the checkpoint. Any other is seeded anew at every episode, by the episode's
number: what it does then does not depend on what it did before. With the user's consent (`pickle_env=True`) the object
itself is pickled into the checkpoint; it is then seeded once.

What agents saw, and what environments say of their own state, is kept as JSON: plain values only, nothing that is
called. Tuples, sets, bytes, arrays and "over" are objects with one field; everything else that is not JSON is refused.
"""

from __future__ import annotations

import base64
import contextlib
import inspect
import json
import math
import pickle
from collections.abc import Hashable
from typing import Any

import numpy as np

from tacit.core import streams
from tacit.core.errors import TacitError, blame, brief
from tacit.environments.adapters import Environment, name_of
from tacit.environments.observations import OVER

#: Seeds that are drawn ahead.
_AHEAD = 1024

STATE, SEED, PICKLE, NONE = "state", "seed", "pickle", "none"

#: What a run says of it.
TOLD = {
    STATE: "a checkpoint holds the environment's own state (get_state), so a resumed run ends with the same bits",
    PICKLE: "a checkpoint holds the environment, pickled, so a resumed run ends with the same bits",
    SEED: "the environment is seeded anew at every episode, by its number, so a resumed run ends with the same bits "
    "if reset(seed=…) decides all that follows",
    NONE: "the environment takes no seed and has no get_state and set_state: a resumed run draws differently",
}


def episode_seed(seed: int, episode: int) -> int:
    """Return the seed with which an episode begins, in an environment that is seeded anew at every episode.

    >>> episode_seed(7, 0), episode_seed(7, 1) == episode_seed(7, 1)
    (7, True)
    """
    return seed if episode == 0 else int(streams.seeds(seed, streams.EPISODES, range(episode, episode + 1))[0])


class Seeding:
    """Gives each episode its seed, and keeps what an environment has to remember between episodes.

    Attributes
    ----------
    how : {"state", "seed", "pickle", "none"}
    """

    def __init__(self, environment: Environment, seed: int, *, pickled: bool = False) -> None:
        self._environment, self._seed = environment, seed
        self.how = PICKLE if pickled else _best(environment)
        self._block, self._seeds = -1, np.zeros(0, dtype=np.int64)
        self._kept, self._goes_back = "", False  # the state as this episode began, and whether the next begins with it

    def at(self, episode: int, rota: streams.Rota = streams.ALONE) -> int | None:
        """Return the seed with which an episode begins, None for none.

        Episodes of the same number of learners that take turns begin alike: with the same seed, or the same state.
        """
        before, number, after = (rota.number(max(k, 0)) for k in range(episode - 1, episode + 2))
        if number == 0:
            return self._seed
        if self.how == STATE and rota.learners > 1:
            again, self._goes_back = before == number, False
            with contextlib.suppress(TacitError):  # a state that cannot be told goes on
                if again and self._kept:
                    self.load(self._kept)
                self._kept = self._state()
                self._goes_back = after == number
        if self.how != SEED:
            return None
        block, place = divmod(number, _AHEAD)
        if block != self._block:
            numbers = range(block * _AHEAD, (block + 1) * _AHEAD)
            self._block, self._seeds = block, streams.seeds(self._seed, streams.EPISODES, numbers)
        return int(self._seeds[place])

    def dump(self) -> str:
        """Return what an environment has to remember, as the next episode begins; "" for nothing."""
        return self._kept if self._goes_back else self._state()

    def _state(self) -> str:
        """Return what an environment has to remember now."""
        env = self._environment.source
        try:
            with blame(f"{name_of(env)} failed to tell it"):
                if self.how == STATE:
                    return dumps(_keeper(self._environment).get_state())
                return dumps(pickle.dumps(env)) if self.how == PICKLE else ""
        except TacitError as error:
            raise TacitError(f"the state of {name_of(env)} cannot be stored: {error}") from error

    def load(self, text: str) -> None:
        """Bring the environment to what it had to remember."""
        env = self._environment.source
        with blame(f"{name_of(env)} failed to take its state back"):
            if self.how == STATE:
                _keeper(self._environment).set_state(loads(text))
            elif self.how == PICKLE:  # the user has said that the file is theirs
                self._environment.source = pickle.loads(loads(text))


def _best(environment: Environment) -> str:
    """Return how an environment can go on: by its own state, by seeds, or not at all."""
    if _keeper(environment) is not None:
        return STATE
    return SEED if environment.seeded else NONE


def _keeper(environment: Environment) -> Any:
    """Return what tells and takes the state: the adapter of a game of ours, or the environment; None for neither."""
    for holder in (environment, environment.source):
        ask, tell = getattr(holder, "get_state", None), getattr(holder, "set_state", None)
        if callable(ask) and callable(tell) and _takes(ask, 0) and _takes(tell, 1):
            return holder
    return None


def _takes(function: Any, count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


#: Types of arrays that are taken back, by NumPy's letters.
_KINDS = "biuf"


def dumps(value: Any) -> str:
    """Return a value as text.

    >>> loads(dumps((1, ("a", None), frozenset({2}))))
    (1, ('a', None), frozenset({2}))
    """
    return json.dumps(_plain(value))


def loads(text: str) -> Any:
    """Return what `dumps` made text of; raise TacitError where it cannot have been that."""
    try:
        return _value(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TacitError(f"it holds something that is no state ({brief(error)})") from None


def load_keys(text: str, *, most: int) -> list[Hashable]:
    """Return a list of at most so many different keys."""
    found = loads(text)
    if not isinstance(found, list) or len(found) > most:
        raise TacitError(f"it has more than {most} observations, or no list of them")
    try:
        if len(set(found)) != len(found):
            raise TacitError("it has an observation twice")
    except TypeError:
        raise TacitError("it has an observation that is not hashable") from None
    return found


def _plain(value: Any) -> Any:
    if value is OVER:
        return {"over": True}
    match value:
        case np.generic():
            return _plain(value.item())
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": repr(value)}
        case tuple() if type(value) is tuple:
            return {"tuple": [_plain(part) for part in value]}
        case list() if type(value) is list:
            return [_plain(part) for part in value]
        case frozenset():
            return {"set": [_plain(part) for part in value]}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case dict():
            return {"dict": [[_plain(key), _plain(part)] for key, part in value.items()]}
        case np.ndarray() if value.dtype.kind in _KINDS:
            content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
            return {"array": [value.dtype.str, list(value.shape), content]}
    raise TacitError(f"{brief(value)} cannot be stored; only numbers, text, tuples, lists, dicts and arrays can")


def _value(found: Any) -> Any:
    if isinstance(found, list):
        return [_value(part) for part in found]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = found.items()
    if kind == "over":
        return OVER
    if kind == "float":
        return float(content)
    if kind == "tuple":
        return tuple(_value(part) for part in content)
    if kind == "set":
        return frozenset(_value(part) for part in content)
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "dict":
        return {_value(key): _value(part) for key, part in content}
    if kind == "array":
        dtype, shape, raw = content
        if np.dtype(dtype).kind not in _KINDS:
            raise TypeError(dtype)
        return np.frombuffer(base64.b64decode(raw), dtype=dtype).reshape(shape).copy()
    raise KeyError(kind)
