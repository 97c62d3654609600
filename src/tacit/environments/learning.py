"""Learning in an environment, and which candidate is returned where no bound says it.

What the environment does not say is looked up in a few episodes, and mended where that was wrong. The average over all
episodes is returned, unless play shows another candidate to be better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tacit.core import streams
from tacit.core.compilation import announce_to
from tacit.core.errors import TacitError, sentence
from tacit.core.types import FloatArray
from tacit.engine import outputs
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.drive import conduct
from tacit.engine.events import Compiling, Noted, Scouted, Watcher
from tacit.engine.run import Candidate, Gaps, Run
from tacit.environments.adapters import WrappedEnv, environment, name_of
from tacit.environments.encoding import SCOUTED, fit, scouts, see_nothing
from tacit.environments.engine import EnvironmentEngine
from tacit.environments.episodes import Exceeded, Seeding, describe_scouting, episode_bounds
from tacit.environments.external import policy_of
from tacit.environments.measuring import Gains, lower, train_and_play
from tacit.learners import Learner
from tacit.learners.several import is_interpreted
from tacit.options import Options

#: Said of an environment.
NOTHING_TO_PREFER = "prefer changes nothing here: without tables nobody knows the values that it compares"


def learn_in_environment(
    wrapped: WrappedEnv,
    name: str,
    learner: Learner,
    options: Options,
    *,
    watch: Watcher,
    checkpoint: Checkpoint | None,
) -> Run:
    """Let agents learn from their own observations; begin again with wider bounds where an episode exceeds them."""
    env, adapter = wrapped.env, environment(wrapped.env)
    if options.certify:
        raise TacitError(f"{name_of(env)} has no tables, which the certificate needs; leave the certificate out")
    if options.visits_per_stage is not None:
        raise TacitError(f"visits_per_stage is for games; leave it out for the environment {name_of(env)}")
    if "tables" in learner.info.needs:
        raise TacitError(f"{name} needs the game's tables; {name_of(env)} has none")
    encodes = fit(wrapped.encode, adapter, horizon=wrapped.horizon, seed=options.seed)
    for i in range(len(encodes)):
        if getattr(learner.seat(i), "observes", False):
            encodes[i] = see_nothing
    bounds = episode_bounds(adapter, horizon=wrapped.horizon, reward_range=wrapped.reward_range, seed=options.seed)
    if scouts(wrapped.encode, adapter):
        bounds = replace(bounds, notes=(*bounds.notes, SCOUTED))
    early = bounds.notes
    if bounds.uncertain:
        watch(Scouted(describe_scouting(name_of(env), bounds, scale_free=learner.info.reward_scale_free)))
    seeding = Seeding(adapter, options.seed)
    while True:
        with announce_to(lambda text: watch(Compiling(text))):
            engine = EnvironmentEngine(
                adapter, learner, bounds, episodes=options.most, seed=options.seed, encode=encodes, seeding=seeding
            )
        engine.tells_seeding, engine.told = checkpoint is not None, early
        output = outputs.REGISTRY.make(learner.info.returns, game=engine.game, learner=learner, options=options)
        if options.prefer is not None:
            output.notes = (*output.notes, NOTHING_TO_PREFER)
        if not engine.observing:
            engine.record = output.record
        try:
            run = conduct(engine, output, name, options, watch, None if is_interpreted(learner) else checkpoint)
            break
        except Exceeded as exceeded:
            bounds = exceeded.wider
            if checkpoint is not None and not exceeded.stored:
                checkpoint.discard()
    if engine.observing:
        return _return_objects(run, engine)
    if options.certify is False or run.ended == "memory":
        return run
    del engine, output  # what was learned takes more memory than the policy
    compared = choose_by_play(run)
    for note in compared.notes[len(run.notes) :]:
        watch(Noted(note))
    return compared


def _return_objects(run: Run, engine: EnvironmentEngine) -> Run:
    """Return a run whose policy is what the agents' objects play on what they observe; the others' are tables."""
    parts = [run.last if answer is None else answer for answer in engine.answers()]
    policy = policy_of(engine.environment.source, parts)
    candidate = Candidate.with_gaps(Gaps.unknown("nash", run.game.agents), policy=policy)
    return replace(run, last=policy, candidates={"last": candidate}, chosen="last", sampled=None)


#: Half as many episodes as in learning are played to choose a candidate, at most so many; where each candidate, and
#: each response in training and in play, would get fewer than the least, nothing is measured.
SHARE, MOST, LEAST = 2, 20_000, 30

#: Probability of taking a candidate for better that is not.
ERROR = 0.05


def choose_by_play(run: Run) -> Run:
    """Return a run with the best of its candidates as its policy where no bound says it, and a note on what was met.

    The average over all episodes is returned, as in the theory, unless another candidate is shown to be better. One of
    the others is picked in a third of the episodes. In the rest, it and the average meet the same chance. Neither
    learning nor a later `evaluate` or `exploit` plays any of these episodes.
    """
    candidates = {name: one.policy for name, one in run.candidates.items() if one._policy is not None}
    proven = run.gaps.source == "model-free" and run.gaps.informative
    if len(candidates) < 2 or proven:
        return run
    first = "average" if "average" in candidates else run.chosen
    if run.gaps.source == "none":  # nothing else chose among them
        run = replace(run, chosen=first)
    if run.interrupted:
        return run
    others = [name for name in candidates if name != first]
    budget, each = min(run.episodes // SHARE, MOST), 2 * run.game.agents + 1
    few = budget // (3 * len(others) * each) if len(others) > 1 else 0
    many = (budget - few * len(others) * each) // (2 * each)
    if many < LEAST:
        note = f"too few episodes to compare {', '.join(candidates)} by play; {run.chosen!r} is returned"
        return run if run.gaps.source != "none" else replace(run, notes=(*run.notes, note))
    pick_seed, seed = streams.seeds(run.seed, streams.CHOICE, range(2)).tolist()

    def measure(names: Sequence[str], plays: int, seed: int) -> dict[str, Gains]:
        measured = {}
        for name in names:
            measured[name] = train_and_play(run.game, candidates[name], None, episodes=plays, plays=plays, seed=seed)
            measured[name].ends.include(*run.game.reward_range)  # met in learning
        return measured

    try:
        picked = others[0]
        if few:
            measured = measure(others, max(few, 2), pick_seed)
            picked = min(others, key=lambda name: measured[name].gained.mean(axis=0).max())
            values = {name: measured[name].baseline.returns.mean(axis=0) for name in others}
            picked = next((name for name in others if (values[name] > values[picked]).all()), picked)
        measured = measure([first, picked], many, seed)
    except (TacitError, KeyboardInterrupt) as error:
        note = f"candidates could not be compared by play ({sentence(error)}); {run.chosen!r} is returned"
        return replace(run, notes=(*run.notes, note))
    span = max(one.ends.high for one in measured.values()) - min(one.ends.low for one in measured.values())
    better = is_better(*((one.baseline.returns, one.gained) for one in (measured[picked], measured[first])), span=span)
    chosen = picked if better else first
    gains = ", ".join(f"{one.gained.mean(axis=0).max():.3g} from {name!r}" for name, one in measured.items())
    why = "is shown to be better (95 % confidence)" if better else "is not shown to be better (95 % confidence)"
    note = (
        f"{chosen!r} is returned, by {(few * len(others) + 2 * many) * each:,} further episodes: trained best "
        f"responses gain {gains}, and {picked!r} {why}"
    )
    return replace(run, chosen=chosen, notes=(*run.notes, note))


def is_better(
    one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray], *, span: float, error: float = ERROR
) -> bool:
    """Return whether one candidate is shown to be better than another, by returns and gains [plays, N] of each.

    It is if the largest gain against it is smaller, or if it is worth more to every agent and the gain is not shown to
    be larger. Differences are taken episode by episode, which share their chance; returns lie within a `span`.
    """
    (returns, gained), (returns_before, gained_before) = one, other
    worth_more = all(_is_positive(gain, error / 2, span) for gain in (returns - returns_before).T)
    if _is_smaller(gained, gained_before, error / 2, span):
        return True
    return worth_more and not _is_smaller(gained_before, gained, error / 2, span)


def _is_smaller(gained: FloatArray, other: FloatArray, error: float, span: float) -> bool:
    """Return whether the largest mean of the columns of `gained` is shown to be below that of `other`."""
    largest = other[:, other.mean(axis=0).argmax()]  # any column might have been it
    return all(_is_positive(largest - gain, error / other.shape[1], 2 * span) for gain in gained.T)


def _is_positive(samples: FloatArray, error: float, span: float) -> bool:
    """Return whether the mean of samples in [−span, span] is shown to be above 0."""
    return bool(np.any(samples)) and lower(samples, error, -span, span) > 0
