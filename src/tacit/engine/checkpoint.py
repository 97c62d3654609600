"""A run in progress on disk. Kill it at any moment, and the same call resumes it and ends with the same bits.

All that changes during a run are arrays and the states of generators. Each part of a run gives its own as a snapshot of
named arrays and takes it back; the checkpoint writes them between two chunks atomically, with a digest. It is
used only by the code that wrote it: what another version computed up to here is not what this one would have. Digest,
types and shapes are checked, numbers are not: compiled code trusts them, so nobody should resume a stranger's file.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tacit.core import files, generics, records
from tacit.core.compilation import ABOVE, package_digest
from tacit.core.errors import TacitError, brief

Arrays = dict[str, npt.NDArray[Any]]

#: Types whose bytes can be compared.
_KINDS = "biufcSU"

#: At most this share of the time goes into writing.
_SHARE = 0.05
#: Seconds until the first checkpoint, unless they are written more often.
_FIRST = 1.0


class Resumable(Protocol):
    """A part of a run that a checkpoint holds."""

    def snapshot(self) -> Arrays:
        """Return everything that has changed since the part was made."""

    def restore(self, arrays: Arrays) -> None:
        """Take a snapshot back; one of other names, types or shapes raises TacitError."""


class Checkpoint:
    """Where a run keeps its state, and how often.

    Parameters
    ----------
    path : str or path
        The file; what is found there is resumed.
    key : str
        Names the run: a checkpoint of another key is not used.
    every : float
        Seconds between two writings, longer where writing is slow; the first come earlier, after 1, 2, 4, … seconds.
    note : callable, optional
        Called with a sentence that says why a file that is there cannot be used; by default that is a warning.

    Attributes
    ----------
    resumed : int
        Episodes that had been done before, by the file.

    Examples
    --------
    >>> import tempfile
    >>> import tacit
    >>> from tacit.engine import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(f"{folder}/run.npz", key="chicken, seed 0")
    ...     run = tacit.learn(tacit.make("chicken"), "npg", episodes=10, checkpoint=checkpoint)
    >>> checkpoint.resumed
    0
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        key: str,
        every: float = 30.0,
        note: Callable[[str], None] = warnings.warn,
    ) -> None:
        self.path, self.every, self.resumed = Path(path), every, 0
        self._key = self._named = key
        self._note = note
        self._pause = min(_FIRST, every)
        self._wait, self._last = self._pause, time.perf_counter()

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return time.perf_counter() - self._last >= self._wait

    def save(self, snapshots: Mapping[str, Arrays]) -> None:
        """Write the snapshots of a run's parts."""
        began = time.perf_counter()
        if self._wait == math.inf:
            return
        arrays = {f"{part}:{key}": array for part, snapshot in snapshots.items() for key, array in snapshot.items()}
        signed = {**arrays, "key": np.array(self._key), "digest": np.array(_digest(arrays))}
        files.write_arrays(self.path, signed, compress=False)  # compressing takes most of the time after Ctrl-C
        self._last = time.perf_counter()
        self._pause = min(2 * self._pause, self.every)
        self._wait = max(self._pause, (self._last - began) / _SHARE)

    def give_up(self, reason: object) -> None:
        """Note that the run cannot be stored; it goes on without."""
        self._note(f"this run is not checkpointed: {reason}")
        self._wait = math.inf

    def discard(self) -> None:
        """Remove the file: the run starts over."""
        self.path.unlink(missing_ok=True)

    def read(self, parts: Iterable[str], state: object = None) -> dict[str, Arrays]:
        """Return the snapshots of a run's parts. There are none without a file that can be used.

        `state` is what kernels work on, if anything; the code that defines it counts as code of the run.
        """
        self._key = " ".join([self._named, package_digest(without=ABOVE), *generics.digest_kernels(state)])
        self._last = time.perf_counter()
        if not self.path.exists():
            return {}
        try:
            arrays = files.read_arrays(self.path)
            key, digest = str(arrays.pop("key", "")), str(arrays.pop("digest", ""))
            if digest != _digest(arrays):
                raise TacitError(f"{self.path} is altered")
            if key != self._key:
                raise TacitError(f"{self.path} has another key, or was written by another version of the code")
        except TacitError as error:
            self._note(f"{error}; the run starts over")
            return {}
        snapshots: dict[str, Arrays] = {part: {} for part in parts}
        for name, array in arrays.items():
            part, _, key = name.partition(":")
            snapshots.setdefault(part, {})[key] = array
        return snapshots


def pack(value: object, name: str = "") -> Arrays:
    """Return the arrays of a struct that can change, nested ones included, by their path."""
    writeable = ((path, array) for path, array in records.arrays(value) if array.flags.writeable)
    return {key: column for path, array in writeable for key, column in records.columns(array, f"{name}.{path}")}


def unpack(value: object, arrays: Arrays, name: str = "") -> None:
    """Write arrays that `pack` returned back into a struct."""
    for key, target in pack(value, name).items():
        target[...] = take(arrays, key, target.dtype, target.shape)


def _digest(arrays: Arrays) -> str:
    summed = hashlib.sha256()
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise TacitError(f"its array {brief(name)} is of type {array.dtype}")
        summed.update(f"{name} {array.dtype.str} {array.shape};".encode())
        summed.update(np.ascontiguousarray(array).data if array.size else b"")
    return summed.hexdigest()


# whether the arrays of a checkpoint can be those of this run ---------------------------------------------------------


def check_names(arrays: Arrays, names: set[str]) -> None:
    """Raise unless the arrays have these names."""
    for name in sorted(names ^ set(arrays)):
        raise TacitError(f"it has {'an' if name in arrays else 'no'} array {name!r}")


def check_alike(arrays: Arrays, fresh: Arrays, *, most: int) -> None:
    """Raise unless arrays could be those of a fresh state, later.

    Those are finite ones, none below zero where that never happens, and whole ones from 0 (or what the fresh state has
    below) to `most` more than it begins with.
    """
    for name, like in fresh.items():
        array = take(arrays, name, like.dtype, like.shape)
        if not array.size:
            continue
        if array.dtype.kind in "fc" and np.isfinite(like).all() and not np.isfinite(array).all():
            raise TacitError(f"its array {name!r} has entries that are no finite numbers")
        said: dict[Any, Any] = dict(like.dtype.metadata or {})  # as records.NONNEGATIVE has it
        if array.min() < said.get("least", array.min()):
            raise TacitError(f"its array {name!r} has entries below {said['least']}")
        if array.max() > said.get("most", array.max()):
            raise TacitError(f"its array {name!r} has entries above {said['most']}")
        if said.get("fixed") and not np.array_equal(array, like):
            raise TacitError(f"its array {name!r} is not what it is in every state of this learner")
        if array.dtype.kind in "iu":
            least, largest = min(0, int(like.min())), most + 2 * max(0, int(like.max()))
            if int(array.min()) < least or int(array.max()) > largest:
                raise TacitError(f"its array {name!r} has entries outside {least} to {largest}")


def take(arrays: Arrays, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return an array of this type and shape."""
    array = arrays.get(name)
    if array is None:
        raise TacitError(f"it has no array {name!r}")
    if array.dtype != dtype or array.shape != shape:
        raise TacitError(
            f"its array {name!r} must be {np.dtype(dtype)} of shape {shape}; got {array.dtype} of {array.shape}"
        )
    return array
