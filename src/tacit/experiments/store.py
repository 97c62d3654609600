"""Runs on disk: a directory for each, named by the hash of its content.

    spec.toml        what was run, the hash, the versions
    curve.jsonl      the curve, one line for each measurement, written as it happens
    policy.npz       the policy, where it is kept
    states.json      of an environment, what each agent observed in each state that the policy numbers
    machine.json     where it ran and for how long: of all files the only one that is not the same on another machine
    summary.json     the numbers, and the digests of the files above; written last: a run that has one is finished
    checkpoint.npz   while the run is not finished

Every file but the growing curve is written atomically. One that was cut short or altered is reported by name and never
used.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit import policies
from tacit.core import check, files
from tacit.core.errors import TacitError, brief, one_line
from tacit.engine import Run
from tacit.engine.run import Advice
from tacit.environments.game import EnvironmentGame
from tacit.environments.observations import OVER
from tacit.experiments import toml, verify
from tacit.experiments.outcome import GapOutcome, Outcome
from tacit.experiments.plan import RunSpec

SPEC, CURVE, POLICY, SUMMARY, CHECKPOINT = "spec.toml", "curve.jsonl", "policy.npz", "summary.json", "checkpoint.npz"
STATES, MACHINE = "states.json", "machine.json"

#: What of an outcome stands in the summary: all but what the other files have, and what is known only just now.
_ELSEWHERE = ("spec", "curve", "interrupted", "learned", "span", "seconds", "where")
#: The largest summary that is read, and bytes of memory that one byte of it may become.
_LIMIT, _SPREAD = 64_000_000, 24


@dataclass(frozen=True)
class Versions:
    """What a run was made with."""

    python: str
    numpy: str
    numba: str


@dataclass(frozen=True)
class StoredSpec:
    """The content of `spec.toml`."""

    hash: str
    run: RunSpec
    versions: Versions


def begin(place: Path, spec: RunSpec, *, sync: bool = True) -> None:
    """Write what is going to be run."""
    import numba

    made = Versions(platform.python_version(), np.__version__, numba.__version__)
    content = toml.dumps(StoredSpec(spec.hash, spec, made))
    try:
        files.write(place / SPEC, content.encode(), sync=sync)
    except UnicodeEncodeError:
        raise TacitError(f"cannot write {place / SPEC}: a name in it is not valid text") from None


def others(run: Run, spec: RunSpec) -> dict[str, bytes]:
    """Return the files of a run besides its numbers: what a worker sends back to the process that stores it."""
    if not spec.keep:
        return {}
    with tempfile.TemporaryDirectory(prefix="tacit-") as held, files.skip_sync():
        run.policy.save(Path(held) / POLICY)
        found = {POLICY: (Path(held) / POLICY).read_bytes()}
    if isinstance(run.game, EnvironmentGame):
        found[STATES] = json.dumps([[repr(key) for key in own.met] for own in run.game.observations]).encode()
    return found


def finish(place: Path, outcome: Outcome, others: Mapping[str, bytes]) -> None:
    """Store a finished run, whose curve is there already; the summary makes it one."""
    digests = {CURVE: digest(files.read(place / CURVE))}
    for name, content in others.items():
        files.write(place / name, content)
        digests[name] = digest(content)
    machine = {"seconds": outcome.seconds, "where": outcome.where}
    files.write(place / MACHINE, json.dumps({**machine, "digest": _digest(machine)}).encode(), sync=False)
    kept = {key: value for key, value in asdict(outcome).items() if key not in _ELSEWHERE}
    summary = {"hash": outcome.spec.hash, **kept, "notes": list(outcome.notes), "files": digests}
    summary["digest"] = _digest(summary)
    files.write(place / SUMMARY, json.dumps(summary, indent=2).encode())


def load_states(place: Path) -> list[list[Any]]:
    """Read what each agent of a finished run in an environment had met, in the order of the policy's states."""
    summary = _summary(place)
    if STATES not in summary["files"]:
        raise TacitError(f"{place} does not say what its states are")
    content = _whole(place, STATES, summary)
    try:
        return [[_observation(text) for text in own] for own in json.loads(content)]
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        told = f"{place / STATES} has states that cannot be read back ({one_line(error, 100)})"
        raise TacitError(f"{told}; only numbers, text and tuples of them can") from None


def _observation(text: str) -> Any:
    """Return what an agent saw, from how Python writes it: plain values only, nothing is called."""
    return OVER if text == repr(OVER) else ast.literal_eval(text)


def finished(place: Path) -> bool:
    """Return whether a run has ended."""
    return os.path.exists(place / SUMMARY)  # false too where it may not be looked at


def check_directory(place: Path) -> None:
    """Check that a path is a directory, as that of results has to be."""
    if place.is_dir():
        return
    if place.suffix == ".toml" and place.is_file():
        told = "is an experiment, not a directory of results; `tacit run` with --out DIR runs it and stores them in DIR"
        raise TacitError(f"{place} {told}")
    if place.exists():
        raise TacitError(f"{place} is a file, not a directory of results")
    raise TacitError(f"no directory {place}")


