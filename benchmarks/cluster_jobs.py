"""Jobs that workers import: on Ray, what is in `__main__` is not found there."""

from __future__ import annotations

import time
from typing import Any


def nap(seconds: float, item: int, watch: Any) -> tuple[float, float]:
    began = time.time()
    time.sleep(seconds)
    return began, time.time()


def toil(seconds: float, item: int, watch: Any) -> tuple[float, float]:
    """Compute for about so long: a fixed amount of work, so that it takes longer where a core is shared."""
    began, total = time.time(), 0
    for n in range(int(seconds * 2e7)):
        total += n
    return began, time.time()
