"""Which rows of long curves a screen shows: real rows, those with the smallest and largest numbers among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.core.types import FloatArray, IntArray


def rows(columns: Sequence[FloatArray], most: int) -> IntArray:
    """Return which rows of some columns to show, in order: all, or at most about `most`.

    The rows are cut into pieces of equal length, and of each the rows with the smallest and the largest number of each
    column are kept, so that no peak is lost; and always the first and the last.

    >>> rows([np.array([0.0, 9.0, 0.0, 0.0, 0.0, 0.0, -9.0, 0.0])], 6).tolist()
    [0, 1, 4, 6, 7]
    """
    count = len(columns[0])
    if count <= most:
        return np.arange(count)
    pieces = max(1, (most - 2) // (2 * len(columns)))
    length = -(-count // pieces)
    kept = [np.array([0, count - 1])]
    for column in columns:
        padded = np.full(pieces * length, np.nan)
        padded[:count] = column
        cut = padded.reshape(pieces, length)
        cut = cut[~np.isnan(cut).all(axis=1)]
        first = np.flatnonzero(~np.isnan(padded.reshape(pieces, length)).all(axis=1)) * length
        if len(cut):
            kept += [first + np.nanargmin(cut, axis=1), first + np.nanargmax(cut, axis=1)]
    found: IntArray = np.unique(np.concatenate(kept))
    return found
