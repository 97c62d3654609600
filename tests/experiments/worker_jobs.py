"""Jobs for worker processes, which import this file."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tacit import TacitError
from tacit.engine import Advanced, Event, Measured, Noted

Watch = Callable[[Event], None] | None


def double(n: int, watch: Watch) -> tuple[int, int]:
    """Tell three events, and return twice the number and the process that did it."""
    if watch is not None:
        for event in (Advanced(n, 10), Measured({"episode": float(n)}), Noted(f"number {n}")):
            watch(event)
    return 2 * n, os.getpid()


def picky(n: int, watch: Watch) -> int:
    """Refuse some numbers, each in its own way; hang at 7."""
    if n == 1:
        raise ValueError("one\n  is too few")
    if n == 2:
        raise TacitError("two is company")
    if n == 3:
        sys.exit("three is a crowd")
    if n == 4:
        raise OSError(28, "No space left on device")
    if n == 6:
        np.ones(10**15)  # more memory than there is
    if n == 7:
        time.sleep(1000)
    return n


def both(item: int | tuple[str, int], watch: Watch) -> Any:
    """Double a number; be picky where the item says so."""
    return picky(item[1], watch) if isinstance(item, tuple) else double(item, watch)


def dies(item: tuple[int, Path, int], watch: Watch) -> int:
    """Number 1 dies by SIGKILL as often as it says, and counts its deaths in a file."""
    n, place, times = item
    if n == 1:
        died = len(place.read_bytes()) if place.exists() else 0
        if died < times:
            with open(place, "ab") as stream:
                stream.write(b"x")
            if watch is not None:
                watch(Noted("about to die"))
            os.kill(os.getpid(), signal.SIGKILL)
    return n


def silent(place: Path, watch: Watch) -> None:
    """Say that it has begun, and come to no event: as one that compiles."""
    place.touch()
    time.sleep(1000)


def endless(item: tuple[int, Path], watch: Watch) -> tuple[str, int]:
    """Say that it has begun, and play until it is told to end."""
    n, place = item
    (place / f"begun{n}").write_text(str(os.getpid()))
    done = 0
    try:
        while True:
            done += 1
            time.sleep(0.01)
            if watch is not None:
                watch(Advanced(done, 10**9))
            if watch is None and (place / "enough").exists():
                return "enough", n
    except KeyboardInterrupt:
        return "ended early", n


def unpicklable(n: int, watch: Watch) -> Any:
    """Return what no pipe can carry."""
    return lambda: n


def loud(n: int, watch: Watch) -> int:
    """Print, in Python and past it."""
    print("spoken")
    sys.stdout.flush()
    os.write(1, b"shouted\n")
    return n


def sign(place: Path) -> None:
    """Leave this process's number in a directory, one file for each call."""
    place.joinpath(f"{os.getpid()}-{time.monotonic_ns()}").touch()


def fail() -> None:
    """Be a setup that fails."""
    raise TacitError("nothing is prepared")


def signed(place: Path, watch: Watch) -> int:
    """Return how often this process was set up."""
    return len(list(place.glob(f"{os.getpid()}-*")))
