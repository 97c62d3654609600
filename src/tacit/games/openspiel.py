"""Games of OpenSpiel as tables: normal forms, repeated games, and games with perfect information.

Source: M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", arXiv:1908.09453. A state is
what OpenSpiel prints for it, as in OpenSpiel's own value iteration.

The search for states goes breadth-first, move by move, and follows chance nodes to the decisions behind them. States
with the same key are one. A text may say too little, so a state that is reached on a second way is expanded again, and
must have the same actions, rewards and next states. That is a check, no proof.

Work and memory are bounded by counts: states with all their joint actions count when they are first reached, and so
does every outcome of joint actions and of chance. Time is bounded in seconds.
"""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, memory
from tacit.core.display import times
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import Owned
from tacit.core.registry import require
from tacit.core.types import FloatArray, IntArray
from tacit.games.exact import Successors, from_entries, take_rows
from tacit.games.matrix import matrix_game
from tacit.games.tabular import TabularGame

#: Pairs of a state and a joint action, and outcomes followed: 6 to 17 s.
LIMIT = 1_200_000


def from_openspiel(
    game: Any,
    *,
    horizon: int | None = None,
    key: Callable[[Any], object] | None = None,
    limit: int = LIMIT,
    seconds: float = 60,
) -> TabularGame:
    """Read a game from OpenSpiel.

    Parameters
    ----------
    game : str or pyspiel.Game
        A string as for `pyspiel.load_game`, e.g. "goofspiel(num_cards=3)", or the game itself.
    horizon : int, optional
        Moves in an episode; what can be reached later is left out. If it is not given, the game is followed to its
        end. A normal form is played this many times, once if it is not given.
    key : function of a pyspiel.State, optional
        What tells states apart, `str` if it is not given. A state's text may hold more than the state, and then the
        table is larger than it needs to be. Who is to move need not be part of it. That states with one key are the
        same is checked on two ways to each, and where they are not, the number of moves before becomes part of it.
    limit : int
        The largest number of pairs of a state and a joint action, and of outcomes that are followed to find them. A
        state is expanded on two ways, and in a game that is followed to its own limit of moves, once for each move
        after which it can be reached: there a smaller horizon saves most.
    seconds : float
        The longest time that the search may take. OpenSpiel's own work on a game with enormous parameters is not
        bounded.

    Returns
    -------
    TabularGame
        With OpenSpiel's names of states and actions. `notes` tell what was decided.

    Notes
    -----
    Rewards are expected differences of `returns()`; chance is part of the transitions; a state named "over" follows
    the end. An agent's actions are those that are legal for it anywhere. Where one is not legal it does what the first
    legal one does there, and nothing where the agent is not to move: values and equilibria are those of the game.

    Refused are games with imperfect information, mean-field games, and games that do not tell the probabilities of
    chance, by OpenSpiel's own type of the game. So is its coop_box_pushing; `tacit.make("box-pushing")` has tables.

    Examples
    --------
    >>> import tacit
    >>> tacit.from_openspiel("tic_tac_toe")
    TabularGame('tic_tac_toe()': 2 agents, 4521 states, 9×9 actions, horizon 9, rewards in [-1, 1])
    """
    pyspiel = require("pyspiel", "openspiel")
    limit, seconds = check.integer("limit", limit, least=1), check.real("seconds", seconds, least=0)
    horizon = None if horizon is None else check.integer("horizon", horizon)
    key = check.function("key", key)
    try:
        if isinstance(game, str):
            game = _load(pyspiel, game)
        _refuse(pyspiel, game, max(limit, LIMIT))
        kind = game.get_type()
        if kind.short_name == "repeated_game":
            return _normal_form(game, horizon or game.get_parameters()["num_repetitions"], limit)
        if kind.information == kind.Information.ONE_SHOT:
            return _normal_form(game, horizon or 1, limit)
        return _tabulate(game, SearchBounds(horizon, key or str, limit, time.monotonic() + seconds))
    except TacitError:
        raise
    except (pyspiel.SpielError, MemoryError, ValueError, TypeError) as error:  # of parameters that make no sense
        raise TacitError(f"OpenSpiel cannot play {brief(str(game))}: {one_line(error, 300)}") from None


def _load(pyspiel: Any, text: str) -> Any:
    """Load a game; unknown names are reported here, since OpenSpiel prints all that it knows."""
    name = pyspiel.game_parameters_from_string(text).get("name", "")
    names = pyspiel.registered_names()
    if name not in names:
        near = check.suggestion(name, names)
        raise TacitError(f"OpenSpiel has no game {brief(name)}{near} pyspiel.registered_names() lists them")
    return pyspiel.load_game(text)


