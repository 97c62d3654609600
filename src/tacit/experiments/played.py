"""Which learner, in an environment: ranked by the return of the returned policy, with what trained responses gain."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.display import Document, Table, count
from tacit.core.errors import TacitError
from tacit.engine.events import log
from tacit.environments.adapters import environment, name_of
from tacit.environments.measuring import evaluate_by_play, exploit, with_interval
from tacit.environments.pettingzoo import NamedEnvironment
from tacit.experiments.runner import Progress
from tacit.experiments.spec import LearnerSpec
from tacit.learning import run_learner
from tacit.options import Options

#: Episodes of each run where none are given.
EPISODES = 1_000

#: A returned policy is played in a fifth as many episodes as it was learned in, and so is each trained response.
SHARE, LEAST = 5, 20

COLUMNS = ("", "learner", "return", "least", "responses gain", "training", "seconds")


@dataclass(frozen=True, eq=False, repr=False)
class PlayedComparison:
    """The results of several learners in one environment, ranked by mean return.

    Attributes
    ----------
    game, budget : str
        The environment, and what was played, in words.
    rows : list of dict
        What is known of each learner, the best first: the mean return over agents and seeds with an interval, the least
        of any seed, and what trained responses gain, the largest of all agents, as the mean over seeds.
    left_out : dict
        Learners that do not fit the environment or failed, and why.
    interrupted : bool
    """

    game: str
    budget: str
    rows: list[dict[str, Any]]
    left_out: dict[str, str]
    interrupted: bool = False

    def document(self) -> dict[str, Any]:
        """Return what `tacit compare --json` prints."""
        names = ("budget", "rows", "left_out", "interrupted")
        return {name: getattr(self, name) for name in names}

    def table(self) -> Document:
        """Return the ranking for people."""
        cells = [self._cells(rank, row) for rank, row in enumerate(self.rows, start=1)]
        lines: list[str | Table] = [Table("", COLUMNS, cells, head=2)]
        lines += [f"left out: {name}: {why}" for name, why in self.left_out.items()]
        lines += ["interrupted: these are the learners that were done"] * self.interrupted
        return Document(f"{self.game}: {self.budget}", lines, self.document)

    def _cells(self, rank: int, row: dict[str, Any]) -> tuple[str, ...]:
        value, least = with_interval(*row["return"]), f"{min(row['per_seed']):.4g}"
        training = "/".join(row["training"]) or "—"
        return str(rank), row["learner"], value, least, f"{row['gain']:.3g}", training, f"{row['seconds']:.2f}"

    def __repr__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


@contextlib.contextmanager
def _enter(game: Any) -> Iterator[Any]:
    """Give an environment: one that is named is made, and closed in the end."""
    if isinstance(game, NamedEnvironment):
        with game.enter() as env:
            yield env
    else:
        yield game


def compare_by_play(
    game: Any,
    specs: Sequence[LearnerSpec],
    *,
    episodes: int | None,
    seeds: int,
    seed: int,
    progress: Callable[[Progress], None] | None,
) -> PlayedComparison:
    """Let learners learn in an environment, and rank them by their returns in fresh episodes; see `tacit.compare`."""
    episodes = check.integer("episodes", EPISODES if episodes is None else episodes)
    seeds = check.integer("seeds", seeds)
    with _enter(game) as env:
        agents = len(environment(env).names)
        name = name_of(getattr(env, "env", env))
    plays = max(episodes // SHARE, LEAST)
    measuring = plays * (2 + 3 * agents)
    runs = len(specs) * seeds
    budget = f"{episodes:,} episodes a run, {count(seeds, 'seed')}; at most {measuring:,} more to measure each"
    total = f"{runs * (episodes + measuring):,} episodes in all"
    log.warning("%s: %s; %s, %s", name, budget, count(runs, "run"), total)
    rows: list[dict[str, Any]] = []
    left_out: dict[str, str] = {}
    interrupted = False
    for k, spec in enumerate(specs):
        label = spec.label or spec.name
        try:
            with _enter(game) as env:
                rows.append(_measure(env, spec, label, range(seed, seed + seeds), episodes, plays))
        except TacitError as error:
            left_out[label] = str(error)
        except KeyboardInterrupt:
            interrupted = True
            break
        if progress is not None:
            done = (k + 1) * seeds
            progress(Progress(done, runs, done * episodes, runs * episodes, failed=len(left_out) * seeds))
    if not rows:
        raise TacitError("; ".join(f"{label}: {why}" for label, why in left_out.items()) or "interrupted")
    rows.sort(key=lambda row: -row["return"][0])
    return PlayedComparison(name, budget, rows, left_out, interrupted)


def _measure(env: Any, spec: LearnerSpec, label: str, seeds: range, episodes: int, plays: int) -> dict[str, Any]:
    """Return what is known of one learner: all are measured in the same episodes."""
    values, low, high, gains, training, seconds = [], [], [], [], set(), 0.0
    for seed in seeds:
        run = run_learner(env, spec.learner or spec.name, spec.params, Options(episodes, seed))
        run.raise_error()
        played = evaluate_by_play(env, run, episodes=plays, seed=seed)
        responses = exploit(env, run, episodes=plays, plays=plays, seed=seed)
        values.append(float(played.values.mean()))
        low.append(played.low.mean())
        high.append(played.high.mean())
        gains.append(float(np.nanmax(responses.gains)))
        training |= set(responses.training)
        seconds += run.seconds / len(seeds)
    return {
        "learner": label,
        "return": [float(np.mean(one)) for one in (values, low, high)],
        "per_seed": values,
        "gain": float(np.mean(gains)),
        "training": sorted(training - {""}),
        "seconds": seconds,
    }
