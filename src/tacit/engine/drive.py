"""Engine, output and curve of a run, and THE while-loop that joins them.

An engine plays, an output measures and names candidates. The loop plays a chunk, measures, writes the curve,
checkpoints, listens to Ctrl-C and tells the watchers. Engines differ only in how they advance, outputs only in what
they measure.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from tacit.core import generics, memory
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError, one_line
from tacit.core.types import FloatArray
from tacit.engine import loop
from tacit.engine.checkpoint import Arrays, Checkpoint, Resumable
from tacit.engine.events import Advanced, Event, Finished, Measured, Noted, Started, Watcher, log
from tacit.engine.run import Candidate, Gaps, Run, choose
from tacit.evaluation.gaps import merge_steps, uniform_gap
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import Game
from tacit.learners import Learner, World
from tacit.options import Options
from tacit.policies import MarkovPolicy

#: Named measures; those with one number for each agent become a column for each.
Measures = Mapping[str, FloatArray | float]


class Nothing(NamedTuple):
    """Watches nothing; the compiler removes it.

    Attributes
    ----------
    empty : int
        A struct needs a field.

    Examples
    --------
    >>> from tacit.kernels import Nothing
    >>> Nothing()
    Nothing(empty=0)
    """

    empty: int = 0


@generics.observe.implement(Nothing)
def observe_nothing(observer, learner, game, seats, h, s):
    """Do nothing."""


class Engine(Resumable, Protocol):
    """Plays episodes, or takes exact steps, and lets agents learn.

    Attributes
    ----------
    game : Game
    learner : Learner
    world : World
        What the agents know.
    seconds : float
        Time spent learning, compilation left out.
    chunk : int
        Episodes that are best played at once.
    finished : bool
        Whether the learner has nothing left to do.
    gap : float
        The exact gap of the current policies where the engine computes it anyway.
    common_state : bool
        Whether all agents saw the same state at every step, which certified policies ask for.
    record : NamedTuple
        The output's record of the loop; the output may put a larger one here between chunks.
    state : NamedTuple or None
        The learner's state, where it plays with kernels; the code that defines it takes part in the run.
    notes, warnings : tuple of str
        What was found during the run, and which of it needs attention.
    told : tuple of str
        Those of the notes that were told before the run began.
    failure : Exception or None
        What an environment did that ends the run; the episodes before it are whole.
    full : str
        Why memory ends the run; "" as long as it does not.

    Examples
    --------
    >>> from tacit.kernels import Engine
    >>> hasattr(Engine, "advance")
    True
    """

    game: Game
    learner: Learner
    world: World
    seconds: float
    chunk: int
    finished: bool = False
    gap: float = math.inf
    common_state: bool = True
    record: Any = Nothing()
    state: Any = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    failure: Exception | None = None
    full: str = ""

    @property
    def settled(self) -> int:
        """The period since which no agent's greedy policy has changed."""
        return 0

    @property
    def place(self) -> int | None:
        """The state that play which never resets is in."""
        return None

    def advance(self, episodes: int) -> FloatArray:
        """Play at most so many episodes, for a fraction of a second. Return returns [episodes, N]."""

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's last iterate [H, S, A_i], or the average of recent ones."""

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return what `distributions` returned, now or earlier, as a policy of the game."""

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return what the agents themselves know of their gaps after `done` episodes."""
        return Gaps.unknown(kind, self.game.agents)

    def separate(self, rule: str) -> dict[str, Any]:
        """Return the mixtures "average" and "recent" where agents saw different things."""
        return {}


@dataclass(frozen=True)
class Result:
    """What a run returns: the last iterate, candidates, the one chosen, an iterate drawn evenly.

    Attributes
    ----------
    last : MarkovPolicy
    candidates : dict of Candidate
    chosen : str
    sampled : MarkovPolicy or None

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import Result
    >>> policy = tacit.MarkovPolicy.deterministic([[[0]]], [2])
    >>> Result(policy, {}, "last").sampled is None
    True
    """

    last: MarkovPolicy
    candidates: dict[str, Candidate]
    chosen: str
    sampled: MarkovPolicy | None = None


