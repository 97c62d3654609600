"""Every public name is described as numpydoc asks, with an example; the examples themselves run as doctests."""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from reference_names import DATA, PAGES, is_public, public

import tacit

NAMES = {name: known for page in PAGES for name, known in public(page).items()}
DESCRIBED = {name: known for name, known in NAMES.items() if name not in DATA}


def has(doc: str, *sections: str) -> bool:
    return any(re.search(rf"^{section}\n-+$", doc, flags=re.MULTILINE) for section in sections)


def parameters(known: Any) -> list[str]:
    """Return the names of what a caller gives, `self` left out."""
    if inspect.isclass(known) and (tuple in known.__mro__ or getattr(known, "_is_protocol", False)):
        return []
    try:
        given = inspect.signature(known).parameters
    except (TypeError, ValueError):
        return []
    if list(given) == ["state", "args"]:  # a kernel: any number of implementations stand behind it
        return []
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [name for name, one in given.items() if not name.startswith("_") and one.kind not in variable]


def test_every_public_module_has_a_page():
    modules = [f"tacit.{name}" for name in tacit.__all__ if inspect.ismodule(getattr(tacit, name))]
    assert set(modules) <= {module for page in PAGES.values() for module in page}


def test_every_public_name_is_on_a_page():
    for name in tacit.__all__:
        known = getattr(tacit, name)
        if not inspect.ismodule(known) and name != "__version__":
            assert NAMES[f"tacit.{name}"] is known


def test_all_data_is_described():
    described = [name for name, known in NAMES.items() if not (inspect.isclass(known) or inspect.isfunction(known))]
    assert [name for name in described if name not in DATA and not inspect.getdoc(NAMES[name])] == []
    assert set(DATA) <= set(NAMES)


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_docstring(name: str):
    known = DESCRIBED[name]
    doc = inspect.getdoc(known) or ""
    first = doc.partition("\n\n")[0]
    assert first.endswith((".", ":", "]")), f"{name} begins with no sentence"
    if names := parameters(known):
        assert has(doc, "Parameters", "Attributes"), f"{name} does not describe its parameters: {', '.join(names)}"
        missing = [
            one for one in names if not re.search(rf"^(\S+, )*[*]*{one}(, \S+)*( : .*)?$", doc, flags=re.MULTILINE)
        ]
        assert not missing or inspect.isclass(known), f"{name} does not describe {', '.join(missing)}"
    nothing = (None, "None", "Any", Any, inspect.Signature.empty)  # kernels have no annotations
    if inspect.isfunction(known) and inspect.signature(known).return_annotation not in nothing:
        assert has(doc, "Returns", "Yields"), f"{name} does not say what it returns"
    assert has(doc, "Examples"), f"{name} has no example"
    examples = doctest.DocTestParser().get_examples(doc)
    assert examples, f"{name} has no example that can be run"
    assert not any(doctest.SKIP in example.options for example in examples), f"{name} has an example that is not run"


def test_examples_run_without_the_names_of_their_module(request: pytest.FixtureRequest):
    """The hook in the repository's conftest.py empties the namespace of public examples, and of no others."""
    home = inspect.getmodule(tacit.learners.StageV)
    found = [test for test in doctest.DocTestFinder().find(home, home.__name__) if test.examples]
    items = [SimpleNamespace(dtest=test) for test in found]
    place = str(Path(__file__).parents[2] / "conftest.py")
    [hook] = [own for own in request.config.pluginmanager.get_plugins() if getattr(own, "__file__", None) == place]
    hook.pytest_collection_modifyitems(items)
    for test in found:
        assert ("StageV" in test.globs) is not is_public(test.name)
    assert any(is_public(test.name) for test in found)


def test_fields_of_result_classes_are_described():
    for name, known in DESCRIBED.items():
        if dataclasses.is_dataclass(known) and has(inspect.getdoc(known) or "", "Attributes"):
            doc = inspect.getdoc(known) or ""
            fields = [field.name for field in dataclasses.fields(known) if not field.name.startswith("_")]
            missing = [
                one for one in fields if not re.search(rf"^(\S+, )*{one}(, \S+)*( : .*)?$", doc, flags=re.MULTILINE)
            ]
            assert missing == [], f"{name} does not describe {missing}"
