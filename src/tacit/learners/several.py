"""Learners made of others or of Python classes.

One for each agent, a portfolio, a class without kernels.

The state of different learners is a chain: each link holds one learner's own state and the links of those after it. The
compiler follows it by type, so every learner runs its own kernels at full speed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.types import FloatArray
from tacit.learners.spec import Info, Learner, World
from tacit.policies import MarkovPolicy


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
    >>> Mixed((tacit.learners.StageV(), tacit.learners.QIndependent()), ("stage-v-cce", "q-independent")).names
    ('stage-v-cce', 'q-independent')
    """

    members: tuple[Learner, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.members, tuple) or not all(isinstance(member, Learner) for member in self.members):
            raise TacitError(f"members must be a tuple of learners; got {brief(self.members)}")
        if not isinstance(self.names, tuple) or len(self.names) != len(self.members):
            raise TacitError(f"names must be a tuple of {len(self.members)} names; got {brief(self.names)}")
        for name, member in zip(self.names, self.members, strict=True):
            if member.info.needs & {"all agents", "tables"}:
                raise TacitError(f"{name} does not learn from one agent's own play, so it cannot be one of several")

    @property
    def info(self) -> Info:
        """What all of them return and need; their policies are judged as a product."""
        infos = [member.info for member in self.members]
        returned = {info.returns for info in infos}
        returns = "frequencies" if "frequencies" in returned else "average" if returned == {"average"} else "last"
        return Info(returns=returns, reward_scale_free=all(info.reward_scale_free for info in infos))

    def explores(self, state: Any, i: int) -> float:
        """Return how often agent i explores."""
        return self.members[i].explores(self.part(state, i), 0)

    def part(self, state: Any, i: int) -> Any:
        """Return agent i's state."""
        return _link(state, i, len(self.members))

    @property
    def endless(self) -> bool:
        """Whether all of them learn in play that never resets."""
        return all(member.endless for member in self.members)

    def changed(self, state: Any, i: int) -> int:
        """Return the period since which agent i's greedy policy has not changed."""
        return self.members[i].changed(self.part(state, i), 0)

    def seat(self, i: int) -> Learner:
        """Return agent i's learner."""
        return self.members[i].seat(i)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, by agent."""
        return {f"agent {i}": dict(member.params(world)) | {"learner": n} for i, (n, member) in enumerate(self._pairs)}

    @property
    def _pairs(self) -> list[tuple[str, Learner]]:
        return list(zip(self.names, self.members, strict=True))

    def init(self, world: World) -> Any:
        """Make the chain of states, the first agent's at its head."""
        *before, chain = (self.seat(i).init(world.seat(i)) for i in range(len(self.members)))
        for state in reversed(before):
            chain = Link(state, chain)
        return chain


def is_interpreted(learner: Learner) -> bool:
    """Return whether a learner, or one of a team, is a Python class without kernels."""
    members = learner.members if isinstance(learner, Mixed) else (learner,)
    return any(isinstance(member, PythonLearner) for member in members)


def is_resumable(learner: Learner) -> bool:
    """Return whether checkpoints can hold what a learner has learned."""
    members = learner.members if isinstance(learner, Mixed) else (learner,)
    return not is_interpreted(learner) or all(getattr(member, "resumes", False) for member in members)


class Link(NamedTuple):
    """One agent's own state, and those after it: a chain, or the last."""

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


@generics.policy.implement(Link)
def policy_one(learner, i, h, s, out):
    """Write agent i's distribution, or look further along the chain."""
    if i == 0:
        generics.policy(learner.own, 0, h, s, out)
    else:
        generics.policy(learner.others, i - 1, h, s, out)


@generics.average_policy.implement(Link)
def average_one(learner, i, h, s, out):
    """Write agent i's average, or look further along the chain."""
    if i == 0:
        generics.average_policy(learner.own, 0, h, s, out)
    else:
        generics.average_policy(learner.others, i - 1, h, s, out)