class Output(Resumable, Protocol):
    """What a run yields besides rewards, and how good that is. It is made with `game`, `learner` and `options`.

    Attributes
    ----------
    record, certificate : NamedTuple
        What watches the loop through `observe` of `tacit.kernels`; `Nothing` by default. Engines store and restore it,
        whatever it is: arrays that can be written to are its state, and a `clock` counts the episodes that have begun.
        A struct with rows for episodes has `cut` and `enlarge`.
    notes : tuple of str
        What is worth knowing before the run begins: what measuring costs.
    certifies : bool
        Whether the gaps that it measures are exact, or bounds that the game's tables prove: only those end a run that
        is to stop at a gap.
    interrupted : bool
        Set when Ctrl-C has ended the run: what would take long to measure is left out from then on.

    Examples
    --------
    >>> from tacit.kernels import Output
    >>> [name for name in ("result", "look", "measure") if hasattr(Output, name)]
    ['result', 'look', 'measure']
    """

    record: Any = Nothing()
    certificate: Any = Nothing()
    notes: tuple[str, ...] = ()
    certifies: bool = False
    interrupted: bool = False

    def look(self, engine: Engine, done: int) -> int | None:
        """See the engine between chunks. Return the episode before which it must be seen again, if there is one.

        Returning `done` itself ends the run for lack of memory.
        """

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return `value` [N], `gap` [N] and whatever else the curve is to have."""

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates."""

    def snapshot(self) -> Arrays:
        """Return everything that has changed since the output was made. What watches the loop is the engine's."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        return


# the curve: what was earned in each window of episodes, and what was reached at its end ------------------------------

#: What every row of a curve begins with.
FIRST_COLUMNS = ["episode", "reward", "value", "gap"]

#: What can end a run; see `Run.ended`.
ENDS = ("episodes", "periods", "gap", "seconds", "tolerance", "still", "memory", "interrupted")

#: The column of words: "" in all rows but the last, which says what ended the run. Runs with a gap or a time at which
#: they are to stop have it.
ENDED = "ended"

#: Episodes in the first windows of a run that may stop early, where windows grow.
_FIRST_WINDOW = 10

#: Rows above which a compiled sum is quicker.
_MANY_ROWS = 1000

#: Up to this many agents every one has columns of its own.
MOST_COLUMNS = 64

#: Bytes that a row of the curve takes while the run goes on, and each of its columns.
_PER_ROW, _PER_COLUMN = 300, 100


class Curve:
    """Collects returns, and closes a row at the end of each window.

    Attributes
    ----------
    episodes : int
        How many there are to be.
    done : int
        How many there were.
    rows : list of dict
        The rows so far.
    stops : bool
        Whether the run may stop early: nobody knows when, so windows grow, and the last row says what ended it.
    """

    def __init__(self, episodes: int, points: int, agents: int, *, stops: bool = False) -> None:
        self.episodes, self.done, self.stops = episodes, 0, stops
        self.rows: list[dict[str, Any]] = []
        self._agents = agents
        rows = _growing_rows(episodes, points) if stops else min(points, episodes)
        columns = 6 + 3 * min(agents, MOST_COLUMNS)
        memory.require(rows * (_PER_ROW + _PER_COLUMN * columns), f"a curve of {rows:,} points")
        if stops:
            edges = _growing(episodes, points)
        else:
            edges = np.unique(np.linspace(0, episodes, rows + 1).round().astype(int))[1:].tolist()
        self._edges = edges[::-1]  # the next one last
        self._tail_from = episodes - max(1, episodes // 10)
        self._tail, self._tail_count = np.zeros(agents), 0
        self._sum, self._count = np.zeros(agents), 0
        self._last = np.zeros(agents)  # mean returns of the window that was closed last

    @property
    def open(self) -> bool:
        """Whether the current window has any episodes."""
        return self._count > 0

    @property
    def full(self) -> bool:
        """Whether the current window has all its episodes."""
        return self.done == self._edges[-1]

    def next_chunk(self, most: int, until: int | None, *, row: bool = True) -> int:
        """Return how many episodes to play next: at most `most`, nor beyond episode `until`.

        Where a row is wanted at its end, nor beyond the window.
        """
        edge = self._edges[-1] if row else self.episodes
        return min(most, (edge if until is None else min(edge, until)) - self.done)

    def add(self, returns: FloatArray) -> None:
        """Take in the returns [episodes, N] of the next episodes."""
        last = returns[max(0, self._tail_from - self.done) :]
        if len(last):
            self._tail = _add_up(self._tail, last)
            self._tail_count += len(last)
        self._sum = _add_up(self._sum, returns)
        self._count += len(returns)
        self.done += len(returns)

    def close(self, measures: Measures) -> dict[str, float]:
        """End the window with what was reached: `value` [N], `gap` [N], and more. Return the new row."""
        reward = self._last = self._sum / self._count
        value, gap = np.asarray(measures["value"]), np.asarray(measures["gap"])
        row = {"episode": self.done, "reward": reward[0], "value": value[0], "gap": gap.max()}
        for name, measure in {"reward": reward, **measures}.items():
            if isinstance(measure, np.ndarray):
                if self._agents > MOST_COLUMNS:
                    continue
                row |= {f"{name}_{i}": measure[i] for i in range(self._agents)}
            else:
                row[name] = measure
        if self.rows:  # what was not measured this time
            row = {name: row.get(name, math.nan) for name in self.rows[0] if name != ENDED}
        self.rows.append({name: float(number) for name, number in row.items()})
        if self.stops:
            self.rows[-1][ENDED] = ""
        self.widen()
        self._sum, self._count = np.zeros(self._agents), 0
        return self.rows[-1]

    def last_row(self, ended: str) -> dict[str, Any]:
        """Return the last row, with what ended the run."""
        if self.stops:
            self.rows[-1][ENDED] = ended
        return self.rows[-1]

    def widen(self) -> None:
        """Let the current window go on to the next end that has not been passed."""
        while self._edges and self._edges[-1] <= self.done:
            self._edges.pop()

    def last_tenth(self) -> FloatArray:
        """Return the mean returns [N] over the last tenth of the episodes.

        Of a run that ended early that is over the fewest last windows that have a tenth of its episodes; with very many
        agents, over the last window.
        """
        if self.done == self.episodes:
            return self._tail / self._tail_count
        if self._agents > MOST_COLUMNS:  # rows do not have each agent's
            return self._last
        total, begin = np.zeros(self._agents), self.done
        for k in range(len(self.rows) - 1, -1, -1):
            end, begin = begin, int(self.rows[k - 1]["episode"]) if k > 0 else 0
            total += (end - begin) * np.array([self.rows[k][f"reward_{i}"] for i in range(self._agents)])
            if 10 * (self.done - begin) >= self.done:
                break
        mean: FloatArray = total / (self.done - begin)
        return mean

    def snapshot(self) -> Arrays:
        """Return the rows and the sums of the open window."""
        return {
            "done": np.array(self.done),
            "tail": self._tail.copy(),
            "tail_count": np.array(self._tail_count),
            "sum": self._sum.copy(),
            "count": np.array(self._count),
            "last": self._last,
            "columns": np.array([name for name in self.rows[0] if name != ENDED] if self.rows else [], dtype=str),
            "rows": np.array([[x for name, x in row.items() if name != ENDED] for row in self.rows]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        self.done = int(arrays["done"])
        if self.done > self.episodes:
            raise TacitError(f"it is of {self.done} episodes, and this run has {self.episodes}")
        self.widen()
        self._tail, self._tail_count = arrays["tail"].copy(), int(arrays["tail_count"])
        self._sum, self._count = arrays["sum"].copy(), int(arrays["count"])
        self._last = arrays["last"]
        columns = arrays["columns"].tolist()
        more = {ENDED: ""} if self.stops else {}  # it had not ended
        self.rows = [{**dict(zip(columns, row, strict=True)), **more} for row in arrays["rows"].tolist()]

    def table(self) -> npt.NDArray[Any]:
        """Return the curve as a structured array."""
        return table(self.rows)


def _add_up(total: FloatArray, returns: FloatArray) -> FloatArray:
    """Add returns [episodes, N] to `total` [N] one after the other. The sum does not depend on how a run is cut."""
    if len(returns) > _MANY_ROWS:
        summed = total.copy()
        compile_loop(loop.add_rows)(summed, returns)
        return summed
    sums = np.empty((len(total), 1 + len(returns)))
    sums[:, 0], sums[:, 1:] = total, returns.T
    last: FloatArray = np.add.accumulate(sums, axis=1, out=sums)[:, -1].copy()
    return last


def _growing(episodes: int, points: int) -> list[int]:
    """Return the ends of windows that grow: each comes 10/points later than the one before.

    >>> _growing(150, 100)
    [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 121, 133, 146, 150]
    """
    ends = [min(_FIRST_WINDOW, episodes)]
    while ends[-1] < episodes:
        ends.append(min(ends[-1] + max(_FIRST_WINDOW, 10 * ends[-1] // points), episodes))
    return ends


def _growing_rows(episodes: int, points: int) -> int:
    """Return at least as many rows as `_growing` has, without making them."""
    short, factor = min(points, episodes // _FIRST_WINDOW + 1), 10 / points
    return 2 + short + int(max(0.0, math.log(max(episodes / points, 1.0))) / math.log1p(factor / 2))


def table(rows: list[dict[str, Any]]) -> npt.NDArray[Any]:
    """Return rows with the same columns as a structured array.

    >>> table([{"episode": 10.0, "reward": 0.5}])["episode"]
    array([10])
    """
    words = {"episode": "i8", ENDED: f"U{max(map(len, ENDS))}"}
    kinds = [(name, words.get(name, "f8")) for name in rows[0]]
    return np.array([tuple(row.values()) for row in rows], dtype=kinds)


# the loop ------------------------------------------------------------------------------------------------------------

#: Seconds that a chunk takes at most, unless a single episode takes longer: Ctrl-C is heard between two of them.
CHUNK_SECONDS = 0.5

#: Seconds after Ctrl-C in which a run most often has ended; after them people are told what it waits for.
PATIENCE = 2.0
WAITING = "Ctrl-C: the run ends after this episode; Ctrl-C again leaves the episode out and keeps those before it"


def drive(
    engine: Engine, output: Output, curve: Curve, options: Options, watch: Watcher, checkpoint: Checkpoint | None
) -> str:
    """Play until the run is over; all that was done is in the arguments. Return what ended it.

    That is "episodes" or "periods" when the curve is complete, "gap" when the gap is small enough and the output
    certifies it, "seconds" when time is up, "tolerance" when the learner itself has finished, "still" when greedy
    policies have not changed for so many periods, "memory" when there is no room for more episodes, or "interrupted".
    """
    ended, gap, still, clock = "", options.gap, options.still, Clock(engine, curve, options.seconds)
    with Interrupts(message=WAITING) as interrupts:

        def emit(event: Event) -> None:
            try:
                watch(event)
            except KeyboardInterrupt:
                interrupts.pending = True

        while not ended:
            until = output.look(engine, curve.done)
            if until is not None and until <= curve.done:
                ended = "memory"
                break
            if still is not None:  # until then nobody knows: a change puts it off
                until = min(engine.settled + still, curve.episodes if until is None else until)
            measured = clock.affords_row()
            curve.add(clock.play(curve.next_chunk(clock.chunk(), until, row=measured)))
            row = None
            if engine.finished or curve.done == curve.episodes or (curve.full and measured):
                row = clock.measure(lambda: curve.close(output.measure(engine, curve.done)))
            else:
                curve.widen()
            if engine.finished:
                ended = "tolerance"
            elif row is not None and gap is not None and output.certifies and row["gap"] <= gap:
                ended = "gap"
            elif still is not None and curve.done >= engine.settled + still:
                ended = "still"
            elif curve.done == curve.episodes:
                ended = "episodes" if options.periods is None else "periods"
            elif engine.failure is not None:
                ended = "interrupted"
            elif engine.full:
                ended = "memory"
            elif clock.up():
                ended = "seconds"
            if row is not None:
                emit(Measured(curve.last_row(ended)))
            emit(Advanced(curve.done, curve.episodes))
            if not ended and interrupts.pending:
                ended = "interrupted"
            if checkpoint is not None and not ended and checkpoint.due:
                _save(checkpoint, engine, curve, output)
    output.interrupted = ended == "interrupted" and engine.failure is None
    if checkpoint is not None and output.interrupted:
        # after a failure agents have learned from a part of an episode; the last file stays
        _save(checkpoint, engine, curve, output)
    if curve.open:
        curve.close(output.measure(engine, curve.done))
        emit(Measured(curve.last_row(ended)))
    return ended


class Clock:
    """The time of a run: before it was resumed, and since its first chunk.

    Before that, kernels are compiled.
    """

    def __init__(self, engine: Engine, curve: Curve, seconds: float | None) -> None:
        self._engine, self._curve, self._seconds = engine, curve, seconds
        self._began: float | None = None
        self._warm = False
        self._before, self._done, self._measuring = engine.seconds, curve.done, 0.0
        self._chunk = 1

    def play(self, episodes: int) -> FloatArray:
        """Play a chunk, and set the size of the next by its time."""
        began = time.perf_counter()
        returns = self._engine.advance(episodes)
        seconds = time.perf_counter() - began
        aim = int(len(returns) * CHUNK_SECONDS / (2 * max(seconds, 1e-9)))
        self._chunk = max(1, min(4 * self._chunk, aim, self._engine.chunk))
        return returns

    def up(self) -> bool:
        """Return whether the run has had its time."""
        return self._seconds is not None and self._before + self._time >= self._seconds

    @property
    def _time(self) -> float:
        if self._began is None:
            self._began = time.perf_counter()
        return time.perf_counter() - self._began

    def measure(self, close: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Measure a row, and note how long that took."""
        before = self._time
        row = close()
        if self._warm:  # the first one compiles and imports
            self._measuring += self._time - before
        self._warm = True
        return row

    def affords_row(self) -> bool:
        """Return whether measuring has left enough time to measure again."""
        # half of the time so far, or a tenth of all
        return self._seconds is None or 2 * self._measuring <= self._time or 10 * self._measuring <= self._seconds

    def chunk(self) -> int:
        """Return how many episodes to play before the clock is looked at again."""
        if self._seconds is None:
            return self._chunk
        left = max(self._seconds - self._before - self._time, 0.0)
        rate = (self._curve.done - self._done) / max(self._time, 1e-9)
        soon = left if self.affords_row() else min(left, self._measuring)  # then a row can be afforded again
        return max(1, min(self._chunk, int(soon * rate)))


