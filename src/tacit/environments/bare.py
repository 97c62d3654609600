"""A plain Python object with `reset` and `step` as an environment: nothing to import, nothing to derive from.

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
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core import check, limits
from tacit.core.errors import TacitError, brief
from tacit.environments.adapters import Discrete, Moved, name_of, theirs


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
        self.spaces: list[Any] = [Discrete(limits.integer("states", states)) if known else Anything()] * N
        try:
            self.seeded = "seed" in inspect.signature(env.reset).parameters
        except (TypeError, ValueError):
            self.seeded = False
        self._over = [False] * N

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
        if isinstance(given, list | tuple | np.ndarray) and np.ndim(given) == 1:
            if len(given) != len(self.actions):
                told = f"the {what} of {name_of(self.source)} are {brief(given)}"
                raise TacitError(f"{told}; there must be one for each of {len(self.actions)} agents")
            return list(given)
        return [given] * len(self.actions)


def _sizes(env: Any) -> tuple[int, ...]:
    """Return each agent's number of actions."""
    given, agents = env.actions, getattr(env, "agents", None)
    if isinstance(given, list | tuple | np.ndarray):
        found = tuple(check.integer(f"actions[{i}]", own, least=1) for i, own in enumerate(given))
        if not found or (agents is not None and agents != len(found)):
            raise TacitError(f"{name_of(env)} has actions {brief(given)} and agents {brief(agents)}, which differ")
        return found
    count = 1 if agents is None else limits.integer("agents", agents)
    return (limits.integer("actions", given),) * count
