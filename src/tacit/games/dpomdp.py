"""Team games in the .dpomdp format of the MADP toolbox, read and written.

A file gives agents, discount, values, states, start, actions and observations in this order, once each, and then any
number of T (transitions), O (observations) and R (rewards). Read beyond the toolbox's own grammar are: names in quotes,
names of agents in place of their number, `start` after the observations or with its vector or `uniform` on the same
line, `R: joint action : state : reward`, empty lines, tabs and CRLF.

Later entries of T and O overwrite earlier ones. Rows that sum to 1 within 1e-4 are taken, since published files round
to few digits, and are rescaled if they miss it by more than 1e-9. R is taken as the toolbox takes it:
`R: joint action : state : * : * : r` sets R(s, a); an entry that names a next state or an observation adds its
expectation, once all of T and O is known. Errors are reported as `file:line: sentence`.

Memory: at most 5 bytes for each byte of the file and 64 for each character of its longest line; 640 + 16·N for each
pair of a state and a joint action; 160 for each probability that is written out, by wildcards and `uniform` too; 1024
for each reward that depends on the next state or the observation; and 16 MB. Sizes are compared with the free memory
before anything large is allocated.
"""

from __future__ import annotations

import io
import math
import os
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.games.exact import Successors
from tacit.games.formats import LineError, locate_errors, nearest
from tacit.games.tabular import TabularGame, check_axes

#: How far from 1 the sum of a distribution may be. Rows that a game would refuse (`check.SUM_TOLERANCE`) are rescaled.
SUM_TOLERANCE = 1e-4

#: The largest number of states, actions or observations: beyond, a number is a slip.
MOST = 10**18

#: Bytes for each pair of a state and a joint action, and for each agent there; for each probability; for each reward
#: that waits for T and O; for each character of a line; for each index of a wildcard that is written out.
PER_ROW, PER_ROW_AND_AGENT, PER_ENTRY, PER_REWARD, PER_CHARACTER, PER_INDEX = 640, 16, 160, 1024, 64, 100

#: Entries, rewards and characters up to which memory is not asked for.
ENTRIES, REWARDS, CHARACTERS = 65_536, 4096, 65_536


class Lines:
    """The lines of a file one after the other, without comments and empty ones. `line` is the last one's number."""

    def __init__(self, path: Path) -> None:
        self.line = 0
        self._lines = io.StringIO(files.read_utf8(path))

    def next(self) -> str | None:
        """Return the next line that is not empty, or None at the end."""
        for line in self._lines:
            self.line += 1
            content = line.partition("#")[0].strip()
            if len(content) > CHARACTERS:
                memory.require(PER_CHARACTER * len(content), f"a line of {len(content)} characters")
            if content:
                return content
        return None

    def expect(self, what: str) -> str:
        """Return the next line, which must be there and hold `what`."""
        line = self.next()
        if line is None:
            raise TacitError(f"the file ends where {what} must follow; it seems to be cut short")
        return line


# a line as words and numbers ------------------------------------------------------------------------------------------


def split_fields(line: str) -> list[list[str]]:
    """Split a line at its colons into lists of words; names may be in quotes, which are taken off.

    >>> split_fields('T: listen "open left" : 0 :')
    [['T'], ['listen', 'open left'], ['0'], []]
    """
    parts = line.split('"')
    if len(parts) % 2 == 0:
        raise TacitError(f"a quote is not closed in {brief(line)}")
    fields: list[list[str]] = []
    for k, part in enumerate(parts):
        if k % 2:
            fields[-1].append(part)
        else:
            first, *others = (text.split() for text in part.split(":"))
            fields = [*fields[:-1], [*(fields[-1] if fields else []), *first], *others]
    return fields


def _number(word: str) -> float:
    """Return a finite number, written with ASCII digits."""
    value = math.nan if "/" in word else nearest(word)  # the format has no fractions
    if not math.isfinite(value):
        raise TacitError(f"{brief(word)} stands where a finite number must")
    return value


def _probability(word: str, what: str = "probability") -> float:
    value = _number(word)
    if not 0 <= value <= 1:
        raise TacitError(f"the {what} {brief(word)} is not from 0 to 1")
    return value


