"""Distributions that a file gives piece by piece, where later entries overwrite earlier ones.

A `Table` is a log of (row, column, value). A whole row makes void what was logged for it before, so that only its
positive entries are logged. From time to time the log is put in order: the latest entry of each place is kept, unless
it is void or zero.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp.words import Selection
from tacit.games.text import LineError

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
        self._single: list[tuple[int, int, float, int]] = []  # not yet in the log: row, column, value, line
        self._log = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))]
        self._logged = 0  # entries in the log
        self._full = _BATCH  # entries at which it is put in order

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return not self._single and not self._line.any()

    def put(self, row: Selection, column: Selection, value: float, line: int) -> None:
        """Write a value at each pair of a row and a column."""
        if isinstance(row, int) and isinstance(column, int):
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
