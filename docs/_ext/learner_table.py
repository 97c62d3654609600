"""The directive `learner-table`: all learners by what an agent must know, from the package's own table."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

TITLES = ("learner", "year", "what is proved", "made for", "what it is")


class LearnerTable(SphinxDirective):
    """`.. learner-table::`."""

    def run(self) -> list[nodes.Node]:
        """Make a table for each kind of information."""
        return [node for kind, rows in grouped().items() for node in (self.title(kind), self.table(rows))]

    def title(self, kind: str) -> nodes.Node:
        """Return the name of a kind of information."""
        strong = nodes.strong(text=kind.capitalize())
        return nodes.paragraph("", "", strong)

    def table(self, rows: list[tuple[str, ...]]) -> nodes.Node:
        """Return a table."""
        head = nodes.thead("", self.row(TITLES))
        body = nodes.tbody("", *(self.row(row, literal=True) for row in rows))
        columns = [nodes.colspec(colwidth=width) for width in (18, 6, 26, 20, 40)]
        return nodes.table("", nodes.tgroup("", *columns, head, body, cols=len(columns)))

    def row(self, cells: tuple[str, ...], *, literal: bool = False) -> nodes.Node:
        """Return a row; the name is code."""
        first = nodes.literal(text=cells[0]) if literal else nodes.Text(cells[0])
        texts = [first, *(nodes.Text(cell) for cell in cells[1:])]
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", text)) for text in texts))


def grouped() -> dict[str, list[tuple[str, ...]]]:
    """Return the rows of each kind of information."""
    from tacit.learners import REGISTRY
    from tacit.learners.facts import INFORMATION, describe_learner

    groups: dict[str, list[tuple[str, ...]]] = {kind: [] for kind in INFORMATION}
    for name in REGISTRY:
        facts = describe_learner(name)
        row = (name, facts["year"], facts["guarantee"], facts["games"], REGISTRY.summary(name))
        groups[facts["information"]].append(row)
    return {kind: rows for kind, rows in groups.items() if rows}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("learner-table", LearnerTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