def _numbers(line: str, count: int, what: str, read: Callable[[str], float]) -> list[float]:
    """Return the numbers of a line, which must be `count`."""
    words = line.split()
    if len(words) != count:
        content = f"has {len(words)} numbers" if len(words) > 1 else f"is {brief(line)}"
        raise TacitError(f"{what} {content}; it must have {count} numbers, on one line")
    return [read(word) for word in words]


# states, actions and observations by index or name --------------------------------------------------------------------


class Labels:
    """A set of `count` things that are told by an index or, where there are names, by name."""

    def __init__(self, what: str, words: Sequence[str]) -> None:
        self.what = what
        self.names: tuple[str, ...] | None = None
        if len(words) == 1 and _is_index(words[0]):
            self.count = int(words[0]) if len(words[0]) <= 18 else 0
            if self.count < 1:
                raise TacitError(f"the number of {what} is {brief(words[0])}; it must be from 1 to {MOST:.0e}")
        else:
            self.names = _check_names(what, words)
            self.count = len(self.names)
        self._indices = {name: k for k, name in enumerate(self.names or ())}

    def index(self, word: str) -> int:
        """Return the index that a name or an index stands for."""
        if _is_index(word):
            return _check_index(word, self.count, self.what)
        if word not in self._indices:
            labels = f"0 to {self.count - 1}" if self.names is None else brief(self.names)
            raise TacitError(f"{brief(word)} is none of the {self.what}; known: {labels}")
        return self._indices[word]


class JointLabels:
    """Tuples of labels, of all agents or of the state alone. The joint index is row-major, the last runs fastest."""

    def __init__(self, what: str, parts: Sequence[Labels]) -> None:
        self.what, self.parts = what, parts
        self.count = math.prod(labels.count for labels in parts)
        if self.count > MOST:
            raise TacitError(f"there are about 1e{len(str(self.count)) - 1} {what}; {MOST:.0e} is the most")

    def select(self, words: Sequence[str]) -> Sequence[int]:
        """Return the joint indices of words: one for each part, or one joint index, or one `*`."""
        if self.covers(words):
            return range(self.count)
        if len(words) == 1 and _is_index(words[0]) and len(self.parts) > 1:
            return (_check_index(words[0], self.count, self.what),)
        if len(words) != len(self.parts):
            forms = f"one part for each of {len(self.parts)} agents, one joint index, or *"
            ways = "one word" if len(self.parts) == 1 else forms
            raise TacitError(f"{brief(' '.join(words))} is none of the {self.what}: {ways}")
        pairs = zip(words, self.parts, strict=True)
        chosen = [range(labels.count) if word == "*" else (labels.index(word),) for word, labels in pairs]
        size = math.prod(map(len, chosen))
        if size > 1:
            memory.require(PER_INDEX * size, f"the {size} {self.what} {brief(' '.join(words))}")
        indices = [0]
        for part, labels in zip(chosen, self.parts, strict=True):
            indices = [before * labels.count + k for before in indices for k in part]
        return indices

    def covers(self, words: Sequence[str]) -> bool:
        """Return whether the words stand for everything: `*`, or `*` for each part."""
        return len(words) in (1, len(self.parts)) and all(word == "*" for word in words)


def _is_index(word: str) -> bool:
    return word.isdigit() and word.isascii()


def _check_index(word: str, count: int, what: str) -> int:
    index = int(word) if len(word) <= 18 else count
    if index >= count:
        raise TacitError(f"{brief(word)} is out of range: the {what} go from 0 to {count - 1}")
    return index


def _check_names(what: str, words: Sequence[str]) -> tuple[str, ...]:
    if not words:
        raise TacitError(f"there are no {what}; give their number or their names")
    for word in words:
        if not word[:1].isalpha():
            raise TacitError(f"{brief(word)} is no name for one of the {what}; a name begins with a letter")
    name, times = Counter(words).most_common(1)[0]
    if times > 1:
        raise TacitError(f"the {what} have the name {brief(name)} twice")
    return tuple(words)


# the preamble ---------------------------------------------------------------------------------------------------------


