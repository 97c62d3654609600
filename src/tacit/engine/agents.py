"""One agent on its own: it sees the state, its action and its reward, and nothing else.

It calls the very kernels of the fused loop, with the same random stream: agents of the same seed that meet the same
states and rewards do the same, bit for bit.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from tacit.core import check, generics, limits, memory, records, streams
from tacit.core.compilation import compiled
from tacit.core.errors import TacitError
from tacit.core.ownership import locked
from tacit.core.pinned import Pinned, entry, unpinned
from tacit.core.types import FloatArray
from tacit.engine import agent_files, loop
from tacit.engine.checkpoint import pack, unpack
from tacit.learners import Learner, Mixed, World, own_bound
from tacit.learners.plain import PlainAgent, PlainLearner
from tacit.learners.spec import Scale, starting_policy
from tacit.learners.teams import resolved


def act_one(pinned, h, s, u):
    """Compiled entry to `act` for the one agent that a state holds."""
    return generics.act(unpinned(pinned), 0, h, s, u)


def weigh_one(learner, h, s, out):
    """Compiled entry to `weigh` for the one agent that a state holds."""
    generics.weigh(learner, 0, h, s, out)


def learn_one(pinned, h, s, a, r, s_next):
    """Compiled entry to `learn` for the one agent that a state holds."""
    generics.learn(unpinned(pinned), 0, h, s, a, r, s_next)


class Agent:
    """A single learner; make it with `tacit.agent`.

    It is saved with `save` and loaded with `Agent.load`, within an episode too, and goes on with the same bits. It
    pickles and copies.

    Parameters
    ----------
    spec : learner object
    world : World
        What the agent knows of the game.
    seed, index : int
        The common seed and the agent's own number make its random stream.

    Examples
    --------
    >>> import tacit
    >>> me = tacit.agent("adaptive-v-cce", states=2, actions=3, horizon=1, reward_range=(0, 1))
    >>> me.act(0, 1) in (0, 1, 2)
    True
    """

    def __init__(self, spec: Learner, world: World, *, seed: int, index: int) -> None:
        self.spec = spec
        self.world = world
        self.seed, self.index = seed, index
        self.name, self.params = repr(spec), None  # as a registry knows it, where it does
        self.episodes = 0
        self.stream = streams.stream(seed, streams.agent_role(index))
        self._compile(spec.init(world))

    name: str
    params: dict[str, Any] | None

    def _compile(self, state: Any) -> None:
        self.state: Any = state
        self._pinned = Pinned(state)  # a call would unpack it otherwise
        self._act = entry(act_one, self._pinned, 0, 0, 0.0)
        self._learn = entry(learn_one, self._pinned, 0, 0, 0, 0.0, 0)
        self._weigh = compiled(weigh_one, self.state)
        self._table = compiled(loop.distributions, self.state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent as `.npz`, with all that it has learned and its random stream."""
        agent_files.write(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str], *, learner: str | Learner | None = None) -> Agent:
        """Read an agent that `save` wrote; it goes on with the same bits.

        Parameters
        ----------
        path : str or path
        learner : learner object, optional
            What the agent was made with, where that was no registered name with plain parameters. Nothing that a file
            names is imported or called.

        Examples
        --------
        >>> import tacit, tempfile
        >>> me = tacit.agent("adaptive-v-cce", states=2, actions=3, horizon=1, reward_range=(0, 1))
        >>> with tempfile.TemporaryDirectory() as place:
        ...     me.save(f"{place}/me.npz")
        ...     same = tacit.Agent.load(f"{place}/me.npz")
        >>> same.act(0, 1) == me.act(0, 1)
        True
        """
        found: Agent = agent_files.read(path, learner, _made)
        return found

    def __getstate__(self) -> dict[str, Any]:
        held = {"spec": self.spec, "world": self.world, "seed": self.seed, "index": self.index}
        later = {"name": self.name, "params": self.params, "episodes": self.episodes}
        return {"made": held, "later": later, "arrays": pack(self.state), "stream": self.stream.bit_generator.state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        world = state["made"]["world"]  # unpickled arrays can be written to, and kernels are compiled for locked ones
        world = world._replace(actions=locked(world.actions), start=tuple(locked(own) for own in world.start))
        self.__init__(**{**state["made"], "world": world})  # type: ignore[misc]
        self.__dict__.update(state["later"])
        unpack(self.state, state["arrays"])
        self.stream.bit_generator.state = state["stream"]

    @property
    def horizon(self) -> int:
        """Steps in an episode, H."""
        return self.world.horizon

    @property
    def states(self) -> int:
        """States it has room for."""
        return self.world.states

    def act(self, h: int, s: int) -> int:
        """Return an action for step h (from 0) in state s."""
        h, s = self._place(h, s)
        return int(self._act(h, s, self.stream.random()))

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int | None) -> None:
        """Learn from one's own step; after the last step `next_state` does not matter and may be None."""
        h, s = self._place(h, s)
        a = check.integer("a", a, least=0, most=int(self.world.actions[0]) - 1)
        r = check.real("reward", reward)
        low, high = self.world.reward_range
        if not low <= r <= high:
            raise TacitError(f"reward is {r:g}; this agent was told that rewards lie in [{low:g}, {high:g}]")
        last = h == self.world.horizon - 1
        s_next = s if last else check.integer("next_state", next_state, least=0, most=self.world.states - 1)
        self._learn(h, s, a, r, s_next)
        self.episodes += last

    @property
    def estimate(self) -> float:
        """The agent's own estimate of its gap so far, (1/K)·Σ_k (V̄_1 − V̲_1), in reward units (V-learning only).

        It is no bound: ι, unless it was given, knows nothing of the others and of the number of episodes. See `bound`.
        """
        total = self._bound_sum()
        return float(own_bound.estimate(total, max(self.episodes, 1), self.world)[0])

    def bound(self, *, agents: int, actions: int | None = None, drawn: bool = True) -> float:
        """Return a bound on the agent's gap so far that holds with the theorem's probability (V-learning only).

        What it takes, the agent does not know by itself. Where its parameters are not the theorem's, or its ι is
        smaller than the theorem's for the episodes so far, this is refused.

        Parameters
        ----------
        agents : int
            How many agents there are in all.
        actions : int, optional
            The most actions that any of them has; this agent's own if not given.
        drawn : bool
            Whether the first state is drawn; False where it is always the same, which makes the bound smaller.
        """
        total = self._bound_sum()
        N = limits.integer("agents", agents)
        A = int(self.world.actions[0]) if actions is None else limits.integer("actions", actions)
        check.flag("drawn", drawn)
        if not self.spec.guaranteed:
            raise TacitError("this agent's parameters are not the theorem's, so it has an estimate and no bound")
        K = max(self.episodes, 1)
        scale = Scale(N, self.world.states, A, self.world.horizon, K)
        iota, needed = self.spec.log_factor(self.world), self.spec.needed_factor(scale)
        if not own_bound.is_bound(self.spec, self.world, scale):
            raise TacitError(
                f"iota is {iota:.4g}; for {N} agents and {K} episodes the theorem needs {needed:.4g}: make the agent "
                f"with iota={math.ceil(needed)} or more"
            )
        return float(own_bound.bound(self.spec, self.world, total, K, drawn=drawn)[0])

    @property
    def bound_sum(self) -> float | None:
        """Σ_k (V̄_1 − V̲_1) in units of one step's span, where the learner keeps bounds."""
        found = self.spec.bound_sum(self.state)
        return None if found is None else float(found[0])

    def _bound_sum(self) -> FloatArray:
        found = self.spec.bound_sum(self.state)
        if found is None:
            raise TacitError("only V-learning agents have an estimate of their own gap")
        return np.full(1, float(self.world.horizon)) if self.episodes == 0 else found

    @property
    def policy(self) -> FloatArray:
        """What the agent answers with, [H, S, A]: its current distributions, without exploration."""
        shape = (1, self.world.horizon, self.world.states, int(self.world.actions[0]))
        probs = memory.zeros(shape, "the agent's distributions")
        self._table(self.state, self.world.horizon, self.world.states, False, probs)
        found: FloatArray = probs[0]
        return found

    def probabilities(self, h: int, s: int) -> FloatArray:
        """Return the distribution that the agent draws from now at step h in state s, [A], exploration included."""
        h, s = self._place(h, s)
        probs = np.zeros(int(self.world.actions[0]))
        self._weigh(self.state, h, s, probs)
        return probs

    def grow(self, states: int) -> None:
        """Make room for more states, between two episodes; what was learned stays."""
        before = self.world.states
        check.integer("states", states, least=before)
        if self.world.start:
            raise TacitError("an agent with a starting policy cannot meet new states; start from 'uniform'")
        _check_memory(self.world.horizon, states, int(self.world.actions[0]))
        wider = self.world._replace(states=states)
        room = self.spec.init(wider)
        records.transfer(self.state, room)
        self.world, self.state = wider, room
        self._pinned.replace(room)

    def _place(self, h: int, s: int) -> tuple[int, int]:
        h = check.integer("h", h, least=0, most=self.world.horizon - 1)
        return h, check.integer("s", s, least=0, most=self.world.states - 1)


