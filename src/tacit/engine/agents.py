"""One agent on its own. It sees the state, its action and its reward, and nothing else.

It calls the very kernels of the fused loop, with the same random stream: agents of the same seed that meet the same
states and rewards do the same, bit for bit.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core import check, files, generics, memory, records, streams
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import lock
from tacit.core.pinned import Pinned, entry, unpin
from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays, check_alike, check_names, pack, unpack
from tacit.engine.fused import read_distributions
from tacit.learners import REGISTRY, Learner, Mixed, Portfolio, World, resolve, v_base
from tacit.learners.several import PlainAgent, PythonLearner
from tacit.learners.spec import Scale, starting_policy


def act_one(pinned, i, h, s, u):
    """Compiled entry to `act`."""
    return generics.act(unpin(pinned), i, h, s, u)


def policy_one(learner, i, h, s, out):
    """Compiled entry to `policy`."""
    generics.policy(learner, i, h, s, out)


def learn_one(pinned, i, h, s, a, r, s_next):
    """Compiled entry to `learn`."""
    generics.learn(unpin(pinned), i, h, s, a, r, s_next)


#: By what an agent's reward is multiplied for the others, where each runs a copy of a centralized learner.
REWARDS = {"common": 1.0, "opposite": -1.0}


class Agent:
    """A single learner; make it with `tacit.agent`.

    It is saved with `save` and loaded with `Agent.load`, within an episode too, and goes on with the same bits. It
    pickles and copies.

    Parameters
    ----------
    spec : learner object
    world : World
        What the agent knows of the game; of all agents where it runs a copy of a central learner.
    seed, index : int
        The common seed and the agent's own number make its random stream.
    rewards : {"common", "opposite"}, optional
        The other agents' rewards, where it runs a copy of a central learner.

    Examples
    --------
    >>> import tacit
    >>> me = tacit.agent("adaptive-v-cce", states=2, actions=3, horizon=1, reward_range=(0, 1))
    >>> me.act(0, 1) in (0, 1, 2)
    True
    """

    def __init__(self, spec: Learner, world: World, *, seed: int, index: int, rewards: str | None = None) -> None:
        self.spec = spec
        self.world = world
        self.seed, self.index, self.rewards = seed, index, rewards
        self.name, self.params = repr(spec), None  # as a registry knows it, where it does
        self.episodes = 0
        members = range(world.agents) if rewards else range(index, index + 1)
        self.streams = [streams.stream(seed, streams.agent_role(i)) for i in members]
        self._seat = index - members.start  # among the agents of its state
        self._joint = [-1] * len(members)  # what they do at this step
        self._compile(generics.seal(spec.init(world)))

    name: str
    params: dict[str, Any] | None

    def _compile(self, state: Any) -> None:
        self.state: Any = state
        self._pinned = Pinned(state)  # a call would unpack it otherwise
        self._act = entry(act_one, self._pinned, 0, 0, 0, 0.0)
        self._learn = entry(learn_one, self._pinned, 0, 0, 0, 0, 0.0, 0)
        self._policy = compile_loop(policy_one, self.state)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the agent as `.npz`, with all that it has learned and its random stream."""
        files.write_arrays(path, _arrays(self))

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
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     me.save(f"{folder}/me.npz")
        ...     same = tacit.Agent.load(f"{folder}/me.npz")
        >>> same.act(0, 1) == me.act(0, 1)
        True
        """
        arrays = files.read_arrays(path)
        try:
            return _restore(arrays, learner)
        except (TacitError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
            raise TacitError(f"{path} is not an agent that can be loaded: {one_line(error, 300)}") from None

    def __getstate__(self) -> dict[str, Any]:
        return {"spec": self.spec, "name": self.name, "params": self.params, "arrays": _arrays(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = _restore(dict(state["arrays"]), state["spec"]).__dict__
        self.name, self.params = state["name"], state["params"]

    @property
    def horizon(self) -> int:
        """Steps in an episode, H."""
        return self.world.horizon

    @property
    def states(self) -> int:
        """States it has room for."""
        return self.world.states

    @property
    def actions(self) -> int:
        """Its own number of actions."""
        return int(self.world.actions[self._seat])

    def act(self, h: int, s: int) -> int:
        """Return an action for step h (from 0) in state s."""
        h, s = self._place(h, s)
        for i, stream in enumerate(self.streams):
            self._joint[i] = int(self._act(i, h, s, stream.random()))
        return self._joint[self._seat]

    def learn(self, h: int, s: int, a: int, reward: float, next_state: int | None) -> None:
        """Learn from one's own step. After the last step `next_state` does not matter and may be None."""
        h, s = self._place(h, s)
        a = check.integer("a", a, least=0, most=self.actions - 1)
        r = check.real("reward", reward)
        low, high = self.world.reward_range
        if not low <= r <= high:
            raise TacitError(f"reward must lie in reward_range, [{low:g}, {high:g}]; got {r:g}")
        last = h == self.world.horizon - 1
        s_next = s if last else check.integer("next_state", next_state, least=0, most=self.world.states - 1)
        if self.rewards is None:
            self._learn(0, h, s, a, r, s_next)
        else:
            self._learn_joint(h, s, a, r, s_next)
        self.episodes += last

    def _learn_joint(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        """Learn from the step of all agents, in a copy of a central learner."""
        if a != self._joint[self._seat]:
            raise TacitError(f"a must be what act returned, or the copies of {self.name} differ; got {a}")
        for i, action in enumerate(self._joint):
            self._learn(i, h, s, action, r if i == self._seat else REWARDS[str(self.rewards)] * r, s_next)

    @property
    def estimate(self) -> float:
        """A V-learner's own estimate of its gap, (1/K)·Σ_k (V̄_1 − V̲_1), in reward units.

        It is no bound: ι, unless it was given, knows nothing of the others and of the number of episodes.
        """
        total = v_base.bound_sum(self.state)
        if total is None:
            raise TacitError("only V-learning agents have an estimate of their own gap")
        if self.episodes == 0:
            return self.world.largest_gap
        return float(v_base.estimate(total, self.episodes, self.world)[0])

    @property
    def policy(self) -> FloatArray:
        """The agent's current distributions, [H, S, A], without exploration."""
        return read_distributions(self.state, self.world, self.world.states)[self._seat]

    def probabilities(self, h: int, s: int) -> FloatArray:
        """Return the agent's current distribution at step h in state s, [A], without exploration."""
        h, s = self._place(h, s)
        probs = np.zeros(self.actions)
        self._policy(self.state, self._seat, h, s, probs)
        return probs

    def grow(self, states: int) -> None:
        """Make room for more states, between two episodes; what was learned stays."""
        before = self.world.states
        states = check.integer("states", states, least=before)
        if self.world.start:
            raise TacitError("an agent with a starting policy cannot meet new states; start from 'uniform'")
        _check_memory(self.world.horizon, states, self.actions)
        wider = self.world._replace(states=states)
        larger = generics.seal(self.spec.init(wider), like=self.state)
        records.transfer(self.state, larger)
        self.world, self.state = wider, larger
        self._pinned.replace(larger)

    def _place(self, h: int, s: int) -> tuple[int, int]:
        h = check.integer("h", h, least=0, most=self.world.horizon - 1)
        return h, check.integer("s", s, least=0, most=self.world.states - 1)


def agent(
    learner: str | Learner,
    *,
    states: int,
    actions: int,
    horizon: int,
    reward_range: tuple[float, float] | None = None,
    seed: int = 0,
    index: int = 0,
    team: Sequence[int] | None = None,
    rewards: str | None = None,
    **params: Any,
) -> Agent:
    """Make one agent on its own.

    It never learns how many others there are. Where the learner needs ι, which the theory computes from the whole run,
    give it as `iota`; otherwise log(2·S·A·H/p) stands in, from what the agent knows. That is less than the theorem's:
    `Agent.estimate` is then no bound.

    A centralized learner (`model-central`) needs everybody's actions and rewards. Where all rewards are equal, or two
    agents' rewards sum to 0, each agent knows them from its own. With a common seed each then runs a copy of the
    learner: all copies compute the same joint action at every step and stay identical, without a message. All agents
    must see the same states.

    Parameters
    ----------
    learner : str or learner object
    states, actions, horizon : int
    reward_range : (low, high)
        Required: of this agent's rewards.
    seed, index : int
        The common seed and the agent's own number make its random stream.
    team : sequence of int, for centralized learners only
        How many actions each agent has, this one included, in the order of their numbers.
    rewards : {"common", "opposite"}, for centralized learners only
        Whether all rewards are equal, or those of two agents sum to exactly 0.

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
    name, spec = resolve(learner, params)
    if isinstance(spec, Portfolio):
        raise TacitError(f"{name} selects with the exact gap, which no agent has; make an agent of one of its members")
    if "tables" in spec.info.needs:
        raise TacitError(f"{name} needs exact gradients, which no agent has on its own; see `tacit learners`")
    if isinstance(spec, PythonLearner | Mixed):
        raise TacitError(f"{name} is no learner of one agent with kernels; a class of your own is an agent already")
    states = check.integer("states", states)
    actions = check.integer("actions", actions)
    horizon = check.integer("horizon", horizon)
    seed, index = check.integer("seed", seed), check.integer("index", index, least=0)
    span = check.interval("reward_range", reward_range)
    sizes = _check_team(spec, name, team, rewards, index, actions, span)
    scale = Scale(agents=len(sizes), states=states, actions=max(sizes), horizon=horizon, episodes=1)
    spec = spec.seat(index)
    start = starting_policy(spec, (horizon, states, actions), seed, index)
    one = Agent(spec, _world((horizon, states, sizes), span, scale, start), seed=seed, index=index, rewards=rewards)
    if isinstance(learner, str):
        one.name, one.params = learner, dict(params)
    return one


def _check_team(
    spec: Learner,
    name: str,
    team: Sequence[int] | None,
    rewards: str | None,
    index: int,
    actions: int,
    span: tuple[float, float],
) -> list[int]:
    """Return the actions of one agent, or of all agents of a centralized learner."""
    if "all agents" not in spec.info.needs:
        if team is not None or rewards is not None:
            raise TacitError(f"{name} is decentralized; leave out team and rewards")
        return [actions]
    if team is None or rewards is None:
        raise TacitError(
            f"{name} learns from all agents' actions and rewards: give team=[{actions}, …] and rewards='common' or "
            "'opposite'; in other games the agents would have to send each other their rewards"
        )
    check.choice("rewards", rewards, list(REWARDS))
    if not np.iterable(team):
        raise TacitError(f"team must be a list, the actions of each agent; got {brief(team)}")
    sizes = [check.integer(f"team[{i}]", size, least=1) for i, size in enumerate(team)]
    if index >= len(sizes):
        raise TacitError(f"index must be at most {len(sizes) - 1} in a team of {len(sizes)}; got {index}")
    if sizes[index] != actions:
        raise TacitError(f"team[{index}] must be {actions}, this agent's actions; got {sizes[index]}")
    if rewards == "opposite" and (len(sizes) != 2 or span[0] != -span[1]):
        raise TacitError(
            "rewards='opposite' must have two agents whose rewards sum to 0, so that reward_range is (-x, x); got "
            f"{len(sizes)} agents and ({span[0]:g}, {span[1]:g})"
        )
    return sizes


def _world(
    size: tuple[int, int, list[int]], span: tuple[float, float], scale: Scale, start: FloatArray | None
) -> World:
    """Return what an agent knows of a game of size (H, S, [A])."""
    horizon, states, sizes = size
    _check_memory(horizon, states, sum(sizes))
    return World(states, lock(np.array(sizes)), horizon, span, scale, () if start is None else (start,))


def make_agent(
    learner: Learner,
    size: tuple[int, int, int],
    reward_range: tuple[float, float],
    scale: Scale,
    *,
    seed: int,
    index: int,
) -> Agent | PlainAgent:
    """Return agent `index` of a game of size (H, S, A)."""
    learner = learner.seat(index)
    if isinstance(learner, PythonLearner):
        return learner.agent(size, reward_range, seed=seed, index=index)
    start = starting_policy(learner, size, seed, index)
    world = _world((*size[:2], [size[2]]), reward_range, scale, start)
    return Agent(learner, world, seed=seed, index=index)


def _check_memory(horizon: int, states: int, actions: int) -> None:
    memory.require(memory.floats(12, horizon, states, actions), "this agent")


# on disk: what the agent was made with, and all that it has learned, as arrays and words. A learner is named, never
# stored as code; one that is not in the registry is given again when the agent is loaded.

#: No count in a file is larger.
_MOST = 2**53


def _arrays(agent: Agent) -> Arrays:
    """Return all that an agent is made of, as its files and pickles hold it."""
    world = agent.world
    facts = {
        "learner": agent.name,
        "params": _plain(agent.params),
        "repr": repr(agent.spec),
        "arguments": {
            "states": world.scale.states,
            "actions": agent.actions,
            "horizon": world.horizon,
            "reward_range": list(world.reward_range),
            "seed": agent.seed,
            "index": agent.index,
            "team": world.actions.tolist() if agent.rewards else None,
            "rewards": agent.rewards,
        },
        "states": world.states,
        "episodes": agent.episodes,
        "joint": agent._joint,
        "streams": [stream.bit_generator.state for stream in agent.streams],
    }
    states = {f"state{key}": array for key, array in pack(agent.state).items()}
    return {"kind": np.array("agent"), "facts": np.array(json.dumps(facts)), **states}


def _restore(arrays: Arrays, learner: str | Learner | None) -> Agent:
    """Make the agent again as it was made, and write back what it has learned."""
    kind, facts = str(arrays.pop("kind", "")), json.loads(str(arrays.pop("facts", "null")))
    if kind != "agent" or not isinstance(facts, dict):
        raise TacitError("it does not say that it is one")
    name, params = facts["learner"], facts["params"]
    if learner is None or isinstance(learner, str):
        if params is None or name not in REGISTRY:
            raise TacitError(f"its learner is {brief(facts.get('repr'))}; give it again: Agent.load(path, learner=…)")
        one = agent(name, **facts["arguments"], **params)
    else:
        one = agent(learner, **facts["arguments"])
        one.name = name
    if repr(one.spec) != facts["repr"]:
        raise TacitError(f"its learner is {brief(facts['repr'])}, not {brief(one.spec)}")
    states = check.integer("states", facts["states"], least=one.states)
    if states > one.states:
        one.grow(states)
    one.episodes = check.integer("episodes", facts["episodes"], least=0, most=_MOST)
    fields, fresh = {key.removeprefix("state"): array for key, array in arrays.items()}, pack(one.state)
    check_names(fields, set(fresh))
    check_alike(fields, fresh, most=one.world.most(one.episodes))
    unpack(one.state, fields)
    for stream, position in zip(one.streams, facts["streams"], strict=True):
        streams.check_state(stream, position)
        stream.bit_generator.state = position
    pairs = zip(facts["joint"], one.world.actions.tolist(), strict=True)
    one._joint = [check.integer("joint", action, least=-1, most=size - 1) for action, size in pairs]
    return one


def _plain(params: Any) -> Any:
    """Return parameters if they are plain values; otherwise None, and the learner is given again."""
    if params is None or not all(isinstance(value, bool | int | float | str) for value in params.values()):
        return None
    return {key: value for key, value in params.items() if not isinstance(value, float) or math.isfinite(value)}
