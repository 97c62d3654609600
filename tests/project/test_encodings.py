"""Text is UTF-8 wherever a file is opened: what a system would take by itself differs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = {"read_text", "write_text", "open", "fdopen", "TextIOWrapper"}
OTHERS = {"os", "archive", "webbrowser", "tarfile", "Image"}  # whose `open` is another
OURS = {"", "files"}  # whose `read_text` is `core/files.py`'s, which reads UTF-8


def unstated(source: str) -> list[str]:
    """Return calls that open a file for text and leave its encoding to the system."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        whose = "" if owner is None else getattr(owner, "id", "something")
        if name not in TEXT or (name == "open" and whose in OTHERS) or (name == "read_text" and whose in OURS):
            continue
        texts = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
        modes = [text for text in texts if isinstance(text, str) and len(text) < 4]
        binary = name.endswith("open") and any("b" in mode for mode in modes)
        if not binary and all(key.arg != "encoding" for key in node.keywords):
            found.append(f"{node.lineno}: {ast.unparse(node)}")
    return found


@pytest.mark.parametrize("folder", ["src", "docs", "examples", "benchmarks"])
def test_every_text_file_is_opened_with_an_encoding(folder: str):
    made = {
        path.relative_to(ROOT).as_posix(): calls
        for path in (ROOT / folder).rglob("*.py")
        if (calls := unstated(path.read_text(encoding="utf-8")))
    }
    assert made == {}


@pytest.mark.parametrize("call", ['open("x")', "p.read_text()", 'p.write_text("b")', 'open("x", "a")'])
def test_a_call_without_is_found(call: str):
    assert unstated(call)
    assert not unstated(call[:-1] + ("" if call.endswith("()") else ", ") + 'encoding="utf-8")')


def test_bytes_need_none():
    assert not unstated('open("x", "rb"); os.open("x", 0); p.read_bytes()')
