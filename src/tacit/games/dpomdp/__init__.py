"""Team games in the .dpomdp format of the MADP toolbox, read and written.

A file gives agents, discount, values, states, start, actions and observations in this order, once each, and then any
number of T (transitions), O (observations) and R (rewards). Read beyond the toolbox's own grammar are: names in quotes,
names of agents in place of their number, `start` after the observations or with its vector or `uniform` on the same
line, `R: joint action : state : reward`, empty lines, tabs and CRLF.

Rows that sum to 1 within 1e-4 are taken, since published files round to few digits, and are rescaled if they miss it
by more than 1e-9. Errors are reported as `file:line: sentence`; nothing is taken for something else.

Memory: at most 5 bytes for each byte of the file and 64 for each character of its longest line; 96 + 16·N for each pair
of a state and a joint action; 96 for each probability that is written out, by wildcards and `uniform` too, zeros of
whole rows excepted; 1024 for each reward that depends on the next state or the observation; and 16 MB. Sizes are
compared with what is free before anything large is allocated.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp import words
from tacit.games.dpomdp.tables import SUM_TOLERANCE, Distributions, Rewards, Table
from tacit.games.dpomdp.words import Joint, Labels, Selection
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame, check_axes, check_game
from tacit.games.text import Lines, locate_errors

#: Bytes for each state and joint action: two tables with two numbers a row, their sums, the reward, and each agent's.
_PER_ROW = 96
_PER_ROW_AND_AGENT = 16


class Preamble(NamedTuple):
    """What a file says before its first T, O or R."""

    discount: float
    cost: bool  # values are costs, to be negated
    states: Labels
    actions: Joint
    observations: Joint
    initial: FloatArray  # [S]

    @property
    def rows(self) -> int:
        """Number of pairs of a state and a joint action."""
        return self.states.count * self.actions.count

    def row(self, state: Selection, joint: Selection) -> Selection:
        """Return the rows s·J + joint of every pair of these states and joint actions."""
        if words.is_one(state, joint):
            return state * self.actions.count + joint
        several: IntArray = np.add.outer(np.multiply(state, self.actions.count), joint).ravel()
        return several


def _read_preamble(lines: Lines) -> Preamble:
    """Read the preamble; `start` may also stand after the observations."""
    agents = _agents(_entry(lines, "agents"))
    discount = words.probability(_one(_entry(lines, "discount"), "discount"), "discount")
    values = check.choice("values", _one(_entry(lines, "values"), "values"), ["reward", "cost"])
    states = Labels("states", _entry(lines, "states"))
    initial = None
    line = lines.expect('"start:" or "actions:"')
    if _key(line).startswith("start"):
        initial = _start(line, lines, states)
        line = lines.expect('"actions:"')
    actions = _joint(line, lines, "actions", agents)
    observations = _joint(lines.expect('"observations:"'), lines, "observations", agents)
    if initial is None:
        initial = _start(lines.expect('"start:"'), lines, states)
    preamble = Preamble(discount, values == "cost", states, actions, observations, initial)
    memory.require(
        (_PER_ROW + _PER_ROW_AND_AGENT * agents) * preamble.rows,
        f"a game with {states.count} states and {actions.count} joint actions",
    )
    return preamble


def _key(line: str) -> str:
    return " ".join(words.fields(line)[0])


def _entry(lines: Lines, key: str) -> list[str]:
    """Return the words after `key:` on the next line."""
    return _after(lines.expect(f'"{key}:"'), key)


def _after(line: str, key: str) -> list[str]:
    parts = words.fields(line)
    if len(parts) != 2 or parts[0] != key.split():
        raise TacitError(
            f'{brief(line)} stands where "{key}:" must; a file begins with agents, discount, values, states, start, '
            f"actions, observations, in this order"
        )
    return parts[1]


def _one(found: list[str], key: str) -> str:
    if len(found) != 1:
        raise TacitError(f'"{key}:" has {brief(" ".join(found))}; it must have one word')
    return found[0]


def _agents(found: list[str]) -> int:
    count = Labels("agents", found).count
    check_axes(count)
    return count


def _joint(line: str, lines: Lines, key: str, agents: int) -> Joint:
    """Read `key:` and then a line for each agent: how many, or their names."""
    if _after(line, key):
        raise TacitError(f'{brief(line)}: after "{key}:" comes a line for each agent')
    return Joint(f"joint {key}", [_own(lines, key, i) for i in range(agents)])


def _own(lines: Lines, key: str, i: int) -> Labels:
    what = f"{key} of agent {i}"
    line = lines.expect(f"the {what}")
    parts = words.fields(line)
    if len(parts) != 1:
        raise TacitError(f"{brief(line)} stands where the {what} must: their number or their names")
    return Labels(what, parts[0])


def _start(line: str, lines: Lines, states: Labels) -> FloatArray:
    """Read the distribution of the first state in one of its forms."""
    memory.require(memory.floats(3, states.count), f"a distribution over {states.count} states")
    key = _key(line)
    if key in ("start include", "start exclude"):
        return _subset(_after(line, key), states, exclude=key == "start exclude")
    given = _after(line, "start")
    if not given:
        given = lines.expect("the distribution of the first state").split()
    elif len(given) == 1 and given != ["uniform"]:
        return _subset(given, states, exclude=False)
    return np.full(states.count, 1 / states.count) if given == ["uniform"] else _vector(given, states.count)


def _subset(names: list[str], states: Labels, *, exclude: bool) -> FloatArray:
    chosen = [states.index(name) for name in names]
    if len(set(chosen)) != len(chosen):
        raise TacitError(f"{brief(' '.join(names))} has a state twice")
    inside = np.full(states.count, exclude)
    inside[chosen] = not exclude
    if not inside.any():
        raise TacitError("no state is left to start from")
    probs: FloatArray = inside / inside.sum()
    return probs


def _vector(given: list[str], count: int) -> FloatArray:
    probs = words.probabilities(" ".join(given), count, "the start")
    total = probs.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise TacitError(f"the start sums to {total:.12g}; it must sum to 1 (±{SUM_TOLERANCE:g})")
    return probs if abs(total - 1) <= check.SUM_TOLERANCE else probs / total


def load(path: str | os.PathLike[str], *, horizon: int | None) -> TabularGame:
    """Read a team game; every agent gets the reward of the team, and play is fully observed.

    Parameters
    ----------
    path : str or path
        A file in the format of the MADP toolbox.
    horizon : int, optional
        Steps in an episode, which the file does not say. If it is not given, the file's discount counts.

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
    place = files.path(path)
    lines = Lines(place, comment="#")
    if horizon is not None:
        check.integer("horizon", horizon)
    with locate_errors(place, lines):
        head = _read_preamble(lines)
    if horizon is None and head.discount == 1:
        raise TacitError(
            f"{place} does not say how many steps an episode has, and its discount is 1; give the horizon, e.g. "
            f"horizon=10"
        )
    with locate_errors(place, lines):
        transitions, rewards = _body(head, lines)
    named = head.observations.agents
    with locate_errors(place):
        return TabularGame(
            Owned(Successors(transitions.first, transitions.column.astype(np.int32), transitions.value)),
            Owned(_for_every_agent(-rewards if head.cost else rewards, head)),
            head.initial,
            horizon,
            discount=head.discount if horizon is None else None,
            name=place.stem,
            state_names=head.states.names,
            action_names=_action_names(head.actions),
            observation_names=[own.names or () for own in named] if any(own.names for own in named) else None,
            notes=_notes(head, transitions, horizon),
        )


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
        if statements[name].is_empty:
            raise TacitError(f"the file ends without any {name}; it seems to be cut short")
    moves = transitions.finish()
    seen = None if observations.is_empty else observations.finish()
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


