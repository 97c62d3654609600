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
from tacit.core.compilation import compile_loop
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.values import occupancy
from tacit.games.exact import ExactGame, check_exact, joint_draw
from tacit.games.tabular import TabularGame
from tacit.policies import Policy
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
    >>> tacit.evaluation.behaviour(game, tacit.solve(game, "ce").policy).joint[0, 0].round(2).tolist()
    [[0.5, 0.25], [0.25, 0.0]]
    """

    reach: FloatArray
    marginals: tuple[FloatArray, ...]
    joint: FloatArray | None
    averaged: bool

    def likeliest_states(self, most: int) -> tuple[list[int], int]:
        """Return at most so many of the reached states, the likeliest, and how many were left out."""
        total = self.reach.sum(axis=0)
        order = [int(s) for s in np.argsort(-total, kind="stable") if total[s] > 0]
        return sorted(order[:most]), len(order[most:])


def joint_actions(joint: FloatArray, least: float = 0.0) -> list[tuple[tuple[int, ...], float]]:
    """Return the joint actions that a distribution [A_1, …, A_N] plays, the likeliest first."""
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
    >>> tacit.evaluation.behaviour(game, tacit.solve(game, "optimum").policy).reach.round(3)
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
    raise TacitError(f"policy must be a Markov or a recorded policy; got {brief(policy)}")


def markov_table(game: TabularGame, policy: RecordedPolicy, *, visits: int = 1024) -> MarkovPolicy:
    """Return a recorded policy, averaged over its index, as a correlated Markov policy.

    The table has exactly the values of the policy, since the same joint actions are as likely at the same steps and
    states; its gaps are its own. Of more than so many visits of a step and state, evenly spaced ones are averaged,
    by what they count, and that holds of the policy that is made of those.

    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> run = tacit.learn(game, "adaptive-v-cce", episodes=500)
    >>> markov_table(game, run.candidates["recent"].policy).product
    False
    """
    does = _mix(game, policy.record, follow(game, policy, visits=visits), most=game.joint_actions)
    return MarkovPolicy(does.marginals[0] if does.joint is None else does.joint)


def _every(table: FloatArray, horizon: int) -> FloatArray:
    return np.broadcast_to(table, (horizon, *table.shape[1:]))


class Place(NamedTuple):
    """The mixture of visits and of the uniform policy at one (step, state)."""

    h: int
    s: int
    share: FloatArray  # [J] weight of each entry in force; the first is the uniform policy
    k: IntArray  # [n] episodes of visits, or places of rows
    weight: FloatArray  # [n] what each of them counts


def _mix(game: ExactGame, source: Visits, places: Iterator[Place], *, most: int = _JOINT) -> Behaviour:
    """Add up what is played; the source has the rows that the places name. Joint play is kept of few joint actions."""
    grid = (game.horizon, game.states)
    size = math.prod(game.actions)
    joint = memory.zeros((*grid, size), "what is played") if size <= most else None
    marginals = [np.full((*grid, a), 1 / a) for a in game.actions]
    reach = np.zeros(grid)
    for h, s, share, k, weight in places:
        total = share[0] + weight.sum()
        reach[h, s] = total
        sums = [np.full(a, share[0] / a) for a in game.actions]
        together = np.full(size, share[0] / size) if joint is not None else None
        for part in _blocks(len(k), size if joint is not None else sum(game.actions)):
            mu = restore_agents(source.rows(k[part], h), game.actions)
            for total_row, row in zip(sums, mu, strict=True):
                total_row += dot(weight[part], row)
            if together is not None:
                together += dot(weight[part], joint_draw(mu))
        if total > 0:
            for i, total_row in enumerate(sums):
                marginals[i][h, s] = total_row / total
            if joint is not None:
                joint[h, s] = together / total
    if joint is not None:
        joint[reach == 0] = 1 / size
    correlated = None if joint is None or game.agents == 1 else joint.reshape(*grid, *game.actions)
    return Behaviour(reach, tuple(marginals), correlated, True)


def follow(game: ExactGame, policy: RecordedPolicy, *, visits: int | None = None) -> Iterator[Place]:
    """Follow the hidden index of a recorded policy from the first step to the last.

    Of more than so many visits of a step and state, evenly spaced ones stand for all.
    """
    record, S, K = policy.record, game.states, policy.episodes
    ends = record.keys if record.rule == "rate" else record.stages.key  # cell·K + episode that an average ends with
    cells = np.arange(game.horizon * S + 1) * K
    share, lost = (
        np.zeros(len(ends)),
        np.zeros(game.horizon * S),
    )  # of averages in force; of the uniform policy to the end
    edges, first = np.searchsorted(ends, cells), record.edges
    starts, even = policy.starts(), [np.full(a, 1 / a) for a in game.actions]
    for first_state in np.flatnonzero(game.initial):
        s = int(first_state)
        endings = ends[edges[s] : edges[s + 1]] - cells[s]
        number = np.bincount(np.searchsorted(endings, starts), minlength=len(endings) + 1)  # that begin with each
        prob = number * (game.initial[s] / len(starts))
        lost[s], share[edges[s] : edges[s + 1]] = prob[0], prob[1:]
    for c in range(game.horizon * S):
        h, s = divmod(c, S)
        shares = share[edges[c] : edges[c + 1]]
        if lost[c] + shares.sum() <= 0:
            continue
        of_cell = slice(first[c], first[c + 1]), slice(edges[c], edges[c + 1])
        visited, weight = _weigh_visits(record, shares, *of_cell, visits)
        place = Place(h, s, np.append(lost[c], shares), record.keys[visited] - cells[c], weight)
        yield place
        if h + 1 == game.horizon:
            continue
        onward = slice((h + 1) * S, (h + 2) * S)
        lost[onward] += game.push(h, even, lost[c], s)
        for part in _blocks(len(visited), game.numbers(same=True)):
            rows = restore_agents(record.rows(place.k[part], h), game.actions)
            moved = np.ascontiguousarray(game.push(h, rows, place.weight[part], s))
            arguments = moved, place.k[part], ends, cells[onward], edges[onward.start : onward.stop + 1]
            compile_loop(pass_on, steps=20 * moved.size)(*arguments, share, lost[onward])


def _weigh_visits(
    record: Visits, share: FloatArray, visits: slice, averages: slice, most: int | None
) -> tuple[IntArray, FloatArray]:
    """Return which visits of a cell count, by their place in `record.keys`, and how much, where averages count `share`.

    Of more than `most` visits, evenly spaced ones stand for all.
    """
    if record.rule == "stage":
        begin, end = record.stages.begin[averages], record.stages.end[averages]
        counts = (end - begin) * (share > 0)
        if most is not None and counts.sum() > most:
            return _space_stages(share, begin, end, most)
        return _range(begin, counts), np.repeat(share / (end - begin), counts)
    weight = share.copy()
    compile_loop(spread_by_rate, steps=len(weight))(weight, record.horizon)
    if most is not None:
        weight = _space_evenly(weight, most)
    some = np.flatnonzero(weight)
    return visits.start + some, weight[some]


def _range(begin: IntArray, counts: IntArray) -> IntArray:
    """Return begin[0], begin[0] + 1, … (counts[0] of them), begin[1], ….

    >>> _range(np.array([3, 9]), np.array([2, 1])).tolist()
    [3, 4, 9]
    """
    return np.arange(counts.sum()) + np.repeat(begin - np.cumsum(counts) + counts, counts)


def _space_stages(share: FloatArray, begin: IntArray, end: IntArray, most: int) -> tuple[IntArray, FloatArray]:
    """Return the visits at the quantiles (m − 1/2)/most, m = 1, …, most, of stages that count `share`, and weights.

    >>> _space_stages(np.array([0.25, 0.75]), np.array([0, 4]), np.array([4, 10]), 2)
    (array([4, 8]), array([0.5, 0.5]))
    """
    passed = np.cumsum(share)
    each = passed[-1] / most
    quantile = (np.arange(most) + 0.5) * each
    stage = np.minimum(np.searchsorted(passed, quantile, side="right"), len(share) - 1)
    inside = (quantile - passed[stage] + share[stage]) / share[stage] * (end - begin)[stage]
    visits, number = np.unique(
        np.clip(begin[stage] + inside.astype(np.int64), begin[stage], end[stage] - 1), return_counts=True
    )
    return visits, number * each


def spread_by_rate(share, horizon):
    """Turn weights of averages with the rate α_t = (H + 1)/(H + t) into weights of visits, in place."""
    ahead = 0.0
    for t in range(len(share) - 1, -1, -1):
        alpha = (horizon + 1) / (horizon + 1 + t)
        ahead += share[t]
        share[t] = alpha * ahead
        ahead *= 1.0 - alpha


def _space_evenly(weight: FloatArray, most: int) -> FloatArray:
    """Leave at most so many visits, evenly spaced by weight, and let them count for the others.

    >>> _space_evenly(np.array([0.25, 0.25, 0.0, 0.25, 0.25]), 2).tolist()
    [0.5, 0.0, 0.0, 0.5, 0.0]
    """
    if np.count_nonzero(weight) <= most:
        return weight
    passed = np.cumsum(weight)
    each = passed[-1] / most
    taken = np.minimum((passed / each + 0.5).astype(np.int64), most)
    spaced: FloatArray = np.diff(taken, prepend=0) * each
    return spaced


def pass_on(moved, k, ends, cells, edges, share, lost):
    """Let averages count that are in force where play goes on: `moved` [n, S] from visits of the episodes k.

    In state s, averages [edges[s], edges[s + 1]) end with episodes `ends` − cells[s]: in force is the last one that
    ended before, or the uniform policy where there is none.
    """
    for v in range(len(moved)):
        for s in range(moved.shape[1]):
            if moved[v, s] > 0.0:
                entry, above = edges[s] - 1, edges[s + 1]
                while above - entry > 1:
                    middle = (entry + above) // 2
                    if ends[middle] < cells[s] + k[v]:
                        entry = middle
                    else:
                        above = middle
                if entry >= edges[s]:
                    share[entry] += moved[v, s]
                else:
                    lost[s] += moved[v, s]


def _blocks(total: int, width: int) -> list[slice]:
    size = max(1, _NUMBERS // max(width, 1))
    return [slice(begin, begin + size) for begin in range(0, total, size)]
