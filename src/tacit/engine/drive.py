"""The two parts of a run that vary, THE while-loop that joins them, and a run from its start to its end.

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
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FrameType, TracebackType
from typing import Any, NamedTuple, Protocol

from tacit.core import generics
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays, Checkpoint, Resumable
from tacit.engine.curve import Curve, Measures
from tacit.engine.events import Advanced, Event, Finished, Measured, Noted, Started, Watcher, log
from tacit.engine.run import Candidate, Gaps, Run, choose
from tacit.evaluation.gaps import merge_steps, uniform_gap
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import Game
from tacit.learners import Learner, World
from tacit.options import Options
from tacit.policies import MarkovPolicy


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
        """Play at most so many episodes, and as many as fit into a fraction of a second; return [episodes, N]."""

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return each agent's distributions [H, S, A_i]: the last iterate, or the average of recent ones."""

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return what `distributions` returned, now or earlier, as a policy of the game."""

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return what the agents themselves know of their gaps after `done` episodes."""
        return Gaps.unknown(kind, self.game.agents)

    def separate(self, rule: str) -> dict[str, Any]:
        """Return the mixtures "average" and "recent" where agents saw different things, each on what it saw itself."""
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
    """What a run yields besides rewards, and how good that is; it is made with `game`, `learner` and `options`.

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
        """See the engine between chunks; return the episode before which it must be seen again, if there is one.

        Returning `done` itself ends the run for lack of memory.
        """

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return `value` [N], `gap` [N] and whatever else the curve is to have."""

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates."""

    def snapshot(self) -> Arrays:
        """Return everything that has changed since the output was made; what watches the loop is the engine's."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        return


# the loop ------------------------------------------------------------------------------------------------------------

#: Seconds that a chunk takes at most, unless a single episode takes longer: Ctrl-C is heard between two of them.
CHUNK_SECONDS = 0.5

#: Seconds after Ctrl-C in which a run most often has ended; after them people are told what it waits for.
PATIENCE = 2.0
WAITING = "Ctrl-C: the run ends after this episode; Ctrl-C again leaves the episode out and keeps those before it"


def drive(
    engine: Engine,
    output: Output,
    curve: Curve,
    *,
    watch: Watcher,
    checkpoint: Checkpoint | None = None,
    gap: float | None = None,
    seconds: float | None = None,
    still: int | None = None,
) -> str:
    """Play until the run is over; all that was done is in the arguments. Return what ended it.

    That is "episodes" when the curve is complete, "gap" when the gap is small enough and the output certifies it,
    "seconds" when time is up, "tolerance" when the learner itself has finished, "still" when greedy policies have not
    changed for so many periods, "memory" when there is no room for more episodes, or "interrupted".
    """
    ended, clock = "", Clock(engine, curve, seconds)
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
                ended = "episodes"
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
            if checkpoint is not None and not ended:
                checkpoint.offer()
    output.interrupted = ended == "interrupted" and engine.failure is None
    if checkpoint is not None and output.interrupted:
        checkpoint.save()  # after a failure agents have learned from a part of an episode; the last file stays
    if curve.open:
        curve.close(output.measure(engine, curve.done))
        emit(Measured(curve.last_row(ended)))
    return ended


class Clock:
    """The time of a run: what it had learned for when it was resumed, and what has passed since its first chunk.

    Before that, kernels are compiled.
    """

    def __init__(self, engine: Engine, curve: Curve, seconds: float | None) -> None:
        self._engine, self._curve, self._seconds = engine, curve, seconds
        self._began: float | None = None
        self._warm = False
        self._before, self._done, self._measuring = engine.seconds, curve.done, 0.0
        self._chunk = 1

    def play(self, episodes: int) -> FloatArray:
        """Play a chunk, and learn from how long that took how large the next one may be."""
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
        """Return whether a row may be measured now: that takes a tenth of the time, or half where that is short."""
        return self._seconds is None or 2 * self._measuring <= self._time or 10 * self._measuring <= self._seconds

    def chunk(self) -> int:
        """Return how many episodes to play at most before the clock and Ctrl-C are looked at again."""
        if self._seconds is None:
            return self._chunk
        left = max(self._seconds - self._before - self._time, 0.0)
        rate = (self._curve.done - self._done) / max(self._time, 1e-9)
        soon = left if self.affords_row() else min(left, self._measuring)  # then a row can be afforded again
        return max(1, min(self._chunk, int(soon * rate)))


class Interrupts:
    """While it is entered, the first Ctrl-C only sets `pending`, and soon `message` is logged; a second interrupts.

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
        checkpoint.resume({"engine": engine, "curve": curve, "output": output}, engine.state)
    called = game.name or type(game).__name__
    watch(Started(called, name, options.seed, options.most, curve.done, tuple(curve.rows), engine.game.horizon))
    for note in early:
        watch(Noted(note))
    stop = {"gap": options.gap, "seconds": options.seconds}
    ended = drive(engine, output, curve, watch=watch, checkpoint=checkpoint, still=options.still, **stop)
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
            if note not in (*early, *engine.told):
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
    """Return policies of a stretch as stationary ones of its discounted game; a mixture over stretches is none."""
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
