"""What a file gives piece by piece: distributions, where later entries overwrite earlier ones, and rewards.

A `Table` is a log of (row, column, value). A whole row makes void what was logged for it before, so that only its
positive entries are logged. From time to time the log is put in order: the latest entry of each place is kept, unless
it is void or zero.

The statement R is taken as the MADP toolbox takes it: `R: ja : s : * : * : r` sets R(s, a) and forgets what was there.
An entry that names a next state or an observation adds its expectation. Expectations are computed at the end, when all
of T and O is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp import words
from tacit.games.dpomdp.words import Selection
from tacit.games.text import LineError, Lines

if TYPE_CHECKING:
    from tacit.games.dpomdp import Preamble

#: How far from 1 the sum of a distribution may be: published files round to few digits. Rows that a game would refuse
#: (`check.SUM_TOLERANCE`) are rescaled, all others stay as they are written.
SUM_TOLERANCE = 1e-4

#: Entries that are logged without asking whether there is memory for them.
_BATCH = 65_536

#: Bytes for each logged entry while the log is put in order and made into a game (measured by test_format_memory.py).
_PER_ENTRY = 96


class Distributions(NamedTuple):
    """Compressed sparse rows, ordered by row and column."""

    first: IntArray  # [rows + 1]  where each row begins
    column: IntArray  # [entries]
    value: FloatArray  # [entries]  its probability, > 0
    rescaled: int  # number of rows that summed to 1 only roughly

    @property
    def row(self) -> IntArray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


class Table:
    """Distributions, one for each of `rows`, under construction."""

    def __init__(self, rows: int) -> None:
        self._line = np.zeros(rows, dtype=np.int64)  # where each row was written to last; 0: never
        self._begin = np.zeros(rows, dtype=np.int64)  # entries of a row that stand before this position are void
        self._single: list[tuple[Selection, Selection, float, int]] = []  # not yet in the log: row, column, value, line
        self._log = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
        self._logged = 0  # entries in the log
        self._full = _BATCH  # entries at which it is put in order

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return not self._single and not self._line.any()

    def put(self, row: Selection, column: Selection, value: float, line: int) -> None:
        """Write a value at each pair of a row and a column."""
        if words.is_one(row, column):
            self._single.append((row, column, value, line))
            if len(self._single) >= _BATCH:
                self._flush()
        else:
            self._flush()
            self._line[row] = line
            self._write(np.reshape(row, (-1, 1)), column, value)

    def replace(
        self, rows: Selection, row: npt.ArrayLike, column: npt.ArrayLike, value: npt.ArrayLike, line: npt.ArrayLike
    ) -> None:
        """Write all of `rows`: each value at its row and column (the three are broadcast), and zero elsewhere."""
        self._flush()
        self._line[rows] = line
        self._begin[rows] = self._logged
        self._write(row, column, value)

    def finish(self, name: Callable[[int], str]) -> Distributions:
        """Return the rows, each of which must now be a distribution; `name` names one in an error."""
        self._flush()
        self._put_in_order()
        row, column, value = self._log.pop()
        counts = np.bincount(row, minlength=len(self._line))
        first = np.concatenate(([0], np.cumsum(counts)))
        filled = counts > 0
        sums = np.zeros(len(counts))
        sums[filled] = np.add.reduceat(value, first[:-1][filled])  # as a game sums them, to the last bit
        wrong = np.abs(sums - 1) > SUM_TOLERANCE
        if wrong.any():
            at = int(np.argmax(wrong))
            self._refuse(at, float(sums[at]), name(at))
        loose = np.abs(sums - 1) > check.SUM_TOLERANCE
        if loose.any():
            value /= np.where(loose, sums, 1.0)[row]
        return Distributions(first, column, value, int(loose.sum()))

    def _refuse(self, row: int, total: float, name: str) -> NoReturn:
        line = int(self._line[row])
        if line == 0:
            raise TacitError(f"{name} is given nowhere in the file; each needs a distribution")
        raise LineError(line, f"{name} sums to {total:.12g} after this entry; it must sum to 1 (±{SUM_TOLERANCE:g})")

    def _flush(self) -> None:
        """Move single entries to the log."""
        if self._single:
            row, column, value, line = (np.array(part) for part in zip(*self._single, strict=True))
            self._single = []
            self._line[row] = line  # of a row that is there twice, the last one stays
            self._extend(row, column, value)

    def _write(self, *parts: npt.ArrayLike) -> None:
        row, column, value = np.broadcast_arrays(*parts)
        if row.size > _BATCH:
            self._require(self._logged + row.size)
        self._extend(row.ravel(), column.ravel(), value.ravel())

    def _extend(self, row: IntArray, column: IntArray, value: FloatArray) -> None:
        if len(row):
            self._log.append((row, column, value))
            self._logged += len(row)
        if self._logged >= self._full:
            self._require(self._logged)
            self._put_in_order()
            self._full = 2 * self._logged + _BATCH

    def _require(self, entries: int) -> None:
        memory.require(_PER_ENTRY * entries, f"a table of {entries} probabilities")

    def _put_in_order(self) -> None:
        row, column, value = (np.concatenate(part) for part in zip(*self._log, strict=True))
        self._log.clear()
        order = np.lexsort((column, row))  # stable: entries of one place stay in the order they were written
        row, column, value = row[order], column[order], value[order]
        keep = (value != 0) & (order >= self._begin[row])
        keep[:-1] &= (row[1:] != row[:-1]) | (column[1:] != column[:-1])
        self._log.append((row[keep], column[keep], value[keep]))
        self._logged = len(self._log[0][0])
        self._begin[:] = 0


#: Bytes for each entry that is kept to the end, and how many are kept between two looks at the memory that is free.
_PER_REWARD = 1024
_REWARDS = 4096


class _Block(NamedTuple):
    """An entry for many rows, next states or observations; its words are kept, since they may stand for very many."""

    joint: list[str]
    state: list[str]
    s_next: list[str]
    observation: list[str]
    reward: FloatArray  # one number, or [joint observations], or [S, joint observations]
    line: int


class Rewards:
    """R(s, a), under construction."""

    def __init__(self, preamble: Preamble) -> None:
        self._preamble = preamble
        self._value = np.zeros(preamble.rows)
        self._set = np.zeros(preamble.rows, dtype=np.int64)  # the line that set R(s, a) last
        #: Row, s_next, observation, reward and line.
        self._singles: list[tuple[Selection, Selection, Selection, float, int]] = []
        self._blocks: list[_Block] = []
        self._first_observed = 0  # the first line with a reward that depends on the observation
        self.is_empty = True

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `R:`."""
        self.is_empty = False
        match fields:
            case [joint, state, [word]]:
                self._assign(self._row(joint, state), words.number(word), lines.line)
            case [joint, state, ["*"], observation, [word]] if self._preamble.observations.covers(observation):
                self._assign(self._row(joint, state), words.number(word), lines.line)
            case [joint, state, s_next, observation, [word]]:
                self._add(_Block(joint, state, s_next, observation, np.array(words.number(word)), lines.line))
            case [joint, state, s_next, []]:
                self._check(joint, state, s_next)
                self._add(_Block(joint, state, s_next, ["*"], self._read_row(lines), lines.line))
            case [joint, state, []]:
                self._check(joint, state, ["*"])
                matrix = np.stack([self._read_row(lines) for _ in range(self._preamble.states.count)])
                self._add(_Block(joint, state, ["*"], ["*"], matrix, lines.line))
            case _:
                raise TacitError(
                    '"R:" is followed by "joint action : state : next state : joint observation : reward", or by the '
                    "first three or two of these and a colon, and a row or a matrix on the next lines"
                )

    def finish(self, transitions: Distributions, observations: Distributions | None) -> FloatArray:
        """Return R(s, a) as [S·J]."""
        if self._first_observed and observations is None:
            raise LineError(self._first_observed, "this reward depends on the observation, and the file has no O")
        if self._singles or self._blocks:
            expectations = Expectations(transitions, observations, self._preamble.actions.count)
            with np.errstate(over="ignore", invalid="ignore"):  # the game will refuse what is not finite
                self._expect_singles(expectations)
                for block in self._blocks:
                    self._expect_block(expectations, block)
        return self._value

    def _check(self, joint: list[str], state: list[str], s_next: list[str]) -> None:
        """Refuse unknown words before the lines that follow are read."""
        self._row(joint, state)
        self._preamble.states.select(s_next)

    def _row(self, joint: list[str], state: list[str]) -> Selection:
        return self._preamble.row(self._preamble.states.select(state), self._preamble.actions.select(joint))

    def _observation(self, block: _Block) -> Selection:
        if block.reward.ndim == 0 and self._preamble.observations.covers(block.observation):
            return ANY
        return self._preamble.observations.select(block.observation)

    def _read_row(self, lines: Lines) -> FloatArray:
        count = self._preamble.observations.count
        line = lines.expect(f"a row of {count} rewards")
        if ":" in line:
            raise TacitError(f"{brief(line)} stands where a row of {count} rewards must")
        return words.numbers(line, count, "this row of R")

    def _assign(self, row: Selection, reward: float, line: int) -> None:
        self._value[row] = reward
        self._set[row] = line

    def _add(self, block: _Block) -> None:
        """Keep an entry to the end."""
        row, s_next = self._row(block.joint, block.state), self._preamble.states.select(block.s_next)
        observation = self._observation(block)
        if not self._first_observed and (not words.is_one(observation) or observation != ANY):
            self._first_observed = block.line
        if words.is_one(row, s_next, observation) and not block.reward.ndim:
            self._singles.append((row, s_next, observation, float(block.reward), block.line))
        else:
            self._blocks.append(block)
        kept = len(self._singles) + len(self._blocks)
        if kept % _REWARDS == 0:
            memory.require(_PER_REWARD * kept, f"{kept} rewards that depend on the next state or the observation")

    def _expect_singles(self, expectations: Expectations) -> None:
        if self._singles:
            row, s_next, observation, reward, line = (np.array(part) for part in zip(*self._singles, strict=True))
            self._accumulate(row, expectations.single(row, s_next, observation, reward), line)

    def _expect_block(self, expectations: Expectations, block: _Block) -> None:
        state, joint = self._preamble.states.select(block.state), self._preamble.actions.select(block.joint)
        s_next = self._preamble.states.select(block.s_next)
        for row, expected in expectations.several(state, joint, s_next, self._observation(block), block.reward):
            self._accumulate(row, expected, block.line)

    def _accumulate(self, row: IntArray, expected: FloatArray, line: IntArray | int) -> None:
        """Add expectations to the rows that were not set on a later line."""
        live = self._set[row] < line
        np.add.at(self._value, row[live], expected[live])


