"""A team of different learners, one for each agent, in the compiled loop.

The state is a chain: each link holds one agent's own state and the links of those after it. The compiler follows it by
type, so every agent runs its own kernels at full speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from tacit.core import generics
from tacit.core.errors import TacitError
from tacit.learners.spec import Learner, World


@dataclass(frozen=True)
class Mixed(Learner):
    """Agents that learn differently; judged as a product of their policies.

    Parameters
    ----------
    members : tuple of N learners
    names : tuple of N str
        What people call them.

    Examples
    --------
    >>> import tacit
    >>> from tacit.learners import Mixed
    >>> Mixed((tacit.StageV(), tacit.QIndependent()), ("stage-v-cce", "q-independent")).names
    ('stage-v-cce', 'q-independent')
    """

    members: tuple[Learner, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        for name, member in zip(self.names, self.members, strict=True):
            if member.informed:
                raise TacitError(f"agents of {name} plan with each other, so all of them must be of it")
            if member.central or member.exact:
                raise TacitError(f"{name} does not learn from one agent's own play, so it cannot be one of several")

    @property
    def interpreted(self) -> bool:
        """Whether any of them has no kernels."""
        return any(member.interpreted for member in self.members)

    @property
    def rangeless(self) -> bool:
        """Whether none of them needs the range of rewards."""
        return all(member.rangeless for member in self.members)

    @property
    def recent(self) -> bool:
        """Whether all of them average their iterates."""
        return all(member.recent for member in self.members)

    def explores(self, state: Any, i: int) -> float:
        """Return how often agent i explores."""
        return self.members[i].explores(self.part(state, i), 0)

    def part(self, state: Any, i: int) -> Any:
        """Return agent i's state."""
        for _ in range(i):
            state = state.others
        return state if i == len(self.members) - 1 else state.own

    def seat(self, i: int) -> Learner:
        """Return agent i's learner."""
        return self.members[i]

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, by agent."""
        return {f"agent {i}": dict(own.params(world)) | {"learner": n} for i, (n, own) in enumerate(self._pairs)}

    @property
    def _pairs(self) -> list[tuple[str, Learner]]:
        return list(zip(self.names, self.members, strict=True))

    def init(self, world: World) -> Any:
        """Make the chain of states, the first agent's at its head."""
        *before, chain = (member.init(world.seat(i)) for i, member in enumerate(self.members))
        for own in reversed(before):
            chain = Link(own, chain)
        return chain


class Link(NamedTuple):
    """One agent's state, of which it is the only agent, and those after it: a chain, or the last agent's state."""

    own: Any
    others: Any


@generics.act.implement(Link)
def act(learner, i, h, s, u):
    """Let agent i act, or look further along the chain."""
    if i == 0:
        return generics.act(learner.own, 0, h, s, u)
    return generics.act(learner.others, i - 1, h, s, u)


@generics.learn.implement(Link)
def learn(learner, i, h, s, a, r, s_next):
    """Let agent i learn, or look further along the chain."""
    if i == 0:
        generics.learn(learner.own, 0, h, s, a, r, s_next)
    else:
        generics.learn(learner.others, i - 1, h, s, a, r, s_next)


@generics.weigh.implement(Link)
def weigh(learner, i, h, s, out):
    """Write agent i's distribution, or look further along the chain."""
    if i == 0:
        generics.weigh(learner.own, 0, h, s, out)
    else:
        generics.weigh(learner.others, i - 1, h, s, out)


@generics.average.implement(Link)
def average(learner, i, h, s, out):
    """Write agent i's average, or look further along the chain."""
    if i == 0:
        generics.average(learner.own, 0, h, s, out)
    else:
        generics.average(learner.others, i - 1, h, s, out)