def _refuse(pyspiel: Any, game: Any, most: int) -> None:
    """Raise for what is no tabular game, or is too large to be listed."""
    if not isinstance(game, pyspiel.Game):
        raise TacitError(f"game must be a pyspiel.Game, or a string for pyspiel.load_game; got {brief(game)}")
    kind = game.get_type()
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise TacitError(f"{game} is a mean-field game; a game with a fixed number of agents is needed")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise TacitError(f"{game} does not tell the probabilities of chance; a game with explicit chance is needed")
    if kind.information == kind.Information.IMPERFECT_INFORMATION:
        needed = "a game with perfect information is needed"
        raise TacitError(f"{game} has imperfect information: its agents do not see the state; {needed}")
    sizes = {
        "actions": game.num_distinct_actions(),
        "moves": game.max_game_length(),
        "outcomes of chance": game.max_chance_outcomes(),
    }
    if sizes["actions"] < 1 or min(sizes.values()) < 0:
        # goofspiel(num_cards=-1) writes before the beginning of an array when its first state is made
        raise TacitError(f"OpenSpiel cannot play {brief(str(game))}: one of its parameters is out of range")
    for what, size in sizes.items():
        if size > most:
            raise TacitError(f"{game} has up to {size:,} {what}; give it parameters that make it smaller")


def _normal_form(game: Any, horizon: int, limit: int) -> TabularGame:
    """Make the one-state game whose payoffs are what the first joint action returns."""
    state = game.new_initial_state()
    legal = [state.legal_actions(i) for i in range(game.num_players())]
    sizes = [len(actions) for actions in legal]
    if math.prod(sizes) > limit:
        raise TacitError(f"{game} has {math.prod(sizes):,} joint actions; give a larger limit than {limit:,}")
    payoffs = memory.zeros((len(sizes), math.prod(sizes)), f"the payoffs of {game}")
    for k, joint in enumerate(itertools.product(*legal)):
        after = state.clone()
        after.apply_actions(list(joint))
        payoffs[:, k] = after.returns()
    return matrix_game(
        payoffs.reshape(-1, *sizes),
        horizon=horizon,
        name=str(game),
        action_names=[distinct(state.action_to_string(i, a) for a in actions) for i, actions in enumerate(legal)],
    )


#: For each agent, OpenSpiel's numbers of actions.
Actions = tuple[tuple[int, ...], ...]

#: What a state is known by: its key, who is to move, and the moves before where they matter. None: the game is over.
Position = tuple[Any, ...] | None


class SearchBounds(NamedTuple):
    """How far a search goes, and what tells states apart."""

    horizon: int | None
    key: Callable[[Any], object]
    limit: int
    deadline: float  # as time.monotonic() tells it


class LegalMoves(NamedTuple):
    """What the legal joint actions of one state do, the last agent's fastest."""

    legal: Actions  # for each agent its legal actions; none where it is not to move
    rewards: list[list[float]]  # [joint][N]  expected
    next_probs: list[dict[Position, float]]  # [joint]  probability of each next position

    def agrees(self, other: LegalMoves, *, last: bool) -> bool:
        """Whether the other state is the same. After the last move it does not matter where it leads."""
        if self.legal != other.legal or not np.allclose(self.rewards, other.rewards, rtol=0, atol=1e-9):
            return False
        return last or all(_close(mine, its) for mine, its in zip(self.next_probs, other.next_probs, strict=True))


class Ambiguous(Exception):
    """Two states have the same key and are different; `outcomes` were followed to find that."""

    def __init__(self, key: str, outcomes: int) -> None:
        super().__init__(key)
        self.outcomes = outcomes


