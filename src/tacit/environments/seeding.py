"""How an environment begins its episodes, such that a run that was stopped can go on with the same bits.

An environment that offers `get_state()` and `set_state(state)` is seeded once, and its state between two episodes, its
random generators included, goes into the checkpoint. Any other is seeded anew at every episode, by the episode's
number: what it does then does not depend on what it did before. With the user's consent (`pickle_env=True`) the object
itself is pickled into the checkpoint; it is then seeded once.
"""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np

from tacit.core import streams
from tacit.core.errors import TacitError, one_line
from tacit.environments import keys
from tacit.environments.adapters import Environment, name_of

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
        """Return what an environment has to remember; "" for nothing."""
        env = self._environment.source
        try:
            if self.how == STATE:
                return keys.dumps(_keeper(self._environment).get_state())
            if self.how == PICKLE:
                return keys.dumps(pickle.dumps(env))
        except TacitError as error:
            raise TacitError(f"the state of {name_of(env)} cannot be stored: {error}") from error
        except Exception as error:
            raise TacitError(f"{name_of(env)} failed to tell its state: {one_line(error, 200)}") from error
        return ""

    def load(self, text: str) -> None:
        """Bring the environment to what it had to remember."""
        env = self._environment.source
        try:
            if self.how == STATE:
                _keeper(self._environment).set_state(keys.loads(text))
            elif self.how == PICKLE:  # the user has said that the file is theirs
                self._environment.source = pickle.loads(keys.loads(text))
        except TacitError:
            raise
        except Exception as error:
            raise TacitError(f"{name_of(env)} failed to take its state back: {one_line(error, 200)}") from error


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
