"""One agent's part of a policy: what a device holds and plays, with NumPy and nothing else.

    part = tacit.Part.load("part_0.json")        # that policy.save("part_0.json", agent=0) wrote
    part = tacit.Part.load("policy.npz", agent=0)
    part.begin(seed)                             # the common seed of the episode, the same for all agents
    a = part.act(h, s)
    a = part.act(h, part.number(observation))    # of an environment; what was never met in learning is played evenly

A part does its arithmetic on plain numbers: for one agent and one step arrays cost more than they save.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check, streams
from tacit.core.display import count
from tacit.core.errors import TacitError
from tacit.policies import observed


class Part:
    """What all parts have in common.

    Attributes
    ----------
    agent : int
        Whose part it is.
    horizon : int or None
        Steps of an episode; None for a Markov policy that is the same at every step.
    product : bool
        Whether it draws independently of the others.
    sees : bool
        Whether it acts on observations instead of the numbers of states.
    table : array [H or 1, S, A], or None
        What it plays, where that is a table of its own.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tacit
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.json"
    >>> tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]).save(path)
    >>> part = tacit.Part.load(path, agent=1)
    >>> part.begin(seed=7)
    >>> part.act(0, 0)
    1
    """

    agent: int
    horizon: int | None
    product = sees = False
    table: npt.NDArray[np.float64] | None = None
    _size: int  # actions

    def __init__(self, agent: int, actions: int, horizon: int | None) -> None:
        self.agent, self._size, self.horizon = agent, actions, horizon
        self._next = 0  # the step that has to come next
        self._common: list[float] | None = None
        self._own: list[float] = []
        self._lone: np.random.Generator | None = None
        self._told: Any = None
        self._numbers: dict[Hashable, int] | None = None

    @staticmethod
    def load(path: str | os.PathLike[str], *, agent: int | None = None) -> Part:
        """Read a part that `policy.save(path, agent=)` wrote, or agent i's part of a whole policy."""
        from tacit.policies import document, load, load_part

        content = document.read(path) if document.is_json(path) else {}
        if "agent" in content:
            part = load_part(path, content)
            if agent not in (None, part.agent):
                raise TacitError(f"{path} holds the part of agent {part.agent}, not of agent {agent}")
            return part
        policy = load(path)
        if agent is None:
            raise TacitError(f"{path} holds the policy of all agents; say whose part it is to be, agent=0 to …")
        return policy.part(agent)

    def __repr__(self) -> str:
        steps = "the same at every step" if self.horizon is None else f"horizon {self.horizon}"
        return f"{type(self).__name__}(agent {self.agent}, {count(self._size, 'action')}, {steps})"

    @property
    def actions(self) -> int:
        """The agent's number of actions."""
        return self._size

    def tell(self, own: Any, states: int) -> None:
        """Say what the agent observed in each state: a list, or who numbers it."""
        self._told, self._states, self._numbers = own, states, None

    @property
    def observations(self) -> list[Any] | None:
        """What the agent observed in learning, by the number of the state; None for a policy of a game's own states."""
        return None if self._told is None else observed.as_list(self._told, self._states)

    def number(self, observation: Any) -> int | None:
        """Return the number of the state in which the agent observes this; None if it never did in learning.

        Parameters
        ----------
        observation
            As the environment shows it; where the policy was learned with `encode=`, what that makes of it. Tuples,
            lists and arrays of the same content are the same.

        Examples
        --------
        >>> import numpy as np
        >>> from tacit.policies import MarkovPart
        >>> part = MarkovPart(np.array([[[0.0, 1.0], [1.0, 0.0]]]), 0)
        >>> part.tell([["low", 0], ["high", 3]], 2)
        >>> part.number(("high", 3)), part.number(("high", 4))
        (1, None)
        """
        if self._numbers is None:
            own = self.observations
            if own is None:
                raise TacitError(
                    "this part does not say what its agent observes: policies learned in an environment do, from "
                    "tacit.learn or a file, where all that is observed are numbers, text, and lists of them"
                )
            self._numbers = observed.numbers(own)
        try:
            return self._numbers.get(observed.key(observation))
        except TacitError:
            return None

    def begin(self, seed: int) -> None:
        """Begin an episode with the common seed; the agent's own draws come from it too, by the agent's number."""
        seed = check.integer("seed", seed)
        steps = self.horizon or 0
        common = streams.stream(seed, streams.ENVIRONMENT)
        self._lone = streams.stream(seed, streams.agent_role(self.agent))
        self._common = common.random(steps + 1).tolist()
        self._own = self._lone.random(steps).tolist()
        self._stream = common
        self._next = 0
        self._begin()

    def _begin(self) -> None:
        """Set what an episode begins with."""

    def act(self, h: int, s: int | None) -> int:
        """Return the action at step h in state s; with None, a state that is not known, one that is drawn evenly."""
        raise NotImplementedError

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return the action at step h where only some are `allowed`; by itself a part knows of no masks."""
        return self.act(h, s)

    def stray(self, h: int) -> int:
        """Return an action, evenly drawn, in a state that the policy does not know; it is lost from there on."""
        u = self._step(h)
        self._lose()
        return int(u * self._size)

    def _lose(self) -> None:
        """Forget where in the policy play was."""

    def _step(self, h: int) -> float:
        """Check that step h comes next; return the agent's own number of it."""
        if self._common is None or self._lone is None:
            raise TacitError("a part acts within an episode; call begin(seed) with the common seed first")
        if self.horizon is None:
            return self._lone.random()
        self._next = in_order(h, self._next, self.horizon)
        return self._own[h]


