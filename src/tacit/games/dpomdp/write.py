"""Write a game as a .dpomdp file, for planners that read this format."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

import numpy as np

from tacit.core import files
from tacit.core.errors import TacitError, brief
from tacit.games.tabular import TabularGame, check_game

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a stationary team game; each agent observes the state, so that planners see the same game.

    Numbers are written so that reading them back gives the same bits. Names that are no identifiers of the format give
    way to indices. A horizon stands in a comment, since the format has no place for it; a discount has one.
    """
    check_game(game)
    if game.transition_steps > 1 or game.rewards.shape[1] > 1:
        raise TacitError(f"{game!r} changes with the step; a .dpomdp file holds games that do not")
    if not all(np.array_equal(own, game.rewards[0]) for own in game.rewards[1:]):
        raise TacitError(f"{game!r} has a reward for each agent; a .dpomdp file holds games where all get the same")
    files.write_pieces(path, _pieces(game))


def _pieces(game: TabularGame) -> Iterator[str]:
    states = _labels(game.state_names, game.states)
    actions = [_labels(own, a) for own, a in zip(game.action_names or [None] * game.agents, game.actions, strict=True)]
    yield f"# {brief(game.name)}, written by tacit; {game.length}\n"
    discount = 1.0 if game.discount is None else game.discount
    yield f"agents: {game.agents}\ndiscount: {discount!r}\nvalues: reward\nstates: {states}\n"
    yield f"start:\n{' '.join(repr(p) for p in game.initial.tolist())}\n"
    yield "\n".join(["actions:", *actions, "observations:", *[states] * game.agents, ""])
    joints = [" ".join(str(a) for a in joint) for joint in np.ndindex(game.actions)]
    yield from _transitions(game, joints)
    for s in range(game.states):
        yield f"O: * : {s} :{f' {s}' * game.agents} : 1.0\n"
    yield from _rewards(game, joints)


def _transitions(game: TabularGame, joints: list[str]) -> Iterator[str]:
    first, state, prob = game.successors
    for row, (begin, end) in enumerate(zip(first[:-1].tolist(), first[1:].tolist(), strict=True)):
        s, joint = divmod(row, len(joints))
        for s_next, p in zip(state[begin:end].tolist(), prob[begin:end].tolist(), strict=True):
            yield f"T: {joints[joint]} : {s} : {s_next} : {p!r}\n"


def _rewards(game: TabularGame, joints: list[str]) -> Iterator[str]:
    yield "R: * : * : * : * : 0.0\n"
    for s, rewards in enumerate(game.rewards[0, 0].reshape(game.states, -1)):
        for joint in np.flatnonzero(rewards):
            yield f"R: {joints[joint]} : {s} : * : * : {float(rewards[joint])!r}\n"


def _labels(names: Sequence[str] | None, count: int) -> str:
    """Write names where each is an identifier, otherwise their number."""
    if names is None or not all(_IDENTIFIER.fullmatch(name) for name in names):
        return str(count)
    return " ".join(names)
