"""Which doctests are collected, and in which namespace they run; and what is collected is never garbage."""

from __future__ import annotations

import doctest
import gc
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path

import pytest

NEEDS = {
    "src/tacit/games/openspiel.py": "pyspiel",
    "src/tacit/games/gymnasium.py": "gymnasium",
    "src/tacit/environments/exported.py": "pettingzoo",
    "src/tacit/environments/pettingzoo.py": "pettingzoo",
}
collect_ignore = [path for path, module in NEEDS.items() if find_spec(module) is None]
collect_ignore += ["docs/conf.py", "docs/_ext"]  # the site's own code, which needs Sphinx


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave tests and modules, which live to the end, out of the search for garbage: it took a twelfth of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the examples of public names as a reader would who pastes them: without the names of their module."""
    found = [test for item in items if isinstance(test := getattr(item, "dtest", None), doctest.DocTest)]
    if not any(test.name.startswith("tacit.") for test in found):
        return
    names = str(Path(__file__).parent / "docs" / "_ext")
    if names not in sys.path:
        sys.path.append(names)
    from reference_names import is_public

    for test in found:
        if is_public(test.name):
            test.globs.clear()
            test.globs["__name__"] = "__main__"