class Interrupts:
    """Turns the first Ctrl-C into `pending`, and soon logs `message`. A second one interrupts.

    So a run ends between two chunks, where everything that was done is consistent. In other threads than the main one,
    which signals never reach, it does nothing.
    """

    def __init__(self, *, message: str = "") -> None:
        self.pending = False
        self._before: Any = None
        self._slow = threading.Timer(PATIENCE, log.warning, [message]) if message else None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        if self._slow is not None:
            self._slow.cancel()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            self._before = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.pending = True
        signal.signal(signal.SIGINT, self._before)
        if self._slow is not None:
            self._slow.daemon = True
            self._slow.start()


# one run from its start, or from where its checkpoint left it, to its end ---------------------------------------------


#: Said of a discounted game.
NOTHING_TO_CERTIFY = "certify=True changes nothing here: policies of a discounted game are tables, with exact gaps"


def _save(checkpoint: Checkpoint, engine: Engine, curve: Curve, output: Output) -> None:
    """Write a checkpoint. A run that cannot be stored says so once, and goes on without."""
    try:
        snapshots = {"engine": engine.snapshot(), "curve": curve.snapshot(), "output": output.snapshot()}
    except TacitError as error:
        checkpoint.give_up(error)
    else:
        checkpoint.save(snapshots)


