"""All that tacit uses of numba beyond its documentation, each with what happens where a release does not have it.

Loops and kernels are plain numba. What is here makes them faster, and nothing depends on it:

- `OPTIONS`: no references are counted, and kernels have no entry points of their own. Without: half the steps a second.
- `event` says when a loop is being compiled (`core/compilation.py`). Without: kernels are optimised twice.
- `CompileResult` and `dumps`: machine code on disk (`core/compilation.py`). Without: every process compiles in memory.
- `cpu_target`: how large a struct is (`core/pinned.py`). Without: structs are unpacked at every call.

With TACIT_PLAIN_NUMBA=1 all of it is left out; the tests of `core/` are run so too, and with the newest numba.
"""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import Any


def _module(name: str, *needed: str) -> Any:
    """Return a module of numba's if it has what is needed, otherwise None."""
    if os.environ.get("TACIT_PLAIN_NUMBA") == "1":
        return None
    try:
        found: ModuleType = importlib.import_module(name)
    except ImportError:
        return None
    return found if all(hasattr(found, word) for word in needed) else None


_known = getattr(_module("numba.core.options", "DefaultOptions"), "DefaultOptions", None)
_wanted = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

OPTIONS: dict[str, Any] = {key: value for key, value in _wanted.items() if hasattr(_known, key)}
event = _module("numba.core.event", "Listener", "register")
cpu_target: Any = getattr(_module("numba.core.registry", "cpu_target"), "cpu_target", None)

CompileResult: Any = getattr(_module("numba.core.compiler", "CompileResult"), "CompileResult", None)
dumps: Any = getattr(_module("numba.core.serialize", "dumps"), "dumps", None)


def can_store() -> bool:
    """Return whether compiled code can be taken apart and put together again."""
    return dumps is not None and hasattr(CompileResult, "_reduce") and hasattr(CompileResult, "_rebuild")
