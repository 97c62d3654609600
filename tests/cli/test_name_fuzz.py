"""Names at random, of all that is known to do harm: printed and drawn as they are."""

from __future__ import annotations

import io
import json
import random
import unicodedata
from typing import Any

import pytest
from matplotlib.figure import Figure
from mutations import hostile_text
from rich.table import Table

from tacit.cli import options
from tacit.core.display import printable, printable_json
from tacit.figures.style import name, plain

OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def shown_by_rich(text: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    stream = io.StringIO()
    monkeypatch.setattr("sys.stdout", stream)
    options.console().print(text, soft_wrap=True)
    monkeypatch.undo()
    return stream.getvalue()


@pytest.mark.parametrize("count", [500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_printed(count: int, monkeypatch: pytest.MonkeyPatch):
    for k in range(count):
        text = hostile_text(random.Random(k))
        told = shown_by_rich(f"<{text}>", monkeypatch)
        assert told == f"<{printable(text)}>\n"
        assert not {unicodedata.category(char) for char in told[:-1]} & OBEYED
        if k % 10 == 0:
            table = Table("a", box=None, pad_edge=False)
            table.add_row(f"<{text[:100]}>")
            assert f"<{printable(text[:100])}>" in shown_by_rich(table, monkeypatch).replace("\n", "")
        assert json.loads(printable_json({text: [text]})) == {text: [text]}


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("count", [10, pytest.param(1_000, marks=pytest.mark.slow)])
def test_drawn(count: int):
    for k in range(count):
        text = hostile_text(random.Random(k))
        figure = Figure(figsize=(2, 2))
        title = figure.suptitle(name(text))
        plain(title)
        figure.savefig(io.BytesIO(), format=["svg", "png"][k % 2])
        assert title.get_text() == printable(text, 120)
