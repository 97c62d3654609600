"""Outputs by name: of learners whose iterates are Markov policies, and of a portfolio.

A learner states its output by name. A new one is a class as in `engine/drive.py` and a line in the table at the end, or
an entry point of the group `tacit.outputs`; it is made with (game, learner, options).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.core import generics, memory, streams
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.core.types import FloatArray, IntArray
from tacit.engine.checkpoint import Arrays
from tacit.engine.drive import Engine, Measures, Output, Result
from tacit.engine.fused import chunk_of
from tacit.engine.recorded import RecordedOutput, tables_to_measure
from tacit.engine.run import Candidate, Gaps, choose
from tacit.evaluation import evaluate_iterates, l2_gap, uniform_gap
from tacit.evaluation.gaps import evaluate_returned, is_quick
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import Game
from tacit.games.tabular import as_tables
from tacit.learners import Learner, Portfolio
from tacit.learners.several import is_interpreted
from tacit.learners.spec import is_exact
from tacit.options import Options
from tacit.policies import MarkovPolicy

#: Up to this many steps × states × joint actions every iterate is evaluated for the averages: one then costs 1 to 3 µs,
#: as much as learning from an episode. In larger games the averages are over the points of the curve.
AVERAGE_ALL = 64

#: Policies that are kept in checkpoints, where there are any yet.
KEPT = ("sampled", "best", "planned")


class Trace(NamedTuple):
    """All distributions at the beginning of each episode since the last reading."""

    table: FloatArray  # [episodes, N, H, S, A]
    rows: IntArray  # [1]  episodes written


def trace(game: Game, episodes: int) -> Trace:
    """Make a trace for the iterates of a chunk of episodes."""
    shape = (episodes, game.agents, game.horizon, game.states, max(game.actions))
    return Trace(memory.zeros(shape, "the iterates of a chunk"), np.zeros(1, dtype=np.int64))


@generics.observe.implement(Trace)
def observe_trace(observer, learner, game, seats, h, s):
    """Write down the iterate that is about to be played."""
    if h == 0:
        k = observer.rows[0]
        observer.rows[0] = k + 1
        for i in range(len(seats)):
            for step in range(observer.table.shape[2]):
                for state in range(observer.table.shape[3]):
                    generics.policy(learner, i, step, state, observer.table[k, i, step, state])


class StateCounts(NamedTuple):
    """How often play that never resets was in each state."""

    visits: IntArray  # [S]


@generics.observe.implement(StateCounts)
def observe_visits(observer, learner, game, seats, h, s):
    """Count the state."""
    observer.visits[s] += 1


class MarkovOutput(Output):
    """Returns the last iterate; of exact ascent, which costs nothing to measure, the best."""

    def __init__(self, *, game: Game, learner: Learner, options: Options) -> None:
        if options.visits_per_stage is not None:
            raise TacitError("visits_per_stage is for learners of recorded policies; leave it out")
        self.game, self.options, certify = game, options, options.certify
        self._exact = as_exact(game)
        self._keeps_best, self._recent = is_exact(learner), learner.info.returns == "average"
        self._last = "frequencies" if learner.info.returns == "frequencies" else "last"
        self._tables = tables_to_measure(self._exact, True if self._keeps_best and certify is None else certify)
        self._final = None if certify is False else self._exact
        self.certifies = self._tables is not None
        self._sampling, self._sampled_at = streams.stream(options.seed, streams.OUTPUT), 0
        self._sampled: list[FloatArray] | None = None
        self._best: list[FloatArray] | None = None
        self._planned: list[FloatArray] | None = None  # on a shared model, a while ago
        self._planned_at = 0
        self._best_gap = math.inf
        self._sum, self._count = np.zeros(3), 0  # of value, gap and L² gap, over the iterates averaged
        self._trace: Trace | None = None
        small = self._tables is not None and _size(self._tables) <= AVERAGE_ALL
        self._averages_all = small and not is_interpreted(learner) and options.periods is None
        if options.periods is not None:
            self.record = StateCounts(np.zeros(game.states, dtype=np.int64))
        if self._averages_all and not self._keeps_best:
            self.certificate = self._trace = trace(game, chunk_of(game.horizon))

    def look(self, engine: Engine, done: int) -> int | None:
        """Keep the next iterate if it is sampled or the best so far; average it."""
        self._consider(engine, engine.gap)
        self._take_in()
        if self._averages_all and self._keeps_best and self._count == done:  # once, when a run is resumed too
            self._average(_stack(self.game, engine.distributions()))
        while self._sampled_at < done:  # in a run that was resumed: taken before
            self._sample_next()
        if done == self._sampled_at:
            self._sampled = engine.distributions()  # [Mao2022, Alg. 3, l. 7]
            self._sample_next()
        return self._sampled_at

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return exact values and gaps of the policy to return now, and averages over iterates."""
        unknown = np.full(self.game.agents, np.nan)
        if self._tables is None:
            return {"value": unknown, "gap": unknown}
        policy = engine.policy(engine.distributions())
        if self._leaves_out(policy):
            return {"value": unknown, "gap": unknown}
        evaluation, distance = evaluate_returned(self._tables, policy), l2_gap(self._tables, policy)
        self._consider(engine, evaluation.gap)
        self._take_in()
        if not self._averages_all:
            self._add(np.array([[evaluation.values[0], evaluation.gap, distance]]))
        value, gap, l2 = self._sum / max(self._count, 1)
        judged = {self._last: Candidate.with_gaps(Gaps("nash", evaluation.gaps, "exact"), evaluation.values)}
        if self._recent:
            recent = engine.policy(engine.distributions(recent=True))
            judged = {"recent": Candidate.with_exact_gaps(recent, self._tables), **judged}
        self._plan_again(engine, done)
        if self._planned is not None:
            judged["planned"] = Candidate.with_exact_gaps(engine.policy(self._planned), self._tables)
        best = judged[choose(judged, functools.partial(uniform_gap, self._tables), **self.options.choice)]
        return {
            "value": np.asarray(best.values),
            "gap": best.gaps.upper,
            "l2_gap": distance,
            "average_value": float(value),
            "average_gap": float(gap),
            "average_l2_gap": float(l2),
            "averaged": float(self._count),
        }

    def result(self, engine: Engine, done: int) -> Result:
        """Return the last iterate, and where kept the recent average and the best."""
        last = engine.policy(engine.distributions())
        sampled = last if self._sampled is None else engine.policy(self._sampled)
        final = None if self._leaves_out(last) else self._final
        kind = engine.learner.info.learns
        candidates = {self._last: Candidate.with_exact_gaps(last, final, kind)}
        if self._recent:
            recent = engine.policy(engine.distributions(recent=True))
            candidates = {"recent": Candidate.with_exact_gaps(recent, final, kind), **candidates}
        planned = None if engine.state is None else engine.learner.plan(engine.state, last.states)
        if planned is not None:
            planned.observations = last.observations
            candidates["planned"] = Candidate.with_exact_gaps(planned, final, kind)
        if self._keeps_best:
            best = last if self._best is None else engine.policy(self._best)
            candidates["best"] = Candidate.with_exact_gaps(best, final, kind)
        if final is None or len(candidates) == 1:
            return Result(last, candidates, [*candidates][-1], sampled)
        chosen = choose(candidates, functools.partial(uniform_gap, final), **self.options.choice)
        return Result(last, candidates, chosen, sampled)

    def _plan_again(self, engine: Engine, done: int) -> None:
        """Plan on a shared model whenever there are twice as many episodes."""
        if done >= 2 * self._planned_at and engine.state is not None and not self.interrupted:
            planned = engine.learner.plan(engine.state, self.game.states, quick=True)
            if planned is not None and planned.product:
                self._planned, self._planned_at = list(planned.probs), done

    def _leaves_out(self, policy: MarkovPolicy) -> bool:
        """Return whether there is no time to evaluate a policy."""
        return self.interrupted and self._exact is not None and not is_quick(self._exact, policy)

    def snapshot(self) -> Arrays:
        """Return the iterates that are kept and the measures so far."""
        arrays = {"sum": self._sum, "count": np.array(self._count), "best_gap": np.array(self._best_gap)}
        arrays["planned_at"] = np.array(self._planned_at)
        for name, table in zip(KEPT, (self._sampled, self._best, self._planned), strict=True):
            if table is not None:  # two arrays, however many agents there are
                arrays[name] = np.concatenate([probs.ravel() for probs in table])
                arrays[f"{name}_shapes"] = np.array([probs.shape for probs in table])
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        self._sum, self._count = arrays["sum"], int(arrays["count"])
        self._best_gap, self._planned_at = float(arrays["best_gap"]), int(arrays["planned_at"])
        self._sampled, self._best, self._planned = (_split(arrays, name) if name in arrays else None for name in KEPT)

    def _sample_next(self) -> None:
        """Draw the next iterate that replaces the sampled one.

        With each new iterate number n taking it with probability 1/n, the one that is left is drawn evenly from all,
        wherever the run ends; that none up to number m does has probability n/m.
        """
        self._sampled_at = int((self._sampled_at + 1) / (1.0 - self._sampling.random()))

    def _take_in(self) -> None:
        """Average the iterates of the chunk that was played, where all of them are."""
        if self._trace is not None:
            self._average(self._trace.table[: int(self._trace.rows[0])])
            self._trace.rows[0] = 0

    def _average(self, table: FloatArray) -> None:
        tables = as_tables(self._tables)
        if tables is not None and len(table):
            measures = evaluate_iterates(tables, table)
            self._add(np.stack([measures.values[:, 0], measures.gaps.max(axis=1), measures.l2_gaps], axis=1))

    def _add(self, measures: FloatArray) -> None:
        """Add measures [iterates, 3] one after the other, whatever the chunks."""
        self._sum = np.cumsum(np.concatenate([self._sum[None], measures]), axis=0)[-1]
        self._count += len(measures)

    def _consider(self, engine: Engine, gap: float) -> None:
        if self._keeps_best and gap < self._best_gap:
            self._best, self._best_gap = engine.distributions(), gap


