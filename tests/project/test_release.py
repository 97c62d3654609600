"""What a release states in several places agrees, and what the package carries is what it needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import tacit
from tacit.core import registry

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {tacit.__version__}\n" in text("CITATION.cff")
    assert f"version = {{{tacit.__version__}}}," in text("docs/theory/references.md")
    releases = re.findall(r"^## (\d+\.\d+\.\d+) \(", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert releases[0] == tacit.__version__
    assert releases == sorted(releases, key=lambda v: [int(part) for part in v.split(".")], reverse=True)


def test_nothing_installs_the_stranger_whose_name_is_tacit():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    assert project["name"] == registry.DISTRIBUTION != "tacit"
    wanted = [one for extra in project["optional-dependencies"].values() for one in extra]
    assert [one for one in wanted if re.match(r"tacit\b(?!-marl)", one)] == []
    folders = ("src", "docs", "examples", "benchmarks", "papers", "tests", ".github")
    files = [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]
    named = {
        path.relative_to(ROOT).as_posix(): found
        for path in files
        if path.is_file() and path.suffix in ("", ".cff", ".ipynb", ".md", ".py", ".rst", ".toml", ".yml", ".yaml")
        if (found := re.findall(r"pip install[^\n]*?[ '\"]tacit\b(?!-marl)[^\n]*", path.read_text(encoding="utf-8")))
    }
    assert named == {}


def test_the_date_of_the_release_is_the_same():
    [dated] = re.findall(rf"^## {re.escape(tacit.__version__)} \((.+)\)$", text("CHANGELOG.md"), flags=re.MULTILINE)
    assert f"\ndate-released: {dated}\n" in text("CITATION.cff")


def test_the_sdist_names_what_exists():
    if not (ROOT / ".git").exists():
        pytest.skip("an sdist itself")
    named = tomllib.loads(text("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert all((ROOT / name.lstrip("/")).exists() for name in named)


@pytest.mark.parametrize("name", ["test", "docs", "build"])
def test_a_workflow_calls_targets_that_exist(name: str):
    assert set(pytest.importorskip("yaml").safe_load(text(f".github/workflows/{name}.yml"))) >= {"name", "jobs"}
    called = set(re.findall(r"run: make ([a-z-]+)", text(f".github/workflows/{name}.yml")))
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), flags=re.MULTILINE))
    assert called <= targets


def test_the_matrix_has_every_python_of_the_classifiers():
    classified = re.findall(r"Python :: (3\.\d+)", text("pyproject.toml"))
    [matrix] = re.findall(r"python: \[(.+)\]", text(".github/workflows/test.yml"))
    assert re.findall(r"3\.\d+", matrix) == classified
