"""What is told of the runs of one game with one learner, as the document that `tacit run --json` prints."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.experiments.runner import CellResult, Results
from tacit.experiments.statistics import summarize


def document(result: CellResult, *, interrupted: bool) -> dict[str, Any]:
    """Return the document of one cell."""
    runs = result.outcomes
    first = runs[0]
    reward = summarize([one.reward[0] for one in runs])
    learned = [one for one in runs if one.learned]
    wall = max(one.span[1] for one in learned) - min(one.span[0] for one in learned) if learned else 0.0
    episodes = sum(one.learned for one in runs)
    seconds = wall
    if not episodes:  # all was read from disk: tell of then
        episodes, seconds = sum(one.episodes for one in runs), sum(one.seconds for one in runs)
    return {
        "game": result.cell.game_name,
        "learner": first.spec.learner.name,
        "episodes": first.spec.episodes,
        "horizon": first.horizon,
        "agents": first.agents,
        "seeds": len(runs),
        "reward": {"mean": reward.mean, "std": reward.std, "ci95": list(reward.ci95)},
        "value": _value(result),
        "gap": _gap(result),
        "steps_per_second": episodes * first.horizon / max(seconds, 1e-9),
        "wall_seconds": wall,
        "params": first.params,
        "interrupted": interrupted,
        "episodes_done": [one.episodes for one in runs],
    }


def _value(result: CellResult) -> list[float] | None:
    """Return the mean values [N]; none without tables."""
    values = [one.value for one in result.outcomes if one.value is not None]
    return np.mean(values, axis=0).tolist() if values else None


def _gap(result: CellResult) -> dict[str, Any] | None:
    gaps = [one.gap for one in result.outcomes if one.gap is not None]
    if not gaps:
        return None
    upper = np.array([gap.upper for gap in gaps])
    return {
        "kind": gaps[0].kind,
        "source": gaps[0].source,
        "mean": float(upper.max(axis=1).mean()),
        "max": float(upper.max()),
        "per_agent": upper.mean(axis=0).tolist(),
        "informative": all(gap.informative for gap in gaps),
    }


def documents(name: str, results: Results) -> dict[str, Any]:
    """Return the document of a whole experiment."""
    return {"name": name, "runs": [document(one, interrupted=results.interrupted) for one in results.cells]}
