"""Several independent starts within one budget: they take turns, are halved by what they are worth, and one goes on.

With K episodes and M starts, each start has K/(4·M) episodes in every round, and after a round the better half goes on:
so the last one has at least half of all episodes. A start is judged by the values of its answer less its gaps,
and comes last if its gap is larger than the smallest by more than uniform play's; where there are no tables, it is
judged by the returns of the round. Who runs the experiment decides that, and sees all agents: agents on their own could
not, since each of them knows its own returns only. Learning itself stays decentralized.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.core.errors import TacitError
from tacit.core.types import FloatArray, IntArray
from tacit.engine.checkpoint import Arrays, check_names, take
from tacit.engine.curve import Measures
from tacit.engine.drive import Engine, Output, Outputs, Result, part_of
from tacit.engine.run import Candidate, Gaps, limit_gap, worth, worth_of
from tacit.evaluation.gaps import uniform_gap
from tacit.games.exact import as_exact
from tacit.options import Options

#: Starts where a preference is given, and their number is not.
STARTS = 4

#: What each start plays in a round is this share of what it would have if all went on to the end.
SHARE = 0.25

#: A start comes after the others if its gap is larger than the smallest by more than this share of uniform play's.
HALVING = 1.0


def rounds(episodes: int, starts: int) -> list[tuple[int, int]]:
    """Return for each round the episode after which it ends, and how many starts take turns in it.

    >>> rounds(16_000, 4)
    [(4000, 4), (6000, 2), (16000, 1)]
    """
    each, end, found = max(1, int(SHARE * episodes / starts)), 0, []
    while starts > 1:
        end += each * starts
        found.append((min(end, episodes), starts))
        starts = (starts + 1) // 2
    return [*found, (episodes, 1)]


def most_starts(episodes: int, wanted: int) -> int:
    """Return how many of the starts that are wanted have an episode each in every round, one at least.

    >>> most_starts(16_000, 4), most_starts(10, 4)
    (4, 2)
    """
    return max(1, min(wanted, int(SHARE * episodes)))


def longest(episodes: int, starts: int) -> int:
    """Return how many episodes the start that goes on to the end has.

    >>> longest(16_000, 4)
    12000
    """
    ends = rounds(episodes, starts)
    before = [0, *(end for end, _ in ends)]
    return sum(-(-(end - begin) // turns) for begin, (end, turns) in zip(before, ends, strict=False))


class StartsEngine(Engine):
    """Engines that take turns, episode by episode; those that were left behind are no longer there."""

    def __init__(self, engines: Sequence[Engine]) -> None:
        self.engines: list[Engine | None] = list(engines)
        self.played: IntArray = np.zeros(len(engines), dtype=np.int64)
        self._turn = 0
        self.gained: FloatArray = np.zeros((len(engines), engines[0].game.agents))  # since the round began
        first = engines[0]
        self.game, self.learner, self.world, self.chunk = first.game, first.learner, first.world, first.chunk
        self.state = first.state

    @property
    def alive(self) -> list[int]:
        """The starts that still take turns."""
        return [m for m, own in enumerate(self.engines) if own is not None]

    @property
    def begun(self) -> list[int]:
        """Those of them that have played; early in the first round some have not."""
        return [m for m in self.alive if self.played[m] > 0] or self.alive[:1]

    def of(self, m: int) -> Engine:
        """Return the engine of a start that still takes turns."""
        own = self.engines[m]
        assert own is not None
        return own

    @property
    def seconds(self) -> float:  # type: ignore[override]
        """Time spent learning."""
        return self._before + sum(self.of(m).seconds for m in self.alive)

    _before = 0.0

    def keep(self, kept: Sequence[int]) -> None:
        """Leave all others behind, and begin a round."""
        for m in self.alive:
            if m not in kept:
                self._before += self.of(m).seconds
                self.engines[m] = None
        self._turn, self.gained = 0, np.zeros_like(self.gained)

    def advance(self, episodes: int) -> FloatArray:
        """Play episodes in turn; return the agents' returns [episodes, N]."""
        alive = self.alive
        returns = np.zeros((episodes, self.game.agents))
        for a, m in enumerate(alive):
            its = slice((a - self._turn) % len(alive), None, len(alive))
            if len(returns[its]):
                returns[its] = self.of(m).advance(len(returns[its]))
                added = np.concatenate([self.gained[m : m + 1], returns[its]])
                self.gained[m] = np.cumsum(added, axis=0)[-1]  # one after the other, wherever chunks end
                self.played[m] += len(returns[its])
        self._turn = (self._turn + episodes) % len(alive)
        return returns

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent of the first start answers with."""
        return self.of(self.alive[0]).distributions(recent=recent)

    def policy(self, distributions: list[FloatArray]) -> Any:
        """Return distributions as a policy."""
        return self.of(self.alive[0]).policy(distributions)

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return what the agents of the first start know of their gaps."""
        first = self.alive[0]
        return self.of(first).own_bounds(kind, int(self.played[first]))

    def snapshot(self) -> Arrays:
        """Return the snapshots of all that still take turns, and whose turn it is."""
        return {
            **{f"{m}.{key}": array for m in self.alive for key, array in self.of(m).snapshot().items()},
            "alive": np.array([own is not None for own in self.engines]),
            "played": self.played,
            "gained": self.gained,
            "turn": np.array(self._turn),
            "before": np.array(self._before),
            "notes": np.array("\n".join(self.notes)),
        }

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this engine after that many episodes."""
        own = ("alive", "played", "gained", "turn", "before", "notes")
        alive = take(arrays, "alive", np.bool_, (len(self.engines),))
        played = take(arrays, "played", np.int64, (len(self.engines),))
        gained = take(arrays, "gained", np.float64, self.gained.shape)
        turn, before = take(arrays, "turn", np.int64, ()), take(arrays, "before", np.float64, ())
        if played.min() < 0 or played.sum() != done or not alive.any() or not 0 <= turn < alive.sum():
            raise TacitError("its starts have not played so many episodes")
        if not (np.isfinite(gained).all() and before >= 0):
            raise TacitError("its returns are no numbers")
        parts = {str(m) for m in np.flatnonzero(alive)}
        check_names({key.partition(".")[0]: array for key, array in arrays.items()}, {*parts, *own})
        for m in np.flatnonzero(alive):
            self.of(int(m)).check(part_of(arrays, int(m)), int(played[m]))

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        for m, alive in enumerate(arrays["alive"].tolist()):
            if alive:
                self.of(m).restore(part_of(arrays, m))
            else:
                self.engines[m] = None
        self.played, self.gained = arrays["played"].copy(), arrays["gained"].copy()
        self._turn, self._before = int(arrays["turn"]), float(arrays["before"])
        self.notes = tuple(str(arrays["notes"]).splitlines())


class StartsOutput(Outputs):
    """What each start yields; between two rounds those that are worth the most go on."""

    def __init__(self, engine: StartsEngine, outputs: Sequence[Output], options: Options) -> None:
        self.engine, self.members, self.options = engine, outputs, options
        self.rounds = rounds(options.most, len(outputs))
        self.notes, self.certifies = outputs[0].notes, outputs[0].certifies

    def look(self, engine: Engine, done: int) -> int | None:
        """Halve the starts at the end of a round, and let each output see its engine."""
        several = self.engine
        until = [end for end, _ in self.rounds if end > done][:1]
        turns = next((turns for end, turns in self.rounds if end > done), 1)
        if len(several.alive) > turns:
            ranked = self._ranked()
            several.notes = (*several.notes, self._say(ranked, turns, done))
            several.keep([m for m, _ in ranked[:turns]])
        for m in several.alive:
            found = self.members[m].look(several.of(m), int(several.played[m]))
            if found is not None:
                until.append(done + (found - int(several.played[m])) * len(several.alive))
        return min(until, default=None)

    def _ranked(self) -> list[tuple[int, Candidate]]:
        """Return the starts that take turns and what is known of their answers, those that are worth the most first."""
        engine, prefer, found = self.engine, self.options.prefer, {}
        for m in engine.begun:
            self.members[m].interrupted = self.interrupted
            row = self.members[m].measure(engine.of(m), int(engine.played[m]))
            gap, values = np.asarray(row["gap"]), np.asarray(row["value"])
            found[m] = Candidate.with_gaps(Gaps("", gap, "exact"), values if np.isfinite(values - gap).all() else None)
        exact = as_exact(engine.game)
        if exact is None or any(one.values is None for one in found.values()):  # all have played as often in this round
            return sorted(found.items(), key=lambda one: -worth(engine.gained[one[0]], prefer))
        uniform = functools.partial(uniform_gap, exact)
        limit = limit_gap(min(one.gap for one in found.values()), uniform, HALVING)
        return sorted(found.items(), key=lambda one: (one[1].gap > limit, -worth_of(one[1], prefer)))

    def _say(self, ranked: list[tuple[int, Candidate]], turns: int, done: int) -> str:
        prefer = f"agent {self.options.prefer}" if isinstance(self.options.prefer, int) else self.options.prefer
        told = [f"start {m} ({_words(one, self.options.prefer)})" for m, one in ranked]
        left = ", ".join(told[turns:])
        return f"after {done:,} episodes, by {prefer or 'welfare'}: kept {', '.join(told[:turns])}; left {left}"

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return what the output of the start measures that is worth the most by now."""
        m = self._ranked()[0][0]
        return self.members[m].measure(self.engine.of(m), int(self.engine.played[m]))

    def result(self, engine: Engine, done: int) -> Result:
        """Return the result of the start that is worth the most."""
        m = self._ranked()[0][0]
        return self.members[m].result(self.engine.of(m), int(self.engine.played[m]))


def _words(one: Candidate, prefer: str | int | None) -> str:
    return "by its returns" if one.values is None else f"worth {worth(one.values, prefer):.4g}, gap {one.gap:.3g}"
