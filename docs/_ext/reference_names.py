"""Which names are public, and on which page of the reference each is described, once.

A name that `tacit` itself exports is described under that shorter name, on the page of the module it belongs to. The
tests use this too, so nothing here needs Sphinx.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from typing import Any

#: The pages of the reference, and the modules whose names each has.
PAGES = {
    "games": ["tacit.games", "tacit.games.gymnasium", "tacit.games.openspiel"],
    "learning": ["tacit.learning", "tacit.engine"],
    "learners": ["tacit.learners"],
    "bandits": ["tacit.bandits"],
    "policies": ["tacit.policies"],
    "evaluation": ["tacit.environments", "tacit.evaluation", "tacit.environments.measuring"],
    "environments": ["tacit.environments.pettingzoo", "tacit.environments.encoding"],
    "experiments": ["tacit.experiments"],
    "report": ["tacit.figures", "tacit.report", "tacit.core.display"],
    "kernels": ["tacit.kernels"],
    "testing": ["tacit.testing"],
    "errors": ["tacit.core.errors"],
}

#: Of modules that are not public, what public functions return.
RETURNED = {
    "tacit.environments.measuring": ["Exploitation", "PlayedEvaluation", "exploit"],
    "tacit.core.display": ["Document"],
}

#: What is no function and no class: it has no docstring of its own.
DATA = {
    "tacit.games.REGISTRY": "Games by name; `REGISTRY.add(name, factory)` makes one known.",
    "tacit.bandits.REGISTRY": "Bandits by name.",
    "tacit.learners.REGISTRY": "Learners by name; it takes a Python class with `act` and `learn` too.",
    "tacit.learners.DEFAULT": "Who learns where nobody is named and there are no joint tables of moderate size.",
    "tacit.engine.Event": "Any of `Started`, `Advanced`, `Measured`, `Noted`, `Finished`.",
    "tacit.engine.Watcher": "A function of an event.",
    "tacit.kernels.jitable": "A decorator that marks a plain function that kernels may call.",
    "tacit.figures.COLORS": "Colours that people with colour blindness tell apart, by name.",
}


def public(page: str) -> dict[str, Any]:
    """Return the public objects of a page by the name under which they are documented."""
    import tacit

    found: dict[str, Any] = {}
    for name in PAGES[page]:
        module = importlib.import_module(name)
        homed = [key for key, home in tacit._HOMES.items() if home == name]
        listed = RETURNED.get(name, [*getattr(module, "__all__", ()), *homed])
        for key in dict.fromkeys(listed):
            known = getattr(module, key)
            if not inspect.ismodule(known) and not elsewhere(key, known, name):
                found[f"tacit.{key}" if at_top(key, known) else f"{name}.{key}"] = known
    return found


def at_top(key: str, known: Any) -> bool:
    """Return whether `tacit` exports this object under this name."""
    import tacit

    return key in tacit.__all__ and getattr(tacit, key) is known


def elsewhere(key: str, known: Any, module: str) -> bool:
    """Return whether another page documents this object: that of its home, or an earlier one."""
    import tacit

    if at_top(key, known):
        home = tacit._HOMES[key]
        return home != module and any(home in modules for modules in PAGES.values())
    for others in PAGES.values():
        for other in others:
            if other == module:
                return False
            found = importlib.import_module(other)
            if key in getattr(found, "__all__", ()) and getattr(found, key) is known:
                return True
    return False


@functools.cache
def homes() -> frozenset[str]:
    """Return where each public class and function is defined, with its name there."""
    return frozenset(
        f"{known.__module__}.{known.__qualname__}"
        for page in PAGES
        for name, known in public(page).items()
        if name not in DATA
    )


def is_public(home: str) -> bool:
    """Return whether this is the definition of a public name, or of a member of one."""
    return home in homes() or home.rpartition(".")[0] in homes()


def kind(known: Any) -> str:
    """Return which of autodoc's directives an object takes."""
    if inspect.isclass(known):
        return "autoexception" if issubclass(known, BaseException) else "autoclass"
    return "autofunction"
