"""The curve of a run that is going on: what has been added to the file since it was last looked at."""

from __future__ import annotations

import json
import math
import os
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import reading
from tacit.core.errors import TacitError
from tacit.engine.curve import ENDED, FIRST_COLUMNS

#: The most that is read of a curve, and at once; lines longer than a piece are no rows.
MOST_BYTES, PIECE = 256_000_000, 8_000_000
MOST_COLUMNS, _LARGEST = 1000, 1e160


class GrowingCurve:
    """Reads whole lines as they come; a file that was written anew is read anew.

    Parameters
    ----------
    path : Path
        The file, which need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: dict[str, array[float]] = {}
        self._offset, self._inode = 0, -1
        self._table: npt.NDArray[Any] | None = None

    def look(self) -> bool:
        """Read what is new; return whether anything was."""
        try:
            return self._look()
        except TacitError:
            return False  # not there yet, or just being replaced

    def _look(self) -> bool:
        with reading.opened(self._path) as (stream, size):
            inode = os.fstat(stream.fileno()).st_ino
            if inode != self._inode or size < self._offset:  # it was replaced: a run that resumes does so
                self._inode, self._offset, self._columns, self._table = inode, 0, {}, None
            before = self._offset
            while self._offset < min(size, MOST_BYTES):
                stream.seek(self._offset)
                piece = stream.read(min(PIECE, size - self._offset))
                whole = piece.rfind(b"\n") + 1
                if not whole:
                    break
                self._take(piece[:whole])
                self._offset += whole
        return self._offset > before

    def _take(self, lines: bytes) -> None:
        for line in lines.splitlines():
            row = _row(line)
            if row is None:
                continue
            if not self._columns:
                self._columns = {name: array("d") for name in row}
            elif list(row) != list(self._columns) or row["episode"] <= self._columns["episode"][-1]:
                continue
            for name, value in row.items():
                self._columns[name].append(value)
            self._table = None

    @property
    def curve(self) -> npt.NDArray[Any] | None:
        """The rows so far as a structured array; None where there is none."""
        if self._table is None and self._columns:
            kinds = [(name, "i8" if name == "episode" else "f8") for name in self._columns]
            self._table = np.empty(len(self._columns["episode"]), dtype=kinds)
            for name, column in self._columns.items():
                self._table[name] = np.array(column)
        return self._table


def _row(line: bytes) -> dict[str, float] | None:
    """Return a line as a row of numbers, or nothing where it is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(row, dict) or len(row) > MOST_COLUMNS or list(row)[:4] != FIRST_COLUMNS:
        return None
    found: dict[str, float] = {}
    for name, value in row.items():
        if name == ENDED:
            continue
        if not name:  # NumPy would give it another
            return None
        if value is None:
            found[name] = math.nan
        elif isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _LARGEST:
            found[name] = float(value)
        else:
            return None
    whole = 1 <= found["episode"] <= 2**53 and math.isfinite(found["reward"])  # false for what is not a number
    return found if whole else None
