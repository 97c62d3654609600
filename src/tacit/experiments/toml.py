"""TOML files that are the literal image of frozen dataclasses, both ways.

A field is a key, a field that is a dataclass a table, and a field that is a tuple of dataclasses an array of tables.
TOML has no None: a field of None is left out, and among parameters the word "none" stands for it.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from tacit.core import check, reading
from tacit.core.errors import TacitError, brief, one_line

T = TypeVar("T")
_NONE = "none"

#: The largest file that is read, and bytes of memory that one byte of it may become.
LIMIT, _SPREAD = 1_000_000, 100

#: Dots in a key; the time to read one grows with their square, to minutes.
_DOTS = 100


def load(path: Path, kind: type[T]) -> T:
    """Read a file into a dataclass; whatever is wrong is told with the file's name and the path of the key."""
    try:
        text = reading.content(path, limit=LIMIT, spread=_SPREAD).decode()
        if any(piece.count(".") > _DOTS for piece in re.split(r"[,=\n{}\[\]]", text)):
            raise TacitError(f"{path} is not a TOML file that can be read: it has a key of more than {_DOTS} parts")
        table = tomllib.loads(text)
    except TacitError:
        raise
    except (ValueError, RecursionError, MemoryError) as error:  # no TOML, no UTF-8, or a number of 5000 digits
        raise TacitError(f"{path} is not a TOML file: {one_line(error, 200)}") from None
    try:
        return build(kind, table)
    except TacitError as error:
        raise TacitError(f"{path}: {error}") from None
    except RecursionError:
        raise TacitError(f"{path}: it is nested too deeply") from None


def build(kind: type[T], table: object, where: str = "") -> T:
    """Make a dataclass from a table; unknown and missing keys are errors, values are checked by the dataclass."""
    prefix = f"{where}." if where else ""
    if not isinstance(table, dict):
        raise TacitError(f"{where} is {brief(table)}; it must be a table")
    hints = typing.get_type_hints(kind)
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for key in table:
        if key not in fields:
            near = check.suggestion(key, fields)
            raise TacitError(f"{prefix}{one_line(key, 60)} is an unknown key{near} known: {', '.join(fields)}")
    for name, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in table:
            raise TacitError(f"{prefix}{name} is missing")
    values = {key: _value(hints[key], value, f"{prefix}{key}") for key, value in table.items()}
    try:
        built = kind(**values)
    except TacitError as error:
        raise TacitError(f"{prefix}{error}") from None
    for key, value in values.items():
        if not _fits(hints[key], value):
            raise TacitError(f"{prefix}{key} is {brief(value)}; it must be {_KINDS.get(hints[key], 'of another kind')}")
    return built


#: What is called how where a value is of another type.
_KINDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _fits(hint: Any, value: object) -> bool:
    """Return whether a value is of the plain type that a field asks for; other fields are checked by their class."""
    return hint not in _KINDS or type(value) is hint or (hint is float and type(value) is int)


def _value(hint: Any, value: object, where: str) -> Any:
    if dataclasses.is_dataclass(hint):
        return build(typing.cast("type[Any]", hint), value, where)
    if typing.get_origin(hint) is tuple:
        item = typing.get_args(hint)[0]
        if not isinstance(value, list):
            raise TacitError(
                f"{where} is {brief(value)}; it must be a list of {'tables' if item is not str else 'words'}"
            )
        return tuple(part if item is str else build(item, part, f"{where}[{k}]") for k, part in enumerate(value))
    if isinstance(value, dict):
        return {key: _none(part) for key, part in value.items()}
    return _none(value)


def _none(value: object) -> object:
    if isinstance(value, list):
        return [_none(part) for part in value]
    return None if value == _NONE else value


def dumps(spec: Any) -> str:
    """Write a dataclass as TOML.

    >>> from tacit.experiments import LearnerSpec
    >>> print(dumps(LearnerSpec("npg", {"eta": 0.1})), end="")
    name = "npg"
    <BLANKLINE>
    [params]
    eta = 0.1
    """
    try:
        return tomli_w.dumps(_table(spec))
    except (TypeError, ValueError) as error:  # what TOML has no word for, or a number of thousands of digits
        raise TacitError(f"a parameter cannot be written to a TOML file: {error}") from None


def _table(spec: Any) -> dict[str, Any]:
    values = {field.name: getattr(spec, field.name) for field in dataclasses.fields(spec)}
    return {name: _plain(value) for name, value in values.items() if value is not None and value not in ({}, ())}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return _table(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return _NONE if value is None else value
