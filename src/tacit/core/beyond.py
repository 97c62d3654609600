"""All that tacit uses of numba beyond its documentation, each with what happens where a release does not have it.

Loops and kernels are plain numba. What is here makes them faster, but for the last, and nothing depends on it:

- `OPTIONS`: no references are counted, and kernels have no entry points of their own. Without: half the steps a second.
- `event` says when a loop is being compiled (`core/compilation.py`). Without: kernels are optimised twice.
- `make_part`: kernels have no machine code of their own, with releases of numba that it was tried with (`TRIED`), since
  what goes wrong there is no exception. Without: a fifth more time to compile. numba has no option for it, and makes
  machine code of every function that another is linked with.
- `CompileResult` and `dumps`: machine code on disk (`core/compilation.py`). Without: every process compiles in memory.
- `cpu_target`: how large a struct is (`core/pinned.py`). Without: structs are unpacked at every call.
- `name_record`: what a record is called in machine code. numba numbers records as each process meets them, so that
  kernels of two processes may have the same name for different code; where both were loaded, the first one was called
  for both, without an error. Without (a release that names them otherwise): numba's own names.

With TACIT_PLAIN_NUMBA=1 all of it is left out; the tests of `core/` are run so too, and with the newest numba.
"""

from __future__ import annotations

import hashlib
import importlib
import os
from types import ModuleType
from typing import Any

import numba


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


def name_record(record: Any) -> tuple[str, tuple[int]]:
    """Return what stands for a record in the name of a kernel: the same in all processes, by its fields and offsets."""
    return "Record", (int.from_bytes(hashlib.sha256(record.name.encode()).digest()[:8]),)


if os.environ.get("TACIT_PLAIN_NUMBA") != "1" and hasattr(numba.types.Record, "mangling_args"):
    numba.types.Record.mangling_args = property(name_record)

# kernels without machine code of their own ---------------------------------------------------------------------------

#: Releases of numba with which the tests have been run.
TRIED = ("0.68.",)

_library: Any = getattr(_module("numba.core.codegen", "JITCodeLibrary"), "JITCodeLibrary", None)
_methods = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals", "_ensure_finalized")
_codegen: Any = None if cpu_target is None else cpu_target.target_context.codegen()
_parts = (
    numba.__version__.startswith(TRIED)
    and all(hasattr(_library, word) for word in (*_methods, "codegen", "get_pointer_to_function"))
    and getattr(_codegen, "_library_class", None) is _library
    and hasattr(_codegen, "set_env")
    and hasattr(getattr(_codegen, "_engine", None), "is_symbol_defined")
)

#: What kernels print and raise with, by name, until a loop has machine code that looks there.
_environments: dict[str, Any] = {}


class _Part(_library or object):  # type: ignore[misc]  # numba is not typed
    """What numba makes of a kernel that nobody calls but the loop that it is optimised with."""

    def _optimize_final_module(self) -> None:
        """Leave it to the loop."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Return what numba asks for more libraries, and tells of environments."""
        return _Later(self._codegen)


class _Later:
    """numba's generator of machine code, but for environments, which wait for the loop."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Keep an environment."""
        _environments[name] = environment


def can_link() -> bool:
    """Return whether kernels can do without machine code of their own."""
    return _parts


def make_part(part: bool) -> None:
    """Let what numba compiles next be a part of a loop, or machine code that can be called."""
    if _parts:
        _codegen._library_class = _Part if part else _library


def set_environments() -> None:
    """Tell a loop that has been compiled where the environments of its parts are."""
    for name in [name for name in _environments if _codegen._engine.is_symbol_defined(name)]:
        _codegen.set_env(name, _environments.pop(name))
