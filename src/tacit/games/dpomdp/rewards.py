"""The statement R, as the MADP toolbox takes it.

`R: ja : s : * : * : r` sets R(s, a) and forgets what was there. An entry that names a next state or an observation adds
its expectation. Expectations are computed at the end, when all of T and O is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core import memory
from tacit.core.errors import TacitError, brief
from tacit.core.text import LineError, Lines
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp import words
from tacit.games.dpomdp.expectation import ANY, Expectations
from tacit.games.dpomdp.labels import Selection
from tacit.games.dpomdp.preamble import Preamble
from tacit.games.dpomdp.table import Distributions

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
        self.untouched = True

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `R:`."""
        self.untouched = False
        match fields:
            case [joint, state, [word]]:
                self._assign(self._row(joint, state), words.number(word), lines.number)
            case [joint, state, ["*"], observation, [word]] if self._preamble.observations.covers(observation):
                self._assign(self._row(joint, state), words.number(word), lines.number)
            case [joint, state, s_next, observation, [word]]:
                self._add(_Block(joint, state, s_next, observation, np.array(words.number(word)), lines.number))
            case [joint, state, s_next, []]:
                self._check(joint, state, s_next)
                self._add(_Block(joint, state, s_next, ["*"], self._read_row(lines), lines.number))
            case [joint, state, []]:
                self._check(joint, state, ["*"])
                matrix = np.stack([self._read_row(lines) for _ in range(self._preamble.states.count)])
                self._add(_Block(joint, state, ["*"], ["*"], matrix, lines.number))
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