def agent(
    learner: str | Learner,
    *,
    states: int,
    actions: int,
    horizon: int,
    reward_range: tuple[float, float],
    seed: int = 0,
    index: int = 0,
    **params: Any,
) -> Agent:
    """Make one agent on its own.

    It is never told how many others there are. Where the learner needs ι, which the theory computes from the whole run,
    give it as `iota`; otherwise log(2·S·A·H/p) stands in, from what the agent knows. That is less than the theorem's:
    `Agent.estimate` is then no bound.

    Parameters
    ----------
    learner : str or learner object
    states, actions, horizon : int
    reward_range : (low, high)
    seed, index : int
        The common seed and the agent's own number make its random stream.

    Returns
    -------
    Agent

    Examples
    --------
    >>> import tacit
    >>> me = tacit.agent("stage-v-cce", states=2, actions=3, horizon=1, reward_range=(0, 1))
    >>> a = me.act(0, 1)
    >>> me.learn(0, 1, a, 0.5, None)
    >>> me.policy[0, 0].round(3)
    array([0.333, 0.333, 0.333])
    """
    name, spec = resolved(learner, params)
    check_alone(spec, name)
    if spec.interpreted or isinstance(spec, Mixed):
        raise TacitError(f"{name} is no learner of one agent with kernels; a class of your own is an agent already")
    states = limits.integer("states", states)
    actions = limits.integer("actions", actions)
    horizon = limits.integer("horizon", horizon)
    seed, index = limits.integer("seed", seed), check.integer("index", index, least=0)
    span = check.interval("reward_range", reward_range)
    scale = Scale(agents=1, states=states, actions=actions, horizon=horizon, episodes=1)
    made = make_agent(spec, (horizon, states, actions), span, scale, seed=seed, index=index)
    assert isinstance(made, Agent)
    if isinstance(learner, str):
        made.name, made.params = learner, dict(params)
    return made


