"""Runs on disk: a directory for each, named by the hash of its content.

    spec.toml        what was run, the hash, the versions
    curve.jsonl      the curve, one line for each measurement, written as it happens
    policy.npz       the policy, where it is kept
    game.json        beside the policy of an environment: the environment's sizes
    machine.json     where it ran and for how long: of all files the only one that is not the same on another machine
    summary.json     the numbers, and the digests of the files above; written last: a run that has one is finished
    checkpoint.npz   while the run is not finished

`run.save` writes such a directory too, with the last iterate (`last.npz`) and the game (`game.npz`);
`tacit.Run.load` reads both.

Every file but the growing curve is written atomically. One that was cut short or altered is reported by name and never
used.

While a run takes place somewhere, one process holds its directory, and it alone writes there: a lock ends with the
process, and a process that is killed leaves whole lines of the curve, and perhaps the beginning of one more. A worker
that shares the disk keeps its checkpoint there too, and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import platform
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

import filelock
import msgspec
import numpy as np
import numpy.typing as npt

from tacit import games, policies
from tacit.core import check, files, memory
from tacit.core.errors import TacitError, one_line
from tacit.engine import Event, Measured, Run, Started
from tacit.engine.drive import ENDED, FIRST_COLUMNS, table
from tacit.engine.run import Candidate, Gaps
from tacit.environments.episodes import EnvironmentGame
from tacit.environments.pettingzoo import NO_TABLES
from tacit.experiments.results import Ended, Outcome, outcome
from tacit.experiments.spec import GameSpec, LearnerSpec, RunSpec, check_keys, convert, dumps, read_toml
from tacit.games.tabular import as_tables
from tacit.options import Options

SPEC, CURVE, POLICY, SUMMARY, CHECKPOINT = "spec.toml", "curve.jsonl", "policy.npz", "summary.json", "checkpoint.npz"
MACHINE, LOCK = "machine.json", ".lock"
LAST, GAME, SIZES = "last.npz", "game.npz", "game.json"

#: What of an outcome stands in the summary: all but what the other files have, and what is known only just now.
_ELSEWHERE = ("spec", "curve", "interrupted", "error", "learned", "span", "seconds", "where")
#: The largest summary that is read, and bytes of memory that one byte of it or of a curve may become.
_LIMIT, _SPREAD = 64_000_000, 24


@dataclass(frozen=True)
class StoredSpec:
    """The content of `spec.toml`."""

    hash: str
    run: RunSpec
    versions: dict[str, str]  # of python, numpy and numba


def begin(directory: Path, spec: RunSpec, *, sync: bool = True) -> None:
    """Write what is going to be run."""
    import numba

    versions = {"python": platform.python_version(), "numpy": np.__version__, "numba": numba.__version__}
    content = dumps(StoredSpec(spec.hash, spec, versions))
    try:
        files.write(directory / SPEC, content.encode(), sync=sync)
    except UnicodeEncodeError:
        raise TacitError(f"cannot write {directory / SPEC}: a name in it is not valid text") from None


def others(run: Run, spec: RunSpec) -> dict[str, bytes]:
    """Return the files of a run besides its numbers, which a worker sends back."""
    if not spec.options.keep:
        return {}
    contents, game = _saved(run.policy, POLICY), run.game
    if isinstance(game, EnvironmentGame):
        sizes = {name: getattr(game, name) for name in ("name", "actions", "horizon", "reward_range")}
        contents[SIZES] = json.dumps(sizes).encode()
    return contents


def _saved(thing: Any, name: str) -> dict[str, bytes]:
    """Return the file that a policy or game saves, by its name. Other objects save none."""
    if not hasattr(thing, "save"):
        return {}
    with tempfile.TemporaryDirectory(prefix="tacit-") as folder, files.skip_sync():
        thing.save(Path(folder) / name)
        return {name: (Path(folder) / name).read_bytes()}


def finish(directory: Path, outcome: Outcome, others: Mapping[str, bytes]) -> None:
    """Store a finished run, whose curve is there already; the summary makes it one."""
    digests = {CURVE: digest(files.read(directory / CURVE))}
    for name, content in others.items():
        files.write(directory / name, content)
        digests[name] = digest(content)
    machine: dict[str, Any] = {"seconds": outcome.seconds, "where": outcome.where}
    machine["digest"] = _digest(machine)
    files.write(directory / MACHINE, json.dumps(machine).encode(), sync=False)
    numbers = {key: value for key, value in asdict(outcome).items() if key not in _ELSEWHERE}
    summary = {"hash": outcome.spec.hash, **numbers, "notes": list(outcome.notes), "files": digests}
    summary["digest"] = _digest(summary)
    files.write(directory / SUMMARY, json.dumps(summary, indent=2).encode())


def save_run(run: Run, path: str | os.PathLike[str]) -> None:
    """Store a run, its last iterate and its game in a directory; see `Run.save`."""
    game, options = run.game, Options(episodes=max(run.episodes, 1), seed=run.seed)
    tables = getattr(game, "digest", NO_TABLES)
    spec = RunSpec(GameSpec(game.name or type(game).__name__), LearnerSpec(run.learner), tables, options)
    directory = files.path(path)
    with RunDirectory(directory, spec) as stored:
        if not stored.hold() or any(part.name != LOCK for part in directory.iterdir()):
            raise TacitError(f"{path} must be a new or empty directory; got one that holds something")
        contents = _saved(run.last, LAST) | _saved(as_tables(game), GAME)
        ended = replace(outcome(spec, run, learned=0, span=(0.0, 0.0)), interrupted=False)
        stored.store(Delivery(ended, {**others(run, spec), **contents}))


def load_run(path: str | os.PathLike[str], game: Any = None) -> Run:
    """Read a run that `save_run` or an experiment stored; see `Run.load`."""
    directory = files.path(path)
    stored = load(directory)
    policy = load_policy(directory)
    names = _summary(directory)["files"]
    if game is None and GAME in names:
        game = games.load(directory / GAME)
    elif SIZES in names:
        with _report_altered(directory / SIZES):
            sizes = policies.base.parse_json(files.read(directory / SIZES).decode(), SIZES, "JSON")
            source, game = getattr(game, "env", game), EnvironmentGame.of_policy(policy, sizes)
            game.source = source  # None, or the environment
    elif game is None and stored.spec.has_tables and games.is_registered(stored.spec.game.name):
        game = games.make(stored.spec.game.name, **stored.spec.game.params)
    if game is None:
        raise TacitError(f"game must be given: {directory} has none, and {stored.spec.game.name} may be code; got None")
    last = policies.load(directory / LAST) if LAST in names else policy
    candidates = {
        name: gap.restore(policy if name == stored.chosen else None) for name, gap in stored.candidates.items()
    }
    candidates.setdefault(stored.chosen, Candidate.with_gaps(Gaps.unknown("nash", stored.agents), policy=policy))
    if "last" in candidates and LAST in names:
        candidates["last"] = candidates["last"].with_policy(last)  # type: ignore[arg-type]
    same = ("episodes", "chosen", "curve", "params", "seconds", "ended", "notes", "place", "returns")
    return Run(
        game,
        stored.spec.learner.name,
        seed=stored.spec.seed,
        last=last,  # type: ignore[arg-type]
        candidates=candidates,
        reward=np.array(stored.reward),
        visits=None if stored.visits is None else np.array(stored.visits),
        causes=stored.advice,
        **{name: getattr(stored, name) for name in same},
    )


def is_finished(directory: Path) -> bool:
    """Return whether a run has ended."""
    return os.path.exists(directory / SUMMARY)  # false too where it may not be looked at


def check_directory(directory: Path) -> None:
    """Check that a path is a directory, as that of results has to be."""
    if directory.is_dir():
        return
    raise TacitError(f"{directory} must be a directory of results, the --out of `tacit run`; got no directory")


def load(directory: Path) -> Outcome:
    """Read a finished run; whatever is not as it was written is reported."""
    check_directory(directory)
    if not is_finished(directory):
        raise TacitError(f"{directory} holds no finished run; run the command that began it again to resume it")
    summary, stored = _summary(directory), load_spec(directory)
    if summary["hash"] != stored.hash:
        raise TacitError(f"{directory / SUMMARY} is of another run than {directory / SPEC}{_AGAIN}")
    for name in summary["files"]:
        _whole(directory, name, summary)
    with _report_altered(directory / CURVE):
        curve = read_curve(files.read(directory / CURVE))
    with _report_altered(directory / SUMMARY):
        machine = _document(directory / MACHINE) if os.path.lexists(directory / MACHINE) else {}  # it is whole without
        table = {**summary, **machine, "spec": stored.run, "curve": curve}
        outcome = convert(table, Outcome)
        gaps = [gap for gap in (outcome.gap, *outcome.candidates.values()) if gap is not None]
        for numbers in (outcome.reward, outcome.value, *(part for gap in gaps for part in (gap.upper, gap.value))):
            if numbers is not None and (len(numbers) != outcome.agents or not np.isfinite(numbers).all()):
                raise TacitError(f"it must have a finite number for each of {outcome.agents} agents; got {numbers}")
        return outcome


@contextmanager
def _report_altered(path: Path) -> Iterator[None]:
    """Within the block, what is wrong is wrong with a file."""
    try:
        yield
    except (ValueError, RecursionError) as error:  # TacitError is a ValueError
        raise TacitError(f"{path} is altered: {one_line(error)}{_AGAIN}") from None


def load_policy(directory: Path) -> Any:
    """Read the policy of a finished run."""
    summary = _summary(directory)
    if POLICY not in summary["files"]:
        raise TacitError(f"{directory} holds no policy; run with keep = true to store it")
    _whole(directory, POLICY, summary)
    return policies.load(directory / POLICY)


def directories(directory: Path) -> list[Path]:
    """Return the finished runs that a path means: itself, or all that it holds."""
    check_directory(directory)
    if os.path.exists(directory / SPEC) or is_finished(directory):
        return [directory]
    finished = sorted(part for part in directory.iterdir() if part.is_dir() and is_finished(part))
    if not finished:
        raise TacitError(f"{directory} holds no finished run; `tacit run … --out {directory}` puts them there")
    return finished


_AGAIN = "; remove the directory to have it run again"


def _document(path: Path) -> Any:
    """Read a JSON document that holds its own digest."""
    try:
        document = json.loads(files.read(path, limit=_LIMIT, spread=_SPREAD))
        intact = isinstance(document, dict) and document.get("digest") == _digest(document)
    except TacitError:
        raise
    except (ValueError, TypeError, RecursionError, MemoryError):
        intact = False
    if not intact:
        raise TacitError(f"{path} is cut short or altered{_AGAIN}")
    return document


def _summary(directory: Path) -> dict[str, Any]:
    """Read a summary. Its files must be some that a run has, so that no name leads elsewhere."""
    summary: dict[str, Any] = _document(directory / SUMMARY)
    names = (CURVE, POLICY, LAST, GAME, SIZES)
    with _report_altered(directory / SUMMARY):
        check.text("hash", summary.get("hash"))
        digests = check_keys(summary.get("files"), names, "files")
        for name in digests:
            check.text(f"the digest of {name}", digests[name])
    return summary


def load_spec(directory: Path) -> StoredSpec:
    """Read what a run is of, finished or not."""
    with _report_altered(directory / SPEC):
        stored = convert(read_toml(directory / SPEC), StoredSpec)
        if stored.run.hash != stored.hash:
            raise TacitError("it is not of the hash that it states")
    return stored


def _whole(directory: Path, name: str, summary: dict[str, Any]) -> bytes:
    """Return the content of a file that is as the summary says."""
    content = files.read(directory / name)
    if digest(content) != summary["files"].get(name):
        raise TacitError(f"{directory / name} is cut short or altered{_AGAIN}")
    return content


#: A line of a curve: numbers, null where nothing was measured, and perhaps a word that says what ended it.
_Number = Annotated[float, msgspec.Meta(ge=-1e160, le=1e160)]
_ROW = msgspec.json.Decoder(dict[str, _Number | Literal["", Ended] | None])


def read_curve(content: bytes) -> npt.NDArray[Any]:
    """Return a curve as a structured array."""
    memory.require(_SPREAD * len(content), "the curve")
    try:
        rows = [_ROW.decode(line) for line in content.splitlines()]
        if not rows or any(list(row) != list(rows[0]) for row in rows) or list(rows[0])[:4] != FIRST_COLUMNS:
            raise TacitError(f"all rows must have the same columns, first {', '.join(FIRST_COLUMNS)}")
        if not all(isinstance(row.get(ENDED, ""), str) for row in rows):
            raise TacitError(f"{ENDED} must be a word")
        curve = table([{name: math.nan if x is None else x for name, x in row.items()} for row in rows])
        if curve["episode"][0] < 1 or (np.diff(curve["episode"]) <= 0).any():
            raise TacitError("its episodes must ascend from 1")
        if not np.isfinite(curve["reward"]).all():
            raise TacitError("its rewards must be finite")
    except (ValueError, OverflowError, RecursionError) as error:  # what msgspec raises is a ValueError
        raise TacitError(f"it is not a curve: {one_line(error, 200)}") from None
    return curve


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def _digest(summary: dict[str, Any]) -> str:
    content = {key: value for key, value in summary.items() if key != "digest"}
    return digest(json.dumps(content, sort_keys=True).encode())


@dataclass(frozen=True)
class Delivery:
    """What a worker sends back: the numbers, and other files of the run."""

    outcome: Outcome
    others: dict[str, bytes]


class RunDirectory:
    """Holds a run's directory, writes its curve and stores its end."""

    def __init__(self, directory: Path, spec: RunSpec) -> None:
        self._path, self._spec = directory, spec
        self._lock = contextlib.ExitStack()
        self._curve: TextIO | None = None
        self._rows = 0

    def __enter__(self) -> RunDirectory:
        return self

    def __exit__(self, *error: object) -> None:
        """Let go of the directory."""
        self._close_curve()
        self._lock.close()

    def hold(self) -> bool:
        """Hold the directory, unless another process does."""
        make_directory(self._path)
        return self._lock.enter_context(lock_directory(self._path))

    def begin(self) -> Outcome | None:
        """Return the outcome of a run that is finished. Otherwise write what is going to be run."""
        stored = read_stored(self._path, self._spec)
        if stored is None:
            begin(self._path, self._spec, sync=False)
        return stored

    def event(self, event: Event) -> None:
        """Write the rows that a checkpoint had, then a line for each measurement."""
        match event:
            case Started(rows=rows):
                self._close_curve()
                self._write_curve(rows, sync=False)
                self._curve = open(self._path / CURVE, "a", encoding="utf-8", newline="\n")  # noqa: SIM115
            case Measured(row) if self._curve is not None:
                with files.name_errors(self._path / CURVE):
                    self._curve.write(_line(row))
                    self._curve.flush()
                self._rows += 1

    def store(self, run: Delivery) -> Outcome:
        """Store a run, unless it was interrupted, and let go of the directory."""
        outcome = run.outcome
        with self:
            self._close_curve()
            if not outcome.interrupted:
                begin(self._path, self._spec)  # synced
                if self._rows != len(outcome.curve):  # events can be lost on their way, results cannot
                    names = outcome.curve.dtype.names or ()
                    self._write_curve([dict(zip(names, row, strict=True)) for row in outcome.curve.tolist()])
                finish(self._path, outcome, run.others)
                remove_parts(self._path)  # of workers that were killed
                tidy(self._path)
        return outcome

    def _write_curve(self, rows: Sequence[Mapping[str, Any]], *, sync: bool = True) -> None:
        """Write a curve over what is there."""
        files.write(self._path / CURVE, "".join(map(_line, rows)).encode(), sync=sync)
        self._rows = len(rows)

    def _close_curve(self) -> None:
        if self._curve is not None:
            stream, self._curve = self._curve, None
            with files.name_errors(self._path / CURVE), stream:
                stream.flush()
                os.fsync(stream.fileno())  # before a summary says that it is whole