class PositionSearch:
    """All positions that can be reached within the horizon.

    Attributes
    ----------
    initial : dict
        Probability of each first position.
    moves : dict
        What can be done at each position, in the order in which they were reached. The last is None where the game can
        end: it leads to itself and pays nothing.
    names : list of N dicts
        For each agent, the actions that are legal for it somewhere, with their names.
    depth : int
        Moves after which nothing was left to expand, at most the horizon.
    outcomes : int
        Outcomes followed, those of an earlier search included.
    """

    def __init__(self, game: Any, bounds: SearchBounds, *, timed: bool, outcomes: int = 0) -> None:
        longest = game.max_game_length()  # in joint moves, or in moves of one agent at a time; chance does not count
        self.game, self.bounds, self.timed, self.outcomes = game, bounds, timed, outcomes
        self.horizon: int = longest if bounds.horizon is None else bounds.horizon
        #: Who plays as long as the game lasts meets its own limit of moves, which is seldom part of a state's text and
        #: may pay: then every state is expanded anew at each depth.
        self.every_depth: bool = self.horizon >= longest
        self.initial: dict[Position, float] = {}
        self.moves: dict[Position, LegalMoves] = {}
        self.names: list[dict[int, str]] = [{} for _ in range(game.num_players())]
        self.depth = 0
        self._sizes: tuple[int, ...] = (1,)  # numbers of actions, as far as they are known
        self._layer: dict[Position, list[Any]] = {}  # states to be expanded next, by their position
        self._ways: dict[Position, list[int]] = {}  # the first two ways to each: hashes of the state before, and text
        self._ends = False  # whether the game can end
        self._run()
        if self.moves and self._ends:
            self.moves[None] = LegalMoves(((),) * len(self.names), [[0.0] * len(self.names)], [{None: 1.0}])

    def _run(self) -> None:
        """Expand layer by layer."""
        for prob, state in self._decisions(self.game.new_initial_state()):
            _add(self.initial, self._arrive(state, None), prob)
        while self._layer and self.depth < self.horizon:
            self.depth += 1
            layer, self._layer = self._layer, {}
            for position in list(layer):
                for state in layer.pop(position):  # expanded states are let go
                    self._expand(position, state)

    def _expand(self, position: Position, state: Any) -> None:
        """Try every legal joint action in a state. Note what happens, or compare it with what is known."""
        here = LegalMoves(self._legal(state), [], [])
        before = state.returns()
        for joint in itertools.product(*[actions or [-1] for actions in here.legal]):  # -1: OpenSpiel's "no action"
            rewards = [0.0] * len(before)
            next_probs: dict[Position, float] = {}
            for prob, after in self._decisions(_child(state, joint)):
                gains = zip(rewards, before, after.returns(), strict=True)
                rewards = [reward + prob * (then - now) for reward, now, then in gains]
                _add(next_probs, self._arrive(after, position), prob)
            here.rewards.append(rewards)
            here.next_probs.append(next_probs)
        first_seen = self.moves.setdefault(position, here)
        if first_seen is not here and not first_seen.agrees(here, last=self.depth == self.horizon):
            raise Ambiguous(brief(self.bounds.key(state)), self.outcomes)

    def _arrive(self, state: Any, before: Position) -> Position:
        """Return the position of a state. It is noted down where it is to be expanded."""
        self.outcomes += 1
        self._check()
        if self.depth == self.horizon or state.is_terminal():
            self._ends = True
            return None
        key = self.bounds.key(state)
        position = (key, state.current_player(), self.depth if self.timed else None)
        ways, another = self._ways.setdefault(position, []), False
        if len(ways) < 2:
            way = hash((before, key if self.bounds.key is str else str(state)))
            another = way not in ways
            if another:
                ways.append(way)
        if another or (self.every_depth and position not in self._layer):
            self._layer.setdefault(position, []).append(state)
        return position

    def _decisions(self, state: Any) -> Iterator[tuple[float, Any]]:
        """Follow chance nodes to decisions and ends, with their probabilities."""
        if not state.is_chance_node():
            yield 1.0, state
            return
        outcomes = state.chance_outcomes()
        self._check(len(outcomes))
        for outcome, prob in outcomes:
            for rest, after in self._decisions(state.child(outcome)):
                yield prob * rest, after

    def _legal(self, state: Any) -> Actions:
        """Return each agent's legal actions, and note down the names of new ones."""
        together, mover = state.is_simultaneous_node(), state.current_player()
        agents = range(len(self.names))
        legal = tuple(tuple(state.legal_actions(i)) if together or i == mover else () for i in agents)
        self._check(math.prod(len(actions) or 1 for actions in legal))  # before an enormous number of them is named
        for i, names in enumerate(self.names):
            for action in legal[i]:
                if action not in names:
                    names[action] = state.action_to_string(i, action)
        self._sizes = tuple(len(names) or 1 for names in self.names)
        return legal

    def _check(self, ahead: int = 0) -> None:
        """Refuse too many outcomes, seconds, or pairs of a state and a joint action."""
        limit, deadline = self.bounds.limit, self.bounds.deadline
        rows = len(self._ways) * math.prod(self._sizes)
        if max(self.outcomes + ahead, rows) <= limit and time.monotonic() <= deadline:
            return
        raise TacitError(
            f"{self.game} has {len(self._ways):,} states up to move {self.depth}, with {times(self._sizes)} actions, "
            f"and more outcomes or pairs of a state and a joint action than limit={limit:,} or seconds= allow; give a "
            f"smaller horizon= than {self.horizon:,}, or a larger limit= or seconds="
        )


def _child(state: Any, joint: tuple[int, ...]) -> Any:
    if not state.is_simultaneous_node():
        return state.child(joint[state.current_player()])
    child = state.clone()
    child.apply_actions(list(joint))
    return child


