"""The states of an OpenSpiel game that play can reach, and what each legal joint action does there.

The search goes breadth-first, one move after the other. Chance nodes are followed to the decisions behind them. What
`key` says of two states decides whether they are one; since a text may say too little, a state is looked at again when
it is met on a second way, and must offer the same actions, rewards and next states. That is a check, no proof.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.games.tabular import times

#: Outcomes (of joint actions and of chance) that may be followed for each row that `limit` allows.
OUTCOMES = 10

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
    """Two states have the same key and are different."""


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
    """

    def __init__(
        self, game: Any, *, horizon: int | None, key: Callable[[Any], object], limit: int, timed: bool
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
        self._followed = 0  # outcomes
        self._over = False  # whether an end was met
        self._layer: list[tuple[Place, Any]] = []  # what is to be looked at next, and by which place
        self._layer_places: set[Place] = set()
        self._ways: dict[Place, list[tuple[Place, str]]] = {}  # the first two ways to each: from where, with which text
        self._run()
        if self.stages and self._over:
            self.stages[None] = Stage(((),) * len(self.names), [[0.0] * len(self.names)], [{None: 1.0}])

    def _run(self) -> None:
        for chance, state in _decisions(self.game.new_initial_state()):
            _add(self.initial, self._arrive(state, None), chance)
        while self._layer and self.depth < self.horizon:
            self.depth += 1
            layer, self._layer, self._layer_places = self._layer, [], set()
            states, followed = len(self.stages), self._followed
            for place, state in layer:
                self._look(place, state)
                self._check_rows()
            if self.clock and len(self.stages) == states:  # nothing new: from now on every move costs the same
                self._check_work((self._followed - followed) * (self.horizon - self.depth))

    def _look(self, place: Place, state: Any) -> None:
        """Try every legal joint action in a state; keep what happens, or compare it with what is known."""
        stage = Stage(self._legal(state), [], [])
        before = state.returns()
        for joint in itertools.product(*[own or [-1] for own in stage.legal]):  # -1: OpenSpiel's "no action"
            rewards = [0.0] * len(before)
            ahead: dict[Place, float] = {}
            for chance, after in _decisions(_child(state, joint)):
                gains = zip(rewards, before, after.returns(), strict=True)
                rewards = [reward + chance * (then - now) for reward, now, then in gains]
                _add(ahead, self._arrive(after, place), chance)
            stage.rewards.append(rewards)
            stage.ahead.append(ahead)
        known = self.stages.setdefault(place, stage)
        if known is not stage and not known.agrees(stage, last=self.depth == self.horizon):
            raise Ambiguous(brief(self.key(state)))

    def _arrive(self, state: Any, before: Place) -> Place:
        """Return the place of a state, and note it down for a look where one is needed."""
        self._followed += 1
        self._check_work(self._followed)
        if self.depth == self.horizon or state.is_terminal():
            self._over = True
            return None
        place = (self.key(state), state.current_player(), self.depth if self.timed else None)
        way, ways = (before, str(state)), self._ways.setdefault(place, [])
        another = len(ways) < 2 and way not in ways
        if another:
            ways.append(way)
        if another or (self.clock and place not in self._layer_places):
            self._layer.append((place, state))
            self._layer_places.add(place)
        return place

    def _legal(self, state: Any) -> Actions:
        """Return each agent's legal actions, and note down the names of new ones."""
        together, mover = state.is_simultaneous_node(), state.current_player()
        agents = range(len(self.names))
        legal = tuple(tuple(state.legal_actions(i)) if together or i == mover else () for i in agents)
        for i, names in enumerate(self.names):
            for action in legal[i]:
                if action not in names:
                    names[action] = state.action_to_string(i, action)
        return legal

    def _check_rows(self) -> None:
        actions = tuple(len(own) or 1 for own in self.names)
        if len(self.stages) * math.prod(actions) > self.limit:
            raise TacitError(
                f"{self.game} has more than {self.limit:,} pairs of a state and a joint action: {len(self.stages):,} "
                f"states with {times(actions)} actions up to move {self.depth}; "
                f"give a smaller horizon or a larger limit"
            )

    def _check_work(self, outcomes: int) -> None:
        if outcomes > OUTCOMES * self.limit:
            raise TacitError(
                f"{self.game} has {len(self.stages):,} states up to move {self.depth}, and to follow them through "
                f"{self.horizon:,} moves takes {outcomes:,} outcomes or more; give a smaller horizon, or a larger "
                f"limit than {self.limit:,}"
            )


def _decisions(state: Any) -> Iterator[tuple[float, Any]]:
    """Follow chance nodes to the states in which an agent moves or the game is over, with their probabilities."""
    if state.is_terminal() or not state.is_chance_node():
        yield 1.0, state
        return
    for outcome, chance in state.chance_outcomes():
        for rest, after in _decisions(state.child(outcome)):
            yield chance * rest, after


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
