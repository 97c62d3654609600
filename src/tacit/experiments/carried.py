"""What a worker process needs to know before its first run, wherever it is: no disk is shared with it.

Scripts travel as text. Where the same file is there too, it is imported from its own place; elsewhere from a copy. What
else is imported by name, such as an environment's module, has to be installed over there; the directories in which this
process looks for modules are looked at too, for the sake of clusters that have them.
"""

from __future__ import annotations

import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tacit.core.compilation import source_digest
from tacit.core.errors import TacitError
from tacit.experiments import files, scripts


@dataclass(frozen=True)
class Carried:
    """Call it in a worker process.

    Attributes
    ----------
    code : str
        Digest of the code of the process that sent it: other code would give other results.
    scripts : tuple of (str, bytes)
        Paths and contents.
    paths : tuple of str
        Where modules are looked for.
    """

    code: str
    scripts: tuple[tuple[str, bytes], ...]
    paths: tuple[str, ...]

    @classmethod
    def packed(cls, paths: Sequence[str]) -> Carried:
        """Pack scripts, which have been imported here."""
        held = tuple((str(Path(path).resolve()), files.read(Path(path))) for path in paths)
        return cls(_code(), held, tuple(sys.path))

    def __call__(self) -> None:
        """Make this process ready for runs of the one that sent it."""
        if self.code != _code():
            raise TacitError(
                f"the worker on {socket.gethostname()} has another version of tacit, Python, numpy or numba; "
                f"install the same there"
            )
        sys.path += [path for path in self.paths if path not in sys.path and Path(path).is_dir()]
        scripts.run([_at_hand(Path(path), content) for path, content in self.scripts])


@cache
def _code() -> str:
    return f"{source_digest(())} numpy {np.__version__}"


def _at_hand(path: Path, content: bytes) -> str:
    """Return where a script can be imported from in this process."""
    if path.is_file() and files.read(path) == content:
        return str(path)
    copy = Path(tempfile.mkdtemp(prefix="tacit-")) / path.name
    files.write(copy, content, sync=False)
    return str(copy)
