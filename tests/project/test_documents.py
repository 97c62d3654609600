"""What the documents name exists: modules and their names, commands and their options, files that links lead to."""

from __future__ import annotations

import argparse
import ast
import dataclasses
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.cli.main import parser
from tacit.options import FIELDS

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "docs/**/*.rst", "papers/**/*.md", "examples/**/*.py")
    for path in ROOT.glob(pattern)
)
NAMED = [
    path for path in PAGES if path.name not in ("CHANGELOG.md", "ARCHITECTURE.md")
]  # what is gone, and what is inside
GROUPS = {"tacit.outputs"}  # of entry points; the others are modules too


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def resolve(name: str) -> Any:
    """Return the object of a dotted name; modules are imported where they are no attributes."""
    found: Any = tacit
    parts = name.split(".")[1:]
    for k, part in enumerate(parts):
        try:
            found = inspect.getattr_static(found, part) if inspect.isclass(found) else getattr(found, part)
        except AttributeError:
            fields = getattr(found, "__annotations__", {})
            if part in fields:  # of a dataclass
                return fields[part]
            if not inspect.ismodule(found):
                raise
            found = importlib.import_module(".".join(["tacit", *parts[: k + 1]]))
    return found


@pytest.mark.parametrize("path", NAMED, ids=label)
def test_names_exist(path: Path):
    text = path.read_text(encoding="utf-8")
    for name in sorted(set(re.findall(r"(?<![\w./-])tacit(?:\.[A-Za-z_]\w*)+", text))):
        if name not in GROUPS:
            try:
                resolve(name)
            except (AttributeError, ModuleNotFoundError):
                pytest.fail(f"{label(path)} names {name}, which does not exist")


def commands() -> dict[str, set[str]]:
    """Return the options of every command."""
    [found] = [action for action in parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: {o for action in sub._actions for o in action.option_strings} for name, sub in found.choices.items()}


@pytest.mark.parametrize("path", NAMED, ids=label)
def test_commands_exist(path: Path):
    known = commands()
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    code = "\n".join(re.findall(r"`([^`\n]+)`", text) + re.findall(r"```(?:sh|shell)\n(.*?)```", text, flags=re.DOTALL))
    for command, rest in re.findall(r"(?:^|[;&] |srun )tacit ([a-z]+)([^\n;#|]*)", code, flags=re.MULTILINE):
        assert command in known, f"{label(path)} names `tacit {command}`"
        options = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", rest.partition("&&")[0]))
        assert options <= known[command], f"{label(path)}: `tacit {command}` has no {options - known[command]}"


@pytest.mark.parametrize("path", [path for path in PAGES if path.suffix == ".md"], ids=label)
def test_links_lead_somewhere(path: Path):
    text = re.sub(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:|#", target):
            assert (path.parent / target.partition("#")[0]).exists(), f"{label(path)} links to {target}"


def test_exact_is_said_of_numbers_and_never_of_bounds():
    for path in (*ROOT.glob("src/**/*.py"), *(path for path in NAMED if path.suffix == ".md")):
        found = re.search(r"exact(ly)?\s+(upper\s+bound|certificate|certified)", path.read_text(encoding="utf-8"))
        assert found is None, f"{label(path)}: {found[0]}"


def test_python_files_exist():
    held = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if ".venv" not in path.parts]
    for path in (ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"):
        for name in sorted(set(re.findall(r"`(?:\w+/)*\w+\.py`", path.read_text(encoding="utf-8")))):
            known = any(f"/{one}".endswith(f"/{name.strip('`')}") for one in held)
            assert known, f"{label(path)} names {name}, which does not exist"


SCRIPTS = sorted(path for folder in ("benchmarks", "examples", "papers") for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=label)
def test_imports_exist(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "tacit":
            module = importlib.import_module(str(node.module))
            for name in node.names:
                if not hasattr(module, name.name):
                    importlib.import_module(f"{node.module}.{name.name}")


def test_every_page_of_the_site_is_in_a_table_of_contents():
    listed = set()
    for path in (ROOT / "docs").rglob("*.md"):
        for block in re.findall(r"```\{toctree\}(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL):
            for line in block.splitlines():
                if line.strip() and not line.startswith(":"):
                    listed.add((path.parent / line.strip()).resolve())
    pages = {path.with_suffix("").resolve() for path in (ROOT / "docs").rglob("*.*") if path.suffix in (".md", ".rst")}
    assert pages - listed == {(ROOT / "docs" / "index").resolve()}


def test_the_schema_of_experiments_is_described():
    page = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith("| `")]
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    fields = dataclasses.fields(tacit.experiments.Experiment)
    assert {one.name for one in fields if one.name != "options"} | set(FIELDS) - {"seed"} | {"first_seed"} <= described
