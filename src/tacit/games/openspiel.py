"""Games of OpenSpiel as tables: normal forms, repeated games, and games with perfect information.

Source: M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", arXiv:1908.09453. A state is
what OpenSpiel prints for it, as in OpenSpiel's own value iteration.

The search for states goes breadth-first, one move after the other. Chance nodes are followed to the decisions behind
them. What `key` says of two states decides whether they are one; since a text may say too little, a state is looked at
again when it is met on a second way, and must offer the same actions, rewards and next states. That is a check, no
proof.

A state waits for its look as OpenSpiel's own object. How many wait and how long the search takes is bounded by `limit`:
a state counts, with all joint actions, as soon as it is met, and so does every outcome of joint actions and of chance.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, files, memory
from tacit.core.display import times
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import Owned
from tacit.core.registry import require
from tacit.core.types import FloatArray, IntArray
from tacit.games import successors
from tacit.games.matrix import matrix_game
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame

#: Pairs of a state and a joint action, and outcomes followed: 6 to 17 s. coop_box_pushing for 6 moves takes 1,080,705.
LIMIT = 1_200_000


def from_openspiel(
    game: Any, *, horizon: int | None = None, key: Callable[[Any], object] | None = None, limit: int = LIMIT
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
        The largest number of pairs of a state and a joint action, and the largest number of outcomes, of joint actions
        and of chance, that are followed to find them; 1,200,000 if it is not given. Beyond it the game is refused. A
        state is looked at on two ways, and in a game that is followed to its own limit of moves, once for each move
        after which it can be met: there a smaller horizon saves most.

    Returns
    -------
    TabularGame
        With OpenSpiel's names of states and actions. `notes` tell what was decided.

    Notes
    -----
    Rewards are expected differences of `returns()`; chance is part of the transitions; a state named "over" follows
    the end. An agent's actions are those that are legal for it anywhere. Where one is not legal it does what the first
    legal one does there, and nothing where the agent is not to move: values and equilibria are those of the game.

    With the default limit a game that is too large is refused within seconds, 17 at most in the games measured and
    most within one, and below 0.5 GB unless single states are enormous. What does not fit into memory is refused.

    Refused are games with imperfect information, mean-field games, and games that do not tell the probabilities of
    chance. OpenSpiel's type follows the parameters of a game, except for coop_box_pushing, which counts as perfect
    information if it is `fully_observable`; its states are its board, since its text tells the rewards so far.

    Examples
    --------
    >>> import tacit
    >>> tacit.from_openspiel("tic_tac_toe")
    TabularGame('tic_tac_toe()': 2 agents, 4521 states, 9×9 actions, horizon 9, rewards in [-1, 1])
    """
    pyspiel = require("pyspiel", "openspiel")
    limit = check.integer("limit", limit, least=1)
    if horizon is not None:
        horizon = check.integer("horizon", horizon)
    if key is not None and not callable(key):
        raise TacitError(f"key is {brief(key)}; it must be a function of a pyspiel.State")
    try:
        if isinstance(game, str):
            game = _load(pyspiel, game, max(limit, LIMIT))
        _refuse(pyspiel, game)
        actions = game.num_distinct_actions()
        if actions < 1 or min(game.max_game_length(), game.max_chance_outcomes()) < 0:
            # goofspiel(num_cards=-1) writes before the beginning of an array when its first state is made
            raise TacitError(f"OpenSpiel cannot play {brief(str(game))}: {reason('vector::')}")
        if actions > max(limit, LIMIT):  # before OpenSpiel lists them
            raise TacitError(f"{game} has up to {actions:,} actions; give it parameters that make it smaller")
        kind = game.get_type()
        if kind.short_name == "repeated_game":
            return _normal_form(game, game.get_parameters()["num_repetitions"] if horizon is None else horizon, limit)
        if kind.information == kind.Information.ONE_SHOT:
            return _normal_form(game, 1 if horizon is None else horizon, limit)
        return table(game, horizon=horizon, key=key or (_box_board(game) if _boxes(game) else str), limit=limit)
    except TacitError:
        raise
    except MemoryError:
        raise TacitError(f"there is not enough memory for {brief(str(game))}; make it or the horizon smaller") from None
    except (pyspiel.SpielError, ValueError, TypeError) as error:  # the latter two for parameters that make no sense
        raise TacitError(f"OpenSpiel cannot play {brief(str(game))}: {reason(one_line(error, 300))}") from None


def _load(pyspiel: Any, text: str, most: int) -> Any:
    """Load a game of at most so many actions; unknown names are reported here: OpenSpiel prints all that it knows."""
    params = pyspiel.game_parameters_from_string(text)
    name = params.pop("name", "")
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in kinds:
        near = check.suggestion(name, kinds)
        raise TacitError(f"OpenSpiel has no game {brief(name)}{near} pyspiel.registered_names() lists them")
    known = kinds[name].parameter_specification
    for param in params:
        if param not in known:
            takes = ", ".join(sorted(known)) or "none"
            raise TacitError(f"{name} has no parameter {param!r}{check.suggestion(param, known)} it takes: {takes}")
        if isinstance(params[param], str) and os.path.exists(params[param]):
            with files.open_regular(Path(params[param])):  # a pipe would never end
                pass
    try_out(pyspiel, text, most)
    return pyspiel.load_game(text)