def _notes(head: Preamble, transitions: Distributions, horizon: int | None) -> list[str]:
    notes = ["observations are parsed but not used: play is fully observed"]
    if head.discount != 1 and horizon is not None:
        notes.append(f"the discount {head.discount:g} is not used: returns are sums over the horizon")
    if head.cost:
        notes.append("values are costs: rewards are their negatives")
    if transitions.rescaled:
        notes.append(
            f"{transitions.rescaled} of {len(transitions.first) - 1} rows of T sum to 1 only roughly: rescaled"
        )
    return notes


class Probabilities:
    """P(column | state, joint action): the transitions, or the observations after reaching a state."""

    def __init__(self, name: str, preamble: Preamble, columns: Labels | Joint) -> None:
        self.name = name
        self._preamble = preamble
        self._states = preamble.states
        self._actions = preamble.actions
        self._columns = columns
        self._table = Table(preamble.rows)

    @property
    def is_empty(self) -> bool:
        """Whether the file has no such statement."""
        return self._table.is_empty

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `T:` or `O:`."""
        match fields:
            case [joint, state, column, [word]]:
                row = self._preamble.row(self._states.select(state), self._actions.select(joint))
                self._table.put(row, self._columns.select(column), words.probability(word), lines.line)
            case [joint, state, []]:
                row = self._preamble.row(self._states.select(state), self._actions.select(joint))
                self._read_row(np.atleast_1d(row), lines)
            case [joint, []]:
                row = self._preamble.row(self._states.every, self._actions.select(joint))
                self._read_matrix(np.reshape(row, (self._states.count, -1)), lines)
            case _:
                raise TacitError(
                    f'"{self.name}:" is followed by "joint action : state : … : probability", or by '
                    f'"joint action : state :" and a row on the next line, or by "joint action :" and a matrix'
                )

    def finish(self) -> Distributions:
        """Return the distributions, which must now be whole."""
        return self._table.finish(self._name_row)

    def _read_row(self, rows: IntArray, lines: Lines) -> None:
        """Read a row and write it to each of these rows [n]."""
        line = lines.expect(f"a row of {self._columns.count} probabilities")
        if line == "uniform":
            self._write_uniform(rows, lines.line)
        else:
            values = self._values(line)
            column = np.flatnonzero(values)
            row = np.full(len(column), rows[0]) if len(rows) == 1 else rows[:, None]  # twice as fast
            self._table.replace(rows, row, column, values[column], lines.line)

    def _read_matrix(self, rows: IntArray, lines: Lines) -> None:
        """Read a row for each state and write it to that state's rows [S, n]."""
        line = lines.expect(f"a matrix with {self._states.count} rows")
        if line == "uniform":
            self._write_uniform(rows.ravel(), lines.line)
        elif line == "identity" and self._columns is self._states:
            self._table.replace(rows, rows, self._states.every[:, None], 1.0, lines.line)
        else:
            values, numbers = [self._values(line)], [lines.line]
            for s in range(1, self._states.count):
                values.append(self._values(lines.expect(f"row {s + 1} of {self._states.count} of a matrix")))
                numbers.append(lines.line)
            matrix = np.stack(values)
            s_from, column = np.nonzero(matrix)
            entries = matrix[s_from, column]
            self._table.replace(rows, rows[s_from], column[:, None], entries[:, None], np.array(numbers)[:, None])

    def _write_uniform(self, rows: IntArray, line: int) -> None:
        self._table.replace(rows, rows[:, None], self._columns.every, 1 / self._columns.count, line)

    def _values(self, line: str) -> FloatArray:
        if ":" in line:
            raise TacitError(f"{brief(line)} stands where a row of {self._columns.count} probabilities must")
        return words.probabilities(line, self._columns.count, f"this row of {self.name}")

    def _name_row(self, row: int) -> str:
        s, joint = divmod(row, self._actions.count)
        return f"{self.name}[s={s}, joint=({', '.join(str(a) for a in self._actions.unravel(joint))})]"


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
