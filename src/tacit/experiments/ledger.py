"""What this process does about each run of an experiment: holds its directory, writes what comes, stores the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.engine import Event, Noted
from tacit.experiments import job
from tacit.experiments.dispatch import Desk, Failure, Have, Start
from tacit.experiments.job import Delivery, Order, Wanted
from tacit.experiments.keeping import RunDirectory
from tacit.experiments.outcome import Outcome
from tacit.experiments.plan import RunSpec
from tacit.experiments.progress import ProgressWatch


class Ledger(Desk):
    """Runs of an experiment, and where they are kept if anywhere."""

    def __init__(self, specs: Sequence[RunSpec], root: Path | None, watch: ProgressWatch, *, every: float) -> None:
        self._orders = [Order(spec, None if root is None else root / spec.directory, every) for spec in specs]
        self._watch = watch
        self._kept: dict[int, RunDirectory] = {}
        self._noted: set[int] = set()
        self._games: dict[str, bytes] = {}

    def begin(self, k: int) -> Start | Have | None:
        """Hold the run's directory, unless another process does; a run that is finished is read."""
        order = self._orders[k]
        if order.directory is not None:
            kept = RunDirectory(order.directory, order.spec)
            try:
                if not kept.hold():
                    return None  # another process has it
                found = kept.begin()
            except BaseException:
                kept.release()
                raise
            if found is not None:
                kept.release()
                return Have(replace(found, spec=order.spec))
            self._kept[k] = kept
        return Start(order)

    def began(self, k: int, where: str) -> None:
        """Tell where it runs."""
        self._watch.began(k, where)

    def event(self, k: int, event: Event) -> None:
        """Write it and pass it on."""
        if k in self._kept:
            self._kept[k].event(event)
        if isinstance(event, Noted):
            self._noted.add(k)
        self._watch(k, event)

    def lost(self, k: int, where: str) -> None:
        """Tell that it is tried again."""
        spec = self._orders[k].spec
        which = f"{spec.game.name} with {spec.label}, seed {spec.seed}"
        self._watch.note(f"the worker {where} died; another takes over its run ({which})")

    def more(self, k: int, result: Any) -> Order | None:
        """Send the tables of the game where they are wanted."""
        if not isinstance(result, Wanted):
            return None
        spec = self._orders[k].spec
        if spec.tables not in self._games:
            self._games = {spec.tables: job.packed_game(spec)}  # one at a time: they may be large
        return replace(self._orders[k], tables=self._games[spec.tables])

    def settle(self, k: int, result: Delivery) -> Outcome:
        """Store the run."""
        kept = self._kept.get(k)
        return result.outcome if kept is None else kept.store(result.outcome, result.others)

    def ended(self, k: int, result: Any) -> None:
        """Let go of the directory, and tell how it ended."""
        kept = self._kept.pop(k, None)
        if kept is not None:
            kept.release()
        if isinstance(result, Outcome):
            if k not in self._noted:  # nothing came on the way
                for text in result.notes:
                    self._watch.note(text)
            if result.interrupted:
                return
        if result is not None:
            self._watch.ended(k, not isinstance(result, Failure))
