"""The lowest layer, and hooks for methods whose code is in a layer above.

The package's front door registers them by name. A layer never imports from above itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_LOADERS: dict[str, Callable[[], Callable[..., Any]]] = {}


def register_hook(name: str, load: Callable[[], Callable[..., Any]]) -> None:
    """Register a function, which `load` imports when it is called first.

    >>> register_hook("double", lambda: lambda x: 2 * x)
    >>> call_hook("double", 21)
    42
    """
    _LOADERS[name] = load


def call_hook(name: str, /, *args: Any, **options: Any) -> Any:
    """Call a registered function."""
    return _LOADERS[name]()(*args, **options)
