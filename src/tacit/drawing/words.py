"""What figures call a gap."""

from __future__ import annotations


def gap_words(kind: str, source: str) -> str:
    """Return a gap's kind with how sure it is.

    >>> gap_words("cce", "certificate"), gap_words("nash", "exact"), gap_words("cce", "estimate")
    ('cce bound', 'exact nash', 'cce estimate')
    """
    if source == "exact":
        return f"exact {kind}"
    return f"{kind} {'estimate' if source == 'estimate' else 'bound'}"
