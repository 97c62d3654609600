"""Team games in the .dpomdp format of the MADP toolbox.

A file gives agents, discount, values, states, start, actions and observations in this order, once each, and then any
number of T (transitions), O (observations) and R (rewards). Read beyond the toolbox's own grammar are: names in quotes,
names of agents in place of their number, `start` after the observations or with its vector or `uniform` on the same
line, `R: joint action : state : reward`, empty lines, tabs and CRLF.

Later entries of T and O overwrite earlier ones. Rows that sum to 1 within 1e-4 are taken, since published files round
to few digits, and are rescaled if they miss it by more than 1e-9. R is taken as the toolbox takes it:
`R: joint action : state : * : * : r` sets R(s, a); an entry that names a next state or an observation adds its
expectation, once all of T and O is known. Errors are reported as `file:line: sentence`.

What a file claims is compared with the free memory before tables are made: 640 + 16·N bytes for each pair of a state
and a joint action, and 160 for each probability and reward that is written out, by wildcards and `uniform` too.
"""

from __future__ import annotations

import io
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.games.exact import Successors, from_entries
from tacit.games.formats import LineError, locate_errors, nearest
from tacit.games.tabular import TabularGame, check_axes

#: How far from 1 the sum of a distribution may be. Rows that a game would refuse (`check.SUM_TOLERANCE`) are rescaled.
SUM_TOLERANCE = 1e-4

#: The largest number of states, actions or observations: beyond, a number is a slip.
MOST = 10**18

#: Bytes for each pair of a state and a joint action, and for each agent there; for each number that is written out.
PER_ROW, PER_ROW_AND_AGENT, PER_ENTRY = 640, 16, 160


class Lines:
    """The lines of a file one after the other, without comments and empty ones. `line` is the last one's number."""

    def __init__(self, path: Path) -> None:
        self.line = 0
        self._lines = io.StringIO(files.read_utf8(path))

    def next(self, needed: str = "") -> str:
        """Return the next line that is not empty. At the end raise where one is needed, otherwise return ""."""
        for line in self._lines:
            self.line += 1
            if content := line.partition("#")[0].strip():
                return content
        if needed:
            raise TacitError(f"the file ends where {needed} must follow; it seems to be cut short")
        return ""


# a line as words and numbers ------------------------------------------------------------------------------------------


def split_fields(line: str) -> list[list[str]]:
    """Split a line at its colons into lists of words. Names may be in quotes, which are taken off.

    >>> split_fields('T: listen "open left" : 0 :')
    [['T'], ['listen', 'open left'], ['0'], []]
    """
    parts = line.split('"')
    if len(parts) % 2 == 0:
        raise TacitError(f"a quote is not closed in {brief(line)}")
    fields: list[list[str]] = [[]]
    for k, part in enumerate(parts):
        first, *others = [[part]] if k % 2 else [text.split() for text in part.split(":")]
        fields = [*fields[:-1], fields[-1] + first, *others]
    return fields


def _number(word: str) -> float:
    """Return a finite number, written with ASCII digits."""
    value = math.nan if "/" in word else nearest(word)  # the format has no fractions
    if not math.isfinite(value):
        raise TacitError(f"{brief(word)} stands where a finite number must")
    return value


def _probability(word: str) -> float:
    value = _number(word)
    if not 0 <= value <= 1:
        raise TacitError(f"the probability {brief(word)} is not from 0 to 1")
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
    """A set of `count` things, each known by an index or a name."""

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
        self.sizes = tuple(labels.count for labels in parts)
        self.count = math.prod(self.sizes)
        if self.count > MOST:
            raise TacitError(f"there are about 1e{len(str(self.count)) - 1} {what}; {MOST:.0e} is the most")

    def select(self, words: Sequence[str]) -> Sequence[int]:
        """Return the joint indices of words. Words are one for each part, or one joint index, or one `*`."""
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
        memory.require(PER_ENTRY * size, f"the {size} {self.what} {brief(' '.join(words))}")
        indices = [0]
        for part, count in zip(chosen, self.sizes, strict=True):
            indices = [before * count + k for before in indices for k in part]
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

    def select_rows(self, joint: list[str], state: list[str]) -> list[int]:
        """Return the rows s·J + joint of the joint actions and states that words stand for."""
        joints = self.actions.select(joint)
        return [s * self.actions.count + a for s in self.states.select(state) for a in joints]

    def name_row(self, row: int) -> str:
        """Return a row for people."""
        s, joint = divmod(row, self.actions.count)
        return f"[s={s}, joint=({', '.join(str(a) for a in np.unravel_index(joint, self.actions.sizes))})]"


