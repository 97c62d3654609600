"""What agents saw, and what environments say of their own state, as JSON: plain values only, nothing that is called.

Tuples, sets, bytes, arrays and "over" are objects with one field; everything else that is not JSON is refused.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from tacit.core.errors import TacitError, brief
from tacit.environments.observations import OVER

#: Types of arrays that are taken back, by NumPy's letters.
_KINDS = "biuf"


def dumps(value: Any) -> str:
    """Return a value as text.

    >>> loads(dumps((1, ("a", None), frozenset({2}))))
    (1, ('a', None), frozenset({2}))
    """
    return json.dumps(_plain(value))


def loads(text: str) -> Any:
    """Return what `dumps` made text of; raise TacitError where it cannot have been that."""
    try:
        return _value(json.loads(text))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise TacitError(f"it holds something that is no state ({brief(error)})") from None


def loaded_keys(text: str, *, most: int) -> list[Hashable]:
    """Return a list of at most so many different keys."""
    found = loads(text)
    if not isinstance(found, list) or len(found) > most:
        raise TacitError(f"it has more than {most} observations, or no list of them")
    try:
        if len(set(found)) != len(found):
            raise TacitError("it has an observation twice")
    except TypeError:
        raise TacitError("it has an observation that is not hashable") from None
    return found


def _plain(value: Any) -> Any:
    if value is OVER:
        return {"over": True}
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is tuple:
        return {"tuple": [_plain(part) for part in value]}
    if type(value) is list:
        return [_plain(part) for part in value]
    if isinstance(value, frozenset):
        return {"set": [_plain(part) for part in value]}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(part)] for key, part in value.items()]}
    if isinstance(value, np.ndarray) and value.dtype.kind in _KINDS:
        content = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": [value.dtype.str, list(value.shape), content]}
    raise TacitError(f"{brief(value)} cannot be stored; only numbers, text, tuples, lists, dicts and arrays can")


def _value(found: Any) -> Any:
    if isinstance(found, list):
        return [_value(part) for part in found]
    if not isinstance(found, dict):
        return found
    ((kind, content),) = found.items()
    if kind == "over":
        return OVER
    if kind == "float":
        return float(content)
    if kind == "tuple":
        return tuple(_value(part) for part in content)
    if kind == "set":
        return frozenset(_value(part) for part in content)
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "dict":
        return {_value(key): _value(part) for key, part in content}
    if kind == "array":
        dtype, shape, raw = content
        if np.dtype(dtype).kind not in _KINDS:
            raise TypeError(dtype)
        return np.frombuffer(base64.b64decode(raw), dtype=dtype).reshape(shape).copy()
    raise KeyError(kind)