def _resume(checkpoint: Checkpoint, engine: Engine, curve: Curve, output: Output) -> None:
    """Restore the parts of a run from its checkpoint, if there is one."""
    parts: dict[str, Resumable] = {"engine": engine, "curve": curve, "output": output}
    try:
        for name, arrays in checkpoint.read(parts, engine.state).items():
            parts[name].restore(arrays)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:  # TacitError is a ValueError
        message = f"{checkpoint.path} is not a checkpoint of this run: {one_line(error, 200)}; remove it"
        raise TacitError(message) from None
    checkpoint.resumed = curve.done


def conduct(
    engine: Engine, output: Output, name: str, options: Options, watch: Watcher, checkpoint: Checkpoint | None
) -> Run:
    """Drive an engine and an output to the end of a run."""
    warnings = _check_stops(engine.game, output, options)
    stretch = as_exact(engine.game)  # of a discounted game
    game = engine.game if stretch is None or stretch.endless is None else stretch.endless
    early = (*output.notes, *warnings, *([NOTHING_TO_CERTIFY] if options.certify and game is not engine.game else []))
    curve = Curve(options.most, options.points, game.agents, stops=options.stops)
    if checkpoint is not None:
        _resume(checkpoint, engine, curve, output)
    called = game.name or type(game).__name__
    watch(Started(called, name, options.seed, options.most, curve.done, tuple(curve.rows), engine.game.horizon))
    for note in early:
        watch(Noted(note))
    ended = drive(engine, output, curve, options, watch, checkpoint)
    result = output.result(engine, curve.done)
    if stretch is not None and stretch.endless is not None:
        result = _make_stationary(result, stretch, options)
    failure = "" if engine.failure is None else str(engine.failure)
    warnings = [*engine.warnings, *warnings]
    if ended == "interrupted":
        planned = "" if options.open else f" of {options.episodes}"
        note = f"interrupted: the run holds {curve.done}{planned} {'periods' if options.periods else 'episodes'}"
        warnings.append(f"{note}; {failure}" if failure else note)
    late = [*_explain_end(ended, options, engine.full), *filter(None, [failure])]
    run = Run(
        game=game,
        learner=name,
        episodes=curve.done,
        seed=options.seed,
        last=result.last,
        candidates=result.candidates,
        chosen=result.chosen,
        reward=curve.last_tenth(),
        curve=curve.table(),
        params=dict(engine.learner.params(engine.world)),
        seconds=engine.seconds,
        ended=ended,
        sampled=result.sampled,
        notes=(*engine.game.notes, *engine.notes, *early, *late),
        warnings=tuple(warnings),
        error=engine.failure,
        planned=None if options.open else options.episodes,
        place=engine.place,
        visits=getattr(engine.record, "visits", None) if options.periods else None,
    )
    with contextlib.suppress(KeyboardInterrupt):  # there is nothing left to interrupt
        for note in dict.fromkeys((*run.notes, *engine.warnings)):
            if note not in (*early, *engine.told, failure):
                watch(Noted(note))
        watch(Finished(curve.done, ended))
    return run


