"""Text of users and files on its way to a terminal or a figure: shown as it is, and nothing in it is acted upon.

A name may hold an escape sequence, a carriage return or a mark that reverses the direction of writing. A terminal obeys
them, so they are shown as Python writes them, e.g. `\\x1b`. What rich and matplotlib would take for markup is switched
off where they are called: `cli/options.py` and `figures/style.py`.
"""

from __future__ import annotations

import json
import unicodedata

#: Control characters, format characters (bidirectional overrides, joiners), surrogates, line and paragraph separators.
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: object, limit: int | None = None) -> str:
    """Return a text on one line without anything that a terminal obeys, cut with "…" where it is longer than `limit`.

    >>> printable("a[bold]b $x$")
    'a[bold]b $x$'
    >>> print(printable("red \\x1b[31m, reversed \\u202e, two\\nlines"))
    red \\x1b[31m, reversed \\u202e, two\\nlines
    """
    found = str(text)
    if limit is not None and len(found) > limit:
        found = found[: limit - 1] + "…"
    if found.isascii() and found.isprintable():
        return found
    return "".join(_shown(char) if unicodedata.category(char) in _OBEYED else char for char in found)


def printable_json(document: object) -> str:
    """Return a document as JSON that is safe on a terminal and reads back as the same.

    >>> print(printable_json({"name": "\\u202ea\\x9b×"}))
    {
      "name": "\\u202ea\\u009b×"
    }
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and unicodedata.category(char) in _OBEYED else char for char in text
    ).replace("\x7f", "\\u007f")


def _shown(char: str) -> str:
    return char.encode("unicode_escape").decode()
