"""Scripts that make a user's own games, learners, bandits and environments known before an experiment runs.

A script is code: it is run only where the user names it, on the command line (`--import`) or in Python. A file that
lists the scripts it needs never makes us run them by itself.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from tacit.core import files
from tacit.core.errors import TacitError, one_line


def run(paths: Sequence[str]) -> None:
    """Import scripts as modules named by their files, each once."""
    for path in paths:
        place = Path(path).resolve()
        if imported(path):
            continue
        if place.stem in sys.modules:
            raise TacitError(f"{path} cannot be imported: a module {place.stem!r} is there already; rename the file")
        spec = importlib.util.spec_from_file_location(place.stem, place)
        if spec is None or spec.loader is None or not place.is_file():
            raise TacitError(f"{path} cannot be imported; it must be a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[place.stem] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:  # whatever a script raises
            del sys.modules[place.stem]
            told = one_line(f"{type(error).__name__}: {error}", 200)
            raise TacitError(f"{path} cannot be imported: {told}") from error


def imported(path: str) -> bool:
    """Return whether a script has been imported in this process."""
    place = Path(path).resolve()
    return getattr(sys.modules.get(place.stem), "__file__", None) == str(place)


def require(experiment: str, paths: Sequence[str]) -> None:
    """Raise unless the user has had every script of an experiment imported."""
    for path in paths:
        if not imported(path):
            raise TacitError(
                f"{experiment} needs {path}, which is code; to run it, say --import {path} too, or import it in Python"
            )


def digest(paths: Sequence[str]) -> str:
    """Return a digest of the scripts' contents, "" for none: a changed script makes other runs."""
    if not paths:
        return ""
    each = (hashlib.sha256(files.read(Path(path))).digest() for path in paths)
    return hashlib.sha256(b"\0".join(each)).hexdigest()
