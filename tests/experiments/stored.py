"""What the tests of stored runs share."""

from __future__ import annotations

from pathlib import Path

from tacit.engine import Watcher
from tacit.engine.events import to_all
from tacit.experiments import Outcome, RunSpec, store
from tacit.experiments.worker import Order, work


def content(out: Path) -> dict[str, object]:
    """Return all that is stored in a directory of runs, byte for byte, but for machine.json; leftovers are an error."""
    found: dict[str, object] = {}
    for run in sorted(path for path in out.iterdir() if path.is_dir()):
        names = {path.name for path in run.iterdir()}
        assert names <= {
            "spec.toml",
            "curve.jsonl",
            "summary.json",
            "policy.npz",
            "machine.json",
        }, names
        found[run.name] = {name: (run / name).read_bytes() for name in sorted(names - {"machine.json"})}
    return found


def run_job(
    spec: RunSpec, directory: Path | None = None, watch: Watcher | None = None, *, every: float = 30.0
) -> Outcome | None:
    """Run a specification; with a directory, resume and store it, unless another process holds it."""
    if directory is None:
        return work(Order(spec), watch).outcome  # type: ignore[union-attr]
    with store.RunDirectory(directory, spec) as kept:
        if not kept.hold():
            return None
        learned = kept.begin() or work(Order(spec, directory, every), to_all(kept.event, watch))
        return kept.store(learned) if isinstance(learned, store.Delivery) else learned
