"""What the tests of stored runs share."""

from __future__ import annotations

import json
from pathlib import Path


def content(out: Path) -> dict[str, object]:
    """Return all that is stored in a directory of runs, apart from timings; leftovers are an error."""
    found: dict[str, object] = {}
    for run in sorted(path for path in out.iterdir() if path.is_dir()):
        names = {path.name for path in run.iterdir()}
        assert names <= {"spec.toml", "curve.jsonl", "summary.json", "policy.npz"}, names
        summary = json.loads((run / "summary.json").read_text())
        del summary["seconds"], summary["digest"]
        found[run.name] = (summary, *((run / name).read_bytes() for name in sorted(names - {"summary.json"})))
    return found