class Preamble(NamedTuple):
    """What a file says before its first T, O or R."""

    discount: float
    cost: bool  # values are costs, to be negated
    states: JointLabels
    actions: JointLabels
    observations: JointLabels
    initial: FloatArray  # [S]

    @property
    def rows(self) -> int:
        """Number of pairs of a state and a joint action."""
        return self.states.count * self.actions.count

    @property
    def sizes(self) -> tuple[int, ...]:
        """Each agent's number of actions."""
        return tuple(labels.count for labels in self.actions.parts)

    def select_rows(self, joint: list[str], state: list[str]) -> list[int]:
        """Return the rows s·J + joint of the joint actions and states that words stand for."""
        joints = self.actions.select(joint)
        return [s * self.actions.count + a for s in self.states.select(state) for a in joints]

    def name_row(self, row: int) -> str:
        """Return a row for people."""
        s, joint = divmod(row, self.actions.count)
        actions = np.unravel_index(joint, self.sizes)
        return f"[s={s}, joint=({', '.join(str(a) for a in actions)})]"


def _read_preamble(lines: Lines) -> Preamble:
    """Read the preamble; `start` may also stand after the observations."""
    agents = Labels("agents", _entry(lines, "agents")).count
    check_axes(agents)
    discount = _probability(_one(lines, "discount"), "discount")
    values = check.choice("values", _one(lines, "values"), ["reward", "cost"])
    states = JointLabels("states", [Labels("states", _entry(lines, "states"))])
    initial = None
    line = lines.expect('"start:" or "actions:"')
    if _key(line).startswith("start"):
        initial = _read_start(line, lines, states)
        line = lines.expect('"actions:"')
    actions = _read_joint(line, lines, "actions", agents)
    observations = _read_joint(lines.expect('"observations:"'), lines, "observations", agents)
    if initial is None:
        initial = _read_start(lines.expect('"start:"'), lines, states)
    preamble = Preamble(discount, values == "cost", states, actions, observations, initial)
    memory.require(
        (PER_ROW + PER_ROW_AND_AGENT * agents) * preamble.rows,
        f"a game with {states.count} states and {actions.count} joint actions",
    )
    return preamble


def _key(line: str) -> str:
    return " ".join(split_fields(line)[0])


def _entry(lines: Lines, key: str) -> list[str]:
    """Return the words after `key:` on the next line."""
    return _after(lines.expect(f'"{key}:"'), key)


def _after(line: str, key: str) -> list[str]:
    parts = split_fields(line)
    if len(parts) != 2 or parts[0] != key.split():
        raise TacitError(
            f'{brief(line)} stands where "{key}:" must; a file begins with agents, discount, values, states, start, '
            f"actions, observations, in this order"
        )
    return parts[1]


def _one(lines: Lines, key: str) -> str:
    words = _entry(lines, key)
    if len(words) != 1:
        raise TacitError(f'"{key}:" has {brief(" ".join(words))}; it must have one word')
    return words[0]


def _read_joint(line: str, lines: Lines, key: str, agents: int) -> JointLabels:
    """Read `key:` and then a line for each agent: how many, or their names."""
    if _after(line, key):
        raise TacitError(f'{brief(line)}: after "{key}:" comes a line for each agent')
    each = []
    for i in range(agents):
        what = f"{key} of agent {i}"
        line = lines.expect(f"the {what}")
        parts = split_fields(line)
        if len(parts) != 1:
            raise TacitError(f"{brief(line)} stands where the {what} must: their number or their names")
        each.append(Labels(what, parts[0]))
    return JointLabels(f"joint {key}", each)


def _read_start(line: str, lines: Lines, states: JointLabels) -> FloatArray:
    """Read the distribution of the first state in one of its forms."""
    memory.require(memory.floats(3, states.count), f"a distribution over {states.count} states")
    key = _key(line)
    if key in ("start include", "start exclude"):
        return _subset(_after(line, key), states, exclude=key == "start exclude")
    words = _after(line, "start")
    if not words:
        words = lines.expect("the distribution of the first state").split()
    elif len(words) == 1 and words != ["uniform"]:
        return _subset(words, states, exclude=False)
    if words == ["uniform"]:
        return np.full(states.count, 1 / states.count)
    probs = np.array(_numbers(" ".join(words), states.count, "the start", _probability))
    total = probs.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise TacitError(f"the start sums to {total:.12g}; it must sum to 1 (±{SUM_TOLERANCE:g})")
    return probs if abs(total - 1) <= check.SUM_TOLERANCE else probs / total


