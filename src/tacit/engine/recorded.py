"""The output of V-learning: a recorded policy, and the certificate that bounds its gap.

Record and certificate look at every visit or, where that is too much, at M visits of each stage: the policy that is
made of those is another, with a certificate of its own that is as exact.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory
from tacit.core.generics import plain
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.engine.drive import Engine, Measures, Nothing, Output, Result
from tacit.engine.run import Candidate, Gaps, choose
from tacit.evaluation import uniform_gap
from tacit.evaluation.behaviour import markov_table
from tacit.evaluation.certificate import (
    Certificate,
    ProductEvaluator,
    Schedule,
    bound,
    bound_source,
    certificate,
    complete_stored,
    is_kept,
    pass_by,
    recent,
    schedule,
    visits_to_certify,
)
from tacit.evaluation.gaps import in_words, is_quick
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import Game
from tacit.games.tabular import as_tables
from tacit.learners import Learner
from tacit.learners.several import is_interpreted
from tacit.options import CERTIFY_JOINT_ACTIONS, Options
from tacit.policies import MarkovPolicy, RecordedPolicy
from tacit.policies.recorded import STARTS, Visits

#: How the certificate is read for the policies that begin in any episode, or with what the last one left behind.
READINGS = {"average": bound, "recent": recent}

#: Steps × states × joint actions up to which a table of joint actions is made: 32 MB.
LARGEST_TABLE = 1 << 22
#: Steps × states up to which a table is always made; above, only after so many visits of each on average.
FEW_CELLS, VISITS_PER_CELL = 10_000, 100
#: Bytes of a record that is kept to make tables of, even where it is not asked for.
SMALL_RECORD = 1 << 26

#: Counting games certify all visits where that takes at most so many seconds, by a count of operations; otherwise as
#: many of each stage as that allows, and at least so many.
CERTIFY_SECONDS, LEAST_VISITS = 60.0, 8


# the record of every visit -------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """Every visited state, and the distributions that the agents had there."""

    visited: npt.NDArray[np.uint32]  # [K, H]
    stored: npt.NDArray[np.float32]  # [K, H, Σ(A_i − 1)]
    clock: IntArray  # [1]  episodes that have begun
    mu: FloatArray  # [N, A]  scratch: the distributions
    certified: bool  # whether a certificate reads mu

    @property
    def capacity(self) -> int:
        """How many episodes there is memory for."""
        return len(self.visited)

    def cut(self, episodes: int) -> Record:
        """Return the rows of the first so many episodes, as views."""
        return self._replace(visited=self.visited[:episodes], stored=self.stored[:episodes])

    def enlarge(self, episodes: int) -> Record:
        """Return a record with capacity for at least so many episodes: itself, or a copy."""
        if episodes <= self.capacity:
            return self
        visited, stored = (
            np.zeros((episodes, *array.shape[1:]), dtype=array.dtype) for array in (self.visited, self.stored)
        )
        visited[: self.capacity], stored[: self.capacity] = self.visited, self.stored
        return self._replace(visited=visited, stored=stored)

    def policies(self, game: Game, rule: str) -> dict[str, RecordedPolicy]:
        """Return the policies that the record describes, by where they begin; they share its arrays."""
        written = self.cut(int(self.clock[0]))
        visited, stored = Owned(written.visited), Owned(written.stored)  # the run has ended: nobody writes any more
        policy = RecordedPolicy(visited, stored, actions=game.actions, states=game.states, rule=rule)
        policy.observations = getattr(game, "observations", None)
        return {start: policy.with_start(start) for start in STARTS}

    def more(self, game: Game, done: int, episodes: int) -> Record:
        """Return a record with capacity beyond `done`, if memory has it."""
        if done < self.capacity:
            return self
        return self.enlarge(min(episodes, 2 * self.capacity, memory.available() // 2 // bytes_of(game, 1)))


#: Bytes of a record that grows, at first; its capacity is doubled whenever it is full.
_FIRST = 1 << 28


def bytes_of(game: Game, episodes: int) -> int:
    """Return the bytes that the record of so many episodes takes."""
    return 4 * episodes * game.horizon * (sum(game.actions) - game.agents + 1)


def record(game: Game, episodes: int, *, certified: bool = False, grows: bool = False) -> Record:
    """Make a record for so many episodes. One that grows has capacity for the first of them."""
    if grows:
        episodes = min(episodes, max(1, _FIRST // bytes_of(game, 1)))
    what = "the record of all visits (keep=False leaves it and the recorded policy out)"
    memory.require(bytes_of(game, episodes), what)
    return Record(
        visited=np.zeros((episodes, game.horizon), dtype=np.uint32),
        stored=np.zeros((episodes, game.horizon, sum(game.actions) - game.agents), dtype=np.float32),
        clock=np.zeros(1, dtype=np.int64),
        mu=np.zeros((game.agents, max(game.actions))),
        certified=certified,
    )


@generics.jitable
def write_down(learner, i, h, s, size, mu, row, column, certified):
    """Write agent i's distribution into `mu` and, without its last entry, into a row. Return the next column.

    A certificate finds in `mu` what the row stores.
    """
    generics.policy(learner, i, h, s, mu)
    total = 0.0
    for a in range(size - 1):
        row[plain(column + a)] = mu[a]
        if certified:
            mu[a] = row[plain(column + a)]
            total += mu[a]
    if certified:
        complete_stored(mu, size, total)
    return column + size - 1


@generics.observe.implement(Record)
def observe_record(observer, learner, game, seats, h, s):
    """Write down the state and all agents' distributions."""
    if h == 0:
        observer.clock[0] += 1
    k = max(observer.clock[0] - 1, 0)
    observer.visited[k, h] = s
    row, column = observer.stored[k, h], 0
    for i in range(len(seats)):
        column = write_down(learner, i, h, s, game.actions[i], observer.mu[i], row, column, observer.certified)


