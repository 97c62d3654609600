"""Dataclasses from TOML and JSON and back, by msgspec, with errors that name the key.

TOML has no None: a field of None is left out, and among parameters the word "none" stands for it.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import tomli_w

from tacit.core import check, files
from tacit.core.errors import TacitError, brief, one_line

T = TypeVar("T")
_NONE = "none"

#: The largest file that is read, and bytes of memory that one byte of it may become.
LIMIT, _SPREAD = 1_000_000, 100

#: Parts of a key; the time and the memory to read one grow with their square.
_DOTS = 100

#: What msgspec's names of types are called in errors.
_TYPES = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a table",
    "array": "a list",
    "null": "none",
}


def read(path: Path) -> dict[str, Any]:
    """Return the table in a TOML file, with None for the word "none"."""
    content = files.read(path, limit=LIMIT, spread=_SPREAD)
    try:
        text = content.decode()
        if any(piece.count(".") > _DOTS for piece in re.split(r"[,=\n{}\[\]]", text)):
            raise TacitError(f"it has a key of more than {_DOTS} parts")
        table: dict[str, Any] = replace_none(tomllib.loads(text))
    except (ValueError, RecursionError, MemoryError) as error:  # no TOML, no UTF-8, or a number of 5000 digits
        raise TacitError(f"{path} is not a TOML file: {one_line(error, 200)}") from None
    return table


def load(path: Path, kind: type[T]) -> T:
    """Read a TOML file into a dataclass."""
    try:
        return convert(read(path), kind)
    except TacitError as error:
        prefix = "" if str(path) in str(error) else f"{path}: "
        raise TacitError(f"{prefix}{error}") from None


def convert(table: object, kind: type[T], where: str = "") -> T:
    """Return a table as a dataclass; errors name the key, after `where`."""
    try:
        return msgspec.convert(table, kind)
    except (msgspec.ValidationError, ValueError, OverflowError, RecursionError) as error:
        raise TacitError(_sentence(one_line(error), where)) from None


def _sentence(message: str, where: str) -> str:
    """Rewrite a message of msgspec.

    >>> _sentence("Expected `int | null`, got `str` - at `$.options.seed`", "run")
    'run.options.seed must be a whole number or none; got text'
    """
    text, _, path = message.partition(" - at `$")
    key = f"{where}{path.rstrip('`')}".lstrip(".")
    expected = re.fullmatch(r"Expected `(.*)`, got `(.*)`", text)
    if expected is not None:
        wanted = " or ".join(_TYPES.get(one, one) for one in expected[1].split(" | "))
        return f"{key or 'the file'} must be {wanted}; got {_TYPES.get(expected[2], expected[2])}"
    missing = re.search(r"missing required field `(.*)`", text)
    if missing is not None:
        return f"{f'{key}.' if key else ''}{missing[1]} is missing"
    return f"{key}: {text}" if key else text


def check_keys(table: object, names: Iterable[str], where: str) -> Mapping[str, Any]:
    """Return a table whose keys are all known."""
    if not isinstance(table, Mapping):
        raise TacitError(f"{where} must be a table; got {brief(table)}")
    names = list(names)
    for key in table:
        if key not in names:
            named = f"{where}.{one_line(key, 60)}" if where else one_line(key, 60)
            raise TacitError(f"{named} is an unknown key{check.suggestion(key, names)} known: {', '.join(names)}")
    return table


def replace_none(value: Any) -> Any:
    """Return plain values with None in the place of the word that stands for it in TOML."""
    match value:
        case {**table}:
            return {key: replace_none(part) for key, part in table.items()}
        case [*parts]:
            return [replace_none(part) for part in parts]
    return None if value == _NONE else value


def dumps(spec: Any) -> str:
    """Write a dataclass, or a table, as TOML.

    >>> from tacit.experiments import LearnerSpec
    >>> print(dumps(LearnerSpec("npg", {"eta": 0.1})), end="")
    name = "npg"
    <BLANKLINE>
    [params]
    eta = 0.1
    """
    try:
        return tomli_w.dumps(to_table(spec) if dataclasses.is_dataclass(spec) else spec)
    except (TypeError, ValueError) as error:  # what TOML has no word for, or a number of thousands of digits
        raise TacitError(f"a parameter cannot be written to a TOML file: {error}") from None


def to_table(spec: Any) -> dict[str, Any]:
    """Return a dataclass as plain tables, without fields that are None or empty, or have `metadata={"file": False}`."""
    values = {one.name: getattr(spec, one.name) for one in dataclasses.fields(spec) if one.metadata.get("file", True)}
    return {name: _plain(value) for name, value in values.items() if value is not None and value not in ({}, ())}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return to_table(value)
    match value:
        case {**table}:
            return {key: _plain(part) for key, part in table.items()}
        case [*parts]:
            return [_plain(part) for part in parts]
        case None:
            return _NONE
    return value
