"""What the tests of stored runs share."""

from __future__ import annotations

from pathlib import Path


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
            "record.npz",
            "markov.npz",
        }, names
        found[run.name] = {name: (run / name).read_bytes() for name in sorted(names - {"machine.json"})}
    return found
