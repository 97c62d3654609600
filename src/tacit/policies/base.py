"""What all policies share: they can be shown and drawn, with the names of the game that they were made for.

What they ask of games is imported when it is asked for: a device that plays a part needs NumPy and no game.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy.typing as npt

from tacit.core.ownership import Sealed
from tacit.policies import observed
from tacit.policies.part import Part

if TYPE_CHECKING:
    from tacit.core.display import Document


_Part = TypeVar("_Part", bound=Part)


class Showable(Sealed):
    """A policy that remembers its game, for people: the game is not saved or pickled with it."""

    game: Any = None
    states: int
    observations: Any = None  # of an environment: how each agent numbers what it sees
    observed: tuple[list[Any], ...] | None = None  # the same as a file says it: a list for each agent

    def __getstate__(self) -> dict[str, Any]:
        """Leave the game out."""
        return {key: value for key, value in self.__dict__.items() if key != "game"}

    def _observing(self, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Take what the agents observed from the arrays of a `.npz`."""
        self.observed = observed.read_arrays(arrays, self)
        return self

    def _share(self, part: _Part, agent: int) -> _Part:
        """Tell agent i's part what the agent observed."""
        each = self.observed if self.observations is None else self.observations
        if each is not None:
            part.tell(each[agent], self.states)
        return part

    def show(self, game: Any = None, *, everything: bool = False, limit: int | None = 40) -> Document:
        """Show what is played at each step and state that is reached.

        Parameters
        ----------
        game : optional
            Whose names to use, and what is reached; policies that `tacit.solve` and `tacit.learn` return know theirs.
        everything : bool
            Show places that are never reached too.
        limit : int or None
            Rows to show at most; None shows all.

        Examples
        --------
        >>> import tacit
        >>> tacit.solve(tacit.make("chicken"), "ce").policy.show()
        correlated policy: all agents follow one joint draw
        <BLANKLINE>
        probability: agent 0 picks the row, agent 1 the column
               yield  dare
        yield    0.5  0.25
        dare    0.25     0
        """
        showing = importlib.import_module("tacit.evaluation.showing")  # of a layer above
        shown: Document = showing.show_policy(self, self.game if game is None else game, everything, limit)
        return shown

    def plot(self, game: Any = None, *, ax: Any = None, size: tuple[float, float] | None = None) -> Any:
        """Draw what is played: a joint distribution, or a heat map by step and state for each agent.

        Parameters
        ----------
        game : optional
            As for `show`.
        ax : axes, or one for each agent; optional
            New ones of pyplot if not given.
        size : (float, float), optional
            Width and height in inches.

        Returns
        -------
        array of axes
        """
        pictures = importlib.import_module("tacit.figures.pictures")  # of a layer above
        return pictures.plot_policy(self, game, ax=ax, size=size)

    def _repr_html_(self) -> str:
        from tacit.core.errors import TacitError

        try:
            return self.show()._repr_html_()
        except TacitError:  # there is no game to show it with
            import html

            return f"<pre>{html.escape(repr(self))}</pre>"


def check_game(game: Any) -> None:
    """Raise unless policies of a game can be evaluated exactly."""
    from tacit.games.exact import check_exact

    check_exact(game)


def is_game(game: Any) -> bool:
    """Return whether something means to be a game."""
    from tacit.games.protocol import is_game as found

    return found(game)


def times(actions: tuple[int, ...]) -> str:
    """Write the agents' numbers of actions, e.g. "2×3"."""
    from tacit.games.tabular import times as written

    return written(actions)
