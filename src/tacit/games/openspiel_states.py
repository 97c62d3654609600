"""The states of an OpenSpiel game that play can reach, and what each legal joint action does there.

The search goes breadth-first, one move after the other. Chance nodes are followed to the decisions behind them. What
`key` says of two states decides whether they are one; since a text may say too little, a state is looked at again when
it is met on a second way, and must offer the same actions, rewards and next states. That is a check, no proof.

A state waits for its look as OpenSpiel's own object. How many wait and how long the search takes is bounded by `limit`:
a state counts, with all joint actions, as soon as it is met, and so does every outcome of joint actions and of chance.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.games import successors
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame, times

#: Outcomes after which the free memory is looked at again, and a generous size of what one of them may leave behind.
#: Measured: from 40 (markov_soccer) over 1,800 (snake) to 27,000 (morpion_solitaire).
CHECK, LEFT = 4096, 30_000

#: Characters of a state's text beyond which it counts for more than one outcome. Usual texts have 50 to 500.
TEXT = 1000

#: For each agent, OpenSpiel's numbers of actions.
Actions = tuple[tuple[int, ...], ...]

#: What a state is known by: its key, who is to move, and the moves before where they matter. None: the game is over.
Place = tuple[Any, ...] | None


class Stage(NamedTuple):
    """What can be done in one state. Joint actions are the legal ones, the last agent's fastest."""

    legal: Actions  # for each agent its legal actions; none where it is not to move
    rewards: list[list[float]]  # [joint][N]  expected
    ahead: list[dict[Place, float]]  # [joint]  probability of each next place

    def agrees(self, other: Stage, *, last: bool) -> bool:
        """Whether the other stage is the same game; after the last move it does not matter where it leads."""
        if self.legal != other.legal or not np.allclose(self.rewards, other.rewards, rtol=0, atol=1e-9):
            return False
        return last or all(_close(mine, its) for mine, its in zip(self.ahead, other.ahead, strict=True))


class Ambiguous(Exception):
    """Two states have the same key and are different; `followed` outcomes were followed to find that."""

    def __init__(self, key: str, followed: int) -> None:
        super().__init__(key)
        self.followed = followed


