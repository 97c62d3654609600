"""Which candidate to answer with where no bound says it: they are played, in half as many episodes again.

Of each candidate its values are measured, and what trained best responses gain. The one with the smallest gain answers,
unless another is worth more to every agent and not shown to be any easier to exploit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tacit.core.errors import TacitError, sentence
from tacit.engine.run import Run
from tacit.environments.measuring import Exploitation, exploit_by_play

#: Half as many episodes as in learning are played, at most so many; each candidate, and each response in
#: training and in play, gets as many, and below the least of them nothing is measured.
SHARE, MOST, LEAST = 2, 6000, 60

#: Of the intervals that tell candidates apart: narrow, since one of them has to answer.
CONFIDENCE = 0.8


def choose_by_play(run: Run) -> Run:
    """Return a run with the best of its candidates as the answer, and in its notes what was measured."""
    held = {name: one.policy for name, one in run.candidates.items() if one._policy is not None}
    proven = run.gaps.source == "model-free" and run.gaps.informative
    if len(held) < 2 or proven or run.interrupted:
        return run
    each = min(run.episodes // SHARE, MOST) // (len(held) * (2 * run.game.agents + 1))
    if each < LEAST and run.gaps.source != "none":
        return run
    if each < LEAST:
        told = f"too few episodes to compare {', '.join(held)} by play; the answer is {run.chosen!r}"
        return replace(run, notes=(*run.notes, told))
    options = {"episodes": each, "plays": each, "seed": run.seed, "confidence": CONFIDENCE, "progress": None}
    try:
        found = {name: exploit_by_play(run.game, policy, None, **options) for name, policy in held.items()}  # type: ignore[arg-type]
    except (TacitError, KeyboardInterrupt) as error:
        told = f"candidates could not be compared by play ({sentence(error)}); the answer is {run.chosen!r}"
        return replace(run, notes=(*run.notes, told))
    chosen = choose_best(found)
    episodes = len(held) * (2 * run.game.agents + 1) * each
    told = (
        f"{chosen!r} is the best of {len(found)} candidates by play, in {episodes:,} further episodes: trained best "
        f"responses gain {', '.join(f'{one.gap:.3g} from {name}' for name, one in found.items())}"
    )
    return replace(run, chosen=chosen, notes=(*run.notes, told))


def choose_best(found: dict[str, Exploitation]) -> str:
    """Return the name of the candidate to answer with."""
    best = min(found, key=lambda name: found[name].gap)
    for name in sorted(found, key=lambda name: -found[name].values.sum()):
        one = found[name]
        close = np.nanmax(one.low) <= max(float(np.nanmax(found[best].high)), 0.0)
        high = found[best].values_high
        assert one.values_low is not None
        assert high is not None
        if close and (one.values_low > high).all():
            return name
    return best
