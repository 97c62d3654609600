"""How far a run is: told to whoever watches, and to the user where it ended early."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from tacit.play.interrupts import Interrupts
from tacit.play.windows import Windows

#: Called with (episodes done, episodes in all).
Progress = Callable[[int, int], None]


def tell(progress: Progress | None, done: int, episodes: int, interrupts: Interrupts) -> None:
    """Report progress; whoever watches may interrupt."""
    if progress is not None:
        try:
            progress(done, episodes)
        except KeyboardInterrupt:
            interrupts.pending = True


def ended(windows: Windows, episodes: int) -> int:
    """Return how many episodes were done; warn where they are not all, and interrupt where there are none."""
    if windows.done == 0:
        raise KeyboardInterrupt
    if windows.done < episodes:
        warnings.warn(f"interrupted: the run holds {windows.done} of {episodes} episodes", stacklevel=3)
    return windows.done
