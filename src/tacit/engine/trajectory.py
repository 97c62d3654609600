"""How agents' mixed actions move while they learn: what simplex pictures and animations show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check, memory, streams
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine.agents import agent as make
from tacit.engine.exact import ExactEngine
from tacit.games.tabular import TabularGame
from tacit.learners import REGISTRY


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What agents play as they learn.

    Attributes
    ----------
    learner : str
    episode : int array [T]
    probs : tuple of arrays [T, H, S, A_i]
        Each agent's distributions after so many episodes.
    counts : array [A_1, …, A_N]
        How often each joint action was played at the first step, as shares: in a game of one state and step, the
        empirical distribution, which approaches the (coarse) correlated equilibria of no-regret learners.
    """

    game: TabularGame
    learner: str
    episode: IntArray
    probs: tuple[FloatArray, ...]
    counts: FloatArray


def trajectory(
    game: TabularGame, learner: str, *, episodes: int = 2000, points: int = 200, seed: int = 0, **params: Any
) -> Trajectory:
    """Let agents learn, each on its own, and record what they play; "fictitious-play" is known too.

    >>> import tacit
    >>> from tacit.engine.trajectory import trajectory
    >>> path = trajectory(tacit.make("shapley"), "fictitious-play", episodes=100, points=20)
    >>> path.probs[0].shape
    (21, 1, 1, 3)
    """
    episodes = check.integer("episodes", episodes)
    points = min(check.integer("points", points), episodes)
    marks = np.unique(np.linspace(0, episodes, points + 1).round().astype(np.int64))
    if learner == "fictitious-play":
        return _fictitious(game, marks, seed)
    if learner in list(REGISTRY) and REGISTRY.make(learner, **params).exact:
        return _follow_gradients(game, learner, marks, seed, params)
    made = [
        make(learner, states=game.states, actions=a, horizon=game.horizon, reward_range=game.reward_range, seed=seed,
             index=i, **params)
        for i, a in enumerate(game.actions)
    ]  # fmt: skip
    world = streams.stream(seed, streams.ENVIRONMENT)
    held = [memory.zeros((len(marks), *own.policy.shape), "the trajectory") for own in made]
    counts = np.zeros(game.actions)
    place = 0
    for k in range(episodes + 1):
        if k == marks[place]:
            for i, own in enumerate(made):
                held[i][place] = own.policy
            place += 1
        if k == episodes:
            break
        s = game.start(world.random())
        for h in range(game.horizon):
            actions = [own.act(h, s) for own in made]
            s_next, rewards = game.step(h, s, actions, world.random())
            after = s_next if h + 1 < game.horizon else None
            for own, a, r in zip(made, actions, rewards, strict=True):
                own.learn(h, s, a, float(r), after)
            if h == 0:
                counts[tuple(actions)] += 1
            s = s_next
    return Trajectory(game, learner, marks, tuple(held), counts / counts.sum())


def _follow_gradients(
    game: TabularGame, learner: str, marks: IntArray, seed: int, params: dict[str, Any]
) -> Trajectory:
    """Iterate a learner with exact gradients, which plays nothing; counts are those of its mean iterate."""
    engine = ExactEngine(game, REGISTRY.make(learner, **params), episodes=int(marks[-1]), seed=seed)
    held = [memory.zeros((len(marks), *own.shape), "the trajectory") for own in engine.iterate.probs]
    counts = np.zeros(game.actions)
    first = int(np.argmax(game.initial))
    for place, more in enumerate(np.diff(marks, prepend=0)):
        if more:
            engine.advance(int(more))
        for own, probs in zip(held, engine.iterate.probs, strict=True):
            own[place] = probs
        counts += engine.iterate.joint(0)[first]
    return Trajectory(game, learner, marks, tuple(held), counts / counts.sum())


def _fictitious(game: TabularGame, marks: IntArray, seed: int) -> Trajectory:
    """Both play best replies to what the other has played so far; what moves is the shares of their actions."""
    if (game.agents, game.states, game.horizon) != (2, 1, 1):
        raise TacitError("fictitious play is drawn for two-player games of one state and step")
    payoffs = game.rewards[:, 0, 0]
    rng = streams.stream(seed, streams.START)
    seen = [rng.dirichlet(np.ones(a)) for a in game.actions]
    held = [np.zeros((len(marks), 1, 1, a)) for a in game.actions]
    counts = np.zeros(game.actions)
    place = 0
    for k in range(int(marks[-1]) + 1):
        if k == marks[place]:
            for i, own in enumerate(seen):
                held[i][place, 0, 0] = own / own.sum()
            place += 1
        if k == marks[-1]:
            break
        replies = int((payoffs[0] @ seen[1]).argmax()), int((seen[0] @ payoffs[1]).argmax())
        counts[replies] += 1
        for own, a in zip(seen, replies, strict=True):
            own[a] += 1
    return Trajectory(game, "fictitious play", marks, tuple(held), counts / counts.sum())
