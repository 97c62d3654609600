"""What users and files say is shown as it is, and nothing in it is obeyed."""

from __future__ import annotations

import json
import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.core.display import Table, exact, interval, printable, printable_json

OBEYED = {"Cc", "Cf", "Cs", "Zl", "Zp"}
anything = st.text(st.characters(codec=None, exclude_categories=()))


@given(anything)
def test_nothing_that_a_terminal_obeys_is_left(text: str):
    shown = printable(text)
    assert not {unicodedata.category(char) for char in shown} & OBEYED
    if not {unicodedata.category(char) for char in text} & OBEYED:
        assert shown == text


@given(st.dictionaries(anything, st.one_of(anything, st.floats(allow_nan=False, allow_infinity=False))))
def test_documents_read_back_as_they_were(document: dict[str, object]):
    shown = printable_json(document)
    assert json.loads(shown) == document
    assert not {unicodedata.category(char) for char in shown if char != "\n"} & OBEYED


def test_what_is_long_is_cut():
    assert printable("x" * 100, 10) == "xxxxxxxxx…"
    assert printable("x" * 10, 10) == "x" * 10


def test_means_lie_inside_their_intervals_as_printed():
    rng = np.random.default_rng(0)
    for width in 10.0 ** -np.arange(8):
        low, mean, high = np.sort(23 + width * rng.normal(size=3))
        told, *ends = map(float, re.findall(r"[\d.e+-]+", interval(mean, low, high)))
        assert ends[0] <= told <= ends[1]
        assert ends[0] < ends[1]


def test_fractions_are_shown_where_numbers_are_such():
    assert [str(exact(a / b)) for a, b in ((1, 3), (14, 3), (-5, 7), (997, 999))] == ["1/3", "14/3", "-5/7", "997/999"]
    assert [exact(x) for x in (0.5, 0.3125, 3.0, 0.33333, 2**0.5, 1 / 3 + 1e-12)] == [
        0.5, 0.3125, 3.0, 0.33333, 2**0.5, 1 / 3 + 1e-12
    ]  # fmt: skip
    assert str(Table("", ["p"], [[exact(1 / 3)], [0.5]])) == "  p\n1/3\n0.5"


def test_a_table_in_a_notebook_is_text_and_not_shown_twice(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert "yield" in str(Table("", ["action"], [["yield"]]))
