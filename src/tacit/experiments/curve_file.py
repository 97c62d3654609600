"""The curve of a run as a growing file: one line of JSON for each measurement, which pandas and polars read.

A process that is killed leaves whole lines, and perhaps the beginning of one more.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.errors import TacitError, brief
from tacit.engine import Event, Measured, Started
from tacit.engine.curve import ENDED, ENDS, FIRST_COLUMNS, table
from tacit.experiments import files

#: Bytes of memory that one byte of a curve may become, and a size that no number in it has.
_SPREAD, _MOST = 24, 1e160


class CurveFile:
    """Writes the curve as it grows: a watcher of the run's events."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.rows = 0
        self._stream: TextIO | None = None

    def __call__(self, event: Event) -> None:
        """Begin with the rows that a checkpoint had, then add a line for each measurement."""
        if isinstance(event, Started):
            self.close()
            files.write(self._path, "".join(_line(row) for row in event.rows).encode(), sync=False)
            self.rows = len(event.rows)
            self._stream = open(self._path, "a", encoding="utf-8", newline="\n")  # noqa: SIM115
        elif isinstance(event, Measured) and self._stream is not None:
            with files.naming(self._path):
                self._stream.write(_line(event.row))
                self._stream.flush()
            self.rows += 1

    def rewrite(self, curve: npt.NDArray[Any]) -> None:
        """Write a whole curve, as `table` makes it, in the place of what is there."""
        names = curve.dtype.names or ()
        rows = [dict(zip(names, row, strict=True)) for row in curve.tolist()]
        files.write(self._path, "".join(_line(row) for row in rows).encode())
        self.rows = len(rows)

    def close(self) -> None:
        """End writing."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            with files.naming(self._path), stream:
                stream.flush()
                os.fsync(stream.fileno())  # before a summary says that it is whole


def _line(row: Any) -> str:
    """Write a row as JSON; what was not measured is null."""
    plain = {name: x if isinstance(x, str) or math.isfinite(x) else None for name, x in row.items()}
    return json.dumps({**plain, "episode": int(row["episode"])}) + "\n"


def loads(content: bytes) -> npt.NDArray[Any]:
    """Return a curve as a structured array, having looked at every line."""
    memory.require(_SPREAD * len(content), "the curve")
    try:
        rows = [json.loads(line) for line in content.splitlines()]
    except (ValueError, RecursionError, MemoryError):
        raise TacitError("it is not a curve: a line is not JSON") from None
    if not rows or not isinstance(rows[0], dict) or list(rows[0])[:4] != FIRST_COLUMNS:
        raise TacitError(f"it is not a curve: its lines must begin with {', '.join(FIRST_COLUMNS)}")
    for k, row in enumerate(rows):
        if not isinstance(row, dict) or list(row) != list(rows[0]):
            raise TacitError(f"it is not a curve: line {k + 1} has other columns than the first")
        for name, number in row.items():
            if name == ENDED and number in ("", *ENDS):
                continue
            plain = isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= _MOST
            if (number is not None and not plain) or name == ENDED:
                raise TacitError(f"it is not a curve: {name} is {brief(number)} in line {k + 1}")
    try:
        curve = table([{name: math.nan if x is None else x for name, x in row.items()} for row in rows])
    except (OverflowError, ValueError):
        raise TacitError("it is not a curve: it has numbers beyond all bounds") from None
    if curve["episode"][0] < 1 or (np.diff(curve["episode"]) <= 0).any() or not np.isfinite(curve["reward"]).all():
        raise TacitError("it is not a curve: its episodes must ascend from 1, and its rewards be finite")
    return curve
