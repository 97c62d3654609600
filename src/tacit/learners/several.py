"""Learners made of others: a different one for each agent, or several that take turns by the number of the episode.

The state is a chain: each link holds one learner's own state and the links of those after it. The compiler follows it
by type, so every learner runs its own kernels at full speed.

Turns: each of M members first has F episodes in a row, the last member first, and from episode M·F on member m plays
and learns in episodes m, m + M, m + 2·M, …. Every agent counts episodes for itself, so all of them switch together
without a message. A member never sees an episode of another, and its n-th episode has the random numbers of the n-th
episode of a run with the same seed: it is, bit for bit, where as many episodes alone would have brought it. So what the
better member reaches alone in n episodes, the portfolio has after M·n where n is more than F; where n is at most F, the
last member's after n, and another's after at most M·F. Guarantees are those of the members, at a share of the episodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.errors import TacitError, brief
from tacit.core.records import records
from tacit.core.streams import Rota
from tacit.core.types import FloatArray
from tacit.learners.spec import Learner, World


def _link(chain: Any, k: int, length: int) -> Any:
    """Return what is number k's in a chain of this length."""
    for _ in range(k):
        chain = chain.others
    return chain if k + 1 == length else chain.own


# one for each agent --------------------------------------------------------------------------------------------------


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
                raise TacitError(f"agents of {name} plan with each other; name it once, for all of them")
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
        return _link(state, i, len(self.members))

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
def act_one(learner, i, h, s, u):
    """Let agent i act, or look further along the chain."""
    if i == 0:
        return generics.act(learner.own, 0, h, s, u)
    return generics.act(learner.others, i - 1, h, s, u)


@generics.learn.implement(Link)
def learn_one(learner, i, h, s, a, r, s_next):
    """Let agent i learn, or look further along the chain."""
    if i == 0:
        generics.learn(learner.own, 0, h, s, a, r, s_next)
    else:
        generics.learn(learner.others, i - 1, h, s, a, r, s_next)


@generics.weigh.implement(Link)
def weigh_one(learner, i, h, s, out):
    """Write agent i's distribution, or look further along the chain."""
    if i == 0:
        generics.weigh(learner.own, 0, h, s, out)
    else:
        generics.weigh(learner.others, i - 1, h, s, out)


@generics.average.implement(Link)
def average_one(learner, i, h, s, out):
    """Write agent i's average, or look further along the chain."""
    if i == 0:
        generics.average(learner.own, 0, h, s, out)
    else:
        generics.average(learner.others, i - 1, h, s, out)


# several that take turns ---------------------------------------------------------------------------------------------

#: The mean of what a member's episodes brought is over about the last tenth of them.
LATE = 10


@dataclass(frozen=True)
class Portfolio(Learner):
    """Learners take turns by the number of the episode, and the answer is the best of all: nothing to choose.

    Parameters
    ----------
    members : str, or a sequence of (name, learner)
        At least two: names separated by commas, each with its own defaults, or learner objects with names for people,
        which must differ.
        `adaptive-v-cce` is best where equilibria mix; `model-independent` ends in a pure equilibrium where there is
        one, and often in the best.
    first : int
        Episodes that each member has in a row, before they take turns; the last member begins.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("good-state"), "portfolio", episodes=2000)
    >>> run.chosen, run.values.round(2)
    ('model-independent last', array([45.5, 45.5]))
    """

    members: Any = "adaptive-v-cce,model-independent"
    first: int = 100

    def __post_init__(self) -> None:
        check.integer("first", self.first, least=0, most=1 << 40)
        object.__setattr__(self, "members", _named(self.members))
        if len(self.members) < 2:
            named = ",".join(name for name, _ in self.members)
            raise TacitError(f"members is {brief(named)}; a portfolio has at least two, separated by commas")
        for name, own in self.members:
            inside = own.members if isinstance(own, Mixed) else (own,)
            if any(one.rota.learners > 1 for one in inside):
                raise TacitError(f"{name} takes turns itself; list the members of both portfolios as those of one")
            if own.central or own.exact or own.interpreted:
                raise TacitError(f"{name} does not learn with kernels from one agent's own play, so it takes no turns")

    @property
    def equilibrium(self) -> str:
        """That of the members whose answer is no product; a product policy's nash gap is its cce and its ce gap."""
        found = {own.equilibrium for _, own in self.members}
        return next((kind for kind in ("cce", "ce") if kind in found), "nash")

    @property
    def output(self) -> str:
        """One for each member, and the best of their candidates."""
        return "portfolio"

    @property
    def rota(self) -> Rota:
        """Which member plays which episode; each has the random numbers that it would have alone."""
        return Rota(len(self.members), self.first)

    @property
    def rangeless(self) -> bool:
        """Whether none of them needs the range of rewards."""
        return all(own.rangeless for _, own in self.members)

    @property
    def by_step(self) -> bool:
        """Whether all of them remember by step."""
        return all(own.by_step for _, own in self.members)

    @property
    def informed(self) -> bool:
        """Whether agents of any of them know of each other."""
        return any(own.informed for _, own in self.members)

    @property
    def instead(self) -> str:
        """What to try where its result is not good, in words."""
        return "try more episodes, `starts=4` for several starts, or `tacit compare` for all learners that fit"

    def explores(self, state: Any, i: int) -> float:
        """Return how often agent i explores in this episode."""
        m = self.rota.whose(int(state.agents["episodes"][i]))
        return float(self.members[m][1].explores(self.part(state, m), i))

    def part(self, chain: Any, m: int) -> Any:
        """Return what is member m's in a chain: its state, or what watches it."""
        return _link(chain, m, len(self.members))

    def share(self, m: int, done: int) -> int:
        """Return how many of the first `done` episodes are member m's."""
        return self.rota.share(m, done)

    def late_means(self, state: Any) -> FloatArray:
        """Return each agent's mean return in the late episodes of each member, [M, N]."""
        found = []
        for _ in self.members[1:]:
            found.append(state.agents["mean"][:, 0])
            last, state = state.agents["mean"][:, 1], state.others
        return np.array([*found, last])

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, by member."""
        return {f"{name} {key}": value for name, own in self.members for key, value in own.params(world).items()}

    def init(self, world: World) -> Any:
        """Make the chain of states: the first member's, and those after it."""
        states = [own.init(world) for _, own in self.members]
        chain = states.pop()
        for k, own in enumerate(reversed(states)):
            agents = records((world.agents,), [("episodes", "i8"), ("gained", "f8"), ("mean", "f8", 2)])
            chain = Turns(agents, own, chain, world.horizon, k + 2, self.first)
        return chain