def in_order(h: int, expected: int, horizon: int) -> int:
    """Check that step h is the one that comes next within an episode; return the one after it."""
    if h != expected or type(h) is not int or h >= horizon:
        h = check.integer("h", h, least=0, most=horizon - 1)
        if h != expected:
            told = "begin(seed) comes next" if expected == horizon else f"step {expected} comes next"
            raise TacitError(f"h is {h}; a part plays the steps of an episode in order, once each, and {told}")
    return h + 1


def draw(probs: list[float], u: float) -> int:
    """Draw from stored probabilities, of which the last is left out, as `visits.restore` does."""
    total = 0.0
    for p in probs:
        total += p
    rest = max(1.0 - total, 0.0)
    scale, reached, a = total + rest, 0.0, 0
    for p in probs:
        reached += p / scale
        a += u >= reached
    return a


class MarkovPart(Part):
    """Agent i's part of a Markov policy: its own distributions, or all of a correlated policy.

    Parameters
    ----------
    probs : array [H or 1, S, A_i], or [H or 1, S, A_1, …, A_N] where the policy is correlated
    agent : int
    correlated : bool

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import MarkovPart
    >>> part = MarkovPart(np.array([[[0.0, 1.0]]]), 0)
    >>> part.begin(seed=0)
    >>> part.act(0, 0)
    1
    """

    def __init__(self, probs: npt.NDArray[np.float64], agent: int, *, correlated: bool = False) -> None:
        steps, self.states = probs.shape[:2]
        sizes = probs.shape[2:]
        super().__init__(agent, sizes[agent] if correlated else sizes[0], None if steps == 1 else steps)
        self._flat = probs.reshape(steps, self.states, -1)
        self._rows: dict[int, list[float]] = {}  # cumulated, of what was played: plain numbers take memory
        self._below = int(np.prod(sizes[agent + 1 :])) if correlated else 0
        self._correlated, self.product = correlated, not correlated
        self.table = None if correlated else probs

    def act(self, h: int, s: int | None) -> int:
        """Return the action at step h in state s; with None, evenly drawn."""
        if s is None:
            return self.stray(h)
        if type(s) is not int or not 0 <= s < self.states:
            s = check.integer("s", s, least=0, most=self.states - 1)
        u = self._step(h)  # what is refused uses no step up
        place = s if self.horizon is None else h * self.states + s
        row = self._rows.get(place)
        if row is None:
            row = self._rows[place] = np.cumsum(self._flat[place // self.states, s])[:-1].tolist()
        if not self._correlated:
            return bisect_right(row, u)
        shared = self._common[h] if self.horizon is not None else self._stream.random()  # type: ignore[index]
        return bisect_right(row, shared) // self._below % self._size

    def stray(self, h: int) -> int:
        """Return an action, evenly drawn; the common number is drawn too, so that all stay together."""
        if self.horizon is None and self._correlated and self._common is not None:
            self._stream.random()
        return super().stray(h)
