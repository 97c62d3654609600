"""What a game is to the engine: its sizes, and kernels that play it."""

from __future__ import annotations

import math
from typing import Any, Protocol, TypeGuard

import numpy as np

from tacit.core import check
from tacit.core.display import count, times
from tacit.core.errors import TacitError, brief

#: What a game must have besides `kernels`.
ATTRIBUTES = ("name", "agents", "states", "actions", "horizon", "reward_range", "notes")


class Game(Protocol):
    """A finite-horizon general-sum Markov game of N agents. [Mao2022, Sec. 2]

    `TabularGame` adds the tables that exact evaluation needs; an `EnvironmentGame` is known only by playing it.

    Attributes
    ----------
    name : str or None
        For people.
    agents, states, horizon : int
        N, S and H.
    actions : tuple of N ints
        The number of actions of each agent.
    reward_range : (float, float)
        Rewards of one step lie within it, in the game's own units.
    notes : tuple of str
        What was decided or left out when the game was made; reports repeat them.

    Examples
    --------
    >>> import tacit
    >>> isinstance(tacit.make("chicken").kernels(), tuple)
    True
    """

    name: str | None
    agents: int
    states: int
    actions: tuple[int, ...]
    horizon: int
    reward_range: tuple[float, float]
    notes: tuple[str, ...]

    def kernels(self) -> Any:
        """Return the game as the compiled loop plays it.

        A NamedTuple with fields `horizon`, `states` and `actions` [N], for whose type `start`, `place`, `advance` and
        `reward` of `tacit.kernels` are implemented. It is asked for once a run, so it may hold scratch for a token.
        """


class NamedGame:
    """What people see of a game. Names of the game, its states and actions, notes, and one line with its sizes."""

    agents: int
    states: int
    actions: tuple[int, ...]
    horizon: int
    discount: float | None = None
    edge: int = 0  # of tables that were searched up to a horizon: states whose next states were not asked for
    continues: float = 1.0  # of a game with a random horizon: the probability that it goes on after a step
    endless: Any = None  # of a game with a random horizon: the discounted game
    reward_range: tuple[float, float]
    name: str | None
    state_names: tuple[str, ...] | None
    action_names: tuple[tuple[str, ...], ...] | None
    notes: tuple[str, ...]

    def _describe(self, name: object, state_names: object, action_names: object, notes: object) -> None:
        """Check names and notes, and keep them."""
        self.name = None if name is None else check.text("name", name)
        self.state_names = None if state_names is None else check.names("state_names", state_names, self.states)
        self.action_names = None
        if action_names is not None:
            of = f"lists of names, a list for each of {self.agents} agents"
            each = check.list_of("action_names", action_names, of, count=self.agents)
            pairs = enumerate(zip(each, self.actions, strict=True))
            self.action_names = tuple(check.names(f"action_names[{i}]", names, size) for i, (names, size) in pairs)
        self.notes = tuple(check.list_of("notes", notes, "sentences"))

    @property
    def effective_horizon(self) -> float:
        """Steps that count: the horizon H, or 1/(1 − γ) in a discounted game."""
        return self.horizon if self.discount is None else 1.0 / (1.0 - self.discount)

    @property
    def length(self) -> str:
        """How long play is, in words."""
        return f"horizon {self.horizon}" if self.discount is None else f"discount {self.discount:g}"

    @property
    def _actions_in_words(self) -> str:
        """How many actions agents have, in words."""
        return f"{times(self.actions)} actions"

    def __repr__(self) -> str:
        title = f"{self.name!r}: " if self.name else ""
        low, high = self.reward_range
        sizes = f"{count(self.agents, 'agent')}, {count(self.states, 'state')}, {self._actions_in_words}, {self.length}"
        return f"{type(self).__name__}({title}{sizes}, rewards in [{low:g}, {high:g}])"


def count_steps(game: Game) -> int:
    """Return how many steps an episode has. Of a discounted game, how many it has on average."""
    return math.ceil(round(getattr(game, "effective_horizon", game.horizon), 9))


def is_game(value: object) -> TypeGuard[Game]:
    """Return whether something means to be a game. It has kernels, and is not a class."""
    return hasattr(value, "kernels") and not isinstance(value, type)


def check_sizes(game: Game) -> None:
    """Raise unless a game has all that the protocol asks for."""
    for attribute in ATTRIBUTES:
        if not hasattr(game, attribute):
            raise TacitError(f"a game must have {', '.join(ATTRIBUTES)}; {brief(game)} has no {attribute}")
    if game.name is not None:
        check.text("name", game.name)
    agents = check.integer("agents", game.agents)
    check.integer("states", game.states)
    check.integer("horizon", game.horizon)
    if not isinstance(game.actions, tuple) or len(game.actions) != agents:
        raise TacitError(f"actions must be a tuple of {agents} numbers, one for each agent; got {brief(game.actions)}")
    for i, size in enumerate(game.actions):
        check.integer(f"actions[{i}]", size, least=1)
    check_range(check.interval("reward_range", game.reward_range), game.horizon)
    if not isinstance(game.notes, tuple) or not all(isinstance(note, str) for note in game.notes):
        raise TacitError(f"notes must be a tuple of strings; got {brief(game.notes)}")


def check_play(game: Game, *, steps: int = 200) -> None:
    """Play a game that is functions with random actions, interpreted. Raise where a state or reward is out of range.

    Compiled code trusts a game's kernels: a state that is not there would be read from outside of the tables.
    """
    from tacit.core import generics  # imports the compiler

    rng, kernels = np.random.default_rng(0), game.kernels()
    low, high = game.reward_range
    played = 0
    while played < steps:
        s = _state(game, "start", generics.initial_state(kernels, rng.random()))
        for h in range(game.horizon):
            actions = np.array([int(rng.integers(size)) for size in game.actions])
            token = generics.joint_action(kernels, h, s, actions)
            for i in {0, game.agents - 1, int(rng.integers(game.agents))}:
                r = float(generics.reward(kernels, i, token))
                if not low <= r <= high:
                    raise TacitError(f"reward of agent {i} is {r:g}, outside reward_range ({low:g}, {high:g})")
            if h + 1 < game.horizon:
                s = _state(game, "advance", generics.next_state(kernels, token, rng.random()))
            played += 1


def _state(game: Game, kernel: str, s: object) -> int:
    if not isinstance(s, int | np.integer) or not 0 <= s < game.states:
        raise TacitError(f"{kernel} must return a whole number from 0 to {game.states - 1}; got {brief(s)}")
    return int(s)


def check_actions(actions: object, agents: int) -> tuple[int, ...]:
    """Return each agent's number of actions, from one number for all or one for each.

    >>> check_actions(2, 3), check_actions([2, 3], 2)
    ((2, 2, 2), (2, 3))
    """
    if isinstance(actions, int | np.integer):
        return (check.integer("actions", actions),) * agents
    each = check.list_of("actions", actions, "numbers, one for each agent", count=agents)
    return tuple(check.integer(f"actions[{i}]", a, least=1, most=check.ACTIONS) for i, a in enumerate(each))


def check_range(reward_range: tuple[float, float], horizon: float) -> None:
    """Refuse rewards whose sums or differences leave the range of floating-point numbers."""
    low, high = reward_range
    if horizon * max(abs(low), abs(high)) > 1e150 or 0 < high - low < 1e-150:
        sums = f"within ±1e150 over {horizon:.15g} steps, and differ by more than 1e-150 or not at all"
        raise TacitError(f"rewards must stay {sums}; got [{low:g}, {high:g}]")