# the record of some visits of each stage -----------------------------------------------------------------------------


class StageRecord(NamedTuple):
    """What the agents had at M evenly spaced visits of each stage of (h, s)."""

    times: Schedule
    episode: IntArray  # [C, J, M]
    until: IntArray  # [C, J]  the episode in which the stage ended
    number: IntArray  # [C, J]  visits kept
    stored: npt.NDArray[np.float32]  # [C, J, M, Σ(A_i − 1)]
    clock: IntArray  # [1]  episodes that have begun
    mu: FloatArray  # [N, A]  scratch: the distributions
    certified: bool  # whether a certificate reads mu

    def policies(self, game: Game, rule: str) -> dict[str, RecordedPolicy]:
        """Return the policies that the record describes, by where they begin."""
        there = np.arange(self.episode.shape[2]) < self.number[:, :, None]  # [C, J, M]
        cell, stage, _ = np.nonzero(there)
        arrays: list[Any] = [cell, stage, self.episode[there], self.until[cell, stage], Owned(self.stored[there])]
        sizes: dict[str, Any] = {"actions": game.actions, "states": game.states, "horizon": game.horizon}
        policy = RecordedPolicy.of_records([Visits.chosen(*arrays, **sizes, episodes=int(self.clock[0]))])
        return {start: policy.with_start(start) for start in STARTS}


def stage_record(game: Game, episodes: int, most: int, *, certified: bool) -> StageRecord:
    """Make a run's record that keeps `most` visits of each stage."""
    times = schedule(game, episodes, most)
    C, J, width = game.horizon * game.states, len(times.length), sum(game.actions) - game.agents
    what = f"the record of {most} visits of each stage (fewer visits_per_stage= take less)"
    memory.require(C * J * most * (8 + 4 * width), what)
    return StageRecord(
        times=times,
        episode=np.zeros((C, J, most), dtype=np.int64),
        until=np.zeros((C, J), dtype=np.int64),
        number=np.zeros((C, J), dtype=np.int64),
        stored=np.zeros((C, J, most, width), dtype=np.float32),
        clock=np.zeros(1, dtype=np.int64),
        mu=np.zeros((game.agents, max(game.actions))),
        certified=certified,
    )


@generics.observe.implement(StageRecord)
def observe_stages(observer, learner, game, seats, h, s):
    """Write the visit down if it is kept."""
    if h == 0:
        observer.clock[0] += 1
    c = h * game.states + s
    j = observer.times.stage[c]
    keep = is_kept(observer.times, c)
    if keep:
        m = observer.times.kept[c]
        observer.episode[c, j, m] = observer.clock[0] - 1
        row, column = observer.stored[c, j, m], 0
        for i in range(len(seats)):
            column = write_down(learner, i, h, s, game.actions[i], observer.mu[i], row, column, observer.certified)
    ends, number = pass_by(observer.times, c, keep)
    if ends:
        observer.until[c, j] = observer.clock[0] - 1
        observer.number[c, j] = number


# the output -----------------------------------------------------------------------------------------------------------


