"""What a worker process needs to know before its first run, wherever it is, and what workers elsewhere cannot have.

No disk is shared with it. Scripts travel as text: where the same file is there too, it is imported from its own place;
elsewhere from a copy. What else is imported by name, such as an environment's module, has to be installed over there;
the directories in which this process looks for modules are looked at too, for the sake of clusters that have them.

Learners and bandits that the started script itself defines do not travel to Ray, or to a Dask cluster that runs
already: worker processes of this machine import that script again, as Python's own pools do, those do not. A game that
it registers is sent as tables.
"""

from __future__ import annotations

import pickle
import socket
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tacit import bandits, games, learners
from tacit.core import files
from tacit.core.compilation import source_digest
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.experiments import job, scripts
from tacit.experiments.plan import RunSpec


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


_MAIN = "__main__"


def refuse_unavailable(runs: Sequence[RunSpec], where: tuple[str | Executor, str, int | None]) -> None:
    """Raise if a run needs something that workers of a backend, as `backends.parse` returns it, cannot have."""
    kind, address, _ = where
    if kind != "ray" and not (kind == "dask" and address):
        return
    seen: set[tuple[str, str, object]] = set()
    for spec in runs:
        needed = (spec.game.name, spec.learner.name, spec.learner.params.get("bandit"))
        if needed in seen:
            continue
        seen.add(needed)
        for registry, name in ((learners.REGISTRY, needed[1]), (bandits.REGISTRY, needed[2])):
            if _of_main(registry, name):
                raise TacitError(_sentence(registry.kind, name))
        if _of_main(games.REGISTRY, needed[0]) and not _travels(spec):
            raise TacitError(_sentence("game", needed[0]))


def _sentence(kind: str, name: object) -> str:
    return (
        f"the {kind} {name!r} is defined in the script that was started, which workers of a cluster do not import; "
        f"put it in a file of its own and name that file: --import FILE, or scripts= of the Experiment"
    )


def _of_main(registry: Registry[Any], name: object) -> bool:
    known = isinstance(name, str) and name in list(registry)
    return known and getattr(registry.factory(str(name)), "__module__", "") == _MAIN


def _travels(spec: RunSpec) -> bool:
    """Say whether a game can be sent: tables can, functions of the script cannot."""
    if not spec.has_tables:
        return False
    try:
        return _MAIN.encode() not in job.packed_game(spec)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
