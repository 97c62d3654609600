"""The output of learners that take turns: that of each member, on its own episodes, and the best of all candidates."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tacit.core import generics
from tacit.core.streams import Rota
from tacit.engine import outputs
from tacit.engine.curve import Measures
from tacit.engine.drive import Engine, Nothing, Output, Outputs, Result
from tacit.engine.fused import FusedEngine
from tacit.engine.run import Candidate, Gaps, choose, worth
from tacit.evaluation import uniform_gap
from tacit.games.exact import as_exact
from tacit.games.protocol import Game
from tacit.learners import Portfolio
from tacit.learners.several import is_own
from tacit.options import Options


class Watch(NamedTuple):
    """What watches the episodes of one member, and of those after it: a chain, or what watches the last."""

    own: Any
    others: Any
    left: int  # members from this one on
    first: int  # episodes that each has in a row before they take turns

    def split(self, done: int) -> tuple[int, int]:
        """Return how many of `done` episodes are this member's, and how many the others'."""
        own = Rota(self.left, self.first).share(0, done)
        return own, done - own


def watch_members(watching: Sequence[Any], first: int) -> Any:
    """Return one observer that shows each of these the episodes of its own member."""
    chain = watching[-1]
    for k, own in enumerate(reversed(watching[:-1])):
        chain = Watch(own, chain, k + 2, first)
    return chain


@generics.observe.implement(Watch)
def observe_member(observer, learner, game, seats, h, s):
    """Let the observer see the visit whose member's turn it is."""
    if is_own(learner, 0):
        generics.observe(observer.own, learner.own, game, seats, h, s)
    else:
        generics.observe(observer.others, learner.others, game, seats, h, s)


class PortfolioOutput(Outputs):
    """Candidates are those of all members, by the member's name and their own: `choose` takes one of them.

    Without tables nobody knows their gaps, and it is the answer of the member whose late episodes were worth the most.
    """

    def __init__(self, *, game: Game, learner: Portfolio, options: Options) -> None:
        self.game, self.learner, self.options = game, learner, options
        self.names = [name for name, _ in learner.members]
        self.members = []
        for m, (_, own) in enumerate(learner.members):
            most = None if options.episodes is None else max(1, self.learner.share(m, options.episodes))
            visits = options.visits_per_stage if own.output == "certified" else None
            its = replace(options, episodes=most, visits_per_stage=visits)
            made = outputs.REGISTRY.make(own.output, game=game, learner=own, options=its)
            made.play_again = functools.partial(self._play_again, m)  # type: ignore[attr-defined]
            self.members.append(made)
        self.certificate = watch_members([own.certificate for own in self.members], learner.first)
        self.record = watch_members([own.record for own in self.members], learner.first)
        self.notes = tuple(dict.fromkeys(note for own in self.members for note in own.notes))
        self.certifies = any(own.certifies for own in self.members)

    def _play_again(self, m: int, certificate: Any, done: int) -> None:
        """Play the run once more, with this certificate of member m."""
        watching = [certificate if k == m else Nothing() for k in range(len(self.names))]
        most, seed = self.options.most, self.options.seed
        observer = watch_members(watching, self.learner.first)
        engine = FusedEngine(self.game, self.learner, episodes=most, seed=seed, certificate=observer)
        engine.advance(self.learner.rota.find(m, done - 1) + 1)

    def _parts(self, engine: Engine, done: int) -> Iterator[tuple[int, Output, Engine, int]]:
        """Yield each member's number, its output, the engine as it sees it, and how many episodes it has had."""
        for m, own in enumerate(self.members):
            own.interrupted = self.interrupted
            view = engine.view(self.learner.members[m][1], functools.partial(self.learner.part, m=m))
            yield m, own, view, self.share(m, done)

    def look(self, engine: Engine, done: int) -> int | None:
        """Let every member's output see the engine; return the first episode before which one must see it again."""
        until, records = [], []
        for m, own, view, its in self._parts(engine, done):
            found = own.look(view, its)
            records.append(view.record)
            if found is not None:
                until.append(self.learner.rota.find(m, found))
        engine.record = watch_members(records, self.learner.first)
        return min(until, default=None)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the values and gaps of the best member, where they are known, and the largest gap of each."""
        found = {self.names[m]: own.measure(view, its) for m, own, view, its in self._parts(engine, done) if its}
        known = {
            name: self._candidate(Gaps("", np.asarray(one["gap"]), "exact"), one["value"])
            for name, one in found.items()
        }
        best = known[self._choose(known) or next(iter(known))]
        gaps = {f"gap_{name}": known[name].gap if name in known else math.nan for name in self.names}
        return {"value": np.asarray(best.values), "gap": best.gaps.upper, **gaps}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates of all members."""
        results = {m: own.result(view, its) for m, own, view, its in self._parts(engine, done) if its}
        found = {
            (m, name): self._candidate(one.gaps, one.values, one._policy)
            for m, its in results.items()
            for name, one in its.candidates.items()
            if one._policy is not None or _is_known(one)
        }
        candidates = {f"{self.names[m]} {name}": one for (m, name), one in found.items()}
        chosen = self._choose(candidates)
        best = next((m for m, name in found if f"{self.names[m]} {name}" == chosen), -1)
        if not chosen:
            means = self.learner.late_means(engine.state)
            best = max(results, key=lambda m: worth(means[m], self.options.prefer))
            name = results[best].chosen
            chosen = (
                f"{self.names[best]} {name if (best, name) in found else 'last'}"  # the last iterate is always there
            )
        return Result(results[best].last, candidates, chosen, results[best].sampled)

    def _candidate(self, gaps: Gaps, values: Any, policy: Any = None) -> Candidate:
        """Return a member's candidate as one of the portfolio's: a product's nash gaps are its cce and its ce gaps."""
        return Candidate.with_gaps(replace(gaps, kind=self.learner.equilibrium), values, policy)

    def _choose(self, candidates: dict[str, Candidate]) -> str:
        """Return the name of the best of those whose gaps are known, if there are any."""
        known = {name: one for name, one in candidates.items() if _is_known(one)}
        exact = as_exact(self.game)
        if not known or exact is None:
            return ""
        return choose(known, functools.partial(uniform_gap, exact), **self.options.choice)

    def share(self, m: int, done: int) -> int:
        """Return how many of the first `done` episodes are member m's."""
        return self.learner.share(m, done)


def _is_known(one: Candidate) -> bool:
    return one.gaps.source in ("exact", "certificate") and bool(np.isfinite(one.gap))
