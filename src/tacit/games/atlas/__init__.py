"""The atlas: games whose values, equilibria or numbers of equilibria were stated by others, with source and figure.

Rules are rewritten here. `tacit.make("atlas/NAME")` makes a game, `tacit atlas` compares every figure with what
`tacit.solve`, `tacit.equilibria` and `tacit.evaluate` give.
"""

from __future__ import annotations

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.games.atlas import markov, matrices, prism
from tacit.games.atlas.entry import Entry, Figure

#: All entries, by name.
ENTRIES: dict[str, Entry] = {entry.name: entry for module in (matrices, markov, prism) for entry in module.ENTRIES}


def find(name: str) -> Entry:
    """Return the entry of a name, or raise with a suggestion: all names would fill a page."""
    if name not in ENTRIES:
        raise TacitError(f"no game of the atlas {brief(name)}{check.suggestion(name, ENTRIES)} `tacit atlas` lists all")
    return ENTRIES[name]


__all__ = ["ENTRIES", "Entry", "Figure", "find"]