def _split(arrays: Arrays, name: str) -> list[FloatArray]:
    """Return each agent's distributions [H, S, A_i] of an iterate in a snapshot."""
    shapes = arrays[f"{name}_shapes"]
    parts = np.split(arrays[name], np.cumsum(shapes.prod(axis=1))[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def _size(game: ExactGame) -> float:
    return game.horizon * game.states * game.joint_rows or math.inf


def _stack(game: Game, distributions: list[FloatArray]) -> FloatArray:
    """Return one iterate's distributions as [1, N, H, S, A]."""
    table = np.zeros((1, game.agents, game.horizon, game.states, max(game.actions)))
    for i, probs in enumerate(distributions):
        table[0, i, ..., : probs.shape[2]] = probs
    return table


# the portfolio: several learners by turns of 100 episodes, and the best candidate of all by its exact gap. Each member
# has an engine and an output of its own, with the same seed: it is, bit for bit, what it is alone after as many
# episodes. The last member plays first, so that `model-independent` does by default.

#: Episodes in a turn.
TURN = 100


class Member(NamedTuple):
    """One learner of a portfolio."""

    name: str
    engine: Engine
    output: Output


def share(m: int, members: int, done: int) -> int:
    """Return how many of the first `done` episodes are member m's.

    >>> [share(m, 2, 250) for m in (0, 1)]
    [100, 150]
    """
    rounds, rest = divmod(done, members * TURN)
    return rounds * TURN + min(max(rest - (members - 1 - m) * TURN, 0), TURN)


def find(m: int, members: int, number: int) -> int:
    """Return the episode that is member m's number `number`, both from 0.

    >>> find(0, 2, 100), find(1, 2, 100)
    (300, 200)
    """
    rounds, rest = divmod(number, TURN)
    return (rounds * members + members - 1 - m) * TURN + rest


class Joined:
    """Parts of a run, one for each member, that a checkpoint stores as one."""

    parts: Sequence[Engine | Output]

    def snapshot(self) -> Arrays:
        """Return the snapshots of all parts, numbered."""
        return {f"{m}.{key}": array for m, part in enumerate(self.parts) for key, array in part.snapshot().items()}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        for m, part in enumerate(self.parts):
            mine = {key: array for key, array in arrays.items() if key.startswith(f"{m}.")}
            part.restore({key.removeprefix(f"{m}."): array for key, array in mine.items()})


class TurnEngine(Joined, Engine):
    """Advances the engines of all members by turns."""

    def __init__(self, learner: Portfolio, members: Sequence[Member]) -> None:
        first = members[0].engine
        self.learner, self.members, self.parts = learner, members, [member.engine for member in members]
        self.game, self.world = first.game, first.world
        self.chunk = min(member.engine.chunk for member in members)
        self.state = tuple(member.engine.state for member in members)
        self._done = 0

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """Time spent learning."""
        return sum(member.engine.seconds for member in self.members)

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes by turns; return the agents' returns [episodes, N]."""
        returns, end = [], self._done + episodes
        while self._done < end:
            turn, begun = divmod(self._done, TURN)
            member = self.members[-1 - turn % len(self.members)]
            returns.append(member.engine.advance(min(end - self._done, TURN - begun)))
            self._done += len(returns[-1])
        return np.concatenate(returns)

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent of the last member plays."""
        return self.members[-1].engine.distributions(recent=recent)

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy of the game."""
        return self.members[-1].engine.policy(distributions)

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        super().restore(arrays)
        self._done = sum(int(arrays[f"{m}.episodes"]) for m in range(len(self.members)))


class BestOutput(Joined, Output):
    """The candidates of all members, named after both. The one to return is selected with the exact gap."""

    def __init__(self, game: ExactGame, learner: Portfolio, members: Sequence[Member], options: Options) -> None:
        self.game, self.members, self.options, self._kind = game, members, options, learner.info.learns
        self.parts = [member.output for member in members]
        self.notes = tuple(dict.fromkeys(note for member in members for note in member.output.notes))
        self.certifies = any(member.output.certifies for member in members)
        self._measured = np.zeros(len(members), dtype=np.int64)  # [M]  a member's episodes when it was measured
        self._values, self._gaps = (np.full((len(members), game.agents), np.nan) for _ in range(2))  # [M, N]

    def look(self, engine: Engine, done: int) -> int | None:
        """Let every member's output see its engine. Return the first episode before which one must see it again."""
        until = []
        for m, member in enumerate(self.members):
            episode = member.output.look(member.engine, self._share(m, done))
            if episode is not None:
                until.append(find(m, len(self.members), episode))
        return min(until, default=None)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the values and gaps of the best member, and each member's largest gap."""
        for m, member in enumerate(self.members):
            episodes = self._share(m, done)
            if episodes > self._measured[m]:
                member.output.interrupted = self.interrupted
                row = member.output.measure(member.engine, episodes)
                self._measured[m], self._values[m], self._gaps[m] = episodes, row["value"], row["gap"]
        candidates = {
            member.name: Candidate.with_gaps(Gaps(self._kind, gaps, "exact"), values)
            for member, values, gaps in zip(self.members, self._values, self._gaps, strict=True)
        }
        best = self._select(candidates) or self.members[-1].name
        columns = {f"gap_{name}": float(gaps.max()) for name, gaps in zip(candidates, self._gaps, strict=True)}
        return {"value": np.asarray(candidates[best].values), "gap": candidates[best].gaps.upper, **columns}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates of all members that have played, and which is the best."""
        candidates: dict[str, Candidate] = {}
        results: dict[str, Result] = {}
        for m, member in enumerate(self.members):
            if self._share(m, done) == 0:
                continue
            member.output.interrupted = self.interrupted
            result = member.output.result(member.engine, self._share(m, done))
            for name, candidate in result.candidates.items():
                if candidate._policy is not None or _is_known(candidate):
                    gaps = replace(candidate.gaps, kind=self._kind)  # a product's nash gaps are its gaps of every kind
                    full_name = f"{member.name} {name}"
                    candidates[full_name] = Candidate.with_gaps(gaps, candidate.values, candidate._policy)
                    results[full_name] = result
        chosen = self._select(candidates) or f"{self.members[-1].name} last"
        return Result(results[chosen].last, candidates, chosen, results[chosen].sampled)

    def _share(self, m: int, done: int) -> int:
        return share(m, len(self.members), done)

    def _select(self, candidates: dict[str, Candidate]) -> str:
        """Return the name of the best candidate whose gap is known, or ""."""
        judged = {name: candidate for name, candidate in candidates.items() if _is_known(candidate)}
        return choose(judged, functools.partial(uniform_gap, self.game), **self.options.choice) if judged else ""

    def snapshot(self) -> Arrays:
        """Return the snapshots of all members' outputs, and what was measured last."""
        measured = {"measured": self._measured, "values": self._values, "gaps": self._gaps}
        return {**super().snapshot(), **{f"last.{name}": array for name, array in measured.items()}}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        super().restore(arrays)
        self._measured, self._values, self._gaps = (arrays[f"last.{name}"] for name in ("measured", "values", "gaps"))


def _is_known(candidate: Candidate) -> bool:
    return candidate.gaps.source in ("exact", "certificate") and bool(np.isfinite(candidate.gap))


REGISTRY: Registry[Output] = Registry("output")
REGISTRY.add("certified", RecordedOutput)
REGISTRY.add("last", MarkovOutput)
REGISTRY.add("average", MarkovOutput)
REGISTRY.add("frequencies", MarkovOutput)
