"""What users and files say is shown as it is, and nothing in it is obeyed."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from tacit.core.display import printable, printable_json

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
