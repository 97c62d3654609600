"""What a policy does at each step and state. It says how likely it gets there and what it plays on average.

For a Markov policy that is the policy itself. A recorded policy also depends on a hidden index, which all agents draw
from the common seed; here it is averaged out, exactly, by following the distribution of (state, index) forwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, memory
from tacit.core.compilation import compile_loop
from tacit.core.display import Cell, Document, Table, exact, number
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.values import occupancy
from tacit.games.exact import ExactGame, as_exact, check_exact, joint_draw
from tacit.games.protocol import is_game
from tacit.games.showing import action_names, state_name
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
        """Return the likeliest reached states, at most so many, and how many were left out."""
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
    average = _mix(game, policy.record, follow(game, policy, visits=visits), most=game.joint_actions)
    return MarkovPolicy(average.marginals[0] if average.joint is None else average.joint)


def _every(table: FloatArray, horizon: int) -> FloatArray:
    return np.broadcast_to(table, (horizon, *table.shape[1:]))


class Mixture(NamedTuple):
    """The mixture of visits and of the uniform policy at one (step, state)."""

    h: int
    s: int
    share: FloatArray  # [J] weight of each entry in force; the first is the uniform policy
    k: IntArray  # [n] episodes of visits, or places of rows
    weight: FloatArray  # [n] what each of them counts


def _mix(game: ExactGame, source: Visits, places: Iterator[Mixture], *, most: int = _JOINT) -> Behaviour:
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


def follow(game: ExactGame, policy: RecordedPolicy, *, visits: int | None = None) -> Iterator[Mixture]:
    """Follow the hidden index of a recorded policy from the first step to the last.

    Of more than so many visits of a step and state, evenly spaced ones stand for all.
    """
    record, S, K = policy.record, game.states, policy.episodes
    ends = record.keys if record.rule == "rate" else record.stages.key  # cell·K + episode that an average ends with
    cells = np.arange(game.horizon * S + 1) * K
    share = np.zeros(len(ends))  # of averages in force
    lost = np.zeros(game.horizon * S)  # of the uniform policy to the end
    edges, first = np.searchsorted(ends, cells), record.edges
    starts, uniform = policy.starts(), [np.full(a, 1 / a) for a in game.actions]
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
        place = Mixture(h, s, np.append(lost[c], shares), record.keys_at(visited) - cells[c], weight)
        yield place
        if h + 1 == game.horizon:
            continue
        onward = slice((h + 1) * S, (h + 2) * S)
        lost[onward] += game.push(h, uniform, lost[c], s)
        for part in _blocks(len(visited), game.numbers(same=True)):
            rows = restore_agents(record.rows(place.k[part], h), game.actions)
            moved = np.ascontiguousarray(game.push(h, rows, place.weight[part], s))
            arguments = moved, place.k[part], ends, cells[onward], edges[onward.start : onward.stop + 1]
            compile_loop(pass_on, steps=20 * moved.size)(*arguments, share, lost[onward])


def _weigh_visits(
    record: Visits, share: FloatArray, visits: slice, averages: slice, most: int | None
) -> tuple[IntArray, FloatArray]:
    """Return which visits of a cell count, by their place in `record.keys`, and how much.

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
    """Return visits that are evenly spaced by weight, where stages count `share`, and their weights.

    They are at the quantiles (m − 1/2)/most, m = 1, …, most.

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
    """Leave at most so many visits, evenly spaced by weight. They count for the others.

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
    """Let averages count that are in force where play goes on. `moved` [n, S] comes from visits of the episodes k.

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


# tables for people ----------------------------------------------------------------------------------------------------


#: Agents with a table of their own.
_AGENTS = 8
#: Agents up to which joint actions are listed; of more, what each plays.
_LISTED = 5
#: Probabilities below this are not listed.
_LEAST = 5e-5

MORE = "policy.show(limit=None), or --all on the command line, shows all"


class _Numbers:
    """Stands for a game of which nothing is known: numbers for names."""

    state_names = action_names = None

    def __init__(self, policy: Any) -> None:
        self.actions, self.agents, self.states = policy.actions, len(policy.actions), policy.states


def show_policy(policy: Any, game: Any, everything: bool, limit: int | None) -> Document:
    """Show a policy; see `MarkovPolicy.show`."""
    most = None if limit is None else check.integer("limit", limit, least=1)
    parts: list[str | Table] = []
    if game is not None and not is_game(game):
        raise TacitError("game must be the game that the policy is of, as from tacit.make")
    exact = as_exact(game)
    if exact is not None:
        play = behaviour(exact, policy)
    elif isinstance(policy, MarkovPolicy):
        play = _all(policy)
        parts.append(
            "without its game nobody knows what is reached; policy.show(game) names what it plays"
            if game is None
            else "the game has no tables, so all places are shown, reached or not"
        )
    else:
        raise TacitError(f"game must have tables, to show what a {type(policy).__name__} plays on average")
    if exact is not None and exact.discount is not None:
        visits = f"{exact.effective_horizon:.6g}"
        parts.append(f"the same at every step; reached: how often, discounted, which adds up to {visits} visits")
    named = game if game is not None else _Numbers(policy)
    steady = policy.horizon is None
    everything = check.flag("everything", everything) or exact is None
    places = _places(play, everything, steady)
    shown, left = _tables(named, play, places, most)
    if play.joint is not None and len(play.marginals) > _LISTED and most is not None:
        parts.append(f"what each agent plays; limit=None, or --all, lists the joint draws of {len(play.marginals)}")
    parts += shown
    if left:
        parts.append(f"{left:,} more rows are not shown; {MORE}")
    hidden = play.reach.size - sum(place.last - place.h + 1 for place in places)
    if hidden:
        pairs = "1 pair of step and state is" if hidden == 1 else f"{hidden:,} pairs of step and state are"
        parts.append(f"{pairs} never reached; everything=True, or --all, shows them")
    return Document(_title(play), parts, lambda: policy_data(named, play, everything=everything))


def policy_data(game: Any, play: Behaviour, *, everything: bool = False) -> dict[str, Any]:
    """Return what a policy does, as JSON has it. It is a list of places, with distributions by name."""
    H, S = play.reach.shape
    names = [action_names(game, i) for i in range(len(play.marginals))]
    places = []
    for h in range(H):
        for s in range(S):
            if play.reach[h, s] <= 0 and not everything:
                continue
            reach = float(play.reach[h, s])
            place: dict[str, Any] = {"step": h, "state": state_name(game, s), "reach": None if reach < 0 else reach}
            if play.joint is not None:
                place["joint"] = [
                    {"actions": [names[i][a] for i, a in enumerate(joint)], "probability": float(p)}
                    for joint, p in np.ndenumerate(play.joint[h, s])
                    if p > 0
                ]
            place["agents"] = [
                dict(zip(names[i], probs[h, s].tolist(), strict=True)) for i, probs in enumerate(play.marginals)
            ]
            places.append(place)
    return {"kind": _kind(play), "places": places}


def _kind(play: Behaviour) -> str:
    if play.averaged:
        return "certified"
    return "product" if play.joint is None else "correlated"


def _title(play: Behaviour) -> str:
    return {
        "product": "product policy: every agent draws on its own",
        "correlated": "correlated policy: all agents follow one joint draw",
        "certified": "certified policy: all agents follow a common seed; this is what they play on average",
    }[_kind(play)]


def _all(policy: MarkovPolicy) -> Behaviour:
    """Return a Markov policy as it stands, of which nobody knows what is reached."""
    marginals = tuple(policy.marginal(i) for i in range(policy.agents))
    joint = None if policy.product else policy.probs[0]
    return Behaviour(np.full((policy.steps, policy.states), -1.0), marginals, joint, False)


class _Place:
    """Steps h to `last` at which the same is played in state s."""

    def __init__(self, h: int, s: int, reach: float) -> None:
        self.h, self.last, self.s = h, h, s
        self.low = self.high = reach

    def steps(self) -> str:
        """Return the steps in writing."""
        return str(self.h) if self.h == self.last else f"{self.h}–{self.last}"

    def reach(self) -> Cell:
        """Return how likely it is reached, over its steps."""
        if self.low < 0:
            return None
        low, high = number(self.low, 3), number(self.high, 3)
        return self.high if low == high else f"{low}–{high}"


def _places(play: Behaviour, everything: bool, steady: bool) -> list[_Place]:
    """Return the places to show. Steps that follow each other with the same play in a state are one."""
    tables = [play.joint] if play.joint is not None else list(play.marginals)
    H, S = play.reach.shape
    places: list[_Place] = []
    for s in range(S):
        last: _Place | None = None
        for h in range(H):
            reach = float(play.reach[h, s])
            if reach <= 0 and not everything:
                last = None
                continue
            if last is not None and (
                steady or all(np.allclose(table[h, s], table[last.last, s], atol=_LEAST, rtol=0) for table in tables)
            ):
                last.last, last.low, last.high = h, min(last.low, reach), max(last.high, reach)
                continue
            last = _Place(h, s, reach)
            places.append(last)
    return sorted(places, key=lambda place: (place.h, place.s))


def _tables(game: Any, play: Behaviour, places: list[_Place], most: int | None) -> tuple[list[Table | str], int]:
    plain = play.reach.shape == (1, 1)
    if play.joint is not None and (len(play.marginals) <= _LISTED or most is None):
        return _joint_rows(game, play.joint, places, most, plain)
    return _own_rows(game, play, places, most, plain)


def _joint_rows(
    game: Any, joint: FloatArray, places: list[_Place], most: int | None, plain: bool
) -> tuple[list[Table | str], int]:
    """List the joint actions that are played, a row each."""
    agents = joint.ndim - 2
    names = [action_names(game, i) for i in range(agents)]
    rows: list[list[Cell]] = []
    left = 0
    for place in places:
        head: list[Cell] = [place.steps(), state_name(game, place.s), place.reach()]
        for chosen, prob in joint_actions(joint[place.h, place.s], _LEAST):
            if most is not None and len(rows) >= most:
                left += 1
                continue
            actions = [names[i][a] for i, a in enumerate(chosen)]
            rows.append([*([] if plain else head), *actions, _prob(prob)])
            head = [None, None, None]
    where = [] if plain else ["step", "state", "reached"]
    columns = [*where, *(f"agent {i}" for i in range(agents)), "probability"]
    return [Table("joint actions that are played", columns, rows, head=len(columns) - 1)], left


def _own_rows(
    game: Any, play: Behaviour, places: list[_Place], most: int | None, plain: bool
) -> tuple[list[Table | str], int]:
    """Make a table for each agent, or for agents that play the same. A row for each place, a column for each action."""
    shown = places if most is None else places[:most]
    parts: list[Table | str] = []
    groups: dict[bytes, list[int]] = {}
    for i, table in enumerate(play.marginals):
        groups.setdefault(repr(action_names(game, i)).encode() + np.ascontiguousarray(table).tobytes(), []).append(i)
    shared = list(groups.values())
    tables = shared if most is None else shared[:_AGENTS]
    for agents in tables:
        i = agents[0]
        names = action_names(game, i)
        rows: list[list[Cell]] = []
        for place in shown:
            probs = [_prob(float(p)) for p in play.marginals[i][place.h, place.s]]
            where: list[Cell] = [place.steps(), state_name(game, place.s, i), place.reach()]
            rows.append([*([] if plain else where), *probs])
        parts.append(Table(_agents(agents), [*([] if plain else ["step", "state", "reached"]), *names], rows, head=2))
    if len(shared) > len(tables):
        parts.append(f"{len(shared) - len(tables)} more agents are not shown; {MORE}")
    return parts, len(places) - len(shown)


def _agents(agents: list[int]) -> str:
    """Name agents that play the same.

    >>> _agents([0]), _agents([0, 1, 2]), _agents([0, 2])
    ('agent 0', 'agents 0 to 2', 'agents 0, 2')
    """
    if len(agents) == 1:
        return f"agent {agents[0]}"
    if agents == list(range(agents[0], agents[-1] + 1)):
        return f"agents {agents[0]} to {agents[-1]}"
    more = f" and {len(agents) - 12} more" if len(agents) > 12 else ""
    return f"agents {', '.join(str(i) for i in agents[:12])}{more}"


def _prob(p: float) -> Cell:
    """Return a probability as it is shown."""
    return 0.0 if p < _LEAST else exact(float(p), 4)