def to_random_horizon(learner: Learner) -> Learner:
    """Return a learner for stretches of a discounted game, whose policies are stationary.

    Its parameters are shared across time steps where they can be, and a start has one state more.
    """
    if isinstance(learner, Mixed):
        return replace(learner, members=tuple(to_random_horizon(member) for member in learner.members))
    if isinstance(learner, Portfolio):
        return replace(learner, members=tuple((name, to_random_horizon(member)) for name, member in learner.members))
    changes: dict[str, Any] = {}
    if learner.steps is None and "steps" in vars(learner):
        changes["steps"] = "shared"
    if isinstance(learner.start, MarkovPolicy):
        changes["start"] = learner.start.to_random_horizon()
    return replace(learner, **changes) if changes else learner  # type: ignore[type-var]


# several whose best candidate is returned ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Portfolio(Learner):
    """Two learners by turns of 100 episodes. The best candidate is selected with the exact gap: no hyperparameters.

    Parameters
    ----------
    members : str, or a sequence of (name, learner)
        At least two: names separated by commas, each with its own defaults, or learner objects with names for people,
        which must differ.
        `adaptive-v-cce` is best where equilibria mix; `model-independent` ends in a pure equilibrium where there is
        one, and often in the best.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("good-state"), "portfolio", episodes=2000)
    >>> run.chosen, run.values.round(2)
    ('model-independent last', array([45.5, 45.5]))
    """

    members: Any = "adaptive-v-cce,model-independent"

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", _named(self.members))
        if len(self.members) < 2:
            named = ",".join(name for name, _ in self.members)
            raise TacitError(f"members must be at least two, separated by commas; got {brief(named)}")
        for name, member in self.members:
            if isinstance(member, Portfolio):
                raise TacitError(f"{name} cannot be a member of a portfolio; list its members instead")
            if "tables" in member.info.needs or is_interpreted(member):
                raise TacitError(f"{name} does not learn from play with kernels, so it cannot be a member")

    @property
    def info(self) -> Info:
        """It learns what those members do that return mixtures. A product policy's gap is of all three kinds."""
        kinds = {member.info.learns for _, member in self.members}
        learns = next((kind for kind in ("cce", "ce") if kind in kinds), "nash")
        return Info(learns, "certified", needs=frozenset({"tables"}))

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force, by member."""
        return {f"{name} {key}": value for name, member in self.members for key, value in member.params(world).items()}


def _named(members: Any) -> tuple[tuple[str, Learner], ...]:
    """Return names and learners."""
    from tacit.learners import resolve  # whose registry holds this one

    try:
        listed = members.split(",") if isinstance(members, str) else list(members)
        pairs = [(one.strip(), one.strip()) if isinstance(one, str) else (str(one[0]), one[1]) for one in listed]
    except (TypeError, IndexError):
        wanted = "names separated by commas, or pairs of a name and a learner object"
        raise TacitError(f"members must be {wanted}; got {brief(members)}") from None
    named = tuple((name, resolve(member, {})[1]) for name, member in pairs)
    twice = next((name for k, (name, _) in enumerate(named) if name in dict(named[:k])), None)
    if twice is not None:
        raise TacitError(f"members must have different names; got {brief(twice)} twice")
    return named


# Python classes without kernels ---------------------------------------------------------------------------------------


class PythonLearner(Learner):
    """A learner without kernels: its agents are objects, which play one by one."""

    def agent(
        self, size: tuple[int, int, int], reward_range: tuple[float, float], *, seed: int, index: int
    ) -> PlainAgent:
        """Make one agent of a game of this size (H, S, A)."""
        raise NotImplementedError


@dataclass(frozen=True)
class PlainLearner(PythonLearner):
    """A Python class without kernels, or a function that makes such objects. Its agents play one by one.

        class Stubborn:
            def __init__(self, *, states, actions, horizon, reward_range, seed, index): ...
            def act(self, h, s): ...                             # return an action from 0 to actions − 1
            def learn(self, h, s, a, reward, next_state): ...    # next_state is −1 after the last step
            def probabilities(self, h, s): ...                   # optional: the current distribution over actions

    With `observes = True` as an attribute of the class, `s` and `next_state` are what the environment shows, as it is,
    and `next_state` is None after the last step; `states` is None. So a network can take part.

    Without `probabilities`, what the agent is taken to play are the frequencies of its own actions so far, exploration
    included, or whatever it acts if it `observes`; the candidate is then called "frequencies".

    A class can be registered, `tacit.learners.REGISTRY.add("stubborn", Stubborn)`; keyword parameters beyond those
    above are then the learner's own: `tacit.learn(game, "stubborn", episodes=100, rate=0.1)`.

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

    @property
    def info(self) -> Info:
        """What it returns: by its `probabilities`, or by the frequencies of its actions."""
        counted = isinstance(self.factory, type) and not hasattr(self.factory, "probabilities") and not self.observes
        return Info(returns="frequencies" if counted else "last")

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters that were given; the class knows its defaults."""
        return self.given

    def agent(
        self, size: tuple[int, int, int], reward_range: tuple[float, float], *, seed: int, index: int
    ) -> PlainAgent:
        """Make one agent of a game of this size (H, S, A)."""
        horizon, states, actions = size
        states_told = None if self.observes else states
        facts = {"states": states_told, "actions": actions, "horizon": horizon, "reward_range": reward_range}
        try:
            inner = self.factory(**facts, seed=seed, index=index, **self.given)
        except TypeError as error:
            problem = f"{brief(self.factory)} cannot be made: {one_line(error, 200)}"
            raise TacitError(f"{problem}; it is called with {', '.join(KNOWN)}, all by keyword") from error
        missing = [name for name in ("act", "learn") if not callable(getattr(inner, name, None))]
        if missing:
            raise TacitError(f"{brief(self.factory)} made {brief(inner)}, which has no {' and no '.join(missing)}")
        return PlainAgent(inner, size, observes=self.observes)


#: What a class is told of the game; its other parameters are the user's to choose.
KNOWN = ("states", "actions", "horizon", "reward_range", "seed", "index")


def plain_factory(registered: Callable[..., Any]) -> Callable[..., Learner]:
    """Return what makes learners of a Python class with `act` and `learn`. Any other factory is one already."""
    plain = isinstance(registered, type) and not issubclass(registered, Learner)
    if not plain or not (hasattr(registered, "act") and hasattr(registered, "learn")):
        return registered

    def make(**params: Any) -> Learner:
        return PlainLearner(registered, params)

    signature = inspect.signature(registered)
    chosen = [one for one in signature.parameters.values() if one.name not in KNOWN and one.kind is not one.VAR_KEYWORD]
    make.__doc__, make.__module__ = registered.__doc__, registered.__module__
    make.__dict__["__signature__"] = signature.replace(parameters=chosen)
    return make


class PlainAgent:
    """One agent around somebody's object, with what the environment engine asks of agents."""

    def __init__(self, inner: Any, size: tuple[int, int, int], *, observes: bool = False) -> None:
        self.inner, self.horizon, self.actions, self.observes = inner, size[0], size[2], observes
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
        """Return the object's distribution at (h, s), or that of its actions so far."""
        if not hasattr(self.inner, "probabilities"):
            count = self._counts[h, s].sum()
            return self._counts[h, s] / count if count else np.full(self.actions, 1.0 / self.actions)
        probs = check.array("the probabilities of a learner", self.inner.probabilities(h, s))
        if probs.shape != (self.actions,):
            raise TacitError(f"the probabilities of a learner must have shape ({self.actions},); got {probs.shape}")
        return probs

    @property
    def policy(self) -> FloatArray:
        """The current distributions, [H, S, A]."""
        return np.array([[self.probabilities(h, s) for s in range(self.states)] for h in range(self.horizon)])

    def grow(self, states: int) -> None:
        """Make room for more states; the object itself has to take any number of them."""
        wider = np.zeros((self.horizon, states, self.actions))
        wider[:, : self.states] = self._counts
        self._counts = wider
