"""What figures call a gap."""

from __future__ import annotations


def gap_words(kind: str, source: str) -> str:
    """Return a gap's kind with how sure it is.

    >>> gap_words("cce", "certificate"), gap_words("nash", "exact"), gap_words("cce", "estimate")
    ('cce bound', 'exact nash', 'cce estimate')
    """
    return f"exact {kind}" if source == "exact" else f"{kind} {sureness(source)}"


def sureness(source: str) -> str:
    """Return what a legend adds to a gap that is not exact.

    >>> sureness("exact"), sureness("certificate"), sureness("estimate")
    ('', 'bound', 'estimate')
    """
    return {"exact": "", "estimate": "estimate"}.get(source, "bound")
