"""Curves as Parquet: a structured array of NumPy to a file's content and back."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np
import numpy.typing as npt


def dumps(curve: npt.NDArray[Any]) -> bytes:
    """Return a curve as the content of a Parquet file."""
    arrow, parquet = _arrow()
    sink = io.BytesIO()
    names = curve.dtype.names or ()
    parquet.write_table(arrow.table({name: np.ascontiguousarray(curve[name]) for name in names}), sink)
    return sink.getvalue()


def loads(content: bytes) -> npt.NDArray[Any]:
    """Return the curve in a Parquet file."""
    _, parquet = _arrow()
    table = parquet.read_table(io.BytesIO(content), use_threads=False)
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    curve = np.empty(table.num_rows, dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        curve[name] = column
    return curve


def _arrow() -> tuple[Any, Any]:
    """Import pyarrow where it is used: it takes a third of a second."""
    return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
