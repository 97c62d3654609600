"""Files that are whole or not there: written to a temporary name beside their place, synced, then renamed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tacit.core.errors import TacitError

#: How temporary names end; what a killed process has left can be told by it.
PART = ".part"


@contextmanager
def written(place: Path) -> Iterator[BinaryIO]:
    """Open a file to write to; it takes its place when the block ends without an error."""
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.", suffix=PART)
    except OSError as error:
        raise TacitError(f"cannot write {place}: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, place)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise TacitError(f"cannot write {place}: {error.strerror or error}") from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