def _check_stops(game: Game, output: Output, options: Options) -> list[str]:
    """Return why a gap cannot stop the run, if so; raise if nothing else would."""
    if options.gap is None or output.certifies:
        return []
    if as_exact(game) is None:
        why = "the game has no tables"
    elif options.certify is False:
        why = "certify is False"
    else:
        why = f"the game has {math.prod(game.actions):,} joint actions, and certify is not True"
    note = f"gap={options.gap:g} stops a run on a certificate or an exact gap, and this run has neither: {why}"
    if options.open and options.seconds is None:
        raise TacitError(f"{note}; give episodes or seconds too")
    return [f"{note}; it goes on to its other limits"]


def _explain_end(ended: str, options: Options, full: str) -> list[str]:
    """Return what to say of a run whose end depends on the machine."""
    if ended == "seconds":
        return [f"stopped by the clock after {options.seconds:g} s: how far a run comes in it depends on the machine"]
    if ended == "gap" and options.seconds is not None:
        return ["with a limit on seconds, where a run is measured and so where it stops may depend on the machine"]
    if ended == "memory":
        return [full or "stopped when memory had no room for more of the record; keep=False leaves it out"]
    return []


def _make_stationary(result: Result, stretch: ExactGame, options: Options) -> Result:
    """Return policies of a stretch as stationary ones of its discounted game. A mixture over stretches is none."""
    game = stretch.endless
    assert game is not None
    candidates: dict[str, Candidate] = {}
    for name, candidate in result.candidates.items():
        if isinstance(candidate._policy, MarkovPolicy):
            policy = merge_steps(stretch, candidate._policy, gap=candidate.gaps.kind)[0]
            if name.endswith("product"):  # of the merged table, as in finite games
                joint = candidates[f"{name.removesuffix('product')}markov"].policy
                policy = joint.as_product() if isinstance(joint, MarkovPolicy) else policy
            candidates[name] = Candidate.with_exact_gaps(policy, game, candidate.gaps.kind)
    chosen = choose(candidates, partial(uniform_gap, game), **options.choice)
    sampled = None if result.sampled is None else merge_steps(stretch, result.sampled)[0]
    return Result(merge_steps(stretch, result.last)[0], candidates, chosen, sampled)
