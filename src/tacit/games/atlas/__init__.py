"""The atlas: games whose values, equilibria or numbers of equilibria were stated by others, with source and figure.

Rules are rewritten here. `tacit.make("atlas/NAME")` makes a game, `tacit atlas` compares every figure with what
`tacit.solve`, `tacit.equilibria` and `tacit.evaluate` give.
"""

from __future__ import annotations

from tacit.games.atlas import markov, matrices, prism
from tacit.games.atlas.entry import Entry, Figure

#: All entries, by name.
ENTRIES = {entry.name: entry for module in (matrices, markov, prism) for entry in module.ENTRIES}

__all__ = ["ENTRIES", "Entry", "Figure"]
