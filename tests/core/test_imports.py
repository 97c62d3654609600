"""What is imported when: the compiler only where it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize("statement", ["import tacit", "import tacit.games", "import tacit; tacit.make('chicken')"])
def test_games_do_not_import_the_compiler(statement: str):
    code = f"{statement}; import sys; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
