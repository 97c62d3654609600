"""What learners that take a best action share."""

from __future__ import annotations

from tacit.core import generics


@generics.jitable
def best(row, n):
    """Return the largest of the first n values of a row, and how many actions have it."""
    top = row[0]
    count = 1
    for a in range(1, n):
        if row[a] > top:
            top = row[a]
            count = 1
        elif row[a] == top:
            count += 1
    return top, count
