"""Packages that tacit can use and does not need: they are imported where they are used, or asked for by name."""

from __future__ import annotations

import importlib
import warnings
from types import ModuleType

from tacit.core.errors import TacitError

#: What pip calls this package: the name "tacit" belongs to another project on the package index.
DISTRIBUTION = "tacit-marl"


def pip_command(extra: str) -> str:
    """Return the command that installs an extra.

    >>> pip_command("ray")
    "pip install 'tacit-marl[ray]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module without its warnings, or say how to install it.

    >>> require("math", "numbers").pi
    3.141592653589793
    >>> require("no_such_module", "nothing")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: no_such_module is not installed; pip install 'tacit-marl[nothing]'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(module)
        except ImportError as error:
            missing = isinstance(error, ModuleNotFoundError) and error.name == module
            trouble = "is not installed" if missing else f"cannot be imported ({error})"
            raise TacitError(f"{module} {trouble}; {pip_command(extra)}") from None
