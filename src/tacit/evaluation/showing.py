"""A policy in tables: what is played at each step and state, with names on both axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.display import Cell, Document, Table, cell_text, exact, number
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation.behaviour import Behaviour, behaviour, joint_actions
from tacit.games.exact import as_exact
from tacit.games.protocol import is_game
from tacit.games.showing import action_names, state_name
from tacit.policies.markov import MarkovPolicy

#: Two-player joint distributions are drawn as matrices where there are at most so many places and actions.
_MATRICES, _WIDTH = 4, 12
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
        raise TacitError(
            f"what a {type(policy).__name__} plays depends on more than step and state; policy.show(game) with a "
            f"game that has tables averages it"
        )
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
    """Return what a policy does, as JSON has it: a list of places, with distributions by name."""
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
    """Return the places to show; steps that follow each other with the same play in a state are one."""
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
    if play.joint is not None and play.joint.ndim == 4:
        small = max(play.joint.shape[2:]) <= _WIDTH and (most is None or len(places) <= _MATRICES)
        if small and len(places) <= 4 * _MATRICES:
            return [_matrix(game, play.joint, place, plain) for place in places], 0
    if play.joint is not None and (len(play.marginals) <= _LISTED or most is None):
        return _joint_rows(game, play.joint, places, most, plain)
    return _own_rows(game, play, places, most, plain)


def _where(game: Any, place: _Place, plain: bool) -> str:
    if plain:
        return ""
    span = f"step {place.h}" if place.h == place.last else f"steps {place.h} to {place.last}"
    place_name = f" at {span} in {state_name(game, place.s)}"
    reached = place.reach()
    return place_name if reached is None else f"{place_name} (reached with {cell_text(reached)})"


def _matrix(game: Any, joint: FloatArray, place: _Place, plain: bool) -> Table:
    table = joint[place.h, place.s]
    rows: list[list[Cell]] = [[name, *(_prob(p) for p in table[a])] for a, name in enumerate(action_names(game, 0))]
    title = f"probability{_where(game, place, plain)}: agent 0 picks the row, agent 1 the column"
    return Table(title, ["", *action_names(game, 1)], rows)


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
    """Make a table for each agent, or for agents that play the same: a row for each place, a column for each action."""
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
