"""What workers elsewhere cannot have: learners and bandits that the started script itself defines.

Worker processes of this machine import that script again, as Python's own pools do. Those of Ray, or of a Dask cluster
that runs already, do not. A game that it registers is sent as tables.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

from tacit import bandits, games, learners
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.experiments import job
from tacit.experiments.plan import NO_TABLES, RunSpec

_MAIN = "__main__"


def refuse(runs: Sequence[RunSpec], where: tuple[str | Executor, str, int | None]) -> None:
    """Raise if a run needs something that workers at a place, as `places.checked` returns it, cannot have."""
    kind, address, _ = where
    if kind != "ray" and not (kind == "dask" and address):
        return
    seen: set[tuple[str, str, object]] = set()
    for spec in runs:
        needed = (spec.game.name, spec.learner.name, spec.learner.params.get("bandit"))
        if needed in seen:
            continue
        seen.add(needed)
        for registry, name in ((learners.REGISTRY, needed[1]), (bandits.REGISTRY, needed[2])):
            if _of_main(registry, name):
                raise TacitError(_sentence(registry.kind, name))
        if _of_main(games.REGISTRY, needed[0]) and not _travels(spec):
            raise TacitError(_sentence("game", needed[0]))


def _sentence(kind: str, name: object) -> str:
    return (
        f"the {kind} {name!r} is defined in the script that was started, which workers of a cluster do not import; "
        f"put it in a file of its own and name that file: --import FILE, or scripts= of the Experiment"
    )


def _of_main(registry: Registry[Any], name: object) -> bool:
    known = isinstance(name, str) and name in list(registry)
    return known and getattr(registry.factory(str(name)), "__module__", "") == _MAIN


def _travels(spec: RunSpec) -> bool:
    """Say whether a game can be sent: tables can, functions of the script cannot."""
    if spec.tables.startswith(NO_TABLES):
        return False
    try:
        return _MAIN.encode() not in job.packed_game(spec)
    except (pickle.PicklingError, AttributeError, TypeError):
        return False
