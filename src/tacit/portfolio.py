"""The portfolio: several learners by turns of 100 episodes, and the best candidate of all by its exact gap.

Each member has an engine and an output of its own, with the same seed: it is, bit for bit, what it is alone after as
many episodes. The last member plays first, so that `model-independent` does by default.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays
from tacit.engine.curve import Measures
from tacit.engine.drive import Engine, Output, Result
from tacit.engine.run import Candidate, Gaps, choose
from tacit.evaluation.gaps import uniform_gap
from tacit.games.exact import ExactGame
from tacit.learners import Portfolio
from tacit.options import Options
from tacit.policies import MarkovPolicy

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
            part.restore(_take_part(arrays, m))


def _take_part(arrays: Arrays, m: int) -> Arrays:
    """Return what is member m's in a snapshot."""
    return {key.removeprefix(f"{m}."): array for key, array in arrays.items() if key.startswith(f"{m}.")}


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
    """The candidates of all members, named after both; the one to return is selected with the exact gap."""

    def __init__(self, game: ExactGame, learner: Portfolio, members: Sequence[Member], options: Options) -> None:
        self.game, self.learner, self.members, self.options = game, learner, members, options
        self.parts = [member.output for member in members]
        self.notes = tuple(dict.fromkeys(note for member in members for note in member.output.notes))
        self.certifies = any(member.output.certifies for member in members)
        self._measured = np.zeros(len(members), dtype=np.int64)  # [M]  a member's episodes when it was measured
        self._values, self._gaps = (np.full((len(members), game.agents), np.nan) for _ in range(2))  # [M, N]

    def look(self, engine: Engine, done: int) -> int | None:
        """Let every member's output see its engine; return the first episode before which one must see it again."""
        until = []
        for m, member in enumerate(self.members):
            episode = member.output.look(member.engine, self._share(m, done))
            if episode is not None:
                until.append(find(m, len(self.members), episode))
        return min(until, default=None)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the values and gaps of the best member, and the largest gap of each that has played."""
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

    @property
    def _kind(self) -> str:
        return self.learner.info.learns

    def _share(self, m: int, done: int) -> int:
        return share(m, len(self.members), done)

    def _select(self, candidates: dict[str, Candidate]) -> str:
        """Return the name of the best of those whose gaps are known; "" where none is."""
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
