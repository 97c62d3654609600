"""TOML files that are the literal image of frozen dataclasses, both ways.

A field is a key, a field that is a dataclass a table, and a field that is a tuple of dataclasses an array of tables.
TOML has no None: the word "none" stands for it.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from tacit.core import check, reading
from tacit.core.errors import TacitError, brief, one_line

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
            raise TacitError(f"{path} is no TOML file for us: it has a key of more than {_DOTS} parts")
        table = tomllib.loads(text)
    except TacitError:
        raise
    except (ValueError, RecursionError, MemoryError) as error:  # no TOML, no UTF-8, or a number of 5000 digits
        raise TacitError(f"{path} is no TOML file: {one_line(error, 200)}") from None
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
        if not isinstance(value, list):
            raise TacitError(f"{where} is {brief(value)}; it must be a list of tables")
        item = typing.get_args(hint)[0]
        return tuple(build(item, part, f"{where}[{k}]") for k, part in enumerate(value))
    if isinstance(value, dict):
        return {key: _none(part) for key, part in value.items()}
    return _none(value)


def _none(value: object) -> object:
    return None if value == _NONE else value


def dumps(spec: Any) -> str:
    """Write a dataclass as TOML.

    >>> from tacit.experiments import LearnerSpec
    >>> print(dumps(LearnerSpec("npg", {"eta": 0.1})), end="")
    name = "npg"
    params = {eta = 0.1}
    """
    return "\n".join(_lines(spec, "")) + "\n"


def _lines(spec: Any, where: str) -> list[str]:
    plain: list[str] = []
    tables: list[str] = []
    for field in dataclasses.fields(spec):
        value, path = getattr(spec, field.name), f"{where}{field.name}"
        if dataclasses.is_dataclass(value):
            tables += ["", f"[{path}]", *_lines(value, f"{path}.")]
        elif isinstance(value, tuple):
            for part in value:
                tables += ["", f"[[{path}]]", *_lines(part, f"{path}.")]
        elif value is not None and value != {}:
            plain.append(f"{field.name} = {_text(value)}")
    return plain + tables


def _text(value: object) -> str:
    if value is None:
        return _text(_NONE)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(float(value) if isinstance(value, float) else int(value))
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(part) for part in value)}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key(key)} = {_text(part)}' for key, part in value.items())}}}"
    raise TacitError(f"{brief(value)} cannot be written to a TOML file")


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)
