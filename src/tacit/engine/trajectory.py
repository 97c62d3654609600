"""How agents' mixed actions move while they learn: what simplex pictures and animations show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check, memory, streams
from tacit.core.elementary import dot
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine.drive import Engine
from tacit.engine.exact import ExactEngine
from tacit.engine.fused import FusedEngine
from tacit.games.tabular import TabularGame
from tacit.learners import REGISTRY
from tacit.learners.several import is_interpreted
from tacit.learners.spec import is_exact


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
        How likely each joint action was at the first step, on average over these episodes: in a game of one state and
        step this approaches the (coarse) correlated equilibria of no-regret learners. Of fictitious play, how often it
        was played.
    """

    game: TabularGame
    learner: str
    episode: IntArray
    probs: tuple[FloatArray, ...]
    counts: FloatArray


def trajectory(
    game: TabularGame, learner: str, *, episodes: int = 2000, points: int = 200, seed: int = 0, **params: Any
) -> Trajectory:
    """Let agents learn as `tacit.learn` does, and record what they play; "fictitious-play" is known too.

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
    spec = REGISTRY.make(learner, **params)
    if is_interpreted(spec):
        raise TacitError(f"{learner} has no kernels; paths are drawn of learners in the compiled loop")
    exact = is_exact(spec)
    played = game if exact else game.to_random_horizon()  # of a discounted game
    kind: Any = ExactEngine if exact else FusedEngine
    engine: Engine = kind(played, spec, episodes=episodes, seed=seed)
    held = [memory.zeros((len(marks), played.horizon, played.states, a), "the trajectory") for a in game.actions]
    joint = np.zeros(game.joint_actions)
    for place, more in enumerate(np.diff(marks, prepend=0)):
        if more:
            engine.advance(int(more))
        now = engine.policy(engine.distributions())
        for own, probs in zip(held, now.probs, strict=True):
            own[place] = probs
        joint += dot(played.initial, now.joint(0).reshape(played.states, -1))
    return Trajectory(game, learner, marks, tuple(held), (joint / joint.sum()).reshape(game.actions))


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
