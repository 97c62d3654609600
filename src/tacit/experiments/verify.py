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
        "chosen": check.text("chosen", table.get("chosen")),
        "gap": None if gap is None else _gap(_table("gap", gap), agents),
        "candidates": {
            check.text("the name of a candidate", name): _gap(_table(f"candidates.{name}", one), agents)
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
    try:
        rows = [json.loads(line) for line in content.splitlines()]
    except (ValueError, RecursionError, MemoryError):
        raise TacitError("it is not a curve: a line is not JSON") from None
    if not rows or not isinstance(rows[0], dict) or list(rows[0])[:4] != FIRST_COLUMNS:
        raise TacitError(f"it is not a curve: its lines must begin with {', '.join(FIRST_COLUMNS)}")
    for k, row in enumerate(rows):
        if not isinstance(row, dict) or list(row) != list(rows[0]):
            raise TacitError(f"it is not a curve: line {k + 1} has other columns than the first")
        for name, number in row.items():
            if name == ENDED and number in ("", *ENDS):
                continue
            plain = isinstance(number, int | float) and not isinstance(number, bool) and abs(number) <= _LARGEST
            if (number is not None and not plain) or name == ENDED:
                raise TacitError(f"it is not a curve: {name} is {brief(number)} in line {k + 1}")
    try:
        curve = table([{name: math.nan if x is None else x for name, x in row.items()} for row in rows])
    except (OverflowError, ValueError):
        raise TacitError("it is not a curve: it has numbers beyond all bounds") from None
    if curve["episode"][0] < 1 or (np.diff(curve["episode"]) <= 0).any() or not np.isfinite(curve["reward"]).all():
        raise TacitError("it is not a curve: its episodes must ascend from 1, and its rewards be finite")
    return curve
