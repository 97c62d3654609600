"""What a policy does at each step and state: how likely it gets there, and what is played there on average.

For a Markov policy that is the policy itself. A recorded policy also depends on a hidden index, which all agents draw
from the common seed; here it is averaged out, exactly, by following the distribution of (state, index) forwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.certified import averages
from tacit.evaluation.values import occupancy
from tacit.games.exact import ExactGame, check_exact, joint_draw
from tacit.policies import Policy
from tacit.policies.deployed import DeployedPolicy
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy, Visits, restore_agents

#: Joint actions up to which joint distributions are kept, and numbers that are worked on at once.
_JOINT, _NUMBERS = 4096, 2_000_000


@dataclass(frozen=True, eq=False)
class Behaviour:
    """What a policy does where.

    Attributes
    ----------
    reach : array [H, S]
        Probability of being in s at step h.
    marginals : tuple of arrays [H, S, A_i]
        What each agent plays there on average; even where the place is never reached.
    joint : array [H, S, A_1, …, A_N] or None
        What all play there on average; None where agents draw independently, or where it would be too large.
    averaged : bool
        Whether play depends on more than step and state: then this is what a watcher sees who knows no more.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> tacit.behaviour(game, tacit.solve(game, "ce").policy).joint[0, 0].round(2).tolist()
    [[0.5, 0.25], [0.25, 0.0]]
    """

    reach: FloatArray
    marginals: tuple[FloatArray, ...]
    joint: FloatArray | None
    averaged: bool

    def visited(self, most: int) -> tuple[list[int], int]:
        """Return the states that are reached, those that are most where they are more, and how many were left out."""
        total = self.reach.sum(axis=0)
        order = [int(s) for s in np.argsort(-total, kind="stable") if total[s] > 0]
        return sorted(order[:most]), len(order[most:])


def joint_actions(joint: FloatArray, least: float = 0.0) -> list[tuple[tuple[int, ...], float]]:
    """Return the joint actions of a distribution [A_1, …, A_N] that are played at all, the likeliest first."""
    played = np.argwhere((joint > 0) & (joint >= least))
    order = np.argsort(-joint[tuple(played.T)], kind="stable")
    return [(tuple(actions), float(joint[tuple(actions)])) for actions in played[order].tolist()]


def behaviour(game: ExactGame, policy: Policy) -> Behaviour:
    """Compute what a policy does at each step and state, exactly.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : a policy of it

    Returns
    -------
    Behaviour

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("good-state", horizon=3)
    >>> tacit.behaviour(game, tacit.solve(game, "optimum").policy).reach.round(3)
    array([[1. , 0. ],
           [0.9, 0.1],
           [0.9, 0.1]])
    """
    check_exact(game)
    if isinstance(policy, MarkovPolicy):
        reach = occupancy(game, policy)
        tables = tuple(_every(policy.marginal(i), game.horizon) for i in range(game.agents))
        return Behaviour(reach, tables, None if policy.product else _every(policy.probs[0], game.horizon), False)
    if isinstance(policy, RecordedPolicy):
        policy.check_fits(game)
        return _mix(game, policy.record, follow(game, policy))
    if isinstance(policy, DeployedPolicy):
        policy.check_fits(game)
        return _mix(game, policy, _walk(game, policy))
    raise TacitError(f"policy is {brief(policy)}; it must be a policy, as from tacit.solve or tacit.learn")


def _every(table: FloatArray, horizon: int) -> FloatArray:
    return np.broadcast_to(table, (horizon, *table.shape[1:]))


class Place(NamedTuple):
    """What is played at one (step, state): visits with weights, whose distributions are mixed, and even play."""

    h: int
    s: int
    share: FloatArray  # [J] weight of each entry in force; the first is even play
    k: IntArray  # [n] episodes of visits, or places of rows
    weight: FloatArray  # [n] what each of them counts


def _mix(game: ExactGame, source: Visits | DeployedPolicy, places: Iterator[Place]) -> Behaviour:
    """Add up what is played; the source has the rows that the places name."""
    grid = (game.horizon, game.states)
    size = math.prod(game.actions)
    joint = memory.zeros((*grid, size), "what is played") if size <= _JOINT else None
    marginals = [np.full((*grid, a), 1 / a) for a in game.actions]
    reach = np.zeros(grid)
    for h, s, share, k, weight in places:
        total = share[0] + weight.sum()
        reach[h, s] = total
        sums = [np.full(a, share[0] / a) for a in game.actions]
        together = np.full(size, share[0] / size) if joint is not None else None
        for part in _blocks(len(k), size if joint is not None else sum(game.actions)):
            mu = restore_agents(source.rows(k[part], h), game.actions)
            for own, row in zip(sums, mu, strict=True):
                own += dot(weight[part], row)
            if together is not None:
                together += dot(weight[part], joint_draw(mu))
        if total > 0:
            for i, own in enumerate(sums):
                marginals[i][h, s] = own / total
            if joint is not None:
                joint[h, s] = together / total
    if joint is not None:
        joint[reach == 0] = 1 / size
    whole = None if joint is None or game.agents == 1 else joint.reshape(*grid, *game.actions)
    return Behaviour(reach, tuple(marginals), whole, True)


def follow(game: ExactGame, policy: RecordedPolicy) -> Iterator[Place]:
    """Follow the hidden index of a recorded policy from the first step to the last."""
    even = [np.full(a, 1 / a) for a in game.actions]
    episodes = policy.starts()
    at = [(episodes, np.full(len(episodes), chance / len(episodes))) for chance in game.initial]
    lost = np.zeros(game.states)
    for h in range(game.horizon):
        onward: list[list[tuple[IntArray, FloatArray]]] = [[] for _ in range(game.states)]
        left = np.zeros(game.states)
        for s, (index, weight) in enumerate(at):
            if weight.sum() + lost[s] <= 0:
                continue
            k = policy.record.visits(h, s)
            since, means = averages(policy.record, k, h, s)
            share = np.zeros(len(since))
            np.add.at(share, np.searchsorted(since, index, side="right") - 1, weight)
            share[0] += lost[s]
            spread = means.spread(share[1:], len(k))
            held = np.flatnonzero(spread)
            place = Place(h, s, share, k[held], spread[held])
            yield place
            if h + 1 < game.horizon:
                left += game.push(h, even, share[:1].sum(), s)
                for part in _blocks(len(held), game.numbers(same=True)):
                    visits = place.k[part]
                    rows = restore_agents(policy.record.rows(visits, h), game.actions)
                    moved = game.push(h, rows, place.weight[part], s)
                    for s_next in np.flatnonzero(moved.any(axis=0)):
                        some = moved[:, s_next] > 0
                        onward[s_next].append((visits[some], moved[some, s_next]))
        at = [_join(pieces) for pieces in onward]
        lost = left


def _walk(game: ExactGame, policy: DeployedPolicy) -> Iterator[Place]:
    """Follow the nodes of a deployed policy; node 0 is even play to the end."""
    uniform = [np.full(a, 1 / a) for a in game.actions]
    node = np.bincount(policy.first, minlength=policy.nodes) / len(policy.first)
    at = game.initial[:, None] * node  # [S, nodes]
    for h in range(game.horizon):
        following = np.zeros_like(at)
        for s in np.flatnonzero(at.any(axis=1)):
            held = np.flatnonzero(at[s])
            found = [policy.find(int(n), int(s)) for n in held]
            known = np.array([place >= 0 for place in found])
            rows = np.array([place for place in found if place >= 0], dtype=np.int64)
            weight = at[s, held[known]]
            even = at[s, held[~known]].sum()
            yield Place(h, int(s), np.array([even]), rows, weight)
            if h + 1 < game.horizon:
                following[:, 0] += game.push(h, uniform, even, int(s))
                if len(rows):
                    moved = game.push(h, restore_agents(policy.rows(rows, h), game.actions), weight, int(s))
                    np.add.at(following.T, policy.following[rows], moved)
        at = following


def _blocks(total: int, width: int) -> list[slice]:
    size = max(1, _NUMBERS // max(width, 1))
    return [slice(begin, begin + size) for begin in range(0, total, size)]


def _join(pieces: list[tuple[IntArray, FloatArray]]) -> tuple[IntArray, FloatArray]:
    if not pieces:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    return np.concatenate([k for k, _ in pieces]), np.concatenate([weight for _, weight in pieces])