def _refuse(pyspiel: Any, game: Any) -> None:
    """Raise for what is no tabular game."""
    if not isinstance(game, pyspiel.Game):
        raise TacitError(f"game is {brief(game)}; it must be a pyspiel.Game, or a string for pyspiel.load_game")
    kind = game.get_type()
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise TacitError(f"{game} is a mean-field game; a game with a fixed number of agents is needed")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise TacitError(f"{game} does not tell the probabilities of chance; a game with explicit chance is needed")
    hidden = kind.information == kind.Information.IMPERFECT_INFORMATION
    if hidden and not (_boxes(game) and game.get_parameters()["fully_observable"]):
        needed = "fully_observable=true" if _boxes(game) else "a game with perfect information"
        raise TacitError(f"{game} has imperfect information: its agents do not see the state; {needed} is needed")


def _boxes(game: Any) -> bool:
    return bool(game.get_type().short_name == "coop_box_pushing")


def _box_board(game: Any) -> Callable[[Any], str]:
    """Return a key: the board below the three lines that count moves and rewards, and which robot is the first."""
    observation = require("open_spiel.python.observation", "openspiel").make_observation(game)
    # [11, 8, 8]; planes 3, 5, 7, 9 show the observer, one a direction. `observation_tensor` takes 10 times as long.
    own = np.arange(11 * 64).reshape(11, 64)[3::2].ravel()

    def board(state: Any) -> str:
        observation.set_from(state, 0)
        row, column = divmod(int(observation.tensor.take(own).argmax()) % 64, 8)
        return f"{str(state).split(chr(10), 3)[3]}first robot at ({row}, {column})"

    return board


def _normal_form(game: Any, horizon: int, limit: int) -> TabularGame:
    """Make the one-state game whose payoffs are what the first joint action returns."""
    state = game.new_initial_state()
    legal = [state.legal_actions(i) for i in range(game.num_players())]
    sizes = [len(own) for own in legal]
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
        action_names=[distinct(state.action_to_string(i, a) for a in own) for i, own in enumerate(legal)],
    )


#: Seconds of computing, seconds in all (it may wait for a file), and bytes.
CPU, WALL, MEMORY = 5, 60, 2_000_000_000

_TRIAL = """
import json, sys
text, folder, cpu, size, limit = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
sys.path.append(folder)
import pyspiel
try:
    game = pyspiel.load_game(text)
    actions = game.num_distinct_actions()
    if actions < 1 or min(game.max_game_length(), game.max_chance_outcomes()) < 0:
        raise ValueError("vector::")  # before it writes where it must not
    if actions <= limit and game.max_chance_outcomes() <= limit:
        state = game.new_initial_state()
        str(state)
        if not state.is_chance_node():
            [state.legal_actions(i) for i in range(game.num_players())]
    print(json.dumps({"actions": actions}))
except MemoryError:
    print(json.dumps({"memory": True}))
except Exception as error:
    print(json.dumps({"error": " ".join(str(error).split())[:300]}))
"""


def reason(said: str) -> str:
    """Return what OpenSpiel said, or what a size means that C++ refuses."""
    sizes = ("vector::", "basic_string::")
    return "one of its parameters is negative or far too large" if any(size in said for size in sizes) else said


def try_out(pyspiel: Any, text: str, limit: int) -> None:
    """Raise if a game cannot be made within bounds, or has more actions than the limit."""
    if not sys.executable or "(" not in text:
        return
    folder = str(Path(pyspiel.__file__).parent)
    size = min(MEMORY, memory.available())
    arguments = [text, folder, *map(str, (CPU, size, limit))]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _TRIAL, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TacitError(f"OpenSpiel does not come to an end making {brief(text)}; make it smaller") from None
    except (OSError, ValueError):  # no process to be had, or no argument of one: then it is made here
        return
    found: dict[str, Any] = {}
    with contextlib.suppress(ValueError, IndexError):
        found = json.loads(done.stdout.splitlines()[-1])
    if found.get("memory"):
        raise TacitError(f"OpenSpiel takes more than {memory.human(size)} to make {brief(text)}; make it smaller")
    if done.returncode < 0:
        raise TacitError(
            f"OpenSpiel takes more than {CPU} s to make {brief(text)}, or fails at it altogether; make it smaller"
        )
    if "error" in found:  # reported here, since OpenSpiel prints it besides
        raise TacitError(f"OpenSpiel cannot play {brief(text)}: {reason(found['error'])}")
    if found.get("actions", 0) > limit:
        raise TacitError(f"{text} has up to {found['actions']:,} actions; give it parameters that make it smaller")


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
        self._bounded = horizon is not None
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
                f"{self.game} has more than {self.limit:,} pairs of a state and a joint action: {self._extent()} with "
                f"{times(sizes)} actions; {self._way_out()} or a larger limit="
            )

    def _check_work(self, outcomes: int) -> None:
        if outcomes > self.limit:
            raise TacitError(
                f"{self.game} has {self._extent()}, and to follow them through {self.horizon:,} moves takes "
                f"{outcomes:,} outcomes or more; {self._way_out()}, or a larger limit= than {self.limit:,}"
            )

    def _way_out(self) -> str:
        """Ask for a horizon; which one would do is not known before it is tried."""
        if self._bounded:
            return f"give a smaller horizon= than {self.horizon:,}"
        return "give horizon=, e.g. horizon=10 (what is still too large is refused)"

    def _check_memory(self) -> None:
        """Refuse where there is no memory for the table so far and for what is met before the next check."""
        table = memory.floats(len(self._ways) * math.prod(self._sizes), 2 * len(self.names) + 4)
        memory.require(table + CHECK * LEFT, f"{self.game}, with {self._extent()} so far,")
        self._check_at = self.followed + CHECK

    def _extent(self) -> str:
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
    """Search the states, distinguished by their keys, or where that does not suffice by the moves before as well."""
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
