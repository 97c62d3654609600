"""The statements T and O: a probability, a row or a matrix."""

from __future__ import annotations

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.core.text import Lines
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp import words
from tacit.games.dpomdp.labels import Joint, Labels
from tacit.games.dpomdp.preamble import Preamble
from tacit.games.dpomdp.table import Distributions, Table


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
    def untouched(self) -> bool:
        """Whether the file has no such statement."""
        return self._table.untouched

    def read(self, fields: list[list[str]], lines: Lines) -> None:
        """Read what follows `T:` or `O:`."""
        match fields:
            case [joint, state, column, [word]]:
                row = self._preamble.row(self._states.select(state), self._actions.select(joint))
                self._table.put(row, self._columns.select(column), words.probability(word), lines.number)
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
            self._write_uniform(rows, lines.number)
        else:
            values = self._values(line)
            column = np.flatnonzero(values)
            row = np.full(len(column), rows[0]) if len(rows) == 1 else rows[:, None]  # twice as fast
            self._table.replace(rows, row, column, values[column], lines.number)

    def _read_matrix(self, rows: IntArray, lines: Lines) -> None:
        """Read a row for each state and write it to that state's rows [S, n]."""
        line = lines.expect(f"a matrix with {self._states.count} rows")
        if line == "uniform":
            self._write_uniform(rows.ravel(), lines.number)
        elif line == "identity" and self._columns is self._states:
            self._table.replace(rows, rows, self._states.every[:, None], 1.0, lines.number)
        else:
            values, numbers = [self._values(line)], [lines.number]
            for s in range(1, self._states.count):
                values.append(self._values(lines.expect(f"row {s + 1} of {self._states.count} of a matrix")))
                numbers.append(lines.number)
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
