"""What is imported when: the compiler, Ray and Dask only where they are needed."""

from __future__ import annotations

import subprocess
import sys

import pytest


def imported(statement: str, *modules: str) -> list[str]:
    """Return which of some modules a fresh process has imported after a statement."""
    code = f"{statement}\nimport sys; print(*sorted(set({modules!r}) & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1].split()  # a slow run tells how far it is before


@pytest.mark.parametrize("statement", ["import tacit", "import tacit.games", "import tacit; tacit.make('chicken')"])
def test_games_do_not_import_the_compiler(statement: str):
    assert imported(statement, "numba") == []


def test_a_worker_imports_no_statistics_and_no_solvers():
    """They take longer than all that learning needs; a cluster starts many workers."""
    statement = "import tacit.experiments.backends, tacit.learning"
    assert imported(statement, "scipy.stats", "scipy.optimize", "matplotlib") == []


#: Imports all of tacit, and runs an experiment as the command line does.
ALL = """
import importlib, pkgutil, tacit
for module in pkgutil.walk_packages(tacit.__path__, "tacit."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
from tacit.cli.main import main
assert main(["run", "chicken", "npg", "--episodes", "2"]) == 0
"""


def test_engines_are_imported_only_where_they_are_asked_for():
    assert imported(ALL, "ray", "dask", "distributed") == []


@pytest.mark.parametrize(("on", "module", "extra"), [("ray:auto", "ray", "ray"), ("dask:auto", "distributed", "dask")])
def test_without_an_engine_its_pip_command_is_named(on: str, module: str, extra: str):
    """In a process that does not find it, as with the core install."""
    hide = f"import sys; sys.modules[{module!r}] = None"  # Python then says ModuleNotFoundError
    code = f"{hide}\nfrom tacit.cli.main import main; sys.exit(main(sys.argv[1:]))"
    line = [sys.executable, "-c", code, "run", "chicken", "npg", "--episodes", "2", "--on", on]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"tacit: {module} is not installed; pip install 'tacit-marl[{extra}]'\n"
