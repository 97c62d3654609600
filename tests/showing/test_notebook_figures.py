"""Figures in a notebook whose first plot is one of ours, before anybody has imported pyplot."""

from __future__ import annotations

import subprocess
import sys


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
