"""Equations as MathML, which browsers draw themselves: the site needs no script and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import wrap_displaymath


def inline(self: Any, node: nodes.math) -> None:
    """Write an inline equation."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(self: Any, node: nodes.math_block) -> None:
    """Write a displayed equation; narrow screens scroll it."""
    text = node.astext().strip()
    if "\\\\" in text and "\\begin" not in text:
        text = wrap_displaymath(text, None, False)
    self.body.append(f'<div class="math">{convert(text, display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