def _named(members: Any) -> tuple[tuple[str, Learner], ...]:
    """Return names and learners."""
    from tacit.learners import resolve  # whose registry holds this one

    try:
        listed = members.split(",") if isinstance(members, str) else list(members)
        pairs = [(one.strip(), one.strip()) if isinstance(one, str) else (str(one[0]), one[1]) for one in listed]
    except (TypeError, IndexError):
        told = "it must be names separated by commas, or pairs of a name and a learner object"
        raise TacitError(f"members is {brief(members)}; {told}") from None
    found = tuple((name, resolve(own, {})[1]) for name, own in pairs)
    twice = next((name for k, (name, _) in enumerate(found) if name in dict(found[:k])), None)
    if twice is not None:
        raise TacitError(f"members has {brief(twice)} twice; give learner objects with names of their own")
    return found


class Turns(NamedTuple):
    """The states of one member, and of those after it: a chain, or the last member's state."""

    agents: Any  # [N]  episodes, rewards of the running one, mean return of late ones: this member's, the others'
    own: Any
    others: Any
    horizon: int
    left: int  # members from this one on: this one has the first of so many episodes
    first: int  # episodes that each has in a row before, this one after the others


@generics.jitable
def is_own(turns, i):
    """Return whether it is this member's turn, by agent i's own count."""
    k = turns.agents[i].episodes
    if k < turns.left * turns.first:
        return k >= (turns.left - 1) * turns.first
    return k % turns.left == 0


@generics.jitable
def count_own(turns, i):
    """Return how many of agent i's episodes so far were this member's."""
    k = turns.agents[i].episodes
    if k < turns.left * turns.first:
        return max(k - (turns.left - 1) * turns.first, 0)
    return (k + turns.left - 1) // turns.left


@generics.act.implement(Turns)
def act_in_turn(learner, i, h, s, u):
    """Act as the member whose turn it is."""
    if is_own(learner, i):
        return generics.act(learner.own, i, h, s, u)
    return generics.act(learner.others, i, h, s, u)


@generics.learn.implement(Turns)
def learn_in_turn(learner, i, h, s, a, r, s_next):
    """Let the member learn whose turn it is; after the last step, count the episode."""
    me = learner.agents[i]
    own = is_own(learner, i)
    if own:
        generics.learn(learner.own, i, h, s, a, r, s_next)
    else:
        generics.learn(learner.others, i, h, s, a, r, s_next)
    me.gained = me.gained + r if h > 0 else r
    if h + 1 == learner.horizon:
        before = count_own(learner, i) if own else me.episodes - count_own(learner, i)
        me.mean[0 if own else 1] += (me.gained - me.mean[0 if own else 1]) * LATE / (LATE + before)
        me.episodes += 1


@generics.weigh.implement(Turns)
def weigh_in_turn(learner, i, h, s, out):
    """Write the distribution of the member whose turn it is."""
    if is_own(learner, i):
        generics.weigh(learner.own, i, h, s, out)
    else:
        generics.weigh(learner.others, i, h, s, out)


@generics.average.implement(Turns)
def average_in_turn(learner, i, h, s, out):
    """Write the average of the member whose turn it is."""
    if is_own(learner, i):
        generics.average(learner.own, i, h, s, out)
    else:
        generics.average(learner.others, i, h, s, out)
