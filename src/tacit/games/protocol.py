"""What a game is to the engine: its sizes, and kernels that play it."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard

import numpy as np

from tacit.core import check
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

    @property
    def name(self) -> str | None: ...  # noqa: D102

    @property
    def agents(self) -> int: ...  # noqa: D102

    @property
    def states(self) -> int: ...  # noqa: D102

    @property
    def actions(self) -> tuple[int, ...]: ...  # noqa: D102

    @property
    def horizon(self) -> int: ...  # noqa: D102

    @property
    def reward_range(self) -> tuple[float, float]: ...  # noqa: D102

    @property
    def notes(self) -> tuple[str, ...]: ...  # noqa: D102

    def kernels(self) -> Any:
        """Return the game as the compiled loop plays it.

        A NamedTuple with fields `horizon`, `states` and `actions` [N], for whose type `start`, `place`, `advance` and
        `reward` of `tacit.kernels` are implemented. It is asked for once a run, so it may hold room for a token.
        """


def is_game(value: object) -> TypeGuard[Game]:
    """Return whether something means to be a game: it has kernels, and is not a class."""
    return hasattr(value, "kernels") and not isinstance(value, type)


def check_sizes(game: Game) -> None:
    """Raise unless a game has all that the protocol asks for, with values that make sense."""
    for attribute in ATTRIBUTES:
        if not hasattr(game, attribute):
            raise TacitError(f"the game {brief(game)} has no {attribute}; it must have {', '.join(ATTRIBUTES)}")
    if game.name is not None and not isinstance(game.name, str):
        raise TacitError(f"name is {brief(game.name)}; it must be a string or None")
    agents = check.integer("agents", game.agents)
    check.integer("states", game.states)
    check.integer("horizon", game.horizon)
    if not isinstance(game.actions, tuple) or len(game.actions) != agents:
        raise TacitError(
            f"actions is {brief(game.actions)}; it must be a tuple with a number for each of {agents} agents"
        )
    for i, own in enumerate(game.actions):
        check.integer(f"actions[{i}]", own, least=1)
    check_range(check.interval("reward_range", game.reward_range), game.horizon)
    if not isinstance(game.notes, tuple) or not all(isinstance(note, str) for note in game.notes):
        raise TacitError(f"notes is {brief(game.notes)}; it must be a tuple of strings")


def check_play(game: Game, *, steps: int = 200) -> None:
    """Play a game that is functions with random actions, interpreted; raise where a state or reward is out of range.

    Compiled code trusts a game's kernels: a state that is not there would be read from outside of the tables.
    """
    from tacit.core import generics  # imports the compiler

    rng, kernels = np.random.default_rng(0), game.kernels()
    low, high = game.reward_range
    played = 0
    while played < steps:
        s = _state(game, "start", generics.start(kernels, rng.random()))
        for h in range(game.horizon):
            actions = np.array([int(rng.integers(size)) for size in game.actions])
            token = generics.place(kernels, h, s, actions)
            for i in {0, game.agents - 1, int(rng.integers(game.agents))}:
                r = float(generics.reward(kernels, i, token))
                if not low <= r <= high:
                    raise TacitError(f"reward of agent {i} is {r:g}, outside reward_range ({low:g}, {high:g})")
            if h + 1 < game.horizon:
                s = _state(game, "advance", generics.advance(kernels, token, rng.random()))
            played += 1


def _state(game: Game, kernel: str, s: object) -> int:
    if not isinstance(s, int | np.integer) or not 0 <= s < game.states:
        raise TacitError(f"{kernel} returned {brief(s)}; states are whole numbers from 0 to {game.states - 1}")
    return int(s)


def check_range(reward_range: tuple[float, float], horizon: int) -> None:
    """Refuse rewards whose sums or differences leave the range of floating-point numbers."""
    low, high = reward_range
    if horizon * max(abs(low), abs(high)) > 1e150 or 0 < high - low < 1e-150:
        raise TacitError(
            f"rewards lie in [{low:g}, {high:g}]; over {horizon} steps they must stay within ±1e150, and differ by "
            f"more than 1e-150 or not at all"
        )