def load(place: Path, *, most: int | None = None) -> Outcome:
    """Read a finished run; whatever is not as it was written is reported.

    Of a curve of more than `most` bytes, evenly spaced rows and the last are kept: for those who only look at it.
    """
    check_directory(place)
    if not finished(place):
        raise TacitError(f"{place} holds no finished run; run the command that began it again to resume it")
    summary, stored = _summary(place), load_spec(place)
    if summary["hash"] != stored.hash:
        raise TacitError(f"{place / SUMMARY} is of another run than {place / SPEC}{_AGAIN}")
    for name in summary["files"]:
        if name != CURVE:
            _whole(place, name, summary)
    kept = {key: value for key, value in summary.items() if key not in ("hash", "files", "digest")}
    gap = summary["gap"]
    kept |= {"gap": None if gap is None else GapOutcome(**gap), "notes": tuple(summary["notes"])}
    kept["candidates"] = {name: GapOutcome(**one) for name, one in summary["candidates"].items()}
    kept["advice"] = tuple(Advice(*words) for words in summary["advice"])
    kept |= _machine(place)
    long = most is not None and (place / CURVE).stat().st_size > most
    content = _sample_curve(place, most or 1, summary) if long else _whole(place, CURVE, summary)
    return Outcome(spec=stored.run, curve=_curve(place, content), **kept)


def load_policy(place: Path, candidate: str | None = None) -> Any:
    """Read the policy of a finished run, or of a record the other way to begin, "average" or "latest"."""
    summary = _summary(place)
    if POLICY not in summary["files"]:
        raise TacitError(f"{place} holds no policy; run with keep = true to store it")
    _whole(place, POLICY, summary)
    policy = policies.load(place / POLICY)
    if candidate is None or getattr(policy, "start", None) == candidate:
        return policy
    if not isinstance(policy, policies.RecordedPolicy):
        raise TacitError(f"{place} holds {brief(policy)}, which has no {candidate!r}; leave --candidate out")
    return policy.with_start(candidate)


def directories(place: Path) -> list[Path]:
    """Return the finished runs that a path means: itself, or all that it holds."""
    check_directory(place)
    if os.path.exists(place / SPEC) or finished(place):
        return [place]
    found = sorted(part for part in place.iterdir() if part.is_dir() and finished(part))
    if not found:
        raise TacitError(f"{place} holds no finished run; `tacit run … --out {place}` puts them there")
    return found


_AGAIN = "; remove the directory to have it run again"


def _document(path: Path) -> Any:
    """Read a JSON document that holds its own digest."""
    try:
        given = json.loads(files.read(path, limit=_LIMIT, spread=_SPREAD))
        whole = isinstance(given, dict) and given.get("digest") == _digest(given)
    except TacitError:
        raise
    except (ValueError, TypeError, RecursionError, MemoryError):
        whole = False
    if not whole:
        raise TacitError(f"{path} is cut short or altered{_AGAIN}")
    return given


def _machine(place: Path) -> dict[str, Any]:
    """Read where a run was made and how long it took; a run without that is whole all the same."""
    if not os.path.lexists(place / MACHINE):
        return {}
    given = _document(place / MACHINE)
    try:
        seconds, where = check.real("seconds", given.get("seconds"), least=0), given.get("where")
    except TacitError as error:
        raise TacitError(f"{place / MACHINE} is altered: {error}{_AGAIN}") from None
    return {"seconds": seconds, "where": where if isinstance(where, str) else ""}


def _summary(place: Path) -> dict[str, Any]:
    given = _document(place / SUMMARY)
    try:
        return verify.check_summary(given, (CURVE, POLICY, STATES))
    except (TacitError, RecursionError) as error:
        raise TacitError(f"{place / SUMMARY} is altered: {one_line(error)}{_AGAIN}") from None


def load_spec(place: Path) -> StoredSpec:
    """Read what a run is of, finished or not."""
    stored = toml.load(place / SPEC, StoredSpec)
    try:
        same = stored.run.hash == stored.hash
    except (TacitError, RecursionError, ValueError):  # a date, which no run has, or a number of thousands of digits
        same = False
    if not same:
        raise TacitError(f"{place / SPEC} is altered: it is not of the hash that it states{_AGAIN}")
    return stored


def _whole(place: Path, name: str, summary: dict[str, Any]) -> bytes:
    """Return the content of a file that is as the summary says."""
    content = files.read(place / name)
    if digest(content) != summary["files"].get(name):
        raise TacitError(f"{place / name} is cut short or altered{_AGAIN}")
    return content


def _sample_curve(place: Path, most: int, summary: dict[str, Any]) -> bytes:
    """Return evenly spaced lines of a curve, about `most` bytes of them, and the last; all of it is checked."""
    hashed, kept, line = hashlib.sha256(), list[bytes](), b""
    with files.open_regular(place / CURVE) as (stream, size):
        every = -(-size // most)
        for k, line in enumerate(iter(lambda: stream.readline(most), b"")):
            hashed.update(line)
            if k % every == 0:
                kept.append(line)
    if hashed.hexdigest() != summary["files"].get(CURVE):
        raise TacitError(f"{place / CURVE} is cut short or altered{_AGAIN}")
    return b"".join(kept if kept[-1:] == [line] else [*kept, line])


def _curve(place: Path, content: bytes) -> npt.NDArray[Any]:
    try:
        return verify.read_curve(content)
    except TacitError as error:
        raise TacitError(f"{place / CURVE} is altered: {error}{_AGAIN}") from None


def digest(content: bytes) -> str:
    """Return the SHA-256 of a content."""
    return hashlib.sha256(content).hexdigest()


def _digest(summary: dict[str, Any]) -> str:
    content = {key: value for key, value in summary.items() if key != "digest"}
    return digest(json.dumps(content, sort_keys=True).encode())
