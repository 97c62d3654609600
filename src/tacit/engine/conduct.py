"""One run from its start, or from where its checkpoint left it, to its end."""

from __future__ import annotations

import contextlib
import math
from functools import partial

from tacit.core.errors import TacitError
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.curve import Curve
from tacit.engine.drive import Engine, Output, Result, drive
from tacit.engine.events import Finished, Noted, Started, Watcher
from tacit.engine.run import Candidate, Run, choose
from tacit.evaluation.gaps import merge_steps, uniform_gap
from tacit.games.exact import ExactGame, as_exact
from tacit.games.protocol import Game
from tacit.options import Options
from tacit.policies import MarkovPolicy

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
    ended = drive(engine, output, curve, watch=watch, checkpoint=checkpoint, **stop)
    result = output.result(engine, curve.done)
    if stretch is not None and stretch.endless is not None:
        result = _make_stationary(result, stretch, options)
    failure = "" if engine.failure is None else str(engine.failure)
    warnings = [*engine.warnings, *warnings]
    if ended == "interrupted":
        planned = "" if options.open else f" of {options.episodes}"
        note = f"interrupted: the run holds {curve.done}{planned} episodes"
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