def _subset(names: list[str], states: JointLabels, *, exclude: bool) -> FloatArray:
    chosen = [states.parts[0].index(name) for name in names]
    if len(set(chosen)) != len(chosen):
        raise TacitError(f"{brief(' '.join(names))} has a state twice")
    inside = np.full(states.count, exclude)
    inside[chosen] = not exclude
    if not inside.any():
        raise TacitError("no state is left to start from")
    probs: FloatArray = inside / inside.sum()
    return probs


# T, O and R -----------------------------------------------------------------------------------------------------------


class Distributions:
    """P(column | state, joint action): the transitions T, or the observations O after reaching a state."""

    def __init__(self, name: str, preamble: Preamble, columns: JointLabels) -> None:
        self.name, self.rescaled = name, 0
        self.rows: dict[int, dict[int, float]] = {}  # probabilities by row s·J + joint, and column
        self._preamble, self._columns = preamble, columns
        self._lines: dict[int, int] = {}  # where each row was written to last
        self._written = self._required = 0

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `T:` or `O:`."""
        match fields:
            case [joint, state, column, [word]]:
                rows, columns = self._preamble.select_rows(joint, state), self._columns.select(column)
                self._reserve(len(rows) * len(columns))
                probs = dict.fromkeys(columns, _probability(word))
                for row in rows:
                    self.rows.setdefault(row, {}).update(probs)
                    self._lines[row] = lines.line
            case [joint, state, []]:
                rows = self._preamble.select_rows(joint, state)
                line = lines.expect(f"a row of {self._columns.count} probabilities")
                self._replace(rows, line, lines.line)
            case [joint, []]:
                self._read_matrix(joint, lines)
            case _:
                raise TacitError(
                    f'"{self.name}:" is followed by "joint action : state : … : probability", or by '
                    f'"joint action : state :" and a row on the next line, or by "joint action :" and a matrix'
                )

    def _read_matrix(self, joint: list[str], lines: Lines) -> None:
        """Read a row for each state."""
        states, count = self._preamble.states, self._preamble.states.count
        line = lines.expect(f"a matrix with {count} rows")
        for s in range(count):
            rows = self._preamble.select_rows(joint, [str(s)])
            if line == "identity" and self._columns is states:
                self._reserve(len(rows))
                for row in rows:
                    self.rows[row], self._lines[row] = {s: 1.0}, lines.line
                continue
            if s > 0 and line != "uniform":
                line = lines.expect(f"row {s + 1} of {count} of a matrix")
            self._replace(rows, line, lines.line)

    def _replace(self, rows: Sequence[int], line: str, number: int) -> None:
        """Write a row of the file to each of these rows, in the place of what is there."""
        count = self._columns.count
        if line == "uniform":
            self._reserve(len(rows) * count)
            probs = dict.fromkeys(range(count), 1 / count)
        elif ":" in line:
            raise TacitError(f"{brief(line)} stands where a row of {count} probabilities must")
        else:
            values = _numbers(line, count, f"this row of {self.name}", _probability)
            probs = {column: p for column, p in enumerate(values) if p != 0}
            self._reserve(len(rows) * len(probs))
        for row in rows:
            self.rows[row], self._lines[row] = probs.copy(), number

    def _reserve(self, entries: int) -> None:
        """Refuse more probabilities than memory holds."""
        self._written += entries
        if self._written - self._required >= ENTRIES:
            memory.require(PER_ENTRY * self._written, f"a table of {self._written} probabilities")
            self._required = self._written

    def finish(self) -> None:
        """Check that each row is a distribution, and rescale those that sum to 1 only roughly."""
        for row in range(self._preamble.rows):
            if row not in self.rows:
                name = self._preamble.name_row(row)
                raise TacitError(f"{self.name}{name} is given nowhere in the file; each needs a distribution")
            probs = self.rows[row]
            total = sum(probs.values())
            if abs(total - 1) > SUM_TOLERANCE:
                message = f"sums to {total:.12g} after this entry; it must sum to 1 (±{SUM_TOLERANCE:g})"
                raise LineError(self._lines[row], f"{self.name}{self._preamble.name_row(row)} {message}")
            if abs(total - 1) > check.SUM_TOLERANCE:
                self.rows[row] = {column: p / total for column, p in probs.items()}
                self.rescaled += 1

    def successors(self) -> Successors:
        """Return the positive probabilities as lists."""
        first, state, prob = array("q", [0]), array("i"), array("d")
        for row in range(self._preamble.rows):
            for column, p in sorted(self.rows[row].items()):
                if p != 0:
                    state.append(column)
                    prob.append(p)
            first.append(len(state))
        return Successors(np.array(first), np.array(state, dtype=np.int32), np.array(prob))


class ExpectedReward(NamedTuple):
    """An entry of R that depends on the next state or the observation."""

    rows: list[int]
    s_next: Sequence[int]
    observations: Collection[int] | None  # None: whichever is made
    rewards: list[list[float]]  # [S or 1][observations or 1]
    line: int


class TeamRewards:
    """R(s, a), under construction."""

    def __init__(self, preamble: Preamble) -> None:
        self._preamble = preamble
        self._value = np.zeros(preamble.rows)
        self._set = np.zeros(preamble.rows, dtype=np.int64)  # the line that set R(s, a) last
        self._entries: list[ExpectedReward] = []
        self.is_empty = True

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `R:`."""
        self.is_empty = False
        head = self._preamble
        every = range(head.observations.count)
        match fields:
            case [joint, state, [word]]:
                self._assign(joint, state, word, lines)
            case [joint, state, ["*"], observation, [word]] if head.observations.covers(observation):
                self._assign(joint, state, word, lines)
            case [joint, state, s_next, observation, [word]]:
                selected = None if head.observations.covers(observation) else set(head.observations.select(observation))
                self._add(joint, state, s_next, selected, lines, reward=_number(word))
            case [joint, state, s_next, []]:
                self._add(joint, state, s_next, every, lines, count=1)
            case [joint, state, []]:
                self._add(joint, state, ["*"], every, lines, count=head.states.count)
            case _:
                raise TacitError(
                    '"R:" is followed by "joint action : state : next state : joint observation : reward", or by the '
                    "first three or two of these and a colon, and a row or a matrix on the next lines"
                )

    def _read_row(self, lines: Lines) -> list[float]:
        count = self._preamble.observations.count
        line = lines.expect(f"a row of {count} rewards")
        if ":" in line:
            raise TacitError(f"{brief(line)} stands where a row of {count} rewards must")
        return _numbers(line, count, "this row of R", _number)

    def _assign(self, joint: list[str], state: list[str], word: str, lines: Lines) -> None:
        rows = self._preamble.select_rows(joint, state)
        self._value[rows], self._set[rows] = _number(word), lines.line

    def _add(
        self,
        joint: list[str],
        state: list[str],
        s_next: list[str],
        observations: Collection[int] | None,
        lines: Lines,
        *,
        reward: float = 0.0,
        count: int = 0,
    ) -> None:
        """Note an entry with one reward, or with so many rows of rewards, which follow."""
        rows, following = self._preamble.select_rows(joint, state), self._preamble.states.select(s_next)
        rewards = [self._read_row(lines) for _ in range(count)] or [[reward]]
        self._entries.append(ExpectedReward(rows, following, observations, rewards, lines.line))
        if len(self._entries) % REWARDS == 0:
            number = len(self._entries)
            memory.require(PER_REWARD * number, f"{number} rewards that depend on the next state or the observation")

    def finish(self, transitions: Distributions, observations: Distributions | None) -> FloatArray:
        """Return R(s, a) as [S·J]."""
        for entry in self._entries:
            if entry.observations is not None and observations is None:
                raise LineError(entry.line, "this reward depends on the observation, and the file has no O")
            observed = {} if observations is None else observations.rows
            for row in entry.rows:
                if self._set[row] < entry.line:
                    with np.errstate(over="ignore", invalid="ignore"):  # the game will refuse what is not finite
                        self._value[row] += self._expect(entry, row, transitions.rows[row], observed)
        return self._value

    def _expect(
        self, entry: ExpectedReward, row: int, following: dict[int, float], observed: dict[int, dict[int, float]]
    ) -> float:
        """Return the expectation of an entry at one row, over the next state and the observation."""
        total, joints = 0.0, self._preamble.actions.count
        for s_next, p in following.items():
            if s_next not in entry.s_next:
                continue
            rewards = entry.rewards[s_next if len(entry.rewards) > 1 else 0]
            if entry.observations is None:
                total += p * rewards[0]
                continue
            probs = observed[s_next * joints + row % joints]
            paid = (q * rewards[o if len(rewards) > 1 else 0] for o, q in probs.items() if o in entry.observations)
            total += p * sum(paid)
        return total


