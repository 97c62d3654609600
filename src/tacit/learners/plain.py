"""Learners without kernels: any Python class with `act` and `learn`, played by agents on their own.

    class Stubborn:
        def __init__(self, *, states, actions, horizon, reward_range, seed, index): ...
        def act(self, h, s): ...                             # return an action from 0 to actions − 1
        def learn(self, h, s, a, reward, next_state): ...    # next_state is −1 after the last step
        def probabilities(self, h, s): ...                   # optional: the current distribution over actions

Without `probabilities`, what the agent is taken to play are the frequencies of its own actions so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.learners.spec import Learner, World


@dataclass(frozen=True)
class PlainLearner(Learner):
    """A Python class, or a function that makes such objects.

    Parameters
    ----------
    factory : callable
        Called once for each agent with `states`, `actions`, `horizon`, `reward_range`, `seed` and `index`.
    """

    interpreted: ClassVar[bool] = True

    factory: Callable[..., Any]

    def params(self, world: World) -> Mapping[str, Any]:
        """Return nothing: the class knows its own."""
        return {}

    def agent(
        self, size: tuple[int, int, int], reward_range: tuple[float, float], *, seed: int, index: int
    ) -> PlainAgent:
        """Make one agent of a game of this size (H, S, A)."""
        horizon, states, actions = size
        known = {"states": states, "actions": actions, "horizon": horizon, "reward_range": reward_range}
        made = self.factory(**known, seed=seed, index=index)
        missing = [name for name in ("act", "learn") if not hasattr(made, name)]
        if missing:
            raise TacitError(f"{brief(self.factory)} made {brief(made)}, which has no {' and no '.join(missing)}")
        return PlainAgent(made, size)


class PlainAgent:
    """One agent around somebody's object, with what the environment engine asks of agents."""

    def __init__(self, inner: Any, size: tuple[int, int, int]) -> None:
        self.inner, self.horizon, self.actions = inner, size[0], size[2]
        self.bound = np.nan
        self._counts = np.zeros(size)

    @property
    def states(self) -> int:
        """States it has room for."""
        return self._counts.shape[1]

    def act(self, h: int, s: int) -> int:
        """Return an action for step h in state s."""
        a = check.integer("the action of a learner", self.inner.act(h, s), least=0, most=self.actions - 1)
        self._counts[h, s, a] += 1
        return a

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int) -> None:
        """Learn from one's own step."""
        self.inner.learn(h, s, a, reward, next_state)

    def probabilities(self, h: int, s: int) -> FloatArray:
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
