"""Who trains best responses: in a table, on features of what is observed, or somebody else's trainer.

A trainer is a function of a `SingleAgentEnv`, in which the others play their policies, and of a number of episodes; it
returns whatever plays the agent, as `tacit.evaluate` takes it. Several are tried on a share of the episodes each, and
chosen among in episodes of their own: what is measured afterwards is fresh, so that the choice biases nothing.

A table is trained by optimistic value iteration on what one agent meets while the others play frozen policies [UCB-VI,
Azar, Osband, Munos 2017], in batches of episodes, on the states that the agent itself sees. Before a batch the agent
plans with the means of what it has met and a bonus for what it has hardly tried; what it has never tried is worth the
most that anything can be.

Deviations from UCB-VI: batches; a bonus of (H − h)·span·c/√n with a small c, since the response is measured afresh and
needs no proof.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core import memory, streams
from tacit.core.errors import TacitError, blame, brief
from tacit.core.types import FloatArray, IntArray
from tacit.environments import features
from tacit.environments.adapters import floats, stand_in
from tacit.environments.external import TrainedPart
from tacit.environments.features import Vector
from tacit.environments.play import (
    BATCH,
    Arena,
    Deviation,
    EnvironmentArena,
    EpisodePlayers,
    Played,
    finite_returns,
    play,
)
from tacit.environments.spaces import Anything, Discrete, kind

TABLE, FEATURES = "table", "features"

#: Episodes that show what observations are like, and which share of them is new where a table is enough, or none.
LOOK, FEW, MANY = 200, 0.02, 0.5

#: The constant c of the bonus while learning.
CURIOSITY = 0.15

#: Episodes of training have numbers from here on, so that they share no chance with those of play.
TRAINING = 1 << 40


def check_deviators(deviators: Any) -> list[Any]:
    """Return deviators as a list of names and functions."""
    each = list(deviators) if isinstance(deviators, list | tuple) else [deviators]
    for one in each:
        if not (callable(one) or (isinstance(one, str) and one in (TABLE, FEATURES))):
            raise TacitError(
                f"a deviator is {brief(one)}; it must be {TABLE!r}, {FEATURES!r}, or a function of a single-agent "
                f"environment and a number of episodes that returns what plays there"
            )
    if not each or len({name_of(one) for one in each}) < len(each):
        raise TacitError(f"deviators are {brief(each)}; there must be one at least, and no two of a name")
    return each


def name_of(deviator: Any) -> str:
    """Return what a deviator is called."""
    return deviator if deviator in (TABLE, FEATURES) else getattr(deviator, "__name__", type(deviator).__name__)


def suggest_deviators(arena: Any, policy: Any, episodes: int, seed: int) -> list[Any]:
    """Return what to try: a table where few observations are met, features where nearly all are new, or both."""
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
    fresh = max(_share_new(states[:, :, i]) for i in range(arena.agents))
    if fresh <= FEW:
        return [TABLE]
    try:
        for i in range(arena.agents):
            env = SingleAgentEnv(arena, policy, i, seed)
            env.vector(env.reset()[0])
    except TacitError:  # nothing of which features could be made
        return [TABLE]
    return [FEATURES] if fresh > MANY else [TABLE, FEATURES]


def _share_new(states: IntArray) -> float:
    """Return which share of visits in the later half of episodes [n, H] is at a step and state not met in the first."""
    n, H = states.shape
    cells = states * H + np.arange(H)
    return float(np.mean(~np.isin(cells[n // 2 :], cells[: n // 2])))


def train_best(
    arena: Any, policy: Any, agent: int, deviators: Sequence[Any], episodes: int, seed: int
) -> tuple[Deviation, dict[str, float]]:
    """Train a response by each deviator; return the best of them, and what each gained where they were compared.

    Chance is another than that of what is measured: another seed, and other episodes.
    """
    share, other = episodes // len(deviators), seed + 1 + agent
    if len(deviators) == 1:
        return _train(arena, policy, agent, deviators[0], episodes, other), {}
    compare = max(share // 10, 2)
    trained = [_train(arena, policy, agent, one, max(share - compare, 1), other) for one in deviators]
    before = finite_returns("the game", play(arena, policy, episodes=compare, seed=other))[:, agent]
    gains = []
    for one in trained:
        played = play(arena, policy, episodes=compare, seed=other, deviation=one)
        gains.append(float((finite_returns("the game", played)[:, agent] - before).mean()))
    names = map(name_of, deviators)
    return trained[int(np.argmax(gains))], dict(zip(names, gains, strict=True))


def _train(arena: Any, policy: Any, agent: int, deviator: Any, episodes: int, seed: int) -> Deviation:
    if deviator == TABLE:
        model = train_table(arena, policy, agent, episodes, seed)
        table = model.best()
        for s, mask in arena.masks(agent).items():  # what a forbidden action stands for
            table[:, s] = np.where(table[:, s] >= 0, np.array(stand_in(mask))[table[:, s]], -1)
        return Deviation(agent, table)
    if deviator == FEATURES:
        return Deviation(agent, features.train(SingleAgentEnv(arena, policy, agent, seed), episodes))
    env = _for_trainers(arena, policy, agent, seed)
    with blame(f"the deviator {name_of(deviator)} failed"):
        response = deviator(env, episodes)
    if not callable(getattr(response, "begin", None)):  # no part yet
        response = TrainedPart(agent, arena.actions[agent], response, env.show, name_of(deviator))
    return Deviation(agent, response)


def train_table(arena: Arena, policy: Any, agent: int, episodes: int, seed: int) -> VisitCounts:
    """Return what an agent has met in training: batches that grow with what is known already."""
    model = VisitCounts(agent, arena.horizon, arena.actions[agent])
    done = 0
    table = np.full((arena.horizon, 1), -1)
    while done < episodes:
        size = min(max(16, done // 10), BATCH, episodes - done)
        deviation = Deviation(agent, table, "random")
        first = TRAINING + done
        model.add(arena.play(policy, range(first, first + size), seed=seed, deviation=deviation), arena.states(agent))
        done += size
        table = model.curious()
    return model


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

    def plan(self, bonus: FloatArray, most: FloatArray, *, unknown: float = 1.0) -> FloatArray:
        """Return Q [H, S, A]: means plus a bonus, at most `most` [H].

        Rewards are counted from the lowest, so that no value is negative; `unknown` times `most` is what an action is
        worth that was never tried.
        """
        H, S, A = self.horizon, self.states, self.actions
        place, s_next = np.divmod(self._code, S)
        edges = np.searchsorted(place, np.arange(H + 1) * S * A)
        Q, V = np.zeros((H, S, A)), np.zeros((H + 1, S))
        tried = self.visits > 0
        mean = (self.rewards - self.low * self.visits) / np.maximum(self.visits, 1)
        for h in reversed(range(H)):
            step = slice(edges[h], edges[h + 1])
            ahead = np.bincount(
                place[step] - h * S * A, self._count[step] * V[h + 1][s_next[step]], minlength=S * A
            ).reshape(S, A)
            value = mean[h] + ahead / np.maximum(self.visits[h], 1) + bonus[h]
            Q[h] = np.where(tried[h], np.minimum(value, most[h]), unknown * most[h])
            V[h] = Q[h].max(axis=1)
        return Q

    def curious(self, constant: float = CURIOSITY) -> IntArray:
        """Return what to play next [H, S]: the best action of an optimistic plan; −1 where nothing was tried."""
        span = max(self.high - self.low, 1e-12)
        left = np.arange(self.horizon, 0, -1.0)
        bonus = constant * span * left[:, None, None] / np.sqrt(np.maximum(self.visits, 1))
        Q = self.plan(bonus, left * span)
        return self._choice(Q, np.zeros_like(self.visits))

    def best(self) -> IntArray:
        """Return the best response by what was met [H, S]; what was never tried does not count, −1 for no state."""
        left = np.arange(self.horizon, 0, -1.0)
        span = max(self.high - self.low, 1e-12)
        Q = self.plan(np.zeros_like(self.visits), left * span, unknown=-1.0)
        return self._choice(Q, np.where(self.visits > 0, 0.0, -np.inf))

    def _choice(self, Q: FloatArray, allowed: FloatArray) -> IntArray:
        met = self.visits.sum(axis=2) > 0
        return np.where(met, (Q + allowed).argmax(axis=2), -1)


class SingleAgentEnv:
    """One agent's environment, in which all others play a policy: what a trainer of best responses gets.

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

    def __init__(self, arena: EnvironmentArena, policy: Any, agent: int, seed: int) -> None:
        self.agent, self.horizon, self.seed = agent, arena.horizon, seed
        self._arena, self._environment = arena, arena.environment
        self._players = EpisodePlayers(policy, arena.actions)
        space = arena.environment.spaces[agent]
        self.vector = Vector(space, arena.environment.names[agent])
        self._flat = kind(space) == "Anything"
        self._over: list[bool] | None = None
        self.episodes = self._h = 0
        self._states = np.zeros(arena.agents, np.int64)
        self.action_space: Any = Discrete(arena.actions[agent])
        self.observation_space: Any = space

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, the next, or that of number `seed`; none shares its chance with what is measured."""
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
        self._arena.seen.write(self._shown, self._over, self._states)
        self._chosen = self._players.act(self._h, self._states.tolist(), self._shown, self._environment.allowed)

    def show(self, observation: Any) -> Any:
        """Return an observation as it is seen here: as it is, or, of a plain object, as an array."""
        return self.vector.flatten(observation) if self._flat else observation

    def _info(self, played: int | None) -> dict[str, Any]:
        mask = self._environment.allowed[self.agent]
        masked = {} if mask is None else {"action_mask": np.asarray(mask, np.int8)}
        return {"step": self._h, "action": played, **masked}


def _for_trainers(arena: EnvironmentArena, policy: Any, agent: int, seed: int) -> SingleAgentEnv:
    """Return a single-agent environment that is one of Gymnasium's, where that is installed."""
    if importlib.util.find_spec("gymnasium") is None:
        return SingleAgentEnv(arena, policy, agent, seed)
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