# games ----------------------------------------------------------------------------------------------------------------


def load_dpomdp(path: str | os.PathLike[str], *, horizon: int | None) -> TabularGame:
    """Read a team game. Every agent gets the reward of the team, and play is fully observed.

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
    >>> load_dpomdp(path, horizon=3)
    TabularGame('coin': 1 agent, 2 states, 2 actions, horizon 3, rewards in [0, 1])
    """
    place = files.path(path)
    lines = Lines(place)
    if horizon is not None:
        horizon = check.integer("horizon", horizon)
    with locate_errors(place, lines):
        head = _read_preamble(lines)
    if horizon is None and head.discount == 1:
        raise TacitError(
            f"{place} does not say how many steps an episode has, and its discount is 1; give the horizon, e.g. "
            f"horizon=10"
        )
    with locate_errors(place, lines):
        transitions, rewards = _read_body(head, lines)
    actions = head.actions.parts
    team = (-rewards if head.cost else rewards).reshape(1, 1, head.states.count, *head.sizes)
    with locate_errors(place):
        return TabularGame(
            Owned(transitions.successors()),
            Owned(np.repeat(team, len(actions), axis=0)),
            head.initial,
            horizon,
            discount=head.discount if horizon is None else None,
            name=place.stem,
            state_names=head.states.parts[0].names,
            action_names=[labels.names or tuple(map(str, range(labels.count))) for labels in actions]
            if any(labels.names for labels in actions)
            else None,
            notes=_notes(head, transitions, horizon),
        )


