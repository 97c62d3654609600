"""What bandits that keep weights or probabilities for each action share: drawing from a row, and writing it out."""

from __future__ import annotations

from tacit.core import generics

#: Up to this many actions it is faster to go through all of them than to stop at the one drawn.
FEW = 8


@generics.jitable
def pick(weights, total, n, u):
    """Draw one of n actions in proportion to `weights`, which sum to `total`, with the uniform number u."""
    left = u * total
    if len(weights) <= FEW:  # without branches: where a draw ends cannot be predicted
        chosen = 0
        for a in range(n - 1):
            left -= weights[a]
            if not left < 0.0:
                chosen += 1
        return chosen
    for a in range(n - 1):
        left -= weights[a]
        if left < 0.0:
            return a
    return n - 1


@generics.jitable
def share(weights, total, n, out):
    """Write the weights divided by their sum; there is room for n at least, by which the compiler unrolls the loop."""
    scale = 1.0 / total
    for a in range(min(n, len(weights))):
        out[a] = weights[a] * scale
