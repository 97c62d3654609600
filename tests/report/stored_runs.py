"""A stored run as its files say, and one that is cut short and goes on."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tacit.experiments import store
from tacit.report.results import Folder


def look(place: Path) -> Folder:
    folder = Folder(place)
    folder.look()
    return folder


def rows_of(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / store.CURVE).read_text().splitlines()]


class GoingOn:
    """A copy of a finished run that has come as far as some of its rows."""

    def __init__(self, results: Path, place: Path, rows: int) -> None:
        source = max(results.iterdir(), key=lambda run: len(rows_of(run)))
        self.run, self._summary = place / source.name, place.parent / f"{place.name}.json"
        shutil.copytree(source, self.run)
        (self.run / store.SUMMARY).rename(self._summary)
        self.lines = (self.run / store.CURVE).read_text().splitlines(keepends=True)
        (self.run / store.CURVE).write_text("".join(self.lines[:rows]))

    def grow(self, rows: int) -> None:
        (self.run / store.CURVE).write_text("".join(self.lines[:rows]))

    def finish(self) -> None:
        self.grow(len(self.lines))
        self._summary.rename(self.run / store.SUMMARY)
