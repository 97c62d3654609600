"""Files that are the literal image of frozen dataclasses: TOML both ways, and what is read of JSON.

A field is a key, a field that is a dataclass a table, and a field that is a tuple of dataclasses an array of tables. A
dataclass whose field has `metadata={"keys": …}` is no table of its own: its fields are keys beside the others, under
the names that are listed there, or their own.
TOML has no None: a field of None is left out, and among parameters the word "none" stands for it. A value is checked by
its dataclass first, which knows more of it, and then by the type of its field.
"""

from __future__ import annotations

import dataclasses
import re
import tomllib
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import tomli_w

from tacit.core import check, files
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
        text = files.read(path, limit=LIMIT, spread=_SPREAD).decode()
        if any(piece.count(".") > _DOTS for piece in re.split(r"[,=\n{}\[\]]", text)):
            raise TacitError(f"{path} is not a TOML file that can be read: it has a key of more than {_DOTS} parts")
        table = tomllib.loads(text)
    except TacitError:
        raise
    except (ValueError, RecursionError, MemoryError) as error:  # no TOML, no UTF-8, or a number of 5000 digits
        raise TacitError(f"{path} is not a TOML file: {one_line(error, 200)}") from None
    try:
        return build(kind, without_words(table))
    except TacitError as error:
        raise TacitError(f"{path}: {error}") from None
    except RecursionError:
        raise TacitError(f"{path}: it is nested too deeply") from None


def build(kind: type[T], table: object, where: str = "") -> T:
    """Make a dataclass from a table; unknown and missing keys are errors, values are checked by the dataclass."""
    prefix = f"{where}." if where else ""
    table = table_of(where, table)
    fields = _fields(kind)
    for key in table:
        if key not in fields:
            known = [key for key, one in fields.items() if key != one.field.metadata.get("old")]
            near = check.suggestion(key, known)
            raise TacitError(f"{prefix}{one_line(key, 60)} is an unknown key{near} known: {', '.join(known)}")
    for key, (_, field, _) in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and key not in table:
            raise TacitError(f"{prefix}{key} is missing")
    values = {key: _value(fields[key].hint, value, f"{prefix}{key}") for key, value in table.items()}
    held: dict[str, dict[str, Any]] = {owner: {} for owner in ("", *(one.owner for one in fields.values()))}
    for key, value in values.items():
        held[fields[key].owner][fields[key].field.name] = value
    try:
        built = kind(**held.pop(""), **{owner: _type(kind, owner)(**own) for owner, own in held.items()})
    except TacitError as error:
        called = {f"{one.field.name} ": f"{key} " for key, one in fields.items() if key in table}
        told = re.sub(r"^\w+ ", lambda found: called.get(found[0], found[0]), str(error))
        raise TacitError(f"{prefix}{told}") from None
    for key, value in values.items():
        _check(fields[key].hint, value, f"{prefix}{key}")
    return built


def table_of(name: str, value: object) -> dict[str, Any]:
    """Return `value` if it is a table."""
    if not isinstance(value, dict):
        raise TacitError(f"{name} is {brief(value)}; it must be a table")
    return value


class _Key(typing.NamedTuple):
    owner: str  # the flat field whose field it is, "" for none
    field: dataclasses.Field[Any]
    hint: Any


def _fields(kind: Any) -> dict[str, _Key]:
    """Return what each key of a table stands for."""
    found: dict[str, _Key] = {}
    for field in dataclasses.fields(kind):
        hint, keys = _type(kind, field.name), field.metadata.get("keys")
        if keys is None:
            found[field.name] = _Key("", field, hint)
            continue
        for own in dataclasses.fields(hint):
            one = _Key(field.name, own, _type(hint, own.name))
            found[keys.get(own.name, own.name)] = one
            if own.metadata.get("old"):
                found.setdefault(own.metadata["old"], one)
    return found


def _type(kind: Any, name: str) -> Any:
    return typing.get_type_hints(kind)[name]


#: What is called how where a value is of another type.
_KINDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _check(hint: Any, value: Any, where: str) -> None:
    """Check that a value is of the plain type that a field asks for, and each part of a list."""
    if typing.get_origin(hint) in (list, tuple):
        for k, part in enumerate(value):
            _check(typing.get_args(hint)[0], part, f"{where}[{k}]")
    elif hint in _KINDS and type(value) is not hint and not (hint is float and type(value) is int):
        raise TacitError(f"{where} is {brief(value)}; it must be {_KINDS[hint]}")


def _value(hint: Any, value: Any, where: str) -> Any:
    """Return a value with the dataclasses that its type has, made of tables, and named tuples, made of lists."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:  # something, or None
        return value if value is None else _value(parts[0], value, where)
    if dataclasses.is_dataclass(hint):
        return value if type(value) is hint else build(typing.cast("type[Any]", hint), value, where)
    if origin is dict:
        return {key: _value(parts[1], part, f"{where}.{key}") for key, part in table_of(where, value).items()}
    named = getattr(hint, "_fields", None)
    if (origin in (list, tuple) or named) and not isinstance(value, list):
        of = "words" if parts[:1] == (str,) or named else "numbers" if parts[:1] == (float,) else "tables"
        raise TacitError(f"{where} is {brief(value)}; it must be a list of {of}")
    if named:
        return hint(*check.list_of(where, value, "words", count=len(named)))
    if origin in (list, tuple):
        return origin(_value(parts[0], part, f"{where}[{k}]") for k, part in enumerate(value))
    return value


def without_words(value: Any) -> Any:
    """Return what TOML says, with None in the place of the word that stands for it."""
    match value:
        case {**named}:
            return {key: without_words(part) for key, part in named.items()}
        case [*parts]:
            return [without_words(part) for part in parts]
    return None if value == _NONE else value


def dumps(spec: Any, *, first: Sequence[str] = ()) -> str:
    """Write a dataclass as TOML, in the order of its fields; those of the keys in `first` come before the others.

    >>> from tacit.experiments import LearnerSpec
    >>> print(dumps(LearnerSpec("npg", {"eta": 0.1})), end="")
    name = "npg"
    <BLANKLINE>
    [params]
    eta = 0.1
    """
    try:
        found = table(spec)
        return tomli_w.dumps({**{key: found[key] for key in first}, **found})
    except (TypeError, ValueError) as error:  # what TOML has no word for, or a number of thousands of digits
        raise TacitError(f"a parameter cannot be written to a TOML file: {error}") from None


def table(spec: Any) -> dict[str, Any]:
    """Return a dataclass as plain tables."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(spec):
        value, keys = getattr(spec, field.name), field.metadata.get("keys")
        if keys is not None:
            found |= {keys.get(name, name): own for name, own in table(value).items()}
        elif value is not None and value not in ({}, ()):
            found[field.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return table(value)
    match value:
        case {**named}:
            return {key: _plain(part) for key, part in named.items()}
        case [*parts]:
            return [_plain(part) for part in parts]
        case None:
            return _NONE
    return value