def _read_preamble(lines: Lines) -> Preamble:
    """Read the preamble; `start` may also stand after the observations."""
    agents = Labels("agents", _entry(lines, "agents")).count
    check_axes(agents)
    discount = _probability(_one(lines, "discount"))
    values = check.choice("values", _one(lines, "values"), ["reward", "cost"])
    states = JointLabels("states", [Labels("states", _entry(lines, "states"))])
    initial = None
    line = lines.next('"start:" or "actions:"')
    if _key(line).startswith("start"):
        initial = _read_start(line, lines, states)
        line = lines.next('"actions:"')
    actions = _read_joint(line, lines, "actions", agents)
    observations = _read_joint(lines.next('"observations:"'), lines, "observations", agents)
    if initial is None:
        initial = _read_start(lines.next('"start:"'), lines, states)
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
    return _after(lines.next(f'"{key}:"'), key)


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
    for what in (f"{key} of agent {i}" for i in range(agents)):
        line = lines.next(f"the {what}")
        words, *others = split_fields(line)
        if others:
            raise TacitError(f"{brief(line)} stands where the {what} must: their number or their names")
        each.append(Labels(what, words))
    return JointLabels(f"joint {key}", each)


def _read_start(line: str, lines: Lines, states: JointLabels) -> FloatArray:
    """Read the distribution of the first state in one of its forms."""
    memory.require(memory.floats(3, states.count), f"a distribution over {states.count} states")
    key = _key(line)
    if key in ("start include", "start exclude"):
        return _subset(_after(line, key), states, exclude=key == "start exclude")
    words = _after(line, "start") or lines.next("the distribution of the first state").split()
    if words == ["uniform"]:
        return np.full(states.count, 1 / states.count)
    if len(words) == 1 and len(split_fields(line)[1]) == 1:  # on the same line
        return _subset(words, states, exclude=False)
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
        self._written = 0

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `T:` or `O:`."""
        select, count = self._preamble.select_rows, self._preamble.states.count
        match fields:
            case [joint, state, column, [word]]:
                columns = self._columns.select(column)
                probs = zip(columns, repeat(_probability(word)), strict=False)
                self._write(select(joint, state), probs, len(columns), lines.line, beside=True)
            case [joint, state, []]:
                rows = select(joint, state)
                self._read_row(rows, lines.next(f"a row of {self._columns.count} probabilities"), lines.line)
            case [joint, []]:
                line = lines.next(f"a matrix with {count} rows")
                for s in range(count):
                    if line == "identity" and self._columns is self._preamble.states:
                        self._write(select(joint, [str(s)]), [(s, 1.0)], 1, lines.line)
                        continue
                    if s > 0 and line != "uniform":
                        line = lines.next(f"row {s + 1} of {count} of a matrix")
                    self._read_row(select(joint, [str(s)]), line, lines.line)
            case _:
                raise TacitError(
                    f'"{self.name}:" is followed by "joint action : state : … : probability", or by '
                    f'"joint action : state :" and a row on the next line, or by "joint action :" and a matrix'
                )

    def _read_row(self, rows: Sequence[int], line: str, number: int) -> None:
        """Write a row of the file to these rows, replacing what is there."""
        count = self._columns.count
        if line == "uniform":
            self._write(rows, zip(range(count), repeat(1 / count), strict=False), count, number)
        elif ":" in line:
            raise TacitError(f"{brief(line)} stands where a row of {count} probabilities must")
        else:
            values = _numbers(line, count, f"this row of {self.name}", _probability)
            probs = [(column, p) for column, p in enumerate(values) if p != 0]
            self._write(rows, probs, len(probs), number)

    def _write(
        self, rows: Sequence[int], probs: Iterable[tuple[int, float]], count: int, line: int, *, beside: bool = False
    ) -> None:
        """Write `count` probabilities by column to rows, replacing what is there or beside it."""
        self._written += len(rows) * count
        memory.require(PER_ENTRY * self._written, f"a table of {self._written} probabilities")
        written = dict(probs)
        for row in rows:
            self.rows[row] = {**(self.rows.get(row, {}) if beside else {}), **written}
            self._lines[row] = line

    def finish(self) -> None:
        """Check that each row is a distribution. Those that sum to 1 only roughly are rescaled."""
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
        entries = [(row, column, p) for row, probs in self.rows.items() for column, p in probs.items()]
        row, column, prob = zip(*entries, strict=True)
        return from_entries(row, column, prob, self._preamble.rows)


class Reward(NamedTuple):
    """An entry of R."""

    rows: list[int]
    s_next: Sequence[int] | None  # None: R(s, a) itself is set
    observations: Collection[int] | None  # None: whichever is made
    rewards: list[list[float]]  # [S or 1][observations or 1]
    line: int


class TeamRewards:
    """R(s, a), under construction."""

    def __init__(self, preamble: Preamble) -> None:
        self._preamble = preamble
        self._written = 0
        self.entries: list[Reward] = []

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `R:`."""
        observations = self._preamble.observations
        every = range(observations.count)
        match fields:
            case [joint, state, [word]]:
                self._add(joint, state, None, None, lines, word)
            case [joint, state, ["*"], observation, [word]] if observations.covers(observation):
                self._add(joint, state, None, None, lines, word)
            case [joint, state, s_next, observation, [word]]:
                selected = None if observations.covers(observation) else set(observations.select(observation))
                self._add(joint, state, s_next, selected, lines, word)
            case [joint, state, s_next, []]:
                self._add(joint, state, s_next, every, lines)
            case [joint, state, []]:
                self._add(joint, state, ["*"], every, lines, rows=self._preamble.states.count)
            case _:
                raise TacitError(
                    '"R:" is followed by "joint action : state : next state : joint observation : reward", or by the '
                    "first three or two of these and a colon, and a row or a matrix on the next lines"
                )

    def _read_row(self, lines: Lines) -> list[float]:
        count = self._preamble.observations.count
        line = lines.next(f"a row of {count} rewards")
        if ":" in line:
            raise TacitError(f"{brief(line)} stands where a row of {count} rewards must")
        return _numbers(line, count, "this row of R", _number)

    def _add(
        self,
        joint: list[str],
        state: list[str],
        s_next: list[str] | None,
        observations: Collection[int] | None,
        lines: Lines,
        word: str = "",
        rows: int = 1,
    ) -> None:
        """Note an entry with one reward, or with so many rows of rewards, which follow."""
        selected = self._preamble.select_rows(joint, state)
        self._written += 6 + len(selected)
        memory.require(PER_ENTRY * self._written, f"a table of {self._written} rewards")
        following = None if s_next is None else self._preamble.states.select(s_next)
        rewards = [[_number(word)]] if word else [self._read_row(lines) for _ in range(rows)]
        self.entries.append(Reward(selected, following, observations, rewards, lines.line))

    def finish(self, transitions: Distributions, observations: Distributions) -> FloatArray:
        """Return R(s, a) as [S·J]."""
        value = np.zeros(self._preamble.rows)
        for entry in self.entries:
            if entry.observations is not None and not observations.rows:
                raise LineError(entry.line, "this reward depends on the observation, and the file has no O")
            if entry.s_next is None:
                value[entry.rows] = entry.rewards[0][0]
                continue
            for row in entry.rows:
                with np.errstate(over="ignore", invalid="ignore"):  # the game will refuse what is not finite
                    value[row] += self._expect(entry, row, transitions.rows[row], observations.rows)
        return value

    def _expect(
        self, entry: Reward, row: int, following: dict[int, float], observed: dict[int, dict[int, float]]
    ) -> float:
        """Return the expectation of an entry over the next state and the observation."""
        total, joints = 0.0, self._preamble.actions.count
        for s_next, p in following.items():
            if s_next not in entry.s_next:  # type: ignore[operator]  # of what is set, nothing is expected
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
    file = files.path(path)
    lines = Lines(file)
    if horizon is not None:
        horizon = check.integer("horizon", horizon)
    with locate_errors(file, lines):
        head = _read_preamble(lines)
    if horizon is None and head.discount == 1:
        raise TacitError(f"horizon must be given: {file} does not say how many steps there are, and its discount is 1")
    with locate_errors(file, lines):
        transitions, rewards = _read_body(head, lines)
    actions = head.actions.parts
    team = (-rewards if head.cost else rewards).reshape(1, 1, head.states.count, *head.actions.sizes)
    with locate_errors(file):
        return TabularGame(
            Owned(transitions.successors()),
            Owned(np.repeat(team, len(actions), axis=0)),
            head.initial,
            horizon,
            discount=head.discount if horizon is None else None,
            name=file.stem,
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
    while line := lines.next():
        first, *fields = split_fields(line)
        if len(first) != 1 or first[0] not in statements:
            raise TacitError(f'{brief(line)} stands where "T:", "O:" or "R:" must')
        statements[first[0]].read(fields, lines)
    for name, entries in (("T", transitions.rows), ("R", rewards.entries)):
        if not entries:
            raise TacitError(f"the file ends without any {name}; it seems to be cut short")
    for distributions in (transitions, observations):
        if distributions.rows:
            distributions.finish()
    return transitions, rewards.finish(transitions, observations)


def _notes(head: Preamble, transitions: Distributions, horizon: int | None) -> list[str]:
    notes = ["observations are parsed but not used: play is fully observed"]
    if head.discount != 1 and horizon is not None:
        notes.append(f"the discount {head.discount:g} is not used: returns are sums over the horizon")
    if head.cost:
        notes.append("values are costs: rewards are their negatives")
    if transitions.rescaled:
        notes.append(f"{transitions.rescaled} of {head.rows} rows of T sum to 1 only roughly: rescaled")
    return notes