#: In the place of an observation: whichever is made.
ANY = -1

#: Expectations that are computed at once, and bytes for each.
_AT_ONCE = 65_536
_PER_TERM = 96


class Expectations:
    """The expectation of a reward, once T and O are known."""

    def __init__(self, transitions: Distributions, observations: Distributions | None, joints: int) -> None:
        self._row = transitions.row
        self._moves = transitions
        self._move = _Lookup(transitions)
        self._made = None if observations is None else _Lookup(observations)
        self._joints = joints
        self._into = np.argsort(transitions.column, kind="stable")  # transitions in the order of where they lead
        self._into_first = np.searchsorted(transitions.column[self._into], np.arange(len(transitions.first)))

    def single(self, row: IntArray, s_next: IntArray, observation: IntArray, reward: FloatArray) -> FloatArray:
        """Return the expectation of each of many rewards [m]."""
        named = observation != ANY
        expected: FloatArray = reward * self._move.find(row, s_next)
        if named.any():
            expected[named] *= self._chance_of(row[named], s_next[named], observation[named])
        return expected

    def several(
        self, state: Selection, joint: Selection, s_next: Selection, observation: Selection, reward: FloatArray
    ) -> Iterator[tuple[IntArray, FloatArray]]:
        """Give rows and their expectations, of one reward for many rows, next states or observations.

        `reward` is one number, or [observations], or [S, observations]. A row may come several times: add up.
        """
        found = self._leading_to(s_next, state, joint) if words.is_one(s_next) else self._leaving(state, joint)
        observations = np.atleast_1d(observation)
        if len(observations) > _AT_ONCE:
            memory.require(_PER_TERM * len(observations), f"expectations over {len(observations)} joint observations")
        step = max(1, _AT_ONCE // len(observations))
        for begin in range(0, len(found), step):
            some = found[begin : begin + step]
            row, to = self._row[some], self._moves.column[some]
            given = reward[to] if reward.ndim == 2 else reward
            if not words.is_one(observation) or observation != ANY:
                given = (given * self._chance_of(row[:, None], to[:, None], observations)).sum(axis=1)
            yield row, self._moves.value[some] * given

    def _chance_of(self, row: IntArray, s_next: IntArray, observation: IntArray) -> FloatArray:
        """Return the probability of each observation on reaching each next state."""
        assert self._made is not None, "rewards that depend on observations are refused where there is no O"
        return self._made.find(s_next * self._joints + row % self._joints, observation)

    def _leading_to(self, s_next: Selection, state: Selection, joint: Selection) -> IntArray:
        """Return which transitions lead there by one of these joint actions, from this state or from any."""
        begin, end = self._into_first[s_next], self._into_first[s_next + 1]
        found = self._into[begin:end]
        taken = np.zeros(self._joints, dtype=bool)
        taken[joint] = True
        keep = taken[self._row[found] % self._joints]
        if words.is_one(state):
            keep &= self._row[found] // self._joints == state
        return found[keep]

    def _leaving(self, state: Selection, joint: Selection) -> IntArray:
        """Return which transitions leave these states by these joint actions."""
        rows = np.add.outer(np.multiply(state, self._joints), joint).ravel()
        begin = self._moves.first[rows]
        count = self._moves.first[rows + 1] - begin
        before = np.cumsum(count) - count
        return np.repeat(begin - before, count) + np.arange(count.sum())


class _Lookup:
    """The probabilities of distributions by row and column."""

    def __init__(self, given: Distributions) -> None:
        self._columns, rank = np.unique(given.column, return_inverse=True)
        self._keys = given.row * len(self._columns) + rank  # ascending
        self._value = given.value

    def find(self, row: IntArray, column: IntArray) -> FloatArray:
        """Return the probability at each row and column; the two are broadcast."""
        rank = np.minimum(np.searchsorted(self._columns, column), len(self._columns) - 1)
        key = row * len(self._columns) + rank
        at = np.minimum(np.searchsorted(self._keys, key), len(self._keys) - 1)
        return np.where((self._columns[rank] == column) & (self._keys[at] == key), self._value[at], 0.0)
