"""The atlas, checked: what was stated of a game, what the oracle gives, and what learners reach."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.core.errors import TacitError
from tacit.evaluation.equilibria import equilibria
from tacit.evaluation.gaps import evaluate, uniform_gap
from tacit.evaluation.solve import solve, welfare_range
from tacit.games.atlas import ENTRIES, Entry, Figure, kind_of
from tacit.policies.markov import MarkovPolicy

#: Who learns, and after how many episodes it is looked at; one seed, 0.
LEARNERS = ("portfolio", "adaptive-v-cce", "stage-v-cce", "model-independent", "q-independent")
EPISODES = (1_000, 10_000, 100_000)


def check_entry(entry: Entry, game: Any = None) -> list[dict[str, Any]]:
    """Compare all figures of an entry with what the oracle gives."""
    game = entry.make() if game is None else game
    checks = []
    for figure in entry.figures:
        began = time.perf_counter()
        ours = np.atleast_1d(np.asarray(answer(game, figure), dtype=float))
        stated = np.asarray(figure.stated, dtype=float)
        if stated.size == 1 < ours.size:
            ours = ours.sum(keepdims=True)
        off = float(np.abs(ours - stated).max())
        checks.append(
            {
                "question": figure.question,
                "stated": stated.tolist(),
                "ours": ours.tolist(),
                "off": off,
                "agrees": off <= figure.tolerance,
                "note": figure.note,
                "seconds": round(time.perf_counter() - began, 3),
            }
        )
    return checks


def answer(game: Any, figure: Figure) -> Any:
    """Return the oracle's answer to the question of a figure."""
    concept, _, rule = figure.question.partition(" ")
    kind, _, agent = concept.partition(":")
    match kind:
        case "gap" | "values":
            policy = MarkovPolicy(
                [np.tile(np.array(probs, dtype=float), (game.horizon, 1, 1)) for probs in figure.policy]
            )
            return getattr(evaluate(game, policy), kind)
        case "equilibria":
            return len(equilibria(game))
        case "sets":
            return len(set(equilibria(game).component.tolist()))
        case "play":
            return solve(game, "nash").policy.probs[int(agent)][0, int(np.argmax(game.initial))]
        case "nash":
            return solve(game, kind, select=rule or "welfare").values
        case "ce" | "cce":
            return solve(game, kind, objective=rule or "welfare").values
        case "optimum":
            return solve(game, kind).values
    raise TacitError(f"the atlas has no question {figure.question!r}")


def update(
    data: dict[str, Any],
    names: Sequence[str],
    *,
    episodes: Sequence[int],
    keep: Callable[[dict[str, Any]], None],
    tell: Callable[[str], None],
) -> None:
    """Check games anew, and let learners learn them where that was not done before.

    Parameters
    ----------
    data : dict
        What is known so far; it is changed.
    names : sequence of str
        Entries of the atlas.
    episodes : sequence of int
        How long learners learn; empty where they do not.
    keep : function of the data
        Called after each game, to store it.
    tell : function of a text
        Called before each game.
    """
    for k, name in enumerate(names):
        entry = ENTRIES[name]
        tell(f"{name} ({k + 1} of {len(names)})")
        one = data.setdefault(name, {})
        one["source"], one["read"] = entry.source, entry.read
        game = entry.make()
        one["size"] = {name: getattr(game, name) for name in ("agents", "states", "horizon")}
        one["size"] |= {"actions": list(game.actions)}
        one["figures"] = check_entry(entry, game)
        if episodes:
            _learn(one, game, episodes)
        keep(data)


def _learn(one: dict[str, Any], game: Any, episodes: Sequence[int]) -> None:
    """Add what learners reach to the data of one game."""
    from tacit.learning import learn  # imports the compiler

    worst, best = welfare_range(game) or (None, None)
    one["game"] = {"kind": kind_of(game), "uniform_gap": uniform_gap(game), "best": best, "worst": worst}
    learned = one.setdefault("learned", {})
    for learner in LEARNERS:
        for count in episodes:
            runs = learned.setdefault(learner, {})
            if str(count) in runs:
                continue
            try:
                run = learn(game, learner, episodes=count, seed=0)
            except TacitError as error:
                runs[str(count)] = {"error": str(error)}
                continue
            values = None if run.values is None else np.asarray(run.values).tolist()
            runs[str(count)] = {"kind": run.gaps.kind, "gap": float(run.gap), "values": values}
