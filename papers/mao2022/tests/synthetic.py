"""Runs that never happened, with the numbers that a rule is to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tacit
from measures import Measured, Task, TeamMeasured
from tacit.experiments import GameSpec, LearnerSpec, Outcome, summarize
from tacit.experiments.results import GapOutcome
from tacit.experiments.spec import RunSpec
from tacit.options import Options

SPEC = RunSpec(GameSpec("matrix-team"), LearnerSpec("pg-storm"), "", Options(100, points=10, keep=False))


def outcome(curve: dict[str, Sequence[float]], *, gap: GapOutcome | None = None, exploration: float = 0.0) -> Outcome:
    """A run of one agent whose curve has these columns; its reward is the curve's last."""
    columns = {"episode": np.arange(1, 1 + len(next(iter(curve.values())))) * 10, **curve}
    table = np.array(
        list(zip(*columns.values(), strict=True)), dtype=[(k, "i8" if k == "episode" else "f8") for k in columns]
    )
    return Outcome(
        spec=SPEC,
        game="",
        horizon=1,
        agents=1,
        episodes=int(table["episode"][-1]),
        reward=[float(table["reward"][-1])] if "reward" in curve else [0.0],
        value=None,
        chosen="last",
        gap=gap,
        params={"exploration": exploration},
        notes=(),
        seconds=0.0,
        curve=table,
    )


def task(name: str = "task") -> Task:
    """The matrix team: optimum 10, random play 2/9, gap of random play 4/9."""
    return Task(name, tacit.make("matrix-team"))


def measured(setting: str, reward: float, *, spread: float = 0.1, **more: Any) -> Measured:
    """A setting with a mean reward, and an interval of about ± `spread` around it."""
    where = task()
    summary = summarize(reward + spread * np.linspace(-1.7, 1.7, 5))
    given = {
        "episodes": 1000,
        "share": where.share(reward),
        "high": where.share(summary.ci95[1]),
        "moves": 0.0,
        "when": 500,
        "gap": None,
        "kind": "",
    }
    return Measured(setting=setting, reward=summary, **{**given, **more})


def team(setting: str, **more: Any) -> TeamMeasured:
    """A setting of PG for which every claim about the matrix team holds, but for what is given."""
    given = {
        "episodes": 5000,
        "runs": 20,
        "l2_gap": summarize([0.0]),
        "value": summarize([9.1]),
        "average_l2_gap": summarize([0.01]),
        "average_value": summarize([9.0]),
        "lag": summarize([0.1, 0.2]),
        "optimal": 0.9,
        "elsewhere": 0.1,
        "others": 10.0,
        "averaged": "all iterates",
    }
    return TeamMeasured(setting=setting, **{**given, **more})
