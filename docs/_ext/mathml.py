"""Equations as MathML, which browsers draw themselves: the site needs no script and no network."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def inline(self: Any, node: nodes.math) -> None:
    """Write an inline equation."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def display(self: Any, node: nodes.math_block) -> None:
    """Write a displayed equation; narrow screens scroll it."""
    text = node.astext().strip().replace("{aligned}", "{align*}")  # the name that the converter knows
    drawn = convert(text, display="block")
    if "\\\\" in text and "<mtable" not in drawn:
        LOGGER.warning("lines of an equation are not drawn below each other: %s", text[:60], location=node)
    self.body.append(f'<div class="math">{drawn}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
