"""Lines differ, and a notebook stays interactive."""

from __future__ import annotations

import subprocess
import sys

from tacit.figures.style import look


def test_learners_look_different():
    looks = [tuple(look(k).values()) for k in range(20)]
    assert len(set(looks)) == 20
    assert len({color for color, _ in looks[:14]}) == 14


def test_the_first_figure_leaves_the_backend_interactive():
    script = """
import matplotlib
from tacit.figures.style import styled

with styled():
    matplotlib.interactive(True)  # as a notebook's backend does when the first figure loads it
assert matplotlib.is_interactive()
with styled():
    pass
assert matplotlib.is_interactive()
"""
    subprocess.run([sys.executable, "-c", script], check=True)
