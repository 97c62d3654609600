"""How a distribution is stored: all but its last probability, as 32-bit floats.

What is certified is what is stored: the certificate reads a distribution as it will be restored.
"""

from __future__ import annotations

import numpy as np

from tacit.core import generics


@generics.jitable
def rounded(probs, n):
    """Round the n probabilities to what will be restored from storage, in place."""
    total = 0.0
    for a in range(n - 1):
        probs[a] = np.float64(np.float32(probs[a]))
        total += probs[a]
    rest = max(1.0 - total, 0.0)
    probs[n - 1] = rest
    scale = total + rest
    if scale != 1.0:  # it nearly always is 1, and a division takes its time
        for a in range(n):
            probs[a] = probs[a] / scale
