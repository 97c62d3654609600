"""The statement R, as the MADP toolbox takes it.

`R: ja : s : * : * : r` sets R(s, a) and forgets what was there. An entry that names a next state or an observation adds
its expectation. Expectations are computed at the end, when all of T and O is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp import words
from tacit.games.dpomdp.table import Distributions
from tacit.games.dpomdp.words import Selection
from tacit.games.text import LineError, Lines

if TYPE_CHECKING:
    from tacit.games.dpomdp.read import Preamble

#: Bytes for each entry that is kept to the end, and how many are kept between two looks at the memory that is free.
_PER_ENTRY = 1024
_BATCH = 4096


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
        self._singles: list[tuple[int, int, int, float, int]] = []  # row, s_next, observation, reward, line
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
        several = isinstance(observation, np.ndarray)
        if not self._first_observed and (several or observation != ANY):
            self._first_observed = block.line
        if isinstance(row, int) and isinstance(s_next, int) and isinstance(observation, int) and not block.reward.ndim:
            self._singles.append((row, s_next, observation, float(block.reward), block.line))
        else:
            self._blocks.append(block)
        kept = len(self._singles) + len(self._blocks)
        if kept % _BATCH == 0:
            memory.require(_PER_ENTRY * kept, f"{kept} rewards that depend on the next state or the observation")

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
        found = self._leading_to(s_next, state, joint) if isinstance(s_next, int) else self._leaving(state, joint)
        observations = np.atleast_1d(observation)
        if len(observations) > _AT_ONCE:
            memory.require(_PER_TERM * len(observations), f"expectations over {len(observations)} joint observations")
        step = max(1, _AT_ONCE // len(observations))
        for begin in range(0, len(found), step):
            some = found[begin : begin + step]
            row, to = self._row[some], self._moves.column[some]
            given = reward[to] if reward.ndim == 2 else reward
            if isinstance(observation, np.ndarray) or observation != ANY:
                given = (given * self._chance_of(row[:, None], to[:, None], observations)).sum(axis=1)
            yield row, self._moves.value[some] * given

    def _chance_of(self, row: IntArray, s_next: IntArray, observation: IntArray) -> FloatArray:
        """Return the probability of each observation on reaching each next state."""
        assert self._made is not None, "rewards that depend on observations are refused where there is no O"
        return self._made.find(s_next * self._joints + row % self._joints, observation)

    def _leading_to(self, s_next: int, state: Selection, joint: Selection) -> IntArray:
        """Return which transitions lead there by one of these joint actions, from this state or from any."""
        found = self._into[self._into_first[s_next] : self._into_first[s_next + 1]]
        taken = np.zeros(self._joints, dtype=bool)
        taken[joint] = True
        keep = taken[self._row[found] % self._joints]
        if isinstance(state, int):
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
