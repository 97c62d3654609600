"""What an entry of the atlas says: a game, who stated what about it, and where."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A figure that was stated elsewhere.

    Attributes
    ----------
    question : str
        What it answers: "optimum", "nash", "ce" or "cce", for the last three with a rule of selection behind it as in
        "nash egalitarian"; "play:I", what agent I plays first in the nash solution; "equilibria", how many extreme
        equilibria there are; "sets", in how many connected sets; "gap", the nash gap of `policy`;
        "values", what it pays.
    stated : number or sequence of numbers
        One number is the total value of all agents, or a count; several are the agents' values, or chances.
    tolerance : float
        How far ours may be from it: 1e-9 where it was stated exactly, otherwise half of the last digit stated.
    note : str
        Where it does not agree, or needs explanation: why.
    policy : sequence of N sequences of numbers
        For "gap" and "values": what each agent plays at every step, in a game of one state.
    """

    question: str
    stated: float | Sequence[float]
    tolerance: float = 1e-9
    note: str = ""
    policy: Sequence[Sequence[float]] = ()


@dataclass(frozen=True)
class Entry:
    """A game of the atlas.

    Attributes
    ----------
    name : str
        `tacit.make("atlas/" + name)` makes the game.
    source : str
        Who stated the figures.
    about : str
        The rules, in short.
    make : function
        Makes the game; its keyword parameters are those of the game.
    figures : sequence of Figure
    read : {"figure", "game", ""}
        What was read of it in the source's code or in another public text: the figure; the game alone, and the figure
        follows from its rules; neither, so that both are derived.
    seconds : float
        Roughly how long all figures take to check; those of less than one are part of the quick tests.
    """

    name: str
    source: str
    about: str
    make: Callable[..., Any]
    figures: Sequence[Figure]
    read: str = "figure"
    seconds: float = 0.1
