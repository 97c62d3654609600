"""All trajectories of a tiny game, with their probabilities: expectations without Monte-Carlo."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import tacit
from tacit.core import generics
from tacit.learners import World
from tacit.learners.spec import Scale


class Trajectory(NamedTuple):
    chance: float
    states: list[int]
    actions: list[tuple[int, ...]]
    rewards: list[np.ndarray]  # [N] at each step


def trajectories(game: tacit.TabularGame, probs: Sequence[np.ndarray]) -> Iterator[Trajectory]:
    """Every trajectory of product policies [H, S, A_i] that has a chance; the policies need not sum to one."""
    P, R, H = game.transitions, game.rewards, game.horizon

    def walk(h: int, s: int, chance: float, path: Trajectory) -> Iterator[Trajectory]:
        for joint in itertools.product(*map(range, game.actions)):
            p = chance * float(np.prod([own[h, s, a] for own, a in zip(probs, joint, strict=True)]))
            if p == 0:
                continue
            r = R[(slice(None), h if len(R[0]) > 1 else 0, s, *joint)]
            longer = Trajectory(p, [*path.states, s], [*path.actions, joint], [*path.rewards, r])
            if h + 1 == H:
                yield longer
                continue
            for s_next, q in enumerate(P[(h if len(P) > 1 else 0, s, *joint)]):
                if q > 0:
                    yield from walk(h + 1, s_next, p * q, longer)

    for s, q in enumerate(game.initial):
        if q > 0:
            yield from walk(0, s, float(q), Trajectory(1.0, [], [], []))


def value(game: tacit.TabularGame, probs: Sequence[np.ndarray], i: int) -> float:
    """Agent i's value, as a polynomial in the policies: Σ_τ P(τ)·R_i(τ)."""
    return sum(path.chance * sum(r[i] for r in path.rewards) for path in trajectories(game, probs))


def full(game: tacit.TabularGame, policy: tacit.MarkovPolicy) -> list[np.ndarray]:
    """The policies at every step, [H, S, A_i], writable."""
    return [np.array(np.broadcast_to(own, (game.horizon, *own.shape[1:]))) for own in policy.probs]


def world_of_one(game: tacit.TabularGame, i: int, theta: np.ndarray) -> World:
    return World(
        game.states, np.array([game.actions[i]]), game.horizon, game.reward_range, Scale(1, 1, 1, 1, 1), (theta,)
    )


def live(state: Any, path: Trajectory, i: int, pi: np.ndarray) -> None:
    """Put agent i through a trajectory: uniform numbers are chosen so that it plays the trajectory's actions."""
    H = len(path.states)
    for h, (s, joint, r) in enumerate(zip(path.states, path.actions, path.rewards, strict=True)):
        a = joint[i]
        row = pi[h, s]
        assert generics.act(state, 0, h, s, float(row[:a].sum() + row[a] / 2)) == a
        generics.learn(state, 0, h, s, a, float(r[i]), path.states[h + 1] if h + 1 < H else s)


def estimate(game: tacit.TabularGame, spec: Any, theta: np.ndarray, path: Trajectory, i: int) -> np.ndarray:
    """The learner's own gradient estimate [H, S, A_i] at parameters θ from one trajectory: its first direction."""
    state = spec.init(world_of_one(game, i, theta))
    live(state, path, i, (1 - spec.exploration) * theta + spec.exploration / theta.shape[2])
    shown: np.ndarray = state.cells["direction"][:, :, 0, : theta.shape[2]]
    return shown.copy()


def centred(x: np.ndarray) -> np.ndarray:
    """The part of a gradient along the simplex: its mean over actions taken out."""
    return x - x.mean(axis=-1, keepdims=True)
