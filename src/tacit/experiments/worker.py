"""What a worker process does: it imports the user's scripts, then runs orders.

A script makes games, learners, bandits and environments of the user's own known. It is code: it is run only where the
user names it, on the command line (`--import`) or in Python, never because a file lists it.

No disk is shared with a worker. Scripts travel as text: where the same file is there too, it is imported from there;
elsewhere from a copy. Other modules have to be installed there.
"""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tacit import games
from tacit.core import files
from tacit.core.compilation import package_digest
from tacit.core.errors import TacitError, one_line
from tacit.engine import Event, Noted, Started, Watcher
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.events import Advanced
from tacit.environments.engine import CutShort
from tacit.environments.pettingzoo import NamedEnvironment, search_also
from tacit.experiments import store
from tacit.experiments.results import outcome
from tacit.experiments.spec import RunSpec, same_game
from tacit.games.exact import ExactGame
from tacit.games.tabular import as_tables
from tacit.learning import run_learner


def import_scripts(paths: Sequence[str]) -> None:
    """Import scripts as modules named by their files, each once."""
    for path in paths:
        file = Path(path).resolve()
        if is_imported(path):
            continue
        if file.stem in sys.modules:
            raise TacitError(f"{path} cannot be imported: a module {file.stem!r} is there already; rename the file")
        spec = importlib.util.spec_from_file_location(file.stem, file)
        if spec is None or spec.loader is None or not file.is_file():
            raise TacitError(f"{path} cannot be imported: it must be a Python file")
        search_also(str(file.parent))  # what lies beside it
        module = importlib.util.module_from_spec(spec)
        sys.modules[file.stem] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:  # whatever a script raises
            del sys.modules[file.stem]
            reason = one_line(f"{type(error).__name__}: {error}", 200)
            raise TacitError(f"{path} cannot be imported: {reason}") from error


def is_imported(path: str) -> bool:
    """Return whether a script has been imported in this process."""
    file = Path(path).resolve()
    return getattr(sys.modules.get(file.stem), "__file__", None) == str(file)


def require_imported(experiment: str, paths: Sequence[str]) -> None:
    """Raise unless the user has had every script of an experiment imported."""
    for path in paths:
        if not is_imported(path):
            raise TacitError(
                f"{experiment} needs {path}, which is code; to run it, say --import {path} too, or import it in Python"
            )


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
        import_scripts([_at_hand(Path(path), content) for path, content in self.scripts])


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


@dataclass(frozen=True)
class Order:
    """A run as it is sent to a worker. Pickled, it takes along a game that a worker may not have.

    Attributes
    ----------
    spec : RunSpec
    directory : path, optional
        Where the run is kept; a worker that sees it, because the disk is shared, keeps the checkpoint there.
    every : float
        Seconds between two checkpoints.
    game : game, optional
        The game, of a file, or of a name that the started script registers.
    """

    spec: RunSpec
    directory: Path | None = None
    every: float = 30.0
    game: Any = None

    def __getstate__(self) -> dict[str, Any]:
        name = self.spec.game.name
        travels = games.is_file(name) or _is_of_main(name)
        return {**self.__dict__, "game": as_tables(_game(self)) if travels else None}


def _is_of_main(name: str) -> bool:
    """Return whether the started script registers a game. Workers of a cluster do not import it."""
    factory = games.REGISTRY.factory(name) if name in games.REGISTRY else None
    return getattr(factory, "__module__", None) == "__main__"


#: Seconds between two checkpoints of an environment, which may hang: whoever then gives up loses no more than these.
HANGS = 3.0


class Timing:
    """A watcher: the episodes before this process, when it began and last advanced."""

    before, began, ended = 0, 0.0, 0.0

    def __call__(self, event: Event) -> None:
        """Look at the clock."""
        match event:
            case Started(done=done):
                self.before, self.began = done, time.time()
            case Advanced():  # what follows the last is evaluation, and may be compiled first
                self.ended = time.time()


def work(order: Order, watch: Watcher | None) -> store.Delivery:
    """Run an order wherever this is, and return all that is stored."""
    spec, clock, checkpoint = order.spec, Timing(), None
    game: Any = _game(order)
    if order.directory is not None and order.directory.is_dir():
        every = order.every if spec.has_tables else min(order.every, HANGS)
        note = (lambda text: None) if watch is None else (lambda text: watch(Noted(text)))
        checkpoint = Checkpoint(order.directory / store.CHECKPOINT, key=spec.hash, every=every, note=note)
    with contextlib.nullcontext(game) if spec.has_tables else game.enter() as entered:  # an environment for each run
        learner = spec.learner.learner or spec.learner.name
        run = run_learner(entered, learner, spec.learner.params, spec.options, clock, watch, checkpoint=checkpoint)
    if order.directory is not None and not isinstance(run.error, CutShort):
        run.raise_error()  # what was done up to the last checkpoint is kept
    ended_run = outcome(spec, run, learned=run.episodes - clock.before, span=(clock.began, clock.ended))
    stored = order.directory is not None and not run.interrupted
    return store.Delivery(ended_run, store.others(run, spec) if stored else {})


#: Games of the runs of this process, by what they are: runs of the same game share it.
_GAMES: dict[str, ExactGame | NamedEnvironment] = {}
_MOST_GAMES = 16


def forget_games() -> None:
    """Make games anew from here on. A file may have other names and notes by now."""
    _GAMES.clear()


def _game(order: Order) -> ExactGame | NamedEnvironment:
    """Return the game of a run: known already, sent along, or made anew."""
    spec = order.spec
    key = f"{spec.tables} {spec.game}"
    game = _GAMES.get(key)
    if game is None:
        game = same_game(spec, order.game)
        if len(_GAMES) >= _MOST_GAMES:
            _GAMES.clear()
        _GAMES[key] = game
    return game