class Search:
    """All places that can be reached within the horizon.

    Attributes
    ----------
    initial : dict
        Probability of each first place.
    stages : dict
        The stage at each place, in the order in which they were met. The last is None where the game can end: it
        leads to itself and pays nothing.
    names : list of N dicts
        For each agent, the actions that are legal for it somewhere, with their names.
    depth : int
        Moves after which nothing was left to look at, at most the horizon.
    followed : int
        Outcomes followed, those of an earlier search included; one with an enormous text counts for several.
    """

    def __init__(
        self,
        game: Any,
        *,
        horizon: int | None,
        key: Callable[[Any], object],
        limit: int,
        timed: bool,
        followed: int = 0,
    ) -> None:
        longest = game.max_game_length()  # in joint moves, or in moves of one agent at a time; chance does not count
        self.game, self.key, self.limit, self.timed = game, key, limit, timed
        self.horizon: int = longest if horizon is None else horizon
        #: Who plays as long as the game lasts meets its own limit of moves, which is seldom part of a state's text and
        #: may pay: then every state is looked at anew at each depth.
        self.clock: bool = self.horizon >= longest
        self.initial: dict[Place, float] = {}
        self.stages: dict[Place, Stage] = {}
        self.names: list[dict[int, str]] = [{} for _ in range(game.num_players())]
        self.depth = 0
        self.followed = followed
        self._check_at = followed + CHECK
        self._fan: int = game.max_chance_outcomes()
        self._sizes: tuple[int, ...] = (1,)  # numbers of actions, as far as they are known
        self._over = False  # whether an end was met
        self._layer: list[tuple[Place, Any]] = []  # what is to be looked at next, and by which place
        self._layer_places: set[Place] = set()
        self._ways: dict[Place, list[int]] = {}  # the first two ways to each place: hashes of from where, and the text
        self._run()
        if self.stages and self._over:
            self.stages[None] = Stage(((),) * len(self.names), [[0.0] * len(self.names)], [{None: 1.0}])

    def _run(self) -> None:
        for chance, state in self._decisions(self.game.new_initial_state()):
            _add(self.initial, self._arrive(state, None), chance)
        while self._layer and self.depth < self.horizon:
            self.depth += 1
            layer, self._layer, self._layer_places = self._layer, [], set()
            layer.reverse()
            states, followed = len(self.stages), self.followed
            while layer:  # what was looked at is let go
                self._look(*layer.pop())
            if self.clock and len(self.stages) == states:  # nothing new: from now on every move costs the same
                self._check_work(self.followed + (self.followed - followed) * (self.horizon - self.depth))

    def _look(self, place: Place, state: Any) -> None:
        """Try every legal joint action in a state; keep what happens, or compare it with what is known."""
        stage = Stage(self._legal(state), [], [])
        before = state.returns()
        for joint in itertools.product(*[own or [-1] for own in stage.legal]):  # -1: OpenSpiel's "no action"
            rewards = [0.0] * len(before)
            ahead: dict[Place, float] = {}
            for chance, after in self._decisions(_child(state, joint)):
                gains = zip(rewards, before, after.returns(), strict=True)
                rewards = [reward + chance * (then - now) for reward, now, then in gains]
                _add(ahead, self._arrive(after, place), chance)
            stage.rewards.append(rewards)
            stage.ahead.append(ahead)
        known = self.stages.setdefault(place, stage)
        if known is not stage and not known.agrees(stage, last=self.depth == self.horizon):
            raise Ambiguous(brief(self.key(state)), self.followed)

    def _arrive(self, state: Any, before: Place) -> Place:
        """Return the place of a state, and note it down for a look where one is needed."""
        self.followed += 1
        self._check_work(self.followed)
        if self.depth == self.horizon or state.is_terminal():
            self._over = True
            return None
        name = self.key(state)
        if isinstance(name, str):
            self.followed += len(name) // TEXT
        if self.followed >= self._check_at:
            self._check_memory()
        place = (name, state.current_player(), self.depth if self.timed else None)
        ways = self._ways.get(place)
        if ways is None:
            ways = self._ways[place] = []
            self._check_rows(self._sizes)
        another = False
        if len(ways) < 2:
            way = hash((before, name if self.key is str else str(state)))
            another = way not in ways
            if another:
                ways.append(way)
        if another or (self.clock and place not in self._layer_places):
            self._layer.append((place, state))
            self._layer_places.add(place)
        return place

    def _decisions(self, state: Any) -> Iterator[tuple[float, Any]]:
        """Follow chance nodes to the states in which an agent moves or the game is over, with their probabilities."""
        if not state.is_chance_node():
            yield 1.0, state
            return
        self._check_work(self._fan)  # before OpenSpiel lists them
        outcomes = state.chance_outcomes()
        self._check_work(self.followed + len(outcomes))
        for outcome, chance in outcomes:
            for rest, after in self._decisions(state.child(outcome)):
                yield chance * rest, after

    def _legal(self, state: Any) -> Actions:
        """Return each agent's legal actions, and note down the names of new ones."""
        together, mover = state.is_simultaneous_node(), state.current_player()
        agents = range(len(self.names))
        legal = tuple(tuple(state.legal_actions(i)) if together or i == mover else () for i in agents)
        self._check_rows(tuple(len(own) or 1 for own in legal))  # before an enormous number of them is named
        for i, names in enumerate(self.names):
            for action in legal[i]:
                if action not in names:
                    names[action] = state.action_to_string(i, action)
        self._sizes = tuple(len(names) or 1 for names in self.names)
        self._check_rows(self._sizes)
        return legal

    def _check_rows(self, sizes: tuple[int, ...]) -> None:
        """Refuse too many pairs of a state and a joint action; states that wait for their look count as well."""
        if len(self._ways) * math.prod(sizes) > self.limit:
            raise TacitError(
                f"{self.game} has more than {self.limit:,} pairs of a state and a joint action: {self._reached()} with "
                f"{times(sizes)} actions; give a smaller horizon or a larger limit"
            )

    def _check_work(self, outcomes: int) -> None:
        if outcomes > self.limit:
            raise TacitError(
                f"{self.game} has {self._reached()}, and to follow them through {self.horizon:,} moves takes "
                f"{outcomes:,} outcomes or more; give a smaller horizon, or a larger limit than {self.limit:,}"
            )

    def _check_memory(self) -> None:
        """Refuse what has no room for the table so far and for what is met before the next check."""
        table = memory.floats(len(self._ways) * math.prod(self._sizes), 2 * len(self.names) + 4)
        memory.require(table + CHECK * LEFT, f"{self.game}, with {self._reached()} so far,")
        self._check_at = self.followed + CHECK

    def _reached(self) -> str:
        return f"{len(self._ways):,} states up to move {self.depth}"


def _child(state: Any, joint: tuple[int, ...]) -> Any:
    if not state.is_simultaneous_node():
        return state.child(joint[state.current_player()])
    child = state.clone()
    child.apply_actions(list(joint))
    return child


def _add(chances: dict[Place, float], place: Place, chance: float) -> None:
    if chance > 0:
        chances[place] = chances.get(place, 0.0) + chance


