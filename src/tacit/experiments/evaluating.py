"""Stored policies evaluated anew, on all workers: rows come as they are done."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tacit.core.display import Document
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine import Event, Noted, Watcher
from tacit.evaluation import deviation_table, evaluate
from tacit.evaluation.gaps import check_cost, in_words, seconds_to_evaluate
from tacit.experiments import store
from tacit.experiments.dispatch import Batch, Failure, run_all
from tacit.experiments.spec import game_of
from tacit.games.protocol import count_steps

#: Bytes of policies above which worker processes are worth their start.
_LARGE = 20_000_000

#: Seconds from which it is told how long something takes, and how many evaluations taking a gap apart is worth.
_LONG, APART = 5.0, 3


@dataclass(frozen=True)
class Request:
    """A run to evaluate: its directory, the Python code that may be run, whether to take its gap apart, which
    candidate to read where it is not the run's own choice, and how long that may take by an estimate.
    """

    place: Path
    named: tuple[str, ...] = ()
    show: bool = False
    candidate: str | None = None
    seconds: float = math.inf


class Row(NamedTuple):
    """What was found of a run: data as `tacit evaluate --json` has it, and tables where they were asked for."""

    data: dict[str, Any]
    shown: tuple[Document, ...] = ()


def evaluate_all(
    runs: Sequence[Path],
    *,
    named: Collection[str] = (),
    show: bool = False,
    candidate: str | None = None,
    seconds: float = math.inf,
    workers: int | None = None,
    done: Callable[[int, Row | Failure], None] | None = None,
    note: Callable[[str], None] | None = None,
) -> Batch[Row]:
    """Evaluate stored runs; `done` is called with a run's place in the list and its row or failure, as they come.

    What would take longer than `seconds`, by an estimate, is left out; `note` is told what takes long. Small runs are
    evaluated in this process, one after the other; where much is to be read, processes do it. What
    Ctrl-C leaves undone is None.
    """
    size = sum((run / store.POLICY).stat().st_size for run in runs if (run / store.POLICY).is_file())
    large = size > _LARGE and len(runs) > 1 and workers != 1
    requests = [Request(run, tuple(named), show, candidate, seconds) for run in runs]

    def watch(k: int, event: Event) -> None:
        if note is not None and isinstance(event, Noted):
            note(event.text)

    where: dict[str, Any] = {"on": "processes", "workers": workers} if large else {"on": "threads:1"}
    return run_all(evaluate_run, requests, watch=watch, done=done, **where)


def evaluate_run(request: Request, watch: Watcher | None = None) -> Row:
    """Evaluate one stored run."""
    place = request.place
    stored = store.load(place)
    chosen = request.candidate or stored.chosen
    gap = stored.gap if chosen == stored.chosen else stored.candidates.get(chosen)
    value = stored.value if chosen == stored.chosen else None  # of the chosen one only
    bounds = None if gap is None else gap.upper
    game = game_of(stored.spec, named=request.named)
    if (stored.agents, stored.horizon) != (game.agents, count_steps(game)):
        raise TacitError(f"{place / store.SUMMARY} is altered: it has other agents or another horizon than the game")
    policy = store.load_policy(place, request.candidate)
    cost = seconds_to_evaluate(game, policy)
    check_cost(cost, request.seconds, f"{place}: its exact evaluation")
    if watch is not None and cost > _LONG:
        watch(Noted(f"{place}: its exact evaluation takes {in_words(cost)}"))
    found = evaluate(game, policy, gap=None if gap is None else gap.kind)
    row = {
        "run": str(place),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "episodes": stored.episodes,
        "candidate": chosen,
        "value": found.values.tolist(),
        "gap": {"kind": found.kind, "exact": found.exact, "max": found.gap, "per_agent": found.gaps.tolist()},
        "stored": {
            "value": value,
            "gap": bounds,
            "source": None if gap is None else gap.source,
        },
        "largest_difference": max(_distance(found.values, value), _distance(found.gaps, bounds)),
    }
    if not request.show:
        return Row(row)
    try:
        check_cost(APART * cost, request.seconds, "what the policy plays, and who gains by deviating,")
    except TacitError as error:
        return Row(row, (Document(str(error), []),))
    if watch is not None and APART * cost > _LONG:
        watch(Noted(f"{place}: what it plays, and who gains by deviating, takes {in_words(APART * cost)} more"))
    shown = policy.show(game)
    row["policy"] = shown.data
    tables = [Document(shown.title, shown.parts)]
    try:
        apart = deviation_table(game, policy, gap=found.kind)
    except TacitError as error:  # it takes more memory than there is
        return Row(row, (*tables, Document(f"no table of deviations: {error}", [])))
    row["deviations"] = apart.data(limit=1000)
    gains = apart.show()
    return Row(row, (*tables, Document(gains.title, gains.parts)))


def _distance(anew: FloatArray, stored: list[float] | None) -> float:
    return 0.0 if stored is None else float(np.max(np.abs(anew - np.asarray(stored))))
