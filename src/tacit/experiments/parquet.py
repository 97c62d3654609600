"""Curves as Parquet: a structured array of NumPy to a file's content and back."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import memory
from tacit.core.errors import TacitError, brief, one_line

#: What every curve has.
NEEDED = ("episode", "reward", "value", "gap")

#: Columns of a curve: a few for each agent.
_MOST_COLUMNS = 100_000


def dumps(curve: npt.NDArray[Any]) -> bytes:
    """Return a curve as the content of a Parquet file."""
    arrow, parquet = _arrow()
    sink = io.BytesIO()
    names = curve.dtype.names or ()
    parquet.write_table(arrow.table({name: np.ascontiguousarray(curve[name]) for name in names}), sink)
    return sink.getvalue()


def loads(content: bytes) -> npt.NDArray[Any]:
    """Return the curve in a Parquet file, having looked at what it states to hold."""
    arrow, parquet = _arrow()
    try:
        file = parquet.ParquetFile(io.BytesIO(content))
        _check(arrow, file)
        table = file.read(use_threads=False)
        columns = {name: table.column(name).to_numpy() for name in table.column_names}
    except TacitError:
        raise
    except (arrow.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        raise TacitError(f"it is no curve: {one_line(error, 100)}") from None
    curve = np.empty(table.num_rows, dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        curve[name] = column
    if curve["episode"][0] < 1 or (np.diff(curve["episode"]) <= 0).any() or not np.isfinite(curve["reward"]).all():
        raise TacitError("it is no curve: its episodes must ascend from 1, and its rewards be finite")
    return curve


def _check(arrow: Any, file: Any) -> None:
    """Refuse what is no curve, and what would not fit into memory: a few bytes can state billions of rows."""
    schema, rows = file.schema_arrow, file.metadata.num_rows
    missing = [name for name in NEEDED if name not in schema.names]
    if missing or not rows:
        raise TacitError(f"it is no curve: it has no {missing[0] if missing else 'rows'}")
    if len(set(schema.names)) < len(schema.names) or len(schema.names) > _MOST_COLUMNS:
        raise TacitError("it is no curve: it has a column twice, or far too many")
    for field in schema:
        if field.type != (arrow.int64() if field.name == "episode" else arrow.float64()):
            raise TacitError(f"it is no curve: its column {brief(field.name)} holds {brief(str(field.type))}")
    expanded = sum(file.metadata.row_group(k).total_byte_size for k in range(file.metadata.num_row_groups))
    memory.require(max(expanded, 3 * memory.floats(rows, len(schema.names))), "the curve")


def _arrow() -> tuple[Any, Any]:
    """Import pyarrow where it is used: it takes a third of a second."""
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