def _add(probs: dict[Position, float], position: Position, prob: float) -> None:
    if prob > 0:
        probs[position] = probs.get(position, 0.0) + prob


def _close(mine: dict[Position, float], its: dict[Position, float]) -> bool:
    return mine.keys() == its.keys() and all(abs(prob - its[position]) <= 1e-9 for position, prob in mine.items())


def _tabulate(game: Any, bounds: SearchBounds) -> TabularGame:
    """Find the states of a game with perfect information, and make its table."""
    search, notes = _search(game, bounds)
    if not search.moves:
        raise TacitError(f"{game} has no state in which an agent moves; check its parameters")
    horizon = bounds.horizon
    if horizon is None:
        horizon = search.depth
        notes.append(f"the horizon, {horizon}, is the longest play")
    actions = tuple(tuple(sorted(names)) or (-1,) for names in search.names)  # -1 stands for an agent that never moves
    if any(position and here.legal != actions for position, here in search.moves.items()):
        notes.append("an action that is not legal does what the agent's first legal one does, and nothing out of turn")
    index = {position: s for s, position in enumerate(search.moves)}
    transitions, rewards = _arrays(list(search.moves.values()), index, actions)
    initial = np.zeros(len(index))
    initial[[index[position] for position in search.initial]] = list(search.initial.values())
    return TabularGame(
        Owned(transitions),
        Owned(rewards),
        initial,
        horizon,
        name=str(game),
        state_names=distinct(_text(position) for position in search.moves),
        action_names=[
            distinct(names.get(a, "none") for a in numbers)
            for numbers, names in zip(actions, search.names, strict=True)
        ],
        notes=notes,
    )


def _search(game: Any, bounds: SearchBounds) -> tuple[PositionSearch, list[str]]:
    """Search the states by their keys. Where that does not suffice, the moves before tell them apart as well."""
    try:
        return PositionSearch(game, bounds, timed=False), []
    except Ambiguous as error:
        outcomes = error.outcomes
    note = "states are told apart by the number of moves before as well, since it changes what follows"
    try:
        return PositionSearch(game, bounds, timed=True, outcomes=outcomes), [note]
    except Ambiguous as error:
        raise TacitError(
            f"{game} has different states with the same key, {error}; pass key=, a function that tells them apart"
        ) from None


def _arrays(moves: list[LegalMoves], index: dict[Position, int], actions: Actions) -> tuple[Successors, FloatArray]:
    """Return the successors and the rewards [N, 1, S, A_1, …, A_N] of states whose legal joint actions are known."""
    sizes = [len(numbers) for numbers in actions]
    rows = len(moves) * math.prod(sizes)
    memory.require(memory.floats(rows, 2 * len(sizes) + 4), f"a table of {rows:,} rows")
    next_probs = [probs for here in moves for probs in here.next_probs]
    legal = from_entries(
        np.repeat(np.arange(len(next_probs)), [len(probs) for probs in next_probs]),
        [index[position] for probs in next_probs for position in probs],
        [prob for probs in next_probs for prob in probs.values()],
        len(next_probs),
    )
    rewards = np.array([reward for here in moves for reward in here.rewards])
    chosen = _legal_rows(moves, actions)
    return take_rows(legal, chosen), np.ascontiguousarray(rewards[chosen].T).reshape(-1, 1, len(moves), *sizes)


def _legal_rows(moves: list[LegalMoves], actions: Actions) -> IntArray:
    """Return the legal row that each state and joint action stands for, [S·J]."""
    chosen, begin = [], 0
    for here in moves:
        ranks = [{action: k for k, action in enumerate(numbers)} for numbers in here.legal]
        legal = [[rank.get(action, 0) for action in every] for rank, every in zip(ranks, actions, strict=True)]
        shape = [len(numbers) or 1 for numbers in here.legal]
        chosen.append(begin + np.ravel_multi_index(np.ix_(*legal), shape).ravel())
        begin += math.prod(shape)
    return np.concatenate(chosen)


def _text(position: Position) -> str:
    """Write a position on one line."""
    if position is None:
        return "over"
    key, _, depth = position
    text = one_line(key)
    return text if depth is None else f"{depth}: {text}"


def distinct(names: Iterable[str]) -> list[str]:
    """Number the names that occurred before.

    >>> distinct(["left", "right", "left"])
    ['left', 'right', 'left (2)']
    """
    times_used: Counter[str] = Counter()
    numbered = []
    for name in names:
        times_used[name] += 1
        numbered.append(name if times_used[name] == 1 else f"{name} ({times_used[name]})")
    return numbered