def _read_body(head: Preamble, lines: Lines) -> tuple[Distributions, FloatArray]:
    """Read the statements T, O and R to the end of the file."""
    transitions, observations = Distributions("T", head, head.states), Distributions("O", head, head.observations)
    rewards = TeamRewards(head)
    statements: dict[str, Distributions | TeamRewards] = {"T": transitions, "O": observations, "R": rewards}
    while (line := lines.next()) is not None:
        first, *fields = split_fields(line)
        statement = statements.get(first[0]) if len(first) == 1 else None
        if statement is None:
            raise TacitError(f'{brief(line)} stands where "T:", "O:" or "R:" must')
        statement.read(fields, lines)
    for name, is_empty in (("T", not transitions.rows), ("R", rewards.is_empty)):
        if is_empty:
            raise TacitError(f"the file ends without any {name}; it seems to be cut short")
    transitions.finish()
    if observations.rows:
        observations.finish()
    return transitions, rewards.finish(transitions, observations if observations.rows else None)


def _notes(head: Preamble, transitions: Distributions, horizon: int | None) -> list[str]:
    notes = ["observations are parsed but not used: play is fully observed"]
    if head.discount != 1 and horizon is not None:
        notes.append(f"the discount {head.discount:g} is not used: returns are sums over the horizon")
    if head.cost:
        notes.append("values are costs: rewards are their negatives")
    if transitions.rescaled:
        notes.append(f"{transitions.rescaled} of {head.rows} rows of T sum to 1 only roughly: rescaled")
    return notes


_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


def save_dpomdp(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a stationary team game. Each agent observes the state, so that planners see the same game.

    Numbers are written so that reading them back gives the same bits. Names that are no identifiers of the format give
    way to indices. A horizon stands in a comment, since the format has no place for it; a discount has one.
    """
    if game.transition_steps > 1 or game.rewards.shape[1] > 1:
        raise TacitError(f"{game!r} changes with the step; a .dpomdp file holds games that do not")
    if not all(np.array_equal(rewards, game.rewards[0]) for rewards in game.rewards[1:]):
        raise TacitError(f"{game!r} has a reward for each agent; a .dpomdp file holds games where all get the same")
    files.write_pieces(path, _pieces(game))


def _pieces(game: TabularGame) -> Iterator[str]:
    states = _labels(game.state_names, game.states)
    names = game.action_names or [None] * game.agents
    actions = [_labels(each, size) for each, size in zip(names, game.actions, strict=True)]
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
