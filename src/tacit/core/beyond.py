"""All that tacit uses of numba beyond its documentation, and what replaces it.

Loops and kernels are plain numba. What is here makes them faster, but for the last, and nothing depends on it:

- `OPTIONS`: no references are counted, and kernels have no entry points of their own. Without: half the steps a second.
- `event` says when a loop is being compiled (`core/compilation.py`). Without: kernels are optimised twice.
- `attach_cache`, `reduce`, `rebuild`: machine code on disk. Without: every process compiles in memory.
- `cpu_target`: how large a struct is (`core/pinned.py`). Without: structs are unpacked at every call.
- `name_record` and `name_struct`: what stands for a type in the name of a kernel. numba numbers records as each process
  meets them, and calls structs by their class's bare name, so that kernels of two processes may have the same name for
  different code; where both were loaded, the first one was called for both, without an error. Without (a release that
  names them otherwise): numba's own names.

With TACIT_PLAIN_NUMBA=1 all of it is left out; the tests of `core/` are run so too, and with the newest numba.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from types import ModuleType
from typing import Any

import numba

_PLAIN = os.environ.get("TACIT_PLAIN_NUMBA") == "1"


def _module(name: str, *needed: str) -> Any:
    """Return a module of numba's if it has what is needed, otherwise None."""
    if _PLAIN:
        return None
    try:
        module: ModuleType = importlib.import_module(name)
    except ImportError:
        return None
    return module if all(hasattr(module, word) for word in needed) else None


_options = getattr(_module("numba.core.options", "DefaultOptions"), "DefaultOptions", None)
_wanted = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

OPTIONS: dict[str, Any] = {key: value for key, value in _wanted.items() if hasattr(_options, key)}
event = _module("numba.core.event", "Listener", "register")
cpu_target: Any = getattr(_module("numba.core.registry", "cpu_target"), "cpu_target", None)


# machine code on disk -----------------------------------------------------------------------------------------------

_CompileResult: Any = getattr(_module("numba.core.compiler", "CompileResult"), "CompileResult", None)
_serialize: Any = _module("numba.core.serialize", "dumps")


def can_store() -> bool:
    """Return whether compiled code can be taken apart and put together again."""
    return _serialize is not None and hasattr(_CompileResult, "_reduce") and hasattr(_CompileResult, "_rebuild")


def attach_cache(loop: Any, cache: Any) -> None:
    """Let a dispatcher ask a cache for machine code, and give it what it compiles."""
    if can_store() and hasattr(loop, "_cache"):
        loop._cache = cache


def reduce(key: Any, cres: Any) -> bytes:
    """Return compiled code and a key, pickled. Raise TypeError for code that holds addresses of this process."""
    if cres.lifted or cres.library.has_dynamic_globals:
        raise TypeError("it holds addresses of this process")
    content: bytes = _serialize.dumps((key, cres._reduce()))
    return content


def rebuild(target_context: Any, reduced: Any) -> Any:
    """Return compiled code from what `reduce` stored."""
    return _CompileResult._rebuild(target_context, *reduced)


# names ----------------------------------------------------------------------------------------------------------------


def name_record(record: Any) -> tuple[str, tuple[int]]:
    """Return a record's part of a kernel's name, by its fields and offsets."""
    return "Record", (_number(record.name),)


def name_struct(struct: Any) -> tuple[str, tuple[int]]:
    """Return a struct's part of a kernel's name, by its class and its fields' types."""
    kind = struct.instance_class
    fields = [part.mangling_args for part in struct.types]
    return kind.__name__, (_number(f"{kind.__module__}.{kind.__qualname__} {hasattr(kind, '_original')} {fields}"),)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


if not _PLAIN and hasattr(numba.types.Record, "mangling_args"):
    numba.types.Record.mangling_args = property(name_record)
    numba.types.NamedTuple.mangling_args = property(name_struct)
