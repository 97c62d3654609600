"""The directive `public-names`: the names of a page, each described from its docstring."""

from __future__ import annotations

import inspect
import re
from typing import Any

from docutils import nodes
from reference_names import DATA, kind, public
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: Said once on every page, instead of with every name.
RAISED = (
    "A wrong value raises :py:exc:`tacit.TacitError`, a ``ValueError``, with one sentence that says what would work; a "
    "call that does not fit the signature is Python's ``TypeError``."
)


class PublicNames(SphinxDirective):
    """`.. public-names:: page`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make a table of the names, then a description of each."""
        found = public(self.arguments[0])
        rows = "".join(f"   * - :py:obj:`{name}`\n     - {summary(name, known)}\n" for name, known in found.items())
        table = f".. list-table::\n   :widths: 35 65\n\n{rows}\n"
        return self.parse_text_to_nodes(f"{RAISED}\n\n{table}" + "\n".join(map(described, found, found.values())))


def summary(name: str, known: Any) -> str:
    """Return the first sentence of a docstring."""
    first = DATA.get(name) or (inspect.getdoc(known) or "").partition("\n\n")[0]
    return escaped(" ".join(first.split("\n")))


def described(name: str, known: Any) -> str:
    """Return the directive that describes an object with its members."""
    if name in DATA:
        return f".. py:data:: {name}\n\n   {DATA[name]}\n"
    members = "   :members:\n" if kind(known) == "autoclass" else ""
    return f".. {kind(known)}:: {name}\n{members}\n"


def escaped(line: str) -> str:
    """Return a line of a docstring that reStructuredText takes as it is, but for code between backquotes."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"(?<=\w)_(?!\w)|[|*]", lambda found: "\\" + found[0], part) for part in parts[::2]]
    return "`".join(parts)


def escape(app: Sphinx, what: str, name: str, known: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring in place, but for its examples."""
    example = False
    for k, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example:
            lines[k] = escaped(line)


def keep_whole(app: Sphinx, what: str, name: str, known: Any, options: Any, lines: list[str]) -> None:
    """Keep napoleon from reading a property's first line as "type: description", which it does of the first line."""
    if what in ("property", "attribute", "data"):
        lines.insert(0, "")


def skip(app: Sphinx, what: str, name: str, known: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out fields of named tuples, which their class describes; Python says "Alias for field number 0" of them."""
    return True if (getattr(known, "__doc__", None) or "").startswith("Alias for field number") else None


def split(app: Sphinx, what: str, name: str, known: Any, options: Any, lines: list[str]) -> None:
    """Give each of several attributes that a docstring describes together ("done, total : int") a field of its own."""
    found: list[str] = []
    while lines:
        line = lines.pop(0)
        several = re.match(r":(ivar|vartype) ([^:]+, [^:]+):(.*)", line)
        if several is None:
            found.append(line)
            continue
        more = []
        while lines and lines[0].startswith(" "):
            more.append(lines.pop(0))
        for own in several[2].split(", "):
            found += [f":{several[1]} {own}:{several[3]}", *more]
    lines[:] = found


def dash(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Write the dash between a parameter and its meaning as a dash."""
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("public-names", PublicNames)
    app.connect("autodoc-process-docstring", escape, priority=100)  # before napoleon
    app.connect("autodoc-process-docstring", keep_whole, priority=200)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", split, priority=900)  # after it
    app.connect("doctree-resolved", dash)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