def _made(
    spec: Learner,
    size: tuple[int, int, int],
    span: tuple[float, float],
    scale: Scale,
    *,
    seed: int,
    index: int,
    start: FloatArray | None,
) -> Agent:
    """Make an agent as a file has it."""
    _check_memory(*size)
    horizon, states, actions = size
    known = () if start is None else (start,)
    return Agent(spec, World(states, locked(np.array([actions])), horizon, span, scale, known), seed=seed, index=index)


def make_agent(
    learner: Learner,
    size: tuple[int, int, int],
    reward_range: tuple[float, float],
    scale: Scale,
    *,
    seed: int,
    index: int,
) -> Agent | PlainAgent:
    """Return agent `index` of a game of this size (H, S, A), if there is memory for it."""
    horizon, states, actions = size
    if isinstance(learner, PlainLearner):
        return learner.agent(size, reward_range, seed=seed, index=index)
    _check_memory(*size)
    start = starting_policy(learner, size, seed, index)
    known = () if start is None else (start,)
    world = World(states, locked(np.array([actions])), horizon, reward_range, scale, known)
    return Agent(learner, world, seed=seed, index=index)


def check_alone(learner: Learner, name: str) -> None:
    """Raise unless an agent can run this learner on its own."""
    if learner.central:
        raise TacitError(f"{name} is a central learner, which controls all agents; none of them runs it alone")
    if learner.exact:
        raise TacitError(f"{name} needs exact gradients, which no agent has on its own; see `tacit learners`")


def _check_memory(horizon: int, states: int, actions: int) -> None:
    memory.require(memory.floats(12, horizon, states, actions), "this agent")
