"""One agent on its own: it sees the state, its action and its reward, and nothing else.

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
from tacit.engine.checkpoint import Arrays, check_alike, check_names, pack, unpack, whole_number
from tacit.engine.fused import read_distributions
from tacit.learners import REGISTRY, Learner, World, resolve, v_base
from tacit.learners.plain import PlainAgent, PlainLearner
from tacit.learners.spec import Scale, starting_policy


def act_one(pinned, h, s, u):
    """Compiled entry to `act` for the one agent that a state holds."""
    return generics.act(unpin(pinned), 0, h, s, u)


def weigh_one(learner, h, s, out):
    """Compiled entry to `weigh` for the one agent that a state holds."""
    generics.weigh(learner, 0, h, s, out)


def learn_one(pinned, h, s, a, r, s_next):
    """Compiled entry to `learn` for the one agent that a state holds."""
    generics.learn(unpin(pinned), 0, h, s, a, r, s_next)


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
        self._weigh = compile_loop(weigh_one, self.state)

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
        >>> with tempfile.TemporaryDirectory() as place:
        ...     me.save(f"{place}/me.npz")
        ...     same = tacit.Agent.load(f"{place}/me.npz")
        >>> same.act(0, 1) == me.act(0, 1)
        True
        """
        arrays = files.read_arrays(path, limited=False)
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
        rota = self.spec.rota
        if last and rota.learners > 1:  # each learner has the numbers that it would have alone
            onward = rota.number(self.episodes) - rota.number(self.episodes - 1) - 1
            streams.move(self.stream, onward * self.world.horizon)

    @property
    def estimate(self) -> float:
        """The agent's own estimate of its gap so far, (1/K)·Σ_k (V̄_1 − V̲_1), in reward units (V-learning only).

        It is no bound: ι, unless it was given, knows nothing of the others and of the number of episodes. See `bound`.
        """
        total = self._bound_sum()
        return float(v_base.estimate(total, max(self.episodes, 1), self.world)[0])

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
        N = check.integer("agents", agents)
        A = int(self.world.actions[0]) if actions is None else check.integer("actions", actions)
        check.flag("drawn", drawn)
        K = max(self.episodes, 1)
        scale = Scale(N, self.world.states, A, self.world.horizon, K)
        factors = self.spec.factors(self.world, scale)
        if factors is None:
            raise TacitError("this agent's parameters are not the theorem's, so it has an estimate and no bound")
        iota, needed = factors
        if not v_base.is_bound(self.spec, self.world, scale):
            raise TacitError(
                f"iota is {iota:.4g}; for {N} agents and {K} episodes the theorem needs {needed:.4g}: make the agent "
                f"with iota={math.ceil(needed)} or more"
            )
        return float(v_base.bound(self.spec, self.world, total, K, drawn=drawn)[0])

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
        """The agent's current distributions, [H, S, A], without exploration."""
        return read_distributions(self.state, self.world, self.world.states)[0]

    def probabilities(self, h: int, s: int) -> FloatArray:
        """Return the agent's current distribution at step h in state s, [A], without exploration."""
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
    team: Sequence[int] | None = None,
    **params: Any,
) -> Agent:
    """Make one agent on its own.

    It is never told how many others there are, unless its learner is `informed`, as "model-seeded" is: such agents are
    told of the team, and agree on a seed beforehand. Where the learner needs ι, which the theory computes from the
    whole run, give it as `iota`; otherwise log(2·S·A·H/p) stands in, from what the agent knows. That is less than the
    theorem's: `Agent.estimate` is then no bound.

    Parameters
    ----------
    learner : str or learner object
    states, actions, horizon : int
    reward_range : (low, high)
    seed, index : int
        The common seed and the agent's own number make its random stream.
    team : sequence of int, for informed learners only
        How many actions each agent has, this one included, in the order of their numbers.

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
    check_alone(spec, name)
    if spec.interpreted or spec.seat(0) is not spec:
        raise TacitError(f"{name} is no learner of one agent with kernels; a class of your own is an agent already")
    states = check.integer("states", states)
    actions = check.integer("actions", actions)
    horizon = check.integer("horizon", horizon)
    seed, index = check.integer("seed", seed), check.integer("index", index, least=0)
    span = check.interval("reward_range", reward_range)
    scale = Scale(agents=1, states=states, actions=actions, horizon=horizon, episodes=1)
    size = (horizon, states, actions)
    start, known = starting_policy(spec, size, seed, index), _check_team(spec, name, team, index, actions)
    made = Agent(spec, _world(size, span, scale, start, known, index, seed), seed=seed, index=index)
    if isinstance(learner, str):
        made.name, made.params = learner, dict(params)
    return made


def _check_team(spec: Learner, name: str, team: Sequence[int] | None, index: int, actions: int) -> tuple[int, ...]:
    """Return how many actions each agent has, where the learner is to know."""
    if not spec.informed:
        if team is not None:
            raise TacitError(f"{name} is never told of other agents; leave out team")
        return ()
    if team is None:
        raise TacitError(
            f"agents of {name} know of each other; give team, the actions of each, e.g. team=[{actions}, {actions}]"
        )
    if not np.iterable(team):
        raise TacitError(f"team is {brief(team)}; it must be a list, the actions of each, e.g. [{actions}, {actions}]")
    known = tuple(check.integer(f"team[{i}]", own, least=1) for i, own in enumerate(team))
    if index >= len(known):
        raise TacitError(f"index is {index}; team is {list(known)}, whose agents are 0 to {len(known) - 1}")
    if known[index] != actions:
        raise TacitError(f"team is {list(known)}; agent {index} of it must have {actions} actions")
    return known


def _world(
    size: tuple[int, int, int],
    span: tuple[float, float],
    scale: Scale,
    start: FloatArray | None,
    team: tuple[int, ...],
    index: int,
    seed: int,
) -> World:
    """Return what one agent of a game of this size (H, S, A) knows, if there is memory for it."""
    _check_memory(*size)
    horizon, states, actions = size
    world = World(states, lock(np.array([actions])), horizon, span, scale, () if start is None else (start,))
    return world._replace(team=team, first=index, seed=seed) if team else world


def make_agent(
    learner: Learner,
    size: tuple[int, int, int],
    reward_range: tuple[float, float],
    scale: Scale,
    *,
    seed: int,
    index: int,
    team: tuple[int, ...] = (),
) -> Agent | PlainAgent:
    """Return agent `index` of a game of this size (H, S, A), if there is memory for it."""
    if isinstance(learner, PlainLearner):
        return learner.agent(size, reward_range, seed=seed, index=index)
    start = starting_policy(learner, size, seed, index)
    return Agent(learner, _world(size, reward_range, scale, start, team, index, seed), seed=seed, index=index)


def check_alone(learner: Learner, name: str) -> None:
    """Raise unless an agent can run this learner on its own."""
    if learner.central:
        raise TacitError(f"{name} is a central learner, which controls all agents; none of them runs it alone")
    if learner.exact:
        raise TacitError(f"{name} needs exact gradients, which no agent has on its own; see `tacit learners`")


def _check_memory(horizon: int, states: int, actions: int) -> None:
    memory.require(memory.floats(12, horizon, states, actions), "this agent")


# on disk: all that an agent is made of and has learned, as arrays and words. A learner is named, never stored as code;
# one that is not in the registry is given again when the agent is loaded.

#: No count in a file is larger.
_MOST = 2**53


def _arrays(agent: Agent) -> Arrays:
    """Return all that an agent is made of, as its files and pickles hold it."""
    world = agent.world
    known = {
        "learner": agent.name,
        "params": _plain(agent.params),
        "repr": repr(agent.spec),
        "states": world.states,
        "actions": int(world.actions[0]),
        "horizon": world.horizon,
        "reward_range": list(world.reward_range),
        "scale": list(world.scale),
        "seed": agent.seed,
        "index": agent.index,
        "team": list(world.team),
        "stream": agent.stream.bit_generator.state,
    }
    start: dict[str, Any] = {"start": world.start[0]} if world.start else {}
    return {
        "kind": np.array("agent"),
        "known": np.array(json.dumps(known)),
        "episodes": np.array(agent.episodes),
        **start,
        **{f"state{key}": array for key, array in pack(agent.state).items()},
    }


def _restore(arrays: Arrays, learner: str | Learner | None) -> Agent:
    if str(arrays.pop("kind", "")) != "agent":
        raise TacitError("it does not say that it is one")
    known = json.loads(str(arrays.pop("known", "")))
    if not isinstance(known, dict):
        raise TacitError("it does not say what the agent is")
    name, params, spec = _learner(known, learner)
    size: Any = tuple(check.integer(key, known[key], least=1, most=2**40) for key in ("horizon", "states", "actions"))
    span = check.interval("reward_range", known["reward_range"])
    scale = Scale(*(check.integer("scale", own, least=1, most=_MOST) for own in known["scale"]))
    seed, index = (check.integer(key, known[key], least=0, most=_MOST) for key in ("seed", "index"))
    given = arrays.pop("start", None)
    start = None if given is None else _start(given, size)
    episodes = whole_number({"episodes": arrays.pop("episodes")}, "episodes", most=_MOST)
    team = _check_team(spec, name, known.get("team") or None, index, size[2])  # files of earlier versions have none
    made = Agent(spec, _world(size, span, scale, start, team, index, seed), seed=seed, index=index)
    made.name, made.params, made.episodes = name, params, episodes
    found = {key.removeprefix("state"): array for key, array in arrays.items()}
    fresh = pack(made.state)
    if not any(".cells." in name for name in found):
        found = _from_plain_arrays(found, fresh, *size[1:])
    check_names(found, set(fresh))
    check_alike(found, fresh, most=made.world.most(episodes))
    streams.check_state(made.stream, known["stream"])
    unpack(made.state, found)
    made.stream.bit_generator.state = known["stream"]
    return made


#: What version 0.2 called fields of records, where it was not their own name.
_BEFORE = {
    "bandit.copies.": "bandit.base.",
    "rounds": "round",
    "usual": "mean",
    "steps.reward": "rewards",
    "steps.theta": "now",
}


def _from_plain_arrays(found: Arrays, fresh: Arrays, states: int, actions: int) -> Arrays:
    """Return what version 0.2 wrote between two episodes, an array [1, …] for each number, as fields of records."""
    made = {}
    for name, like in fresh.items():
        value = made[name] = np.array(like, dtype=like.dtype.str)
        place, _, field = name[1:].partition(".")
        before = f"{place}.{field}"
        for word, old in _BEFORE.items():
            before = before.replace(word, old)
        rows = found.get(f".{before.removeprefix(f'{place}.')}", found.get(f".{field}"))
        axes = {"cells": (states, 1), "steps": (1,), "agents": ()}.get(place)
        if rows is None or axes is None or field.endswith("rate"):  # scratch, or the same in every state
            continue
        tail = (actions,) * (value.ndim - 1 - len(axes))
        rows = rows.reshape(-1, *axes, *tail)[: len(value)]
        value[(slice(len(rows)), *(slice(size) for size in (*axes, *tail)))] = rows
    return made


def _learner(known: dict[str, Any], given: str | Learner | None) -> tuple[str, dict[str, Any] | None, Learner]:
    """Return the learner's name, its parameters and the learner, as the file or the caller has it."""
    name, params = known["learner"], known["params"]
    if given is None or isinstance(given, str):
        if params is None or not isinstance(name, str) or name not in REGISTRY:
            told = f"its learner is {brief(known.get('repr'))}, which is not known by name"
            raise TacitError(f"{told}; give it again: Agent.load(path, learner=…)")
        spec = REGISTRY.make(name, **params)
    else:
        spec, params = given, None
    if repr(spec) != known["repr"]:
        raise TacitError(f"its learner is {brief(known['repr'])}, not {brief(spec)}")
    return name, params, spec


def _start(given: Any, size: tuple[int, ...]) -> FloatArray:
    """Return the policy that the agent started from."""
    H, S, A = size
    start = check.array("start", given)
    if start.shape not in ((H, S, A), (1, S, A)):
        raise TacitError(f"start has shape {start.shape}; it must be {(H, S, A)}")
    check.distributions("start", start, ["h", "s", "a"], over="actions")
    return start


def _plain(params: Any) -> Any:
    """Return parameters if they are plain values, otherwise None: the learner has then to be given again."""
    if params is None or not all(isinstance(value, bool | int | float | str) for value in params.values()):
        return None
    return {key: value for key, value in params.items() if not isinstance(value, float) or math.isfinite(value)}
