"""Pages in one file, with style, scripts and a document inside. Scripts are allowed by their hashes."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from pathlib import Path
from typing import Any

from tacit.core import files
from tacit.core.display import printable
from tacit.core.errors import TacitError

#: Styles and scripts of each page, in the order in which scripts are run.
PARTS = {
    "report": ("uplot.css tacit.css", "uplot.js dom.js chart.js policy.js episode.js results.js"),
    "play": ("tacit.css", "dom.js game.js play.js"),
}

_SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body data-page="{page}">
<a class="skip" href="#main">skip to the content</a>
<main id="main"></main>
<noscript>This page draws its figures with scripts, which are switched off here.</noscript>
<script type="application/json" id="document">{document}</script>
<script>{script}</script>
</body>
</html>
"""

#: Characters of a text that are shown.
_LONGEST = 300


def text(content: object) -> str:
    """Return a text as pages show it: without control characters, and not too long."""
    return printable(content, _LONGEST)


def check_name(out: str | Path) -> Path:
    """Return the path of a page, which must end in .html or .htm."""
    file = files.path(out)
    if file.suffix not in (".html", ".htm"):
        raise TacitError(f"the name of a page must end in .html or .htm; got {file}")
    return file


def render(page: str, title: str, document: dict[str, Any]) -> bytes:
    """Return a page that holds everything itself, and asks nobody for anything."""
    style, script = ("\n".join(map(_static, names.split())) for names in PARTS[page])
    assert "</" not in script.replace("</script", "<!--"), "a script must not hold what ends a script"
    return _SHELL.format(
        allowed="default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {_hash(script)}; style-src {_hash(style)}",
        title=html.escape(title),
        style=style,
        page=page,
        document=embed(document),
        script=script,
    ).encode()


def embed(document: dict[str, Any]) -> str:
    """Return a document as JSON that cannot end a script or begin a comment.

    >>> embed({"name": "</script><!--"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003c!--"}'
    """
    content = json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return content.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _static(name: str) -> str:
    return (resources.files("tacit.report") / "static" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"
