"""Pages as text: a shell, the scripts and styles of `static/`, and for a report the documents within."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib import resources
from typing import Any

#: What each page consists of, in the order in which scripts are run.
COMMON = ("dom.js", "chart.js", "policy.js", "episode.js", "results.js")
SCRIPTS = {
    "report": ("uplot.js", *COMMON, "report.js"),
    "live": ("uplot.js", *COMMON, "live.js"),
    "play": ("dom.js", "play.js"),
}
STYLES = {"report": ("uplot.css", "tacit.css"), "live": ("uplot.css", "tacit.css"), "play": ("tacit.css",)}

#: What the server sends of `static/`, by name.
KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

_SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
{policy}<title>{title}</title>
<link rel="icon" href="data:,">
{styles}
</head>
<body data-page="{page}">
<a class="skip" href="#main">skip to the content</a>
<main id="main"></main>
<noscript>This page draws its figures with scripts, which are switched off here.</noscript>
{scripts}
</body>
</html>
"""


@cache
def static(name: str) -> str:
    """Return the text of a file of `static/`."""
    return (resources.files("tacit.view") / "static" / name).read_text(encoding="utf-8")


def linked_page(page: str, title: str) -> str:
    """Return a page that fetches everything from its server."""
    styles = "\n".join(f'<link rel="stylesheet" href="static/{name}">' for name in STYLES[page])
    scripts = "\n".join(f'<script src="static/{name}" defer></script>' for name in SCRIPTS[page])
    return _SHELL.format(policy="", title=html.escape(title), page=page, styles=styles, scripts=scripts)


def whole_page(page: str, title: str, document: dict[str, Any]) -> str:
    """Return a page that holds everything itself, and asks nobody for anything."""
    style = "\n".join(static(name) for name in STYLES[page])
    script = "\n".join(static(name) for name in SCRIPTS[page])
    assert "</" not in script.replace("</script", "<!--"), "a script must not hold what ends a script"
    allowed = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {_hash(script)}; style-src {_hash(style)}"
    )
    data = embed(document)
    return _SHELL.format(
        policy=f'<meta http-equiv="Content-Security-Policy" content="{allowed}">\n',
        title=html.escape(title),
        page=page,
        styles=f"<style>{style}</style>",
        scripts=f'<script type="application/json" id="document">{data}</script>\n<script>{script}</script>',
    )


def embed(document: dict[str, Any]) -> str:
    """Return a document as JSON in which nothing can end a script or begin a comment.

    >>> embed({"name": "</script><!--"})
    '{"name":"\\\\u003c/script\\\\u003e\\\\u003c!--"}'
    """
    text = json.dumps(document, allow_nan=False, separators=(",", ":"), ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(content: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() + "'"