class RecordedOutput(Output):
    """For learners whose guarantee is about a recorded policy.

    Candidates are "average", the policy of [Mao2022, Alg. 2]; "recent", the same beginning with what the last episode
    left behind; "markov", the table of the joint actions that the better of the two plays where; "product", the
    marginals of that table, drawn independently; and "last", the last iterate. `choose` takes one of them; without
    tables of the game nobody knows their gaps, and it is the paper's.
    """

    def __init__(self, *, game: Game, learner: Learner, options: Options) -> None:
        self.game, self.learner, self.options = game, learner, options
        exact = as_exact(game)
        self.visits = visits_per_stage(exact, learner, options)  # of each stage; None for all
        if self.visits is None:
            self.tables = tables_to_measure(exact, options.certify)
            self.notes = _cost(exact, self.tables, options.certify)
        else:
            self.tables = None if options.certify is False else exact
            self.notes = self._cost_of_some()
        self.certifies = self.tables is not None
        if not (options.keep or (self._tabulates() and bytes_of(game, options.most) <= SMALL_RECORD)):
            self.record = Nothing()
        elif self.visits is None:
            self.record = record(game, options.most, certified=self.certifies, grows=options.stops)
        else:
            self.record = stage_record(game, options.most, self.visits, certified=self.certifies)
        self.certificate: Any = Nothing() if self.tables is None else self._make_certificate(self.tables)
        tables = as_tables(self.tables)
        self._evaluator = None if tables is None or tables.endless is not None else ProductEvaluator(tables)

    def _make_certificate(self, tables: ExactGame) -> Certificate:
        """Make the certificate of a run."""
        info, times, mu = self.learner.info, None, getattr(self.record, "mu", None)
        if self.visits is not None:
            times = schedule(tables, self.options.most, self.visits)
        return certificate(tables, info.learns, averaging="stage" if times else info.averaging, times=times, mu=mu)

    def _cost_of_some(self) -> tuple[str, ...]:
        assert self.visits is not None
        steps = self.options.most * self.game.horizon
        visits = min(visits_to_certify(self.game, self.options.most, self.visits), steps)
        note = f"{self.visits} visits of each stage are kept, at most {visits:,} of {steps:,}"
        if self.tables is not None and not self.tables.joint_rows:
            note += f"; their certificate takes {in_words(self.tables.seconds_to_answer(visits))}"
        return (note,)

    def look(self, engine: Engine, done: int) -> int | None:
        """Enlarge the record for the next episodes. Return the episode up to which it has capacity."""
        if not hasattr(engine.record, "more"):
            return None
        engine.record = engine.record.more(self.game, done, self.options.most)
        return int(engine.record.capacity)

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return the best candidate's values and gaps, and the largest gap of each candidate."""
        if self.tables is None:
            unknown = np.full(self.game.agents, np.nan)
            return {"value": unknown, "gap": engine.own_bounds(self.learner.info.learns, done).upper}
        judged = self._known(self.tables, engine, last=self._measures_last(engine), judge=self._judge_row)
        best = judged[self._choose(judged)]
        each = {f"gap_{name}": one.gaps.gap for name, one in judged.items()}
        return {"value": np.asarray(best.values), "gap": best.gaps.upper, **each}

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates. Where agents saw different things, none is certified."""
        last = engine.policy(engine.distributions())
        policies: dict[str, Any] = {"last": last}
        rule = self.learner.info.averaging
        if not engine.common_state:
            policies = {**engine.separate(rule), **policies}
            return Result(last, {name: self._unknown.with_policy(policy) for name, policy in policies.items()}, "last")
        recorded = engine.record.policies(self.game, rule) if hasattr(engine.record, "policies") else {}
        if self.options.keep:
            policies |= recorded
        if self.tables is None:
            verdicts = self._unproven(engine, done)
        else:
            verdicts = self._known(self.tables, engine, last=last, judge=self._judge)
            better = min(READINGS, key=lambda name: verdicts[name].gap)
            averaged = self._average_out(self.tables, recorded.get(better))
            verdicts |= {name: self._judge(self.tables, policy) for name, policy in averaged.items()}
            verdicts["last"] = verdicts.pop("last", self._unknown)  # after the tables
            policies |= averaged
        candidates = {name: one.with_policy(policies.get(name)) for name, one in verdicts.items()}
        judged = {name: one for name, one in candidates.items() if one.gaps.source != "none"}
        return Result(last, candidates, "average" if self.tables is None else self._choose(judged))

    def _tabulates(self) -> bool:
        """Return whether to make tables of joint actions. They are not too large, nor dearer than learning."""
        tables = self.tables
        if tables is None or not 0 < tables.horizon * tables.states * tables.joint_rows <= LARGEST_TABLE:
            return False
        few = tables.horizon * tables.states <= FEW_CELLS
        return few or self.options.most >= VISITS_PER_CELL * tables.states

    def _average_out(self, tables: ExactGame, policy: RecordedPolicy | None) -> dict[str, MarkovPolicy]:
        """Return what a policy plays in each state, if there is a record and time."""
        if policy is None or not self._tabulates() or (self.interrupted and not is_quick(tables, policy)):
            return {}
        joint = markov_table(tables.tabular(), policy)
        return {"markov": joint, "product": joint.as_product()}

    def _judge(self, tables: ExactGame, policy: MarkovPolicy) -> Candidate:
        """Evaluate a table. Its policy is added at the end, since rows of the curve do not prefer tables."""
        return Candidate.with_exact_gaps(policy, tables, self.learner.info.learns).with_policy(None)

    def _choose(self, candidates: Mapping[str, Candidate]) -> str:
        assert self.tables is not None
        return choose(candidates, functools.partial(uniform_gap, self.tables), **self.options.choice)

    def _unproven(self, engine: Engine, done: int) -> dict[str, Candidate]:
        """Return what agents know of each candidate without tables. They know the average of all visits."""
        verdicts = dict.fromkeys((*READINGS, "last"), self._unknown)
        if self.visits is None:
            verdicts["average"] = Candidate.with_gaps(engine.own_bounds(self.learner.info.learns, done))
        return verdicts

    @property
    def _unknown(self) -> Candidate:
        return Candidate.with_gaps(Gaps.unknown(self.learner.info.learns, self.game.agents))

    def _known(
        self,
        tables: ExactGame,
        engine: Engine,
        *,
        last: MarkovPolicy | None,
        judge: Callable[[ExactGame, MarkovPolicy], Candidate],
    ) -> dict[str, Candidate]:
        """Return what is known of the candidates that are measured while learning."""
        kind, most = self.learner.info.learns, engine.world.largest_gap
        source = bound_source(tables)
        verdicts = {}
        for name, read in READINGS.items():
            values, gaps = read(tables, self.certificate)
            verdicts[name] = Candidate.with_gaps(Gaps(kind, np.maximum(gaps, 0.0), source, most=most), values)
        if last is None or (self.interrupted and not is_quick(tables, last)):
            return verdicts
        return {**verdicts, "last": judge(tables, last)}

    def _judge_row(self, tables: ExactGame, last: MarkovPolicy) -> Candidate:
        """Evaluate the last iterate for a row of the curve."""
        if self._evaluator is None:
            return self._judge(tables, last)
        values, gaps = self._evaluator(last)
        return Candidate.with_gaps(Gaps(self.learner.info.learns, gaps, "exact"), values)

    def _measures_last(self, engine: Engine) -> MarkovPolicy | None:
        """Return the last iterate where it is measured in every row of the curve."""
        if self.visits is not None and self.tables is not None and not self.tables.joint_rows:
            return None  # it takes its time
        return engine.policy(engine.distributions())


#: A certificate of more joint actions tells its cost; of how many it takes as long as learning itself (measured: 20
#: to 90 with 2 to 8 agents).
COSTLY, AS_LEARNING = 128, 40


def _cost(exact: ExactGame | None, tables: ExactGame | None, certify: bool | None) -> tuple[str, ...]:
    """Say what the certificate costs where that dominates, or would."""
    if exact is None or certify is False or exact.joint_rows <= COSTLY:
        return ()
    times = f"about {1 + exact.joint_rows // AS_LEARNING:,} times the time of learning alone"
    every = f"the certificate goes through all {exact.joint_rows:,} joint actions at every step"
    if tables is None:
        return (f"not certified: {every}, which takes {times}; certify=True (--certify yes) asks for it",)
    return (f"{every}, which takes {times}; certify=False (--certify no) leaves it out",)


def tables_to_measure(exact: ExactGame | None, certify: bool | None) -> ExactGame | None:
    """Return the game if exact measures are wanted and possible. By default they are for small games."""
    if exact is None or certify is False or (not certify and exact.joint_rows > CERTIFY_JOINT_ACTIONS):
        return None
    return exact  # of counts, one evaluation for each point of the curve is not much


def visits_per_stage(exact: ExactGame | None, learner: Learner, options: Options) -> int | None:
    """Return how many visits of each stage are kept and certified, or None for all."""
    if options.visits_per_stage is not None or exact is None or exact.joint_rows:
        return options.visits_per_stage
    if options.certify is False or is_interpreted(learner):
        return None
    if exact.seconds_to_answer(options.most * exact.horizon) <= CERTIFY_SECONDS:
        return None
    most = -(-options.most // exact.states)  # visits of a cell; evenly spread over states, most are kept

    def seconds(visits: int) -> float:
        return exact.seconds_to_answer(visits_to_certify(exact, most, visits))

    return max(LEAST_VISITS, bisect.bisect_right(range(10**6), CERTIFY_SECONDS, key=seconds) - 1)
