"""What all policies share: files, parts, and how they are shown, with the names of the game that they were made for.

What they ask of games is imported when it is asked for: a device that plays a part needs NumPy and no game.
"""

from __future__ import annotations

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy.typing as npt

from tacit.core import check, files
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import Sealed
from tacit.policies import document, observed
from tacit.policies.part import Part

if TYPE_CHECKING:
    from tacit.core.display import Document
    from tacit.games.protocol import Game


class Policy(Sealed, ABC):
    """What agents play; it remembers its game, for people: the game is not saved or pickled with it.

    A kind of policy says what it is (`said`), which kinds of files it reads, what they hold, and how one agent plays.

    Attributes
    ----------
    agents, states : int
    actions : tuple of N ints
    horizon : int or None
        None where the same is played at every step.
    product : bool
        Whether agents draw independently of each other.

    Examples
    --------
    >>> import tacit
    >>> from tacit.policies import Policy
    >>> isinstance(tacit.solve(tacit.make("chicken"), "ce").policy, Policy)
    True
    """

    said: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    game: Any = None
    product = False
    agents: int
    actions: tuple[int, ...]
    states: int
    horizon: int | None
    observations: Any = None  # of an environment: how each agent numbers what it sees
    observed: tuple[list[Any], ...] | None = None  # the same as a file says it: a list for each agent

    def __getstate__(self) -> dict[str, Any]:
        """Leave the game out."""
        return {key: value for key, value in self.__dict__.items() if key != "game"}

    def check_fits(self, game: Game) -> None:
        """Raise unless the policy has the game's agents, states, actions and horizon."""
        check_game(game)
        if (self.states, self.actions) != (game.states, game.actions) or self.horizon not in (None, game.horizon):
            raise TacitError(f"the policy does not fit the game: {self!r} for {game!r}")

    def part(self, agent: int) -> Part:
        """Return agent i's part, which acts alone, from the common seed where play is correlated."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        part, each = self._part(i), self.observed if self.observations is None else self.observations
        if each is not None:
            part.tell(each[i], self.states)
        return part

    @abstractmethod
    def _part(self, agent: int) -> Part: ...

    def save(self, path: str | os.PathLike[str], *, agent: int | None = None) -> None:
        """Write the policy as `.json` or `.npz`, by the ending; with `agent`, that agent's part alone as `.json`.

        A recorded policy is written as `.npz` only. Policies learned in an environment say what each agent observed.
        """
        document.check_ending(path, ".npz", ".json")
        json = document.is_json(path)
        if agent is not None and not json:
            raise TacitError(f"cannot write the part of agent {brief(agent)} to {path}; a part alone is a .json file")
        if not json:
            files.write_arrays(path, {**self._arrays(), **observed.arrays(self)})
            return
        shown = range(self.agents)
        if agent is not None:
            shown = range(check.integer("agent", agent, least=0, most=self.agents - 1), agent + 1)
        kind, play, content = self._content(path, shown)
        sizes = {"states": self.states, "actions": [self.actions[i] for i in shown]}
        whose = {} if agent is None else {"agent": agent}
        document.write(path, kind, {**whose, **sizes, **content, **observed.of(self, shown)}, play=play)

    @abstractmethod
    def _arrays(self) -> dict[str, Any]:
        """Return what a `.npz` holds, its kind too."""

    @abstractmethod
    def _content(self, path: object, shown: Sequence[int]) -> tuple[str, str, dict[str, Any]]:
        """Return the kind of a document, how it is played, in words, and what it holds of the agents shown."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a policy that `save` wrote."""
        json = document.is_json(path)
        found: Any = document.read(path) if json else files.read_arrays(path)
        if json and "agent" in found:
            agent = brief(found["agent"])
            raise TacitError(f"{path} holds the part of agent {agent} alone; tacit.Part.load reads it")
        if json and found["kind"] not in cls.kinds:
            raise TacitError(f"{path} holds another kind of policy; tacit.policies.load reads every kind")
        try:
            return cls.from_document(found) if json else cls._from_npz(found)
        except (TacitError, ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise TacitError(f"{path} is not {cls.said}: {one_line(error, 300)}") from None

    @classmethod
    def from_document(cls, content: Mapping[str, Any]) -> Self:
        """Make the policy that a JSON document holds."""
        policy = cls._from_content(content)
        policy.observed = observed.read(content, policy.agents, policy.states)
        return policy

    @classmethod
    def _from_npz(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        policy = cls._from_arrays(arrays)
        policy.observed = observed.read_arrays(arrays, policy)
        return policy

    @classmethod
    @abstractmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Self: ...

    @classmethod
    @abstractmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self: ...

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
        try:
            return self.show()._repr_html_()
        except TacitError:  # there is no game to show it with
            import html

            return f"<pre>{html.escape(repr(self))}</pre>"


def check_game(game: object) -> None:
    """Raise unless something means to be a game; what games are is imported when it is asked for."""
    from tacit.games.exact import check_exact
    from tacit.games.protocol import is_game

    if not is_game(game):
        check_exact(game)  # says what would work