def read_stored(directory: Path, spec: RunSpec) -> Outcome | None:
    """Return the outcome of a run that is finished already; what is damaged raises."""
    if not is_finished(directory):
        return None
    outcome = load(directory)
    if outcome.spec.hash != spec.hash:
        raise TacitError(f"{directory} holds another run than its name says; remove it to have it run again")
    if parts(directory):  # left by a kill right after the end, or being written by another process
        with lock_directory(directory):  # which removes the former
            pass
    tidy(directory)
    return outcome


def tidy(directory: Path) -> None:
    """Remove what a finished run no longer needs."""
    for left in (CHECKPOINT, LOCK):
        with contextlib.suppress(OSError):  # some systems do not remove a file that is open
            (directory / left).unlink(missing_ok=True)


def _line(row: Any) -> str:
    """Write a row as JSON; what was not measured is null."""
    plain = {name: x if isinstance(x, str) or math.isfinite(x) else None for name, x in row.items()}
    return json.dumps({**plain, "episode": int(row["episode"])}) + "\n"


def make_directory(path: Path) -> None:
    """Make a directory, and those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None


@contextmanager
def lock_directory(path: Path) -> Iterator[bool]:
    """Lock a directory, unless another process has. The block is given whether it is locked.

    The system ends the lock with the process, however it dies. What a killed process left unfinished is removed.
    """
    lock = filelock.FileLock(path / LOCK, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout:
        yield False
        return
    except OSError as error:
        raise TacitError(f"cannot write {path}: {error.strerror or error}") from None
    try:
        remove_parts(path)
        yield True
    finally:
        lock.release()


def parts(path: Path) -> list[Path]:
    """Return the files that were not written to their end, or are being written."""
    return list(path.glob(f".*{files.PART}"))


def remove_parts(path: Path) -> None:
    """Remove what killed processes left unfinished, from a directory that this process holds."""
    for left in parts(path):
        with contextlib.suppress(OSError):  # a directory of that name is not ours
            left.unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Return whether another process holds a directory right now."""
    with lock_directory(path) as ours:
        return not ours
