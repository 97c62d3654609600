"""The directive `command-line`: every command of `tacit`, from the parsers that the program itself uses."""

from __future__ import annotations

import argparse
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class CommandLine(SphinxDirective):
    """`.. command-line::`."""

    def run(self) -> list[nodes.Node]:
        """Make a section for each command."""
        from tacit.cli.main import parser

        top = parser()
        [commands] = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
        about = {choice.dest: choice.help or "" for choice in commands._choices_actions}
        text = "".join(section(name, about.get(name, ""), found) for name, found in commands.choices.items())
        examples = literal((top.epilog or "").removeprefix("examples:"))
        return self.parse_text_to_nodes(f"{text}Examples\n--------\n\n{examples}", allow_section_headings=True)


def section(name: str, about: str, found: argparse.ArgumentParser) -> str:
    """Return the section of a command."""
    title = f"tacit {name}"
    usage = found.format_usage().removeprefix("usage: ")
    first, _, rest = (found.description or about).partition("\n")
    parts = [title, "-" * len(title), "", escaped(first), "", literal(rest) if rest else "", literal(usage)]
    for action in found._actions:
        if isinstance(action, argparse._HelpAction) or action.help == argparse.SUPPRESS:
            continue
        said = (action.help or "").replace("%(default)s", str(action.default)).replace("%%", "%")
        parts += [f"``{invocation(action)}``", f"   {escaped(said)}", ""]
    return "\n".join([*parts, literal(found.epilog) if found.epilog else "", ""])


def invocation(action: argparse.Action) -> str:
    """Return an argument as its help writes it."""
    shown = action.metavar or (action.dest.upper() if action.nargs != 0 else "")
    shown = " ".join(shown) if isinstance(shown, tuple) else shown
    if action.choices is not None and action.metavar is None:
        shown = "{" + ",".join(map(str, action.choices)) + "}"
    if not action.option_strings:
        return shown
    return ", ".join(action.option_strings) + (f" {shown}" if action.nargs != 0 and shown else "")


def literal(text: str) -> str:
    """Return text as it is."""
    lines = "\n".join(f"   {line}" for line in text.rstrip().splitlines())
    return f".. code-block:: text\n\n{lines}\n\n"


def escaped(text: str) -> str:
    """Return text that reStructuredText takes as it is, but for code between backquotes."""
    return text.replace("\\", "\\\\").replace("*", r"\*").replace("|", r"\|").replace("_ ", r"\_ ")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
