"""Train best responses: in a table, on features, or by somebody else's trainer.

A trainer is a function of a `SingleAgentEnv`, in which the others play their policies, and of a number of episodes; it
returns whatever plays the agent, as `tacit.evaluate` takes it. Several are tried on a share of the episodes each, and
chosen among in episodes of their own: what is measured afterwards is fresh, so that the choice biases nothing.

A table is trained by optimistic value iteration on what one agent meets while the others play frozen policies [UCB-VI,
Azar, Osband, Munos 2017], in batches of episodes, on the states that the agent itself sees. Before a batch the agent
plans with the means of what it has met and a bonus for what it has hardly tried; what it has never tried is worth the
most that anything can be.

Deviations from UCB-VI: batches; a bonus of (H − h)·span·c/√n with a small c, since the response is measured afresh and
needs no proof.

On features, for observations that are too many for a table:
Fitted Q-iteration, a regression for each step and action, backwards from the last step [Ernst, Geurts, Wehenkel 2005;
Jin, Yang, Wang, Jordan 2020], in batches of episodes. Features are those of a radial basis function network. With z the
numbers of an observation, each scaled to spread 1,

    φ(z) = (1, z, k_1(z), …, k_m(z)),  k_j(z) = exp(−‖z − c_j‖²/(2·ℓ²)),

with centres c_j among what was met, each as far as possible from those before, and ℓ the mean distance of a centre from
its nearest neighbour. With no more observations than centres this is nearly a table. From all z_t where the agent
played a at step h, was paid r_t and saw z'_t next,

    w_{h,a} = (Σ φ(z_t)·φ(z_t)ᵀ + λ·I)⁻¹ Σ φ(z_t)·(r_t + V_{h+1}(z'_t)),   V_h(z) = max_a w_{h,a}·φ(z),

within what rewards allow. The same is done a second time with the step as one more number of z and the samples of all
steps in each regression, and a third time with a trace of the past beside z, m_h = τ·m_{h−1} + (1 − τ)·z_h, for agents
that do not see the state; the best of the three in a tenth of the episodes is the response. While it learns, an action
is worth more by (H − h)·span·c/√n, with n its visits near z as the k_j count them; a few episodes are played evenly at
random, and a few follow the policy for some steps. When it has learned, an action is worth a little less by the same
measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tacit.core import memory, registry, streams
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, blame, brief
from tacit.core.types import FloatArray, IntArray
from tacit.environments.adapters import Anything, Discrete, floats, kind, pairs, parts
from tacit.environments.external import TrainedPart
from tacit.environments.play import BATCH, Arena, Deviation, EpisodePlayers, Played, finite_returns, play
from tacit.policies import Part
from tacit.policies.base import find_mask, stand_in

TABLE, FEATURES = "table", "features"

#: Episodes that show what observations are like, and which share of them is new where a table is enough, or none.
LOOK, FEW, MANY = 200, 0.02, 0.5

#: The constant c of the bonus while learning.
CURIOSITY = 0.15

#: Episodes of training have numbers from here on, so that they share no draws with those of play.
TRAINING = 1 << 40


def check_deviators(deviators: Any) -> list[Any]:
    """Return deviators as a list of names and functions."""
    each = list(deviators) if isinstance(deviators, list | tuple) else [deviators]
    if not each or not all(callable(one) or (isinstance(one, str) and one in (TABLE, FEATURES)) for one in each):
        must = f"must be {TABLE!r}, {FEATURES!r}, or functions of a single-agent environment and a number of episodes"
        raise TacitError(f"deviators {must}; got {brief(deviators)}")
    if len({name_of(one) for one in each}) < len(each):
        raise TacitError(f"deviators must have different names; got {brief(each)}")
    return each


def name_of(deviator: Any) -> str:
    """Return what a deviator is called."""
    return deviator if deviator in (TABLE, FEATURES) else getattr(deviator, "__name__", type(deviator).__name__)


def suggest_deviators(arena: Any, policy: Any, episodes: int, seed: int) -> list[Any]:
    """Return which deviators to try, by the share of observations that are new."""
    if not hasattr(arena, "environment") or all(observations.numbered for observations in arena.observations):
        return [TABLE]
    if arena.blind:
        return [FEATURES]
    look = min(LOOK, episodes)
    try:
        states = play(arena, policy, episodes=look, seed=seed).states
        for i in range(arena.agents if getattr(policy, "sees", False) else 0):  # a deviator meets more than the policy
            astray = Deviation(i, np.full((arena.horizon, 1), -1), "random")
            play(arena, policy, episodes=min(look, 20), seed=seed, deviation=astray)
    except TacitError:  # floats that turned out to be no whole numbers; anything else is met again, and told
        if not getattr(policy, "sees", False):
            raise
        return [FEATURES]
    cells = states * arena.horizon + np.arange(arena.horizon)[:, None]  # [episodes, H, N]
    late, soon = cells[look // 2 :], cells[: look // 2]
    fresh = max(float(np.mean(~np.isin(late[:, :, i], soon[:, :, i]))) for i in range(arena.agents))
    if fresh <= FEW:
        return [TABLE]
    try:
        for i in range(arena.agents):
            env = SingleAgentEnv(arena, policy, i, seed)
            env.vector(env.reset()[0])
    except TacitError:  # nothing of which features could be made
        return [TABLE]
    return [FEATURES] if fresh > MANY else [TABLE, FEATURES]


def train_best(
    arena: Any, policy: Any, agent: int, deviators: Sequence[Any], episodes: int, seed: int
) -> tuple[Deviation, dict[str, float]]:
    """Train a response by each deviator; return the best, and the gain of each.

    Chance is another than that of what is measured: another seed, and other episodes.
    """
    share, other = episodes // len(deviators), seed + 1 + agent
    if len(deviators) == 1:
        return _train(arena, policy, agent, deviators[0], episodes, other), {}
    compare = max(share // 10, 2)
    trained = [_train(arena, policy, agent, one, max(share - compare, 1), other) for one in deviators]
    before = finite_returns(play(arena, policy, episodes=compare, seed=other))[:, agent]
    gains = []
    for one in trained:
        played = play(arena, policy, episodes=compare, seed=other, deviation=one)
        gains.append(float((finite_returns(played)[:, agent] - before).mean()))
    names = map(name_of, deviators)
    return trained[int(np.argmax(gains))], dict(zip(names, gains, strict=True))


def _train(arena: Any, policy: Any, agent: int, deviator: Any, episodes: int, seed: int) -> Deviation:
    if deviator == TABLE:
        halfway, table = (_allow(one, arena, agent) for one in train_table(arena, policy, agent, episodes, seed))
        return Deviation(agent, table, halfway=lambda: halfway)
    if deviator == FEATURES:
        trained, earlier = train_features(SingleAgentEnv(arena, policy, agent, seed), episodes)
        return Deviation(agent, trained, halfway=earlier)
    env = _for_trainers(arena, policy, agent, seed)
    with blame(f"the deviator {name_of(deviator)} failed"):
        response = deviator(env, episodes)
    if not callable(getattr(response, "begin", None)):  # no part yet
        response = TrainedPart(agent, arena.actions[agent], response, env.show)
    return Deviation(agent, response)


def _allow(table: IntArray, arena: Any, agent: int) -> IntArray:
    """Return a response with the actions that forbidden ones stand for."""
    masks = arena.observations[agent].masks() if hasattr(arena, "observations") else {}
    for s, mask in masks.items():
        if s < table.shape[1]:
            table[:, s] = np.where(table[:, s] >= 0, np.array(stand_in(mask))[table[:, s]], -1)
    return table


def train_table(arena: Arena, policy: Any, agent: int, episodes: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return the responses after half and all of the episodes. Batches grow."""
    model = VisitCounts(agent, arena.horizon, arena.actions[agent])
    done = 0
    table = np.full((arena.horizon, 1), -1)
    while done < episodes:
        size = min(max(16, done // 10), BATCH, episodes - done)
        deviation = Deviation(agent, table, "random")
        first = TRAINING + done
        model.add(arena.play(policy, range(first, first + size), seed=seed, deviation=deviation), arena.states(agent))
        if done < episodes / 2 <= done + size:
            halfway = model.best()
        done += size
        table = model.best(CURIOSITY)
    return halfway, model.best()


class VisitCounts:
    """What one agent has met: visits, rewards and transitions of (h, s, a)."""

    def __init__(self, agent: int, horizon: int, actions: int) -> None:
        self.agent, self.horizon, self.actions = agent, horizon, actions
        self.states = 0
        self.visits: FloatArray = np.zeros((horizon, 0, actions))
        self.rewards: FloatArray = np.zeros((horizon, 0, actions))
        self.low, self.high = math.inf, -math.inf  # rewards of a step so far
        self._code: IntArray = np.zeros(0, dtype=np.int64)  # ((h·S + s)·A + a)·S + s', ascending
        self._count: FloatArray = np.zeros(0)

    def add(self, played: Played, states: int) -> None:
        """Take in a batch, in which `states` are the states that there are by now."""
        self._grow(states)
        H, S, A, i = self.horizon, self.states, self.actions, self.agent
        s, a, r = played.states[:, :, i], played.actions[:, :, i], played.rewards[:, :, i]
        self.low, self.high = min(self.low, float(r.min())), max(self.high, float(r.max()))
        place = (np.arange(H) * S + s) * A + a
        self.visits += np.bincount(place.ravel(), minlength=H * S * A).reshape(H, S, A)
        self.rewards += np.bincount(place.ravel(), r.ravel(), minlength=H * S * A).reshape(H, S, A)
        met = (place[:, :-1] * S + s[:, 1:]).ravel()
        codes = np.concatenate([self._code, met])
        counts = np.concatenate([self._count, np.ones(len(met))])
        self._code, where = np.unique(codes, return_inverse=True)
        self._count = np.bincount(where.ravel(), weights=counts, minlength=len(self._code)).astype(np.float64)

    def _grow(self, states: int) -> None:
        if states <= self.states:
            return
        before, self.states = self.states, max(states, 2 * self.states)
        shape = (self.horizon, self.states, self.actions)
        wider = [memory.zeros(shape, "the model of what an agent meets") for _ in range(2)]
        for old, new in zip((self.visits, self.rewards), wider, strict=True):
            new[:, :before] = old
        self.visits, self.rewards = wider
        if before:
            place, s_next = np.divmod(self._code, before)
            place, a = np.divmod(place, self.actions)
            h, s = np.divmod(place, before)
            self._code = ((h * self.states + s) * self.actions + a) * self.states + s_next

    def best(self, constant: float = 0.0) -> IntArray:
        """Return the actions [H, S] with the highest means, −1 for unvisited states.

        With a constant c, actions get the bonus, and those that were never tried the most that there is; without it
        they are left out. Rewards are counted from the lowest, so that no value is negative.
        """
        H, S, A = self.horizon, self.states, self.actions
        span, tried = max(self.high - self.low, 1e-12), self.visits > 0
        place, s_next = np.divmod(self._code, S)
        edges = np.searchsorted(place, np.arange(H + 1) * S * A)
        Q, V = np.zeros((H, S, A)), np.zeros((H + 1, S))
        mean = (self.rewards - self.low * self.visits) / np.maximum(self.visits, 1)
        for h in reversed(range(H)):
            step, most = slice(edges[h], edges[h + 1]), (H - h) * span
            ahead = np.bincount(
                place[step] - h * S * A, self._count[step] * V[h + 1][s_next[step]], minlength=S * A
            ).reshape(S, A)
            bonus = constant * span * (H - h) / np.sqrt(np.maximum(self.visits[h], 1))
            value = mean[h] + ahead / np.maximum(self.visits[h], 1) + bonus
            Q[h] = np.where(tried[h], np.minimum(value, most), most if constant else -most)
            V[h] = Q[h].max(axis=1)
        values = Q if constant else np.where(tried, Q, -np.inf)
        return np.where(tried.any(axis=2), values.argmax(axis=2), -1)


class SingleAgentEnv:
    """One agent's environment, in which all others play a policy.

    Attributes
    ----------
    observation_space, action_space : spaces
        The agent's own; actions are counted from 0. What a plain object shows is seen as an array of floats.
    horizon : int
        Steps after which an episode is truncated.
    agent, seed : int
        Whose environment it is, and a seed for the trainer.
    vector : callable
        From an observation to an array of floats [D].

    Examples
    --------
    >>> import tacit
    >>> from tacit.environments.play import arena_of
    >>> from tacit.environments.deviators import SingleAgentEnv
    >>> env, policy = tacit.to_pettingzoo(tacit.make("chicken")), tacit.MarkovPolicy([[[[1.0, 0.0]]], [[[1.0, 0.0]]]])
    >>> alone = SingleAgentEnv(arena_of(env, policy), policy, agent=0, seed=1)
    >>> seen, info = alone.reset()
    >>> alone.step(1)[1], info["step"]
    (7.0, 0)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as Gymnasium has it
    render_mode = spec = None

    def __init__(self, arena: Any, policy: Any, agent: int, seed: int) -> None:
        self.agent, self.horizon, self.seed = agent, arena.horizon, seed
        self._arena, self._environment = arena, arena.environment
        self._players = EpisodePlayers(policy, arena.actions, arena.horizon)
        space = arena.environment.spaces[agent]
        self.vector = Vector(space, arena.environment.names[agent])
        self._flat = kind(space) == "Anything"
        self._over: list[bool] | None = None
        self.episodes = self._h = 0
        self.action_space: Any = Discrete(arena.actions[agent])
        self.observation_space: Any = space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin the next episode, or that of number `seed`; none is an episode of measurement."""
        self.episodes = self.episodes if seed is None else seed
        number = TRAINING + self.episodes
        episode_seed = int(streams.seeds(self.seed, streams.PLAY, range(number, number + 1))[0])
        self.episodes += 1
        self._players.begin(episode_seed)
        self._shown, self._over = self._environment.reset(episode_seed if self._environment.seeded else None), None
        self._h = 0
        self._let_choose()
        return self.show(self._shown[self.agent]), self._info(None)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action, or, with None, the one that the policy takes: `info["action"]` says which."""
        if action is not None:
            self._chosen[self.agent] = int(action)
        played = self._chosen[self.agent]
        self._shown, paid, self._over = self._environment.step(self._chosen)
        self._h += 1
        terminated = self._over is not None and bool(self._over[self.agent])
        truncated = not terminated and self._h >= self.horizon
        if not (terminated or truncated):
            self._let_choose()
        reward = floats(self._environment, paid)[self.agent]
        return self.show(self._shown[self.agent]), reward, terminated, truncated, self._info(played)

    def _let_choose(self) -> None:
        states = self._arena.seen.states(self._shown, self._over)
        self._chosen = self._players.act(self._h, states, self._shown, self._environment.allowed, self._over)

    def show(self, observation: Any) -> Any:
        """Return an observation as it is; that of a plain object as an array."""
        return self.vector.flatten(observation) if self._flat else observation

    def _info(self, played: int | None) -> dict[str, Any]:
        mask = self._environment.allowed[self.agent]
        masked = {} if mask is None else {"action_mask": np.asarray(mask, np.int8)}
        return {"step": self._h, "action": played, **masked}


def _for_trainers(arena: Any, policy: Any, agent: int, seed: int) -> SingleAgentEnv:
    """Return a single-agent environment that is one of Gymnasium's."""
    registry.require("gymnasium", "gymnasium")
    import gymnasium  # 8 MB that nobody else needs here

    class GymnasiumEnv(SingleAgentEnv, gymnasium.Env):
        def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
            gymnasium.Env.reset(self, seed=seed)
            return super().reset(seed=seed, options=options)

    env = GymnasiumEnv(arena, policy, agent, seed)
    env.action_space = gymnasium.spaces.Discrete(env.action_space.n)
    if type(env.observation_space) is Discrete:
        env.observation_space = gymnasium.spaces.Discrete(env.observation_space.n)
    elif type(env.observation_space) is Anything:
        env.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, env.reset()[0].shape, np.float64)
    return env


# responses on features -----------------------------------------------------------------------------------------------

#: Centres; fewer, down to half, where observations are long.
CENTRES = 100

#: λ of the regressions, in squares of features.
RIDGE = 0.1

#: The constant c of the bonus while learning, and what takes its place in the response.
FEATURE_CURIOSITY, CAUTION = 0.15, -0.02

#: Share of episodes at random, and of those that follow the policy at first; and of single actions at random.
RANDOM, STRAY = 0.1, 0.02

#: Fits are made after this many episodes, and whenever there are so many times as many.
FIRST, GROWTH = 32, 1.5

#: Steps of the latest episodes that are kept; observations that centres are chosen among.
STEPS, POOL = 100_000, 3_000

#: Numbers up to which a discrete observation is seen as a unit vector; longer vectors are projected on half as many.
LONGEST = 120

#: τ, how much of a trace is the trace before.
PAST = 0.6


class Basis(NamedTuple):
    """What makes features of an observation of D numbers."""

    shift: FloatArray  # [D]
    scale: FloatArray  # [D]
    centres: FloatArray  # [m, D]
    sharpness: float  # 1/(2·ℓ²)

    def show(self, xs: FloatArray) -> FloatArray:
        """Return the features [n, 1 + D + m] of observations [n, D]."""
        z, c = (xs - self.shift) * self.scale, self.centres
        far = (z * z).sum(axis=1, keepdims=True) - 2 * z @ c.T + (c * c).sum(axis=1)  # ‖z − c‖²
        return np.concatenate([np.ones((len(z), 1)), z, np.exp(-self.sharpness * np.maximum(far, 0.0))], axis=1)

    def near(self, phis: FloatArray) -> FloatArray:
        """Return which share of each sample is near each centre [n, m], by features."""
        k = phis[:, 1 + len(self.shift) :]
        share: FloatArray = k / (k.sum(axis=1, keepdims=True) + 1e-9)
        return share


def spread_out(xs: FloatArray, most: int) -> list[int]:
    """Choose distinct rows of xs [n, D], each the farthest from those before."""
    chosen, nearest = [0], np.full(len(xs), np.inf)
    while True:
        nearest = np.minimum(nearest, ((xs - xs[chosen[-1]]) ** 2).sum(axis=1))
        far = int(nearest.argmax())
        if nearest[far] <= 1e-12 or len(chosen) == most:
            return chosen
        chosen.append(far)


class Regression:
    """Ridge regressions on features [n, d], one for each action."""

    def __init__(self, phis: FloatArray, acted: IntArray, actions: int) -> None:
        self._own = [np.flatnonzero(acted == a) for a in range(actions)]
        self._phis = [phis[rows] for rows in self._own]
        ridge = RIDGE * np.eye(phis.shape[1])
        self._squares = np.stack([rows.T @ rows + ridge for rows in self._phis])

    def fit(self, targets: FloatArray) -> FloatArray:
        """Return the weights [A, d] of targets [n]."""
        moments = [phis.T @ targets[rows] for phis, rows in zip(self._phis, self._own, strict=True)]
        return np.asarray(np.linalg.solve(self._squares, np.stack(moments)[:, :, None])[:, :, 0])


class Vector:
    """Makes a float vector of an observation; a very long one is projected at random.

    Parameters
    ----------
    space : gymnasium space, or what stands for one
    who : str
        The agent, for messages.

    Examples
    --------
    >>> from tacit.environments.deviators import Vector
    >>> from tacit.environments.adapters import Anything, Discrete
    >>> Vector(Discrete(3), "agent 0")(1).tolist(), Vector(Anything(), "agent 0")((2, [0.5, True])).tolist()
    ([0.0, 1.0, 0.0], [2.0, 0.5, 1.0])
    """

    def __init__(self, space: Any, who: str) -> None:
        self._space, self._who = space, who
        self._length: int | None = None
        self._projection: FloatArray | None = None

    def flatten(self, observation: Any) -> FloatArray:
        """Return all numbers of an observation."""
        try:
            return np.array(_numbers(self._space, observation))
        except (TypeError, ValueError, KeyError, AttributeError):
            must = "must be numbers for features; give encode, or deviators='table'"
            raise TacitError(f"observations of {self._who} {must}; got {brief(observation)}") from None

    def __call__(self, observation: Any) -> FloatArray:
        """Return an observation as a vector."""
        numbers = self.flatten(observation)
        if self._length is None:
            self._length = len(numbers)
            if len(numbers) > LONGEST:
                draw = streams.stream(0, streams.PLAY + 1).normal
                self._projection = draw(size=(LONGEST // 2, len(numbers))) / len(numbers) ** 0.5
        if len(numbers) != self._length or not np.isfinite(numbers).all():
            must = f"must be {self._length} finite numbers, as the first one"
            raise TacitError(f"observations of {self._who} {must}; got {brief(observation)}")
        return numbers if self._projection is None else np.asarray(dot(self._projection, numbers))


def _numbers(space: Any, observation: Any) -> list[float]:
    """Return the numbers of an observation, small discrete ones as unit vectors, without masks."""
    match kind(space):
        case "Discrete":
            return _unit(int(observation) - int(space.start), int(space.n))
        case "MultiDiscrete":
            values = np.ravel(observation).tolist()
            sizes = np.ravel(space.nvec).tolist()
            units = [_unit(int(x), n) for x, n in zip(values, sizes, strict=True)] if sum(sizes) <= LONGEST else []
            return [float(x) for x in values] + [one for unit in units for one in unit]
        case "Tuple" | "Dict":
            named = zip(parts(space), pairs(space, observation), strict=True)
            return [x for name, (part, share) in named if name != "action_mask" for x in _numbers(part, share)]
    return _flatten(observation)


def _unit(value: int, size: int) -> list[float]:
    return [float(value == k) for k in range(size)] if size <= LONGEST else [float(value)]


def _flatten(observation: Any) -> list[float]:
    if isinstance(observation, list | tuple):
        return [x for part in observation for x in _flatten(part)]
    return np.asarray(observation, dtype=np.float64).ravel().tolist()


class Episode(NamedTuple):
    """What an agent has met in one episode."""

    xs: FloatArray  # [H, D]
    acted: IntArray  # [H]  −1 once it is out
    paid: FloatArray  # [H]
    allowed: Any  # [H, A]


class FeaturePart(Part):
    """A response on features.

    With `clock`, the step is one more number of an observation, and the regression of each step takes the samples of
    all: what is paid and what follows is learned once, which is better where it hardly depends on the step. With
    `trace`, so is a trace of earlier observations, for agents that do not see the state.
    """

    sees = product = True

    def __init__(self, agent: int, actions: int, horizon: int, vector: Vector, *, clock: bool, trace: bool) -> None:
        super().__init__(agent, actions, horizon)
        self.steps, self.vector, self.clock, self.trace = horizon, vector, clock, trace
        self._past: Any = None

    def fit(self, episodes: list[Episode], draw: np.random.Generator, constant: float) -> None:
        """Fit all steps, backwards, with a bonus of this constant."""
        H, A, n = self.steps, self.actions, len(episodes)
        each = [np.stack(fitted, axis=1) for fitted in zip(*episodes, strict=True)]  # [H, n, …]
        if self.trace:
            each[0] = np.stack([self.remember(h, x) for h, x in enumerate(each[0])])
        xs, acted, paid, allowed = (fitted.reshape(H * n, *fitted.shape[2:]) for fitted in each)
        if self.clock:
            xs = np.column_stack([xs, np.repeat(np.arange(H), n)])
        self._basis = _basis(xs[acted >= 0], draw)
        phis, rewards = self._basis.show(xs), paid[acted >= 0]
        near = self._basis.near(phis)
        left, span = np.arange(H, 0, -1.0), float(np.ptp(rewards)) or 1.0  # where all are the same, better is hoped for
        self._least, self._most = left * min(rewards.min(), 0.0), left * max(rewards.min() + span, 0.0)
        self._bonus = constant * span * left
        d = phis.shape[1]
        memory.require(memory.floats(A, H + 2 * d, d), "a response on features")
        self._weights = np.zeros((H, A, d))
        self._counts = np.zeros((H, A, near.shape[1]))
        V = np.zeros((H + 1) * n)
        for h in reversed(range(H)):
            fitted, valued = slice(h * n, (h + 1) * n), slice(h * n, (h + 1) * n)
            if self.clock:  # of the last step nobody knows what follows
                fitted, valued = slice(0, (H if h + 1 == H else H - 1) * n), slice(0, H * n)
            if not self.clock or h + 2 >= H:
                regression = Regression(phis[fitted], acted[fitted], A)
                counts = np.stack([near[fitted][acted[fitted] == a].sum(axis=0) for a in range(A)])
            self._weights[h], self._counts[h] = (
                regression.fit(paid[fitted] + V[fitted.start + n : fitted.stop + n]),
                counts,
            )
            worth = self._judge(h, phis[valued], near[valued], allowed[valued]).max(axis=1)
            V[valued] = np.where(acted[valued] >= 0, worth, 0.0)
        if constant <= 0:
            self._bonus = CAUTION * span * left

    def _judge(self, h: int, phis: FloatArray, near: FloatArray, allowed: Any) -> FloatArray:
        """Return the values of actions at step h [n, A]; −∞ where forbidden."""
        visits = near @ self._counts[h].T
        Q = np.minimum(np.maximum(phis @ self._weights[h].T, self._least[h]), self._most[h])
        Q += self._bonus[h] / np.sqrt(np.maximum(visits, 0.25))
        if self._bonus[h] > 0:
            Q = np.minimum(Q, self._most[h])
        return np.where(allowed, Q, -np.inf)

    def remember(self, h: int, x: FloatArray) -> FloatArray:
        """Return a vector of step h with its trace, if it has one. Steps come in order."""
        if not self.trace:
            return x
        self._past = x if h == 0 or self._past is None else PAST * self._past + (1 - PAST) * x
        return np.concatenate([x, self._past], axis=-1)

    def respond(self, h: int, x: FloatArray, allowed: Any) -> int:
        """Return the best action at step h on a vector, with its trace."""
        phis = self._basis.show(np.append(x, float(h))[None] if self.clock else x[None])
        return int(self._judge(h, phis, self._basis.near(phis), True if allowed is None else allowed).argmax())

    def _act(self, h: int, s: Any) -> int:
        return self.choose(h, s, find_mask(s))

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return the action at step h where only some are allowed."""
        self._step(h)
        return self.respond(h, self.remember(h, self.vector(s)), allowed)


def _basis(met: FloatArray, draw: np.random.Generator) -> Basis:
    """Return what makes features, from all that was met [n, D]."""
    spread = met.std(axis=0)
    scale = np.where(spread > 1e-9, 1 / np.maximum(spread, 1e-9), 0.0)
    pool = met if len(met) <= POOL else met[draw.choice(len(met), POOL, replace=False)]
    z = (pool - met.mean(axis=0)) * scale
    centres = z[spread_out(z, min(CENTRES, max(CENTRES // 2, CENTRES * 3 // 2 - met.shape[1])))]
    apart = ((centres[:, None] - centres) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    width = float(np.sqrt(apart.min(axis=1)).mean()) if len(centres) > 1 else 1.0
    return Basis(met.mean(axis=0), scale, centres, 1 / (2 * width**2))


def train_features(env: Any, episodes: int) -> tuple[FeaturePart, Callable[[], FeaturePart]]:
    """Train a response in a `SingleAgentEnv`, by step, by the clock and with a trace; return the best.

    Beside it, a function that returns what this was after half of the episodes.
    """
    draw, H, A = streams.stream(env.seed, streams.PLAY + 2), env.horizon, int(env.action_space.n)
    kinds: list[dict[str, bool]] = [
        {"clock": False, "trace": False},
        {"clock": True, "trace": False},
        {"clock": True, "trace": True},
    ]
    parts = [FeaturePart(env.agent, A, H, env.vector, **kind) for kind in kinds]
    compare = episodes // 10
    met: list[Episode] = []
    first = met
    due = FIRST
    for k in range(1, max(episodes - compare, 1) + 1):
        u = draw.random()
        at_random = k <= FIRST or u < RANDOM
        begin = int(draw.integers(H)) if RANDOM <= u < 2 * RANDOM else 0
        episode, _ = _play_features(env, parts[k % len(parts)], draw, begin=begin, stray=1.0 if at_random else STRAY)
        met.append(episode)
        if k == episodes // 2:
            first = met[:]
        del met[: -max(STEPS // H, FIRST)]
        if k >= due:
            for one in parts:
                one.fit(met, draw, FEATURE_CURIOSITY)
            due = int(k * GROWTH)
    gains = []
    for one in parts:
        one.fit(met, draw, 0.0)
        plays = range(compare // len(parts))
        gains.append(sum(_play_features(env, one, draw, begin=0, stray=0.0)[1] for _ in plays))
    best = int(np.argmax(gains))

    def halfway() -> FeaturePart:
        part = FeaturePart(env.agent, A, H, env.vector, **kinds[best])
        part.fit(first, draw, 0.0)
        return part

    return parts[best], halfway


def _play_features(
    env: Any, model: FeaturePart, draw: np.random.Generator, *, begin: int, stray: float
) -> tuple[Episode, float]:
    """Play an episode: the policy until step `begin`, then the model, exploring. Return it and its return."""
    H, A = env.horizon, model.actions
    observation, info = env.reset()
    x = env.vector(observation)
    episode = Episode(np.zeros((H, len(x))), np.full(H, -1), np.zeros(H), np.ones((H, A), np.bool_))
    for h in range(H):
        mask = info.get("action_mask")
        episode.xs[h] = x = env.vector(observation)
        episode.allowed[h] = True if mask is None else mask
        seen, a = model.remember(h, x), None  # what the policy plays
        if h >= begin:
            a = (
                draw.choice(np.flatnonzero(episode.allowed[h]))
                if draw.random() < stray
                else model.respond(h, seen, mask)
            )
        observation, episode.paid[h], terminated, truncated, info = env.step(a)
        episode.acted[h] = info["action"]
        if terminated or truncated:
            break
    return episode, float(episode.paid.sum())