def _close(mine: dict[Place, float], its: dict[Place, float]) -> bool:
    return mine.keys() == its.keys() and all(abs(chance - its[place]) <= 1e-9 for place, chance in mine.items())


def table(game: Any, *, horizon: int | None, key: Callable[[Any], object], limit: int) -> TabularGame:
    """Find the states of a game with perfect information, and make its table."""
    found, notes = _find(game, horizon, key, limit)
    if not found.stages:
        raise TacitError(f"{game} has no state in which an agent moves; check its parameters")
    if horizon is None:
        horizon = found.depth
        notes.append(f"the horizon, {horizon}, is the longest play")
    actions = tuple(tuple(sorted(own)) or (-1,) for own in found.names)  # -1 stands for an agent that never moves
    if any(place and stage.legal != actions for place, stage in found.stages.items()):
        notes.append("an action that is not legal does what the agent's first legal one does, and nothing out of turn")
    index = {place: s for s, place in enumerate(found.stages)}
    transitions, rewards = _arrays(list(found.stages.values()), index, actions)
    initial = np.zeros(len(index))
    initial[[index[place] for place in found.initial]] = list(found.initial.values())
    return TabularGame(
        Owned(transitions),
        Owned(rewards),
        initial,
        horizon,
        name=str(game),
        state_names=distinct(_text(place) for place in found.stages),
        action_names=[
            distinct(names.get(a, "none") for a in own) for own, names in zip(actions, found.names, strict=True)
        ],
        notes=notes,
    )


def _find(game: Any, horizon: int | None, key: Callable[[Any], object], limit: int) -> tuple[Search, list[str]]:
    """Search the states, told apart by their keys, or where that does not suffice by the moves before as well."""
    try:
        return Search(game, horizon=horizon, key=key, limit=limit, timed=False), []
    except Ambiguous as error:
        followed = error.followed
        note = "states are told apart by the number of moves before as well, since it changes what follows"
    try:
        return Search(game, horizon=horizon, key=key, limit=limit, timed=True, followed=followed), [note]
    except Ambiguous as error:
        raise TacitError(
            f"{game} has different states with the same key, {error}; pass key=, a function that tells them apart"
        ) from None


def _arrays(stages: list[Stage], index: dict[Place, int], actions: Actions) -> tuple[Successors, FloatArray]:
    """Return the successors and the rewards [N, 1, S, A_1, …, A_N] of stages with legal joint actions only."""
    sizes = [len(own) for own in actions]
    rows = len(stages) * math.prod(sizes)
    memory.require(memory.floats(rows, 2 * len(sizes) + 4), f"a table of {rows:,} rows")
    ahead = [outcomes for stage in stages for outcomes in stage.ahead]
    legal = successors.from_entries(
        np.repeat(np.arange(len(ahead)), [len(outcomes) for outcomes in ahead]),
        [index[place] for outcomes in ahead for place in outcomes],
        [chance for outcomes in ahead for chance in outcomes.values()],
        len(ahead),
    )
    rewards = np.array([reward for stage in stages for reward in stage.rewards])
    chosen = _legal_rows(stages, actions)
    return _take(legal, chosen), np.ascontiguousarray(rewards[chosen].T).reshape(-1, 1, len(stages), *sizes)


def _legal_rows(stages: list[Stage], actions: Actions) -> IntArray:
    """For each state and joint action [S·J], return the row among the legal ones that it stands for."""
    chosen, begin = [], 0
    for stage in stages:
        places = [{action: k for k, action in enumerate(own)} for own in stage.legal]
        spread = [[own.get(action, 0) for action in every] for own, every in zip(places, actions, strict=True)]
        shape = [len(own) or 1 for own in stage.legal]
        chosen.append(begin + np.ravel_multi_index(np.ix_(*spread), shape).ravel())
        begin += math.prod(shape)
    return np.concatenate(chosen)


def _take(rows: Successors, chosen: IntArray) -> Successors:
    """Return the chosen rows, in their order and as often as chosen."""
    lengths = np.diff(rows.first)[chosen]
    first = np.concatenate([[0], np.cumsum(lengths)])
    entries = np.arange(first[-1]) + np.repeat(rows.first[chosen] - first[:-1], lengths)
    return Successors(first, rows.state[entries], rows.prob[entries])


def _text(place: Place) -> str:
    """Write a place on one line."""
    if place is None:
        return "over"
    key, _, depth = place
    text = one_line(key)
    return text if depth is None else f"{depth}: {text}"


def distinct(names: Iterable[str]) -> list[str]:
    """Number the names that occurred before.

    >>> distinct(["left", "right", "left"])
    ['left', 'right', 'left (2)']
    """
    count: Counter[str] = Counter()
    result = []
    for name in names:
        count[name] += 1
        result.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return result
