"""What is stored of a run must be before anything in it is used: a digest can be right and the content wild."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief
from tacit.engine.curve import ENDED, ENDS, FIRST_COLUMNS, table
from tacit.policies.recorded import take_start

_KINDS, _SOURCES = ("nash", "cce", "ce"), ("exact", "certificate", "model-free", "estimate")

#: No count in a summary is larger.
_MOST = 2**53


def check_summary(given: object, known: Collection[str]) -> dict[str, Any]:
    """Return a summary of which every part is of its kind; its files are among the known ones."""
    table = _table("it", given)
    agents = check.integer("agents", table.get("agents"), least=1, most=_MOST)
    gap, uniform = table.get("gap"), table.get("uniform_gap")
    return {
        "hash": check.text("hash", table.get("hash")),
        "game": check.text("game", table.get("game")),
        "horizon": check.integer("horizon", table.get("horizon"), least=1, most=_MOST),
        "agents": agents,
        "episodes": check.integer("episodes", table.get("episodes"), least=1, most=_MOST),
        "reward": _numbers("reward", table.get("reward"), agents),
        "value": None if table.get("value") is None else _numbers("value", table["value"], agents),
        "chosen": take_start(check.text("chosen", table.get("chosen"))),
        "gap": None if gap is None else _gap(_table("gap", gap), agents),
        "candidates": {
            take_start(check.text("the name of a candidate", name)): _gap(_table(f"candidates.{name}", one), agents)
            for name, one in _table("candidates", table.get("candidates", {})).items()
        },
        "uniform_gap": None if uniform is None else check.real("uniform_gap", uniform, least=0),
        "advice": [_advice(one) for one in _list("advice", table.get("advice", []))],
        "params": _table("params", table.get("params")),
        "notes": [check.text(f"notes[{k}]", note) for k, note in enumerate(_list("notes", table.get("notes", [])))],
        "files": _files(_table("files", table.get("files")), known),
        "seconds": check.real("seconds", table.get("seconds", 0.0), least=0),  # of older results
        "ended": check.choice("end of a run", table.get("ended", "episodes"), ENDS),
    }


def _gap(given: dict[str, Any], agents: int) -> dict[str, Any]:
    return {
        "kind": check.choice("kind of gap", given.get("kind"), _KINDS),
        "source": check.choice("source of a gap", given.get("source"), _SOURCES),
        "upper": _numbers("gap.upper", given.get("upper"), agents),
        "most": None if given.get("most") is None else check.real("gap.most", given["most"], least=0),
        "informative": check.flag("gap.informative", given.get("informative")),
        "value": None if given.get("value") is None else _numbers("gap.value", given["value"], agents),
    }


def _advice(given: object) -> list[str]:
    words = [check.text("a word of advice", word) for word in _list("a piece of advice", given)]
    if len(words) != 2:
        raise TacitError(f"a piece of advice has {len(words)} parts; it must have a kind and a text")
    return words


def _files(given: dict[str, Any], known: Collection[str]) -> dict[str, str]:
    """Return names and digests; a name must be one that a run has, so that it leads nowhere else."""
    for name in given:
        if name not in known:
            raise TacitError(f"files has {brief(name)}; a run's files are {', '.join(known)}")
    return {name: check.text(f"the digest of {name}", given[name]) for name in given}


def _numbers(name: str, given: object, count: int) -> list[float]:
    values = _list(name, given)
    if len(values) != count:
        raise TacitError(f"{name} has {len(values)} numbers; it must have one for each of {count} agents")
    return [check.real(f"{name}[{i}]", value) for i, value in enumerate(values)]


def _list(name: str, given: object) -> list[Any]:
    if not isinstance(given, list):
        raise TacitError(f"{name} is {brief(given)}; it must be a list")
    return given


def _table(name: str, given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise TacitError(f"{name} is {brief(given)}; it must be an object")
    return given


#: Bytes of memory that one byte of a curve may become, and a size that no number in it has.
_SPREAD, _LARGEST = 24, 1e160


def read_curve(content: bytes) -> npt.NDArray[Any]:
    """Return a curve as a structured array, having looked at every line."""
    memory.require(_SPREAD * len(content), "the curve")
    rows: list[dict[str, Any]] = []
    for k, line in enumerate(content.splitlines()):
        try:
            rows.append(read_row(line))
        except TacitError as error:
            raise TacitError(f"it is not a curve: {error} in line {k + 1}") from None
        if list(rows[k]) != list(rows[0]):
            raise TacitError(f"it is not a curve: line {k + 1} has other columns than the first")
    if not rows:
        raise TacitError("it is not a curve: it has no line")
    try:
        curve = table(rows)
    except (OverflowError, ValueError):
        raise TacitError("it is not a curve: it has numbers beyond all bounds") from None
    if curve["episode"][0] < 1 or (np.diff(curve["episode"]) <= 0).any():
        raise TacitError("it is not a curve: its episodes must ascend from 1")
    if not np.isfinite(curve["reward"]).all():
        raise TacitError("it is not a curve: its rewards must be finite")
    return curve


def read_row(line: bytes) -> dict[str, Any]:
    """Return a line of a curve: numbers, nan where nothing was measured, and perhaps a word that says what ended it."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError, MemoryError):
        raise TacitError("what should be JSON is not") from None
    if not isinstance(row, dict) or list(row)[: len(FIRST_COLUMNS)] != FIRST_COLUMNS:
        raise TacitError(f"there should be {', '.join(FIRST_COLUMNS)} first")
    for name, number in row.items():
        word = name == ENDED and number in ("", *ENDS)
        plain = type(number) in (int, float) and abs(number) <= _LARGEST and name != ENDED
        if not (word or plain or (number is None and name != ENDED)):
            raise TacitError(f"{name} is {brief(number)}")
    known = {"gap_latest": "gap_recent"}  # of older results
    return {str(known.get(name, name)): math.nan if number is None else number for name, number in row.items()}
