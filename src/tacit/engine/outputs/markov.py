"""The output of learners whose iterates are Markov policies: exact gaps of the last, the best and one drawn evenly."""

from __future__ import annotations

import math

import numpy as np

from tacit.core import streams
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.curve import Measures
from tacit.engine.protocols import Engine, Output, Result
from tacit.engine.run import Candidate, Gaps
from tacit.engine.validation import Arrays, check_names, checked
from tacit.evaluation import evaluate, l2_gap
from tacit.games.protocol import Game
from tacit.games.tabular import TabularGame
from tacit.learners import Learner
from tacit.policies import MarkovPolicy

#: Up to this many joint actions exact measures are taken while learning unless they are declined; above, only on
#: request: their cost grows with the number of joint actions.
CERTIFY_JOINT_ACTIONS = 1024


class MarkovOutput(Output):
    """Answers with the last iterate; of exact ascent, which costs nothing to measure, with the best that was seen."""

    def __init__(
        self, *, game: Game, learner: Learner, episodes: int, seed: int, certify: bool | None, keep: bool
    ) -> None:
        self.game = game
        self._tables = tables_to_measure(game, True if learner.exact and certify is None else certify)
        self._final = game if isinstance(game, TabularGame) and certify is not False else None
        self._keeps_best = learner.exact
        self._sampled_at = int(streams.stream(seed, streams.OUTPUT).integers(episodes))
        self._sampled: list[FloatArray] | None = None
        self._best: list[FloatArray] | None = None
        self._best_gap = math.inf
        self._points: list[FloatArray] = []

    def look(self, engine: Engine, done: int) -> int | None:
        """Keep the iterate that is about to be played if it is the sampled one, or the best so far."""
        self._consider(engine, engine.gap)
        if done == self._sampled_at:
            self._sampled = engine.distributions()  # [Mao2022, Alg. 3, l. 7]
        return self._sampled_at if done < self._sampled_at else None

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return exact value and gaps of the last iterate, and their averages over the curve so far ("Average")."""
        if self._tables is None:
            unknown = np.full(self.game.agents, np.nan)
            return {"value": unknown, "gap": unknown}
        policy = engine.policy(engine.distributions())
        found, distance = evaluate(self._tables, policy), l2_gap(self._tables, policy)
        self._consider(engine, found.gap)
        self._points.append(np.array([found.values[0], found.gap, distance]))
        value, gap, l2 = np.mean(self._points, axis=0)
        return {
            "value": found.values,
            "gap": found.gaps,
            "l2_gap": distance,
            "average_value": float(value),
            "average_gap": float(gap),
            "average_l2_gap": float(l2),
        }

    def result(self, engine: Engine, done: int) -> Result:
        """Return the last iterate, and the best one where it was kept, with their exact gaps."""
        last = engine.policy(engine.distributions())
        sampled = last if self._sampled is None else engine.policy(self._sampled)
        candidates = {"last": exact_candidate(self._final, last)}
        if not self._keeps_best:
            return Result(last, candidates, "last", sampled)
        best = last if self._best is None else engine.policy(self._best)
        return Result(last, {"best": exact_candidate(self._final, best), **candidates}, "best", sampled)

    def snapshot(self) -> Arrays:
        """Return the iterates that are kept, where there are any yet, and the measures so far."""
        iterates = {"sampled": self._sampled or [], "best": self._best or []}
        kept = {f"{name}_{i}": own for name, table in iterates.items() for i, own in enumerate(table)}
        return {"points": np.array(self._points), "best_gap": np.array(self._best_gap), **kept}

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this output after that many episodes."""
        names = {"points", "best_gap"}
        for name in ("sampled", "best"):
            table = self._kept(name, arrays)
            names |= {f"{name}_{i}" for i in range(len(table or []))}
            if table is not None:
                MarkovPolicy(table).check_fits(self.game)
        check_names(arrays, names)
        points = arrays["points"]
        shape = (min(len(points), done), 3) if len(points) else (0,)
        if not np.isfinite(checked(arrays, "points", np.float64, shape)).all():
            raise TacitError("its measures are no finite numbers")
        if np.isnan(checked(arrays, "best_gap", np.float64, ())):
            raise TacitError("its best gap is no number")

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        self._points, self._best_gap = list(arrays["points"]), float(arrays["best_gap"])
        self._sampled, self._best = self._kept("sampled", arrays), self._kept("best", arrays)

    def _kept(self, name: str, arrays: Arrays) -> list[FloatArray] | None:
        keys = [f"{name}_{i}" for i in range(self.game.agents)]
        return [arrays[key] for key in keys if key in arrays] or None

    def _consider(self, engine: Engine, gap: float) -> None:
        if self._keeps_best and gap < self._best_gap:
            self._best, self._best_gap = engine.distributions(), gap


def tables_to_measure(game: Game, certify: bool | None) -> TabularGame | None:
    """Return the game if exact measures are wanted and its tables are there; by default they are for small games."""
    if not isinstance(game, TabularGame) or certify is False:
        return None
    return game if certify or game.joint_actions <= CERTIFY_JOINT_ACTIONS else None


def exact_candidate(tables: TabularGame | None, policy: MarkovPolicy) -> Candidate:
    """Return a Markov policy with its exact nash gaps and values, where there are tables to compute them from."""
    if tables is None:
        return Candidate(Gaps("nash", np.full(policy.agents, np.nan), "none"), None, policy)
    found = evaluate(tables, policy)
    return Candidate(Gaps("nash", found.gaps, "exact"), found.values, policy)
