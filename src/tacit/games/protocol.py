"""What a game is to the engine: its sizes, and kernels that play it."""

from __future__ import annotations

from typing import Any, Protocol


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
        `reward` of `tacit.kernels` are implemented.
        """
