"""Two small functions to compile, and their files in a cache: fast enough to compile a thousand times."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.compilation import KernelCache, dispatcher


def scaled(pair, k):
    return pair[0][k] * pair[1]


def shifted(pair, k):
    return pair[0][k] + pair[1]


FUNCTIONS: tuple[Callable[..., Any], ...] = (scaled, shifted)
CALLS = (
    ((np.array([2.0, 3.0]), 5.0), 1),
    ((np.array([2, 3]), 5.0), 1),
)
RESULTS = {scaled: 15.0, shifted: 8.0}


class Kernel:
    """A function with arguments, and the file that its machine code is kept in."""

    def __init__(self, function: Callable[..., Any], call: tuple[Any, ...], directory: Path) -> None:
        self.function, self.call, self.directory = function, call, directory
        before = set(directory.glob("*.kernel"))
        assert self.result() == RESULTS[function]
        (self.place,) = set(directory.glob("*.kernel")) - before
        self.content = self.place.read_bytes()

    def dispatcher(self) -> Any:
        return dispatcher(self.function, self.directory)

    def result(self) -> float:
        return self.dispatcher()(*self.call)

    def loads(self) -> bool:
        """Return whether a new dispatcher finds machine code in the cache."""
        loop: Any = self.dispatcher()
        sig = tuple(loop.typeof_pyval(argument) for argument in self.call)
        cache: KernelCache = loop._cache
        return cache.load_overload(sig, loop.targetctx) is not None


def kernels(directory: Path) -> list[Kernel]:
    """Compile every function for every kind of argument."""
    return [Kernel(function, call, directory) for function in FUNCTIONS for call in CALLS]
