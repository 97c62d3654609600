"""Scripts that make a user's own games, learners, bandits and environments known, here and in worker processes.

A script is code: it is run only where the user names it, on the command line (`--import`) or in Python. A file that
lists the scripts it needs never makes us run them by itself.

No disk is shared with a worker. Scripts travel as text: where the same file is there too, it is imported from its own
place; elsewhere from a copy. What else is imported by name, such as an environment's module, has to be installed over
there; the directories in which this process looks for modules are looked at too, for the sake of clusters that have
them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import socket
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from tacit.core import files
from tacit.core.compilation import package_digest
from tacit.core.errors import TacitError, one_line
from tacit.environments.pettingzoo import search_also


def run(paths: Sequence[str]) -> None:
    """Import scripts as modules named by their files, each once."""
    for path in paths:
        place = Path(path).resolve()
        if is_imported(path):
            continue
        if place.stem in sys.modules:
            raise TacitError(f"{path} cannot be imported: a module {place.stem!r} is there already; rename the file")
        spec = importlib.util.spec_from_file_location(place.stem, place)
        if spec is None or spec.loader is None or not place.is_file():
            raise TacitError(f"{path} cannot be imported; it must be a Python file")
        search_also(str(place.parent))  # what lies beside it
        module = importlib.util.module_from_spec(spec)
        sys.modules[place.stem] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:  # whatever a script raises
            del sys.modules[place.stem]
            reason = one_line(f"{type(error).__name__}: {error}", 200)
            raise TacitError(f"{path} cannot be imported: {reason}") from error


def is_imported(path: str) -> bool:
    """Return whether a script has been imported in this process."""
    place = Path(path).resolve()
    return getattr(sys.modules.get(place.stem), "__file__", None) == str(place)


def require(experiment: str, paths: Sequence[str]) -> None:
    """Raise unless the user has had every script of an experiment imported."""
    for path in paths:
        if not is_imported(path):
            raise TacitError(
                f"{experiment} needs {path}, which is code; to run it, say --import {path} too, or import it in Python"
            )


def digest(paths: Sequence[str]) -> str:
    """Return a digest of the scripts' contents, "" for none: a changed script makes other runs."""
    if not paths:
        return ""
    each = (hashlib.sha256(files.read(Path(path))).digest() for path in paths)
    return hashlib.sha256(b"\0".join(each)).hexdigest()


@dataclass(frozen=True)
class WorkerSetup:
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
    def pack(cls, paths: Sequence[str]) -> WorkerSetup:
        """Pack scripts, which have been imported here."""
        contents = tuple((str(Path(path).resolve()), files.read(Path(path))) for path in paths)
        return cls(_code(), contents, tuple(sys.path))

    def __call__(self) -> None:
        """Make this process ready for runs of the one that sent it."""
        if self.code != _code():
            raise TacitError(
                f"the worker on {socket.gethostname()} has another version of tacit, Python, numpy or numba; "
                f"install the same there"
            )
        sys.path += [path for path in self.paths if path not in sys.path and Path(path).is_dir()]
        run([_at_hand(Path(path), content) for path, content in self.scripts])


@cache
def _code() -> str:
    return f"{package_digest()} numpy {np.__version__}"


def _at_hand(path: Path, content: bytes) -> str:
    """Return where a script can be imported from in this process."""
    if path.is_file() and files.read(path) == content:
        return str(path)
    copy = Path(tempfile.mkdtemp(prefix="tacit-")) / path.name
    files.write(copy, content, sync=False)
    return str(copy)
