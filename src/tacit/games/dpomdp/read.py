"""Read a .dpomdp file, in one pass over its text."""

from __future__ import annotations

import os

import numpy as np

from tacit.core import archive, limits
from tacit.core.errors import TacitError, brief
from tacit.core.ownership import Owned
from tacit.core.text import Lines
from tacit.core.types import FloatArray
from tacit.games.dpomdp import preamble, words
from tacit.games.dpomdp.labels import Joint
from tacit.games.dpomdp.preamble import Preamble
from tacit.games.dpomdp.probabilities import Probabilities
from tacit.games.dpomdp.rewards import Rewards
from tacit.games.dpomdp.table import Distributions
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame


def load(path: str | os.PathLike[str], *, horizon: int | None) -> TabularGame:
    """Read a team game; every agent gets the reward of the team, and play is fully observed.

    Parameters
    ----------
    path : str or path
        A file in the format of the MADP toolbox.
    horizon : int
        Steps in an episode, which the file does not say.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "coin.dpomdp")
    >>> _ = path.write_text('''agents: 1
    ... discount: 1
    ... values: reward
    ... states: heads tails
    ... start: heads
    ... actions:
    ... wait flip
    ... observations:
    ... 1
    ... T: wait :
    ... identity
    ... T: flip :
    ... uniform
    ... O: * :
    ... uniform
    ... R: * : heads : * : * : 1
    ... ''')
    >>> load(path, horizon=3)
    TabularGame('coin': 1 agent, 2 states, 2 actions, horizon 3, rewards in [0, 1])
    """
    place = archive.path(path)
    lines = Lines(place, comment="#")
    if horizon is None:
        raise TacitError(f"{place} does not say how many steps an episode has; give the horizon, e.g. horizon=10")
    limits.integer("horizon", horizon)
    with lines.located():
        head = preamble.read(lines)
        transitions, rewards = _body(head, lines)
    try:
        return TabularGame(
            Owned(Successors(transitions.first, transitions.column.astype(np.int32), transitions.value)),
            Owned(_for_every_agent(-rewards if head.cost else rewards, head)),
            head.initial,
            horizon,
            name=place.stem,
            state_names=head.states.names,
            action_names=_action_names(head.actions),
            observation_names=_observation_names(head.observations),
            notes=_notes(head, transitions),
        )
    except TacitError as error:
        raise TacitError(f"{place}: {error}") from None


def _body(head: Preamble, lines: Lines) -> tuple[Distributions, FloatArray]:
    """Read the statements T, O and R to the end of the file."""
    transitions = Probabilities("T", head, head.states)
    observations = Probabilities("O", head, head.observations)
    rewards = Rewards(head)
    statements: dict[str, Probabilities | Rewards] = {"T": transitions, "O": observations, "R": rewards}
    while (line := lines.next()) is not None:
        first, *fields = words.fields(line)
        statement = statements.get(first[0]) if len(first) == 1 else None
        if statement is None:
            raise TacitError(f'{brief(line)} stands where "T:", "O:" or "R:" must')
        statement.read(fields, lines)
    for name in ("T", "R"):
        if statements[name].untouched:
            raise TacitError(f"the file ends without any {name}; it seems to be cut short")
    moves = transitions.finish()
    seen = None if observations.untouched else observations.finish()
    return moves, rewards.finish(moves, seen)


def _for_every_agent(rewards: FloatArray, head: Preamble) -> FloatArray:
    """Give the reward [S·J] to each agent, as [N, 1, S, A_1, …, A_N]."""
    actions = [own.count for own in head.actions.agents]
    table = rewards.reshape(1, 1, head.states.count, *actions)
    return np.repeat(table, len(actions), axis=0)


def _action_names(actions: Joint) -> list[tuple[str, ...]] | None:
    if all(own.names is None for own in actions.agents):
        return None
    return [own.names or tuple(str(a) for a in range(own.count)) for own in actions.agents]


def _observation_names(observations: Joint) -> list[tuple[str, ...]] | None:
    if all(own.names is None for own in observations.agents):
        return None
    return [own.names or () for own in observations.agents]


def _notes(head: Preamble, transitions: Distributions) -> list[str]:
    notes = ["observations are parsed but not used: play is fully observed"]
    if head.discount != 1:
        notes.append(f"the discount {head.discount:g} is not used: returns are sums over the horizon")
    if head.cost:
        notes.append("values are costs: rewards are their negatives")
    if transitions.rescaled:
        notes.append(
            f"{transitions.rescaled} of {len(transitions.first) - 1} rows of T sum to 1 only roughly: rescaled"
        )
    return notes
