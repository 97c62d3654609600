"""Learners without kernels: any Python class with `act` and `learn`, played by agents on their own.

    class Stubborn:
        def __init__(self, *, states, actions, horizon, reward_range, seed, index): ...
        def act(self, h, s): ...                             # return an action from 0 to actions − 1
        def learn(self, h, s, a, reward, next_state): ...    # next_state is −1 after the last step
        def probabilities(self, h, s): ...                   # optional: the current distribution over actions

With `observes = True` as an attribute of the class, `s` and `next_state` are what the environment shows, as it is, and
`next_state` is None after the last step; `states` is None. So a network can take part.

Without `probabilities`, what the agent is taken to play are the frequencies of its own actions so far, or whatever it
acts if it `observes`. A class can be registered, `tacit.learners.REGISTRY.add("stubborn", Stubborn)`; keyword
parameters beyond those above are then the learner's own, as in `tacit.learn(game, "stubborn", episodes=100, rate=0.1)`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.types import FloatArray
from tacit.learners.spec import Learner, World


@dataclass(frozen=True)
class PlainLearner(Learner):
    """A Python class, or a function that makes such objects.

    Parameters
    ----------
    factory : callable
        Called once for each agent with `states`, `actions`, `horizon`, `reward_range`, `seed` and `index`.
    given : mapping
        Parameters of its own.
    """

    factory: Callable[..., Any]
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def observes(self) -> bool:
        """Whether the class wants observations, by its attribute `observes`."""
        return bool(getattr(self.factory, "observes", False))

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters that were given; the class knows its defaults."""
        return self.given

    def agent(
        self, size: tuple[int, int, int], reward_range: tuple[float, float], *, seed: int, index: int
    ) -> PlainAgent:
        """Make one agent of a game of this size (H, S, A)."""
        horizon, states, actions = size
        seen = None if self.observes else states
        known = {"states": seen, "actions": actions, "horizon": horizon, "reward_range": reward_range}
        try:
            made = self.factory(**known, seed=seed, index=index, **self.given)
        except TypeError as error:
            told = f"{brief(self.factory)} cannot be made: {one_line(error, 200)}"
            raise TacitError(f"{told}; it is called with {', '.join(KNOWN)}, all by keyword") from error
        missing = [name for name in ("act", "learn") if not callable(getattr(made, name, None))]
        if missing:
            raise TacitError(f"{brief(self.factory)} made {brief(made)}, which has no {' and no '.join(missing)}")
        return PlainAgent(made, size, observes=self.observes)


#: What a class is told of the game; its other parameters are the user's to choose.
KNOWN = ("states", "actions", "horizon", "reward_range", "seed", "index")


def plain_factory(registered: Callable[..., Any]) -> Callable[..., Learner]:
    """Return what makes learners of a Python class with `act` and `learn`; any other factory is one already."""
    plain = isinstance(registered, type) and not issubclass(registered, Learner)
    if not plain or not (hasattr(registered, "act") and hasattr(registered, "learn")):
        return registered

    def make(**params: Any) -> Learner:
        return PlainLearner(registered, params)

    signature = inspect.signature(registered)
    own = [one for one in signature.parameters.values() if one.name not in KNOWN and one.kind is not one.VAR_KEYWORD]
    make.__doc__, make.__module__ = registered.__doc__, registered.__module__
    make.__dict__["__signature__"] = signature.replace(parameters=own)
    return make


class PlainAgent:
    """One agent around somebody's object, with what the environment engine asks of agents."""

    def __init__(self, inner: Any, size: tuple[int, int, int], *, observes: bool = False) -> None:
        self.inner, self.horizon, self.actions, self.observes = inner, size[0], size[2], observes
        self.bound_sum = None  # it keeps no bounds that we know of
        self._counts = np.zeros(size)

    @property
    def states(self) -> int:
        """States it has room for."""
        return self._counts.shape[1]

    def act(self, h: int, s: Any) -> int:
        """Return an action for step h in state s, or on the observation s."""
        a = check.integer("the action of a learner", self.inner.act(h, s), least=0, most=self.actions - 1)
        if not self.observes:
            self._counts[h, s, a] += 1
        return a

    def learn(self, h: int, s: Any, a: int, reward: float, next_state: Any) -> None:
        """Learn from one's own step."""
        self.inner.learn(h, s, a, reward, next_state)

    def probabilities(self, h: int, s: Any) -> FloatArray:
        """Return the distribution at step h in state s, [A]: as the object tells it, or by its actions so far."""
        if not hasattr(self.inner, "probabilities"):
            count = self._counts[h, s].sum()
            return self._counts[h, s] / count if count else np.full(self.actions, 1.0 / self.actions)
        told = check.array("the probabilities of a learner", self.inner.probabilities(h, s))
        if told.shape != (self.actions,):
            raise TacitError(f"the probabilities of a learner have shape {told.shape}; it must be ({self.actions},)")
        return told

    @property
    def policy(self) -> FloatArray:
        """The current distributions, [H, S, A]."""
        return np.array([[self.probabilities(h, s) for s in range(self.states)] for h in range(self.horizon)])

    def grow(self, states: int) -> None:
        """Make room for more states; the object itself has to take any number of them."""
        wider = np.zeros((self.horizon, states, self.actions))
        wider[:, : self.states] = self._counts
        self._counts = wider
